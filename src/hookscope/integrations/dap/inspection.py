"""Stack frames, scopes and variables of a stopped handler, as an editor requests them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from hookscope.integrations.dap.framing import DapMessage
from hookscope.model.refusal import Refusal
from hookscope.runtime.debugger import Debugger, Stop
from hookscope.values import dataclass

NOT_STOPPED = "No handler stands there any more."


@dataclass(frozen=True, slots=True)
class InspectedValue:
    """A frame of one stop, or something in its variables."""

    stop: int
    frame: int  # from the outermost
    path: tuple[int, ...] = ()


class StopInspector:
    """Of one debugger. Numbers stand for frames and variables as long as the handler stands there."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._turn = asyncio.Lock()  # one word at a time: its answer is the stop, told again
        self._spots: dict[int, InspectedValue] = {}
        self._numbers = 0
        self.number = 0  # of the stop that the editor knows of; 0: none stands
        self.over = asyncio.Event()  # the run has ended: nothing answers any more

    def show(self, stop: Stop) -> None:
        """Another one is seen from here on."""
        self._spots.clear()
        self.number = stop.number

    def number_of(self, frame: int, path: tuple[int, ...] = ()) -> int:
        """The one that stands for it."""
        self._numbers += 1
        self._spots[self._numbers] = InspectedValue(self.number, frame, path)
        return self._numbers

    def spot(self, number: object) -> InspectedValue:
        """What it stands for. Raises Refusal."""
        found = self._spots.get(number) if isinstance(number, int) else None
        if found is None or found.stop != self.number or self.over.is_set():
            raise Refusal(NOT_STOPPED)
        return found

    async def present(self) -> Stop:
        """Where it stands. Raises Refusal."""
        async with self._turn:
            return self._here()

    async def members(self, spot: InspectedValue) -> list[DapMessage]:
        """The protocol's variables of what a number stands for. Raises Refusal."""
        async with self._turn:
            await self._turned(spot.frame)
            stop = await self._answer(lambda: self._debugger.look_into(spot.path))
            return [
                {
                    "name": member.name,
                    "value": member.text,
                    "variablesReference": self.number_of(spot.frame, (*spot.path, number))
                    if member.holds
                    else 0,
                }
                for number, member in enumerate(stop.members or ())
            ]

    async def evaluated(self, text: str, frame: int | None) -> Stop:
        """With the answer in `said`. In the innermost frame where none is named. Raises Refusal."""
        async with self._turn:
            await self._turned(len(self._here().frames) - 1 if frame is None else frame)
            return await self._answer(lambda: self._debugger.evaluate(text))

    async def go(self, word: Callable[[], Awaitable[None]]) -> None:
        """Let it go on. Raises Refusal where nothing stands."""
        async with self._turn:
            self._here()
            self.number = 0
            await word()

    async def _turned(self, frame: int) -> None:
        if self._here().at != frame:
            await self._answer(lambda: self._debugger.turn_to(frame))

    def _here(self) -> Stop:
        stop = self._debugger.stop
        if stop is None or stop.number != self.number:
            raise Refusal(NOT_STOPPED)
        return stop

    async def _answer(self, word: Callable[[], Awaitable[None]]) -> Stop:
        """The stop as it is told again. Raises Refusal where its worker ends meanwhile."""
        known = self.number
        try:
            await word()
        except ValueError as error:
            raise Refusal(f"{str(error).capitalize()}.") from None
        told = asyncio.ensure_future(self._debugger.stopped())
        over = asyncio.ensure_future(self.over.wait())
        try:
            await asyncio.wait({told, over}, return_when=asyncio.FIRST_COMPLETED)
            if not told.done() or told.result().number != known:
                raise Refusal("The process of this handler has ended.")
            return told.result()
        finally:
            for waiting in (told, over):
                waiting.cancel()
                with suppress(asyncio.CancelledError):
                    await waiting
