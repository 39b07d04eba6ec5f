"""The two sheets beside the list: why, and what the registry holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hookscope.console.keymap.hints import hints
from hookscope.console.painting import framed, repainted, resized
from hookscope.console.reading import BESIDE, ByLine, Reading


class SheetPane(ScrollView, ByLine, Reading):
    """A sheet that is laid out anew for every width. Stays where it was while its subject is the same.

    It draws the lines that are seen, and nobody measures it: for another hook no screen is laid out anew.
    """

    HINTS: ClassVar[tuple[tuple[str, str], ...]] = ()  # what stands in its frame

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._make: Callable[[int], Content] | None = None
        self._subject = ""

    def on_mount(self) -> None:
        self.name_keys()

    def name_keys(self) -> None:
        """Write the keys in force into the frame."""
        if self.HINTS:
            self.border_subtitle = self.keys_named()

    def keys_named(self) -> Content:
        """What stands in the frame: the keys that act now."""
        return hints(*self.HINTS)

    def show(self, subject: str, title: Content, make: Callable[[int], Content]) -> None:
        """Show what `make` gives for the width that there is."""
        framed(self, title, self._border_subtitle or Content())
        if subject != self._subject:
            self._subject = subject
            self.scroll_home(animate=False)
        self._make = make
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width - BESIDE
        if self._make is not None and width > 0:
            others = self.say_lines(self._make(width).split("\n", allow_blank=True))
            resized(self, Size(width, len(self._said)))
            repainted(self, (number - round(self.scroll_y) for number in others))

    def render_line(self, y: int) -> Strip:
        return self.strip_of(y + round(self.scroll_y), self.scrollable_content_region.width)


class WhyPane(SheetPane):
    """Why the selected hook stands as it does."""

    HINTS = (("hooks.fix", "fix"), ("hooks.edit", "edit"), ("hooks.copy", "copy"), ("hooks.keys", "registry"))
    HELP = (
        "Every check between the hook's folder and a handler that runs. What stops it comes first: what it "
        "needs, what was found, the host's own words, and what to do next."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "fold", "All checks", id="why.fold", tooltip="List the checks that pass, or fold them"
        ),
    ]

    class FoldAsked(Message):
        """List the checks that pass, or fold them."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._fixes = True

    def offer_fix(self, fixes: bool) -> None:
        """Is there anything to fix."""
        if fixes != self._fixes:
            self._fixes = fixes
            framed(self, self._border_title or Content(), self.keys_named())

    def keys_named(self) -> Content:
        return hints(*(hint for hint in self.HINTS if self._fixes or hint[1] != "fix"))

    def action_fold(self) -> None:
        self.post_message(self.FoldAsked())


class KeysPane(SheetPane):
    """What the registry holds per event key."""

    HINTS = (("console.back", "back"), ("hooks.fire", "fire"))
    HELP = "For every event: who is called, in which order, and whether messages reach the user."
