"""Settings of the process that a handler can change: limits, timers, signals, IDs, folders and more.

Everything is read once before the first handler and again after each one, which takes some 20 µs. Differences
are restored and reported. If one cannot be restored, that is reported too, and the host replaces the worker.
"""

from __future__ import annotations

import _locale
import _thread
import codecs
import ctypes
import faulthandler
import fcntl
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

_signal: Any = sys.modules["_signal"]  # its functions return numbers, those of `signal` return enum members
PRIVATE = 200  # lowest number of our descriptors, above those that programs use
LINUX = sys.platform == "linux"
# Options of prctl that read and that set a setting; 0: it cannot be set back.
PRCTLS = (
    (3, 4, "the dumpable flag"),
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

DECIMAL_FIELDS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
DEFAULT_DECIMAL = (28, "ROUND_HALF_EVEN", -999999, 999999, 1, 0)
DEFAULT_POLICY_FIELDS = ("_local", "_watcher")  # attributes of an unchanged event loop policy
WARNING = 30

# Bound before any handler runs.
_stat, _fstat, _pread, _umask, _fchdir = os.stat, os.fstat, os.pread, os.umask, os.fchdir
_getrlimit, _setrlimit = resource.getrlimit, resource.setrlimit
_getitimer, _setitimer = _signal.getitimer, _signal.setitimer
_sigmask, _BLOCK, _SETMASK = _signal.pthread_sigmask, _signal.SIG_BLOCK, _signal.SIG_SETMASK
_getsignal, _signal_to, _wakeup = _signal.getsignal, _signal.signal, _signal.set_wakeup_fd
_modules, _map, _tuple, _list, _zip = sys.modules, map, tuple, list, zip

# If a limit has two names (RLIMIT_NOFILE, RLIMIT_OFILE), the first is used.
_NAMES_OF_LIMITS = sorted((name for name in dir(resource) if name.startswith("RLIMIT_")), reverse=True)

Read = Callable[[], Any]
Write = Callable[[Any], None]  # restores the value that was read before any handler


class ProcessSetting(NamedTuple):
    """One setting of the process that can be read and compared."""

    words: str
    read: Read
    write: Write | None = None  # None: it cannot be restored
    which: Callable[[Any, Any], str] | None = None  # names the differing parts


class ProcessState:
    """The state of the process (umask, signals, locale, …) before any handler runs, and how to restore it."""

    def __init__(self) -> None:
        self._settings = _settings()
        self._reads = [setting.read for setting in self._settings]
        self._numbers = sorted(number for number in _signal.valid_signals())
        self._handlers = _list(_map(_getsignal, self._numbers))
        self._known = [read() for read in self._reads]

    def restore(self, changed: list[str], lost: list[str]) -> None:
        """Restore changed settings. Add the restored ones to `changed`, and the others to `lost`."""
        for number, name in TIMERS:
            if _getitimer(number) != (0.0, 0.0):
                _setitimer(number, 0)
                changed.append(f"the timer {name}")
        now = [read() for read in self._reads]
        if now != self._known:
            for setting, before, after in _zip(self._settings, self._known, now):
                if after != before:
                    words = _words(setting, before, after)  # before it is restored
                    (changed if _restored(setting, before) else lost).append(words)
        present = _list(_map(_getsignal, self._numbers))
        for number, before, after in _zip(self._numbers, self._handlers, present):
            if after is not before:
                is_restored = _restored_signal(number, before)
                (changed if is_restored else lost).append(f"the handler of {_signal_name(number)}")


def _words(setting: ProcessSetting, before: Any, after: Any) -> str:
    return setting.words if setting.which is None else f"{setting.words} {setting.which(before, after)}"


def _restored(setting: ProcessSetting, known: Any) -> bool:
    """Restore a setting. False if that fails."""
    try:
        if setting.write is not None:
            setting.write(known)
        return bool(setting.read() == known)
    except Exception:  # mostly: not permitted
        return False


def _restored_signal(number: int, known: Any) -> bool:
    try:
        if known is None:  # it was installed by C code
            raise ValueError
        _signal_to(number, known)
        _enable_dumps(number)
    except (OSError, ValueError):
        return False
    return True


def _settings() -> list[ProcessSetting]:
    found = [
        _limits(),
        ProcessSetting("the signal mask", _signal_mask, lambda mask: void(_sigmask(_SETMASK, mask))),
        ProcessSetting("the signal wakeup descriptor", lambda: _wakeup(-1)),
        ProcessSetting("the umask", *_file_mask()),
        ProcessSetting("the user or group IDs", _ids, _set_ids),
        ProcessSetting("the root directory", *_root_directory()),
        ProcessSetting("the working directory", *_working_directory()),
        ProcessSetting(
            "the priority (nice)", _niceness, lambda value: os.setpriority(os.PRIO_PROCESS, 0, value)
        ),
        ProcessSetting(
            "the locale", _locale_name, lambda name: void(_locale.setlocale(_locale.LC_ALL, name))
        ),
        ProcessSetting("standard input", lambda: _fstat(0)[:3]),
        ProcessSetting(
            "stdout's blocking mode", lambda: os.get_blocking(1), lambda on: os.set_blocking(1, on)
        ),
        ProcessSetting(
            "stderr's blocking mode", lambda: os.get_blocking(2), lambda on: os.set_blocking(2, on)
        ),
        ProcessSetting("error handlers of codecs", *_error_handlers()),
        *_interpreter_settings(),
    ]
    if hasattr(os, "sched_getaffinity"):
        found += [
            ProcessSetting(
                "the CPU affinity", lambda: os.sched_getaffinity(0), lambda on: os.sched_setaffinity(0, on)
            ),
            ProcessSetting("the scheduler", lambda: os.sched_getscheduler(0)),
        ]
    return found + (_linux_settings() if LINUX else [])


def _interpreter_settings() -> list[ProcessSetting]:
    found = [
        ProcessSetting(
            "sys.tracebacklimit, sys.dont_write_bytecode or sys.pycache_prefix", _switches, _set_switches
        ),
        ProcessSetting("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
        ProcessSetting("the switch interval", sys.getswitchinterval, sys.setswitchinterval),
        ProcessSetting(
            "garbage collection on or off", gc.isenabled, lambda on: gc.enable() if on else gc.disable()
        ),
        ProcessSetting(
            "the garbage collector's thresholds", gc.get_threshold, lambda known: gc.set_threshold(*known)
        ),
        ProcessSetting("the garbage collector's debug flags", gc.get_debug, gc.set_debug),
        ProcessSetting("the garbage collector's callbacks", lambda: _list(gc.callbacks), _set_callbacks),
        ProcessSetting(
            "the stack size of threads", _thread.stack_size, lambda size: void(_thread.stack_size(size))
        ),
        ProcessSetting("the fault handler", faulthandler.is_enabled, lambda _: faulthandler.enable(file=2)),
        ProcessSetting("coroutine origin tracking", *_origin_tracking()),
    ]
    if hasattr(gc, "get_freeze_count"):
        found.append(
            ProcessSetting("frozen objects of the garbage collector", gc.get_freeze_count, _unfreeze)
        )
    if hasattr(sys, "get_int_max_str_digits"):  # 3.11, and patch releases of older versions
        get, put = sys.get_int_max_str_digits, sys.set_int_max_str_digits
        found.append(ProcessSetting("the digit limit of int", get, put))
    if hasattr(sys, "getdlopenflags"):
        found.append(ProcessSetting("the dlopen flags", sys.getdlopenflags, sys.setdlopenflags))
    monitoring = getattr(sys, "monitoring", None)  # 3.12
    if monitoring is not None:
        found.append(
            ProcessSetting(
                "tools of sys.monitoring",
                _monitoring_tools(monitoring),
                lambda _: _free_monitoring_tools(monitoring),
            )
        )
    return found


def _switches() -> Any:
    return getattr(sys, "tracebacklimit", None), sys.dont_write_bytecode, sys.pycache_prefix


def _set_switches(known: Any) -> None:
    limit, sys.dont_write_bytecode, sys.pycache_prefix = known
    if limit is None:
        vars(sys).pop("tracebacklimit", None)
    else:
        sys.tracebacklimit = limit


def _linux_settings() -> list[ProcessSetting]:
    prctl = ctypes.CDLL(None).prctl
    name = ctypes.create_string_buffer(16)

    def option(get: int, put: int, words: str) -> ProcessSetting:
        def write(known: Any) -> None:
            prctl(put, known, 0, 0, 0)

        return ProcessSetting(words, lambda: prctl(get, 0, 0, 0, 0), write if put else None)

    def read_name() -> bytes:
        prctl(GET_NAME, name)
        return name.raw

    found = [option(*known) for known in PRCTLS]
    found.append(ProcessSetting("the process name", read_name, lambda known: void(prctl(SET_NAME, known))))
    try:
        timers = _private(os.open("/proc/self/timers", os.O_RDONLY))
        found.append(ProcessSetting("the timers of timer_create()", lambda: _pread(timers, 4096, 0)))
    except OSError:  # not every kernel has this file
        pass
    try:
        score = _private(os.open("/proc/self/oom_score_adj", os.O_RDONLY))
    except OSError:
        return found
    return [*found, ProcessSetting("oom_score_adj", lambda: _pread(score, 16, 0), _set_score)]


def void(_: Any) -> None:
    """Drop a value, so that a lambda returns None."""


def _error_handlers() -> tuple[Read, Write]:
    names = ("strict", "ignore", "replace", "backslashreplace", "surrogateescape", "xmlcharrefreplace")

    def write(known: Any) -> None:
        for name, handler in _zip(names, known):
            codecs.register_error(name, handler)

    return (lambda: _list(_map(codecs.lookup_error, names))), write


def _limits() -> ProcessSetting:
    names = {getattr(resource, name): name for name in _NAMES_OF_LIMITS}
    known = {number: _getrlimit(number) for number in names}

    def differing() -> list[int]:
        return [number for number, limit in known.items() if _getrlimit(number) != limit]

    def write(_: Any) -> None:
        for number in differing():
            _setrlimit(number, known[number])

    def which(*_: Any) -> str:
        return ", ".join(names[number] for number in differing())

    return ProcessSetting("the resource limit", _limits_as_text() or differing, write, which)


def _limits_as_text() -> Read | None:
    """Return a function that reads all limits at once, three times as fast as one by one."""
    try:
        file = _private(os.open("/proc/self/limits", os.O_RDONLY))
    except OSError:  # not Linux
        return None
    return lambda: _pread(file, 8192, 0)


def _signal_mask() -> Any:
    return _sigmask(_BLOCK, ())


def _file_mask() -> tuple[Read, Write]:
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


def _root_directory() -> tuple[Read, Write]:
    kept = _private(os.open("/", os.O_RDONLY))

    def write(_: Any) -> None:
        _fchdir(kept)
        os.chroot(".")

    return (lambda: _stat("/")[1:3]), write


def _working_directory() -> tuple[Read, Write]:
    kept = _private(os.open(".", os.O_RDONLY))

    def read() -> Any:
        try:
            return _stat(".")[1:3]
        except OSError:
            return None

    return read, lambda _: _fchdir(kept)


def _niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def _locale_name() -> str:
    return _locale.setlocale(_locale.LC_ALL)


def _set_score(known: bytes) -> None:
    with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(known)


def _set_callbacks(known: Any) -> None:
    gc.callbacks[:] = known


def _unfreeze(_: Any) -> None:
    gc.unfreeze()


def _origin_tracking() -> tuple[Read, Write]:
    return sys.get_coroutine_origin_tracking_depth, sys.set_coroutine_origin_tracking_depth


def _monitoring_tools(monitoring: Any) -> Read:
    numbers = range(6)
    return lambda: [monitoring.get_tool(number) for number in numbers]


def _free_monitoring_tools(monitoring: Any) -> None:
    for number in range(6):
        if monitoring.get_tool(number) is not None:
            monitoring.set_events(number, 0)
            monitoring.free_tool_id(number)


def _enable_dumps(number: int) -> None:
    """Install the handlers of faulthandler again, because Python's signal functions replace them."""
    if number == _signal.SIGUSR2:
        faulthandler.unregister(number)
        faulthandler.register(number, file=2)
    elif number in (_signal.SIGSEGV, _signal.SIGFPE, _signal.SIGABRT, _signal.SIGILL):
        faulthandler.disable()
        faulthandler.enable(file=2)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _private(descriptor: int) -> int:
    """Move a descriptor to a high number, where started programs do not inherit it."""
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, PRIVATE)
    except OSError:  # the limit of descriptors is lower
        return descriptor
    os.close(descriptor)
    return moved


# Settings in modules of the standard library


class LibrarySetting(NamedTuple):
    """A process-wide setting that is stored in a module of the standard library."""

    module: str
    words: str
    known: Any  # its value after the module was loaded
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], Any]
    is_kept_after_load: bool = False  # a value that a hook sets while loading is kept, as in its host


