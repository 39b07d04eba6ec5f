"""What came of events that were fired again: what is different from then, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookscope.core.differences import Difference
from hookscope.core.runs import Run
from hookscope.core.text import duration, one_line
from hookscope.workbench import run_documents
from hookscope.workbench.documents import Document
from hookscope.workbench.replay import Replayed


def document(item: Replayed, dialect: str) -> Document:
    """One run of `replay --json`."""
    return {
        "replayed": item.past.id,
        "same": item.same,
        "different": [
            {
                "kind": one.kind,
                "what": one.what,
                "before": run_documents.plain(one.before),
                "after": run_documents.plain(one.after),
            }
            for one in item.different
        ],
        "changed": [{"hook": one.hook, "path": one.path, "what": one.what} for one in item.changed],
        "could_not_run": list(item.left),
        "run": run_documents.run(item.run, dialect),
    }


def text(item: Replayed) -> str:
    """The event, the two runs, the time in their handlers, whose files are others; then each difference."""
    times = f"{duration(_took(item.before))} → {duration(_took(item.run))}"
    said = "as before" if not item.different else f"{len(item.different)} different"
    said += ", not all could run" * bool(item.left) + ", cancelled" * item.run.cancelled
    head = f"{one_line(item.run.event.key)}  run {item.past.id} → run {item.run.id}  {said}  {times}"
    changed = ", ".join(f"{one_line(one.hook)} ({one.words})" for one in item.changed)
    head += f"  since then: {changed}" if changed else ""
    return "\n".join([head, *(f"  {line}" for line in _lines(item))])


def _took(run: Run) -> float:
    """Seconds in handlers: the start of a worker is no matter of theirs."""
    return sum(result.took for result in run.results)


def _lines(item: Replayed) -> Iterator[str]:
    for one in item.different:
        yield from _line(one)


def _line(one: Difference) -> Iterator[str]:
    if one.kind == "message":
        yield (
            f"- {one_line(str(one.before), 300)}"
            if one.after is None
            else f"+ {one_line(str(one.after), 300)}"
        )
        return
    what = one_line(one.what, 120)
    name = f"{one.kind}.{what}" if one.kind in ("context", "result") else what
    yield f"{name}: {_brief(one.before, one.kind)} → {_brief(one.after, one.kind)}"


def _brief(value: object, kind: str) -> str:
    if value is None:
        return "did not run" if kind == "handler" else "nothing"
    if isinstance(value, str) and kind in ("handler", "verdict"):
        return one_line(value, 300)
    return one_line(json.dumps(run_documents.plain(value), ensure_ascii=False), 200)
