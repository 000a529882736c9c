//! Python's methods of str and dict, for strings that may hold twins: each looks at the plain characters
//! and takes its result from the string itself. What is not here is minijinja-contrib's.

use minijinja::value::{from_args, Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

use crate::limits::{room, tick};
use crate::python::{fail, str_of};
use crate::taint;

pub type Chars = Vec<(char, bool)>;

/// Guards str.format: the engine's own may be asked for any width, and for each argument many times.
pub fn format_room(format: &str, args: &[Value]) -> Result<(), Error> {
    let fields = format.matches(['{', '%']).count();
    let longest = args.iter().map(|a| a.to_string().len()).max().unwrap_or(0);
    let wide = format.as_bytes().windows(5).any(|w| w.iter().all(u8::is_ascii_digit));
    room(if wide { usize::MAX } else { fields.saturating_mul(longest + 10_000) })
}

/// str.isspace() of one character: Rust's white space and the four ASCII separators.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn string(chars: &[(char, bool)]) -> Value {
    Value::from(taint::unlook(chars.iter().copied()))
}

fn plain_chars(text: &str) -> Vec<char> {
    taint::look(text).into_iter().map(|(c, _)| c).collect()
}

fn matches_at(text: &[(char, bool)], at: usize, needle: &[char]) -> bool {
    text.len() >= at + needle.len() && needle.iter().enumerate().all(|(i, &n)| text[at + i].0 == n)
}

fn find(text: &[(char, bool)], from: usize, needle: &[char]) -> Option<usize> {
    (from..=text.len().checked_sub(needle.len())?).find(|&i| matches_at(text, i, needle))
}

fn rfind(text: &[(char, bool)], needle: &[char]) -> Option<usize> {
    (0..=text.len().checked_sub(needle.len())?).rev().find(|&i| matches_at(text, i, needle))
}

/// str.strip(chars), at the start and/or the end.
pub fn strip(text: &str, set: Option<&str>, start: bool, end: bool) -> Value {
    let set = set.map(plain_chars);
    let drop = |c: char| set.as_ref().map_or_else(|| is_space(c), |s| s.contains(&c));
    let chars = taint::look(text);
    let from = if start { chars.iter().position(|x| !drop(x.0)).unwrap_or(chars.len()) } else { 0 };
    let to = if end { chars.iter().rposition(|x| !drop(x.0)).map_or(0, |i| i + 1) } else { chars.len() };
    string(&chars[from..to.max(from)])
}

/// str.replace(old, new, count).
pub fn replace(text: &str, old: &str, new: &str, count: Option<i64>) -> Result<Value, Error> {
    let (chars, old, new) = (taint::look(text), plain_chars(old), taint::look(new));
    let mut left = match count {
        Some(n) if n >= 0 => n as usize,
        _ => usize::MAX,
    };
    let mut out = Chars::new();
    let mut i = 0;
    while i <= chars.len() {
        let hit = left > 0 && matches_at(&chars, i, &old);
        if hit {
            left -= 1;
            out.extend(&new);
            room(out.len())?;
        }
        if hit && !old.is_empty() {
            i += old.len();
        } else {
            out.extend(chars.get(i));
            i += 1;
        }
    }
    Ok(string(&out))
}

fn split_at(text: &str, separator: &str, limit: usize) -> Result<Vec<Chars>, Error> {
    let needle = plain_chars(separator);
    if needle.is_empty() {
        return fail("empty separator");
    }
    let chars = taint::look(text);
    let (mut parts, mut from) = (Vec::new(), 0);
    while parts.len() < limit {
        let Some(at) = find(&chars, from, &needle) else { break };
        parts.push(chars[from..at].to_vec());
        from = at + needle.len();
    }
    parts.push(chars[from..].to_vec());
    Ok(parts)
}

/// str.split() without a separator: at runs of white space, none at the ends.
fn split_space(text: &str, limit: usize) -> Vec<Chars> {
    let chars = taint::look(text);
    let (mut parts, mut i) = (Vec::new(), 0);
    loop {
        while i < chars.len() && is_space(chars[i].0) {
            i += 1;
        }
        if i == chars.len() {
            return parts;
        }
        let from = i;
        if parts.len() == limit {
            let end = chars.iter().rposition(|x| !is_space(x.0)).map_or(from, |e| e + 1);
            parts.push(chars[from..end].to_vec());
            return parts;
        }
        while i < chars.len() && !is_space(chars[i].0) {
            i += 1;
        }
        parts.push(chars[from..i].to_vec());
    }
}

