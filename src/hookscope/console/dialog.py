"""What stands over the panes until it is answered: a frame that names its keys, and the line of them all."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import events, on
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen
from textual.widget import Widget

from hookscope.console.keys import KeyBar, key_for, keys_here
from hookscope.console.painting import LaidOutOnce, ShinesThrough

Answer = TypeVar("Answer")
HELP = "app.help"


class Over(ModalScreen[Answer], LaidOutOnce[Answer], ShinesThrough[Answer]):
    """Over the panes. Their keys do nothing meanwhile, so the line at the bottom has those of this."""

    HAS_HELP: ClassVar[bool] = True  # is there more to be told of its keys

    @property
    def leaving(self) -> bool:
        return super().leaving or self not in self.app.screen_stack

    @property
    def stands(self) -> bool:
        """Is it there to be written in? An answer may come when its user has long left; it is for nobody."""
        return self.is_mounted and self.is_attached and not self.leaving

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Leave, once. Textual takes away whatever is on top, however often it is told: a second click on the
        same answer took the screen below, and one that came behind a wish for help took the help."""
        stack = self.app.screen_stack
        if self not in stack:
            return AwaitComplete()
        for above in reversed(stack[stack.index(self) + 1 :]):
            above.dismiss(None)
        return super().dismiss(result)

    def _extend_compose(self, widgets: list[Widget]) -> None:
        super()._extend_compose(widgets)
        widgets.append(
            KeyBar(id="keybar")
        )  # with the rest: one that came later would have all laid out again

    @on(events.Mount)
    def _name_keys(self) -> None:
        bar = self.query_one(KeyBar)

        def show(_: object = None) -> None:
            bar.keys = (*keys_here(self), *(key_for(HELP, last=True) if self.HAS_HELP else ()))

        show()
        self.bindings_updated_signal.subscribe(self, show)


class Dialog(Over[Answer]):
    """One frame in the middle; whoever needs more or less room says only that."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > Vertical {
            width: 90%; height: auto;
            border: round $border; border-title-color: $foreground; border-title-style: none;
            border-subtitle-color: $text-muted; background: $surface; padding: 0 1;
        }
    }
    """
