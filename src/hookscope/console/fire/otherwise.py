"""Firing otherwise: at one hook although it would not run, with a fault in a handler's place, several
times, in other orders, on copies, handler by handler, line by line. What is chosen, and the dialog that
chooses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from hookscope.console.dialog import Dialog
from hookscope.console.keymap.hints import hints
from hookscope.console.lines import GUTTER, Lines
from hookscope.console.marks import MUTED, fitted, word
from hookscope.core.breakage import FAULTS, FaultName
from hookscope.core.orders import LEAST
from hookscope.values import dataclass

T = TypeVar("T")
TIMES = (1, 2, 3, 5, 10, 25, 100)
ENOUGH = 25  # of those, for other orders: mostly
LABEL = 10  # cells
NOTES: Mapping[FaultName, str] = {
    "exception": "it throws",
    "hang": "it never answers: ended after 2 s",
    "slow": "it answers a second later",
    "junk": "it answers with nonsense",
    "exit": "its process ends",
}


@dataclass(frozen=True, slots=True)
class Otherwise:
    """How an event is fired, where it is not simply fired."""

    only: str | None = None  # at this hook alone
    forced: bool = False  # although it is off, blocked or does not listen
    broken: str | None = None  # the hook in whose handler's place there is a fault
    fault: FaultName = "exception"
    times: int = 1
    shuffled: bool = False  # in other orders too, so many times at most
    guarded: bool = False  # on copies
    stepped: bool = False  # a word is waited for before each handler
    debugged: bool = False  # and at its lines

    @property
    def plain(self) -> bool:
        """Is it fired as any event."""
        return replace(self, fault="exception", guarded=False, only=None) == Otherwise()


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the dialog. `value` is safe to show."""

    name: str
    value: str
    note: str


def choices(chosen: Otherwise) -> tuple[Choice, ...]:
    """The lines from top to bottom."""
    alone = "nobody else is called" if chosen.only else "all that listen"
    although = (
        "it runs although it is off, blocked or does not listen"
        if chosen.forced
        else "only if it would run"
        if chosen.only
        else "wants one hook above"
    )
    fault = NOTES[chosen.fault] if chosen.broken else "wants a hook above"
    many = "fires at most, of all orders" if chosen.shuffled else "says what is done again"
    times = many if chosen.times > 1 else "once"
    order = "says who disturbs whom" if chosen.shuffled else "as registered"
    steps = "it waits before each handler" if chosen.stepped else "handlers run without a pause"
    lines = "it stops in each handler" if chosen.debugged else "handlers run through"
    copies = "handlers get copies of files" if chosen.guarded else "files are written as always"
    return (
        Choice("at", word(chosen.only or "all hooks", 60), alone),
        Choice("forced", "yes" if chosen.forced else "no", although),
        Choice("break", word(chosen.broken or "nobody", 60), "a fault in its handler's place"),
        Choice("fault", chosen.fault if chosen.broken else "–", fault),
        Choice("times", str(chosen.times), times),
        Choice("order", "others too" if chosen.shuffled else "one", order),
        Choice("on copies", "yes" if chosen.guarded else "no", copies),
        Choice("by step", "yes" if chosen.stepped else "no", steps),
        Choice("by line", "yes" if chosen.debugged else "no", lines),
    )


def turned(
    chosen: Otherwise, line: int, by: int, hooks: Sequence[str], listening: Sequence[str]
) -> Otherwise:
    """The next or the last value of a line. Only `hooks` can be called, only those `listening` are broken."""
    match line:
        case 0:
            only = _next((None, *hooks), chosen.only, by)
            alone = only is not None
            return replace(
                chosen, only=only, forced=chosen.forced and alone, shuffled=chosen.shuffled and not alone
            )
        case 1:
            return replace(chosen, forced=chosen.only is not None and not chosen.forced)
        case 2:
            return replace(chosen, broken=_next((None, *listening), chosen.broken, by))
        case 3:
            return replace(chosen, fault=_next(FAULTS, chosen.fault, by)) if chosen.broken else chosen
        case 4:
            times = _next(TIMES, chosen.times, by)
            once = times == 1
            return replace(
                chosen,
                times=times,
                stepped=chosen.stepped and once,
                debugged=chosen.debugged and once,
                shuffled=chosen.shuffled and times >= LEAST,
            )
        case 5:
            return _shuffled(chosen) if not chosen.shuffled else replace(chosen, shuffled=False)
        case 6:
            return replace(chosen, guarded=not chosen.guarded)
        case 7:
            return replace(chosen, stepped=not chosen.stepped, debugged=False, times=1, shuffled=False)
        case _:
            return replace(chosen, debugged=not chosen.debugged, stepped=False, times=1, shuffled=False)


