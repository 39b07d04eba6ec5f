"""The field of a filter: what was cleared in it comes back."""

from __future__ import annotations

from typing import ClassVar

from hookscope.console.keymap.hints import with_keys
from hookscope.console.marks import word
from hookscope.console.one_line import OneLine


class Narrowing(OneLine):
    """Keeps what stood in it when it was cleared, for whoever wants it again."""

    AGAIN: ClassVar[str]  # the action that brings it back
    _cleared = ""

    def watch_value(self, before: str, after: str) -> None:
        if not after and len(before) > 1:  # of letters that are taken away one by one, the last is no filter
            self._cleared = before
            self.placeholder = with_keys(f"{{{self.AGAIN}}} ") + word(before, 60)

    def action_again(self) -> None:
        """Put the last filter back, where none stands."""
        if not self.value and self._cleared:
            self.value = self._cleared
            self.cursor_position = len(self.value)
