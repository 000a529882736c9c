//! How Python writes values: str(), repr(), and json.dumps() as transformers calls it.

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

use crate::taint;
use crate::values::is_generator;

pub fn fail<T>(message: impl Into<String>) -> Result<T, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message.into()))
}

/// repr(float): the shortest digits that read back, with an exponent below 1e-4 and from 1e16 on.
fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let scientific = format!("{x:e}");
    let (digits, exponent) = scientific.split_once('e').expect("{:e} has an exponent");
    let exponent: i32 = exponent.parse().expect("{:e} has a whole exponent");
    if x != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let text = format!("{x}");
    if text.contains('.') { text } else { text + ".0" }
}

fn is_float(value: &Value) -> bool {
    value.kind() == ValueKind::Number && !value.is_integer()
}

fn as_float(value: &Value) -> f64 {
    f64::try_from(value.clone()).unwrap_or(f64::NAN)
}

/// str(value).
pub fn str_of(value: &Value) -> String {
    match value.kind() {
        ValueKind::String | ValueKind::Undefined => value.to_string(),
        _ => {
            let mut out = String::new();
            repr(value, &mut out);
            out
        }
    }
}

fn repr_str(text: &str, out: &mut String) {
    let chars = taint::look(text);
    let has = |q| chars.iter().any(|&(c, _)| c == q);
    let quote = if has('\'') && !has('"') { '"' } else { '\'' };
    out.push(quote);
    for (c, tainted) in chars {
        let escaped = match c {
            '\\' => "\\\\".into(),
            '\n' => "\\n".into(),
            '\r' => "\\r".into(),
            '\t' => "\\t".into(),
            c if c == quote => format!("\\{c}"),
            c if (c as u32) < 0x20 || (0x7f..=0xa0).contains(&(c as u32)) || c == '\u{ad}' => {
                format!("\\x{:02x}", c as u32)
            }
            c => c.to_string(),
        };
        out.push_str(&taint::unlook(escaped.chars().map(|e| (e, tainted))));
    }
    out.push(quote);
}

fn repr(value: &Value, out: &mut String) {
    match value.kind() {
        ValueKind::String => repr_str(value.as_str().unwrap_or_default(), out),
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::Number if is_float(value) => out.push_str(&float(as_float(value))),
        _ if is_generator(value) => out.push_str("<generator object>"),
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            for (i, item) in value.try_iter().into_iter().flatten().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                repr(&item, out);
            }
            out.push(']');
        }
        ValueKind::Map => {
            out.push('{');
            for (i, key) in value.try_iter().into_iter().flatten().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                repr(&key, out);
                out.push_str(": ");
                repr(&value.get_item(&key).unwrap_or_default(), out);
            }
            out.push('}');
        }
        _ => out.push_str(&value.to_string()),
    }
}

/// The arguments of json.dumps() that templates use.
pub struct Dumps {
    pub ensure_ascii: bool,
    pub indent: Option<String>,
    pub item_separator: String,
    pub key_separator: String,
    pub sort_keys: bool,
}

impl Dumps {
    pub fn dump(&self, value: &Value) -> Result<String, Error> {
        let mut out = String::new();
        self.write(value, 0, &mut out)?;
        Ok(out)
    }

    fn write(&self, value: &Value, depth: usize, out: &mut String) -> Result<(), Error> {
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number if is_float(value) => out.push_str(&match as_float(value) {
                x if x.is_nan() => "NaN".into(),
                x if x.is_infinite() => if x > 0.0 { "Infinity".into() } else { "-Infinity".into() },
                x => float(x),
            }),
            ValueKind::Number => out.push_str(&value.to_string()),
            ValueKind::String => self.write_str(value.as_str().unwrap_or_default(), out),
            _ if is_generator(value) => return fail("Object of type generator is not JSON serializable"),
            ValueKind::Seq | ValueKind::Iterable => {
                let items: Vec<Value> = value.try_iter()?.collect();
                self.write_items('[', ']', depth, &items, out, |item, out| self.write(item, depth + 1, out))?;
            }
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort_by_key(|k| taint::plain(&k.to_string()).into_owned());
                }
                self.write_items('{', '}', depth, &keys, out, |key, out| {
                    match key.kind() {
                        ValueKind::String => self.write_str(key.as_str().unwrap_or_default(), out),
                        ValueKind::None => out.push_str("\"null\""),
                        ValueKind::Bool => out.push_str(if key.is_true() { "\"true\"" } else { "\"false\"" }),
                        _ => self.write_str(&str_of(key), out),
                    }
                    out.push_str(&self.key_separator);
                    self.write(&value.get_item(key)?, depth + 1, out)
                })?;
            }
            kind => return fail(format!("Object of type {kind} is not JSON serializable")),
        }
        Ok(())
    }

    fn write_items(
        &self,
        open: char,
        close: char,
        depth: usize,
        items: &[Value],
        out: &mut String,
        mut write: impl FnMut(&Value, &mut String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let line = |depth: usize, out: &mut String| {
            if let Some(indent) = &self.indent {
                out.push('\n');
                (0..depth).for_each(|_| out.push_str(indent));
            }
        };
        out.push(open);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push_str(&self.item_separator);
            }
            line(depth + 1, out);
            write(item, out)?;
        }
        if !items.is_empty() {
            line(depth, out);
        }
        out.push(close);
        Ok(())
    }

    fn write_str(&self, text: &str, out: &mut String) {
        out.push('"');
        for (c, tainted) in taint::look(text) {
            let escaped = match c {
                '"' => "\\\"".into(),
                '\\' => "\\\\".into(),
                '\n' => "\\n".into(),
                '\r' => "\\r".into(),
                '\t' => "\\t".into(),
                '\u{8}' => "\\b".into(),
                '\u{c}' => "\\f".into(),
                c if (c as u32) < 0x20 => format!("\\u{:04x}", c as u32),
                c if self.ensure_ascii && !c.is_ascii() => {
                    c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")).collect()
                }
                c => c.to_string(),
            };
            out.push_str(&taint::unlook(escaped.chars().map(|e| (e, tainted))));
        }
        out.push('"');
    }
}
