"""Processes that left their worker's group, found by a mark in their environment. Linux only.

A handler may start a process in a new session, which killing the worker's group does not reach. Every
worker's environment has a mark that child processes inherit, and the kernel shows a process's initial
environment to its owner. A process with another environment has no mark: it is found only if it belongs to
the session of a process that was seen with the mark (see the manual).
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
SCANNED_RANGE = 500  # process numbers that are searched; beyond them all processes are listed
PROBED_RANGE = 16  # process numbers that are tried one by one: listing all processes takes longer
KILL_ROUNDS = 200  # of killing: a killed process may just have started another one, and takes a while to end
KILL_PAUSE = 0.002  # seconds between two rounds
ENVIRON_TRIES = 20  # to read the environment of a process that is just being started
STARTUP_AGE = 0.2  # seconds; an older process without an environment was started without one
NO_ENVIRON_FLAGS = (
    0x00200000 | 0x00000004
)  # flags of kernel threads and of ending processes: they have no environment
MAX_SCANS = 10  # each covers what was started during the previous one: on a busy machine this might never end


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
    session: int = 0  # 0: unknown
    start_ticks: int = 0  # clock ticks from the machine's start to its own; with the pid, this identifies it

    @property
    def host(self) -> str:
        """The first part of its mark, which identifies the Hookscope process."""
        return self.mark.partition(".")[0]


def host_mark() -> str:
    """Return the mark prefix of all workers of this process, and of no other.

    A fork of this process gets another prefix, because a guard kills all processes with the prefix of an
    ended one.
    """
    return _host_mark_of(os.getpid())


@cache
def _host_mark_of(pid: int) -> str:
    return f"{pid}-{token_hex(4)}"


def new_worker_mark() -> str:
    """Return a mark for a new worker of this process."""
    return f"{host_mark()}.{token_hex(4)}.{worker_depth() + 1}"


@cache
def worker_depth() -> int:
    """Return how many workers are ancestors of this process."""
    _, _, levels = os.environ.get(MARK_VARIABLE, "").rpartition(".")
    return int(levels) if levels.isascii() and levels.isdigit() and len(levels) < 4 else 0


def newest_pid() -> int:
    """Return the number of the newest process; if it changes, a process was started.

    0 if the system does not report the number; then escaped processes cannot be found.
    """
    try:
        return int(os.pread(_loadavg_descriptor(), 128, 0).rpartition(b" ")[2])
    except (OSError, ValueError):  # no such file, or our descriptor was closed
        _loadavg_descriptor.cache_clear()
        return 0


@cache
def _loadavg_descriptor() -> int:
    """Return a descriptor of /proc/loadavg. It stays open, because it is read after every handler call."""
    return os.open("/proc/loadavg", os.O_RDONLY)


def find_marked(prefix: str = "") -> tuple[MarkedProcess, ...]:
    """Return all processes whose mark starts with the prefix, in order of their numbers."""
    return tuple(_marked_among(_all_pids(), prefix))


def find_marked_since(before: int, newest: int, prefix: str) -> tuple[MarkedProcess, ...]:
    """Return the marked processes with numbers above `before`, up to and including `newest`."""
    numbers = range(before + 1, newest + 1)
    if 0 <= newest - before <= PROBED_RANGE:
        return tuple(_marked_among(numbers, prefix))
    if 0 <= newest - before <= SCANNED_RANGE:
        return tuple(_marked_among((pid for pid in _all_pids() if pid in numbers), prefix))
    return find_marked(prefix)  # many, or the numbers have started again


def may_still_run(mark: str, first_pid: int) -> bool:
    """Return whether a process with this mark may still run. `first_pid`: the first process with the mark.

    Checks only processes that were started since then, if they are few.
    """
    before, newest = first_pid - 1, newest_pid()
    for _ in range(MAX_SCANS):
        if newest == before:
            return False
        if not 0 <= newest - before <= SCANNED_RANGE:  # many, or the numbers have started again
            return newest > 0
        if find_marked_since(before, newest, mark):
            return True
        before, newest = newest, newest_pid()  # for processes started during this check
    return True


def kill_marked(
    mark: str, known: Iterable[MarkedProcess] = ()
) -> tuple[tuple[MarkedProcess, ...], tuple[MarkedProcess, ...]]:
    """Kill the processes with this mark, the `known` ones, and all processes of the known ones' sessions.

    Return the processes that are gone, and those that may still run. Blocks until all are gone, but for
    KILL_ROUNDS rounds at most.
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
    """Yield the processes of these sessions; each session comes with a process that was seen in it."""
    known = {number: seen for number, seen in sessions.items() if number not in (0, os.getsid(0))}
    known = {number: seen for number, seen in known.items() if not _is_reused(number, seen)}
    for pid in _all_pids() if known else ():
        with suppress(OSError, ValueError, IndexError):  # gone meanwhile
            seen = known.get(int(_read_stat(pid)[3]))
            process = _read_process(pid, f"{MARK_VARIABLE}={seen.mark}") if seen is not None else None
            if process is not None:
                yield process


def _is_reused(session: int, seen: MarkedProcess) -> bool:
    """Return whether the session's number now belongs to a process that was started later than `seen`."""
    try:
        return int(_read_stat(session)[19]) > seen.start_ticks
    except (OSError, ValueError, IndexError):  # gone; its number stays reserved
        return False


def is_running(process: MarkedProcess) -> bool:
    """Return whether this process still runs; False if another one has its number."""
    try:
        state, *fields = _read_stat(process.pid)
    except (OSError, ValueError):
        return False
    return state not in "ZX" and int(fields[18]) == process.start_ticks


def resident_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if unknown."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _all_pids() -> list[int]:
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
        is_in_place = fields[23] != "0"  # end of its code: set once the environment is complete
        if not is_in_place:
            time.sleep(KILL_PAUSE)
    return b""


def _read_process(pid: int, mark: str) -> MarkedProcess | None:
    """Return the process; None if it has ended and waits to be reaped."""
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
    """Return the fields of /proc/PID/stat after the name: the state, then numbers."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().decode("utf-8", "replace").rpartition(")")[2].split()


def _age(fields: list[str]) -> float:
    """Return the seconds since the process was started."""
    started = int(fields[18]) / os.sysconf("SC_CLK_TCK")
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started, 0.0)


def _short_name(pid: int) -> str:
    with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().strip()
