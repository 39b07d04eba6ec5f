"""The bar: a field for each thing that can be assumed. What is taken is looked at at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from hookscope.console.dialog import Dialog
from hookscope.console.form import Form
from hookscope.console.keymap.hints import ENTER, hints
from hookscope.console.one_line import OneLine
from hookscope.console.text import line
from hookscope.console.theme import MUTED
from hookscope.console.whatif.fields import NAMES, TITLES, Fields
from hookscope.core.text import printable

LONGEST = 4_000  # characters of a field


def shown(text: str) -> str:
    """A field's text on one line, without control characters."""
    return printable(text).replace("\n", "␊").replace("\t", "␉")


class WhatIfBar(Dialog[None]):
    """Says what is typed to `take`; `compare` and `reset` are its user's other wishes."""

    HELP = "What if the machine were another one: an empty field is as it really is. Nothing is ever written."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="whatif.leave", tooltip="Close the bar; what was taken holds"),
        Binding("f8", "reset", "All real", priority=True, id="whatif.reset", tooltip="Assume nothing"),
        Binding("f9", "compare", "Compare", priority=True, id="whatif.compare",
                tooltip="How hooks stand here and under the what-if, side by side"),
        Binding("down", "move(1)", "Next", show=False, priority=True, id="whatif.next",
                tooltip="Take what is typed; to the next field"),
        Binding("up", "move(-1)", "Previous", show=False, priority=True, id="whatif.previous",
                tooltip="Take what is typed; to the field before"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    WhatIfBar {
        align: center bottom;
        background: transparent;
        & > Vertical, &.-tall > Vertical { width: 100%; max-width: 110; padding: 0 1; }
        & Input:focus { background: $panel; }
        & #whatif-said { height: auto; max-height: 3; }
    }
    """

    def __init__(
        self,
        typed: Fields,
        real: Fields,
        known: Mapping[str, Sequence[str]],
        take: Callable[[Fields], object],
        reset: Callable[[], object],
        compare: Callable[[], object],
    ) -> None:
        """`real`: what stands muted in empty fields; `known`: what is suggested for some of them."""
        super().__init__()
        self._taken, self._real, self._known = typed, real, known
        self._take, self._reset, self._compare = take, reset, compare
        self._leaving = False

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content.assemble("What if", ("   an empty field is as it really is", MUTED))
            frame.border_subtitle = hints(
                (ENTER, "take"),
                ("whatif.reset", "all real"),
                ("whatif.compare", "compare"),
                ("whatif.leave", "back"),
            )
            yield Form({TITLES[name]: self._field(name) for name in NAMES})
            yield Static(id="whatif-said", markup=False)

    def _field(self, name: str) -> OneLine:
        return OneLine(
            shown(getattr(self._taken, name)),
            placeholder=line(getattr(self._real, name)).plain,
            suggester=SuggestFromList(self._known[name]) if name in self._known else None,
            id=f"whatif-{name}",
            compact=True,
            select_on_focus=False,
            max_length=LONGEST,
        )

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @property
    def typed(self) -> Fields:
        """The fields as they stand; one that was not touched is as it was taken, however it is shown."""
        return Fields(**{name: self._typed_in(name) for name in NAMES})

    def _typed_in(self, name: str) -> str:
        taken: str = getattr(self._taken, name)
        text = self._input(name).value
        return taken if text == shown(taken) else text.strip()

    def _input(self, name: str) -> Input:
        return self.query_one(f"#whatif-{name}", Input)

    def show(self, typed: Fields, real: Fields) -> None:
        """What holds now; a field that is being typed in is left alone."""
        for name in NAMES:
            box = self._input(name)
            box.placeholder = line(getattr(real, name)).plain
            if not box.has_focus or self._typed_in(name) in (
                getattr(self._taken, name),
                getattr(typed, name),
            ):
                box.value = shown(getattr(typed, name))
        self._taken = typed

    def say(self, text: str, *, wrong: bool = False) -> None:
        """One sentence below the fields."""
        sign = "✗ " if wrong else ""
        style = "$text-error" if wrong else MUTED
        self.query_one("#whatif-said", Static).update(line(f"{sign}{text}", 300).stylize(style))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._take_all()

    @on(Input.Blurred)
    def _blurred(self, event: Input.Blurred) -> None:
        event.stop()
        if not self._leaving and self.typed != self._taken:
            self._take_all()

    def _take_all(self) -> None:
        self._take(self.typed)

    def action_move(self, by: int) -> None:
        boxes = [self._input(name) for name in NAMES]
        at = next((at for at, box in enumerate(boxes) if box.has_focus), 0)
        boxes[(at + by) % len(boxes)].focus()

    def action_reset(self) -> None:
        self._reset()

    def action_compare(self) -> None:
        self._compare()

    def action_leave(self) -> None:
        """Close the bar; what was typed and not taken is forgotten."""
        self._leaving = True
        self.dismiss(None)
