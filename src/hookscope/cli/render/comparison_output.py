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


def comparison_text(item: HostComparison, *, different: bool) -> str:
    """Return a row for each hook, with its differences and changes below, then the counts."""
    lines = item.differing if different else item.lines
    names = max(column_width((one_line(line.name) for line in lines), 28), 4)
    named = [one_line(side.name) for side in item.sides]
    widths = [max(len(name), STATE_CELLS + _source_width(lines, at)) for at, name in enumerate(named)]
    wide = terminal_width()
    if wide is not None and names + 2 + sum(width + 2 for width in widths) > wide:
        widths = [max(len(name), STATE_CELLS) for name in named]  # show only the states
    shown = ["  ".join([" " * (names + 2), *map(fit_to_width, named, widths)])] if lines else []
    for line in lines:
        shown += _comparison_row(line, names, widths)
    parts = [*shown, *([""] if shown else []), *_machine_difference_lines(item), *_summary_lines(item)]
    return fold_text(parts)


def _machine_difference_lines(item: HostComparison) -> Iterator[str]:
    """Yield the differences between machines, and what to change on which of them."""
    for cause in item.causes:
        stops = f": stops {', '.join(map(one_line, cause.hooks))}" if cause.hooks else ""
        yield f"{one_line(cause.text, 400)}{stops}"
    for remedy in item.remedies:
        yield f"\n→ {one_line(remedy.side)}: {one_line(remedy.where, 300)}"
        yield from (f"    {printable(line)}" for line in remedy.lines)
        yield from ([f"  {one_line(remedy.then, 300)}"] if remedy.then else [])
    if item.causes or item.remedies:
        yield ""


def _source_width(lines: tuple[ComparedHook, ...], at: int) -> int:
    return max((len(line.cells[at].source) for line in lines), default=0)


def _comparison_row(line: ComparedHook, names: int, widths: list[int]) -> Iterator[str]:
    cells = (fit_cell_to_width(cell, width) for cell, width in zip(line.cells, widths, strict=True))
    yield "  ".join([f"  {fit_to_width(one_line(line.name), names)}", *cells])
    for one in line.differs:
        yield f"      {one_line(one.text, 300)}"
    for text in line.change:
        yield f"    → {one_line(text, 300)}"


def fit_cell_to_width(cell: HookAtHost, width: int) -> str:
    """Return state and source, fitted to `width` cells."""
    room = max(width - STATE_CELLS, 0)
    rest = fit_to_width(one_line(cell.source) if room > 3 else "", room)
    if cell.row is not None:
        return state_word(State(cell.state)) + rest
    return fit_to_width(f"{'–' if cell.state == ABSENT else '✗'} {cell.state}", STATE_CELLS) + rest


def _summary_lines(item: HostComparison) -> Iterator[str]:
    width = max(len(one_line(side.name)) for side in item.sides)
    has_headers = any("folder" in side.dialect.kinds for side in item.sides)
    for name, tally in item.tallies().items():
        parts = (
            f"{tally.found} found",
            *((f"metadata of {tally.metadata} read",) if has_headers else ()),
            f"{tally.registered} would be registered",
            f"{tally.called} called",
        )
        yield f"{fit_to_width(one_line(name), width)}  {' · '.join(parts)}"
    workspaces = {side.host.surroundings.short(side.host.workspace) for side in item.sides}
    where = f" (workspace {printable(next(iter(workspaces)))})" if len(workspaces) == 1 else ""
    yield f"{item.alike} alike, {len(item.differing)} differ{where}"


RUN_COLUMN_WIDTH = 34  # cells of one host's column; longer text wraps


def run_comparison_text(key: str, runs: Sequence[RunAtHost]) -> str:
    """Return a table with one column for each host. Differences are marked."""
    lines = compared_outcomes(runs)
    words = "differ" if outcomes_differ(runs) else "did the same"
    names = max(column_width((one_line(line.what) for line in lines), 28), 8)
    widths = [_run_column_width(one, lines, at) for at, one in enumerate(runs)]
    head = [fit_to_width(one.dialect.name, width) for one, width in zip(runs, widths, strict=True)]
    shown = [f"{one_line(key)}  fired at {len(runs)}: they {words}", ""]
    shown.append("  ".join([" " * (names + 4), *head]))
    for line in lines:
        shown += _run_comparison_row(line, names, widths)
    return "\n".join(part.rstrip() for part in shown)


def _run_column_width(one: RunAtHost, lines: Sequence[ComparedOutcome], at: int) -> int:
    return max(
        len(one.dialect.name),
        column_width((one_line(line.values[at], 400) for line in lines), RUN_COLUMN_WIDTH),
    )


def _run_comparison_row(line: ComparedOutcome, names: int, widths: Sequence[int]) -> Iterator[str]:
    mark = "≠" if line.differs else " "
    parts = [_fold_cell(one_line(text, 400), width) for text, width in zip(line.values, widths, strict=True)]
    for at in range(max(map(len, parts))):
        cells = (
            fit_to_width(part[at] if at < len(part) else "", width)
            for part, width in zip(parts, widths, strict=True)
        )
        name = fit_to_width(one_line(line.what), names) if at == 0 else " " * names
        yield "  ".join([f"{mark if at == 0 else ' '} {name}  ", *cells])


def _fold_cell(text: str, width: int) -> list[str]:
    from textwrap import wrap  # most commands do not need it

    return wrap(text, width) or [""]
