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
        self._lock = asyncio.Lock()  # one command at a time: its answer is an update of the stop
        self._values: dict[int, InspectedValue] = {}
        self._last_reference = 0
        self.stop_number = 0  # the stop that the editor knows; 0: none
        self.run_ended = asyncio.Event()  # set when the run has ended; nothing answers then

    def set_stop(self, stop: Stop) -> None:
        """Make `stop` the current stop; earlier references become invalid."""
        self._values.clear()
        self.stop_number = stop.number

    def reference_for(self, frame: int, path: tuple[int, ...] = ()) -> int:
        """Return a new reference number for a frame, or for a value in it."""
        self._last_reference += 1
        self._values[self._last_reference] = InspectedValue(self.stop_number, frame, path)
        return self._last_reference

    def value_of(self, reference: object) -> InspectedValue:
        """Return the frame or value of a reference number. Raises Refusal if it is not valid."""
        value = self._values.get(reference) if isinstance(reference, int) else None
        if value is None or value.stop != self.stop_number or self.run_ended.is_set():
            raise Refusal(NOT_STOPPED)
        return value

    async def current_stop(self) -> Stop:
        """Return the current stop. Raises Refusal if no handler is stopped."""
        async with self._lock:
            return self._require_stop()

    async def variables(self, value: InspectedValue) -> list[DapMessage]:
        """Return the members of a value as the protocol's variables. Raises Refusal."""
        async with self._lock:
            await self._select_frame(value.frame)
            stop = await self._updated_stop(lambda: self._debugger.show_members(value.path))
            return [
                {
                    "name": member.name,
                    "value": member.text,
                    "variablesReference": self.reference_for(value.frame, (*value.path, number))
                    if member.holds
                    else 0,
                }
                for number, member in enumerate(stop.members or ())
            ]

    async def evaluate(self, expression: str, frame: int | None) -> Stop:
        """Evaluate an expression; the result is in `said` of the returned stop.

        Without a frame it is evaluated in the innermost one. Raises Refusal.
        """
        async with self._lock:
            await self._select_frame(len(self._require_stop().frames) - 1 if frame is None else frame)
            return await self._updated_stop(lambda: self._debugger.evaluate(expression))

    async def resume(self, command: Callable[[], Awaitable[None]]) -> None:
        """Let the handler continue with `command`. Raises Refusal if no handler is stopped."""
        async with self._lock:
            self._require_stop()
            self.stop_number = 0
            await command()

    async def _select_frame(self, frame: int) -> None:
        if self._require_stop().at != frame:
            await self._updated_stop(lambda: self._debugger.select_frame(frame))

    def _require_stop(self) -> Stop:
        stop = self._debugger.stop
        if stop is None or stop.number != self.stop_number:
            raise Refusal(NOT_STOPPED)
        return stop

    async def _updated_stop(self, command: Callable[[], Awaitable[None]]) -> Stop:
        """Run a debugger command and return the updated stop.

        Raises Refusal if the command is invalid or the worker ends meanwhile.
        """
        expected = self.stop_number
        try:
            await command()
        except ValueError as error:
            raise Refusal(f"{str(error).capitalize()}.") from None
        updated = asyncio.ensure_future(self._debugger.stopped())
        ended = asyncio.ensure_future(self.run_ended.wait())
        try:
            await asyncio.wait({updated, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not updated.done() or updated.result().number != expected:
                raise Refusal("The process of this handler has ended.")
            return updated.result()
        finally:
            for waiting in (updated, ended):
                waiting.cancel()
                with suppress(asyncio.CancelledError):
                    await waiting
