"""What is wrong with settings and folders as a whole: lines on top that cannot be overlooked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from hookscope.console.messages import EditAsked
from hookscope.console.text import line
from hookscope.console.theme import FAINT, MUTED
from hookscope.core.hooks import Place, Problem

if TYPE_CHECKING:
    from hookscope.core.surroundings import Surroundings

MOST = 2  # lines; further problems are counted


def problem_lines(problems: tuple[Problem, ...], surroundings: Surroundings, width: int) -> Content:
    """One line each, the place at the end; cut, never wrapped."""
    lines = [_one(problem, surroundings, width) for problem in problems[:MOST]]
    if len(problems) > MOST and lines:
        more = Content.styled(f"  +{len(problems) - MOST} more", MUTED)
        lines[-1] = Content.assemble(
            lines[-1].truncate(max(0, width - more.cell_length), ellipsis=True), more
        )
    return Content("\n").join(lines)


def _one(problem: Problem, surroundings: Surroundings, width: int) -> Content:
    place = problem.place
    at = line(f"{surroundings.short(place.file)}:{place.line}") if place is not None else Content()
    text = Content.assemble((" ✗ ", "$text-error"), line(problem.text, 400))
    if place is not None and width - at.cell_length - 3 < text.cell_length:
        # The sentence comes first; a name is found without its folders.
        at = line(f"{place.file.name}:{place.line}")
    room = width - at.cell_length - 3
    if place is None or room < width // 2:
        return text.truncate(width - 1, ellipsis=True)
    return Content.assemble(text.truncate(room, ellipsis=True), "  ", at.stylize(FAINT))


class ProblemLines(Static):
    """A click opens the place of the first."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.problems: tuple[Problem, ...] = ()
        self._surroundings: Surroundings | None = None  # by which a place is named

    def show(self, problems: tuple[Problem, ...], surroundings: Surroundings) -> None:
        """Show these from now on; nothing where there are none."""
        self.problems, self._surroundings = problems, surroundings
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def on_click(self) -> None:
        place = self._place()
        if place is not None:
            self.post_message(EditAsked(place))

    def _place(self) -> Place | None:
        return next((problem.place for problem in self.problems if problem.place is not None), None)

    def _lay_out(self) -> None:
        self.display = bool(self.problems)
        if self._surroundings is not None:
            width = self.size.width or self.app.size.width
            self.update(problem_lines(self.problems, self._surroundings, width))
