"""The events of a host: once for programs, once for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookscope.cli.cells import column, fitted
from hookscope.cli.folding import beside, folded, folds
from hookscope.core.event_types import EventType, Field
from hookscope.core.schema import context_schema, ctx_schema, told, typed
from hookscope.core.text import one_line
from hookscope.workbench import View
from hookscope.workbench.documents import Document
from hookscope.workbench.run_documents import plain

OBSERVED = "ignored: handlers observe"
ANSWERS = {
    "modify": "merged, one after another",
    "gate": "each handler may block it",
    "claim": "the first handler that claims it wins",
    "synchronous": "count at once; promises do not",
    "evaluate": "stand side by side",
}
TITLES = {"folder": "HOOK.md folders", "plugin": "plugin hooks", "stream": "the stream"}


def document(event: EventType, view: View) -> Document:
    """One event of `events --json`."""
    return {
        "key": event.key,
        "kind": event.kind,
        "when": event.when,
        "when_not": event.when_not,
        "by": event.by,
        "sent": event.emitted,
        "open": event.open,
        "awaited": event.awaited,
        "delivered": event.delivers,
        "policy": event.policy or None,
        "cancellable": event.cancellable,
        "limit": event.limit,
        "mutable": list(event.mutable),
        "required": list(event.required),
        "fields": {name: field.text for name, field in event.fields.items()},
        "session": event.session,
        "context": plain(event.context),
        "ctx": plain(event.ctx),
        "schema": plain(context_schema(event)),
        "ctx_schema": plain(ctx_schema(event)),
        "source": event.source,
        "listeners": list(listeners(event, view)),
    }


def listeners(event: EventType, view: View) -> tuple[str, ...]:
    """The hooks that listen to it, whether or not they may run."""
    dialect = view.host.dialect
    bare = dialect.event_of(event.key)
    keys = dialect.system_of(bare.kind).keys(bare)
    rows = (row for row in view.inventory.hooks if row.verdict.shadowed_by is None)
    return tuple(dict.fromkeys(row.hook.name for row in rows if any(key in keys for key in row.events or ())))


def listed(view: View) -> str:
    """`events`: a line for each, by kind: key, how many listen, when it is sent."""
    events = view.host.dialect.catalogue().events
    width = column((event.key for event in events), 32)
    lines = [f"{view.host.dialect.name}: {len(events)} events"]
    for kind in view.host.dialect.kinds:
        mine = [event for event in events if event.kind == kind]
        lines += ["", TITLES[kind]] if mine else []
        for event in mine:
            lines += _line(event, view, width)
    return folded(lines)


def _line(event: EventType, view: View, width: int) -> list[str]:
    count = len(listeners(event, view))
    heard = f"{count} hook{'s' * (count != 1)}" if count else "–"
    sent = "" if event.emitted else "never sent: "
    return beside(f"  {fitted(event.key, width)}  {heard:>8}", f"{sent}{one_line(event.when, 120)}")


def shown(event: EventType, view: View) -> str:
    """`events KEY`: everything that is known of it, and an example to fire."""
    lines = folds([f"{event.key}  {one_line(event.when, 200)}", "", *_facts(event, view)])
    lines += ["", "fields", *_fields(event.fields, event.required, event.described)]
    lines += ["", "example", *_example(event.context)]
    if event.kind != "folder":
        described = bool(event.ctx_fields)
        lines += ["", "ctx, the second argument", *_fields(event.ctx_fields, (), described)]
    if event.ctx:
        lines += ["", "example of ctx", *_example(event.ctx)]
    lines += ["", f"`hookscope fire {event.key}` fires it."]
    return "\n".join(line.rstrip() for line in lines)


def _facts(event: EventType, view: View) -> Iterator[str]:
    product = view.host.dialect.product
    facts = [
        ("kind", f"{event.kind}{', any action of your own' if event.open else ''}"),
        ("sent", "yes" if event.emitted else f"{product} documents it and never sends it"),
        ("by", event.by),
        ("not", event.when_not),
        ("awaited", "" if event.awaited else f"{product} does not wait for handlers"),
        ("answers", _answers(event)),
        ("limit", f"{event.limit:g} s for each handler" if event.limit is not None else ""),
        ("used", f"{product} goes on with what is in {', '.join(event.mutable)}" if event.mutable else ""),
        ("cancel", "ctx.cancel() ends the turn" if event.cancellable else ""),
        ("listen", ", ".join(map(one_line, listeners(event, view))) or "nobody"),
        ("source", event.source),
    ]
    return (f"  {name:<8} {text}" for name, text in facts if text)


def _answers(event: EventType) -> str:
    match event.kind:
        case "folder":
            return "pushed messages reach the user" if event.delivers else "pushed messages are not delivered"
        case "plugin":
            return ANSWERS.get(event.policy, OBSERVED)
        case "stream":
            return OBSERVED


def _fields(fields: Mapping[str, Field], required: Sequence[str], described: bool) -> list[str]:
    """A line for each field and each member of one: its name, its type, what it is, what it is like.

    Where no source describes all that there may be (`described`), a line says so.
    """
    rows = list(_rows(fields, ""))
    names, types = column((name for name, _ in rows), 30), column((typed(field) for _, field in rows), 16)
    lines: list[str] = []
    for name, field in rows:
        needed = "needed; " if name in required else ""
        lines += beside(f"  {fitted(name, names)}  {fitted(typed(field), types)}", f"{needed}{told(field)}")
    if not described:
        part = "the rest; any other field" if rows else "it; any field"
        return [*lines, f"  no source describes {part} may be right"]
    return lines or ["  none"]


def _rows(fields: Mapping[str, Field], indent: str) -> Iterator[tuple[str, Field]]:
    for name, field in fields.items():
        yield f"{indent}{name}", field
        yield from _rows(field.members, f"{indent}  ")


def _example(value: Any) -> list[str]:
    return [f"  {line}" for line in json.dumps(plain(value), indent=2, ensure_ascii=False).splitlines()]
