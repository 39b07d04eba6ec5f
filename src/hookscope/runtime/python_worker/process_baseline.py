"""The worker process before any handler: restored after each one, with notes on changes and leftovers.

The baseline is read once before any handler and compared after each one. That takes some 50 µs if nothing has
changed, which is nearly always the case.
"""

from __future__ import annotations

import _thread
import builtins
import ctypes
import io
import os
import resource
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from glob import iglob
from typing import Any

from .process_state import LibrarySettings, ProcessState
from .standard_library import HOOK_PREFIX, StandardLibrary, list_names

# Functions of asyncio, which is loaded for the first handler that needs it, and where they are defined.
ASYNCIO = (
    ("new_event_loop", "events"),
    ("set_event_loop", "events"),
    ("all_tasks", "tasks"),
    ("gather", "tasks"),
)
VERSION_OFFSET = 24  # bytes from a dictionary's start to its version, after reference count, type and size
MAX_OPEN = 64  # descriptors that a handler may leave open before it counts as a leak
IDLE_FUNCTION = "_worker"  # in which an idle thread of an executor waits
REST_INTERVAL, REST_CHECKS = 0.001, 100  # seconds; how often a busy thread is checked again
LISTENER_THREADS = 1  # one thread listens to the host

# Bound before any handler runs.
_environ = os.environ
_variables: Any = getattr(_environ, "_data", _environ)  # encoded, and so fast to compare
_argv, _path, _modules = sys.argv, sys.path, sys.modules
_all, _zip, _list, _getattr = all, zip, list, getattr
_set_thread_trace: Any = threading.settrace  # of threads that start later
_set_thread_profile: Any = threading.setprofile
_forget_filters: Any = getattr(warnings, "_filters_mutated", lambda: None)  # clears the cache of `warnings`
_builtins: dict[str, Any] = vars(builtins)
_held, _update, _items = _builtins.get, _builtins.update, dict.items
_count_threads, _getpid, _open, _frames = _thread._count, os.getpid, open, sys._current_frames
_sleep = time.sleep
_usage, _SELF = resource.getrusage, resource.RUSAGE_SELF
_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes per unit of the system's figure
_waitid: Any = getattr(os, "waitid", None)  # macOS has it from Python 3.13 on
_ANY_CHILD = (os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) if _waitid else ()  # without reaping it
_ENDED: tuple[list[str], ...] = ([], ["Z"])  # states of ended processes: gone, or not yet reaped


