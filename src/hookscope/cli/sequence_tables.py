"""Sequences: those that there are, and what came of one. Once for people, once for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.cli import plan_tables, run_tables, test_tables
from hookscope.cli.cells import column, fitted
from hookscope.core.runs import Plan
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import one_line
from hookscope.workbench import run_documents
from hookscope.workbench.documents import Document
from hookscope.workbench.sequences import EventSequence, SequenceRow, SequenceStep
from hookscope.workbench.sequencing import Sequenced, Stepped


def row(item: SequenceRow) -> Document:
    """One of `sequence --json` without a name."""
    sequence = item.sequence
    steps = sequence.steps if sequence is not None else ()
    return {
        "name": item.name,
        "file": None if sequence is not None and sequence.ships else str(item.file),
        "ships": sequence is not None and sequence.ships,
        "notes": sequence.notes if sequence is not None else "",
        "source": sequence.source if sequence is not None else "",
        "tags": list(sequence.tags) if sequence is not None else [],
        "expects": sequence is not None and sequence.expects,
        "steps": [{"after_ms": _milliseconds(step), "event": step.event.key} for step in steps],
        "problem": item.problem or None,
    }


def listed(rows: Sequence[SequenceRow], dialect: str) -> str:
    """`sequence` without a name: what there is, each with its events below."""
    if not rows:
        return (
            f"{dialect} has no sequences, and the workspace none.\n"
            "A file of .hookscope/sequences with `steps:` is one."
        )
    width = column((one_line(item.name) for item in rows), 32)
    return "\n".join(line.rstrip() for item in rows for line in _listed(item, width, dialect))


def _listed(item: SequenceRow, width: int, dialect: str) -> Iterator[str]:
    sequence = item.sequence
    if sequence is None:
        yield f"✗ {fitted(one_line(item.name), width)}  {one_line(item.problem, 400)}"
        return
    whose = dialect if sequence.ships else "workspace"
    yield f"  {fitted(one_line(item.name), width)}  {whose}  {one_line(sequence.notes, 160)}"
    yield f"    {' → '.join(_titled(step) for step in sequence.steps)}"
    if sequence.source:
        yield f"    source: {one_line(sequence.source, 200)}"


def _titled(step: SequenceStep) -> str:
    key = one_line(step.event.key, 60)
    return f"({_waited(step)}) {key}" if step.after else key


def _waited(step: SequenceStep) -> str:
    return f"{step.after:g} s" if step.after >= 1 else f"{step.after * 1000:g} ms"


def _milliseconds(step: SequenceStep) -> float:
    return round(step.after * 1000, 3)


def document(item: Sequenced, dialect: str) -> Document:
    """One of `sequence NAME --json`."""
    return {
        "sequence": item.sequence.name,
        "steps": [_step(one, dialect) for one in item.steps],
        "cancelled": item.cancelled,
        "ok": item.passed,
    }


def _step(item: Stepped, dialect: str) -> Document:
    done = test_tables.document(item.done, dialect)
    return {
        "after_ms": _milliseconds(item.step),
        "event": item.step.event.key,
        "passed": done["passed"],
        "problem": done["problem"],
        "could_not_run": done["could_not_run"],
        "misses": done["misses"],
        "run": done["run"],
    }


def planned(sequence: EventSequence, plans: Sequence[Plan]) -> Document:
    """One of `sequence NAME --dry --json`."""
    steps = [
        {"after_ms": _milliseconds(step), "event": step.event.key, "plan": run_documents.plan(plan)}
        for step, plan in zip(sequence.steps, plans, strict=True)
    ]
    return {"sequence": sequence.name, "steps": steps, "cancelled": False, "ok": True}


def planned_text(sequence: EventSequence, plans: Sequence[Plan]) -> str:
    """`sequence NAME --dry`."""
    blocks = [
        f"{_head(sequence, number)}\n{plan_tables.plan(plan)}" for number, plan in enumerate(plans, start=1)
    ]
    return "\n\n".join(blocks)


def text(item: Sequenced, here: Surroundings) -> str:
    """`sequence NAME`: each step as `fire` prints it, what it missed below; the count last."""
    blocks = [
        f"{_head(item.sequence, number)}\n{_body(one, here)}"
        for number, one in enumerate(item.steps, start=1)
    ]
    return "\n\n".join([*blocks, _count(item)])


def _head(sequence: EventSequence, number: int) -> str:
    step = sequence.steps[number - 1]
    waited = f", after {_waited(step)}" if step.after else ""
    return f"── {one_line(sequence.name, 60)} {number}/{len(sequence.steps)}{waited}"


def _body(item: Stepped, here: Surroundings) -> str:
    done = item.done
    lines = [run_tables.run(done.run, here, item.plan).rstrip()] if done.run is not None else []
    return "\n".join([*lines, *(f"✗ {line}" if line[0] != " " else f"  {line}" for line in done.why)])


def _count(item: Sequenced) -> str:
    steps, whole = len(item.steps), len(item.sequence.steps)
    failed = sum(not one.done.passed for one in item.steps)
    fired = f"{steps} step{'s' * (steps != 1)}" if steps == whole else f"{steps} of {whole} steps fired"
    result = f"{failed} did not pass" if failed else "all passed" if steps == whole else "none failed"
    cancelled = ", cancelled" if item.cancelled else ""
    return f"{one_line(item.sequence.name, 60)}: {fired}, {result}{cancelled}"
