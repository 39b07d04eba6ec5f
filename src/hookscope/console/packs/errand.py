"""Something that takes time: done in a thread, followed step by step, stopped when its user says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content

from hookscope.console.keymap.hints import key_of, with_keys
from hookscope.console.messages import Answered
from hookscope.console.posting import post, said
from hookscope.console.text import line
from hookscope.console.theme import MUTED
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.console.shell import Shell
    from hookscope.workbench.packs.desk import PackDesk
    from hookscope.workbench.packs.planned import Progress

T = TypeVar("T")
ROOM = "packs"
TICK = 1.0  # seconds between two looks at the clock while something goes on
LAST = 3  # steps that are shown


@dataclass(slots=True)
class Job:
    """What goes on now."""

    stop: Event = field(default_factory=Event)
    began: float = field(default_factory=monotonic)
    steps: list[str] = field(default_factory=list)

    def lines(self) -> list[Content]:
        """Steps that are done, and the one that is not."""
        *done, now = self.steps[-LAST:] or ["starting"]
        lines = [Content.assemble(("✓ ", "$text-success"), line(step).stylize(MUTED)) for step in done]
        seconds = int(monotonic() - self.began)
        took = f"   {seconds} s" if seconds else ""
        ends = "stopping" if self.stop.is_set() else f"{key_of('packs.close')} stops it"
        return [*lines, Content.assemble("… ", line(now), (f"{took}   {ends}", MUTED))]


@dataclass(frozen=True, slots=True)
class Failure:
    """It could not be done, and why."""

    text: str


class Errand:
    """One thing at a time; the rest of the console goes on."""

    def __init__(
        self, screen: Shell, show: Callable[[Sequence[Content]], object], failed: Callable[[str], object]
    ) -> None:
        """`show`: the lines of what goes on, none where it has ended; `failed`: why it could not be done."""
        self._screen, self._show, self._failed = screen, show, failed
        self._job: Job | None = None

    @property
    def busy(self) -> bool:
        """Does anything go on."""
        return self._job is not None

    def stop(self) -> None:
        """Stop it where nothing is half done."""
        if self._job is not None:
            self._job.stop.set()
            self._tick(self._job)

    def run(self, work: Callable[[PackDesk, Progress], T], then: Callable[[T], object]) -> None:
        """Do it in a thread; its steps are shown as they come."""
        if self._job is not None:
            self._screen.say(with_keys("One thing at a time: {packs.close} stops what goes on."), "warning")
            return
        job = self._job = Job()
        screen, bench = self._screen, self._screen.bridge.bench

        def told(step: str) -> None:
            post(screen, Answered(lambda: self._stepped(job, step)))

        def working() -> T | Failure:
            from hookscope.workbench.packs.desk import PackDesk  # here: the first paint does without
            from hookscope.workbench.packs.planned import Progress

            try:
                return work(PackDesk(bench), Progress(told, job.stop.is_set))
            except Exception as error:  # a refusal, mostly: it is said where it was asked
                return Failure(said(error))

        def ended(answer: T | Failure) -> None:
            self._job = None
            self._show(())
            if isinstance(answer, Failure):
                self._failed(answer.text)
            else:
                then(answer)

        self._tick(job)
        screen.bridge.ask(ROOM, working, ended)
        screen.set_timer(TICK, lambda: self._clock(job), name=ROOM)

    def _stepped(self, job: Job, step: str) -> None:
        job.steps.append(step)
        self._tick(job)

    def _tick(self, job: Job) -> None:
        if job is self._job:
            self._show(job.lines())

    def _clock(self, job: Job) -> None:
        if job is self._job:
            self._tick(job)
            self._screen.set_timer(TICK, lambda: self._clock(job), name=ROOM)
