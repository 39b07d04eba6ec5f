"""How deep firings lie in each other: a handler that fires its own event without end is stopped."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import field
from time import perf_counter

from hookscope.runtime.escapes import started_by_workers
from hookscope.values import dataclass

DEPTH = 16  # events that cause events that cause events: further ones are a circle
FANNED_OUT = 4  # levels; firings below it are counted: tasks that nobody awaits multiply from level to level
MOST = 2000  # of them, in one chain and period
PERIOD = 5.0  # seconds
PAUSE = 0.5  # seconds between the end of a firing and one that is no part of its circle
OF_A_COMMAND = 4  # levels that a command counts for which a handler started


@dataclass(slots=True)
class _Chain:
    """All unfinished firings that one has caused."""

    running: int = 0
    ended: float = 0.0  # the last of them, of perf_counter
    deep: int = 0  # firings far down, in this period
    since: float = 0.0  # its begin
    endless: set[str] = field(default_factory=set)  # keys that have reached the depth

    def count(self) -> None:
        """Count one more firing far down."""
        now = perf_counter()
        if now - self.since > PERIOD:
            self.deep, self.since = 0, now
        self.deep += 1

    def is_over(self) -> bool:
        """True if nothing of it runs, and long enough: what fires now waits for its time, as a clock does."""
        return not self.running and perf_counter() - self.ended > PAUSE


_chain: ContextVar[tuple[_Chain, int] | None] = ContextVar("hookscope_chain", default=None)


class Nested:
    """The place of one firing among those that its handler's code has caused.

    What a handler awaits, and the tasks and threads that it starts with its context, belong to its firing.
    """

    def __init__(self, key: str) -> None:
        """In the firing's own task."""
        above = _chain.get()
        if above is None or above[0].is_over():
            chain, self.depth, self._is_first = _Chain(), OF_A_COMMAND * started_by_workers(), True
        else:
            chain, self.depth, self._is_first = above[0], above[1] + 1, False
        self._chain = chain
        self.endless = self._why_endless(key)
        chain.running += 1

    def _why_endless(self, key: str) -> str:
        """Why an event is not fired; empty where it may be. Once stopped, a circle is not begun again."""
        if self.depth >= FANNED_OUT:
            self._chain.count()
        too_many = self._chain.deep > MOST
        if self.depth >= DEPTH or too_many or (self.depth > 1 and key in self._chain.endless):
            self._chain.endless.add(key)
            return _sentence(key)
        return ""

    def enter(self, depth: int) -> None:
        """From here on, what this task and what it starts fires lies one deeper than `depth`."""
        _chain.set((self._chain, depth))

    def stopped_below(self) -> list[str]:
        """For the first firing of a chain: a sentence for each event that was stopped in it."""
        return [*map(_sentence, sorted(self._chain.endless))] if self._is_first and not self.endless else []

    def leave(self) -> None:
        """The firing has ended."""
        self._chain.running -= 1
        self._chain.ended = perf_counter()


def _sentence(key: str) -> str:
    return f"`{key}` was not fired: handlers fired events from events without end"
