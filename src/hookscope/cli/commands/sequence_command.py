"""`hookscope sequence [NAME|FILE...]`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import click

from hookscope.app.options import Options
from hookscope.app.trust_requests import waiting_for_trust
from hookscope.app.unknown_names import undocumented_event_note
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.sequence_runs import (
    SequenceResult,
    SequenceRun,
    plan_sequence,
)
from hookscope.authoring.testing.sequences import EventSequence, sequence_named, sequences_of
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import cancel_on_interrupt
from hookscope.cli.render import sequence_output
from hookscope.cli.shared_options import timeout_option, trust_option, wait_option

PARAMETERS = (
    click.Argument(["names"], metavar="[NAME|FILE...]", nargs=-1),
    click.Option(["--dry"], is_flag=True, help="Say who would run at each step, and run nothing."),
    click.Option(["--no-delays"], is_flag=True, help="Wait between no steps."),
    click.Option(["--stop"], is_flag=True, help="Fire nothing after a step that fails."),
    timeout_option(),
    wait_option(),
    trust_option(),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies, made anew for each step."),
)


@answers.command("sequence", *PARAMETERS)
def command(
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
    """Fire the events of a sequence one after another, with the time between them: one of
    .hookscope/sequences, one that ships (/new as the host does it, a turn, a restart), or a file. Without a
    name: what there is.

    All steps run in the same workers, as in a host: what a handler keeps in memory is there at the next
    step. Exit 1 where a handler fails or a step is not what its `expect:` says.
    """
    bench = answers.workbench_for(options, trust_all=trust, timeout=timeout, compare_shipped=False)
    view = bench.scan()
    host = view.host
    if not names:
        rows = sequences_of(host.workspace, host.dialect)
        return Answer(
            [sequence_output.sequence_row_document(item) for item in rows],
            sequence_output.sequence_list_text(rows, host.dialect.name),
        )
    cwd = host.machine.cwd
    sequences = [sequence_named(name, host.workspace, host.dialect, cwd) for name in names]
    plans = [
        plan_sequence(bench, sequence) for sequence in sequences
    ]  # an error in the last step must stop the first one
    keys = dict.fromkeys(plan.event.key for several in plans for plan in several)
    notes = [note for key in keys if (note := undocumented_event_note(view, key))]
    if dry:
        pairs = list(zip(sequences, plans, strict=True))
        documents = [sequence_output.planned_sequence_document(*pair) for pair in pairs]
        return Answer(
            documents[0] if len(names) == len(documents) == 1 else documents,
            "\n\n".join(sequence_output.planned_sequence_text(*pair) for pair in pairs),
            notes=tuple(notes),
        )
    folders = dict.fromkeys(
        one for several in plans for plan in several for one in waiting_for_trust(view, plan)
    )
    results, late = asyncio.run(
        _fire_sequences(bench, sequences, delays=not no_delays, stop=stop, sandbox=sandbox, wait=wait)
    )
    documents = [sequence_output.sequence_document(one, bench.dialect.name) for one in results]
    return Answer(
        documents[0] if len(names) == len(documents) == 1 else documents,
        "\n\n".join(sequence_output.sequence_text(one, bench.setup.machine) for one in results),
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
