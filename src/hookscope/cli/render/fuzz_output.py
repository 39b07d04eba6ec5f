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


def fuzz_document(result: FuzzResult) -> Document:
    """Return the document of `fuzz --json`."""
    return {
        "event": result.template.key,
        "seed": result.seed,
        "examples": result.examples,
        "stopped": result.stopped,
        "hooks": [
            {
                "hook": hook.hook,
                "fired": hook.fired,
                "ended": hook.stop_reason or None,
                "failures": [_failure_document(failure) for failure in hook.failures],
            }
            for hook in result.hooks
        ],
    }


def _failure_document(failure: FoundFailure) -> Document:
    return {
        "status": failure.status,
        "type": failure.type,
        "place": None if failure.place is None else {"file": failure.place[0], "line": failure.place[1]},
        "times": failure.times,
        "again": failure.reproduced,
        "event": json_documents.event_document(failure.event),
        "saved": None if failure.file is None else str(failure.file),
        "not_saved": failure.save_problem or None,
        "run": None if failure.run is None else failure.run.id,
        "error": failure_document(failure.error),
    }


def fuzz_text(result: FuzzResult, machine: Machine) -> str:
    """Return a paragraph for each hook, and the seed to repeat the events."""
    parts = ["\n".join(_hook_lines(hook, result.template, machine)) for hook in result.hooks]
    stopped = "stopped before its end; " if result.stopped else ""
    return "\n\n".join([*parts, f"{stopped}--seed {result.seed} fires the same events again"])


def _hook_lines(hook: FuzzedHook, template: Event, machine: Machine) -> Iterator[str]:
    failures = len(hook.failures)
    outcome = f"✗ {failures} failure{'s' * (failures > 1)}" if failures else "✓ nothing failed"
    ended = f"; ended since {one_line(hook.stop_reason)}" if hook.stop_reason else ""
    yield f"{one_line(hook.hook)}  {hook.fired:,} events  {outcome}{ended}"
    for failure in hook.failures:
        yield ""
        yield from _failure_lines(failure, template, machine)


def _failure_lines(failure: FoundFailure, template: Event, machine: Machine) -> Iterator[str]:
    lines = run_output.error_lines(failure.error, machine) or [failure.status]
    yield f"  ✗ {lines[0]}"
    yield from (f"      {line}" for line in lines[1:])
    if not failure.reproduced:
        yield "      fired once more it did not fail so: it depends on more than the event"
    yield "    the smallest event that leads to it:"
    yield from (f"      {line}" for line in _event_difference(failure.event, template))
    file_text = (
        f"kept as {printable(machine.short(failure.file))}" if failure.file is not None else "not kept"
    )
    yield f"    {file_text}{f': {one_line(failure.save_problem)}' if failure.save_problem else ''}"


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