fn rsplit_at(text: &str, separator: &str, limit: usize) -> Result<Vec<Chars>, Error> {
    let needle = plain_chars(separator);
    if needle.is_empty() {
        return fail("empty separator");
    }
    let chars = taint::look(text);
    let (mut parts, mut end) = (Vec::new(), chars.len());
    while parts.len() < limit {
        let Some(at) = rfind(&chars[..end], &needle) else { break };
        parts.push(chars[at + needle.len()..end].to_vec());
        end = at;
    }
    parts.push(chars[..end].to_vec());
    parts.reverse();
    Ok(parts)
}

pub fn split_lines(text: &str, keep_ends: bool) -> Vec<Chars> {
    let ends = "\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}";
    let (chars, mut parts, mut from, mut i) = (taint::look(text), Vec::new(), 0, 0);
    while i < chars.len() {
        let mut next = i + 1;
        if ends.contains(chars[i].0) {
            next += usize::from(chars[i].0 == '\r' && chars.get(next).is_some_and(|x| x.0 == '\n'));
            parts.push(chars[from..if keep_ends { next } else { i }].to_vec());
            from = next;
        }
        i = next;
    }
    if from < chars.len() {
        parts.push(chars[from..].to_vec());
    }
    parts
}

pub fn upper(text: &str) -> Value {
    Value::from(taint::unlook(
        taint::look(text).into_iter().flat_map(|(c, t)| c.to_uppercase().map(move |u| (u, t))),
    ))
}

pub fn lower(text: &str) -> Value {
    // Rust's mapping of whole strings knows the context of a letter (final sigma), as Python's does.
    if matches!(taint::plain(text), std::borrow::Cow::Borrowed(_)) {
        return Value::from(text.to_lowercase());
    }
    Value::from(taint::unlook(
        taint::look(text).into_iter().flat_map(|(c, t)| c.to_lowercase().map(move |u| (u, t))),
    ))
}

fn cased(text: &str, up: impl Fn(usize, Option<char>) -> bool) -> Value {
    let (mut out, mut before) = (Chars::new(), None);
    for (i, (c, tainted)) in taint::look(text).into_iter().enumerate() {
        if up(i, before) {
            out.extend(c.to_uppercase().map(|u| (u, tainted)));
        } else {
            out.extend(c.to_lowercase().map(|u| (u, tainted)));
        }
        before = Some(c);
    }
    string(&out)
}

pub fn capitalize(text: &str) -> Value {
    cased(text, |i, _| i == 0)
}

pub fn title(text: &str) -> Value {
    cased(text, |_, before| !before.is_some_and(char::is_alphabetic))
}