class LibrarySettings:
    """The settings in library modules before any handler runs, and how to restore them."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {setting.words: setting.known for setting in LIBRARY_SETTINGS}

    def restore(self, changed: list[str], is_load: bool) -> None:
        """Restore changed settings, and add them to `changed`."""
        for setting in LIBRARY_SETTINGS:
            module = _modules.get(setting.module)
            if module is None:
                continue
            now, before = setting.read(module), self._known[setting.words]
            if now == before:
                continue
            if is_load and setting.is_kept_after_load:
                self._known[setting.words] = now
                continue
            setting.write(module, before)
            changed.append(setting.words)


def _context_state(context: Any) -> Any:
    return _tuple([getattr(context, name) for name in DECIMAL_FIELDS])


def _decimal(module: Any) -> Any:
    return _context_state(module.getcontext()), _context_state(module.DefaultContext)


def _set_decimal(module: Any, known: Any) -> None:
    for context, values in zip((module.getcontext(), module.DefaultContext), known):  # noqa: B905  (3.9)
        for name, value in zip(DECIMAL_FIELDS, values):  # noqa: B905  (3.9)
            setattr(context, name, value)


def _logging(module: Any) -> Any:
    root = module.root
    handlers, filters = _tuple(root.handlers), _tuple(root.filters)
    return root.level, handlers, filters, root.disabled, root.manager.disable, module.raiseExceptions


def _set_logging(module: Any, known: Any) -> None:
    root = module.root
    root.level, handlers, filters, root.disabled, root.manager.disable, module.raiseExceptions = known
    root.handlers[:], root.filters[:] = handlers, filters
    root.manager._clear_cache()


def _policy(module: Any) -> Any:
    policy = getattr(module, "_event_loop_policy", None)
    if policy is None or (
        type(policy).__module__[:8] == "asyncio." and not set(vars(policy)) - set(DEFAULT_POLICY_FIELDS)
    ):
        return None
    return policy


def _set_policy(module: Any, _: Any) -> None:
    module._event_loop_policy = None


def _temporary(module: Any) -> Any:
    """Return the temporary folder that a handler has set in `tempfile`; None if it is unset or a default."""
    folder = module.tempdir
    return None if folder is None or folder in module._candidate_tempdir_list() else folder


LIBRARY_SETTINGS = (
    LibrarySetting(
        "tempfile", "tempfile.tempdir", None, _temporary, lambda module, _: setattr(module, "tempdir", None)
    ),
    LibrarySetting(
        "_socket",
        "the default timeout of sockets",
        None,
        lambda module: module.getdefaulttimeout(),
        lambda module, known: module.setdefaulttimeout(known),
    ),
    LibrarySetting(
        "decimal", "the decimal context", (DEFAULT_DECIMAL, DEFAULT_DECIMAL), _decimal, _set_decimal
    ),
    LibrarySetting(
        "logging",
        "the root logger",
        (WARNING, (), (), False, 0, True),
        _logging,
        _set_logging,
        is_kept_after_load=True,
    ),
    LibrarySetting("asyncio.events", "the event loop policy", None, _policy, _set_policy),
    LibrarySetting(
        "asyncio.events",
        "the running event loop",
        None,
        lambda module: module._get_running_loop(),
        lambda module, known: module._set_running_loop(known),
    ),
)
