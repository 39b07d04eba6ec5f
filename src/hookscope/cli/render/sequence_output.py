"""Event sequences as text and JSON: the available ones, and the results of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.authoring.testing.sequence_runs import SequenceResult, SequenceStepRun
from hookscope.authoring.testing.sequences import EventSequence, SequenceRow, SequenceStep
from hookscope.cli.render import run_output, test_output
from hookscope.cli.render import run_output as plan_output
from hookscope.cli.render.layout import column_width, fit_to_width
from hookscope.model.machine import Machine
from hookscope.model.run import Plan
from hookscope.model.text import one_line


def sequence_row_document(row: SequenceRow) -> Document:
    """Return one sequence of `sequence --json` without a name."""
    sequence = row.sequence
    steps = sequence.steps if sequence is not None else ()
    return {
        "name": row.name,
        "file": None if sequence is not None and sequence.is_shipped else str(row.file),
        "ships": sequence is not None and sequence.is_shipped,
        "notes": sequence.notes if sequence is not None else "",
        "source": sequence.source if sequence is not None else "",
        "tags": list(sequence.tags) if sequence is not None else [],
        "expects": sequence is not None and sequence.expects,
        "steps": [{"after_ms": _milliseconds(step), "event": step.event.key} for step in steps],
        "problem": row.problem or None,
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


def _sequence_list_lines(row: SequenceRow, width: int, dialect: str) -> Iterator[str]:
    sequence = row.sequence
    if sequence is None:
        yield f"✗ {fit_to_width(one_line(row.name), width)}  {one_line(row.problem, 400)}"
        return
    origin = dialect if sequence.is_shipped else "workspace"
    yield f"  {fit_to_width(one_line(row.name), width)}  {origin}  {one_line(sequence.notes, 160)}"
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


def sequence_document(result: SequenceResult, dialect: str) -> Document:
    """Return one result of `sequence NAME --json`."""
    return {
        "sequence": result.sequence.name,
        "steps": [_step_document(step_run, dialect) for step_run in result.steps],
        "cancelled": result.cancelled,
        "ok": result.passed,
    }


def _step_document(step_run: SequenceStepRun, dialect: str) -> Document:
    document = test_output.saved_event_document(step_run.result, dialect)
    return {
        "after_ms": _milliseconds(step_run.step),
        "event": step_run.step.event.key,
        "passed": document["passed"],
        "problem": document["problem"],
        "could_not_run": document["could_not_run"],
        "misses": document["misses"],
        "run": document["run"],
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


def sequence_text(result: SequenceResult, machine: Machine) -> str:
    """Return the text of `sequence NAME`: each step as `fire` prints it, its failures, and the count."""
    blocks = [
        f"{_step_headline(result.sequence, number)}\n{_step_text(step_run, machine)}"
        for number, step_run in enumerate(result.steps, start=1)
    ]
    return "\n\n".join([*blocks, _count_line(result)])


def _step_headline(sequence: EventSequence, number: int) -> str:
    step = sequence.steps[number - 1]
    waited = f", after {_delay_text(step)}" if step.after else ""
    return f"── {one_line(sequence.name, 60)} {number}/{len(sequence.steps)}{waited}"


def _step_text(step_run: SequenceStepRun, machine: Machine) -> str:
    result = step_run.result
    lines = (
        [run_output.run_text(result.run, machine, step_run.plan).rstrip()] if result.run is not None else []
    )
    return "\n".join(
        [*lines, *(f"✗ {line}" if line[0] != " " else f"  {line}" for line in result.failure_lines)]
    )


def _count_line(sequence_result: SequenceResult) -> str:
    steps, total = len(sequence_result.steps), len(sequence_result.sequence.steps)
    failed = sum(not step_run.result.passed for step_run in sequence_result.steps)
    fired = f"{steps} step{'s' * (steps != 1)}" if steps == total else f"{steps} of {total} steps fired"
    result = f"{failed} did not pass" if failed else "all passed" if steps == total else "none failed"
    cancelled = ", cancelled" if sequence_result.cancelled else ""
    return f"{one_line(sequence_result.sequence.name, 60)}: {fired}, {result}{cancelled}"
