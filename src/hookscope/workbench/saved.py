"""Saved events: small YAML files that can be read, compared and fired."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.core.runs import Event
from hookscope.formats import FormatError, read_yaml
from hookscope.workbench.refusal import Refusal

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View

KNOWN = frozenset({"event", "session", "context", "ctx", "expect"})
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def is_saved_event(text: str) -> bool:
    """Does the command line name a file, and not an event key."""
    return text.endswith((".yaml", ".yml"))


def read_saved_event(bench: Workbench, view: View, file: Path) -> Event:
    """The event in a file: `event`, `session`, `context`; `${NAME}` is taken from the environment.

    `ctx` is laid over the template's, for handlers that take two arguments. What the file leaves out is as
    in the event's template, but for the context. Raises Refusal.
    """
    document = saved_document(file)
    key, session, context = document["event"], document.get("session"), document.get("context") or {}
    ctx = document.get("ctx") or {}
    event = bench.template(view, key)
    event = replace(
        event,
        context=_filled(context, view.host.env, file),
        ctx={**event.ctx, **_filled(ctx, view.host.env, file)},
    )
    return event if session is None else replace(event, session_key=str(session))


def read_expectations(file: Path) -> Mapping[str, Any]:
    """What the saved event expects of its run; empty where it says nothing. Raises Refusal."""
    expect = _document(file).get("expect") or {}
    if not isinstance(expect, dict):
        raise Refusal(f"{file} wants a mapping as `expect`, such as `expect: {{errors: 0}}`.", code=2)
    return expect


def saved_document(file: Path) -> Mapping[str, Any]:
    """What the file of a saved event says, nothing filled in: `event` is a text, `context` and `ctx` are
    mappings, or nothing. Raises Refusal."""
    document = _document(file)
    strange = sorted(map(str, document.keys() - KNOWN))
    if strange:
        raise Refusal(f"{file} has {', '.join(strange)}; an event has {', '.join(sorted(KNOWN))}.", code=2)
    if not isinstance(document.get("event"), str) or not isinstance(document.get("context") or {}, dict):
        raise Refusal(f"{file} wants `event`, a text such as command:new, and `context`, a mapping.", code=2)
    if not isinstance(document.get("ctx") or {}, dict):
        raise Refusal(f"{file} wants a mapping as `ctx`.", code=2)
    return document


def _document(file: Path) -> Mapping[str, Any]:
    try:
        document = read_yaml(file.read_bytes())
    except OSError as error:
        raise Refusal(f"Cannot read {file}: {error.strerror}.", code=2) from None
    except FormatError as error:
        raise Refusal(f"{file}, {error}.", code=2) from None
    if not isinstance(document, dict):
        raise Refusal(f"{file} is no saved event: it wants a mapping with `event: KEY`.", code=2)
    return document


def _filled(value: Any, env: Mapping[str, str], file: Path) -> Any:
    """The value with every `${NAME}` in its texts replaced."""
    match value:
        case str():
            return VARIABLE.sub(lambda found: _variable(found[1], env, file), value)
        case list():
            return [_filled(item, env, file) for item in value]
        case dict():
            return {key: _filled(item, env, file) for key, item in value.items()}
        case _:
            return value


def _variable(name: str, env: Mapping[str, str], file: Path) -> str:
    if name not in env:
        raise Refusal(
            f"{file} asks for ${{{name}}}, which is not set.", "`--env NAME=VALUE` sets it.", code=2
        )
    return env[name]
