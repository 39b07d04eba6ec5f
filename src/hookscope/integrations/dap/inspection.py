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
    """A frame of one stop, or a value in its variables."""

    stop: int
    frame: int  # from the outermost
    path: tuple[int, ...] = ()


class StopInspector:
    """Answers requests about the current stop of one debugger.

    Frames and values have reference numbers, which are valid while the handler is stopped.
    """

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._turn = asyncio.Lock()  # one command at a time: its answer is an update of the stop
        self._spots: dict[int, InspectedValue] = {}
        self._numbers = 0
        self.number = 0  # the stop that the editor knows; 0: none
        self.over = asyncio.Event()  # set when the run has ended; nothing answers then

    def show(self, stop: Stop) -> None:
        """Make `stop` the current stop; earlier references become invalid."""
        self._spots.clear()
        self.number = stop.number

    def number_of(self, frame: int, path: tuple[int, ...] = ()) -> int:
        """Return a new reference number for a frame, or for a value in it."""
        self._numbers += 1
        self._spots[self._numbers] = InspectedValue(self.number, frame, path)
        return self._numbers

    def spot(self, number: object) -> InspectedValue:
        """Return the frame or value of a reference number. Raises Refusal if it is not valid."""
        found = self._spots.get(number) if isinstance(number, int) else None
        if found is None or found.stop != self.number or self.over.is_set():
            raise Refusal(NOT_STOPPED)
        return found

    async def present(self) -> Stop:
        """Return the current stop. Raises Refusal if no handler is stopped."""
        async with self._turn:
            return self._here()

    async def members(self, spot: InspectedValue) -> list[DapMessage]:
        """Return the members of a value as the protocol's variables. Raises Refusal."""
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
        """Evaluate an expression; the result is in `said` of the returned stop.

        Without a frame it is evaluated in the innermost one. Raises Refusal.
        """
        async with self._turn:
            await self._turned(len(self._here().frames) - 1 if frame is None else frame)
            return await self._answer(lambda: self._debugger.evaluate(text))

    async def go(self, word: Callable[[], Awaitable[None]]) -> None:
        """Let the handler continue with `command`. Raises Refusal if no handler is stopped."""
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
        """Run a debugger command and return the updated stop.

        Raises Refusal if the command is invalid or the worker ends meanwhile.
        """
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
