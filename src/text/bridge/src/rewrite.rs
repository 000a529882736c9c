//! Small edits of a template's source before it is compiled, where the engine has no hook: operators do
//! not go through filters, so their operands are piped through ours (`a + b` becomes
//! `a|kapitsa_bounded + b`). No edit adds a line, so error lines stay right.

use std::collections::HashSet;

use minijinja::machinery::{tokenize, Span, Token, WhitespaceConfig};
use minijinja::{Error, ErrorKind};

const BOUNDED: &str = "|kapitsa_bounded";
const TEXT: &str = "|kapitsa_text";
const STORED: &str = ")|kapitsa_stored";
const STORED_INSIDE: &str = ")|kapitsa_stored_inside";
const ITERATED: &str = "|kapitsa_iterated";
const SLICE: &str = "|kapitsa_slice(";
const ADD: &str = "|kapitsa_add(";
/// Attributes that a dict of Python has itself, so that an item of the same name is not seen.
const DICT_METHODS: [(&str, &str); 7] = [
    ("items", "|kapitsa_attribute('items'))"),
    ("values", "|kapitsa_attribute('values'))"),
    ("keys", "|kapitsa_attribute('keys'))"),
    ("get", "|kapitsa_attribute('get'))"),
    ("copy", "|kapitsa_attribute('copy'))"),
    ("update", "|kapitsa_attribute('update'))"),
    ("clear", "|kapitsa_attribute('clear'))"),
];
const PLAIN: &str = "|kapitsa_plain";

pub struct Rewritten {
    pub source: String,
    /// Every identifier and string that the template spells.
    pub names: HashSet<String>,
}

fn is_operator_word(word: &str) -> bool {
    matches!(word, "and" | "or" | "not" | "in" | "is" | "if" | "elif" | "else" | "for" | "set" | "do" | "recursive")
}

/// Whether an expression can end with this token: what tells a binary `+` from a unary one.
fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Ident(word) => !is_operator_word(word),
        Token::Str(_) | Token::String(_) | Token::Int(_) | Token::Int128(_) | Token::Float(_) => true,
        Token::BracketClose | Token::ParenClose | Token::BraceClose => true,
        _ => false,
    }
}

/// The tokens of a template, and for each the index after the bracket that closes it (or of the end of
/// its block; the next index where it is no bracket).
struct Tokens<'s> {
    list: Vec<(Token<'s>, Span)>,
    after: Vec<usize>,
}

impl<'s> Tokens<'s> {
    fn new(list: Vec<(Token<'s>, Span)>) -> Self {
        let mut after: Vec<usize> = (1..=list.len()).collect();
        let mut open = Vec::new();
        for (i, (token, _)) in list.iter().enumerate() {
            match token {
                Token::BracketOpen | Token::ParenOpen | Token::BraceOpen => open.push(i),
                Token::BracketClose | Token::ParenClose | Token::BraceClose => {
                    open.pop().into_iter().for_each(|o| after[o] = i + 1);
                }
                Token::BlockEnd | Token::VariableEnd => open.drain(..).for_each(|o| after[o] = i),
                _ => {}
            }
        }
        open.drain(..).for_each(|o| after[o] = list.len());
        Tokens { list, after }
    }
    fn get(&self, i: usize) -> Option<&Token<'s>> {
        self.list.get(i).map(|t| &t.0)
    }
    fn len(&self) -> usize {
        self.list.len()
    }
    fn start(&self, i: usize) -> usize {
        self.list[i].1.start_offset as usize
    }
    fn end(&self, i: usize) -> usize {
        self.list[i].1.end_offset as usize
    }
    fn is_ident(&self, i: usize, word: &str) -> bool {
        matches!(self.get(i), Some(Token::Ident(w)) if *w == word)
    }
}

/// The index after the operand that begins at `i`: a name, literal or bracket with its trailers and
/// filters. None where nothing is to be done: it is a literal, or not an operand.
fn skip_operand(tokens: &Tokens, i: usize) -> Option<usize> {
    skip_trailers(tokens, skip_primary(tokens, i)?)
}

/// The same, and literals count.
fn skip_any_operand(tokens: &Tokens, i: usize) -> Option<usize> {
    match tokens.get(i)? {
        Token::Str(_) | Token::String(_) | Token::Int(_) | Token::Float(_) => skip_trailers(tokens, i + 1),
        _ => skip_operand(tokens, i),
    }
}

fn skip_primary(tokens: &Tokens, i: usize) -> Option<usize> {
    match tokens.get(i)? {
        Token::Ident(word) if !is_operator_word(word) => Some(i + 1),
        Token::BracketOpen | Token::ParenOpen | Token::BraceOpen => Some(tokens.after[i]),
        _ => None,
    }
}

fn skip_trailers(tokens: &Tokens, mut end: usize) -> Option<usize> {
    loop {
        end = match tokens.get(end) {
            Some(Token::Dot | Token::Pipe) => end + 2,
            Some(Token::BracketOpen | Token::ParenOpen) => tokens.after[end],
            _ => return (end <= tokens.len()).then_some(end),
        };
    }
}

