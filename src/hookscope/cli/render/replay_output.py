"""Replayed events as text and JSON: what differs from the earlier run."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.authoring.testing.replay import ReplayResult
from hookscope.model.run import Run
from hookscope.model.run_comparison import RunDifference
from hookscope.model.text import duration, one_line


def replay_document(item: ReplayResult, dialect: str) -> Document:
    """Return one run of `replay --json`."""
    return {
        "replayed": item.past.id,
        "same": item.same,
        "different": [
            {
                "kind": one.kind,
                "what": one.what,
                "before": json_documents.plain_value(one.before),
                "after": json_documents.plain_value(one.after),
            }
            for one in item.different
        ],
        "changed": [{"hook": one.hook, "path": one.path, "what": one.what} for one in item.changed],
        "could_not_run": list(item.left),
        "run": json_documents.run_document(item.run, dialect),
    }


def replay_text(item: ReplayResult) -> str:
    """Return the event, both runs, their handler times and changed files, then each difference."""
    times = f"{duration(_handler_seconds(item.before))} → {duration(_handler_seconds(item.run))}"
    said = "as before" if not item.different else f"{len(item.different)} different"
    said += ", not all could run" * bool(item.left) + ", cancelled" * item.run.cancelled
    head = f"{one_line(item.run.event.key)}  run {item.past.id} → run {item.run.id}  {said}  {times}"
    changed = ", ".join(f"{one_line(one.hook)} ({one.words})" for one in item.changed)
    head += f"  since then: {changed}" if changed else ""
    return "\n".join([head, *(f"  {line}" for line in _difference_lines(item))])


def _handler_seconds(run: Run) -> float:
    """Return the seconds spent in handlers, without the start of workers."""
    return sum(result.took for result in run.results)


def _difference_lines(item: ReplayResult) -> Iterator[str]:
    for one in item.different:
        yield from _difference_line(one)


def _difference_line(one: RunDifference) -> Iterator[str]:
    if one.kind == "message":
        yield (
            f"- {one_line(str(one.before), 300)}"
            if one.after is None
            else f"+ {one_line(str(one.after), 300)}"
        )
        return
    what = one_line(one.what, 120)
    name = f"{one.kind}.{what}" if one.kind in ("context", "result") else what
    yield (
        f"{name}: {_short_difference_value(one.before, one.kind)} → "
        f"{_short_difference_value(one.after, one.kind)}"
    )


def _short_difference_value(value: object, kind: str) -> str:
    if value is None:
        return "did not run" if kind == "handler" else "nothing"
    if isinstance(value, str) and kind in ("handler", "verdict"):
        return one_line(value, 300)
    return one_line(json.dumps(json_documents.plain_value(value), ensure_ascii=False), 200)
