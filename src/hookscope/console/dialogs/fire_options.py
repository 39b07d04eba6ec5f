"""The dialog of fire options: target, run anyway, fault, repeat, order, on copies, by step or line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from hookscope.analysis.order_search import FEWEST_RUNS
from hookscope.console.dialogs.base_dialogs import Dialog
from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.state.fire_requests import FireOptions
from hookscope.console.theme.text_styles import MARK_MUTED, fixed_width, safe_word
from hookscope.console.widgets.lines import CURSOR_GUTTER, LineList
from hookscope.model.failure import FAULTS, FaultName
from hookscope.values import dataclass

T = TypeVar("T")
TIMES_CHOICES = (1, 2, 3, 5, 10, 25, 100)
DEFAULT_ORDER_RUNS = 25  # default number of runs for other orders
OPTION_LABEL_WIDTH = 10  # cells
FAULT_NOTES: Mapping[FaultName, str] = {
    "exception": "it raises an error",
    "hang": "it hangs, and is stopped after 2 s",
    "slow": "it answers a second later",
    "junk": "it returns invalid data",
    "exit": "its process exits",
}


@dataclass(frozen=True, slots=True)
class OptionLine:
    """One line of the dialog. `value` is safe to show."""

    name: str
    value: str
    note: str


def option_lines(chosen: FireOptions) -> tuple[OptionLine, ...]:
    """Return the lines from top to bottom."""
    target = "only this hook is called" if chosen.only else "all subscribed hooks"
    forced = (
        "it runs even if off, blocked or not subscribed"
        if chosen.forced
        else "only if ready"
        if chosen.only
        else "needs one target hook"
    )
    fault = FAULT_NOTES[chosen.fault] if chosen.broken else "needs a target hook"
    repeated = "at most this many runs" if chosen.shuffled else "compares the runs"
    times = repeated if chosen.times > 1 else "once"
    order = "finds handlers that interfere" if chosen.shuffled else "as registered"
    steps = "waits before each handler" if chosen.stepped else "handlers run without pauses"
    lines = "stops in each handler" if chosen.debugged else "handlers run normally"
    copies = "handlers work on copies" if chosen.guarded else "handlers change real files"
    return (
        OptionLine("target", safe_word(chosen.only or "all hooks", 60), target),
        OptionLine("run anyway", "yes" if chosen.forced else "no", forced),
        OptionLine("fault in", safe_word(chosen.broken or "none", 60), "a fault instead of its handler"),
        OptionLine("fault", chosen.fault if chosen.broken else "–", fault),
        OptionLine("times", str(chosen.times), times),
        OptionLine("order", "shuffled" if chosen.shuffled else "default", order),
        OptionLine("on copies", "yes" if chosen.guarded else "no", copies),
        OptionLine("by step", "yes" if chosen.stepped else "no", steps),
        OptionLine("by line", "yes" if chosen.debugged else "no", lines),
    )


def change_option(
    chosen: FireOptions, line: int, by: int, hooks: Sequence[str], listening: Sequence[str]
) -> FireOptions:
    """Return the options with the next or previous value of a line.

    Only `hooks` can be called, and faults only go to hooks in `listening`.
    """
    match line:
        case 0:
            only = _next_value((None, *hooks), chosen.only, by)
            alone = only is not None
            return replace(
                chosen, only=only, forced=chosen.forced and alone, shuffled=chosen.shuffled and not alone
            )
        case 1:
            return replace(chosen, forced=chosen.only is not None and not chosen.forced)
        case 2:
            return replace(chosen, broken=_next_value((None, *listening), chosen.broken, by))
        case 3:
            return replace(chosen, fault=_next_value(FAULTS, chosen.fault, by)) if chosen.broken else chosen
        case 4:
            times = _next_value(TIMES_CHOICES, chosen.times, by)
            once = times == 1
            return replace(
                chosen,
                times=times,
                stepped=chosen.stepped and once,
                debugged=chosen.debugged and once,
                shuffled=chosen.shuffled and times >= FEWEST_RUNS,
            )
        case 5:
            return _with_other_orders(chosen) if not chosen.shuffled else replace(chosen, shuffled=False)
        case 6:
            return replace(chosen, guarded=not chosen.guarded)
        case 7:
            return replace(chosen, stepped=not chosen.stepped, debugged=False, times=1, shuffled=False)
        case _:
            return replace(chosen, debugged=not chosen.debugged, stepped=False, times=1, shuffled=False)


def _with_other_orders(chosen: FireOptions) -> FireOptions:
    """Return the options for other orders: all subscribed hooks, and enough runs."""
    times = chosen.times if chosen.times >= FEWEST_RUNS else DEFAULT_ORDER_RUNS
    return replace(chosen, shuffled=True, times=times, only=None, forced=False, stepped=False, debugged=False)


def _next_value(values: Sequence[T], now: T, by: int) -> T:
    at = values.index(now) if now in values else 0
    return values[(at + by) % len(values)]


class ChoiceLines(LineList):
    """Lines with a name, a value, and the value's meaning."""

    KEPT_OFF = 0  # all lines fit, so there is no scroll bar

    class Clicked(LineList.Moved):
        """A line was clicked, to choose its next value or (`by` -1) the previous one."""

        def __init__(self, lines: LineList, index: int, by: int) -> None:
            super().__init__(lines, index)
            self.by = by

    def __init__(self) -> None:
        super().__init__()
        self._choices: tuple[OptionLine, ...] = ()

    @property
    def line_count(self) -> int:
        return len(self._choices)

    def show(self, shown: tuple[OptionLine, ...]) -> None:
        """Show these lines."""
        self._choices = shown
        self.lines_changed()

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # else the list's own handler runs too: a second click would fire
        index = event.y + round(self.scroll_y)
        if 0 <= index < self.line_count:
            self.cursor = index
            back = abs(event.x - (CURSOR_GUTTER + OPTION_LABEL_WIDTH + 1)) <= 1  # on the ◂
            self.post_message(self.Clicked(self, index, -1 if back else 1))

    def line_at(self, index: int, width: int) -> Content:
        choice = self._choices[index]
        value = fixed_width(f"◂ {choice.value} ▸", max(16, width // 3), "bold")
        return Content.assemble(
            fixed_width(choice.name, OPTION_LABEL_WIDTH, MARK_MUTED),
            " ",
            value,
            "  ",
            (choice.note, MARK_MUTED),
        )


class FireOptionsScreen(Dialog[FireOptions | None]):
    """Chooses how to fire; enter fires."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="otherwise.leave", tooltip="Fire nothing"),
        Binding("left,h", "turn(-1)", "Previous", show=False, id="otherwise.left", tooltip="Previous value"),
        Binding("right,l,space", "turn(1)", "Next", show=False, id="otherwise.right", tooltip="Next value"),
        Binding("ctrl+r,f5", "fire", "Fire", id="otherwise.fire", tooltip="Fire with these options"),
    ]
    DEFAULT_CSS = """
    FireOptionsScreen {
        & > Vertical { max-width: 92; }
        & ChoiceLines { height: 9; }
    }
    """

    def __init__(
        self, event: str, chosen: FireOptions, hooks: Sequence[str], listening: Sequence[str]
    ) -> None:
        super().__init__()
        self._event, self._hooks, self._listening = event, tuple(hooks), tuple(listening)
        self.chosen = replace(
            chosen,
            only=chosen.only if chosen.only in self._hooks else None,
            broken=chosen.broken if chosen.broken in self._hooks else None,
        )

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(f"Fire options   {safe_word(self._event, 60)}")
            frame.border_subtitle = Content.assemble(
                key_hints(("otherwise.left", ""), ("otherwise.right", "change"), gap=1),
                "   ",
                key_hints(("lines.choose", "fire"), ("otherwise.leave", "back")),
            )
            yield ChoiceLines()

    def on_mount(self) -> None:
        self._draw()
        self.query_one(ChoiceLines).focus()

    def _draw(self) -> None:
        self.query_one(ChoiceLines).show(option_lines(self.chosen))

    @on(LineList.Chosen)
    def _enter(self, event: LineList.Chosen) -> None:
        event.stop()
        self.action_fire()

    @on(ChoiceLines.Clicked)
    def _clicked(self, event: ChoiceLines.Clicked) -> None:
        event.stop()
        self.action_turn(event.by)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()

    def action_turn(self, by: int) -> None:
        callable_now = self._hooks if self.chosen.forced or self.chosen.only is None else (self.chosen.only,)
        breakable = self._listening if self.chosen.only is None else callable_now
        self.chosen = change_option(
            self.chosen, self.query_one(ChoiceLines).cursor, by, self._hooks, breakable
        )
        self._draw()

    def action_fire(self) -> None:
        self.dismiss(self.chosen)
