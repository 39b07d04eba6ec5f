"""`hookscope compare [NAME...]`."""

import asyncio
from collections.abc import Iterator, Sequence
from textwrap import wrap

import click

from hookscope.analysis import several_hosts
from hookscope.analysis.host_comparison import (
    ABSENT,
    ComparedHook,
    ComparedOutcome,
    HookAtHost,
    HostComparison,
    RunAtHost,
    compared_outcomes,
    outcomes_differ,
)
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
from hookscope.cli.render.layout import column_width, fit_to_width, fold_text, state_word, terminal_width
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import State
from hookscope.model.machine import Machine
from hookscope.model.text import one_line, printable

STATE_CELLS = 11  # glyph and word


def comparison_text(comparison: HostComparison, *, different: bool) -> str:
    """Return a row for each hook, with its differences and suggested changes below, then the counts."""
    lines = comparison.differing if different else comparison.lines
    name_width = max(column_width((one_line(line.name) for line in lines), 28), 4)
    side_names = [one_line(side.name) for side in comparison.sides]
    widths = [max(len(name), STATE_CELLS + _source_width(lines, at)) for at, name in enumerate(side_names)]
    terminal = terminal_width()
    if terminal is not None and name_width + 2 + sum(width + 2 for width in widths) > terminal:
        widths = [max(len(name), STATE_CELLS) for name in side_names]  # show only the states
    shown = ["  ".join([" " * (name_width + 2), *map(fit_to_width, side_names, widths)])] if lines else []
    for line in lines:
        shown += _comparison_row(line, name_width, widths)
    parts = [
        *shown,
        *([""] if shown else []),
        *_machine_difference_lines(comparison),
        *_summary_lines(comparison),
    ]
    return fold_text(parts)


def _machine_difference_lines(comparison: HostComparison) -> Iterator[str]:
    """Yield the differences between machines, and what to change on which of them."""
    for cause in comparison.causes:
        stops = f": stops {', '.join(map(one_line, cause.hooks))}" if cause.hooks else ""
        yield f"{one_line(cause.text, 400)}{stops}"
    for remedy in comparison.remedies:
        yield f"\n→ {one_line(remedy.side)}: {one_line(remedy.where, 300)}"
        yield from (f"    {printable(line)}" for line in remedy.lines)
        yield from ([f"  {one_line(remedy.next_step, 300)}"] if remedy.next_step else [])
    if comparison.causes or comparison.remedies:
        yield ""


def _source_width(lines: tuple[ComparedHook, ...], at: int) -> int:
    return max((len(line.cells[at].source) for line in lines), default=0)


def _comparison_row(line: ComparedHook, name_width: int, widths: list[int]) -> Iterator[str]:
    cells = (fit_cell_to_width(cell, width) for cell, width in zip(line.cells, widths, strict=True))
    yield "  ".join([f"  {fit_to_width(one_line(line.name), name_width)}", *cells])
    for difference in line.differs:
        yield f"      {one_line(difference.text, 300)}"
    for text in line.suggestions:
        yield f"    → {one_line(text, 300)}"


def fit_cell_to_width(cell: HookAtHost, width: int) -> str:
    """Return state and source, fitted to `width` cells."""
    room = max(width - STATE_CELLS, 0)
    rest = fit_to_width(one_line(cell.source) if room > 3 else "", room)
    if cell.row is not None:
        return state_word(State(cell.state)) + rest
    return fit_to_width(f"{'–' if cell.state == ABSENT else '✗'} {cell.state}", STATE_CELLS) + rest


def _summary_lines(comparison: HostComparison) -> Iterator[str]:
    width = max(len(one_line(side.name)) for side in comparison.sides)
    has_headers = any("folder" in side.dialect.kinds for side in comparison.sides)
    for name, tally in comparison.tallies().items():
        parts = (
            f"{tally.found} found",
            *((f"metadata of {tally.metadata} read",) if has_headers else ()),
            f"{tally.registered} would be registered",
            f"{tally.called} called",
        )
        yield f"{fit_to_width(one_line(name), width)}  {' · '.join(parts)}"
    workspaces = {side.host.machine.short(side.host.workspace) for side in comparison.sides}
    where = f" (workspace {printable(next(iter(workspaces)))})" if len(workspaces) == 1 else ""
    yield f"{comparison.alike} alike, {len(comparison.differing)} different{where}"


RUN_COLUMN_WIDTH = 34  # cells of one host's column; longer text wraps


def run_comparison_text(key: str, runs: Sequence[RunAtHost]) -> str:
    """Return a table with one column for each host. Differences are marked."""
    lines = compared_outcomes(runs)
    verdict = "differ" if outcomes_differ(runs) else "are the same"
    name_width = max(column_width((one_line(line.what) for line in lines), 28), 8)
    widths = [_run_column_width(run, lines, at) for at, run in enumerate(runs)]
    head = [fit_to_width(run.dialect.name, width) for run, width in zip(runs, widths, strict=True)]
    shown = [f"{one_line(key)}  fired at {len(runs)} hosts: the runs {verdict}", ""]
    shown.append("  ".join([" " * (name_width + 4), *head]))
    for line in lines:
        shown += _run_comparison_row(line, name_width, widths)
    return "\n".join(part.rstrip() for part in shown)


def _run_column_width(run: RunAtHost, lines: Sequence[ComparedOutcome], at: int) -> int:
    return max(
        len(run.dialect.name),
        column_width((one_line(line.values[at], 400) for line in lines), RUN_COLUMN_WIDTH),
    )


