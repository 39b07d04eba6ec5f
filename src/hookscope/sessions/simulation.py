"""A simulated session: messages in; every event with its hooks' results out.

Needs a running event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from typing import Literal

from hookscope.engine.hook_engine import HookEngine
from hookscope.hosts.streams.session_messages import SessionFinished, WaitingForUser
from hookscope.model.run import Result
from hookscope.runtime.async_helpers import Broadcast, wait_until_done
from hookscope.sessions.session_runner import (
    NOT_TRUSTED,
    CodeCall,
    SessionEvent,
    SessionRequest,
    SessionRunner,
    SimulationStopped,
)
from hookscope.values import dataclass

SimulationEnd = Literal["waiting", "ended", "cancelled", "stopped"]


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """The result of a simulation. `events` are its events in order of publication."""

    end: SimulationEnd  # how the root agent's session ended
    session: str  # the id of its last session
    throw_effect: str  # the effect of a throwing hook, as a sentence
    events: tuple[SessionEvent, ...] = ()
    code_calls: tuple[CodeCall, ...] = ()
    failure: str | None = None  # of the last turn, or of the session
    notes: tuple[str, ...] = ()

    def stream(self, session: str = "") -> tuple[SessionEvent, ...]:
        """Return the events of one session; by default the root agent's."""
        return tuple(event for event in self.events if event.session == (session or self.session))

    @property
    def sessions(self) -> tuple[str, ...]:
        """All sessions, in order of their first event."""
        return tuple(dict.fromkeys(event.session for event in self.events))

    @property
    def untrusted(self) -> bool:
        """Whether a tool or model was refused because its agent's folder is not trusted."""
        return any(use.failure is not None and use.failure.name == NOT_TRUSTED for use in self.code_calls)

    @property
    def failed(self) -> tuple[tuple[SessionEvent, Result], ...]:
        """Every handler that failed, with its event."""
        return tuple((event, result) for event in self.events for result in event.run.failed)


class Simulation:
    """A running simulation: iterate it for events, await it for the SimulationResult, or cancel it.

    Create it inside a running loop; it starts at once. Cancelling an awaiter cancels it, and the
    awaiter returns when nothing of it runs any more. The engine keeps its executors.
    """

    def __init__(self, engine: HookEngine, request: SessionRequest) -> None:
        """`engine` has its hooks registered.

        Raises Refusal if its host has no sessions; OSError.
        """
        self._events: Broadcast[SessionEvent] = Broadcast()
        self._runner = SessionRunner(engine, request, self._events.publish)
        self._task = asyncio.get_running_loop().create_task(self._play())
        self._task.add_done_callback(lambda _: self._events.close())

    def cancel(self) -> None:
        """Stop the running handler and the simulation. The events so far are still the result."""
        if self._runner.firing is not None:
            self._runner.firing.cancel()
        else:
            self._task.cancel()

    def __await__(self) -> Generator[object, None, SimulationResult]:
        return self._awaited().__await__()

    async def _awaited(self) -> SimulationResult:
        await wait_until_done(self._task, self.cancel)
        if self._task.cancelled():  # before its first step
            return self._result("cancelled", None)
        return self._task.result()

    def __aiter__(self) -> AsyncIterator[SessionEvent]:
        """Iterate all events from the beginning. Leaving the loop cancels nothing."""
        return aiter(self._events)

    async def _play(self) -> SimulationResult:
        try:
            command = await self._runner.play()
        except asyncio.CancelledError:
            return self._result("cancelled", None)
        except SimulationStopped as why:
            self._runner.notes += why.args
            return self._result("stopped" if why.args else "cancelled", None)
        assert isinstance(command, WaitingForUser | SessionFinished)
        return self._result("ended" if isinstance(command, SessionFinished) else "waiting", command.failure)

    def _result(self, end: SimulationEnd, failure: str | None) -> SimulationResult:
        runner = self._runner
        return SimulationResult(
            end,
            runner.session.id if runner.session is not None else "",
            runner.rules.summary,
            tuple(self._events.items),
            tuple(runner.code_calls),
            failure,
            tuple(runner.notes),
        )
