//! Filters, tests and functions of the chat template environment where minijinja's own differ from
//! Jinja2's or would be confused by twins.

use std::borrow::Cow;
use std::ffi::CString;

use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State};

use crate::builtins;
use crate::limits::{self, room, tick, MAX_DEPTH, MAX_LIST, MAX_STRING};
use crate::methods::{self, format_room};
use crate::python::{fail, str_of, Dumps};
use crate::taint;
use crate::tests;
use crate::values::{attribute, is_generator, markup_add, slice, Generator};

/// The marker of raise_exception's text in an error; no JSON or template text can hold it by accident
/// without being an error already.
pub const RAISED: &str = "\u{0}raised\u{0}";

fn bounded(value: Value) -> Result<Value, Error> {
    tick()?;
    let long = match value.kind() {
        ValueKind::String => value.as_str().map_or(0, str::len) > MAX_STRING,
        ValueKind::Seq | ValueKind::Iterable => value.len().unwrap_or(0) > MAX_LIST,
        _ => false,
    };
    if long {
        return fail(format!("a string grew over {MAX_STRING} bytes or a list over {MAX_LIST} items"));
    }
    Ok(value)
}

fn text_operand(value: Value) -> Result<Value, Error> {
    Ok(match value.kind() {
        ValueKind::String => bounded(value)?,
        _ => Value::from(str_of(&value)),
    })
}

/// What `set` stores: no lazy values and no deep ones, since both would be walked by recursion later. For the same
/// reason no namespace inside anything: it is the one value that can be changed, and so could come to hold itself.
fn stored(value: Value) -> Result<Value, Error> {
    store(value, 0)
}

/// The same for `set namespace.name = value`.
fn stored_inside(value: Value) -> Result<Value, Error> {
    store(value, 1)
}

fn is_namespace(value: &Value) -> bool {
    value.as_object().is_some_and(|o| o.type_name().contains("Namespace"))
}

fn store(value: Value, start: usize) -> Result<Value, Error> {
    fn check(value: &Value, depth: usize) -> Result<(), Error> {
        if is_namespace(value) {
            return if depth == 0 { Ok(()) } else { fail("a namespace cannot be kept inside another value") };
        }
        if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable | ValueKind::Map) {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            return fail(format!("a value is nested deeper than {MAX_DEPTH} levels"));
        }
        if let Some(generator) = value.downcast_object_ref::<Generator>() {
            return check(&Value::from(generator.peek()), depth);
        }
        for key in value.try_iter()? {
            limits::visit()?;
            if value.kind() == ValueKind::Map {
                check(&value.get_item(&key)?, depth + 1)?;
            } else {
                check(&key, depth + 1)?;
            }
        }
        Ok(())
    }
    let value = bounded(value)?;
    if let Some(generator) = value.downcast_object_ref::<Generator>() {
        check(&Value::from(generator.peek()), start)?;
        return Ok(value);
    }
    let value = match value.kind() {
        ValueKind::Iterable => value.try_iter()?.take(MAX_LIST).collect(),
        _ => value,
    };
    check(&value, start)?;
    Ok(value)
}

/// What `for` walks.
fn iterated(value: Value) -> Result<Value, Error> {
    tick()?;
    match value.kind() {
        ValueKind::None | ValueKind::Bool | ValueKind::Number | ValueKind::Plain => {
            fail(format!("a value of type {} is not iterable", value.kind()))
        }
        _ => Ok(value),
    }
}

/// An operand of a comparison.
fn compared(value: Value) -> Result<Value, Error> {
    tick()?;
    Ok(if taint::active() { plain(value) } else { value })
}

/// `value` with the twins in it (and in its items) turned back.
pub fn plain(value: Value) -> Value {
    match value.kind() {
        ValueKind::String => match taint::plain(value.as_str().unwrap_or_default()) {
            Cow::Owned(text) => Value::from(text),
            _ => value,
        },
        _ if is_generator(&value) => value,
        ValueKind::Seq | ValueKind::Iterable => value.try_iter().into_iter().flatten().map(plain).collect(),
        ValueKind::Map => {
            let pairs = value.try_iter().into_iter().flatten();
            pairs.map(|k| (plain(k.clone()), plain(value.get_item(&k).unwrap_or_default()))).collect()
        }
        _ => value,
    }
}

