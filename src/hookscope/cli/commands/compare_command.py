"""`hookscope compare [NAME...]`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import click

from hookscope.analysis import comparison_document
from hookscope.analysis.host_runs import RunAtHost, outcomes_differ
from hookscope.analysis.several_hosts import (
    HostRuns,
    chosen_dialects,
    compare_hosts,
    only_hooks,
    template_or_saved_event,
    usual_dialects,
)
from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import cancel_on_interrupt
from hookscope.cli.render import comparison_output
from hookscope.model.refusal import Refusal

PARAMETERS = (
    click.Argument(["names"], metavar="[NAME...]", nargs=-1),
    click.Option(["--dialects"], metavar="A,B,...", help="These dialects, in this order."),
    click.Option(["--shipped"], is_flag=True, help="The programs as they ship, not their guides."),
    click.Option(
        ["--surroundings"],
        metavar="SOURCE,...",
        help="Not hosts but surroundings: here, clean, FILE, unit:NAME, launchd:LABEL, pid:N, process:NAME.",
    ),
    click.Option(["--different"], is_flag=True, help="Only hooks that the hosts treat differently."),
    click.Option(
        ["--fire"], metavar="KEY|FILE", help="Fire this event at each of them, and line the runs up."
    ),
    click.Option(["--trust"], is_flag=True, help="With --fire: run handlers of untrusted folders too."),
    click.Option(["--sandbox"], is_flag=True, help="With --fire: run handlers on copies."),
)


@answers.command("compare", *PARAMETERS)
def command(
    options: Options,
    names: Sequence[str],
    dialects: str | None,
    shipped: bool,
    surroundings: str | None,
    different: bool,
    fire: str | None,
    trust: bool,
    sandbox: bool,
) -> Answer:
    """The same hooks under the rules of several hosts, side by side: who finds them, reads their metadata,
    calls them, in which order; what differs, and what to change so that every host calls them. Runs nothing,
    but with --fire.

    Without --dialects: the guides of all hosts with HOOK.md folders; in place of one guide the dialect in
    force, where that is its program. All get the same workspace, each its own settings and managed hooks.
    Trust is left out. Exit 1 where something differs.

    --fire sends each host its own realistic event of that key, one host after another, each with a run of
    its own, at the named hook alone or at all: handlers run once for each host that calls them. Exit 1 where
    a run differs, too, or a handler that ought to have run could not.

    --surroundings compares not hosts but environments, under one host: what runs in this shell and not in a
    service, which program or variable is behind it, and which line the service wants. One source alone is
    compared with `here`.
    """
    if surroundings is not None:
        if dialects is not None or shipped:
            raise Refusal("--surroundings compares one host's.", "Name the host with --dialect.", code=2)
        if fire is not None or trust or sandbox:
            next_step = "`hookscope fire KEY --env-from SOURCE` fires an event in another one."
            raise Refusal("--surroundings compares, and fires nothing.", next_step, code=2)
        return _compare_machines(options, names, surroundings, different)
    if fire is None and (trust or sandbox):
        raise Refusal("--trust and --sandbox say how to fire.", "Name the event with --fire KEY.", code=2)
    if dialects is not None and shipped:
        raise Refusal("--dialects and --shipped both say which hosts.", "Give one of them.", code=2)
    if fire is not None and len(names) > 1:
        raise Refusal("--fire fires at one hook, or at all of them.", "Name one, or none.", code=2)
    bench = answers.workbench_for(options)
    chosen = chosen_dialects(dialects) if dialects is not None else usual_dialects(bench, shipped=shipped)
    comparison = compare_hosts(bench, chosen)
    if names:
        comparison = only_hooks(comparison, names)
    document = comparison_document.comparison_document(comparison, different=different)
    text = comparison_output.comparison_text(comparison, different=different)
    if fire is None:
        return Answer(document, text, ok=not comparison.differing)
    only_one = names[0] if names else None
    firing = HostRuns(
        bench, chosen, template_or_saved_event(fire), only=only_one, trust_all=trust, sandbox=sandbox
    )
    runs = asyncio.run(_fire_at_hosts(firing))
    if not any(one.run for one in runs):
        raise Refusal(f"{fire} was fired at none of them: {runs[0].problem}")
    not_run = (
        *answers.untrusted_folder_warnings(firing.untrusted, bench.setup.machine),
        *dict.fromkeys(text for one in runs for text in one.could_not_run),
    )
    return Answer(
        {**document, "runs": comparison_document.run_documents(runs)},
        f"{text}\n\n{comparison_output.run_comparison_text(fire, runs)}",
        ok=not (comparison.differing or not_run or outcomes_differ(runs)),
        notes=not_run,
    )


def _compare_machines(options: Options, names: Sequence[str], text: str, different: bool) -> Answer:
    from hookscope.analysis.several_machines import compare_machines, compared_machines

    places = compared_machines(text, options)
    bench = answers.workbench_for(places[0].options)
    comparison = compare_machines(places, bench.dialect.name)
    if names:
        comparison = only_hooks(comparison, names)
    return Answer(
        comparison_document.comparison_document(comparison, different=different),
        comparison_output.comparison_text(comparison, different=different),
        ok=not comparison.differing,
        notes=tuple(f"{place.label}: {note}" for place in places[1:] for note in place.notes),
    )


async def _fire_at_hosts(firing: HostRuns) -> tuple[RunAtHost, ...]:
    """Fire at each host. Ctrl-C cancels the current run; finished runs are still the answer."""
    with cancel_on_interrupt(firing.cancel):
        return await firing.run()
