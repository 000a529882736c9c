//! Jinja2's tests (`x is even`) where minijinja's own differ or would be confused by twins. What compares or
//! walks values asks the watch first.

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error};

use crate::filters::plain;
use crate::limits::tick;

type Comparison = fn(&Value, &Value) -> bool;

const COMPARISONS: [(&str, Comparison); 15] = [
    ("eq", |a, b| a == b),
    ("equalto", |a, b| a == b),
    ("==", |a, b| a == b),
    ("ne", |a, b| a != b),
    ("!=", |a, b| a != b),
    ("lt", |a, b| a < b),
    ("lessthan", |a, b| a < b),
    ("<", |a, b| a < b),
    ("le", |a, b| a <= b),
    ("gt", |a, b| a > b),
    ("greaterthan", |a, b| a > b),
    (">", |a, b| a > b),
    ("ge", |a, b| a >= b),
    (">=", |a, b| a >= b),
    ("<=", |a, b| a <= b),
];

/// Python's str.islower() and isupper(): some letter has a case, and none the other one.
fn cased(text: &str, wanted: fn(char) -> bool, other: fn(char) -> bool) -> bool {
    text.chars().any(wanted) && !text.chars().any(other)
}

pub fn install(env: &mut Environment<'static>) {
    // Python's strings and dicts are sequences and can be iterated.
    let iterable = |v: &Value| {
        matches!(v.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Iterable | ValueKind::Map | ValueKind::Undefined)
    };
    env.add_test("iterable", move |v: Value| iterable(&v));
    env.add_test("sequence", move |v: Value| iterable(&v));
    for (name, right) in COMPARISONS {
        env.add_test(name, move |a: Value, b: Value| tick().map(|()| right(&plain(a), &plain(b))));
    }
    env.add_test("sameas", |a: Value, b: Value| {
        tick().map(|()| match (a.as_str(), b.as_str()) {
            (Some(_), Some(_)) => plain(a) == plain(b),
            _ => minijinja::tests::is_sameas(&a, &b),
        })
    });
    env.add_test("in", |a: Value, b: Value| -> Result<bool, Error> {
        tick()?;
        let (a, b) = (plain(a), plain(b));
        match (a.as_str(), b.as_str()) {
            (Some(a), Some(b)) => Ok(b.contains(a)),
            _ => Ok(b.try_iter()?.any(|x| x == a)),
        }
    });
    env.add_test("lower", |v: Value| {
        tick().map(|()| cased(&plain(v).to_string(), char::is_lowercase, char::is_uppercase))
    });
    env.add_test("upper", |v: Value| {
        tick().map(|()| cased(&plain(v).to_string(), char::is_uppercase, char::is_lowercase))
    });
    // Jinja2 has no such tests.
    for name in ["startingwith", "endingwith", "containing"] {
        env.remove_test(name);
    }
}
