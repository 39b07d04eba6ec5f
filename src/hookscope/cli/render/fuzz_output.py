"""Fuzzing results as text and JSON: failures, each with its smallest event."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookscope.analysis.fuzzing import FoundFailure, FuzzedHook, FuzzResult
from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.cli.render import run_output
from hookscope.model.failure import failure_document
from hookscope.model.machine import Machine
from hookscope.model.run import Event
from hookscope.model.text import one_line, printable

SETTINGS_NOTE = ", and `cfg`, the settings in force"  # not shown, because it holds secrets
VALUE_WIDTH_LIMIT = 300  # characters of a value


def fuzz_document(fuzzed: FuzzResult) -> Document:
    """Return the document of `fuzz --json`."""
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
                "failures": [_failure_document(found) for found in one.found],
            }
            for one in fuzzed.hooks
        ],
    }


def _failure_document(found: FoundFailure) -> Document:
    return {
        "status": found.status,
        "type": found.type,
        "place": None if found.place is None else {"file": found.place[0], "line": found.place[1]},
        "times": found.times,
        "again": found.again,
        "event": json_documents.event_document(found.event),
        "saved": None if found.file is None else str(found.file),
        "not_saved": found.not_kept or None,
        "run": None if found.run is None else found.run.id,
        "error": failure_document(found.error),
    }


def fuzz_text(fuzzed: FuzzResult, here: Machine) -> str:
    """Return a paragraph for each hook, and the seed to repeat the events."""
    parts = ["\n".join(_hook_lines(one, fuzzed.template, here)) for one in fuzzed.hooks]
    stopped = "stopped before its end; " if fuzzed.stopped else ""
    return "\n\n".join([*parts, f"{stopped}--seed {fuzzed.seed} fires the same events again"])


def _hook_lines(searched: FuzzedHook, template: Event, here: Machine) -> Iterator[str]:
    failures = len(searched.found)
    said = f"✗ {failures} failure{'s' * (failures > 1)}" if failures else "✓ nothing failed"
    ended = f"; ended since {one_line(searched.why)}" if searched.why else ""
    yield f"{one_line(searched.hook)}  {searched.fired:,} events  {said}{ended}"
    for found in searched.found:
        yield ""
        yield from _failure_lines(found, template, here)


def _failure_lines(found: FoundFailure, template: Event, here: Machine) -> Iterator[str]:
    lines = run_output.error_lines(found.error, here) or [found.status]
    yield f"  ✗ {lines[0]}"
    yield from (f"      {line}" for line in lines[1:])
    if not found.again:
        yield "      fired once more it did not fail so: it depends on more than the event"
    yield "    the smallest event that leads to it:"
    yield from (f"      {line}" for line in _event_difference(found.event, template))
    kept = f"kept as {printable(here.short(found.file))}" if found.file is not None else "not kept"
    yield f"    {kept}{f': {one_line(found.not_kept)}' if found.not_kept else ''}"


def _event_difference(event: Event, template: Event) -> Iterator[str]:
    """Yield the event's context, and its other differences from the template."""
    if event.session_key != template.session_key:
        yield f"session: {_short_value(event.session_key)}"
    context = {name: value for name, value in event.context.items() if name != "cfg"}
    yield f"context: {_short_value(context)}{SETTINGS_NOTE if len(context) < len(event.context) else ''}"
    if event.ctx != template.ctx:
        yield f"ctx: {_short_value(event.ctx)}"


def _short_value(value: object) -> str:
    text = json.dumps(json_documents.plain_value(value), ensure_ascii=False)
    return one_line(text, VALUE_WIDTH_LIMIT) + (
        f" ({len(text):,} characters)" if len(text) > VALUE_WIDTH_LIMIT else ""
    )
