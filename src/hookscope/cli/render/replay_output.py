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


def replay_document(replay: ReplayResult, dialect: str) -> Document:
    """Return one run of `replay --json`."""
    return {
        "replayed": replay.past.id,
        "same": replay.is_unchanged,
        "different": [
            {
                "kind": difference.kind,
                "what": difference.subject,
                "before": json_documents.plain_value(difference.before),
                "after": json_documents.plain_value(difference.after),
            }
            for difference in replay.differences
        ],
        "changed": [
            {"hook": difference.hook, "path": difference.path, "what": difference.what}
            for difference in replay.changed_handlers
        ],
        "could_not_run": list(replay.could_not_run),
        "run": json_documents.run_document(replay.run, dialect),
    }


def replay_text(replay: ReplayResult) -> str:
    """Return the event, both runs, their handler times and changed files, then each difference."""
    times = f"{duration(_handler_seconds(replay.before))} → {duration(_handler_seconds(replay.run))}"
    outcome = "as before" if not replay.differences else f"{len(replay.differences)} different"
    outcome += ", not all could run" * bool(replay.could_not_run) + ", cancelled" * replay.run.cancelled
    head = f"{one_line(replay.run.event.key)}  run {replay.past.id} → run {replay.run.id}  {outcome}  {times}"
    changed = ", ".join(
        f"{one_line(changed_file.hook)} ({changed_file.text})" for changed_file in replay.changed_handlers
    )
    head += f"  since then: {changed}" if changed else ""
    return "\n".join([head, *(f"  {line}" for line in _difference_lines(replay))])


def _handler_seconds(run: Run) -> float:
    """Return the seconds spent in handlers, without the start of workers."""
    return sum(result.took for result in run.results)


def _difference_lines(replay: ReplayResult) -> Iterator[str]:
    for difference in replay.differences:
        yield from _difference_line(difference)


def _difference_line(difference: RunDifference) -> Iterator[str]:
    if difference.kind == "message":
        yield (
            f"- {one_line(str(difference.before), 300)}"
            if difference.after is None
            else f"+ {one_line(str(difference.after), 300)}"
        )
        return
    subject = one_line(difference.subject, 120)
    name = f"{difference.kind}.{subject}" if difference.kind in ("context", "result") else subject
    yield (
        f"{name}: {_short_difference_value(difference.before, difference.kind)} → "
        f"{_short_difference_value(difference.after, difference.kind)}"
    )


def _short_difference_value(value: object, kind: str) -> str:
    if value is None:
        return "did not run" if kind == "handler" else "nothing"
    if isinstance(value, str) and kind in ("handler", "verdict"):
        return one_line(value, 300)
    return one_line(json.dumps(json_documents.plain_value(value), ensure_ascii=False), 200)
