"""`hookscope sequence [NAME|FILE...]`."""

import asyncio
from collections.abc import Iterator, Sequence

import click

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.app.options import Options
from hookscope.app.trust_requests import waiting_for_trust
from hookscope.app.unknown_names import undocumented_event_note
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.sequences import (
    EventSequence,
    SequenceResult,
    SequenceRow,
    SequenceRun,
    SequenceStep,
    SequenceStepRun,
    plan_sequence,
    sequence_named,
    sequences_of,
)
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import cancel_on_interrupt
from hookscope.cli.render import run_output, test_output
from hookscope.cli.render.layout import column_width, fit_to_width
from hookscope.cli.shared_options import timeout_option, trust_option, wait_option
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
            f"Neither {dialect} nor the workspace has sequences.\n"
            "A sequence is a file in .hookscope/sequences with `steps:`."
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
        f"{_step_headline(sequence, number)}\n{run_output.plan_text(plan)}"
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


PARAMETERS = (
    click.Argument(["names"], metavar="[NAME|FILE...]", nargs=-1),
    click.Option(["--dry"], is_flag=True, help="Show which handlers would run at each step; run nothing."),
    click.Option(["--no-delays"], is_flag=True, help="Skip the delays between steps."),
    click.Option(["--stop"], is_flag=True, help="Stop after a step that fails."),
    timeout_option(),
    wait_option(),
    trust_option(),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies, fresh for each step."),
)


@answers.command("sequence", *PARAMETERS)
def sequence_command(
    options: Options,
    names: Sequence[str],
    dry: bool,
    no_delays: bool,
    stop: bool,
    timeout: float | None,
    wait: float,
    trust: bool,
    sandbox: bool,
) -> Answer:
    """Fire the events of a sequence one after another, with the delays between them.

    A sequence is a file of .hookscope/sequences, one that ships (/new as the host sends it, a turn, a
    restart), or another file. Without a name, the command lists all sequences.

    All steps run in the same workers, as in a host: what a handler keeps in memory is still there at the next
    step. Exit code 1: a handler fails, or a step differs from its `expect:`.
    """
    bench = answers.workbench_for(options, trust_all=trust, timeout=timeout, compare_shipped=False)
    view = bench.scan()
    host = view.host
    if not names:
        rows = sequences_of(host.workspace, host.dialect)
        return Answer(
            [sequence_row_document(item) for item in rows], sequence_list_text(rows, host.dialect.name)
        )
    cwd = host.machine.cwd
    sequences = [sequence_named(name, host.workspace, host.dialect, cwd) for name in names]
    # errors are reported before the first step is fired
    plans = [plan_sequence(bench, sequence) for sequence in sequences]
    keys = dict.fromkeys(plan.event.key for several in plans for plan in several)
    notes = [note for key in keys if (note := undocumented_event_note(view, key))]
    if dry:
        pairs = list(zip(sequences, plans, strict=True))
        documents = [planned_sequence_document(*pair) for pair in pairs]
        return Answer(
            documents[0] if len(names) == len(documents) == 1 else documents,
            "\n\n".join(planned_sequence_text(*pair) for pair in pairs),
            notes=tuple(notes),
        )
    folders = dict.fromkeys(
        one for several in plans for plan in several for one in waiting_for_trust(view, plan)
    )
    results, late = asyncio.run(
        _fire_sequences(bench, sequences, delays=not no_delays, stop=stop, sandbox=sandbox, wait=wait)
    )
    documents = [sequence_document(one, bench.dialect.name) for one in results]
    return Answer(
        documents[0] if len(names) == len(documents) == 1 else documents,
        "\n\n".join(sequence_text(one, bench.setup.machine) for one in results),
        ok=len(results) == len(sequences) and all(one.passed for one in results),
        notes=(*notes, *answers.untrusted_folder_warnings(folders, bench.setup.machine), *late),
    )


async def _fire_sequences(
    bench: Workbench,
    sequences: Sequence[EventSequence],
    *,
    delays: bool,
    stop: bool,
    sandbox: bool,
    wait: float,
) -> tuple[list[SequenceResult], tuple[str, ...]]:
    """Fire sequences one after another, until one is cancelled or, with `stop`, has failed.

    Also returns notes on what handlers did after the last step.
    """
    results: list[SequenceResult] = []
    late: tuple[str, ...] = ()
    try:
        for sequence in sequences:
            sequence_run = SequenceRun(bench, sequence, delays=delays, stop=stop, sandbox=sandbox)
            with cancel_on_interrupt(sequence_run.cancel):
                results.append(await sequence_run.run())
            if sequence_run.cancelled or (stop and not results[-1].passed):
                break
        if not results[-1].cancelled:
            late = await bench.wait_for_background_work(wait)
    finally:
        await bench.close()
    return results, late