class ProcessBaseline:
    """The process before the first handler. `restore` restores it, and records what a handler changed."""

    def __init__(self, outputs: Any) -> None:
        """`outputs`: see host_line.StandardOutputs."""
        self._restored: list[str] = []  # by the last `restore`, in words
        self._not_restored: list[str] = []
        self._env = self.environment()
        self._call_env: dict[Any, Any] = {}  # variables set for the current handler, encoded
        self._argv = _list(_argv)
        self._path = _list(_path)
        self._call_path: list[str] = []  # sys.path as set for the current handler
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._files = [stream for stream in self._streams if isinstance(stream, io.IOBase)]
        self._encodings = _encodings(self._streams)
        self._outputs = outputs
        self.has_standard_outputs = True  # descriptors 1 and 2 were unchanged at the last `restore`
        self._importing: list[tuple[Any, list[Any]]] = []
        self._warnings: Any = warnings.filters
        self._filters = _list(self._warnings)
        self._zone = time.tzname
        self._process = ProcessState()
        self._library = StandardLibrary(dict_version)
        self._settings = LibrarySettings()
        self._audit_hooks = 0  # added by handlers
        self.code_was_set = False  # of some function; `own_code` then compares those of the worker
        self._variables = _SystemEnvironment()
        self._builtins = dict(_builtins)
        self._builtins_version = dict_version(_builtins)
        self._builtins_seen = -1
        self._patched: list[str] = []  # builtins that the handler replaced or removed

    def begin(self) -> None:
        """Record the loaded modules as the baseline. Call this after the worker's own changes."""
        self._library.begin()
        self._importing = [(present, _list(present)) for present in (sys.meta_path, sys.path_hooks)]
        sys.addaudithook(self._audit)

    def accept(self, *names: str) -> None:
        """Record these library modules again, because the worker itself has changed them."""
        self._library.accept(*names)

    def _audit(self, event: str, arguments: Any) -> None:
        if event == "object.__setattr__" and arguments[1] == "__code__":
            self.code_was_set = True
        elif event == "sys.addaudithook":
            self._audit_hooks += 1

    def restore_builtins(self) -> None:
        """Restore the builtins, before our own code needs them. `restore` reports them later."""
        version = self._builtins_version
        if version is None or version.value != self._builtins_seen:
            self._patched += [
                f"builtins.{key}" for key, value in _items(self._builtins) if _held(key) is not value
            ]
            if self._patched:
                _update(self._builtins)
            if version is not None:
                self._builtins_seen = version.value

    def restore(self, *, is_load: bool = False) -> bool:
        """Restore everything. Return False if something stays changed: the host must replace this process."""
        self.has_standard_outputs = False
        changed: list[str] = []
        lost: list[str] = []
        self._restored, self._not_restored = changed, lost
        try:
            self._restore_interpreter(changed, lost, is_load)
            names = [*self.restore_environment(), *self._variables.restore(self._env)]
            if names and not is_load:
                changed.append(f"the environment ({list_names(names)})")
            if time.tzname != self._zone:
                time.tzset()
                changed.append("the time zone")
            self._settings.restore(changed, is_load)
            if self._audit_hooks:
                lost.append("the audit hooks, which Python cannot remove")
            self.has_standard_outputs = self._restore_streams(changed, lost) and self._outputs.are_unchanged()
            if not self.has_standard_outputs and not lost:
                lost.append("standard output or standard error")
            if not _is_asyncio_unchanged():
                lost.append("the asyncio module")
            return self.has_standard_outputs and not lost
        except BaseException:  # after any error the process counts as changed
            lost.append("the process in a way that cannot be compared")
            return False

    def _restore_interpreter(self, changed: list[str], lost: list[str], is_load: bool) -> None:
        self.restore_builtins()
        if self._patched:
            changed.append(list_names(self._patched))
            self._patched = []
        if len(_builtins) != len(self._builtins):
            self._remove_added_builtins(changed, is_load)
        self._process.restore(changed, lost)
        self._library.restore(changed, lost)
        self._restore_paths(changed, is_load)
        self._restore_imports(changed)
        if self._warnings != self._filters or warnings.filters is not self._warnings:
            warnings.filters = self._warnings
            self._warnings[:] = self._filters
            _forget_filters()
            changed.append("the filters of warnings")
        _set_thread_trace(None)
        _set_thread_profile(None)

    def change_notes(self, who: str) -> list[str]:
        """Return notes on the last `restore`. `who` is their subject, such as "it"."""
        notes = []
        if self._restored:
            notes.append(f"{who} changed: {', '.join(self._restored)}. Hookscope restored it")
        if self._not_restored:
            lost, more = ", ".join(self._not_restored), "the next handler gets a new worker"
            notes.append(f"{who} changed: {lost}. That cannot be restored, so {more}")
        return notes

    def environment(self) -> dict[Any, Any]:
        """Return the encoded environment, which is much faster to copy and compare than os.environ."""
        return dict(_variables)

    def environment_changes(self, before: dict[Any, Any]) -> dict[str, str]:
        """Return the variables that an import has set since `before`. Only its own handler needs them."""
        changed = [(raw, value) for raw, value in _variables.items() if before.get(raw) != value]
        return {_environ.decodekey(raw): _environ.decodevalue(value) for raw, value in changed}

    def set_environment(self, env: dict[str, str]) -> list[str]:
        """Set variables for the next handler. Return the names of invalid ones."""
        rejected: list[str] = []
        for name, value in env.items():
            try:
                _environ[name] = value
                self._call_env[_environ.encodekey(name)] = _environ.encodevalue(value)
            except (OSError, TypeError, ValueError):  # "", "A=B", a null byte
                rejected.append(name)
        return rejected

    def add_to_path(self, folders: tuple[list[str], list[str]]) -> None:
        """Add folders to the front and the end of sys.path for the next handler."""
        front, end = folders
        if front or end:
            _path[:] = [*front, *_path, *end]
            self._call_path[:] = _path

    def restore_environment(self) -> list[str]:
        """Restore only the environment. Return the names of the variables that a handler changed."""
        if _variables == self._env and os.environ is _environ:
            return []
        known = {**self._env, **self._call_env}
        now = dict(_variables)
        names = [_environ.decodekey(raw) for raw in {**known, **now} if now.get(raw) != known.get(raw)]
        os.environ = _environ  # noqa: B003  (it is the same object)
        for name in _list(_environ):
            if _environ.encodekey(name) not in self._env:
                del _environ[name]
        for raw, value in self._env.items():
            if _variables.get(raw) != value:
                _environ[_environ.decodekey(raw)] = _environ.decodevalue(value)
        self._call_env.clear()
        return names

    def _remove_added_builtins(self, changed: list[str], is_load: bool) -> None:
        """Remove new builtins, such as the `_` of gettext. A module keeps those that it adds itself."""
        added = [key for key in _builtins if key not in self._builtins]
        for key in added:
            del _builtins[key]
        if not is_load:
            changed.append(list_names([f"builtins.{key}" for key in added]))

    def _restore_paths(self, changed: list[str], is_load: bool) -> None:
        if sys.argv is not _argv or _argv != self._argv:
            sys.argv = _argv
            _argv[:] = self._argv
        if sys.path is not _path or _path != self._path:
            was_extended = is_load and [entry for entry in sys.path if entry in self._path] == self._path
            was_set_by_us = bool(self._call_path) and _path == self._call_path
            if sys.path is not _path or not (was_set_by_us or was_extended):
                changed.append("sys.path")
            sys.path = _path
            _path[:] = self._path
            self._call_path.clear()

    def _restore_imports(self, changed: list[str]) -> None:
        """Remove finders that a hook's own code has added, and restore removed ones."""
        for name, (present, known) in _zip(("meta_path", "path_hooks"), self._importing):
            if _getattr(sys, name) is present and present == known:
                continue
            now = _list(_getattr(sys, name))
            kept = [finder for finder in now if finder in known or not _is_hook_finder(finder)]
            is_complete = _all(finder in kept for finder in known)
            if _getattr(sys, name) is not present or kept != now or not is_complete:
                changed.append(f"sys.{name}")
            setattr(sys, name, present)
            present[:] = kept if is_complete else [*known, *(one for one in kept if one not in known)]
            known[:] = present
        cache = sys.path_importer_cache
        for path, finder in _list(cache.items()):
            if finder is not None and _is_hook_finder(finder):
                del cache[path]

    def _restore_streams(self, changed: list[str], lost: list[str]) -> bool:
        if (sys.stdin, sys.stdout, sys.stderr) != self._streams:
            sys.stdin, sys.stdout, sys.stderr = self._streams
            changed.append("sys.stdin, sys.stdout or sys.stderr")
        for stream in self._files:
            if stream.closed:
                lost.append(f"{_getattr(stream, 'name', 'a standard stream')}, which it closed")
                return False
        if _encodings(self._streams) != self._encodings:
            for text, known in _zip(self._streams, self._encodings):
                if known is not None and isinstance(text, io.TextIOWrapper):
                    encoding, errors, by_line, through = known
                    text.reconfigure(
                        encoding=encoding, errors=errors, line_buffering=by_line, write_through=through
                    )
            changed.append("the encoding or buffering of standard streams")
        return True


