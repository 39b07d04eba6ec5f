"""What a handler may disturb in its process, put back behind it.

Looked at once, before any handler, and compared after each: the comparison costs some microseconds
where nothing was disturbed, which is nearly always.
"""

from __future__ import annotations

import builtins
import ctypes
import io
import json
import os
import queue
import signal
import struct
import sys
import threading
import time
import warnings
from operator import is_
from types import ModuleType
from typing import Any

# What the worker and most handlers stand on. A handler that replaces json.dumps does it for itself.
SHARED: tuple[ModuleType, ...] = (os, json, time, builtins, struct, queue, threading)
# Of asyncio, which is loaded for the first handler that needs it: name → where it is defined.
ASYNCIO = (
    ("new_event_loop", "events"),
    ("set_event_loop", "events"),
    ("all_tasks", "tasks"),
    ("gather", "tasks"),
)
SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGCHLD", "SIGPIPE", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)

# Bound before any handler runs.
_open, _fchdir = os.open, os.fchdir
_environ, _signal, _alarm = os.environ, signal.signal, signal.alarm
_variables: Any = getattr(_environ, "_data", _environ)  # as the system has them: quickly compared
_getsignal: Any = getattr(sys.modules.get("_signal"), "getsignal", signal.getsignal)  # without enumerations
_getlimit, _setlimit = sys.getrecursionlimit, sys.setrecursionlimit
_argv, _path = sys.argv, sys.path
_map, _all, _len, _zip, _list, _getattr = map, all, len, zip, list, getattr
_umask, _modules = os.umask, sys.modules
_settrace: Any = threading.settrace  # of threads that come
_setprofile: Any = threading.setprofile
_forget_filters: Any = getattr(warnings, "_filters_mutated", lambda: None)  # what is remembered of them
VERSION = 24  # bytes from a dictionary's beginning to its version: behind its references, type and size


