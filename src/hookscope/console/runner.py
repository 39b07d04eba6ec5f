"""One thing on its way at a time: begun, followed step by step, cancelled, over. The screen is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, Protocol

from textual.message_pump import MessagePump
from textual.widget import Widget

from hookscope.console.keymap.hints import with_keys
from hookscope.console.messages import (
    Failed,
    FiringOver,
    FiringStarted,
    JobBegan,
    JobOver,
    PastRuns,
    Said,
    StepsCame,
)
from hookscope.console.posting import post, said
from hookscope.core.runs import Plan, Run, Step

if TYPE_CHECKING:
    from hookscope.console.bridge import Bridge
    from hookscope.console.state import Composed
    from hookscope.workbench import Stepper, View, Workbench

FRAME = 0.1  # seconds between two reports of a run's steps


class Stoppable(Protocol):
    """What can be asked to end."""

    def cancel(self) -> object: ...


class Firing(Stoppable, Protocol):
    """One event on its way, as the workbench hands it out."""

    async def number(self) -> int | None: ...

    def __aiter__(self) -> AsyncIterator[Step]: ...

    def __await__(self) -> Generator[Any, None, Run]: ...


class Runner:
    """Does one thing of jobs.py after another, and posts what comes of it. A failure is a message.

    A run has the number that it has in the journal: the command line means the same one by it.
    """

    def __init__(self, screen: Widget, bridge: Bridge) -> None:
        self.screen, self.bridge = screen, bridge
        self.job = ""  # what goes on, as the beginning of a sentence
        self.cancelled = False  # its user wants it no more
        self.stepper: Stepper | None = None  # of the run that waits before each handler
        self._goes: Stoppable | None = None  # the part of it that can be asked to end
        self._last = 0  # the highest number of a run

    @property
    def bench(self) -> Workbench:
        return self.bridge.bench

    @property
    def busy(self) -> bool:
        """Is an event on its way, or about to be."""
        return bool(self.job)

    def remember(self, view: View) -> None:
        """Find out what was fired here before this sitting."""

        def remembering() -> None:
            try:
                past, others = self.bench.record.runs(view), self.bench.record.left_out(view)
            except Exception as error:
                post(self.screen, Failed("the journal", said(error)))
                past, others = (), ()
            self._last = max(self._last, *(run.id for run in past), 0)
            post(self.screen, PastRuns(past, others))

        self.screen.run_worker(remembering, name="journal", group="journal", thread=True, exit_on_error=False)

    # One job.

    def start(self, job: str, work: Callable[[], Coroutine[Any, Any, object]]) -> bool:
        """Do this, called `job`; unless something goes on already, which is said: the answer is False."""
        if self.busy:
            told = with_keys("{fire.leave} cancels it.")
            post(self.screen, Said(f"{self.job} is still going on; {told}", "warning"))
            return False
        self.job, self.cancelled = job, False
        post(self.screen, JobBegan(job))
        self.screen.run_worker(self._do(work), name=job, group="fire", exit_on_error=False)
        return True

    async def _do(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        try:
            await work()
        except Exception as error:
            post(self.screen, Said(said(error), "warning"))
        finally:
            self.job, self._goes, self.stepper = "", None, None
            post(self.screen, JobOver())

    def cancel(self) -> bool:
        """Stop what goes on, or what it prepares as soon as that is ready. False where there is nothing."""
        if not self.busy:
            return False
        self.cancelled = True
        if self._goes is not None:
            self._goes.cancel()
        return True

    def goes(self, part: Stoppable) -> None:
        """This is what a cancel means now; it is asked to end at once where that was wanted before."""
        self._goes = part
        if self.cancelled:
            part.cancel()

    # One run of it.

    async def follow(
        self, plan: Plan, firing: Firing, asked: Composed | None = None
    ) -> tuple[int, Run | None]:
        """Its number, and the run once the screen has been told of it; None where there is none."""
        self.goes(firing)
        number = 0
        try:
            number = self.numbered(await firing.number())
            post(self.screen, FiringStarted(number, plan, asked))
            await _report(self.screen, number, firing)
            run = await firing
        except Exception as error:
            post(self.screen, FiringOver(number, None, said(error)))
            return number, None
        finally:
            self._goes = None
        post(self.screen, FiringOver(number, run))
        return number, run

    def tell(self, plan: Plan, run: Run) -> int:
        """A run that is over already, as though it had been followed; its number."""
        number = self.numbered(run.id)
        post(self.screen, FiringStarted(number, plan))
        post(self.screen, FiringOver(number, run))
        return number

    def numbered(self, recorded: int | None) -> int:
        """The number of a run: the journal's; of one that is on no record, one behind all others."""
        number = recorded or self._last + 1
        self._last = max(self._last, number)
        return number


async def _report(screen: MessagePump, number: int, firing: Firing) -> None:
    """All steps in order, gathered so that the screen hears of them ten times a second at most."""
    gathered: list[Step] = []

    def flush() -> None:
        if gathered:
            post(screen, StepsCame(number, tuple(gathered)))
            gathered.clear()

    loop = asyncio.get_running_loop()
    due: asyncio.TimerHandle | None = None
    try:
        async for step in firing:
            gathered.append(step)
            if due is None or due.when() <= loop.time():
                due = loop.call_later(FRAME, flush)
    finally:
        if due is not None:
            due.cancel()
        flush()
