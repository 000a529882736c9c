//! The filters of minijinja that are right as they are: only the watch is asked first, and what Jinja2 gives
//! lazily is a generator.

use std::borrow::Cow;

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{filters, Environment, Error, State};

use crate::limits::tick;
use crate::values::Generator;

type Done = Result<Value, Error>;

pub fn install(env: &mut Environment<'static>) {
    // Rarely used, and they make as many items as they are asked for; or Jinja2 has no such filters.
    for name in ["batch", "slice", "split", "lines", "chain", "zip", "bool"] {
        env.remove_filter(name);
    }
    env.remove_global("debug");

    for name in ["escape", "e"] {
        env.add_filter(name, |state: &State, v: Value| -> Done {
            tick()?;
            filters::escape(state, &v)
        });
    }
    env.add_filter("first", |v: Value| tick().and_then(|()| filters::first(&v)));
    env.add_filter("last", |v: Value| tick().and_then(|()| filters::last(v)));
    env.add_filter("reverse", |v: Value| tick().and_then(|()| filters::reverse(&v)));
    env.add_filter("pprint", |v: Value| tick().map(|()| filters::pprint(&v)));
    for (name, filter) in [
        ("min", filters::min as fn(&State, Value) -> Done),
        ("max", filters::max),
        ("list", filters::list),
        ("sum", filters::sum),
    ] {
        env.add_filter(name, move |state: &State, v: Value| tick().and_then(|()| filter(state, v)));
    }
    for (name, filter) in
        [("sort", filters::sort as fn(&State, Value, Kwargs) -> Done), ("unique", filters::unique)]
    {
        env.add_filter(name, move |state: &State, v: Value, kwargs: Kwargs| {
            tick().and_then(|()| filter(state, v, kwargs))
        });
    }
    env.add_filter("groupby", |v: Value, attribute: Option<&str>, kwargs: Kwargs| -> Done {
        tick()?;
        filters::groupby(v, attribute, kwargs)
    });

    env.add_filter("map", |state: &State, v: Value, args: Rest<Value>| -> Done {
        tick()?;
        Ok(Generator::value(filters::map(state, v, args)?))
    });
    env.add_filter("select", |state: &State, v: Value, test: Option<Cow<'_, str>>, args: Rest<Value>| {
        tick()?;
        filters::select(state, v, test, args).map(Generator::value)
    });
    env.add_filter("reject", |state: &State, v: Value, test: Option<Cow<'_, str>>, args: Rest<Value>| {
        tick()?;
        filters::reject(state, v, test, args).map(Generator::value)
    });
    env.add_filter(
        "selectattr",
        |state: &State, v: Value, name: Cow<'_, str>, test: Option<Cow<'_, str>>, args: Rest<Value>| {
            tick()?;
            filters::selectattr(state, v, name, test, args).map(Generator::value)
        },
    );
    env.add_filter(
        "rejectattr",
        |state: &State, v: Value, name: Cow<'_, str>, test: Option<Cow<'_, str>>, args: Rest<Value>| {
            tick()?;
            filters::rejectattr(state, v, name, test, args).map(Generator::value)
        },
    );
}