class Baseline:
    """The process as it was before the first handler. `restore` puts it back so, or says that it cannot."""

    def __init__(self, outputs: Any) -> None:
        """`outputs`: see outputs.py."""
        self._cwd = _open(".", os.O_RDONLY)
        self._env = environ_now()
        self._argv = _list(_argv)
        self._path = _list(_path)
        self._signals = [(number, _getsignal(number)) for number in SIGNALS]
        self._numbers = [number for number, _ in self._signals]
        self._handlers = [handler for _, handler in self._signals]
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._files = [stream for stream in self._streams if isinstance(stream, io.IOBase)]
        self._outputs = outputs
        self.holds_outputs = True  # were 1 and 2 what they were when `restore` looked last
        self._names: list[dict[str, Any]] = []
        self._values: list[list[Any]] = []
        self._versions = [_version_of(vars(module)) for module in SHARED]
        self._seen: list[int] = []  # those versions, where they tell anything
        self._note_names()
        self._limit = _getlimit()
        self._umask = _umask(0o077)
        _umask(self._umask)
        self._count = _len(_modules)
        self._importing: list[tuple[Any, list[Any]]] = [
            (present, _list(present)) for present in (sys.meta_path, sys.path_hooks)
        ]
        self._accepted = [known for _, known in self._importing]  # those, and what has come beside them
        self._warnings: Any = warnings.filters
        self._filters = _list(self._warnings)

    def restore(self) -> bool:
        """Put everything back. False where something stays changed: this process is spoilt."""
        self.holds_outputs = False
        try:
            if _getlimit() != self._limit:
                _setlimit(self._limit)
            if not self._same_names():
                self._restore_names()
            if sys.argv is not _argv or sys.path is not _path or _argv != self._argv or _path != self._path:
                sys.argv, sys.path = _argv, _path
                _argv[:], _path[:] = self._argv, self._path
            sys.stdin, sys.stdout, sys.stderr = self._streams
            _alarm(0)
            if not _all(_map(is_, _map(_getsignal, self._numbers), self._handlers)):
                self._restore_signals()
            if not self._same_imports():
                self._restore_imports()
            if self._warnings != self._filters or warnings.filters is not self._warnings:
                warnings.filters = self._warnings
                self._warnings[:] = self._filters
                _forget_filters()
            _umask(self._umask)
            _settrace(None)
            _setprofile(None)
            self.restore_env()
            _fchdir(self._cwd)  # in any case: to ask where we are takes longer
            for stream in self._files:
                if stream.closed:
                    return False
            self.holds_outputs = self._outputs.hold()
            return self.holds_outputs and _is_whole()
        except BaseException:  # whatever it is, the process is no longer what it was
            return False

    def restore_env(self) -> None:
        """Only the environment: what an entry of the settings has laid over it."""
        if _variables != self._env or os.environ is not _environ:
            os.environ = _environ  # noqa: B003  (it is the very one, put back)
            for name in _list(_environ):
                if _environ.encodekey(name) not in self._env:
                    del _environ[name]
            for raw, value in self._env.items():
                if _variables.get(raw) != value:
                    _environ[_environ.decodekey(raw)] = _environ.decodevalue(value)

    def _note_names(self) -> None:
        self._names = [dict(vars(module)) for module in SHARED]
        self._values = [_list(names.values()) for names in self._names]
        self._seen = [version.value for version in self._versions if version is not None]

    def _same_names(self) -> bool:
        if self._seen and [version.value for version in self._versions] == self._seen:
            return True  # nobody has touched them
        for module, values in _zip(SHARED, self._values):
            present = vars(module)
            if _len(present) != _len(values) or not _all(_map(is_, present.values(), values)):
                return False
        if self._seen:
            self._seen = [version.value for version in self._versions]
        return True

    def _restore_names(self) -> None:
        """Only what was replaced or removed: a name that was added harms nobody."""
        for module, names in _zip(SHARED, self._names):
            present = vars(module)
            for name, value in names.items():
                if present.get(name) is not value:
                    present[name] = value
        self._note_names()

    def _same_imports(self) -> bool:
        """Nothing of what imports stand on was replaced, and no finder has come or gone since we looked."""
        (finders, _), (hooks, _) = self._importing
        return (
            sys.modules is _modules
            and _len(_modules) >= self._count
            and sys.meta_path is finders
            and sys.path_hooks is hooks
            and [finders, hooks] == self._accepted
        )

    def _restore_imports(self) -> None:
        """Raises where modules that everything stands on are gone."""
        if sys.modules is not _modules or _len(_modules) < self._count:
            raise RuntimeError("sys.modules is not what it was")
        for present, known in self._importing:
            if present != known and not _all(one in present for one in known):
                present[:] = [*known, *(one for one in present if one not in known)]
        self._accepted = [_list(present) for present, _ in self._importing]
        sys.meta_path, sys.path_hooks = self._importing[0][0], self._importing[1][0]

    def _restore_signals(self) -> None:
        for number, handler in self._signals:
            if handler is not None and _getsignal(number) is not handler:
                _signal(number, handler)


def _version_of(names: dict[str, Any]) -> Any:
    """The number that the interpreter gives a dictionary anew with each change, to be read as `.value`.

    None where it keeps none (3.13 and later), or not where we know it: then all values are compared.
    """
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 13) or object.__basicsize__ != 16:
        return None
    probe = {"a": 1}
    version = ctypes.c_uint64.from_address(id(probe) + VERSION)
    before = version.value
    same = version.value == before and probe["a"] == 1 and version.value == before
    probe["a"] = 2
    return ctypes.c_uint64.from_address(id(names) + VERSION) if same and version.value != before else None


def _is_whole() -> bool:
    """Is asyncio, where it is loaded, as its own modules define it."""
    loaded = _modules.get("asyncio")
    if loaded is None:
        return True
    for name, home in ASYNCIO:
        if _getattr(loaded, name, None) is not _getattr(_getattr(loaded, home, None), name, loaded):
            return False
    return True


def environ_now() -> dict[Any, Any]:
    """The environment as the system has it: to copy and compare that takes a hundredth of all its names."""
    return dict(_variables)


def changes_of_environ(before: dict[Any, Any]) -> dict[str, str]:
    """What an import set since `environ_now`: its handler relies on it, the other hooks must not see it."""
    changed = [(raw, value) for raw, value in _variables.items() if before.get(raw) != value]
    return {_environ.decodekey(raw): _environ.decodevalue(value) for raw, value in changed}


def lay_over(env: dict[str, str]) -> list[str]:
    """Set environment variables. The names of those that no environment can hold: they are left out."""
    left_out: list[str] = []
    for name, value in env.items():
        try:
            _environ[name] = value
        except (OSError, TypeError, ValueError):  # "", "A=B", a null byte
            left_out.append(name)
    return left_out
