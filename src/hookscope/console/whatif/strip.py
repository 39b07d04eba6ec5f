"""The line below the header that says what is assumed. It is there as long as anything is."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from hookscope.console.keymap.hints import key_of
from hookscope.console.messages import WhatIfAsked
from hookscope.console.text import line

SIGN = "≈ what if: "


def strip_line(words: Sequence[str], width: int) -> Content:
    """Sign, what is assumed, and the two keys; what does not fit is cut."""
    change, real = key_of("console.what_if"), key_of("console.all_real")
    keys = f"  {change} change  {real} all real " if width >= 100 else f"  {change}  {real} real "
    room = max(width - len(keys), 0)
    told = Content.assemble((f" {SIGN}", "bold"), line(", ".join(words), 400))
    return Content.assemble(told.truncate(room, ellipsis=True, pad=True), keys)


class WhatIfStrip(Static):
    """Not shown where all is real; a click opens the bar."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    WhatIfStrip {
        height: 1; width: 1fr; display: none;
        color: $text-warning; background: $warning 18%; text-wrap: nowrap;
        &:ansi { background: ansi_default; text-style: reverse; }
    }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.words: tuple[str, ...] = ()

    def show(self, words: tuple[str, ...]) -> None:
        """What is assumed now; nothing hides the line."""
        self.words = words
        self.display = bool(words)
        self._lay_out()

    def name_keys(self) -> None:
        """Write the keys in force."""
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def on_click(self) -> None:
        self.post_message(WhatIfAsked())

    def _lay_out(self) -> None:
        if self.words:
            self.update(strip_line(self.words, self.size.width or self.app.size.width))
