"""A whole session played by hand: messages in, and every event with what its hooks did."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from typing import Literal

from hookscope.core.runs import Result
from hookscope.engine import HookEngine
from hookscope.runtime.broadcast import Broadcast
from hookscope.runtime.waiting import until_over
from hookscope.systems.streams.session_words import Ended, Waiting
from hookscope.values import dataclass
from hookscope.workbench.own_code import NOT_TRUSTED
from hookscope.workbench.stage import Scene, Stage, Stopped, Use, Wanted

__all__ = ["Played", "Playing", "Scene", "Use", "Wanted"]

Rest = Literal["waiting", "ended", "cancelled", "stopped"]


@dataclass(frozen=True, slots=True)
class Played:
    """A play that is over. `scenes` stand in the order in which their events were published."""

    rest: Rest  # how the root agent's session came to rest
    session: str  # its id; of the last one, where a message has begun another
    rule: str  # what a hook's throw comes to, as a sentence
    scenes: tuple[Scene, ...] = ()
    uses: tuple[Use, ...] = ()
    failure: str | None = None  # of the last turn, or of the session
    notes: tuple[str, ...] = ()

    def stream(self, session: str = "") -> tuple[Scene, ...]:
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
    def failed(self) -> tuple[tuple[Scene, Result], ...]:
        """Every handler that failed, with its event."""
        return tuple((scene, result) for scene in self.scenes for result in scene.run.failed)


class Playing:
    """A play on its way: iterate it for scenes, await it for the Played, or cancel it.

    Make it inside a running loop; it starts by itself. An awaiter that is cancelled cancels it, and leaves
    when it has ended: then nothing of it runs any more. The lanes stay the engine's.
    """

    def __init__(self, engine: HookEngine, wanted: Wanted) -> None:
        """`engine` has its hooks registered. Raises Refusal where its host has no sessions; OSError."""
        self._scenes: Broadcast[Scene] = Broadcast()
        self._stage = Stage(engine, wanted, self._scenes.tell)
        self._task = asyncio.get_running_loop().create_task(self._play())
        self._task.add_done_callback(lambda _: self._scenes.end())

    def cancel(self) -> None:
        """Stop the running handler and play no further. What was played is still the answer."""
        if self._stage.firing is not None:
            self._stage.firing.cancel()
        else:
            self._task.cancel()

    def __await__(self) -> Generator[object, None, Played]:
        return self._awaited().__await__()

    async def _awaited(self) -> Played:
        await until_over(self._task, self.cancel)
        if self._task.cancelled():  # before its first step
            return self._ended("cancelled", None)
        return self._task.result()

    def __aiter__(self) -> AsyncIterator[Scene]:
        """All scenes from the beginning. Leaving the loop cancels nothing."""
        return aiter(self._scenes)

    async def _play(self) -> Played:
        try:
            command = await self._stage.play()
        except asyncio.CancelledError:
            return self._ended("cancelled", None)
        except Stopped as why:
            self._stage.notes += why.args
            return self._ended("stopped" if why.args else "cancelled", None)
        assert isinstance(command, Waiting | Ended)
        return self._ended("ended" if isinstance(command, Ended) else "waiting", command.failure)

    def _ended(self, rest: Rest, failure: str | None) -> Played:
        stage = self._stage
        return Played(
            rest,
            stage.session.id if stage.session is not None else "",
            stage.rules.sentence,
            tuple(self._scenes.told),
            tuple(stage.uses),
            failure,
            tuple(stage.notes),
        )
