"""What is said of a run as a whole: in its frame, and where no handler was called. Pure."""

from __future__ import annotations

from textual.content import Content

from hookscope.console.fire.draft import as_json
from hookscope.console.fire.model import CallRow, RunSheet, outcome
from hookscope.console.fire.tabs.shown import foreign, muted
from hookscope.console.keymap.hints import with_keys
from hookscope.console.marks import MUTED, PHASES, word
from hookscope.core.text import duration

EVENT = 20_000  # characters of an event that are shown


def title(sheet: RunSheet | None, now: float) -> Content:
    """What stands in the frame: number, event, outcome, time."""
    if sheet is None:
        return Content("Run")
    words, phase = outcome(sheet)
    mark = PHASES[phase]
    return Content.assemble(
        f"Run {sheet.number}   {word(sheet.plan.event.key, 60)}   ",
        (f"{mark.glyph} {words}", mark.style),
        f"   {duration(sheet.run.took if sheet.run else now - sheet.begun)}",
    )


def paused_text(row: CallRow) -> Content:
    """Of a handler that waits for a word: which there are, and the event that it would get."""
    keys = (
        "It waits: {fire.step} lets it begin, {fire.pass_over} passes it over, {fire.run_all} runs it and "
        "all that follow, {fire.cancel} ends the run."
    )
    return Content("\n").join(
        [
            Content(with_keys(keys)),
            Content(),
            muted("the event as it would get it"),
            foreign(as_json(row.event), EVENT),
        ]
    )


def ending_text(sheet: RunSheet | None) -> Content:
    """What there is to say when no handler was called."""
    if sheet is None:
        return Content.styled(
            with_keys("Nothing has been fired yet: {fire.fire} fires the event above."), MUTED
        )
    lines = ["No handler was called."] if sheet.run else ["Waiting for the first handler."]
    if sheet.run is not None:
        lines += [word(note, 400) for note in (*sheet.run.notes, sheet.run.ending.failure or "") if note]
    return Content("\n".join(lines))