class _SystemEnvironment:
    """The environment that C code and new processes see, which `os.putenv` changes without `os.environ`."""

    def __init__(self) -> None:
        self._known, self._size = b"", 0
        try:
            self._pointer: Any = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "environ")
        except ValueError:  # macOS has no such symbol
            self._pointer = None

    def restore(self, env: dict[Any, Any]) -> list[str]:
        """Make the environment equal to `env`. Return the names of the variables that differed."""
        at = self._pointer.value if self._pointer is not None else None
        if at is None or (self._size and ctypes.string_at(at, self._size) == self._known):
            return []
        now: dict[bytes, bytes] = {}
        entries, count = ctypes.cast(at, ctypes.POINTER(ctypes.c_char_p)), 0
        while (entry := entries[count]) is not None:
            name, _, value = entry.partition(b"=")
            now[name] = value
            count += 1
        names = [name for name in {**env, **now} if env.get(name) != now.get(name)]
        for name in names:
            if name in env:
                os.putenv(name, env[name])
            else:
                os.unsetenv(name)
        self._size = 0 if names else ctypes.sizeof(ctypes.c_void_p) * (count + 1)
        self._known = ctypes.string_at(at, self._size)
        return [name.decode("utf-8", "replace") for name in names]


def _encodings(streams: Sequence[Any]) -> list[Any]:
    return [
        (stream.encoding, stream.errors, stream.line_buffering, stream.write_through)
        if type(stream) is io.TextIOWrapper
        else None
        for stream in streams
    ]


