"""A simulated session: messages in, every event out with what its hooks did. Needs a running event loop."""

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
    """A play that is over. `scenes` stand in the order in which their events were published."""

    rest: SimulationEnd  # how the root agent's session came to rest
    session: str  # its id; of the last one, where a message has begun another
    rule: str  # what a hook's throw comes to, as a sentence
    scenes: tuple[SessionEvent, ...] = ()
    uses: tuple[CodeCall, ...] = ()
    failure: str | None = None  # of the last turn, or of the session
    notes: tuple[str, ...] = ()

    def stream(self, session: str = "") -> tuple[SessionEvent, ...]:
        """The events of one session; of the root agent's where none is named."""
        return tuple(scene for scene in self.scenes if scene.session == (session or self.session))

    @property
    def sessions(self) -> tuple[str, ...]:
        """All sessions, in order of their first event."""
        return tuple(dict.fromkeys(scene.session for scene in self.scenes))

    @property
    def untrusted(self) -> bool:
        """Was a tool or model refused because its agent's folder is not trusted."""
        return any(use.failure is not None and use.failure.name == NOT_TRUSTED for use in self.uses)

    @property
    def failed(self) -> tuple[tuple[SessionEvent, Result], ...]:
        """Every handler that failed, with its event."""
        return tuple((scene, result) for scene in self.scenes for result in scene.run.failed)


class Simulation:
    """A play on its way: iterate it for scenes, await it for the Played, or cancel it.

    Make it inside a running loop; it starts by itself. An awaiter that is cancelled cancels it, and leaves
    when it has ended: then nothing of it runs any more. The lanes stay the engine's.
    """

    def __init__(self, engine: HookEngine, wanted: SessionRequest) -> None:
        """`engine` has its hooks registered. Raises Refusal where its host has no sessions; OSError."""
        self._scenes: Broadcast[SessionEvent] = Broadcast()
        self._stage = SessionRunner(engine, wanted, self._scenes.tell)
        self._task = asyncio.get_running_loop().create_task(self._play())
        self._task.add_done_callback(lambda _: self._scenes.end())

    def cancel(self) -> None:
        """Stop the running handler and play no further. What was played is still the answer."""
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
        """All scenes from the beginning. Leaving the loop cancels nothing."""
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
