"""What a fuzz found: for each failure the smallest event, to be loaded into the composer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hookscope.console.dialog import Dialog
from hookscope.console.keymap.hints import hints
from hookscope.console.lines import Lines
from hookscope.console.marks import MUTED, PHASES, count, fitted, word

if TYPE_CHECKING:
    from hookscope.workbench.fuzzing import FoundFailure, Fuzzed

SETTINGS = "cfg"  # in every context, and of no use to the reader
LONGEST = 2_000  # characters of an event
MOST = 12  # failures that are seen at once


def summary(fuzzed: Fuzzed) -> str:
    """How many events, at whom, and how it ended."""
    fired = sum(one.fired for one in fuzzed.hooks)
    hooks = ", ".join(word(one.hook, 40) for one in fuzzed.hooks)
    stopped = "; stopped before its end" if fuzzed.stopped else ""
    found = count(len(fuzzed.found), "failure") if fuzzed.found else "nothing failed"
    return f"{count(fired, 'event')} at {hooks}: {found}{stopped}"


def smallest(found: FoundFailure) -> str:
    """The event in one line: what of it is not as always."""
    context = {name: value for name, value in found.event.context.items() if name != SETTINGS}
    return word(json.dumps(context, ensure_ascii=False, default=str), LONGEST)


class FoundLines(Lines):
    """A line for each failure."""

    def __init__(self, found: tuple[FoundFailure, ...]) -> None:
        super().__init__()
        self.found = found

    @property
    def line_count(self) -> int:
        return len(self.found)

    def line_at(self, index: int, width: int) -> Content:
        one = self.found[index]
        mark = PHASES[one.status]
        said = f"{one.type}: {one.error.message}" if one.error is not None else one.type
        return Content.assemble(
            (f"{mark.glyph} ", mark.style), fitted(word(one.hook, 40), 18), "  ", word(said, 200)
        )


class FuzzScreen(Dialog[Path | None]):
    """The failures, and the smallest event of the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="fuzzed.leave", tooltip="Back to the composer"),
    ]
    DEFAULT_CSS = """
    FuzzScreen {
        & > Vertical { max-width: 110; max-height: 86%; }
        & Static { height: auto; max-height: 10; }
        & #fuzzed-event { margin: 1 0 0 2; }
    }
    """

    def __init__(self, fuzzed: Fuzzed) -> None:
        super().__init__()
        self._fuzzed = fuzzed

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(f"Fuzz   {word(self._fuzzed.template.key, 60)}")
            loads = [("lines.choose", "loads the event")] if self._fuzzed.found else []
            frame.border_subtitle = hints(*loads, ("fuzzed.leave", "back"))
            yield Static(Content.styled(summary(self._fuzzed), MUTED), markup=False)
            yield FoundLines(self._fuzzed.found)
            yield Static(id="fuzzed-event", markup=False)

    def on_mount(self) -> None:
        lines = self.query_one(FoundLines)
        lines.styles.height = min(len(lines.found), MOST)
        lines.focus()
        self._draw()

    @on(Lines.Moved)
    def _moved(self, event: Lines.Moved) -> None:
        event.stop()
        self._draw()

    @on(Lines.Chosen)
    def _chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        found = self._fuzzed.found[event.index]
        if found.file is None:
            self.app.notify(word(found.not_kept or "It was not kept.", 300), markup=False)
        else:
            self.dismiss(found.file)

    def _draw(self) -> None:
        lines = self.query_one(FoundLines)
        if not lines.found:
            return
        found = lines.found[lines.cursor]
        kept = f"kept as {found.file.name}" if found.file is not None else found.not_kept
        where = f"{Path(found.place[0]).name}:{found.place[1]}   " if found.place is not None else ""
        self.query_one("#fuzzed-event", Static).update(
            Content.assemble(
                ("the smallest event: ", MUTED),
                smallest(found),
                "\n",
                (word(f"{where}{kept}", 300), MUTED),
            )
        )

    def action_leave(self) -> None:
        self.dismiss(None)
