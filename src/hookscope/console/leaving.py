"""What is taken away before it stood there, or before all was done that it had begun."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.message import Message
from textual.messages import Prune
from textual.widget import Widget

LAST = (Prune, events.Unmount, events.Callback)  # how it ends, and who waits for it


class Leaves(Widget):
    """May go at any time: a dialog that is left at once, a workspace or a console that ends as it begins.

    Textual mounts no parts in what is on its way out, and tells it that all are there. And what it wants to
    be done after the next painting is done by whatever screen is on top by then, when its parts have gone.
    """

    _bare = False  # it was on its way out before its parts could come

    @property
    def leaving(self) -> bool:
        """Is it on its way out?"""
        return self._pruning

    async def _dispatch_message(self, message: Message) -> None:
        if isinstance(message, events.Mount):
            self._bare = self.leaving
        if not self._bare or isinstance(message, LAST):
            await super()._dispatch_message(message)

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        """Do this after the next painting, if it still stands there then."""

        def called() -> Any:
            return None if self.leaving else callback(*args, **kwargs)

        return super().call_after_refresh(called)