/// The colons of a slice in the brackets at `open`.
fn slice_colons(tokens: &Tokens, open: usize) -> Vec<usize> {
    let mut colons = Vec::new();
    let mut i = open + 1;
    while i + 1 < tokens.after[open] {
        if matches!(tokens.get(i), Some(Token::Colon)) {
            colons.push(i);
        }
        i = tokens.after[i].max(i + 1);
    }
    colons
}

/// `x[a:b]` becomes `(x|kapitsa_slice(a,b))`, and `x.items` `(x|kapitsa_attribute('items'))`.
fn trailers(tokens: &Tokens, edits: &mut Vec<Edit>) {
    let mut put = |at: std::ops::Range<usize>, text| {
        edits.push(Edit { from: at.start, to: at.end, text })
    };
    let bytes = |i: usize| tokens.start(i)..tokens.end(i);
    for start in 1..tokens.len() {
        let (before, token) = (&tokens.list[start - 1].0, &tokens.list[start].0);
        let literal = matches!(token, Token::Str(_) | Token::String(_));
        if ends_operand(before) || matches!(before, Token::Dot | Token::Pipe) {
            continue;
        }
        let Some(first) = (if literal { Some(start + 1) } else { skip_primary(tokens, start) }) else { continue };
        let mut at = first;
        loop {
            at = match tokens.get(at) {
                Some(Token::Dot) => {
                    let called = matches!(tokens.get(at + 2), Some(Token::ParenOpen));
                    let method = DICT_METHODS.iter().find(|m| !called && tokens.is_ident(at + 1, m.0));
                    if let Some((_, attribute)) = method {
                        put(tokens.start(start)..tokens.start(start), "(");
                        put(tokens.start(at)..tokens.end(at + 1), attribute);
                    }
                    at + 2
                }
                Some(Token::ParenOpen) => tokens.after[at],
                Some(Token::BracketOpen) => {
                    let end = tokens.after[at];
                    let colons = slice_colons(tokens, at);
                    if !colons.is_empty() && matches!(tokens.list[end - 1].0, Token::BracketClose) {
                        let empty = |i: usize| matches!(tokens.list[i + 1].0, Token::Colon | Token::BracketClose);
                        put(bytes(start).start..bytes(start).start, "(");
                        put(bytes(at), SLICE);
                        if empty(at) {
                            put(bytes(at).end..bytes(at).end, "none");
                        }
                        for colon in colons {
                            put(bytes(colon), if empty(colon) { ",none" } else { "," });
                        }
                        put(bytes(end - 1), "))");
                    }
                    end
                }
                _ => break,
            };
        }
    }
}

/// `a + b` becomes `a|kapitsa_add(b)` where the template makes Markup and a block has no operator that
/// binds tighter than `+`.
fn markup_adds(tokens: &Tokens, edits: &mut Vec<Edit>) {
    let safe = |i: usize| matches!(tokens.get(i), Some(Token::Pipe)) && tokens.is_ident(i + 1, "safe");
    if !(0..tokens.len()).any(safe) {
        return;
    }
    let is_start = |t: &Token| matches!(t, Token::VariableStart | Token::BlockStart);
    let is_end = |t: &Token| matches!(t, Token::VariableEnd | Token::BlockEnd);
    let mut i = 0;
    while i < tokens.len() {
        if !is_start(&tokens.list[i].0) {
            i += 1;
            continue;
        }
        let end = (i..tokens.len()).find(|&j| is_end(&tokens.list[j].0)).unwrap_or(tokens.len());
        let tighter = |t: &Token| {
            matches!(t, Token::Minus | Token::Mul | Token::Div | Token::FloorDiv | Token::Mod | Token::Pow | Token::Tilde)
        };
        if !tokens.list[i..end].iter().any(|(t, _)| tighter(t)) {
            for plus in i..end {
                let operand = match tokens.list[plus].0 {
                    Token::Plus if ends_operand(&tokens.list[plus - 1].0) => skip_any_operand(tokens, plus + 1),
                    _ => None,
                };
                if let Some(after) = operand {
                    let (from, to) = (tokens.start(plus), tokens.end(plus));
                    let last = tokens.end(after - 1);
                    edits.push(Edit { from, to, text: ADD });
                    edits.push(Edit { from: last, to: last, text: ")" });
                }
            }
        }
        i = end;
    }
}

struct Edit {
    /// Replaces the bytes from `from` to `to`.
    from: usize,
    to: usize,
    text: &'static str,
}

