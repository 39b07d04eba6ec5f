"""What a handler may disturb in its process, put back behind it."""

from __future__ import annotations

import builtins
import io
import json
import os
import signal
import sys
import time
from types import ModuleType

# What the worker and most handlers stand on. A handler that replaces json.dumps does it for itself.
SHARED: tuple[ModuleType, ...] = (os, json, time, builtins)
SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGCHLD", "SIGPIPE", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)

# Bound before any handler runs.
_getcwd, _chdir, _open, _close, _fchdir, _fstat = os.getcwd, os.chdir, os.open, os.close, os.fchdir, os.fstat
_environ, _getsignal, _signal, _alarm = os.environ, signal.getsignal, signal.signal, signal.alarm
_getlimit, _setlimit = sys.getrecursionlimit, sys.setrecursionlimit


class Before:
    """The process as it was before a handler. `restore` puts it back so, or says that it cannot."""

    def __init__(self) -> None:
        self._cwd = _open(".", os.O_RDONLY)
        self._env = dict(_environ)
        self._argv = list(sys.argv)
        self._path = list(sys.path)
        self._signals = [(number, _getsignal(number)) for number in SIGNALS]
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._outputs = [_identity(number) for number in (1, 2)]
        self._shared = [(module, dict(vars(module))) for module in SHARED]
        self._limit = _getlimit()

    def restore(self) -> bool:
        """Put everything back. False where something stays changed: this process is spoilt."""
        try:
            _setlimit(self._limit)
            self._restore_names()
            sys.argv[:], sys.path[:] = self._argv, self._path
            sys.stdin, sys.stdout, sys.stderr = self._streams
            self._restore_signals()
            self._restore_env()
            _fchdir(self._cwd)
            _close(self._cwd)
            whole = not any(stream.closed for stream in self._streams if isinstance(stream, io.IOBase))
            return whole and self._outputs == [_identity(number) for number in (1, 2)]
        except BaseException:  # whatever it is, the process is no longer what it was
            return False

    def _restore_names(self) -> None:
        """Only what was replaced or removed: a name that was added harms nobody."""
        for module, names in self._shared:
            present = vars(module)
            for name, value in names.items():
                if present.get(name) is not value:
                    present[name] = value

    def _restore_signals(self) -> None:
        _alarm(0)
        for number, handler in self._signals:
            if handler is not None and _getsignal(number) is not handler:
                _signal(number, handler)

    def _restore_env(self) -> None:
        if dict(_environ) != self._env:
            _environ.clear()
            _environ.update(self._env)


def _identity(descriptor: int) -> tuple[int, int]:
    status = _fstat(descriptor)
    return status.st_dev, status.st_ino


def changes_of_environ(before: dict[str, str]) -> dict[str, str]:
    """What an import set: its handler relies on it, the other hooks must not see it."""
    return {name: value for name, value in _environ.items() if before.get(name) != value}


def lay_over(env: dict[str, str]) -> list[str]:
    """Set environment variables. The names of those that no environment can hold: they are left out."""
    left_out: list[str] = []
    for name, value in env.items():
        try:
            _environ[name] = value
        except (OSError, TypeError, ValueError):  # "", "A=B", a null byte
            left_out.append(name)
    return left_out
