"""The runs of this sitting, newest first."""

from __future__ import annotations

from textual.content import Content

from hookscope.console.fire.model import RunSheet, brief_outcome
from hookscope.console.lines import Lines
from hookscope.console.marks import MUTED, PHASES, fitted, moment, word
from hookscope.core.text import duration


class History(Lines):
    """A line a run; enter shows it."""

    DEFAULT_CSS = """
    History {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-title-style: none;
        border-subtitle-align: left;
        padding: 0;
        &:focus { border: heavy $border; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._sheets: tuple[RunSheet, ...] = ()
        self._shown: int | None = None

    def on_mount(self) -> None:
        self.show((), None)

    @property
    def line_count(self) -> int:
        return len(self._sheets)

    def number_at(self, index: int) -> int:
        """The number of the run on a line."""
        return self._sheets[index].number

    def show(self, sheets: tuple[RunSheet, ...], shown: int | None) -> None:
        """Draw these runs; `shown` is on the screen."""
        other = (shown, len(sheets)) != (self._shown, len(self._sheets))
        self._sheets, self._shown = tuple(reversed(sheets)), shown
        self.border_title = Content(f"Runs {len(sheets)}" if sheets else "Runs   none yet")
        numbers = [sheet.number for sheet in self._sheets]
        if other and shown in numbers:  # else the cursor is where its reader put it
            self.cursor = numbers.index(shown)
        self.lines_changed()

    def line_at(self, index: int, width: int) -> Content:
        sheet = self._sheets[index]
        words, phase = brief_outcome(sheet)
        mark = PHASES[phase]
        took = f"{duration(sheet.run.took):>9}  " if sheet.run else "  "  # else there is more to say of it
        time = f"{sheet.number:>3}  {moment(sheet.at):8}  "
        rest = 23  # time and outcome
        return Content.assemble(
            Content.styled(time, "" if sheet.number == self._shown else MUTED),
            fitted(word(sheet.plan.event.key, 60), max(10, width - len(time) - rest)),
            took,
            (f"{mark.glyph} {words}", mark.style),
        )
