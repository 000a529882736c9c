"""Renders every template over every conversation with Jinja2, set up as transformers does it.

usage: reference.py CONVERSATIONS.json TEMPLATE... > RESULTS.json
The result is {template file name: {conversation name: {"text": ...} or {"error": ...}}}.
"""
import json
import sys
from datetime import datetime
from pathlib import Path

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    """The block around what the assistant said: its body, unchanged."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: datetime.now().strftime(format)
    return env


def main():
    conversations = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    results = {}
    for path in map(Path, sys.argv[2:]):
        rows = results.setdefault(path.name, {})
        try:
            compiled = environment().from_string(path.read_text(encoding="utf-8"))
        except jinja2.TemplateError as e:
            rows.update({c["name"]: {"error": f"compile: {e}"} for c in conversations})
            continue
        for c in conversations:
            try:
                rows[c["name"]] = {"text": compiled.render(
                    **{"messages": c["messages"], "tools": c.get("tools"), "documents": None,
                       "add_generation_prompt": c.get("add_generation_prompt", True), **c["variables"]})}
            except Exception as e:
                rows[c["name"]] = {"error": f"{type(e).__name__}: {e}"}
    json.dump(results, sys.stdout)


main()
