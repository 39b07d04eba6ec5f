"""A debugger: handlers in workers that stop, and go on when somebody says so."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.runtime.python_worker.protocol import Message
    from hookscope.runtime.sandbox import Sandbox
    from hookscope.runtime.worker import Worker

Why: TypeAlias = Literal["begin", "breakpoint", "line", "step", "error"]
WHYS: tuple[str, ...] = get_args(Why)
STAYS = ("frame", "line", "evaluate")  # words after which it stands as before
LONGEST = 8 * 1024  # characters of what can be asked: it must fit a pipe that nobody reads for a while


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A call that has not ended: where it stands, in its author's file."""

    file: str
    line: int  # from 1
    function: str


@dataclass(frozen=True, slots=True)
class Stop:
    """A handler that stands, and what there is to see of it.

    Texts are as the handler's process tells them: foreign text, which may hold anything.
    """

    why: Why  # its first line, a breakpoint() or `debugger`, a line that was named, a step, an error
    who: str  # the hook
    frames: tuple[StackFrame, ...]  # of its author's code, outermost first; never empty
    at: int  # the chosen one of them
    lines: tuple[tuple[int, str], ...]  # of its file, with their numbers; empty where it cannot be read
    variables: tuple[tuple[str, str], ...]  # of the chosen frame: names and short texts
    named: tuple[int, ...] = ()  # lines of its file at which it stops, since somebody has named them
    error: str | None = None  # that has left the handler: "KeyError: 'user'"
    said: str | None = None  # the answer to the last word, where that has one

    @property
    def frame(self) -> StackFrame:
        """The chosen one."""
        return self.frames[self.at]


class Debugger:
    """Of one run. Its handlers stop at their first line, at `breakpoint()` or `debugger`, at lines that are
    named, and where an error leaves them (in JavaScript: where one is thrown in its author's code).

    Of one event loop. `stopped` waits for a stop; a word lets it go on, or changes what is seen of it: then
    it is told again. Words where nothing stands are in vain.
    """

    def __init__(self) -> None:
        self._worker: Worker | None = (
            None  # in which the handler stands that is told of, or is asked just now
        )
        self._stop: Stop | None = None
        self._others: deque[tuple[Worker, Stop]] = deque()  # which stand meanwhile: workers run side by side
        self._news = asyncio.Event()
        self._sandbox: Sandbox | None = None

    def runs_on(self, sandbox: Sandbox) -> None:
        """Handlers run on its copies from here on; stops name the originals."""
        self._sandbox = sandbox

    @property
    def stop(self) -> Stop | None:
        """Where a handler stands now; None where none does."""
        return self._stop

    async def stopped(self, after: Stop | None = None) -> Stop:
        """The present stop, unless it is the one `after` which another is wanted; else the next one."""
        while self._stop is None or self._stop is after:
            self._news.clear()
            await self._news.wait()
        return self._stop

    async def over(self) -> None:
        """Go on to the next line of this function."""
        await self._say("next")

    async def into(self) -> None:
        """Go on to the next line, also of a function of its author's that this one calls."""
        await self._say("step")

    async def out(self) -> None:
        """Go on until this function returns."""
        await self._say("out")

    async def go_on(self) -> None:
        """Go on to the next stop that is not a step."""
        await self._say("on")

    async def run_all(self) -> None:
        """Stop no more."""
        await self._say("off")

    async def turn_to(self, frame: int) -> None:
        """Choose another frame, by its place in `frames`; the nearest there is."""
        await self._say("frame", at=frame)

    async def toggle(self, line: int, file: str = "") -> None:
        """Stop at this line from now on, or no longer; of the chosen frame's file, where none is named."""
        moved = str(self._sandbox.copy_of(Path(file))) if self._sandbox is not None and file else file
        await self._say("line", line=line, file=moved)

    async def evaluate(self, text: str) -> None:
        """Have an expression or a statement of the handler's language done where it stands.

        Raises ValueError where it is longer than LONGEST characters.
        """
        if len(text) > LONGEST:
            raise ValueError(f"{len(text):,} characters cannot be asked at once; {LONGEST:,} can")
        await self._say("evaluate", text=text)

    async def _say(self, word: str, **more: object) -> None:
        worker, stands = self._worker, self._stop is not None
        self._stop = None
        if worker is None or not stands:
            return
        if word not in STAYS:
            self._next()
        await worker.urge({"do": "word", "word": word, **more})

    def heard_by(self, worker: Worker) -> Callable[[object], None]:
        """What takes the stops of this worker, as the protocol has them."""

        def heard(told: object) -> None:
            stop = _stop_of(told, str if self._sandbox is None else self._sandbox.original_of)
            if stop is None:
                return
            if self._worker is not None and self._worker is not worker:
                self._others.append((worker, stop))
            else:
                self._tell(worker, stop)

        return heard

    def gone(self, worker: Worker) -> None:
        """This worker has ended: nothing stands in it any more."""
        self._others = deque(other for other in self._others if other[0] is not worker)
        if self._worker is worker:
            self._stop = None
            self._next()

    def _next(self) -> None:
        self._worker = None
        if self._others:
            self._tell(*self._others.popleft())

    def _tell(self, worker: Worker, stop: Stop) -> None:
        self._worker, self._stop = worker, stop
        self._news.set()


def _stop_of(told: object, original: Callable[[str], str]) -> Stop | None:
    """None where a worker tells what is none: it cannot be answered."""
    if not isinstance(told, dict):
        return None
    try:
        return _read(told, original)
    except (IndexError, KeyError, TypeError, ValueError):
        return None


def _read(told: Message, original: Callable[[str], str]) -> Stop:
    def text(value: object) -> str:
        return original(str(value))

    frames = tuple(
        StackFrame(text(one["file"]), int(one["line"]), str(one["function"])) for one in told["frames"]
    )
    at = int(told["at"])
    error, said = told.get("error"), told.get("said")
    if told["why"] not in WHYS or not 0 <= at < len(frames):
        raise ValueError("no stop")
    return Stop(
        told["why"],
        str(told["who"]),
        frames,
        at,
        tuple((int(number), str(line)) for number, line in told["lines"]),
        tuple((str(name), text(value)) for name, value in told["variables"]),
        tuple(int(number) for number in told["named"]),
        None if error is None else text(error),
        None if said is None else text(said),
    )
