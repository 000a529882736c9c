//! Python's kinds of values that minijinja has not: generators and Markup.

use std::sync::{Arc, Mutex};

use minijinja::value::{Enumerator, Object, ObjectRepr, Value, ValueKind};
use minijinja::Error;

use crate::python::fail;
use crate::taint;

/// What map, select and their like give in Jinja2: true even when empty, can be walked once, and has no
/// length, items or JSON.
#[derive(Debug)]
pub struct Generator(Mutex<Vec<Value>>);

impl Generator {
    pub fn value(items: Vec<Value>) -> Value {
        Value::from_object(Generator(Mutex::new(items)))
    }
    /// What is still to come, without taking it.
    pub fn peek(&self) -> Vec<Value> {
        self.0.lock().map(|items| items.clone()).unwrap_or_default()
    }
}

impl Object for Generator {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.lock().map(|mut items| std::mem::take(&mut *items)).unwrap_or_default())
    }
    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        None
    }
    fn is_true(self: &Arc<Self>) -> bool {
        true
    }
    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<generator object>")
    }
}

/// Whether a value is a Generator.
pub fn is_generator(value: &Value) -> bool {
    value.downcast_object_ref::<Generator>().is_some()
}

/// A method of a dict that is not called: true, defined, and nothing else.
#[derive(Debug)]
struct Method;

impl Object for Method {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<built-in method of dict object>")
    }
}

/// `value.name` where dicts have a method of that name. In Jinja2 it hides an item.
pub fn attribute(value: Value, name: &str) -> Result<Value, Error> {
    let dict = value.kind() == ValueKind::Map
        && value.as_object().is_some_and(|o| !o.type_name().contains("Namespace"));
    if dict {
        return Ok(Value::from_object(Method));
    }
    value.get_attr(name)
}

fn escape(text: &str) -> String {
    let escaped = taint::look(text).into_iter().flat_map(|(c, tainted)| {
        let one = match c {
            '&' => "&amp;".into(),
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '\'' => "&#39;".into(),
            '"' => "&#34;".into(),
            c => c.to_string(),
        };
        one.chars().map(|e| (e, tainted)).collect::<Vec<_>>()
    });
    taint::unlook(escaped)
}

fn add(a: &Value, b: &Value) -> Result<Value, Error> {
    let both = |kind| a.kind() == kind && b.kind() == kind;
    if both(ValueKind::Seq) || both(ValueKind::Iterable) {
        return Ok(a.try_iter()?.chain(b.try_iter()?).collect());
    }
    if both(ValueKind::Number) {
        if !a.is_integer() || !b.is_integer() {
            return Ok(Value::from(f64::try_from(a.clone())? + f64::try_from(b.clone())?));
        }
        if let Some(sum) = i128::try_from(a.clone())?.checked_add(i128::try_from(b.clone())?) {
            return Ok(i64::try_from(sum).map_or_else(|_| Value::from(sum), Value::from));
        }
    }
    fail(format!("a value of type {} cannot be added to one of type {}", b.kind(), a.kind()))
}

/// `a + b` in templates that use the `safe` filter. Markup escapes a string that is added to it, though
/// nothing else is escaped in chat templates.
pub fn markup_add(a: Value, b: Value) -> Result<Value, Error> {
    let markup = |v: &Value| v.kind() == ValueKind::String && v.is_safe();
    match (a.as_str(), b.as_str()) {
        (Some(x), Some(y)) if markup(&a) || markup(&b) => {
            let part = |v: &Value, text: &str| if markup(v) { text.to_owned() } else { escape(text) };
            Ok(Value::from_safe_string(part(&a, x) + &part(&b, y)))
        }
        (Some(x), Some(y)) => Ok(Value::from(x.to_owned() + y)),
        _ => add(&a, &b),
    }
}

/// `value[start:stop:step]` as Python defines it.
pub fn slice(value: Value, start: Value, stop: Option<Value>, step: Option<Value>) -> Result<Value, Error> {
    let bound = |v: Option<Value>| match v {
        Some(v) if !v.is_none() => i64::try_from(v).map(Some),
        _ => Ok(None),
    };
    let (start, stop, step) = (bound(Some(start))?, bound(stop)?, bound(step)?.unwrap_or(1));
    let sequence = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) && !is_generator(&value);
    if step == 0 || !(sequence || value.kind() == ValueKind::String) {
        return fail(format!("a value of type {} cannot be sliced by steps of {step}", value.kind()));
    }
    let items: Vec<Value> = match value.as_str() {
        Some(text) => text.chars().map(Value::from).collect(),
        None => value.try_iter()?.collect(),
    };
    let n = items.len() as i64;
    // The first and last position that an index may be moved to.
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |i: Option<i64>, absent: i64| match i {
        Some(i) if i < 0 => i.saturating_add(n).max(low),
        Some(i) => i.min(high),
        None => absent,
    };
    let (mut at, end) = if step > 0 {
        (clamp(start, 0), clamp(stop, n))
    } else {
        (clamp(start, n - 1), clamp(stop, -1))
    };
    let mut taken = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        taken.push(items[at as usize].clone());
        at = at.saturating_add(step);
    }
    Ok(match value.kind() {
        ValueKind::String => Value::from(taken.iter().map(|c| c.as_str().unwrap_or_default()).collect::<String>()),
        _ => Value::from(taken),
    })
}
