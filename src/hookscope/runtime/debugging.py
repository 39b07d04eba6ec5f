"""A debugger: handlers in workers that stop, and go on when somebody says so."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from hookscope.runtime.points import LONGEST, Point
from hookscope.runtime.stops import Bound, Logged, Stop, bound_of, logged_of, stop_of

if TYPE_CHECKING:
    from hookscope.runtime.python_worker.protocol import Message
    from hookscope.runtime.sandbox import Sandbox
    from hookscope.runtime.worker import Worker

Errors: TypeAlias = Literal[
    "leaving", "raised", "none"
]  # those that leave a handler; all in its author's code
STAYS = ("frame", "line", "evaluate", "members")  # words after which it stands as before


class Debugger:
    """Of one run. Its handlers stop at `breakpoint()` or `debugger`, at lines that are named, where an error
    leaves them, and, with `begins`, at their first line.

    Of one event loop. `stopped` waits for a stop; a word lets it go on, or changes what is seen of it: then
    it is told again. Words where nothing stands are in vain. Lines and errors can be named at any time, also
    before the run.

    Args:
        begins: do handlers stop at their first line.
        errors: at which errors they stop.
        bound: hears where the lines of a file are, once a worker knows.
        logged: hears what lines were to say in place of a stop.
    """

    def __init__(
        self,
        *,
        begins: bool = True,
        errors: Errors = "leaving",
        bound: Callable[[Bound], object] | None = None,
        logged: Callable[[Logged], object] | None = None,
    ) -> None:
        self.begins, self._errors, self._bound, self._logged = begins, errors, bound, logged
        self._lines: dict[str, tuple[int | Message, ...]] = {}
        self._workers: list[Worker] = []  # that run
        self._worker: Worker | None = (
            None  # in which the handler stands that is told of, or is asked just now
        )
        self._stop: Stop | None = None
        self._others: deque[tuple[Worker, Stop]] = deque()  # which stand meanwhile: workers run side by side
        self._told = self._number = 0  # stops so far; of the one that is told of
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

    async def toggle(self, line: int, file: str = "", condition: str = "") -> None:
        """Stop at this line from now on, or no longer; of the chosen frame's file, where none is named.

        With a condition: where that holds, whatever was said of the line before. Raises ValueError where it
        is longer than LONGEST characters.
        """
        Point(line, condition)
        file = self._copy_of(file) if file else ""
        await self._say("line", line=line, file=file, condition=condition.strip())

    async def look_into(self, path: Iterable[int]) -> None:
        """See the members of the chosen frame (its variables), of the first number's of those, and so on."""
        await self._say("members", path=list(path))

    async def name_lines(self, file: str, lines: Iterable[int | Point]) -> None:
        """Stop at these lines of a file from now on, and at no others of it; of two points in one line the
        last one counts."""
        points = [Point(one) if isinstance(one, int) else one for one in lines]
        self._lines[file] = tuple({point.line: point.told() for point in points}.values())
        await self._tell_all({"word": "lines", "file": self._copy_of(file), "lines": self._lines[file]})

    async def stop_at(self, errors: Errors) -> None:
        """Stop at these errors from now on."""
        self._errors = errors
        await self._tell_all({"word": "errors", "at": errors})

    async def pause(self) -> None:
        """Stop at the next line of whatever runs; of one that waits for something, behind that."""
        await self._tell_all({"word": "pause"})

    async def _tell_all(self, word: Message) -> None:
        for worker in tuple(self._workers):
            await worker.urge({"do": "word", **word})

    def _copy_of(self, file: str) -> str:
        return file if self._sandbox is None else str(self._sandbox.copy_of(Path(file)))

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

    def heard_by(
        self, worker: Worker, printed: Callable[[], tuple[str, str]]
    ) -> tuple[Message, Callable[[Message], None]]:
        """What a worker that starts is told, what takes what it says of stops; `printed`: by it so far."""
        self._workers.append(worker)
        lines = {self._copy_of(file): lines for file, lines in self._lines.items()}
        asked = {"do": "debug", "begin": self.begins, "errors": self._errors, "lines": lines}
        original = str if self._sandbox is None else self._sandbox.original_of

        def heard(told: Message) -> None:
            bound = bound_of(told.get("bound"), original)
            if bound is not None and self._bound is not None:
                self._bound(bound)
            logged = logged_of(told.get("logged"), original)
            if logged is not None and self._logged is not None:
                self._logged(logged)
            again = self._worker is worker
            number = self._number if again else self._told + 1
            stop = stop_of(told.get("stop"), original, number, printed())
            if stop is None:
                return
            self._told = max(self._told, number)
            if self._worker is not None and not again:
                self._others.append((worker, stop))
            else:
                self._tell(worker, stop)

        return asked, heard

    def gone(self, worker: Worker) -> None:
        """This worker has ended: nothing stands in it any more."""
        self._workers = [other for other in self._workers if other is not worker]
        self._others = deque(other for other in self._others if other[0] is not worker)
        if self._worker is worker:
            self._stop = None
            self._next()

    def _next(self) -> None:
        self._worker = None
        if self._others:
            self._tell(*self._others.popleft())

    def _tell(self, worker: Worker, stop: Stop) -> None:
        self._worker, self._stop, self._number = worker, stop, stop.number
        self._news.set()