fn tojson(value: Value, indent: Option<Value>, kwargs: Kwargs) -> Result<String, Error> {
    tick()?;
    // transformers' signature: tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False).
    let ensure_ascii = match indent {
        Some(first) => first.is_true(),
        None => kwargs.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
    };
    let indent = match kwargs.get::<Option<Value>>("indent")? {
        None => None,
        Some(v) if v.is_none() => None,
        Some(v) => Some(match v.as_str() {
            Some(s) => s.to_owned(),
            None => " ".repeat(usize::try_from(v)?.min(64)),
        }),
    };
    let (item_separator, key_separator) = match kwargs.get::<Option<Vec<String>>>("separators")? {
        Some(pair) if pair.len() == 2 => (pair[0].clone(), pair[1].clone()),
        Some(_) => return fail("tojson: separators must be a pair"),
        None => (if indent.is_some() { "," } else { ", " }.into(), ": ".into()),
    };
    let sort_keys = kwargs.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    kwargs.assert_all_used()?;
    Dumps { ensure_ascii, indent, item_separator, key_separator, sort_keys }.dump(&value)
}

fn join(values: Value, separator: Option<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    tick()?;
    let separator = str_of(&separator.unwrap_or_else(|| Value::from("")));
    let attribute: Option<Value> = kwargs.get("attribute")?;
    kwargs.assert_all_used()?;
    let mut out = String::new();
    for (i, value) in values.try_iter()?.enumerate() {
        let value = match &attribute {
            Some(name) => value.get_item(name)?,
            None => value,
        };
        out.push_str(if i == 0 { "" } else { &separator });
        out.push_str(&str_of(&value));
        room(out.len())?;
    }
    Ok(Value::from(out))
}

/// Jinja2's indent: every line but the first, and no blank one.
fn indent(value: Value, width: Option<Value>, first: Option<bool>, blank: Option<bool>, kwargs: Kwargs) -> Result<String, Error> {
    tick()?;
    let width = width.or(kwargs.get("width")?).unwrap_or_else(|| Value::from(4));
    let first = first.or(kwargs.get("first")?).unwrap_or(false);
    let blank = blank.or(kwargs.get("blank")?).unwrap_or(false);
    kwargs.assert_all_used()?;
    let indent = match width.as_str() {
        Some(text) => text.to_owned(),
        None => " ".repeat(usize::try_from(width)?.min(1000)),
    };
    let lines = methods::split_lines(&(str_of(&value) + "\n"), false);
    let mut out = String::new();
    for (i, line) in lines.into_iter().enumerate() {
        out.push_str(if i == 0 { "" } else { "\n" });
        if if i == 0 { first } else { blank || !line.is_empty() } {
            out.push_str(&indent);
        }
        out.push_str(&taint::unlook(line));
        room(out.len())?;
    }
    Ok(out)
}

/// Jinja2's dictsort(case_sensitive=False, by="key", reverse=False), by what twins stand for.
fn dictsort(value: Value, kwargs: Kwargs) -> Result<Value, Error> {
    tick()?;
    let by_value = kwargs.get::<Option<&str>>("by")? == Some("value");
    let case_sensitive = kwargs.get::<Option<bool>>("case_sensitive")?.unwrap_or(false);
    let reverse = kwargs.get::<Option<bool>>("reverse")?.unwrap_or(false);
    kwargs.assert_all_used()?;
    let sort_key = |pair: &Value| -> Result<Value, Error> {
        let key = plain(pair.get_item_by_index(usize::from(by_value))?);
        Ok(match key.as_str() {
            Some(text) if !case_sensitive => Value::from(text.to_lowercase()),
            _ => key,
        })
    };
    let mut pairs = methods::items(&value)?
        .try_iter()?
        .map(|pair| Ok((sort_key(&pair)?, pair)))
        .collect::<Result<Vec<_>, Error>>()?;
    pairs.sort_by(|a, b| if reverse { b.0.cmp(&a.0) } else { a.0.cmp(&b.0) });
    Ok(pairs.into_iter().map(|p| p.1).collect())
}

