"""Jump mode: labels on all places that the focus can go to, until the user types one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, TypeAlias

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from hookscope.console.dialogs.base_dialogs import Overlay
from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.widgets.focus_targets import JumpTarget

JUMP_LETTERS = "asdfghjklqwertyuiopzxcvbnm"  # home row first


def jump_letters(count: int) -> tuple[str, ...]:
    """Return `count` labels of one letter, or two where needed. No label is a prefix of another."""
    letters = len(JUMP_LETTERS)
    pairs = 0  # first letters of two-letter labels
    while letters - pairs + pairs * letters < count and pairs < letters:
        pairs += 1
    first = list(JUMP_LETTERS[: letters - pairs])
    second = [head + tail for head in JUMP_LETTERS[letters - pairs :] for tail in JUMP_LETTERS]
    return (*first, *second)[:count]


JumpAction: TypeAlias = Callable[[], object]
LabeledTarget: TypeAlias = tuple[str, JumpTarget]


class JumpLabels(Widget):
    """Labels below one another, as one widget for a list of rows."""

    DEFAULT_CSS = """
    JumpLabels {
        position: absolute;
        background: transparent;
        color: $warning;
        text-style: bold reverse;
    }
    """

    def __init__(self, labelled: Sequence[LabeledTarget]) -> None:
        super().__init__()
        self._labels = [label for label, _ in labelled]
        self._typed = ""
        self.styles.offset = labelled[0][1].at
        self.styles.width = len(self._labels[0])
        self.styles.height = len(labelled)

    def narrow(self, typed: str) -> None:
        """Show only labels that start with the typed letters."""
        self._typed = typed
        self.refresh()

    def render(self) -> Content:
        shown = (label if label.startswith(self._typed) else " " * len(label) for label in self._labels)
        return Content("\n").join(
            Content(label) if label.strip() else Content.styled(label, "not reverse") for label in shown
        )


class JumpScreen(Overlay[JumpAction | None]):
    """Labels over the whole screen. Answers with the jump to the chosen place."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+o", "dismiss(None)", "Back", id="jump.leave", tooltip="Stay here")
    ]
    DEFAULT_CSS = "JumpScreen { align: left top; background: $background 40%; }"

    def __init__(self, spots: Sequence[JumpTarget]) -> None:
        super().__init__()
        self._labelled = list(zip(jump_letters(len(spots)), spots, strict=False))
        self._typed = ""

    def compose(self) -> ComposeResult:
        for strip in label_columns(self._labelled):
            yield JumpLabels(strip)

    def on_key(self, event: events.Key) -> None:
        if event.key in self.active_bindings:
            return
        event.stop()
        typed = self._typed + (event.character or "").lower()
        candidates = {label: target for label, target in self._labelled if label.startswith(typed)}
        if typed in candidates:
            self.dismiss(candidates[typed].go)
        elif candidates and event.character:
            self._typed = typed
            for labels in self.query(JumpLabels):
                labels.narrow(typed)
        else:
            message = with_keys("No label matches; {jump.leave} cancels.")
            self.app.notify(message, severity="warning", markup=False)

    def on_click(self) -> None:
        self.dismiss(None)


def label_columns(labelled: Sequence[LabeledTarget]) -> Iterator[list[LabeledTarget]]:
    """Yield groups of labels of equal length that are directly below one another."""
    strip: list[LabeledTarget] = []
    for label, target in labelled:
        if strip:
            above, (x, y) = strip[-1][0], strip[-1][1].at
            if len(above) != len(label) or target.at != (x, y + 1):
                yield strip
                strip = []
        strip.append((label, target))
    if strip:
        yield strip
