"""Asks for one line of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from hookscope.console.dialog import Dialog
from hookscope.console.keymap.hints import ENTER, hints
from hookscope.console.text import plain


class Question(Dialog[str | None]):
    """One line, asked for over whatever is on the screen; None where nothing is answered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="question.cancel", tooltip="Answer nothing"),
    ]
    DEFAULT_CSS = """
    Question {
        & > Vertical { width: 60; max-width: 90%; }
        & Input { background: transparent; }
        & Static { color: $text-muted; height: auto; }
    }
    """

    def __init__(
        self,
        asked: str,
        note: str,
        *,
        enter: str,
        why_not: Callable[[str], str],
        proposed: str = "",
        secret: bool = False,
    ) -> None:
        """`enter` says what the key does; `why_not` why an answer will not do, empty where it will.

        `secret`: each of its characters is shown as a dot.
        """
        super().__init__()
        self._asked, self._note, self._enter = asked, note, enter
        self._why_not, self._proposed, self._secret = why_not, proposed, secret

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = plain(self._asked, 50)
            frame.border_subtitle = hints((ENTER, self._enter), ("question.cancel", "back"))
            yield Input(self._proposed, password=self._secret, compact=True, select_on_focus=True)
            yield Static(plain(self._note, 200), markup=False)

    @on(Input.Submitted)
    def _answered(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self._why_not(event.value)
        if problem:
            self.app.notify(problem, severity="warning", markup=False)
        else:
            self.dismiss(event.value)

    def action_cancel(self) -> None:
        self.dismiss(None)
