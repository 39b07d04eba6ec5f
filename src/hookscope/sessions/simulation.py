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

__all__ = ["CodeCall", "SessionEvent", "SessionRequest", "Simulation", "SimulationResult"]

SimulationEnd = Literal["waiting", "ended", "cancelled", "stopped"]


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """The result of a simulation. `events` are its events in order of publication."""

    rest: SimulationEnd  # how the root agent's session ended
    session: str  # the id of its last session
    rule: str  # the effect of a throwing hook, as a sentence
    scenes: tuple[SessionEvent, ...] = ()
    uses: tuple[CodeCall, ...] = ()
    failure: str | None = None  # of the last turn, or of the session
    notes: tuple[str, ...] = ()

    def stream(self, session: str = "") -> tuple[SessionEvent, ...]:
        """Return the events of one session; by default the root agent's."""
        return tuple(scene for scene in self.scenes if scene.session == (session or self.session))

    @property
    def sessions(self) -> tuple[str, ...]:
        """All sessions, in order of their first event."""
        return tuple(dict.fromkeys(scene.session for scene in self.scenes))

    @property
    def untrusted(self) -> bool:
        """Whether a tool or model was refused because its agent's folder is not trusted."""
        return any(use.failure is not None and use.failure.name == NOT_TRUSTED for use in self.uses)

    @property
    def failed(self) -> tuple[tuple[SessionEvent, Result], ...]:
        """Every handler that failed, with its event."""
        return tuple((scene, result) for scene in self.scenes for result in scene.run.failed)


class Simulation:
    """A running simulation: iterate it for events, await it for the SimulationResult, or cancel it.

    Create it inside a running loop; it starts at once. Cancelling an awaiter cancels it, and the
    awaiter returns when nothing of it runs any more. The engine keeps its executors.
    """

    def __init__(self, engine: HookEngine, wanted: SessionRequest) -> None:
        """`engine` has its hooks registered.

        Raises Refusal if its host has no sessions; OSError.
        """
        self._scenes: Broadcast[SessionEvent] = Broadcast()
        self._stage = SessionRunner(engine, wanted, self._scenes.tell)
        self._task = asyncio.get_running_loop().create_task(self._play())
        self._task.add_done_callback(lambda _: self._scenes.end())

    def cancel(self) -> None:
        """Stop the running handler and the simulation. The events so far are still the result."""
        if self._stage.firing is not None:
            self._stage.firing.cancel()
        else:
            self._task.cancel()

    def __await__(self) -> Generator[object, None, SimulationResult]:
        return self._awaited().__await__()

    async def _awaited(self) -> SimulationResult:
        await wait_until_done(self._task, self.cancel)
        if self._task.cancelled():  # before its first step
            return self._ended("cancelled", None)
        return self._task.result()

    def __aiter__(self) -> AsyncIterator[SessionEvent]:
        """Iterate all events from the beginning. Leaving the loop cancels nothing."""
        return aiter(self._scenes)

    async def _play(self) -> SimulationResult:
        try:
            command = await self._stage.play()
        except asyncio.CancelledError:
            return self._ended("cancelled", None)
        except SimulationStopped as why:
            self._stage.notes += why.args
            return self._ended("stopped" if why.args else "cancelled", None)
        assert isinstance(command, WaitingForUser | SessionFinished)
        return self._ended("ended" if isinstance(command, SessionFinished) else "waiting", command.failure)

    def _ended(self, rest: SimulationEnd, failure: str | None) -> SimulationResult:
        stage = self._stage
        return SimulationResult(
            rest,
            stage.session.id if stage.session is not None else "",
            stage.rules.sentence,
            tuple(self._scenes.told),
            tuple(stage.uses),
            failure,
            tuple(stage.notes),
        )
