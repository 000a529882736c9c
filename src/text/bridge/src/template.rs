//! Chat templates as transformers renders them: Jinja2's syntax and semantics, trim_blocks,
//! lstrip_blocks, loop controls, and its few functions of its own.

use std::collections::HashSet;

use minijinja::machinery::WhitespaceConfig;
use minijinja::{Environment, Error, ErrorKind};
use serde_json::{Map, Value as Json};

use crate::filters::{self, RAISED};
use crate::limits;
use crate::rewrite::rewrite;
use crate::taint::{self, Reach};

/// Steps of the engine in one render: minutes of conversation need some hundred thousand.
const FUEL: u64 = 20_000_000;
/// Nested calls of macros and recursive loops.
const RECURSION: usize = 200;
/// Real ones have some tens of KiB. What the engine takes to fold a block grows with its square.
const MAX_SOURCE: usize = 256 << 10;

pub enum Failure {
    /// The template's own raise_exception.
    Raised(String),
    Failed(String),
}

pub struct Template {
    source: String,
    names: HashSet<String>,
    env: Environment<'static>,
}

fn describe(error: &Error) -> Failure {
    let mut cause = match error.kind() {
        ErrorKind::OutOfFuel => format!("the template does not come to an end ({FUEL} steps)"),
        kind => kind.to_string(),
    };
    if let Some(detail) = error.detail() {
        if let Some(raised) = detail.strip_prefix(RAISED) {
            return Failure::Raised(raised.to_owned());
        }
        cause = format!("{cause}: {}", taint::plain(detail));
    }
    // What went wrong inside a macro or a filter is the source of the error outside.
    let mut line = error.line();
    let mut inner = std::error::Error::source(error);
    while let Some(e) = inner {
        if let Some(e) = e.downcast_ref::<Error>() {
            if let Failure::Raised(raised) = describe(e) {
                return Failure::Raised(raised);
            }
            line = e.line().or(line);
        }
        cause = format!("{cause}: {}", taint::plain(&e.to_string()));
        inner = e.source();
    }
    Failure::Failed(match line {
        Some(line) => format!("line {line}: {cause}"),
        None => cause,
    })
}

fn environment(source: String) -> Result<Environment<'static>, Error> {
    let mut env = Environment::new();
    env.set_trim_blocks(true);
    env.set_lstrip_blocks(true);
    env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    env.set_fuel(Some(FUEL));
    env.set_recursion_limit(RECURSION);
    filters::install(&mut env);
    env.add_template_owned("chat", source)?;
    Ok(env)
}

impl Template {
    pub fn compile(source: &str) -> Result<Template, Failure> {
        if source.len() > MAX_SOURCE {
            let text = format!("the template has {} bytes, the limit is {MAX_SOURCE}", source.len());
            return Err(Failure::Failed(text));
        }
        let whitespace =
            WhitespaceConfig { keep_trailing_newline: false, lstrip_blocks: true, trim_blocks: true };
        let compile = || {
            let rewritten = rewrite(source, whitespace)?;
            Ok(Template {
                source: source.to_owned(),
                names: rewritten.names,
                env: environment(rewritten.source)?,
            })
        };
        compile().map_err(|e: Error| describe(&e))
    }

    pub fn render(&self, context: &Map<String, Json>) -> Result<String, Failure> {
        render_in(&self.env, context)
    }

    /// The rendering in pieces, trusted and untrusted in turn. The first way of tainting that leaves the
    /// text as it is decides; where none does, no character is trusted.
    pub fn render_spans(&self, context: &Map<String, Json>) -> Result<Vec<String>, Failure> {
        let expected = self.render(context)?;
        for reach in [Reach::All, Reach::Suspicious] {
            let mut context = context.clone();
            let Some(_tainting) = taint::taint(&mut context, &self.source, &self.names, reach) else { break };
            if let Ok(text) = render_in(&self.env, &context) {
                if taint::plain(&text) == expected {
                    return Ok(taint::split(&text));
                }
            }
        }
        Ok(vec![String::new(), expected])
    }
}

fn render_in(env: &Environment, context: &Map<String, Json>) -> Result<String, Failure> {
    limits::begin();
    let template = env.get_template("chat").map_err(|e| describe(&e))?;
    template.render(context).map_err(|e| describe(&e))
}
