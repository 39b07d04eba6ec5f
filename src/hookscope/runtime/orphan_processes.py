"""Processes that left their worker's group, found by a mark in their environment. Linux only.

A handler may start a process in its own session, which a kill of the group does not reach. Every worker's
environment has a mark that child processes inherit; the kernel shows a process's initial environment to its
owner. A process with a new environment has no mark. It is found by its session if a marked process of that
session was seen; otherwise it is not found: see the manual.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from secrets import token_hex

from hookscope.values import dataclass

MARK_VARIABLE = "HOOKSCOPE_WORKER"
MAX_NAME = 80  # characters of a command line
SCANNED_RANGE = 500  # numbers among which processes are looked for
PROBED_RANGE = 16  # numbers that are tried one by one: to list all processes takes longer
KILL_ROUNDS = 200  # of killing: what is killed may just have started something, and dies in its own time
KILL_PAUSE = 0.002  # seconds between two rounds
ENVIRON_TRIES = 20  # to read what a process was started with that is just being started
STARTUP_AGE = 0.2  # seconds; an older one that has nothing was started so
NO_ENVIRON_FLAGS = (
    0x00200000 | 0x00000004
)  # flags of the kernel's own threads, and of who is ending: they have nothing
MAX_SCANS = 10  # at what was started during the last one, on a machine where something always is


@dataclass(frozen=True, slots=True)
class MarkedProcess:
    """A running process that carries a mark."""

    pid: int
    name: str  # its command line, for people
    group: int
    mark: str
    parent: int
    age: float  # seconds
    memory: int  # bytes resident
    session: int = 0  # 0: not known
    start_ticks: int = (
        0  # clock ticks between the start of the machine and its own; with its number, its identity
    )

    @property
    def host(self) -> str:
        """The first part of its mark, which identifies the Hookscope process."""
        return self.mark.partition(".")[0]


def host_mark() -> str:
    """Return the mark prefix of all workers of this process, and of no other.

    A forked process gets another one: when a process ends, its guard kills what carries its mark.
    """
    return _host_mark_of(os.getpid())


@cache
def _host_mark_of(pid: int) -> str:
    return f"{pid}-{token_hex(4)}"


def new_worker_mark() -> str:
    """Return a mark for another worker of this process."""
    return f"{host_mark()}.{token_hex(4)}.{worker_depth() + 1}"


@cache
def worker_depth() -> int:
    """Return how many workers are ancestors of this process."""
    _, _, levels = os.environ.get(MARK_VARIABLE, "").rpartition(".")
    return int(levels) if levels.isascii() and levels.isdigit() and len(levels) < 4 else 0


def newest_pid() -> int:
    """Return the last process number that the system assigned: a change means that something was started.

    0 if the system does not report it; then nothing can be found.
    """
    try:
        return int(os.pread(_loadavg_descriptor(), 128, 0).rpartition(b" ")[2])
    except (OSError, ValueError):  # no such file; or somebody has closed ours
        _loadavg_descriptor.cache_clear()
        return 0


@cache
def _loadavg_descriptor() -> int:
    """Return an open descriptor, kept because this is read after every call."""
    return os.open("/proc/loadavg", os.O_RDONLY)


def find_marked(prefix: str = "") -> tuple[MarkedProcess, ...]:
    """Return all processes whose mark starts with a prefix, by number. Empty if the system reports none."""
    return tuple(_marked_among(_all_pids(), prefix))


def find_marked_since(before: int, newest: int, prefix: str) -> tuple[MarkedProcess, ...]:
    """Return those that were started after the process `before`, up to and including `newest`."""
    numbers = range(before + 1, newest + 1)
    if 0 <= newest - before <= PROBED_RANGE:
        return tuple(_marked_among(numbers, prefix))
    if 0 <= newest - before <= SCANNED_RANGE:
        return tuple(_marked_among((pid for pid in _all_pids() if pid in numbers), prefix))
    return find_marked(prefix)  # many, or the numbers have begun anew


def may_still_run(mark: str, first_pid: int) -> bool:
    """Return whether a process with this mark may still run. `first_pid`: the first process with the mark.

    Checks only what was started since, if that is little.
    """
    before, newest = first_pid - 1, newest_pid()
    for _ in range(MAX_SCANS):
        if newest == before:
            return False
        if not 0 <= newest - before <= SCANNED_RANGE:  # many, or the numbers have begun anew
            return newest > 0
        if find_marked_since(before, newest, mark):
            return True
        before, newest = newest, newest_pid()  # what one of them started meanwhile
    return True


def kill_marked(
    mark: str, known: Iterable[MarkedProcess] = ()
) -> tuple[tuple[MarkedProcess, ...], tuple[MarkedProcess, ...]]:
    """Kill the processes with this mark, the `known` ones that once had it, and all of their sessions.

    Return the processes that are gone, and those that may still run. Blocks until all are gone, or for
    `ROUNDS` rounds.
    """
    sessions = {process.session: process for process in known}
    killed = {process.pid: process for process in known if is_running(process)}
    for _ in range(KILL_ROUNDS):
        killed.update((process.pid, process) for process in (*find_marked(mark), *_in_sessions(sessions)))
        running = [process for process in killed.values() if is_running(process)]
        for process in running:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        if not running:
            break
        time.sleep(KILL_PAUSE)
    left = tuple(process for process in killed.values() if is_running(process))
    return tuple(process for process in killed.values() if process not in left), left


def _in_sessions(sessions: Mapping[int, MarkedProcess]) -> Iterator[MarkedProcess]:
    """Yield the processes of these sessions, each with a known process of its session."""
    known = {number: seen for number, seen in sessions.items() if number not in (0, os.getsid(0))}
    known = {number: seen for number, seen in known.items() if not _is_reused(number, seen)}
    for pid in _all_pids() if known else ():
        with suppress(OSError, ValueError, IndexError):  # gone meanwhile
            seen = known.get(int(_read_stat(pid)[3]))
            process = _read_process(pid, f"{MARK_VARIABLE}={seen.mark}") if seen is not None else None
            if process is not None:
                yield process


def _is_reused(session: int, seen: MarkedProcess) -> bool:
    """Return whether a session's number now belongs to a process that was started later."""
    try:
        return int(_read_stat(session)[19]) > seen.start_ticks
    except (OSError, ValueError, IndexError):  # the leader is gone; while anybody is left, no other gets it
        return False


