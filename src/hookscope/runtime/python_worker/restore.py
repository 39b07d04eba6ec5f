"""What a handler may disturb in its process, put back behind it.

Looked at once, before any handler, and compared after each: the comparison costs some 50 µs where
nothing was disturbed, which is nearly always.
"""

from __future__ import annotations

import builtins
import ctypes
import io
import os
import sys
import threading
import time
import warnings
from typing import Any, Sequence  # noqa: UP035  (3.9)

# Of asyncio, which is loaded for the first handler that needs it: name → where it is defined.
ASYNCIO = (
    ("new_event_loop", "events"),
    ("set_event_loop", "events"),
    ("all_tasks", "tasks"),
    ("gather", "tasks"),
)
HOOKS = "_hookscope_hooks_"  # how the names of the packages of hooks begin

# Bound before any handler runs.
_environ = os.environ
_variables: Any = getattr(_environ, "_data", _environ)  # as the system has them: quickly compared
_argv, _path, _modules = sys.argv, sys.path, sys.modules
_all, _zip, _list, _getattr = all, zip, list, getattr
_settrace: Any = threading.settrace  # of threads that come
_setprofile: Any = threading.setprofile
_forget_filters: Any = getattr(warnings, "_filters_mutated", lambda: None)  # what is remembered of them
_builtins: dict[str, Any] = vars(builtins)
_held, _update, _items = _builtins.get, _builtins.update, dict.items
_laid_over: dict[Any, Any] = {}  # the environment that the present handler was given, as the system has it
_laid_path: list[str] = []  # what stands in sys.path for the present handler
VERSION = 24  # bytes from a dictionary's beginning to its version: behind its references, type and size


class Baseline:
    """The process before the first handler. `restore` puts it back, and names what a handler changed.

    Args:
        outputs: see outputs.py.
        parts: process_state.py, embedding/library.py and library_state.py.
    """

    def __init__(self, outputs: Any, parts: Sequence[Any]) -> None:
        process_state, library, library_state = parts
        self.changed: list[str] = []  # what the last `restore` put back, in words
        self.lost: list[str] = []  # what it could not put back
        self._env = environ_now()
        self._argv = _list(_argv)
        self._path = _list(_path)
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._files = [stream for stream in self._streams if isinstance(stream, io.IOBase)]
        self._encodings = _encodings(self._streams)
        self._outputs = outputs
        self.holds_outputs = True  # were 1 and 2 what they were when `restore` looked last
        self._importing: list[tuple[Any, list[Any]]] = [
            (present, _list(present)) for present in (sys.meta_path, sys.path_hooks)
        ]
        self._warnings: Any = warnings.filters
        self._filters = _list(self._warnings)
        self._zone = time.tzname
        self._process = process_state.ProcessState()
        self._library = library.Library(_version_of)
        self._listed = library.listed
        self._settings = library_state.LibraryState()
        self._audit_hooks = 0  # that handlers have added
        self._variables = _SystemEnviron()
        self._builtins = dict(_builtins)
        self._builtins_version = _version_of(_builtins)
        self._builtins_seen = -1
        self._patched: list[str] = []  # names of builtins that the handler replaced or removed

    def begin(self) -> None:
        """Note what is loaded. To be called when the worker itself has changed nothing more."""
        self._library.begin()
        self._importing = [(present, _list(present)) for present, _ in self._importing]
        sys.addaudithook(self._audited)

    def accept(self, *names: str) -> None:
        """Take what these modules of the library hold now as their own: the worker has changed it."""
        self._library.accept(*names)

    def _audited(self, event: str, _: object) -> None:
        if event == "sys.addaudithook":
            self._audit_hooks += 1

    def restore_builtins(self) -> None:
        """Put back the builtins, before any code of ours that needs them. `restore` names them later."""
        version = self._builtins_version
        if version is None or version.value != self._builtins_seen:
            self._patched += [
                f"builtins.{key}" for key, value in _items(self._builtins) if _held(key) is not value
            ]
            if self._patched:
                _update(self._builtins)
            if version is not None:
                self._builtins_seen = version.value

    def _restore_added_builtins(self, changed: list[str], is_load: bool) -> None:
        """Remove what was added, such as the `_` of gettext. A module keeps what it adds as it loads."""
        added = [key for key in _builtins if key not in self._builtins]
        for key in added:
            del _builtins[key]
        if not is_load:
            changed.append(self._listed([f"builtins.{key}" for key in added]))

    def restore(self, *, is_load: bool = False) -> bool:
        """Put everything back. False where something stays changed: the host replaces this process."""
        self.holds_outputs = False
        changed: list[str] = []
        lost: list[str] = []
        self.changed, self.lost = changed, lost
        try:
            self.restore_builtins()
            if self._patched:
                changed.append(self._listed(self._patched))
                self._patched = []
            if len(_builtins) != len(self._builtins):
                self._restore_added_builtins(changed, is_load)
            self._process.restore(changed, lost)
            self._library.restore(changed, lost)
            self._restore_paths(changed, is_load)
            self._restore_imports(changed)
            if self._warnings != self._filters or warnings.filters is not self._warnings:
                warnings.filters = self._warnings
                self._warnings[:] = self._filters
                _forget_filters()
                changed.append("the filters of warnings")
            _settrace(None)
            _setprofile(None)
            names = [*self.restore_env(), *self._variables.restore(self._env)]
            if names and not is_load:
                changed.append(f"the environment ({self._listed(names)})")
            if time.tzname != self._zone:
                time.tzset()
                changed.append("the time zone")
            self._settings.restore(changed, is_load)
            if self._audit_hooks:
                lost.append("the audit hooks, which Python cannot remove")
            self.holds_outputs = self._restore_streams(changed, lost) and self._outputs.hold()
            if not self.holds_outputs and not lost:
                lost.append("standard output or standard error")
            if not _is_whole():
                lost.append("the asyncio module")
            return self.holds_outputs and not lost
        except BaseException:  # whatever it is, the process is no longer what it was
            lost.append("the process in a way that cannot be compared")
            return False

    def sentences(self, who: str) -> list[str]:
        """Return what to say about the last `restore`. `who` begins the sentences: "it left"."""
        said = []
        if self.changed:
            said.append(f"{who} changed: {_joined(self.changed)}. Hookscope put it back")
        if self.lost:
            more = "the next handler gets a new worker"
            said.append(f"{who} changed: {_joined(self.lost)}. That cannot be put back, so {more}")
        return said

    def restore_env(self) -> list[str]:
        """Put back only the environment. Return the names of the variables that a handler changed."""
        if _variables == self._env and os.environ is _environ:
            return []
        known = {**self._env, **_laid_over}
        now = dict(_variables)
        names = [_environ.decodekey(raw) for raw in {**known, **now} if now.get(raw) != known.get(raw)]
        os.environ = _environ  # noqa: B003  (it is the very one, put back)
        for name in _list(_environ):
            if _environ.encodekey(name) not in self._env:
                del _environ[name]
        for raw, value in self._env.items():
            if _variables.get(raw) != value:
                _environ[_environ.decodekey(raw)] = _environ.decodevalue(value)
        _laid_over.clear()
        return names

    def _restore_paths(self, changed: list[str], is_load: bool) -> None:
        if sys.argv is not _argv or _argv != self._argv:
            sys.argv = _argv
            _argv[:] = self._argv
        if sys.path is not _path or _path != self._path:
            is_more = is_load and [entry for entry in sys.path if entry in self._path] == self._path
            is_laid = bool(_laid_path) and _path == _laid_path
            if sys.path is not _path or not (is_laid or is_more):
                changed.append("sys.path")
            sys.path = _path
            _path[:] = self._path
            _laid_path.clear()

    def _restore_imports(self, changed: list[str]) -> None:
        """Remove finders that a hook's own code has added, and put back those that it has removed."""
        for name, (present, known) in _zip(("meta_path", "path_hooks"), self._importing):
            if _getattr(sys, name) is present and present == known:
                continue
            now = _list(_getattr(sys, name))
            kept = [one for one in now if one in known or not _is_of_hook(one)]
            is_whole = _all(one in kept for one in known)
            if _getattr(sys, name) is not present or kept != now or not is_whole:
                changed.append(f"sys.{name}")
            setattr(sys, name, present)
            present[:] = kept if is_whole else [*known, *(one for one in kept if one not in known)]
            known[:] = present
        cache = sys.path_importer_cache
        for path, finder in _list(cache.items()):
            if finder is not None and _is_of_hook(finder):
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