fn affix(method: &str, text: &str, affix: &Value) -> Result<bool, Error> {
    if affix.kind() != ValueKind::String {
        if !matches!(affix.kind(), ValueKind::Seq | ValueKind::Iterable) {
            return fail(format!("{method} first arg must be str or a tuple of str, not {}", affix.kind()));
        }
        for one in affix.try_iter()? {
            if self::affix(method, text, &one)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let (text, affix) = (taint::plain(text), taint::plain(affix.as_str().unwrap_or_default()));
    Ok(if method == "startswith" { text.starts_with(&*affix) } else { text.ends_with(&*affix) })
}

/// str.join(values): only of strings.
fn join(separator: &str, values: &Value) -> Result<Value, Error> {
    let mut out = String::new();
    for (i, value) in values.try_iter()?.enumerate() {
        let Some(s) = value.as_str() else {
            return fail(format!("sequence item {i}: expected str instance, {} found", value.kind()));
        };
        out.push_str(if i == 0 { "" } else { separator });
        out.push_str(s);
        room(out.len())?;
    }
    Ok(Value::from(out))
}

fn list(parts: Vec<Chars>) -> Value {
    parts.iter().map(|p| string(p)).collect()
}

fn str_method(state: &State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let s = value.as_str().unwrap_or_default();
    let index = |i: Option<usize>| Value::from(i.map_or(-1, |i| i as i64));
    let limit = |n: Option<i64>| n.filter(|&n| n >= 0).map_or(usize::MAX, |n| n as usize);
    Ok(match method {
        "strip" | "lstrip" | "rstrip" => {
            let (set,): (Option<&str>,) = from_args(args)?;
            strip(s, set, method != "rstrip", method != "lstrip")
        }
        "split" | "rsplit" => {
            let (separator, most, kwargs): (Option<&str>, Option<i64>, Kwargs) = from_args(args)?;
            let separator = match separator {
                None => kwargs.get::<Option<&str>>("sep")?,
                given => given,
            };
            let most = limit(match most {
                None => kwargs.get("maxsplit")?,
                given => given,
            });
            kwargs.assert_all_used()?;
            list(match separator {
                Some(sep) if method == "split" => split_at(s, sep, most)?,
                Some(sep) => rsplit_at(s, sep, most)?,
                None if method == "split" || most == usize::MAX => split_space(s, most),
                None => return fail("rsplit() at white space with a limit is not supported"),
            })
        }
        "splitlines" => {
            let (keep,): (Option<bool>,) = from_args(args)?;
            list(split_lines(s, keep.unwrap_or(false)))
        }
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            let needle = plain_chars(separator);
            let chars = taint::look(s);
            let at = if method == "partition" { find(&chars, 0, &needle) } else { rfind(&chars, &needle) };
            match at {
                Some(i) => list(vec![
                    chars[..i].to_vec(),
                    chars[i..i + needle.len()].to_vec(),
                    chars[i + needle.len()..].to_vec(),
                ]),
                None if method == "partition" => list(vec![chars, vec![], vec![]]),
                None => list(vec![vec![], vec![], chars]),
            }
        }
        "replace" => {
            let (old, new, count): (&str, &str, Option<i64>) = from_args(args)?;
            replace(s, old, new, count)?
        }
        "removeprefix" | "removesuffix" => {
            let (part,): (&str,) = from_args(args)?;
            let (chars, part) = (taint::look(s), plain_chars(part));
            let end = chars.len().saturating_sub(part.len());
            match method {
                "removeprefix" if matches_at(&chars, 0, &part) => string(&chars[part.len()..]),
                "removesuffix" if matches_at(&chars, end, &part) => string(&chars[..end]),
                _ => value.clone(),
            }
        }
        "startswith" | "endswith" => {
            let (part,): (&Value,) = from_args(args)?;
            Value::from(affix(method, s, part)?)
        }
        "find" | "index" => {
            let (part,): (&str,) = from_args(args)?;
            match find(&taint::look(s), 0, &plain_chars(part)) {
                None if method == "index" => return fail("substring not found"),
                at => index(at),
            }
        }
        "rfind" => {
            let (part,): (&str,) = from_args(args)?;
            index(rfind(&taint::look(s), &plain_chars(part)))
        }
        "count" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(taint::plain(s).matches(&*taint::plain(part)).count())
        }
        "upper" => upper(s),
        "lower" => lower(s),
        "capitalize" => capitalize(s),
        "title" => title(s),
        "join" => {
            let (values,): (&Value,) = from_args(args)?;
            join(s, values)?
        }
        "isspace" | "isdigit" | "isalpha" | "isalnum" | "islower" | "isupper" | "isnumeric" | "isascii" => {
            let plain = taint::plain(s).into_owned();
            let answer = minijinja_contrib::pycompat::unknown_method_callback(
                state, &Value::from(plain.as_str()), method, args)?;
            // Python says no for "", where "all of no characters" says yes.
            Value::from(answer.is_true() && (!plain.is_empty() || method == "isascii"))
        }
        "format" => {
            format_room(s, args)?;
            return minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args);
        }
        _ => return minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args),
    })
}

pub fn call(state: &State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    tick()?;
    match value.kind() {
        ValueKind::String => str_method(state, value, method, args),
        ValueKind::Map if method == "items" => {
            let () = from_args(args)?;
            items(value)
        }
        ValueKind::Map | ValueKind::Seq | ValueKind::Iterable => {
            minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// dict.items() as a list of pairs.
pub fn items(value: &Value) -> Result<Value, Error> {
    if value.kind() != ValueKind::Map {
        return fail(format!("can only get item pairs from a mapping, not from {}", str_of(value)));
    }
    let pairs: Result<Vec<Value>, Error> =
        value.try_iter()?.map(|k| Ok(Value::from(vec![k.clone(), value.get_item(&k)?]))).collect();
    Ok(Value::from(pairs?))
}
