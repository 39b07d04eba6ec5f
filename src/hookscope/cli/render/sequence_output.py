"""Event sequences as text and JSON: the available ones, and the results of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.authoring.testing.sequence_runs import SequenceResult, SequenceStepRun
from hookscope.authoring.testing.sequences import EventSequence, SequenceRow, SequenceStep
from hookscope.cli.render import plan_output, run_output, test_output
from hookscope.cli.render.layout import column_width, fit_to_width
from hookscope.model.machine import Machine
from hookscope.model.run import Plan
from hookscope.model.text import one_line


def sequence_row_document(item: SequenceRow) -> Document:
    """Return one sequence of `sequence --json` without a name."""
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


def sequence_list_text(rows: Sequence[SequenceRow], dialect: str) -> str:
    """Return the text of `sequence` without a name: each sequence with its events."""
    if not rows:
        return (
            f"{dialect} has no sequences, and the workspace none.\n"
            "A file of .hookscope/sequences with `steps:` is one."
        )
    width = column_width((one_line(item.name) for item in rows), 32)
    return "\n".join(line.rstrip() for item in rows for line in _sequence_list_lines(item, width, dialect))


def _sequence_list_lines(item: SequenceRow, width: int, dialect: str) -> Iterator[str]:
    sequence = item.sequence
    if sequence is None:
        yield f"✗ {fit_to_width(one_line(item.name), width)}  {one_line(item.problem, 400)}"
        return
    whose = dialect if sequence.ships else "workspace"
    yield f"  {fit_to_width(one_line(item.name), width)}  {whose}  {one_line(sequence.notes, 160)}"
    yield f"    {' → '.join(_step_title(step) for step in sequence.steps)}"
    if sequence.source:
        yield f"    source: {one_line(sequence.source, 200)}"


def _step_title(step: SequenceStep) -> str:
    key = one_line(step.event.key, 60)
    return f"({_delay_text(step)}) {key}" if step.after else key


def _delay_text(step: SequenceStep) -> str:
    return f"{step.after:g} s" if step.after >= 1 else f"{step.after * 1000:g} ms"


def _milliseconds(step: SequenceStep) -> float:
    return round(step.after * 1000, 3)


def sequence_document(item: SequenceResult, dialect: str) -> Document:
    """Return one result of `sequence NAME --json`."""
    return {
        "sequence": item.sequence.name,
        "steps": [_step_document(one, dialect) for one in item.steps],
        "cancelled": item.cancelled,
        "ok": item.passed,
    }


def _step_document(item: SequenceStepRun, dialect: str) -> Document:
    done = test_output.saved_event_document(item.done, dialect)
    return {
        "after_ms": _milliseconds(item.step),
        "event": item.step.event.key,
        "passed": done["passed"],
        "problem": done["problem"],
        "could_not_run": done["could_not_run"],
        "misses": done["misses"],
        "run": done["run"],
    }


def planned_sequence_document(sequence: EventSequence, plans: Sequence[Plan]) -> Document:
    """Return one plan of `sequence NAME --dry --json`."""
    steps = [
        {"after_ms": _milliseconds(step), "event": step.event.key, "plan": json_documents.plan_document(plan)}
        for step, plan in zip(sequence.steps, plans, strict=True)
    ]
    return {"sequence": sequence.name, "steps": steps, "cancelled": False, "ok": True}


def planned_sequence_text(sequence: EventSequence, plans: Sequence[Plan]) -> str:
    """Return the text of `sequence NAME --dry`."""
    blocks = [
        f"{_step_headline(sequence, number)}\n{plan_output.plan_text(plan)}"
        for number, plan in enumerate(plans, start=1)
    ]
    return "\n\n".join(blocks)


def sequence_text(item: SequenceResult, here: Machine) -> str:
    """Return the text of `sequence NAME`: each step as `fire` prints it, its failures, and the count."""
    blocks = [
        f"{_step_headline(item.sequence, number)}\n{_step_text(one, here)}"
        for number, one in enumerate(item.steps, start=1)
    ]
    return "\n\n".join([*blocks, _count_line(item)])


def _step_headline(sequence: EventSequence, number: int) -> str:
    step = sequence.steps[number - 1]
    waited = f", after {_delay_text(step)}" if step.after else ""
    return f"── {one_line(sequence.name, 60)} {number}/{len(sequence.steps)}{waited}"


def _step_text(item: SequenceStepRun, here: Machine) -> str:
    done = item.done
    lines = [run_output.run_text(done.run, here, item.plan).rstrip()] if done.run is not None else []
    return "\n".join([*lines, *(f"✗ {line}" if line[0] != " " else f"  {line}" for line in done.why)])


def _count_line(item: SequenceResult) -> str:
    steps, whole = len(item.steps), len(item.sequence.steps)
    failed = sum(not one.done.passed for one in item.steps)
    fired = f"{steps} step{'s' * (steps != 1)}" if steps == whole else f"{steps} of {whole} steps fired"
    result = f"{failed} did not pass" if failed else "all passed" if steps == whole else "none failed"
    cancelled = ", cancelled" if item.cancelled else ""
    return f"{one_line(item.sequence.name, 60)}: {fired}, {result}{cancelled}"
