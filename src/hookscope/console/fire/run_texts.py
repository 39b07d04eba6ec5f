"""What is said of a run as a whole: in its frame, and where no handler was called. Pure."""

from __future__ import annotations

from textual.content import Content

from hookscope.console.fire.model import RunSheet, outcome
from hookscope.console.keymap.hints import with_keys
from hookscope.console.marks import MUTED, PHASES, word
from hookscope.core.text import duration


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
