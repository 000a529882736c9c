//! Small edits of a template's source before it is compiled, where the engine has no hook: operators do
//! not go through filters, so their operands are piped through ours (`a + b` becomes
//! `a|kapitsa_bounded + b`). No edit adds a line, so error lines stay right.

use std::collections::HashSet;

use minijinja::machinery::{tokenize, Span, Token, WhitespaceConfig};
use minijinja::Error;

const BOUNDED: &str = "|kapitsa_bounded";
const TEXT: &str = "|kapitsa_text";
const STORED: &str = ")|kapitsa_stored";
const ITERATED: &str = "|kapitsa_iterated";
const SLICE: &str = "|kapitsa_slice(";
const ADD: &str = "|kapitsa_add(";
const PLAIN: &str = "|kapitsa_plain";

pub struct Rewritten {
    /// For plain renderings: limits on sizes.
    pub plain: String,
    /// The same, and comparisons look behind twins.
    pub tainted: String,
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

fn is_ident(tokens: &[(Token, Span)], i: usize, word: &str) -> bool {
    matches!(tokens.get(i), Some((Token::Ident(w), _)) if *w == word)
}

/// The index after the bracket that closes the one at `i`.
fn skip_brackets(tokens: &[(Token, Span)], mut i: usize) -> usize {
    let mut depth = 0;
    while i < tokens.len() {
        match tokens[i].0 {
            Token::BracketOpen | Token::ParenOpen | Token::BraceOpen => depth += 1,
            Token::BracketClose | Token::ParenClose | Token::BraceClose => depth -= 1,
            Token::BlockEnd | Token::VariableEnd => return i,
            _ => {}
        }
        i += 1;
        if depth == 0 {
            break;
        }
    }
    i
}

/// The index after the operand that begins at `i`: a name, literal or bracket with its trailers and
/// filters. None where nothing is to be done: it is a literal, or not an operand.
fn skip_operand(tokens: &[(Token, Span)], i: usize) -> Option<usize> {
    skip_trailers(tokens, skip_primary(tokens, i)?)
}

/// The same, and literals count.
fn skip_any_operand(tokens: &[(Token, Span)], i: usize) -> Option<usize> {
    match tokens.get(i)?.0 {
        Token::Str(_) | Token::String(_) | Token::Int(_) | Token::Float(_) => skip_trailers(tokens, i + 1),
        _ => skip_operand(tokens, i),
    }
}

fn skip_primary(tokens: &[(Token, Span)], i: usize) -> Option<usize> {
    match &tokens.get(i)?.0 {
        Token::Ident(word) if !is_operator_word(word) => Some(i + 1),
        Token::BracketOpen | Token::ParenOpen | Token::BraceOpen => Some(skip_brackets(tokens, i)),
        _ => None,
    }
}

fn skip_trailers(tokens: &[(Token, Span)], mut end: usize) -> Option<usize> {
    loop {
        end = match tokens.get(end).map(|t| &t.0) {
            Some(Token::Dot | Token::Pipe) => end + 2,
            Some(Token::BracketOpen | Token::ParenOpen) => skip_brackets(tokens, end),
            _ => return (end <= tokens.len()).then_some(end),
        };
    }
}

/// Where the brackets at `open` hold a slice: the indices of its colons.
fn slice_colons(tokens: &[(Token, Span)], open: usize, end: usize) -> Vec<usize> {
    let mut depth = 0;
    let mut colons = Vec::new();
    for (i, (token, _)) in tokens.iter().enumerate().take(end).skip(open) {
        match token {
            Token::BracketOpen | Token::ParenOpen | Token::BraceOpen => depth += 1,
            Token::BracketClose | Token::ParenClose | Token::BraceClose => depth -= 1,
            Token::Colon if depth == 1 => colons.push(i),
            _ => {}
        }
    }
    colons
}

/// `x[a:b]` becomes `(x|kapitsa_slice(a,b))`.
fn slices(tokens: &[(Token, Span)], edits: &mut Vec<Edit>) {
    let mut put = |at: std::ops::Range<usize>, text| {
        edits.push(Edit { from: at.start, to: at.end, text, only_tainted: false })
    };
    let bytes = |i: usize| tokens[i].1.start_offset as usize..tokens[i].1.end_offset as usize;
    for start in 1..tokens.len() {
        let (before, token) = (&tokens[start - 1].0, &tokens[start].0);
        let literal = matches!(token, Token::Str(_) | Token::String(_));
        if ends_operand(before) || matches!(before, Token::Dot | Token::Pipe) {
            continue;
        }
        let Some(first) = (if literal { Some(start + 1) } else { skip_primary(tokens, start) }) else { continue };
        let mut at = first;
        loop {
            at = match tokens.get(at).map(|t| &t.0) {
                Some(Token::Dot) => at + 2,
                Some(Token::ParenOpen) => skip_brackets(tokens, at),
                Some(Token::BracketOpen) => {
                    let end = skip_brackets(tokens, at);
                    let colons = slice_colons(tokens, at, end);
                    if !colons.is_empty() && matches!(tokens[end - 1].0, Token::BracketClose) {
                        let empty = |i: usize| matches!(tokens[i + 1].0, Token::Colon | Token::BracketClose);
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
fn markup_adds(tokens: &[(Token, Span)], edits: &mut Vec<Edit>) {
    let safe = |i: usize| matches!(tokens[i].0, Token::Pipe) && is_ident(tokens, i + 1, "safe");
    if !(0..tokens.len()).any(safe) {
        return;
    }
    let is_start = |t: &Token| matches!(t, Token::VariableStart | Token::BlockStart);
    let is_end = |t: &Token| matches!(t, Token::VariableEnd | Token::BlockEnd);
    let mut i = 0;
    while i < tokens.len() {
        if !is_start(&tokens[i].0) {
            i += 1;
            continue;
        }
        let end = (i..tokens.len()).find(|&j| is_end(&tokens[j].0)).unwrap_or(tokens.len());
        let tighter = |t: &Token| {
            matches!(t, Token::Minus | Token::Mul | Token::Div | Token::FloorDiv | Token::Mod | Token::Pow | Token::Tilde)
        };
        if !tokens[i..end].iter().any(|(t, _)| tighter(t)) {
            for plus in i..end {
                let operand = match tokens[plus].0 {
                    Token::Plus if ends_operand(&tokens[plus - 1].0) => skip_any_operand(tokens, plus + 1),
                    _ => None,
                };
                if let Some(after) = operand {
                    let span = tokens[plus].1;
                    let last = tokens[after - 1].1.end_offset as usize;
                    edits.push(Edit {
                        from: span.start_offset as usize,
                        to: span.end_offset as usize,
                        text: ADD,
                        only_tainted: false,
                    });
                    edits.push(Edit { from: last, to: last, text: ")", only_tainted: false });
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
    only_tainted: bool,
}

fn edits(tokens: &[(Token, Span)]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let end_of = |i: usize| tokens[i].1.end_offset as usize;
    let start_of = |i: usize| tokens[i].1.start_offset as usize;
    let mut insert = |at: usize, text, only_tainted| edits.push(Edit { from: at, to: at, text, only_tainted });
    let mut replaced = Vec::new();
    let mut loop_head = false;
    let mut assigned = false;
    for (i, (token, _)) in tokens.iter().enumerate() {
        let binary = i > 0 && ends_operand(&tokens[i - 1].0);
        match token {
            Token::BlockStart => {
                loop_head = is_ident(tokens, i + 1, "for");
                assigned = false;
                // transformers' block around what the assistant says. It writes nothing itself.
                if matches!(tokens.get(i + 2), Some((Token::BlockEnd, _))) {
                    for (tag, same) in [("generation", "if true"), ("endgeneration", "endif")] {
                        if is_ident(tokens, i + 1, tag) {
                            replaced.push(Edit {
                                from: start_of(i + 1),
                                to: end_of(i + 1),
                                text: same,
                                only_tainted: false,
                            });
                        }
                    }
                }
                // `set x = value`, with what is stored checked.
                if is_ident(tokens, i + 1, "set") {
                    let close = (i..tokens.len()).find(|&j| matches!(tokens[j].0, Token::BlockEnd));
                    let equals = (i..tokens.len()).find(|&j| matches!(tokens[j].0, Token::Assign | Token::BlockEnd));
                    if let (Some(close), Some(equals)) = (close, equals) {
                        if equals < close && close > equals + 1 {
                            insert(end_of(equals), "(", false);
                            assigned = true;
                        }
                    }
                }
            }
            Token::BlockEnd if assigned => {
                insert(end_of(i - 1), STORED, false);
                assigned = false;
            }
            Token::Plus | Token::Mul if binary => insert(end_of(i - 1), BOUNDED, false),
            Token::Tilde if binary => {
                insert(end_of(i - 1), TEXT, false);
                if let Some(end) = skip_operand(tokens, i + 1) {
                    // Another `~` comes to its left operand itself.
                    if !matches!(tokens.get(end), Some((Token::Tilde, _))) {
                        insert(end_of(end - 1), TEXT, false);
                    }
                }
            }
            Token::Eq | Token::Ne | Token::Lt | Token::Lte | Token::Gt | Token::Gte if binary => {
                insert(end_of(i - 1), PLAIN, true);
                if let Some(end) = skip_operand(tokens, i + 1) {
                    insert(end_of(end - 1), PLAIN, true);
                }
            }
            Token::Ident("in") if loop_head => {
                loop_head = false;
                let end = skip_operand(tokens, i + 1);
                let ends = |t: &Token| matches!(t, Token::BlockEnd | Token::Ident("if" | "recursive"));
                if let Some(end) = end.filter(|&e| tokens.get(e).is_some_and(|t| ends(&t.0))) {
                    insert(end_of(end - 1), ITERATED, false);
                }
            }
            Token::Ident("in") => {
                let before = if i > 0 && is_ident(tokens, i - 1, "not") { i - 1 } else { i };
                if before > 0 && ends_operand(&tokens[before - 1].0) {
                    insert(end_of(before - 1), PLAIN, true);
                    if let Some(end) = skip_operand(tokens, i + 1) {
                        insert(end_of(end - 1), PLAIN, true);
                    }
                }
            }
            _ => {}
        }
    }
    edits.extend(replaced);
    slices(tokens, &mut edits);
    markup_adds(tokens, &mut edits);
    edits.sort_by_key(|e| e.from);
    edits
}

fn apply(source: &str, edits: &[Edit], tainted: bool) -> String {
    let (mut out, mut at) = (String::with_capacity(source.len() * 2), 0);
    for edit in edits.iter().filter(|e| tainted || !e.only_tainted) {
        out.push_str(&source[at..edit.from]);
        out.push_str(edit.text);
        at = edit.to;
    }
    out + &source[at..]
}

/// Error: the source cannot be cut into tokens.
pub fn rewrite(source: &str, whitespace: WhitespaceConfig) -> Result<Rewritten, Error> {
    let tokens: Vec<(Token, Span)> =
        tokenize(source, false, Default::default(), whitespace).collect::<Result<_, _>>()?;
    let edits = edits(&tokens);
    let names = tokens.iter().filter_map(|(token, _)| match token {
        Token::Ident(word) => Some(word.to_string()),
        Token::Str(text) => Some(text.to_string()),
        Token::String(text) => Some(text.to_string()),
        _ => None,
    });
    Ok(Rewritten {
        plain: apply(source, &edits, false),
        tainted: apply(source, &edits, true),
        names: names.collect(),
    })
}
