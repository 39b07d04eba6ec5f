"""Hooks and runs at several hosts, side by side, as text (`compare`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.analysis.host_comparison import ABSENT, ComparedHook, HookAtHost, HostComparison
from hookscope.analysis.host_runs import (
    ComparedOutcome,
    RunAtHost,
    compared_outcomes,
    outcomes_differ,
)
from hookscope.cli.render.layout import (
    column_width,
    fit_to_width,
    fold_text,
    state_word,
    terminal_width,
)
from hookscope.model.hook_status import State
from hookscope.model.text import one_line, printable

STATE_CELLS = 11  # glyph and word


def comparison_text(comparison: HostComparison, *, different: bool) -> str:
    """Return a row for each hook, with its differences and changes below, then the counts."""
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
    yield f"{comparison.alike} alike, {len(comparison.differing)} differ{where}"


RUN_COLUMN_WIDTH = 34  # cells of one host's column; longer text wraps


def run_comparison_text(key: str, runs: Sequence[RunAtHost]) -> str:
    """Return a table with one column for each host. Differences are marked."""
    lines = compared_outcomes(runs)
    verdict = "differ" if outcomes_differ(runs) else "did the same"
    name_width = max(column_width((one_line(line.what) for line in lines), 28), 8)
    widths = [_run_column_width(run, lines, at) for at, run in enumerate(runs)]
    head = [fit_to_width(run.dialect.name, width) for run, width in zip(runs, widths, strict=True)]
    shown = [f"{one_line(key)}  fired at {len(runs)}: they {verdict}", ""]
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
    parts = [_fold_cell(one_line(text, 400), width) for text, width in zip(line.values, widths, strict=True)]
    for at in range(max(map(len, parts))):
        cells = (
            fit_to_width(part[at] if at < len(part) else "", width)
            for part, width in zip(parts, widths, strict=True)
        )
        name = fit_to_width(one_line(line.what), name_width) if at == 0 else " " * name_width
        yield "  ".join([f"{mark if at == 0 else ' '} {name}  ", *cells])


def _fold_cell(text: str, width: int) -> list[str]:
    from textwrap import wrap  # most commands do not need it

    return wrap(text, width) or [""]
