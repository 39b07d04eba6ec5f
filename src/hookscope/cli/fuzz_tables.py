"""What a fuzz found: for each hook its failures, each with the smallest event that leads to it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookscope.cli import run_tables
from hookscope.core.failure import failure_document
from hookscope.core.runs import Event
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import one_line, printable
from hookscope.workbench import run_documents
from hookscope.workbench.documents import Document
from hookscope.workbench.fuzzing import FoundFailure, Fuzzed, Searched

SETTINGS = ", and `cfg`, the settings in force"  # not shown: they hold secrets
LONGEST = 300  # characters of an event


def document(fuzzed: Fuzzed) -> Document:
    """`fuzz --json`."""
    return {
        "event": fuzzed.template.key,
        "seed": fuzzed.seed,
        "examples": fuzzed.examples,
        "stopped": fuzzed.stopped,
        "hooks": [
            {
                "hook": one.hook,
                "fired": one.fired,
                "ended": one.why or None,
                "failures": [_found(found) for found in one.found],
            }
            for one in fuzzed.hooks
        ],
    }


def _found(found: FoundFailure) -> Document:
    return {
        "status": found.status,
        "type": found.type,
        "place": None if found.place is None else {"file": found.place[0], "line": found.place[1]},
        "times": found.times,
        "again": found.again,
        "event": run_documents.event(found.event),
        "saved": None if found.file is None else str(found.file),
        "not_saved": found.not_kept or None,
        "run": None if found.run is None else found.run.id,
        "error": failure_document(found.error),
    }


def text(fuzzed: Fuzzed, here: Surroundings) -> str:
    """A part for each hook, and how to have the same events again."""
    parts = ["\n".join(_hook(one, fuzzed.template, here)) for one in fuzzed.hooks]
    stopped = "stopped before its end; " if fuzzed.stopped else ""
    return "\n\n".join([*parts, f"{stopped}--seed {fuzzed.seed} fires the same events again"])


def _hook(searched: Searched, template: Event, here: Surroundings) -> Iterator[str]:
    failures = len(searched.found)
    said = f"✗ {failures} failure{'s' * (failures > 1)}" if failures else "✓ nothing failed"
    ended = f"; ended since {one_line(searched.why)}" if searched.why else ""
    yield f"{one_line(searched.hook)}  {searched.fired:,} events  {said}{ended}"
    for found in searched.found:
        yield ""
        yield from _failure(found, template, here)


def _failure(found: FoundFailure, template: Event, here: Surroundings) -> Iterator[str]:
    lines = run_tables.error_lines(found.error, here) or [found.status]
    yield f"  ✗ {lines[0]}"
    yield from (f"      {line}" for line in lines[1:])
    if not found.again:
        yield "      fired once more it did not fail so: it depends on more than the event"
    yield "    the smallest event that leads to it:"
    yield from (f"      {line}" for line in _event(found.event, template))
    kept = f"kept as {printable(here.short(found.file))}" if found.file is not None else "not kept"
    yield f"    {kept}{f': {one_line(found.not_kept)}' if found.not_kept else ''}"


def _event(event: Event, template: Event) -> Iterator[str]:
    """Its context, and what else is not as in the template."""
    if event.session_key != template.session_key:
        yield f"session: {_value(event.session_key)}"
    context = {name: value for name, value in event.context.items() if name != "cfg"}
    yield f"context: {_value(context)}{SETTINGS if len(context) < len(event.context) else ''}"
    if event.ctx != template.ctx:
        yield f"ctx: {_value(event.ctx)}"


def _value(value: object) -> str:
    text = json.dumps(run_documents.plain(value), ensure_ascii=False)
    return one_line(text, LONGEST) + (f" ({len(text):,} characters)" if len(text) > LONGEST else "")
