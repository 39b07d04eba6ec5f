"""What a handler leaves running behind it: threads, and child processes where the system tells of them.

One look costs a few microseconds where there is nothing, which is nearly always.
"""

from __future__ import annotations

import _thread
import os
import resource
import sys
import time
from glob import iglob
from typing import Any

# Bound before any handler runs.
_count, _getpid, _open, _frames = _thread._count, os.getpid, open, sys._current_frames
_sleep = time.sleep
_usage, _SELF = resource.getrusage, resource.RUSAGE_SELF
_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes, of the system's figure
_wait: Any = getattr(os, "waitid", None)  # macOS has none before Python 3.13: there children are unknown
_ANY_CHILD = (os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) if _wait else ()  # looked at, not reaped
_OVER: tuple[list[str], ...] = ([], ["Z"])  # states of processes that have ended: gone, or not yet reaped
MANY = 64  # descriptors that a handler may leave open before we call it a leak
IDLE = "_worker"  # the function that a thread of an executor waits in for its next work
MOMENT, MOMENTS = 0.001, 100  # seconds, and how many of them a thread gets to come to rest
_OWN = 1  # the thread that listens to the host


class Running:
    """What runs beside the handlers, from one look to the next."""

    def __init__(self) -> None:
        self._threads, self._processes = self._first = _threads(), _children()

    def left(self) -> tuple[str, bool]:
        """(in words what has come since the last look and still runs, does anything of any handler's run)."""
        threads, processes = _threads(), _children()
        if threads == self._threads and not processes and not self._processes:  # nearly always
            return "", threads > _OWN
        words = _more((self._threads, self._processes), (threads, processes))
        self._threads, self._processes = threads, processes
        return words, threads > _OWN or bool(processes)

    def rest(self) -> str:
        """In words what has come since the very first look and still runs."""
        return _more(self._first, (_threads(), _children()))


def _more(before: tuple[int, set[int]], now: tuple[int, set[int]]) -> str:
    """In words what has come between two looks at threads and processes."""
    more, new = now[0] - before[0], len(now[1] - before[1])
    return " and ".join(
        _words(count, what) for count, what in ((more, "thread"), (new, "process")) if count > 0
    )


def is_large(memory: int) -> bool:
    """Has this process once taken more than half of what it may have: it never gives that back."""
    return memory > 0 and _usage(_SELF).ru_maxrss * _UNIT > memory // 2 and _most_taken() > memory // 2


def _most_taken() -> int:
    """Bytes that this very process has taken at most: the usage on Linux counts its host's until it started
    us among them. Where the system does not tell, more than any limit."""
    told = _read("/proc/self/status").partition("VmHWM:")[2].split()[:1]
    return int(told[0]) * 1024 if told else sys.maxsize


def _words(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count:,} {what}{'es' if what[-1] == 's' else 's'}"


def _threads() -> int:
    """All but those that asyncio keeps for the next `to_thread`, and that do nothing now."""
    count: int = _count()
    if count <= _OWN or "threading" not in sys.modules:
        return count
    try:
        known = sys.modules["threading"].enumerate()
        own = [thread for thread in known if thread.name.startswith("asyncio_")]
        return count - len(own) + _busy(own)
    except BaseException:  # a handler's own doing
        return count


def _busy(threads: list[Any]) -> int:
    """How many of these threads of asyncio still work. One that has just answered gets a moment to rest."""
    busy = threads
    for _ in range(MOMENTS):
        frames = _frames()
        busy = [one for one in busy if one.is_alive() and frames[one.ident].f_code.co_name != IDLE]
        if not busy:
            break
        _sleep(MOMENT)
    return len(busy)


def _children() -> set[int]:
    """The child processes that have not ended. Empty where that cannot be known."""
    found: set[int] = set()
    try:
        _wait(*_ANY_CHILD)
    except BaseException:  # there are none, which is nearly always so, or no such call
        return found
    try:
        for path in iglob(f"/proc/{_getpid()}/task/*/children"):
            found.update(int(pid) for pid in _read(path).split())
    except BaseException:  # the system does not tell
        return set()
    return {pid for pid in found if _read(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] not in _OVER}


def _read(path: str) -> str:
    try:
        with _open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:  # gone meanwhile, or a kernel that does not tell
        return ""
