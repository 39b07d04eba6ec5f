"""What stands over the panes until it is answered: a frame that names its keys, and the line of them all."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import events, on
from textual.await_complete import AwaitComplete
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget

from hookscope.console.keymap.hints import keys_named
from hookscope.console.keys import KeyBar, key_for, keys_here
from hookscope.console.painting import LaidOutOnce
from hookscope.console.shining import ShinesThrough

Answer = TypeVar("Answer")
HELP = "app.help"
TALL = 30  # lines of a screen that has some to spare


class Over(ModalScreen[Answer], LaidOutOnce[Answer], ShinesThrough[Answer]):
    """Over the panes. Their keys do nothing meanwhile: the line at the bottom has those of this.

    Each key is named once: those that stand in the frame, or on a button, are left out of that line.
    """

    HAS_HELP: ClassVar[bool] = True  # is there more to be told of its keys
    ON_BUTTONS: ClassVar[frozenset[str]] = frozenset()  # keys that buttons name
    DEFAULT_CSS = """
    Over {
        align: center middle;
        & > Vertical, & > VerticalScroll {
            width: 90%; height: auto;
            border: round $border; border-title-color: $foreground; border-title-style: none;
            border-subtitle-color: $text-muted; border-subtitle-align: left;
            background: $background; padding: 0 2;
        }
        &.-tall > Vertical, &.-tall > VerticalScroll { padding: 1 2; }
    }
    """

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """For the first time: when its parts have asked for what they need, and not once before that too."""
        if size is not None and not self._compositor.size:
            self.refresh(layout=True)
        else:
            super()._refresh_layout(size or self.outer_size or self.app.size, scroll)

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
        self.set_class(self.app.size.height >= TALL, "-tall")  # before there is anything to be styled
        widgets.append(
            KeyBar(id="keybar")
        )  # with the rest: one that came later would have all laid out again

    @on(events.Mount)
    def _name_keys(self) -> None:
        self.show_keys()
        self.bindings_updated_signal.subscribe(self, lambda _: self.show_keys())

    @on(events.Resize)
    def _make_room(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= TALL, "-tall")

    def show_keys(self) -> None:
        """The line at the bottom: the keys that act now and stand nowhere else."""
        told = {key for part in self.children for key in keys_named(part._border_subtitle)}
        told |= {one.key for action in self.ON_BUTTONS for one in key_for(action)}
        left = (one for one in keys_here(self) if one.key not in told)
        self.query_one(KeyBar).keys = (*left, *(key_for(HELP, last=True) if self.HAS_HELP else ()))


class Dialog(Over[Answer]):
    """One frame in the middle; whoever needs more or less room says only that."""
