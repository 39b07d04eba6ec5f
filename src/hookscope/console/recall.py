"""What can be called back to the screen: saved events and runs of a workspace, read for the palette."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.console import narrate
from hookscope.console.fire.model import RunSheet, brief_outcome
from hookscope.console.marks import count, moment
from hookscope.values import dataclass
from hookscope.workbench.saved import saved_listing

if TYPE_CHECKING:
    from hookscope.workbench import PastRun, View, Workbench

OLDER = 200  # runs of the journal


@dataclass(frozen=True, slots=True)
class SavedLine:
    """A saved event that can be loaded."""

    name: str
    about: str
    file: Path


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run that can be shown. `past` where it comes from the journal: the Fire mode has it not yet."""

    number: int
    key: str
    about: str
    past: PastRun | None = None


def saved_here(view: View) -> tuple[SavedLine, ...]:
    """The saved events of the workspace, those left out that cannot be read. Reads files."""
    return tuple(
        SavedLine(
            row.name, ", ".join((row.key, *row.tags)) + (f": {row.notes}" if row.notes else ""), row.file
        )
        for row in saved_listing(view.host.workspace)
        if not row.problem
    )


def stored_runs(bench: Workbench, view: View, sheets: Sequence[RunSheet]) -> tuple[RunLine, ...]:
    """The runs that the Fire mode holds, and others of the journal; newest first. Reads the journal."""
    held = {sheet.number: RunLine(sheet.number, sheet.plan.event.key, _about(sheet)) for sheet in sheets}
    try:
        stored = bench.record.runs(view, OLDER) if held else ()  # with none on record there is no database
    except OSError:  # which was said when the console began
        stored = ()
    others = {
        past.id: RunLine(past.id, past.plan.event.key, narrate.remembered(past).text, past)
        for past in stored
        if past.id not in held
    }
    return tuple(line for _, line in sorted((held | others).items(), reverse=True))


def _about(sheet: RunSheet) -> str:
    words, _ = brief_outcome(sheet)
    return f"{moment(sheet.at)}  {words}, {count(len(sheet.rows), 'handler')}"
