"""What a handler can change in its process: limits, timers, signals, IDs, folders, interpreter settings.

Everything is read once before the first handler and again behind each one. Reading takes some 20 µs, so
a handler that changed nothing costs no more than that. What differs is put back and named; what cannot be
put back is named as well, and the host replaces the worker.
"""

from __future__ import annotations

import _locale
import _thread
import codecs
import ctypes
import faulthandler
import gc
import os
import resource
import signal
import sys
from typing import Any, Callable, List, NamedTuple, Optional, Tuple  # noqa: UP035  (3.9)

_signal: Any = sys.modules["_signal"]  # its functions give numbers: those of `signal` make enumerations
PRIVATE = 200  # our own descriptors are here: above those that programs count on
LINUX = sys.platform == "linux"
# Options of prctl that are read, and the ones that set them again; 0: it cannot be set again.
PRCTLS = (
    (3, 4, "whether the process can be dumped"),
    (30, 29, "the timer slack"),
    (39, 0, "no_new_privs"),
    (21, 0, "the seccomp filter"),
)
GET_NAME, SET_NAME = 16, 15
TIMERS = (
    (_signal.ITIMER_REAL, "ITIMER_REAL"),
    (_signal.ITIMER_VIRTUAL, "ITIMER_VIRTUAL"),
    (_signal.ITIMER_PROF, "ITIMER_PROF"),
)

# Bound before any handler runs.
_stat, _fstat, _pread, _umask, _fchdir = os.stat, os.fstat, os.pread, os.umask, os.fchdir
_getrlimit, _setrlimit = resource.getrlimit, resource.setrlimit
_getitimer, _setitimer = _signal.getitimer, _signal.setitimer
_sigmask, _BLOCK, _SETMASK = _signal.pthread_sigmask, _signal.SIG_BLOCK, _signal.SIG_SETMASK
_getsignal, _signal_to, _wakeup = _signal.getsignal, _signal.signal, _signal.set_wakeup_fd
_map, _tuple, _list, _zip, _len = map, tuple, list, zip, len

# Of two names of one limit (RLIMIT_NOFILE, RLIMIT_OFILE) the first one.
_NAMES_OF_LIMITS = sorted((name for name in dir(resource) if name.startswith("RLIMIT_")), reverse=True)

Read = Callable[[], Any]
Write = Callable[[Any], None]  # gets what was read before any handler


class Aspect(NamedTuple):
    """One aspect of the process that can be read and compared."""

    words: str
    read: Read
    write: Optional[Write] = None  # noqa: UP045  None: it cannot be put back
    which: Optional[Callable[[Any, Any], str]] = None  # noqa: UP045  names the parts that differ


class ProcessState:
    """The state before the first handler; `restore` puts it back."""

    def __init__(self) -> None:
        self._aspects = _aspects()
        self._reads = [aspect.read for aspect in self._aspects]
        self._numbers = sorted(number for number in _signal.valid_signals())
        self._handlers = _list(_map(_getsignal, self._numbers))
        self._known = [read() for read in self._reads]

    def restore(self, changed: List[str], lost: List[str]) -> None:  # noqa: UP006
        """Put back what differs. Adds to `changed` what was put back, and to `lost` what could not be."""
        for number, name in TIMERS:
            if _getitimer(number) != (0.0, 0.0):
                _setitimer(number, 0)
                changed.append(f"the timer {name}")
        now = [read() for read in self._reads]
        if now != self._known:
            for aspect, before, after in _zip(self._aspects, self._known, now):
                if after != before:
                    self._put_back(aspect, before, after, changed, lost)
        present = _list(_map(_getsignal, self._numbers))
        for number, before, after in _zip(self._numbers, self._handlers, present):
            if after is not before:
                self._put_back_signal(number, before, changed, lost)

    def _put_back(self, aspect: Aspect, before: Any, after: Any, changed: Any, lost: Any) -> None:
        words = aspect.words if aspect.which is None else f"{aspect.words} {aspect.which(before, after)}"
        try:
            if aspect.write is not None:
                aspect.write(before)
            done = aspect.read() == before
        except Exception:  # not permitted, mostly
            done = False
        (changed if done else lost).append(words)

    def _put_back_signal(self, number: int, before: Any, changed: Any, lost: Any) -> None:
        words = f"the handler of {_name_of(number)}"
        try:
            if before is None:  # it was installed by C code
                raise ValueError
            _signal_to(number, before)
            _renew_dumps(number)
            changed.append(words)
        except (OSError, ValueError):
            lost.append(words)


