//! The C interface of bridge.h over the modules of this crate.

mod builtins;
mod filters;
mod limits;
mod methods;
mod python;
mod rewrite;
mod taint;
mod template;
mod tests;
mod values;

use std::panic::{catch_unwind, AssertUnwindSafe};

use limits::Watch;
use serde_json::{Map, Value as Json};
use template::{Failure, Template};

const OK: i32 = 0;
const RAISED: i32 = 1;
const FAILED: i32 = 2;

/// The stack of a compile or a render. Both recurse as deep as their limits let them, and a caller's
/// thread may have little (512 KiB on macOS).
const STACK: usize = 64 << 20;

#[repr(C)]
pub struct Text {
    data: *mut u8,
    size: usize,
}

impl Text {
    fn new(text: String) -> Text {
        let bytes = text.into_bytes().into_boxed_slice();
        let size = bytes.len();
        Text { data: Box::into_raw(bytes).cast(), size }
    }
    const EMPTY: Text = Text { data: std::ptr::null_mut(), size: 0 };
}

/// Runs `work` on a stack of its own. A panic becomes an error with its text.
fn guarded<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    let failed = |why: &str| Err(Failure::Failed(why.to_owned()));
    let run = || {
        std::thread::scope(|scope| {
            match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
                Ok(thread) => thread.join().unwrap_or_else(|_| failed("internal fault in the template engine")),
                Err(e) => failed(&format!("no thread for the template engine: {e}")),
            }
        })
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| failed("internal fault in the template engine"))
}

/// # Safety
/// `data` has `size` bytes, or is null with size 0.
unsafe fn utf8<'a>(data: *const u8, size: usize, what: &str) -> Result<&'a str, Failure> {
    let bytes = if size == 0 { &[] } else { std::slice::from_raw_parts(data, size) };
    std::str::from_utf8(bytes)
        .map_err(|e| Failure::Failed(format!("the {what} is not UTF-8 from byte {} on", e.valid_up_to())))
}

fn code(result: Result<String, Failure>) -> (i32, String) {
    match result {
        Ok(text) => (OK, text),
        Err(Failure::Raised(text)) => (RAISED, text),
        Err(Failure::Failed(text)) => (FAILED, text),
    }
}

/// # Safety
/// `text` came from this crate and is not used again.
#[no_mangle]
pub unsafe extern "C" fn kapitsa_text_free(text: Text) {
    if !text.data.is_null() {
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(text.data, text.size)));
    }
}

/// # Safety
/// As bridge.h says.
#[no_mangle]
pub unsafe extern "C" fn kapitsa_template_compile(
    source: *const u8,
    size: usize,
    out: *mut *mut Template,
    error: *mut Text,
) -> i32 {
    *out = std::ptr::null_mut();
    *error = Text::EMPTY;
    match utf8(source, size, "template").and_then(|s| guarded(|| Template::compile(s))) {
        Ok(compiled) => {
            *out = Box::into_raw(Box::new(compiled));
            OK
        }
        Err(failure) => {
            let (code, text) = code(Err(failure));
            *error = Text::new(text);
            code
        }
    }
}

/// # Safety
/// `compiled` came from kapitsa_template_compile and is not used again.
#[no_mangle]
pub unsafe extern "C" fn kapitsa_template_free(compiled: *mut Template) {
    if !compiled.is_null() {
        drop(Box::from_raw(compiled));
    }
}

unsafe fn render(
    compiled: &Template,
    context: *const u8,
    size: usize,
    watch: Watch,
    result: *mut Text,
    work: impl FnOnce(&Template, &Map<String, Json>) -> Result<String, Failure> + Send,
) -> i32 {
    let rendered = utf8(context, size, "input").and_then(|text| {
        guarded(move || {
            limits::watch(watch);
            let context = serde_json::from_str(text).map_err(|e| Failure::Failed(format!("input: {e}")))?;
            work(compiled, &context)
        })
    });
    let (code, text) = code(rendered);
    *result = Text::new(text);
    code
}

/// # Safety
/// As bridge.h says.
#[no_mangle]
pub unsafe extern "C" fn kapitsa_template_render(
    compiled: *const Template,
    context: *const u8,
    size: usize,
    watch: Watch,
    result: *mut Text,
) -> i32 {
    render(&*compiled, context, size, watch, result, |template, context| template.render(context))
}

/// # Safety
/// As bridge.h says.
#[no_mangle]
pub unsafe extern "C" fn kapitsa_template_render_spans(
    compiled: *const Template,
    context: *const u8,
    size: usize,
    watch: Watch,
    result: *mut Text,
) -> i32 {
    render(&*compiled, context, size, watch, result, |template, context| {
        let pieces = template.render_spans(context)?;
        Ok(Json::from(pieces).to_string())
    })
}
