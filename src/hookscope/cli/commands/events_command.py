"""`hookscope events [KEY]`, `hookscope events --saved`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from hookscope.app.json_documents import Document
from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.unknown_names import no_such_event
from hookscope.authoring.testing.saved_events import SavedEventRow, saved_listing
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import (
    column_width,
    distinct_names,
    fit_to_width,
    fold_lines,
    fold_text,
    row_with_text,
)
from hookscope.model.event_catalogue import EventField, EventType
from hookscope.model.event_schema import context_schema, ctx_schema, field_summary, type_words
from hookscope.model.text import one_line, shell_path
from hookscope.storage.journal.records import plain_json

ANSWERS_IGNORED = "ignored: handlers only observe"
ANSWER_RULES = {
    "modify": "merged, in call order",
    "gate": "each handler may block it",
    "claim": "the first handler that claims it wins",
    "synchronous": "used at once; promises are ignored",
    "evaluate": "all are kept",
}
KIND_TITLES = {"folder": "HOOK.md folders", "plugin": "plugin hooks", "stream": "the stream"}


def event_type_document(event: EventType, view: Snapshot) -> Document:
    """Return one event of `events --json`."""
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
        "context": plain_json(event.context),
        "ctx": plain_json(event.ctx),
        "schema": plain_json(context_schema(event)),
        "ctx_schema": plain_json(ctx_schema(event)),
        "source": event.source,
        "listeners": list(subscribed_hooks(event, view)),
    }


def subscribed_hooks(event: EventType, view: Snapshot) -> tuple[str, ...]:
    """Return the hooks that are subscribed to the event, whether or not they may run."""
    dialect = view.host.dialect
    bare = dialect.event_of(event.key)
    keys = dialect.system_of(bare.kind).keys(bare)
    rows = (row for row in view.inventory.hooks if row.verdict.shadowed_by is None)
    return tuple(dict.fromkeys(row.hook.name for row in rows if any(key in keys for key in row.events or ())))


def event_list_text(view: Snapshot) -> str:
    """Return the text of `events`: key, number of subscribed hooks and occasion of each event, by kind."""
    events = view.host.dialect.catalogue().events
    width = column_width((event.key for event in events), 32)
    lines = [f"{view.host.dialect.name}: {len(events)} events"]
    for kind in view.host.dialect.kinds:
        of_kind = [event for event in events if event.kind == kind]
        lines += ["", KIND_TITLES[kind]] if of_kind else []
        for event in of_kind:
            lines += _event_list_lines(event, view, width)
    return fold_text(lines)


def _event_list_lines(event: EventType, view: Snapshot, width: int) -> list[str]:
    count = len(subscribed_hooks(event, view))
    count_text = f"{count} hook{'s' * (count != 1)}" if count else "–"
    sent = "" if event.emitted else "never sent: "
    return row_with_text(
        f"  {fit_to_width(event.key, width)}  {count_text:>8}", f"{sent}{one_line(event.when, 120)}"
    )


def event_type_text(event: EventType, view: Snapshot) -> str:
    """Return the text of `events KEY`: all facts about the event, and an example to fire."""
    lines = fold_lines([f"{event.key}  {one_line(event.when, 200)}", "", *_event_facts(event, view)])
    lines += ["", "fields", *_field_lines(event.fields, event.required, event.described)]
    lines += ["", "example", *_example_lines(event.context)]
    if event.kind != "folder":
        described = bool(event.ctx_fields)
        lines += ["", "ctx, the second argument", *_field_lines(event.ctx_fields, (), described)]
    if event.ctx:
        lines += ["", "example of ctx", *_example_lines(event.ctx)]
    lines += ["", f"`hookscope fire {event.key}` fires it."]
    return "\n".join(line.rstrip() for line in lines)


def _event_facts(event: EventType, view: Snapshot) -> Iterator[str]:
    product = view.host.dialect.product
    facts = [
        ("kind", f"{event.kind}{'; custom actions are allowed' if event.open else ''}"),
        ("sent", "yes" if event.emitted else f"{product} documents it and never sends it"),
        ("by", event.by),
        ("not", event.when_not),
        ("awaited", "" if event.awaited else f"{product} does not wait for handlers"),
        ("answers", _answer_rule_text(event)),
        ("limit", f"{event.limit:g} s for each handler" if event.limit is not None else ""),
        (
            "used",
            f"{product} continues with the values in {', '.join(event.mutable)}" if event.mutable else "",
        ),
        ("cancel", "ctx.cancel() ends the turn" if event.cancellable else ""),
        ("hooks", ", ".join(map(one_line, subscribed_hooks(event, view))) or "no hook"),
        ("source", event.source),
    ]
    return (f"  {name:<8} {text}" for name, text in facts if text)


def _answer_rule_text(event: EventType) -> str:
    match event.kind:
        case "folder":
            return "pushed messages reach the user" if event.delivers else "pushed messages are not delivered"
        case "plugin":
            return ANSWER_RULES.get(event.policy, ANSWERS_IGNORED)
        case "stream":
            return ANSWERS_IGNORED


def _field_lines(fields: Mapping[str, EventField], required: Sequence[str], described: bool) -> list[str]:
    """Return a line for each field and each member: name, type, meaning, example.

    If no source describes all possible fields (`described` is False), a line says so.
    """
    rows = list(_field_rows(fields, ""))
    name_width, type_width = (
        column_width((name for name, _ in rows), 30),
        column_width((type_words(field) for _, field in rows), 16),
    )
    lines: list[str] = []
    for name, field in rows:
        needed = "needed; " if name in required else ""
        lines += row_with_text(
            f"  {fit_to_width(name, name_width)}  {fit_to_width(type_words(field), type_width)}",
            f"{needed}{field_summary(field)}",
        )
    if not described:
        part = "the rest; any other field" if rows else "it; any field"
        return [*lines, f"  no source describes {part} may be valid"]
    return lines or ["  none"]


def _field_rows(fields: Mapping[str, EventField], indent: str) -> Iterator[tuple[str, EventField]]:
    for name, field in fields.items():
        yield f"{indent}{name}", field
        yield from _field_rows(field.members, f"{indent}  ")


def _example_lines(value: Any) -> list[str]:
    return [f"  {line}" for line in json.dumps(plain_json(value), indent=2, ensure_ascii=False).splitlines()]


def saved_event_document(row: SavedEventRow) -> Document:
    """Return one saved event of `events --saved --json`."""
    return {
        "file": str(row.file),
        "name": row.name,
        "event": row.key or None,
        "session": row.session,
        "tags": list(row.tags),
        "notes": row.notes,
        "expects": row.expects,
        "problem": row.problem or None,
    }


def saved_event_list_text(rows: Sequence[SavedEventRow], key: str) -> str:
    """Return the text of `events --saved`: name, event, tags, and `expects` for tests.

    `key` is the event that the list is restricted to.
    """
    if not rows:
        key = one_line(key, 60)
        subject = f"No event {key}" if key else "No event"
        return f"{subject} is saved here; `hookscope fire {shell_path(key) or 'KEY'} --save NAME` saves one."
    names = [one_line(name) for name in distinct_names([(row.name, row.file) for row in rows])]
    width = column_width(names, 40)
    keys = column_width((one_line(row.key) for row in rows), 32)
    named = zip(rows, names, strict=True)
    return "\n".join(
        " ".join(_saved_event_cells(row, fit_to_width(name, width), keys)).rstrip() for row, name in named
    )


def _saved_event_cells(row: SavedEventRow, name: str, keys: int) -> Iterator[str]:
    yield "✗" if row.problem else " "
    yield name
    if row.problem:
        yield one_line(row.problem, 400)
        return
    yield f" {fit_to_width(one_line(row.key), keys)} "
    yield "expects" if row.expects else "       "
    yield " ".join(f"#{one_line(tag, 40)}" for tag in row.tags)
    yield one_line(row.notes, 120)


PARAMETERS = (
    click.Argument(["key"], metavar="[KEY]", required=False),
    click.Option(["--saved"], is_flag=True, help="List saved events of .hookscope/events, or those of KEY."),
)


@answers.command("events", *PARAMETERS)
def events_command(options: Options, key: str | None, saved: bool) -> Answer:
    """Show the events that the host sends: when, with which fields, and which hooks are subscribed."""
    bench = answers.workbench_for(options)
    if saved:
        host = bench.open()
        rows, canonical = saved_listing(host.workspace), host.dialect.catalogue().canonical
        rows = tuple(row for row in rows if key is None or canonical(row.key) == canonical(key))
        return Answer([saved_event_document(row) for row in rows], saved_event_list_text(rows, key or ""))
    view = bench.scan()
    catalogue = view.host.dialect.catalogue()
    if key is None:
        documents = [event_type_document(event, view) for event in catalogue.events]
        return Answer(documents, event_list_text(view))
    event = catalogue.by_key.get(catalogue.canonical(key))
    if event is None:
        raise no_such_event(view, key, catalogue.nearest(key))
    return Answer(event_type_document(event, view), event_type_text(event, view))