def _aspects() -> List[Aspect]:  # noqa: UP006
    found = [
        _limits(),
        Aspect("the signal mask", _mask, lambda mask: void(_sigmask(_SETMASK, mask))),
        Aspect("the signal wakeup descriptor", lambda: _wakeup(-1)),
        Aspect("the umask", *_masks()),
        Aspect("the user or group IDs", _ids, _set_ids),
        Aspect("the root directory", *_root()),
        Aspect("the working directory", *_folder()),
        Aspect("the priority (nice)", _niceness, lambda value: os.setpriority(os.PRIO_PROCESS, 0, value)),
        Aspect("the locale", _the_locale, lambda name: void(_locale.setlocale(_locale.LC_ALL, name))),
        Aspect("standard input", lambda: _fstat(0)[:3]),
        Aspect(
            "whether standard output blocks", lambda: os.get_blocking(1), lambda on: os.set_blocking(1, on)
        ),
        Aspect(
            "whether standard error blocks", lambda: os.get_blocking(2), lambda on: os.set_blocking(2, on)
        ),
        Aspect("error handlers of codecs", *_error_handlers()),
        *_of_the_interpreter(),
    ]
    if hasattr(os, "sched_getaffinity"):
        found += [
            Aspect(
                "the CPU affinity", lambda: os.sched_getaffinity(0), lambda on: os.sched_setaffinity(0, on)
            ),
            Aspect("the scheduler", lambda: os.sched_getscheduler(0)),
        ]
    return found + (_of_linux() if LINUX else [])