def is_running(process: MarkedProcess) -> bool:
    """Return whether this very process still runs, not another one with its number."""
    try:
        state, *fields = _read_stat(process.pid)
    except (OSError, ValueError):
        return False
    return state not in "ZX" and int(fields[18]) == process.start_ticks


def resident_memory(pid: int) -> int:
    """Return resident bytes; 0 if unknown."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _all_pids() -> list[int]:
    """Return the numbers of all processes, in order."""
    try:
        return sorted(int(name) for name in os.listdir("/proc") if name.isdecimal())
    except OSError:
        return []


def _marked_among(pids: Iterable[int], prefix: str) -> Iterator[MarkedProcess]:
    variable = f"{MARK_VARIABLE}={prefix}".encode()
    for pid in pids:
        try:
            environ = _start_environment(pid)
            if variable not in environ:
                continue
            mark = next((entry for entry in environ.split(b"\0") if entry.startswith(variable)), None)
            if (
                mark is not None
                and (process := _read_process(pid, mark.decode("utf-8", "replace"))) is not None
            ):
                yield process
        except (OSError, ValueError, IndexError):  # gone meanwhile, or another user's
            continue


def _start_environment(pid: int) -> bytes:
    """Return a process's initial environment. It is empty for a moment while the program starts."""
    is_in_place = False
    for _ in range(ENVIRON_TRIES):
        with open(f"/proc/{pid}/environ", "rb") as file:
            if (environ := file.read()) or is_in_place:
                return environ
        state, *fields = _read_stat(pid)
        if state in "ZX" or int(fields[5]) & NO_ENVIRON_FLAGS or _age(fields) > STARTUP_AGE:
            break
        is_in_place = fields[23] != "0"  # where its code ends: known once its environment is
        if not is_in_place:
            time.sleep(KILL_PAUSE)
    return b""


def _read_process(pid: int, mark: str) -> MarkedProcess | None:
    """Return a process; None for one that has ended and waits to be reaped."""
    state, *fields = _read_stat(pid)
    if state in "ZX":
        return None
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read().decode("utf-8", "replace").split("\0")
    name = " ".join(word for word in words if word)[:MAX_NAME] or _short_name(pid)
    group, parent = int(fields[1]), int(fields[0])
    mark = mark.partition("=")[2]
    session, born = int(fields[2]), int(fields[18])
    return MarkedProcess(pid, name, group, mark, parent, _age(fields), resident_memory(pid), session, born)


def _read_stat(pid: int) -> list[str]:
    """Return a process's state and the numbers after it."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().decode("utf-8", "replace").rpartition(")")[2].split()


def _age(fields: list[str]) -> float:
    """Return seconds since a process was started."""
    started = int(fields[18]) / os.sysconf("SC_CLK_TCK")
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started, 0.0)


def _short_name(pid: int) -> str:
    with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().strip()
