//! Telling what users typed from what a template wrote, one character at a time.
//!
//! A template is rendered a second time with every character of every untrusted string replaced by its
//! *twin*, a private-use code point that stands for it. Slicing, joining and copying carry twins along,
//! so in the output each character says where it came from. Everything that looks inside strings
//! (methods, filters, comparisons) looks at the plain characters behind the twins, so that the template
//! takes the same branches. Whether it really did is checked at the end: with the twins turned back, the
//! text must equal the plain rendering.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value as Json};

/// Planes 15 and 16 in one run: private use, room for 131,072 different characters.
const FIRST_TWIN: u32 = 0xF_0000;
/// A twin of nothing: what a character outside the alphabet becomes. It never turns back into text, so
/// the final comparison fails and nothing slips through as trusted.
const NO_TWIN: char = '\u{10FFFF}';

/// The variables that come from the model's files; all others come, at least in part, from a client.
const TRUSTED: [&str; 2] = ["bos_token", "eos_token"];

/// The characters that have twins, in order: comparing twins compares what they stand for.
struct Twins(Vec<char>);

impl Twins {
    fn plain(&self, c: char) -> Option<char> {
        let index = (c as u32).checked_sub(FIRST_TWIN)?;
        self.0.get(index as usize).copied()
    }
    fn twin(&self, c: char) -> char {
        match self.0.binary_search(&c) {
            Ok(i) => char::from_u32(FIRST_TWIN + i as u32).unwrap_or(NO_TWIN),
            Err(_) => NO_TWIN,
        }
    }
}

thread_local! {
    // Filters and methods are plain functions; a render runs on one thread from start to end.
    static TWINS: RefCell<Option<Rc<Twins>>> = const { RefCell::new(None) };
}

fn twins() -> Option<Rc<Twins>> {
    TWINS.with(|t| t.borrow().clone())
}

/// Whether this render has twins.
pub fn active() -> bool {
    TWINS.with(|t| t.borrow().is_some())
}

/// Twins exist while this lives.
pub struct Tainting;

impl Drop for Tainting {
    fn drop(&mut self) {
        TWINS.with(|t| *t.borrow_mut() = None);
    }
}

/// `text` with twins turned back.
pub fn plain(text: &str) -> Cow<'_, str> {
    match twins() {
        Some(t) if text.chars().any(|c| t.plain(c).is_some()) => {
            Cow::Owned(text.chars().map(|c| t.plain(c).unwrap_or(c)).collect())
        }
        _ => Cow::Borrowed(text),
    }
}

/// For each character of `text`: what it stands for, and whether it is a twin.
pub fn look(text: &str) -> Vec<(char, bool)> {
    match twins() {
        Some(t) => text.chars().map(|c| t.plain(c).map_or((c, false), |p| (p, true))).collect(),
        None => text.chars().map(|c| (c, false)).collect(),
    }
}

/// The reverse of `look`.
pub fn unlook(chars: impl IntoIterator<Item = (char, bool)>) -> String {
    let t = twins();
    chars
        .into_iter()
        .map(|(c, tainted)| match &t {
            Some(t) if tainted => t.twin(c),
            _ => c,
        })
        .collect()
}

/// How much is tainted.
#[derive(Clone, Copy, PartialEq)]
pub enum Reach {
    /// Every string.
    All,
    /// Only strings with a character that a special token needs: what is left alone is made of letters,
    /// digits, spaces and a little punctuation, and spells no special token by itself.
    Suspicious,
}

fn harmless(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " _-.,:;?!'()+*\n".contains(c))
}

fn word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The strings of a variable in one pass: `edit` may replace each. Roles that are plain words
/// stay as they are (templates put them into special tokens), and so do the keys in `names`, which the
/// template itself spells.
fn each_string(value: &mut Json, names: &HashSet<String>, edit: &mut dyn FnMut(&mut String)) {
    match value {
        Json::String(s) => edit(s),
        Json::Array(list) => list.iter_mut().for_each(|v| each_string(v, names, edit)),
        Json::Object(map) => {
            let mut edited = Map::new();
            for (mut key, mut v) in std::mem::take(map) {
                let role = key == "role" && v.as_str().is_some_and(word);
                if !role {
                    each_string(&mut v, names, edit);
                }
                if !names.contains(&key) {
                    edit(&mut key);
                }
                edited.insert(key, v);
            }
            *map = edited;
        }
        _ => {}
    }
}

/// Replaces the untrusted strings of `context` by their twins. None: it has more different characters
/// than there are twins, or a trusted text already uses code points of twins.
pub fn taint(
    context: &mut Map<String, Json>,
    source: &str,
    names: &HashSet<String>,
    reach: Reach,
) -> Option<Tainting> {
    let chosen = |s: &str| reach == Reach::All || !harmless(s);
    // ASCII, because JSON and repr() escapes of a tainted character are tainted as well.
    let mut alphabet: BTreeSet<char> = ('\u{0}'..='\u{7f}').collect();
    let mut clash = source.chars().any(|c| c as u32 >= FIRST_TWIN);
    for (key, value) in context.iter_mut() {
        if !TRUSTED.contains(&key.as_str()) {
            each_string(value, names, &mut |s| {
                for c in s.chars() {
                    alphabet.insert(c);
                    alphabet.extend(c.to_uppercase());
                    alphabet.extend(c.to_lowercase());
                }
            });
        } else {
            clash |= value.to_string().chars().any(|c| c as u32 >= FIRST_TWIN);
        }
    }
    if clash || alphabet.len() >= (NO_TWIN as u32 - FIRST_TWIN) as usize {
        return None;
    }
    let twins = Rc::new(Twins(alphabet.into_iter().collect()));
    for (key, value) in context.iter_mut() {
        if !TRUSTED.contains(&key.as_str()) {
            each_string(value, names, &mut |s| {
                if chosen(s) {
                    *s = s.chars().map(|c| twins.twin(c)).collect();
                }
            });
        }
    }
    TWINS.with(|t| *t.borrow_mut() = Some(twins));
    Some(Tainting)
}

/// The pieces of a tainted rendering, trusted and untrusted in turn, beginning with a trusted one.
pub fn split(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for (c, tainted) in look(text) {
        if tainted != (pieces.len() % 2 == 0) {
            pieces.push(String::new());
        }
        pieces.last_mut().expect("starts with one piece").push(c);
    }
    pieces
}