def _is_hook_finder(finder: Any) -> bool:
    """Return True if a finder is defined by a hook's own code, not by a library."""
    for found in (finder, type(finder)):
        module = _getattr(found, "__module__", None)
        if type(module) is str:
            return module.startswith(HOOK_PREFIX) or module not in _modules
    return True


def dict_version(names: dict[str, Any]) -> Any:
    """Return a dictionary's version, which changes with each write; read it as `.value`.

    None if the interpreter has no versions (3.13 and later) or stores them elsewhere.
    """
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 13) or object.__basicsize__ != 16:
        return None
    probe = {"a": 1}
    version = ctypes.c_uint64.from_address(id(probe) + VERSION_OFFSET)
    before = version.value
    is_same = version.value == before and probe["a"] == 1 and version.value == before
    probe["a"] = 2
    if not is_same or version.value == before:
        return None
    return ctypes.c_uint64.from_address(id(names) + VERSION_OFFSET)


def _is_asyncio_unchanged() -> bool:
    """Return False if functions of asyncio were replaced."""
    loaded = _modules.get("asyncio")
    if loaded is None:
        return True
    for name, home in ASYNCIO:
        if _getattr(loaded, name, None) is not _getattr(_getattr(loaded, home, None), name, loaded):
            return False
    return True


# Threads and processes that handlers leave running


class LeftoversWatch:
    """Watches threads and child processes of handlers. A check takes microseconds if there are none."""

    def __init__(self) -> None:
        self._threads, self._processes = self._first = _running_threads(), _running_children()

    def check(self) -> tuple[str, bool]:
        """Return (a description of what was started since the last check and runs, whether anything runs)."""
        threads, processes = _running_threads(), _running_children()
        if threads == self._threads and not processes and not self._processes:  # nearly always
            return "", threads > LISTENER_THREADS
        words = _describe_new((self._threads, self._processes), (threads, processes))
        self._threads, self._processes = threads, processes
        return words, threads > LISTENER_THREADS or bool(processes)

    def since_start(self) -> str:
        """Return what is running and new since this object was created, in words."""
        return _describe_new(self._first, (_running_threads(), _running_children()))


def _describe_new(before: tuple[int, set[int]], now: tuple[int, set[int]]) -> str:
    counts = ((now[0] - before[0], "thread"), (len(now[1] - before[1]), "process"))
    return " and ".join(_count_words(count, noun) for count, noun in counts if count > 0)


def _count_words(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}{'es' if noun[-1] == 's' else 's'}"


def _running_threads() -> int:
    """Return the number of threads, without the idle ones that asyncio keeps for `to_thread`."""
    count: int = _count_threads()
    if count <= LISTENER_THREADS or "threading" not in sys.modules:
        return count
    try:
        known = sys.modules["threading"].enumerate()
        own = [thread for thread in known if thread.name.startswith("asyncio_")]
        return count - len(own) + _count_busy(own)
    except BaseException:  # a handler has changed `threading`
        return count


def _count_busy(threads: list[Any]) -> int:
    """Return how many threads of asyncio are busy. One that has just finished gets time to become idle."""
    busy = threads
    for _ in range(REST_CHECKS):
        frames = _frames()
        busy = [one for one in busy if one.is_alive() and frames[one.ident].f_code.co_name != IDLE_FUNCTION]
        if not busy:
            break
        _sleep(REST_INTERVAL)
    return len(busy)