fn length(value: Value) -> Result<usize, Error> {
    tick()?;
    match value.kind() {
        ValueKind::Undefined => Ok(0),
        ValueKind::String => Ok(value.as_str().map_or(0, |s| s.chars().count())),
        _ if is_generator(&value) => fail("a generator has no length"),
        _ => value.len().ok_or_else(|| {
            Error::new(ErrorKind::InvalidOperation, format!("object of type {} has no length", value.kind()))
        }),
    }
}

/// datetime.now().strftime(format), by the C library as Python does it.
fn strftime_now(format: String) -> Result<String, Error> {
    let Ok(format) = CString::new(format) else { return fail("strftime_now: embedded null character") };
    if format.is_empty() {
        return Ok(String::new());
    }
    let mut buffer = [0u8; 1024];
    // SAFETY: `now` and `buffer` outlive the calls, the size is the buffer's.
    let size = unsafe {
        let time = libc::time(std::ptr::null_mut());
        let mut now: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&time, &mut now).is_null() {
            return fail("strftime_now: the clock cannot be read");
        }
        libc::strftime(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr(), &now)
    };
    Ok(String::from_utf8_lossy(&buffer[..size]).into_owned())
}

/// What `{{ }}` writes.
fn write_value(out: &mut Output, _: &State, value: &Value) -> Result<(), Error> {
    tick()?;
    let text = str_of(value);
    limits::write(text.len())?;
    out.write_str(&text).map_err(|_| Error::new(ErrorKind::WriteFailure, "the text grew too long"))
}

pub fn install(env: &mut Environment<'static>) {
    env.set_formatter(write_value);
    env.set_unknown_method_callback(methods::call);
    env.add_function("raise_exception", |message: Value| -> Result<Value, Error> {
        fail(format!("{RAISED}{}", taint::plain(&str_of(&message))))
    });
    env.add_function("strftime_now", strftime_now);
    // Put into the source by rewrite.rs.
    env.add_filter("kapitsa_bounded", bounded);
    env.add_filter("kapitsa_text", text_operand);
    env.add_filter("kapitsa_stored", stored);
    env.add_filter("kapitsa_stored_inside", stored_inside);
    env.add_filter("kapitsa_plain", compared);
    env.add_filter("kapitsa_iterated", iterated);
    env.add_filter("kapitsa_slice", slice);
    env.add_filter("kapitsa_attribute", attribute);
    env.add_filter("kapitsa_add", markup_add);

    env.add_filter("tojson", tojson);
    env.add_filter("string", |v: Value| tick().map(|()| str_of(&v)));
    env.add_filter("join", join);
    env.add_filter("length", length);
    env.add_filter("count", length);
    env.add_filter("trim", |v: Value, set: Option<String>| {
        tick().map(|()| methods::strip(&str_of(&v), set.as_deref(), true, true))
    });
    env.add_filter("upper", |v: Value| tick().map(|()| methods::upper(&str_of(&v))));
    env.add_filter("lower", |v: Value| tick().map(|()| methods::lower(&str_of(&v))));
    env.add_filter("capitalize", |v: Value| tick().map(|()| methods::capitalize(&str_of(&v))));
    env.add_filter("title", |v: Value| tick().map(|()| methods::title(&str_of(&v))));
    env.add_filter("replace", |v: Value, old: Value, new: Value, count: Option<i64>| {
        tick()?;
        methods::replace(&str_of(&v), &str_of(&old), &str_of(&new), count)
    });
    env.add_filter("items", |v: Value| match v.kind() {
        ValueKind::Undefined => Ok(Value::from(Vec::<Value>::new())),
        _ => tick().and_then(|()| methods::items(&v)),
    });
    env.add_filter("safe", |v: Value| tick().map(|()| Value::from_safe_string(str_of(&v))));
    env.add_filter("indent", indent);
    env.add_filter("dictsort", dictsort);
    env.add_filter("format", |format: String, args: Rest<Value>| -> Result<String, Error> {
        tick()?;
        format_room(&format, &args)?;
        minijinja::format_filter(minijinja::FormatStyle::Printf, &format, &args)
    });
    builtins::install(env);
    tests::install(env);
}