def _shuffled(chosen: Otherwise) -> Otherwise:
    """In other orders too: of all that listen, as often as tells something."""
    times = chosen.times if chosen.times >= LEAST else ENOUGH
    return replace(chosen, shuffled=True, times=times, only=None, forced=False, stepped=False, debugged=False)


def _next(values: Sequence[T], now: T, by: int) -> T:
    at = values.index(now) if now in values else 0
    return values[(at + by) % len(values)]


class ChoiceLines(Lines):
    """Name, value, and what the value means."""

    KEPT_OFF = 0  # there is room for all of them, and so no bar

    class Clicked(Lines.Moved):
        """A line was clicked: its next value is wanted, or (`by` -1) the one before."""

        def __init__(self, lines: Lines, index: int, by: int) -> None:
            super().__init__(lines, index)
            self.by = by

    def __init__(self) -> None:
        super().__init__()
        self._choices: tuple[Choice, ...] = ()

    @property
    def line_count(self) -> int:
        return len(self._choices)

    def show(self, shown: tuple[Choice, ...]) -> None:
        """Draw these."""
        self._choices = shown
        self.lines_changed()

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # else the line's own answer comes too: a second click fires
        index = event.y + round(self.scroll_y)
        if 0 <= index < self.line_count:
            self.cursor = index
            back = abs(event.x - (GUTTER + LABEL + 1)) <= 1  # on the ◂
            self.post_message(self.Clicked(self, index, -1 if back else 1))

    def line_at(self, index: int, width: int) -> Content:
        choice = self._choices[index]
        value = fitted(f"◂ {choice.value} ▸", max(16, width // 3), "bold")
        return Content.assemble(fitted(choice.name, LABEL, MUTED), " ", value, "  ", (choice.note, MUTED))


class OtherwiseScreen(Dialog[Otherwise | None]):
    """Chooses how to fire; enter fires."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="otherwise.leave", tooltip="Fire nothing"),
        Binding("left,h", "turn(-1)", "Before", show=False, id="otherwise.left", tooltip="The value before"),
        Binding(
            "right,l,space", "turn(1)", "Next", show=False, id="otherwise.right", tooltip="The next value"
        ),
        Binding("ctrl+r,f5", "fire", "Fire", id="otherwise.fire", tooltip="Fire it so"),
    ]
    DEFAULT_CSS = """
    OtherwiseScreen {
        & > Vertical { max-width: 92; }
        & ChoiceLines { height: 9; }
    }
    """

    def __init__(self, event: str, chosen: Otherwise, hooks: Sequence[str], listening: Sequence[str]) -> None:
        super().__init__()
        self._event, self._hooks, self._listening = event, tuple(hooks), tuple(listening)
        self.chosen = replace(
            chosen,
            only=chosen.only if chosen.only in self._hooks else None,
            broken=chosen.broken if chosen.broken in self._hooks else None,
        )

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(f"Fire otherwise   {word(self._event, 60)}")
            frame.border_subtitle = Content.assemble(
                hints(("otherwise.left", ""), ("otherwise.right", "change"), gap=1),
                "   ",
                hints(("lines.choose", "fire"), ("otherwise.leave", "back")),
            )
            yield ChoiceLines()

    def on_mount(self) -> None:
        self._draw()
        self.query_one(ChoiceLines).focus()

    def _draw(self) -> None:
        self.query_one(ChoiceLines).show(choices(self.chosen))

    @on(Lines.Chosen)
    def _enter(self, event: Lines.Chosen) -> None:
        event.stop()
        self.action_fire()

    @on(ChoiceLines.Clicked)
    def _clicked(self, event: ChoiceLines.Clicked) -> None:
        event.stop()
        self.action_turn(event.by)

    @on(Lines.Moved)
    def _moved(self, event: Lines.Moved) -> None:
        event.stop()

    def action_turn(self, by: int) -> None:
        callable_now = self._hooks if self.chosen.forced or self.chosen.only is None else (self.chosen.only,)
        breakable = self._listening if self.chosen.only is None else callable_now
        self.chosen = turned(self.chosen, self.query_one(ChoiceLines).cursor, by, self._hooks, breakable)
        self._draw()

    def action_fire(self) -> None:
        self.dismiss(self.chosen)

    def action_leave(self) -> None:
        self.dismiss(None)
