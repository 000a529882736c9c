//! What one render may take: each limit is a counter or a question of its thread, begun by `begin`.
//!
//! The engine counts its own steps, but one step may call a filter that walks a megabyte. So whatever walks
//! values or text asks `tick` first: the work ends within one such walk after the caller's watch says so.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use minijinja::Error;

use crate::python::fail;

/// The longest string, list, and the most output that a template may make, far above any prompt: a hostile
/// one shall not eat the memory.
pub const MAX_STRING: usize = 16 << 20;
pub const MAX_LIST: usize = 1 << 20;
pub const MAX_OUTPUT: usize = 4 * MAX_STRING;
/// The deepest nesting of what is stored, and the values walked to see that.
pub const MAX_DEPTH: usize = 256;
const MAX_NODES: usize = 20_000_000;

/// The caller's watch, as bridge.h has it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Watch {
    keep_going: Option<extern "C" fn(*const c_void) -> c_int>,
    data: *const c_void,
}

// SAFETY: bridge.h says that the function is called on another thread than the caller's.
unsafe impl Send for Watch {}

impl Watch {
    const NONE: Watch = Watch { keep_going: None, data: std::ptr::null() };
}

thread_local! {
    static WATCH: Cell<Watch> = const { Cell::new(Watch::NONE) };
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
    static VISITED: Cell<usize> = const { Cell::new(0) };
}

/// Sets the watch of this thread, which lives as long as the work it watches.
pub fn watch(watch: Watch) {
    WATCH.set(watch);
}

/// Begins a render on this thread.
pub fn begin() {
    WRITTEN.set(0);
    VISITED.set(0);
}

/// Whether the render may go on. Some tens of nanoseconds.
pub fn tick() -> Result<(), Error> {
    let watch = WATCH.get();
    match watch.keep_going {
        Some(ask) if ask(watch.data) == 0 => fail("the template took too long"),
        _ => Ok(()),
    }
}

fn spend(counter: &'static std::thread::LocalKey<Cell<usize>>, n: usize, most: usize) -> Result<(), Error> {
    let sum = counter.get().saturating_add(n);
    counter.set(sum);
    if sum > most {
        return fail(format!("the template makes too much text or too many values (limit {most})"));
    }
    Ok(())
}

/// Accounts for `n` bytes of output.
pub fn write(n: usize) -> Result<(), Error> {
    spend(&WRITTEN, n, MAX_OUTPUT)
}

/// Accounts for one value that was walked.
pub fn visit() -> Result<(), Error> {
    spend(&VISITED, 1, MAX_NODES)
}

/// Room for a string of `size` bytes.
pub fn room(size: usize) -> Result<(), Error> {
    if size > MAX_STRING {
        return fail(format!("a string grew over {MAX_STRING} bytes"));
    }
    Ok(())
}
