"""What handlers leave behind in a worker: what runs on, what that prints late, processes that escaped."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from hookscope.runtime.course import told_failure
from hookscope.runtime.escapes import Process, marked_since, newest_pid
from hookscope.runtime.peer import Late, Peer, WorkerLost

LATE = 160  # characters of a late text that a note quotes; of output so many at its beginning and its end
BURST = 0.001  # seconds; handlers that end within it start no process
INSTANT = 0.00004  # seconds; those that take no more in all start none either, whenever that was
NAMED = 4  # processes that a note names


class Traces:
    """Of one worker, from its start to its end."""

    def __init__(self) -> None:
        self.last = ""  # whose handler ran last
        self._left: dict[str, str] = {}  # whose handlers left what running
        self._newest = 0  # process number, when we last looked for escaped ones
        self._looked = 0.0  # when that was, of perf_counter
        self._took = 0.0  # by handlers since then, in seconds
        self._escaped: dict[int, Process] = {}
        self._ended: list[Process] = []  # seen to be gone with the worker, and not named before
        self._surviving: list[Process] = []  # not seen to be gone although the worker is

    def begin(self) -> None:
        """A fresh worker: nothing runs in it."""
        self._left.clear()
        self._escaped.clear()
        self._newest = newest_pid()

    def left(self, who: str, what: str) -> None:
        """Somebody's handler left something running."""
        self._left[who] = what[:LATE]

    def nothing_left(self) -> None:
        """What was left running has ended."""
        if self._left:
            self._left.clear()

    @property
    def escaped(self) -> tuple[Process, ...]:
        """The processes outside of the worker's group that were found and named."""
        return tuple(self._escaped.values())

    def killed(self, gone: Sequence[Process], surviving: Sequence[Process]) -> None:
        """Note which processes were seen to be gone after the worker's end, and which were not."""
        self._ended = [process for process in gone if process.pid not in self._escaped]
        self._surviving = list(surviving)

    def suspects(self) -> tuple[str, ...]:
        """Return a sentence that names what earlier handlers left running in this worker, if anything."""
        left = " and ".join(f"{what} of {name}" for name, what in self._left.items())
        return (f"{left} still ran in this worker, and may be the cause",) if left else ()

    def has_left(self, but: str) -> bool:
        """Return whether handlers of other hooks than this one left something running in this worker."""
        return any(name != but for name in self._left)

    def others(self) -> tuple[str, ...]:
        """Who else may have printed beside a handler, as a sentence."""
        left = " and ".join(f"{name}, which left {what} running" for name, what in self._left.items())
        return (f"some of what it printed may be of {left}",) if left else ()

    def may_have_escaped(self, more: bool, took: float = INSTANT) -> bool:
        """Was any process started since `escapes` looked. `more`: further calls come, and we ask again.

        `took`: how long the handler was at it.
        """
        self._took += took
        if self._took < INSTANT:
            return False
        now = perf_counter()
        if now - self._looked < BURST and more:  # handlers that end within a millisecond start no process
            return False
        if newest_pid() != self._newest:
            return True
        self._looked, self._took = now, 0.0
        return False

    def escapes(self, worker: Peer, more: bool) -> tuple[str, ...]:
        """A sentence for the processes that have left the worker's group since we last looked.

        `more`: further calls come, and we look again.
        """
        if not self.may_have_escaped(more):
            return ()
        before, self._newest, self._took = self._newest, newest_pid(), 0.0
        found = [
            process
            for process in marked_since(before, self._newest, worker.mark)
            if process.group != worker.pid and process.pid not in self._escaped
        ]
        if not found:
            return ()
        self._escaped.update((process.pid, process) for process in found)
        return (f"{_left_outside(found)}; Hookscope kills it when it ends the worker",)

    def ended_with_it(self) -> tuple[str, ...]:
        """Return sentences for the processes that were found only when the worker ended."""
        ended, self._ended = self._ended, []
        surviving, self._surviving = self._surviving, []
        notes = [f"{_left_outside(ended)}; ended with its worker"] if ended else []
        if surviving:
            notes.append(f"{_left_outside(surviving)}; it may still be running")
        return tuple(notes)

    def late_news(self, worker: Peer) -> list[tuple[str, str]]:
        """Who did what after the last result."""
        news: list[tuple[str, str]] = []
        if text := printed_at_once(worker):
            news.append((self.last or "a handler", f"printed late: {text}"))
        return [*news, *map(late_in_words, worker.late())]


def _left_outside(found: Sequence[Process]) -> str:
    names = ", ".join(f"`{process.name}` ({process.pid})" for process in found[:NAMED])
    others = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"it left {names}{others} running outside of its process group"


def printed_at_once(worker: Peer) -> str:
    """What it printed since somebody last asked, on one line."""
    printed = worker.printed()
    lines = (line.strip() for line in (printed.stdout + printed.stderr).splitlines())
    return _quoted(" · ".join(line for line in lines if line))


def _quoted(text: str) -> str:
    """Its beginning and its end: the last line of a traceback says what it was."""
    left_out = len(text) - 2 * LATE
    return text if left_out <= 0 else f"{text[:LATE]}… ({left_out:,} characters) …{text[-LATE:]}"


def late_in_words(late: Late) -> tuple[str, str]:
    """Whose handler did what late."""
    who = late.who or "a handler"
    if late.text:
        return who, late.text[:LATE]
    try:
        failure = told_failure(late.error, "run")
    except WorkerLost:
        return who, "failed late, in a way that cannot be told"
    where = f" ({failure.frames[-1].file}:{failure.frames[-1].line})" if failure.frames else ""
    return who, f"failed late, after it had answered: {failure.type}: {failure.message[:LATE]}{where}"
