"""Keys in the order they are typed: each goes to where the ones before it have led.

A key travels from what has the focus up to the app, and what it asks for on from there: a field that opens, a
dialog, another mode. Whoever types fast, or pastes, is ahead of all that; so each key waits for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from textual.app import ScreenStackError
from textual.events import Key, Paste
from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from hookscope.console.app import Console

PATIENCE = 2.0  # seconds that a key waits at most for what the one before it has begun
AWAY = 0.005  # seconds between two looks for what a thread is about to answer

Press: TypeAlias = Key | Paste


class Typed:
    """Lets one key through; holds those behind it until all that it has led to is there."""

    def __init__(self, app: Console) -> None:
        self._app = app
        self._held: deque[Press] = deque()
        self._let_through: Press | None = None
        self._following: asyncio.Task[None] | None = None

    def holds(self, press: Press) -> bool:
        """Is it not its turn yet; then it comes again when it is."""
        if press is self._let_through:
            self._let_through = None
            return False
        if self._following is None and self._is_settled():
            self._following = asyncio.create_task(self._follow())
            return False
        self._held.append(press)
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
        return True

    async def _follow(self) -> None:
        """Let the held keys through one by one; end when none is left."""
        try:
            await self._over()
            while self._held:
                self._let_through = self._held.popleft()
                self._app.post_message(self._let_through)
                await self._over()
        finally:
            self._following = None

    async def _over(self) -> None:
        """All that the last key has led to is over. Not for long: what hangs holds no key forever."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while True:
                    while not self._is_settled():  # noqa: ASYNC110  (no queue tells when it is empty)
                        await asyncio.sleep(0 if self._app.is_settled else AWAY)
                    before = self._where()
                    # Down to what has the focus, and up again; and once more, for what was posted on the way.
                    for pump in (self._app, *self._way(), *self._way()):
                        await _passed(pump)
                    if before == self._where() and self._is_settled():
                        return

    def _where(self) -> tuple[object, ...]:
        """Where a key would go now."""
        with suppress(ScreenStackError):
            return self._app.screen, self._app.screen.focused
        return ()

    def _is_settled(self) -> bool:
        """Is nothing on its way that would change that."""
        return self._app.is_settled and not any(pump.message_queue_size for pump in self._way())

    def _way(self) -> Iterator[MessagePump]:
        """The way that a key goes: from what has the focus up to the app."""
        with suppress(ScreenStackError):
            screen = self._app.screen
            yield from (screen.focused or screen).ancestors_with_self


async def _passed(pump: MessagePump) -> None:
    """Whatever waited there is done."""
    done = asyncio.Event()
    if pump.is_running and pump.call_later(done.set):
        await done.wait()