class _SystemEnviron:
    """The environment that C code and new processes see, which `os.putenv` changes without `os.environ`."""

    def __init__(self) -> None:
        self._known, self._size = b"", 0
        try:
            self._at: Any = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "environ")
        except ValueError:  # macOS has no such symbol
            self._at = None

    def restore(self, env: dict[Any, Any]) -> list[str]:
        """Make it the same as `env`. Return the names of the variables that differed."""
        at = self._at.value if self._at is not None else None
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


def _is_of_hook(finder: Any) -> bool:
    """Return whether a finder is defined by a hook's own code, not by a library that it imports."""
    for found in (finder, type(finder)):
        module = _getattr(found, "__module__", None)
        if type(module) is str:
            return module.startswith(HOOKS) or module not in _modules
    return True


def _joined(words: list[str]) -> str:
    return ", ".join(words)


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


def folders_added_to(before: list[str]) -> tuple[list[str], list[str]]:
    """What an import put in front of sys.path, and behind it: its handler imports from there later."""
    at = next((at for at, entry in enumerate(sys.path) if entry in before), 0)
    return sys.path[:at], [entry for entry in sys.path[at:] if entry not in before]


def lay_over_path(added: tuple[list[str], list[str]]) -> None:
    """Put them into sys.path again."""
    front, back = added
    _path[:] = [*front, *_path, *back]
    _laid_path[:] = _path


def lay_over(env: dict[str, str]) -> list[str]:
    """Set environment variables. The names of those that no environment can hold: they are left out."""
    left_out: list[str] = []
    for name, value in env.items():
        try:
            _environ[name] = value
            _laid_over[_environ.encodekey(name)] = _environ.encodevalue(value)
        except (OSError, TypeError, ValueError):  # "", "A=B", a null byte
            left_out.append(name)
    return left_out