def _running_children() -> set[int]:
    """Return the IDs of running child processes. Empty if that cannot be known."""
    found: set[int] = set()
    try:
        _waitid(*_ANY_CHILD)
    except BaseException:  # there are none, nearly always; or there is no waitid
        return found
    try:
        for path in iglob(f"/proc/{_getpid()}/task/*/children"):
            found.update(int(pid) for pid in _read_file(path).split())
    except BaseException:  # the system does not report it
        return set()
    return {
        pid for pid in found if _read_file(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] not in _ENDED
    }


def _read_file(path: str) -> str:
    try:
        with _open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:  # gone, or not supported
        return ""


# Notes of an answer


class AnswerNotes:
    """Adds notes to answers: what a call left running or open, and which variables it did not get."""

    def __init__(self, line: Any, memory: int) -> None:
        """`memory` is the worker's limit in bytes, 0 for none."""
        self._line, self._memory = line, memory
        self._max_free = line.lowest_free_descriptor() + MAX_OPEN
        self.rejected_variables: list[str] = []  # names of variables that are impossible in an environment
        self.is_shared = False  # threads or processes of an earlier handler are running
        self._skipped: dict[str, None] = {}  # positions of `breakpoint()` calls without a debugger
        sys.breakpointhook = self._skip_breakpoint

    def _skip_breakpoint(self, *_: object, **__: object) -> None:
        frame = sys._getframe(1)
        self._skipped[f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"] = None

    def add_memory_note(self, answer: dict[str, Any]) -> None:
        """Note that this process has grown, so that the host replaces it."""
        if _has_grown(self._memory):
            add_notes(answer, "its worker has used more than half of its memory limit, and is replaced")
            answer["worn"] = True

    def add_leftovers(self, answer: dict[str, Any], watch: LeftoversWatch, who: str = "it") -> None:
        """Note what the call left running and open, and what was not available. `who`: the subject."""
        left, self.is_shared = watch.check()
        try:
            free = self._line.lowest_free_descriptor()
        except BaseException:  # raised by an audit hook that a handler has added
            free = 0
            answer["dirty"] = True
        if not 0 <= free <= self._max_free:
            left_open = "all descriptors" if free < 0 else f"more than {MAX_OPEN} descriptors"
            add_notes(answer, f"{who} left {left_open} open")
            answer["dirty"] = True
        if left:
            answer["left"], answer["apart"] = left, True
            add_notes(answer, f"{who} left {left} running: handlers of other hooks run in another worker")
        if self._skipped:
            places, self._skipped = ", ".join(list(self._skipped)[:8]), {}
            add_notes(answer, f"breakpoint() was skipped ({places}): `fire --debug` stops there")
        if self.rejected_variables:
            names = ", ".join(repr(name)[:80] for name in self.rejected_variables[:8])
            add_notes(answer, f"omitted from its environment, because they are invalid: {names}")


def add_task_notes(answer: dict[str, Any], unfinished: int, who: str = "it") -> None:
    """Note how many unfinished asyncio tasks were left."""
    if unfinished:
        tasks = f"asyncio task{'s' * (unfinished > 1)}"
        add_notes(
            answer,
            f"{who} left {unfinished} {tasks} unfinished, which Hookscope cancelled: "
            "`await` tasks that must finish",
        )


def add_notes(answer: dict[str, Any], *notes: str) -> None:
    if notes:
        answer["notes"] = [*answer.get("notes", ()), *notes]


def _has_grown(memory: int) -> bool:
    """Return True if this process ever used more than half of its limit: it does not return memory."""
    return memory > 0 and _usage(_SELF).ru_maxrss * _UNIT > memory // 2 and _peak_memory() > memory // 2


def _peak_memory() -> int:
    """Return the peak memory of this process; more than any limit if it is unknown.

    On Linux, `getrusage` includes the host's memory before it executed this program.
    """
    peak = _read_file("/proc/self/status").partition("VmHWM:")[2].split()[:1]
    return int(peak[0]) * 1024 if peak else sys.maxsize