def _run_comparison_row(line: ComparedOutcome, name_width: int, widths: Sequence[int]) -> Iterator[str]:
    mark = "≠" if line.differs else " "
    parts = [
        wrap(one_line(text, 400), width) or [""] for text, width in zip(line.values, widths, strict=True)
    ]
    for at in range(max(map(len, parts))):
        cells = (
            fit_to_width(part[at] if at < len(part) else "", width)
            for part, width in zip(parts, widths, strict=True)
        )
        name = fit_to_width(one_line(line.what), name_width) if at == 0 else " " * name_width
        yield "  ".join([f"{mark if at == 0 else ' '} {name}  ", *cells])


PARAMETERS = (
    click.Argument(["names"], metavar="[NAME...]", nargs=-1),
    click.Option(["--dialects"], metavar="A,B,...", help="These dialects, in this order."),
    click.Option(["--shipped"], is_flag=True, help="Use the shipped programs instead of the guides."),
    click.Option(
        ["--surroundings"],
        metavar="SOURCE,...",
        help="Compare environments: here, clean, FILE, unit:NAME, launchd:LABEL, pid:N, process:NAME.",
    ),
    click.Option(["--different"], is_flag=True, help="Only hooks that the hosts treat differently."),
    click.Option(["--fire"], metavar="KEY|FILE", help="Fire this event at each host, and compare the runs."),
    click.Option(["--trust"], is_flag=True, help="With --fire: also run handlers in untrusted folders."),
    click.Option(["--sandbox"], is_flag=True, help="With --fire: run handlers on copies."),
)


@answers.command("compare", *PARAMETERS)
def compare_command(
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
    """Compare the same hooks under the rules of several hosts, side by side.

    The comparison shows which hosts find the hooks, read their metadata and call them, in which order, and
    what to change so that every host calls them. Only --fire runs anything.

    Without --dialects: the guides of all hosts with HOOK.md folders. If the current dialect is a shipped
    program, it replaces its guide. All hosts use the same workspace, each with its own settings and managed
    hooks. Trust is ignored. Exit code 1: something differs.

    --fire fires a realistic event of that key at one host after another, for the named hook or for all.
    Handlers run once for each host that calls them. Exit code 1: a run differs, or a handler could
    not run.

    --surroundings compares environments under one host: what runs in this shell and not in a service, which
    program or variable is the cause, and which line the service needs. A single source is compared with
    `here`.
    """
    if surroundings is not None:
        if dialects is not None or shipped:
            raise Refusal("--surroundings is for one host.", "Name the host with --dialect.", code=2)
        if fire is not None or trust or sandbox:
            next_step = "`hookscope fire KEY --env-from SOURCE` fires an event in another environment."
            raise Refusal("--surroundings cannot fire events.", next_step, code=2)
        return _compare_machines(options, names, surroundings, different)
    if fire is None and (trust or sandbox):
        raise Refusal("--trust and --sandbox need an event.", "Name it with --fire KEY.", code=2)
    if dialects is not None and shipped:
        raise Refusal("--dialects and --shipped both choose the hosts.", "Use one of them.", code=2)
    if fire is not None and len(names) > 1:
        raise Refusal("--fire fires at one hook, or at all of them.", "Name one hook, or none.", code=2)
    bench = answers.workbench_for(options)
    chosen = chosen_dialects(dialects) if dialects is not None else usual_dialects(bench, shipped=shipped)
    comparison = compare_hosts(bench, chosen)
    if names:
        comparison = only_hooks(comparison, names)
    document = several_hosts.comparison_document(comparison, different=different)
    text = comparison_text(comparison, different=different)
    if fire is None:
        return Answer(document, text, ok=not comparison.differing)
    only = names[0] if names else None
    event = template_or_saved_event(fire)
    firing = HostRuns(bench, chosen, event, only=only, trust_all=trust, sandbox=sandbox)
    fired = _fire_at_each_host(firing, fire, bench.setup.machine)
    return Answer(
        {**document, "runs": fired.document},
        f"{text}\n\n{fired.text}",
        ok=fired.ok and not comparison.differing,
        notes=fired.notes,
    )


def _fire_at_each_host(firing: HostRuns, fire: str, machine: Machine) -> Answer:
    """Fire the event and return the answer about the runs. Raises Refusal if no host could run it."""
    runs = asyncio.run(_fire_at_hosts(firing))
    if not any(one.run for one in runs):
        raise Refusal(f"{fire} was not fired at any host: {runs[0].problem}")
    not_run = (
        *answers.untrusted_folder_warnings(firing.untrusted, machine),
        *dict.fromkeys(text for one in runs for text in one.could_not_run),
    )
    return Answer(
        several_hosts.run_documents(runs),
        run_comparison_text(fire, runs),
        ok=not (not_run or outcomes_differ(runs)),
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
        several_hosts.comparison_document(comparison, different=different),
        comparison_text(comparison, different=different),
        ok=not comparison.differing,
        notes=tuple(f"{place.label}: {note}" for place in places[1:] for note in place.notes),
    )


async def _fire_at_hosts(firing: HostRuns) -> tuple[RunAtHost, ...]:
    """Fire at each host. Ctrl-C cancels the current run; finished runs are returned."""
    with cancel_on_interrupt(firing.cancel):
        return await firing.run()