def _of_the_interpreter() -> List[Aspect]:  # noqa: UP006
    found = [
        Aspect("sys.tracebacklimit, sys.dont_write_bytecode or sys.pycache_prefix", _switches, _set_switches),
        Aspect("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
        Aspect("the switch interval", sys.getswitchinterval, sys.setswitchinterval),
        Aspect(
            "whether the garbage collector runs", gc.isenabled, lambda on: gc.enable() if on else gc.disable()
        ),
        Aspect(
            "the garbage collector's thresholds", gc.get_threshold, lambda known: gc.set_threshold(*known)
        ),
        Aspect("the garbage collector's debug flags", gc.get_debug, gc.set_debug),
        Aspect("the garbage collector's callbacks", lambda: _list(gc.callbacks), _set_callbacks),
        Aspect("the stack size of threads", _thread.stack_size, lambda size: void(_thread.stack_size(size))),
        Aspect("the fault handler", faulthandler.is_enabled, lambda _: faulthandler.enable(file=2)),
        Aspect("coroutine origin tracking", *_origin_tracking()),
    ]
    if hasattr(gc, "get_freeze_count"):
        found.append(Aspect("frozen objects of the garbage collector", gc.get_freeze_count, _unfreeze))
    if hasattr(sys, "get_int_max_str_digits"):  # 3.11, and later versions of those before
        get, put = sys.get_int_max_str_digits, sys.set_int_max_str_digits
        found.append(Aspect("the limit of digits of an int", get, put))
    if hasattr(sys, "getdlopenflags"):
        found.append(Aspect("the dlopen flags", sys.getdlopenflags, sys.setdlopenflags))
    monitoring = getattr(sys, "monitoring", None)  # 3.12
    if monitoring is not None:
        found.append(Aspect("tools of sys.monitoring", _tools(monitoring), lambda _: _free_tools(monitoring)))
    return found


def _switches() -> Any:
    return getattr(sys, "tracebacklimit", None), sys.dont_write_bytecode, sys.pycache_prefix


def _set_switches(known: Any) -> None:
    limit, sys.dont_write_bytecode, sys.pycache_prefix = known
    if limit is None:
        vars(sys).pop("tracebacklimit", None)
    else:
        sys.tracebacklimit = limit


def _of_linux() -> List[Aspect]:  # noqa: UP006
    prctl = ctypes.CDLL(None).prctl
    name = ctypes.create_string_buffer(16)

    def option(get: int, put: int, words: str) -> Aspect:
        def write(known: Any) -> None:
            prctl(put, known, 0, 0, 0)

        return Aspect(words, lambda: prctl(get, 0, 0, 0, 0), write if put else None)

    def read_name() -> bytes:
        prctl(GET_NAME, name)
        return name.raw

    found = [option(*known) for known in PRCTLS]
    found.append(Aspect("the process name", read_name, lambda known: void(prctl(SET_NAME, known))))
    try:
        timers = _private(os.open("/proc/self/timers", os.O_RDONLY))
        found.append(Aspect("the timers of timer_create()", lambda: _pread(timers, 4096, 0)))
    except OSError:  # not every kernel tells
        pass
    try:
        score = _private(os.open("/proc/self/oom_score_adj", os.O_RDONLY))
    except OSError:
        return found
    return [*found, Aspect("oom_score_adj", lambda: _pread(score, 16, 0), _set_score)]


def void(_: Any) -> None:
    """Drop a value, so that a lambda returns nothing."""


def _error_handlers() -> Tuple[Read, Write]:  # noqa: UP006
    names = ("strict", "ignore", "replace", "backslashreplace", "surrogateescape", "xmlcharrefreplace")

    def write(known: Any) -> None:
        for name, handler in _zip(names, known):
            codecs.register_error(name, handler)

    return (lambda: _list(_map(codecs.lookup_error, names))), write


def _limits() -> Aspect:
    names = {getattr(resource, name): name for name in _NAMES_OF_LIMITS}
    known = {number: _getrlimit(number) for number in names}

    def differing() -> List[int]:  # noqa: UP006
        return [number for number, limit in known.items() if _getrlimit(number) != limit]

    def write(_: Any) -> None:
        for number in differing():
            _setrlimit(number, known[number])

    def which(*_: Any) -> str:
        return ", ".join(names[number] for number in differing())

    return Aspect("the resource limit", _limits_as_text() or differing, write, which)


def _limits_as_text() -> Optional[Read]:  # noqa: UP045
    """Return a function that reads all limits at once, which takes a third of reading each of them."""
    try:
        file = _private(os.open("/proc/self/limits", os.O_RDONLY))
    except OSError:  # not Linux
        return None
    return lambda: _pread(file, 8192, 0)


def _mask() -> Any:
    return _sigmask(_BLOCK, ())


def _masks() -> Tuple[Read, Write]:  # noqa: UP006
    known = _umask(0o077)
    _umask(known)
    return (lambda: _umask(known)), (lambda value: void(_umask(value)))


def _ids() -> Any:
    resuid = getattr(os, "getresuid", None)
    if resuid is None:  # macOS
        return os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups()
    return resuid(), os.getresgid(), os.getgroups()


def _set_ids(known: Any) -> None:
    users, groups, others = known
    os.setresuid(-1, users[1], -1)
    os.setgroups(others)
    os.setresgid(*groups)
    os.setresuid(*users)


def _root() -> Tuple[Read, Write]:  # noqa: UP006
    kept = _private(os.open("/", os.O_RDONLY))

    def write(_: Any) -> None:
        _fchdir(kept)
        os.chroot(".")

    return (lambda: _stat("/")[1:3]), write


def _folder() -> Tuple[Read, Write]:  # noqa: UP006
    kept = _private(os.open(".", os.O_RDONLY))

    def read() -> Any:
        try:
            return _stat(".")[1:3]
        except OSError:
            return None

    return read, lambda _: _fchdir(kept)


def _niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def _the_locale() -> str:
    return _locale.setlocale(_locale.LC_ALL)


def _set_score(known: bytes) -> None:
    with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(known)


def _set_callbacks(known: Any) -> None:
    gc.callbacks[:] = known


def _unfreeze(_: Any) -> None:
    gc.unfreeze()


def _origin_tracking() -> Tuple[Read, Write]:  # noqa: UP006
    return sys.get_coroutine_origin_tracking_depth, sys.set_coroutine_origin_tracking_depth


def _tools(monitoring: Any) -> Read:
    numbers = range(6)
    return lambda: [monitoring.get_tool(number) for number in numbers]


def _free_tools(monitoring: Any) -> None:
    for number in range(6):
        if monitoring.get_tool(number) is not None:
            monitoring.set_events(number, 0)
            monitoring.free_tool_id(number)


def _renew_dumps(number: int) -> None:
    """Install the handlers of faulthandler again, which Python's own signal functions replace."""
    if number == _signal.SIGUSR2:
        faulthandler.unregister(number)
        faulthandler.register(number, file=2)
    elif number in (_signal.SIGSEGV, _signal.SIGFPE, _signal.SIGABRT, _signal.SIGILL):
        faulthandler.disable()
        faulthandler.enable(file=2)


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _private(descriptor: int) -> int:
    """Move a descriptor out of the way, and close it for the programs that handlers start."""
    import fcntl

    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, PRIVATE)
    except OSError:  # fewer descriptors than that are allowed here
        return descriptor
    os.close(descriptor)
    return moved
