"""What happens, for whoever listens: from the beginning, whenever one comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Broadcast(Generic[T]):
    """What was told so far. Each listener hears all of it, and leaving disturbs nobody."""

    def __init__(self) -> None:
        self.told: list[T] = []
        self._news: asyncio.Event | None = None  # where somebody waits: most runs are awaited, not watched
        self._over = False

    def tell(self, item: T) -> None:
        """Tell it to all who listen, and to all who come later."""
        self.told.append(item)
        self.stir()

    def stir(self) -> None:
        """Let those who wait in `news` look again."""
        if self._news is not None:
            self._news.set()
            self._news = None

    def end(self) -> None:
        """Nothing more is told: listeners leave when they have heard what there is."""
        self._over = True
        self.stir()

    async def news(self) -> None:
        """Wait for the next that is told, for a stir or for the end; not at all behind the end."""
        if self._over:
            return
        if self._news is None:
            self._news = asyncio.Event()
        await self._news.wait()

    async def __aiter__(self) -> AsyncIterator[T]:
        seen = 0
        while True:
            while seen < len(self.told):  # more may come while a listener is busy
                yield self.told[seen]
                seen += 1
            if self._over:
                return
            await self.news()
