"""Two runs of an event side by side: what is different, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hookscope.console.dialog import Dialog
from hookscope.console.keymap.hints import hints
from hookscope.console.marks import MUTED, PHASES, fitted, word
from hookscope.console.reading import Reading
from hookscope.core.differences import Difference, calls_of
from hookscope.core.runs import Run
from hookscope.core.text import duration
from hookscope.values import dataclass

NOTHING = "–"
SLOWER = 2.0  # a handler's time is worth a line when it is that many times the other's,
FRAME = 7  # cells of the frame, its padding and its bar
LEAST = 0.005  # and when that many seconds lie between them
NARROWEST, WIDEST = 14, 34  # cells of the first column
ENDED = re.compile(r"(\w+)(?=: |$)")  # the status before what a handler said
LONGEST = 400  # characters of a value


@dataclass(frozen=True, slots=True)
class Beside:
    """One line: what it is about, and how it was in either run. Safe to show."""

    what: str
    before: str
    after: str
    time: bool = False  # a time alone: no difference in what the runs did
    ended: bool = False  # how a handler ended


def lines_of(
    found: Sequence[Difference], before: Run, after: Run, short: Callable[[Path], str]
) -> tuple[Beside, ...]:
    """A line for each difference, and then for times that tell. `short` says a path to people."""
    return (*(_line(one, short) for one in found), *_times(before, after))


def _line(one: Difference, short: Callable[[Path], str]) -> Beside:
    name = short(Path(one.what)) if one.kind == "file" else one.what
    what = one.kind if name == one.kind else f"{one.kind} {name}"
    if one.kind == "order":
        what = "order"
    return Beside(word(what), _said(one, one.before), _said(one, one.after), ended=one.kind == "handler")


def _said(one: Difference, value: object) -> str:
    match value:
        case None:
            return NOTHING
        case {"kind": str(kind), "bytes": size} if one.kind == "file":
            return kind if size is None else f"{kind}, {size:,} bytes"
        case str() if one.kind in ("handler", "message", "verdict"):
            return word(value, LONGEST)
        case list() if one.kind == "order":
            return word(" → ".join(map(str, value)), LONGEST)
    return word(json.dumps(value, ensure_ascii=False, default=str), LONGEST)


def _times(before: Run, after: Run) -> Iterator[Beside]:
    old, new = calls_of(before), calls_of(after)
    for call, result in new.items():
        past = old.get(call)
        if past is not None and _tells(past.took, result.took):
            yield Beside(word(f"time {call[0]}"), duration(past.took), duration(result.took), time=True)
    yield Beside("time in all", duration(before.took), duration(after.took), time=True)


def _tells(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return high - low >= LEAST and high >= SLOWER * low


def table(lines: Sequence[Beside], numbers: tuple[int, int], width: int) -> Content:
    """The lines in three columns; a value that is too long for its own goes on below."""
    longest = max((Content(line.what).cell_length for line in lines), default=0)
    first = min(WIDEST, max(NARROWEST, min(longest, width // 3)))
    other = max(10, (width - first - 4) // 2)
    heading = Content.assemble(
        " " * (first + 2), fitted(f"run {numbers[0]}", other), "  ", fitted(f"run {numbers[1]}", other)
    )
    rows = [heading.stylize(MUTED)]
    if all(line.time for line in lines):
        rows.append(Content("Both did the same."))
    for line in lines:
        rows += _row(line, first, other)
    return Content("\n").join(rows)


def _row(line: Beside, first: int, other: int) -> Iterator[Content]:
    ends = [(text, other, _style(line, text)) for text in (line.before, line.after)]
    columns = ((line.what, first, MUTED), *ends)
    folded = [_folded(text, width) for text, width, _ in columns]
    for at in range(max(map(len, folded))):
        cells = [
            fitted(rows[at] if at < len(rows) else "", width, style)
            for rows, (_, width, style) in zip(folded, columns, strict=True)
        ]
        yield Content("  ").join(cells)


def _style(line: Beside, text: str) -> str:
    """How a handler ended has the colour that it has in the run; all else is for reading."""
    ended = ENDED.match(text)
    if line.ended and ended is not None and ended[1] in PHASES:
        return PHASES[ended[1]].style
    return MUTED if line.time or text == NOTHING else ""


def _folded(text: str, width: int) -> list[str]:
    """The text in pieces of that many cells."""
    return [line.plain for line in Content(text).wrap(width)] if text else [""]


class BesideScreen(Dialog[None]):
    """Shows what two runs did otherwise; `[` and `]` put another run beside."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,d", "leave", "Back", id="beside.leave", tooltip="Back to the run"),
        Binding("left_square_bracket", "turn(-1)", "Older", id="beside.older", tooltip="Beside an older run"),
        Binding("right_square_bracket", "turn(1)", "Newer", id="beside.newer", tooltip="Beside a newer run"),
    ]
    DEFAULT_CSS = """
    BesideScreen {
        & > Vertical { width: 94%; max-width: 140; max-height: 86%; }
        & VerticalScroll { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
        & Static { height: auto; }
    }
    """

    def __init__(self, event: str, turn: Callable[[int], object]) -> None:
        """`turn` is asked for the run that many older or newer to be put beside; `show` brings it."""
        super().__init__()
        self._event, self._turn = event, turn
        self._lines: tuple[Beside, ...] = ()
        self._numbers = (0, 0)

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(f"Side by side   {word(self._event, 60)}")
            frame.border_subtitle = Content.assemble(
                hints(("beside.older", ""), ("beside.newer", "another run"), gap=1),
                "   ",
                hints(("beside.leave", "back")),
            )
            with Reading():
                yield Static(markup=False)

    def show(self, numbers: tuple[int, int], lines: tuple[Beside, ...]) -> None:
        """Two runs by their numbers, the older first, and what is different."""
        self._numbers, self._lines = numbers, lines
        if self.stands:
            self._draw()

    def on_mount(self) -> None:
        self.query_one(Reading).focus()
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        width = max(40, min(140, self.size.width * 94 // 100) - FRAME)
        self.query_one(Static).update(table(self._lines, self._numbers, width))

    def action_turn(self, by: int) -> None:
        self._turn(by)

    def action_leave(self) -> None:
        self.dismiss(None)