fn edits(tokens: &Tokens) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (start_of, end_of) = (|i| tokens.start(i), |i| tokens.end(i));
    let mut insert = |at: usize, text| edits.push(Edit { from: at, to: at, text });
    let mut replaced = Vec::new();
    let mut loop_head = false;
    let mut assigned = None;
    for (i, (token, _)) in tokens.list.iter().enumerate() {
        let binary = i > 0 && ends_operand(&tokens.list[i - 1].0);
        match token {
            Token::BlockStart => {
                loop_head = tokens.is_ident(i + 1, "for");
                assigned = None;
                // transformers' block around what the assistant says. It writes nothing itself.
                if matches!(tokens.get(i + 2), Some(Token::BlockEnd)) {
                    for (tag, same) in [("generation", "if true"), ("endgeneration", "endif")] {
                        if tokens.is_ident(i + 1, tag) {
                            replaced.push(Edit {
                                from: start_of(i + 1),
                                to: end_of(i + 1),
                                text: same,
                            });
                        }
                    }
                }
                // `set x = value`, with what is stored checked.
                if tokens.is_ident(i + 1, "set") {
                    let close = (i..tokens.len()).find(|&j| matches!(tokens.list[j].0, Token::BlockEnd));
                    let equals = (i..tokens.len()).find(|&j| matches!(tokens.list[j].0, Token::Assign | Token::BlockEnd));
                    if let (Some(close), Some(equals)) = (close, equals) {
                        if equals < close && close > equals + 1 {
                            insert(end_of(equals), "(");
                            let inside = (i..equals).any(|j| matches!(tokens.list[j].0, Token::Dot));
                            assigned = Some(if inside { STORED_INSIDE } else { STORED });
                        }
                    }
                }
            }
            Token::BlockEnd if assigned.is_some() => {
                insert(end_of(i - 1), assigned.take().unwrap_or(STORED));
            }
            Token::Plus | Token::Mul if binary => insert(end_of(i - 1), BOUNDED),
            Token::Tilde if binary => {
                insert(end_of(i - 1), TEXT);
                if let Some(end) = skip_operand(tokens, i + 1) {
                    // Another `~` comes to its left operand itself.
                    if !matches!(tokens.get(end), Some(Token::Tilde)) {
                        insert(end_of(end - 1), TEXT);
                    }
                }
            }
            Token::Eq | Token::Ne | Token::Lt | Token::Lte | Token::Gt | Token::Gte if binary => {
                insert(end_of(i - 1), PLAIN);
                if let Some(end) = skip_operand(tokens, i + 1) {
                    insert(end_of(end - 1), PLAIN);
                }
            }
            Token::Ident("in") if loop_head => {
                loop_head = false;
                let end = skip_operand(tokens, i + 1);
                let ends = |t: &Token| matches!(t, Token::BlockEnd | Token::Ident("if" | "recursive"));
                if let Some(end) = end.filter(|&e| tokens.get(e).is_some_and(ends)) {
                    insert(end_of(end - 1), ITERATED);
                }
            }
            Token::Ident("in") => {
                let before = if i > 0 && tokens.is_ident(i - 1, "not") { i - 1 } else { i };
                if before > 0 && ends_operand(&tokens.list[before - 1].0) {
                    insert(end_of(before - 1), PLAIN);
                    if let Some(end) = skip_operand(tokens, i + 1) {
                        insert(end_of(end - 1), PLAIN);
                    }
                }
            }
            _ => {}
        }
    }
    edits.extend(replaced);
    trailers(tokens, &mut edits);
    markup_adds(tokens, &mut edits);
    edits.sort_by_key(|e| e.from);
    edits
}

fn apply(source: &str, edits: &[Edit]) -> String {
    let (mut out, mut at) = (String::with_capacity(source.len() * 2), 0);
    for edit in edits {
        out.push_str(&source[at..edit.from]);
        out.push_str(edit.text);
        at = edit.to;
    }
    out + &source[at..]
}

/// The engine walks an expression by recursion, one level an operator or trailer, and an `elif` is an
/// `if` inside the `else` before it. No template that people write comes near these.
const MAX_BLOCK_TOKENS: usize = 2_000;
const MAX_ELIFS: usize = 2_000;

fn check_sizes(tokens: &Tokens) -> Result<(), Error> {
    let (mut start, mut elifs) = (0, 0);
    for (i, (token, span)) in tokens.list.iter().enumerate() {
        match token {
            Token::BlockStart | Token::VariableStart | Token::TemplateData(_) => start = i,
            Token::Ident("elif") => elifs += 1,
            _ => {}
        }
        if i - start > MAX_BLOCK_TOKENS || elifs > MAX_ELIFS {
            return Err(Error::new(ErrorKind::SyntaxError, format!(
                "up to line {}: more than {MAX_BLOCK_TOKENS} tokens in one block or {MAX_ELIFS} elifs", span.start_line)));
        }
    }
    Ok(())
}

/// Error: the source cannot be cut into tokens, or a block is too large.
pub fn rewrite(source: &str, whitespace: WhitespaceConfig) -> Result<Rewritten, Error> {
    let tokens = tokenize(source, false, Default::default(), whitespace).collect::<Result<_, _>>()?;
    let tokens = Tokens::new(tokens);
    check_sizes(&tokens)?;
    let edits = edits(&tokens);
    let names = tokens.list.iter().filter_map(|(token, _)| match token {
        Token::Ident(word) => Some(word.to_string()),
        Token::Str(text) => Some(text.to_string()),
        Token::String(text) => Some(text.to_string()),
        _ => None,
    });
    Ok(Rewritten {
        source: apply(source, &edits),
        names: names.collect(),
    })
}
