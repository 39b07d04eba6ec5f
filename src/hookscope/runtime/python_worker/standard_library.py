"""The modules of Python's standard library: recorded as they are loaded, restored after a handler.

A handler that replaces `functools.wraps` affects only itself, not later handlers. Functions, classes, modules
and public constants are compared, but no other state, because that changes in normal use. Up to Python 3.12,
each dictionary has a version that changes with it, so that only changed modules need to be compared. Newer
interpreters have no versions: there, only the modules in `COMPARED_MODULES` are compared.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter, is_
from types import FunctionType, ModuleType
from typing import Any

_LIBRARY = os.path.dirname(os.__file__)


def _names_in_folders() -> set[str]:
    """Return the names of the library's modules for Python 3.9, which does not list them."""
    names = {*sys.builtin_module_names, *os.listdir(_LIBRARY)}
    with suppress(OSError):  # extensions are built into the interpreter
        names.update(os.listdir(os.path.join(_LIBRARY, "lib-dynload")))
    return {name.partition(".")[0] for name in names}


_LIBRARY_NAMES: Any = getattr(sys, "stdlib_module_names", None) or _names_in_folders()
OUR_PREFIX = "_hookscope_"  # of our own modules, and of the packages of hooks
HOOK_PREFIX = f"{OUR_PREFIX}hooks_"
# Never compared.
EXCLUDED = ("__main__", "idlelib", "sitecustomize", "usercustomize", "this", "antigravity", "test")
COMPARED_MODULES = frozenset(
    """
    _frozen_importlib _frozen_importlib_external abc asyncio asyncio.base_events asyncio.events
    asyncio.futures asyncio.locks asyncio.queues asyncio.runners asyncio.streams asyncio.subprocess
    asyncio.tasks asyncio.timeouts base64 builtins collections collections.abc concurrent.futures.thread
    contextlib copy dataclasses datetime decimal enum fnmatch functools gc glob hashlib heapq html http.client
    importlib importlib.util inspect io itertools json json.decoder json.encoder locale logging math operator
    os pathlib pickle platform posix posixpath queue random re resource secrets select selectors shutil signal
    socket ssl stat string struct subprocess sys tempfile textwrap threading time traceback types typing
    urllib.parse urllib.request uuid warnings weakref
    """.split()  # noqa: SIM905  (a list would take 80 lines)
)
# Modules whose classes are compared even without versions.
CLASSES_COMPARED = ("json.decoder", "json.encoder", "threading")
FULLY_COMPARED = ("builtins", "json", "os", "queue", "struct", "threading", "time")  # all their names
VOLATILE_NAMES = ("environ", "tzname", "timezone", "altzone", "daylight")  # the library itself sets them
HEAP_TYPE, IMMUTABLE_TYPE = 1 << 9, 1 << 8  # flags of classes: created by Python code; immutable
CONSTANT_TYPES = (str, int, float, tuple, bytes)
MAX_NAMES = 6  # names that a note lists

# Bound before any handler runs.
_modules, _len, _map, _all, _zip, _list = sys.modules, len, map, all, zip, list
_value_of = attrgetter("value")
_dict_of = type.__dict__["__dict__"].__get__


class _ModuleSnapshot:
    """The names of a module or class as they were when it was loaded."""

    def __init__(self, name: str, names: dict[str, Any], owner: Any, version: Any) -> None:
        self.name, self.names, self.owner, self.version = name, names, owner, version
        self.known = {key: value for key, value in names.items() if self._is_compared(key, value)}
        self.keys, self.values = _list(self.known), _list(self.known.values())
        self.seen = version.value if version is not None else 0

    def _is_compared(self, key: str, value: Any) -> bool:
        if isinstance(self.owner, type):
            return callable(value) or hasattr(type(value), "__get__")
        return _is_compared_value(key, value) or (self.name in FULLY_COMPARED and key not in VOLATILE_NAMES)

    def changed_names(self) -> list[str]:
        names = self.names
        if _all(_map(is_, _map(names.get, self.keys), self.values)):
            return self.added_functions()
        return [
            key for key, value in self.known.items() if names.get(key) is not value
        ] + self.added_functions()

    def added_functions(self) -> list[str]:
        """Return the functions that were added to a class, because they may override inherited ones."""
        if not isinstance(self.owner, type):
            return []
        return [
            key
            for key, value in _list(self.names.items())
            if key not in self.known and _is_foreign_function(value)
        ]

    def restore(self, keys: list[str]) -> None:
        for key in keys:
            if isinstance(self.owner, type):
                if key in self.known:
                    type.__setattr__(self.owner, key, self.known[key])
                else:
                    type.__delattr__(self.owner, key)
            else:
                self.names[key] = self.known[key]


class StandardLibrary:
    """The loaded modules of the standard library, and `sys.modules` itself."""

    def __init__(self, version_of: Callable[[dict[str, Any]], Any]) -> None:
        self._version_of = version_of
        self._has_versions = version_of({}) is not None
        self._snapshots: list[_ModuleSnapshot] = []
        self._versions: list[Any] = []
        self._seen: list[int] = []
        self._names: set[str] = set()
        self._loaded: dict[str, Any] = {}
        self._modules_version = version_of(_modules)
        self._modules_seen = -1

    def begin(self) -> None:
        """Record all loaded modules, and from now on each module as it is loaded."""
        for name, module in _list(_modules.items()):
            self.record(name, module)
        self._loaded = {name: module for name, module in _modules.items() if not _is_hook_module(name)}
        sys.meta_path.insert(0, _LibraryFinder(self))

    def record(self, name: str, module: Any) -> None:
        """Record the names of a module that was just loaded."""
        if name in self._names or type(module) is not ModuleType or not is_standard(name):
            return
        if not self._has_versions and name not in COMPARED_MODULES:
            return
        self._names.add(name)
        self._add(name, vars(module), module)
        if name in (COMPARED_MODULES if self._has_versions else CLASSES_COMPARED):
            for key, value in _list(vars(module).items()):
                if _is_own_class(value, name):
                    self._add(f"{name}.{key}", gc.get_referents(_dict_of(value))[0], value)

    def accept(self, *names: str) -> None:
        """Record these modules again, because the worker itself has changed them."""
        for at, snapshot in enumerate(self._snapshots):
            if snapshot.name in names:
                self._snapshots[at] = _ModuleSnapshot(
                    snapshot.name, snapshot.names, snapshot.owner, snapshot.version
                )
                self._seen[at] = self._snapshots[at].seen

    def _add(self, name: str, names: Any, owner: Any) -> None:
        snapshot = _ModuleSnapshot(name, names, owner, self._version_of(names))
        self._snapshots.append(snapshot)
        self._versions.append(snapshot.version)
        self._seen.append(snapshot.seen)

    def restore(self, changed: list[str], lost: list[str]) -> None:
        """Restore changed modules. Add the restored ones to `changed`, and the others to `lost`."""
        self._restore_modules(changed, lost)
        if self._has_versions:
            now = _list(_map(_value_of, self._versions))
            if now == self._seen:
                return
            candidates = [
                snapshot for snapshot, seen, one in _zip(self._snapshots, self._seen, now) if seen != one
            ]
        else:
            candidates = self._snapshots
        names: list[str] = []
        for snapshot in candidates:
            keys = snapshot.changed_names()
            if keys:
                names += [f"{snapshot.name}.{key}" for key in keys]
                snapshot.restore(keys)
        if self._has_versions:
            self._seen = _list(_map(_value_of, self._versions))
        if names:
            changed.append(list_names(names))

    def _restore_modules(self, changed: list[str], lost: list[str]) -> None:
        """Restore modules that were replaced or removed, and remove modules that no import has created."""
        version = self._modules_version
        if version is not None and version.value == self._modules_seen and sys.modules is _modules:
            return
        if sys.modules is not _modules:
            sys.modules = _modules
            changed.append("sys.modules")
        known = self._loaded
        missing = [name for name, module in known.items() if _modules.get(name) is not module]
        if _len(missing) > _len(known) // 2 or any(name.startswith(OUR_PREFIX) for name in missing):
            lost.append("the modules in sys.modules")
            return
        for name in missing:
            _modules[name] = known[name]
        fabricated = []
        for name, module in _list(_modules.items()):
            if name not in known:
                if _is_fabricated(name, module):
                    fabricated.append(name)
                    del _modules[name]
                elif not _is_hook_module(name):
                    known[name] = module
        changed += [f"sys.modules ({list_names([*missing, *fabricated])})"] if missing or fabricated else []
        if version is not None:
            self._modules_seen = version.value


class _LibraryFinder:
    """Finds modules of the library with the other finders, and records them as they are loaded."""

    def __init__(self, library: StandardLibrary) -> None:
        self._library = library

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not is_standard(name):
            return None
        for finder in _list(sys.meta_path):
            find: Any = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find is not None else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _RecordingLoader(spec.loader, self._library)
                return spec
        return None


class _RecordingLoader:
    """Loads a module with its own loader, and records it."""

    def __init__(self, loader: Any, library: StandardLibrary) -> None:
        self._loader, self._library = loader, library

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._library.record(module.__name__, module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def is_standard(name: str) -> bool:
    """Return whether the module of this name belongs to the standard library."""
    top = name.partition(".")[0]
    if top in EXCLUDED or top.startswith(OUR_PREFIX):
        return False
    return top in _LIBRARY_NAMES


def list_names(names: list[str]) -> str:
    """Return the names joined by commas; a long list is truncated."""
    shown, more = names[:MAX_NAMES], _len(names) - MAX_NAMES
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _is_hook_module(name: str) -> bool:
    return name.startswith(HOOK_PREFIX)


def _is_fabricated(name: str, module: Any) -> bool:
    """Return whether this module was put into `sys.modules` by hand, not by an import."""
    if name.startswith(OUR_PREFIX):
        return False
    if module is None:
        return True
    if type(module) is not ModuleType:
        return False
    names = vars(module)
    if names.get("__spec__") is not None or names.get("__file__") is not None:
        return False
    if is_standard(name):
        parent, _, last = name.rpartition(".")
        return not (parent and vars(_modules.get(parent, module)).get(last) is module)  # of a C module
    values = [value for key, value in names.items() if key[:2] != "__"]
    is_empty = not values and "cython" not in name  # Cython's extension modules share code in this way
    return is_empty or any(_module_of(value).startswith(HOOK_PREFIX) for value in values)


def _module_of(value: Any) -> str:
    module = getattr(value, "__module__", None)
    return module if type(module) is str else ""


def _is_compared_value(key: str, value: Any) -> bool:
    if key[:2] == "__" and key[-2:] == "__" and key != "__import__" and key != "__build_class__":
        return False
    if callable(value) or type(value) is ModuleType:
        return True
    return key[:1] != "_" and key not in VOLATILE_NAMES and type(value) in CONSTANT_TYPES


def _is_foreign_function(value: Any) -> bool:
    """Return whether this is a function that is not defined in the standard library."""
    function = getattr(value, "__func__", value)
    return type(function) is FunctionType and not is_standard(function.__module__ or "")


def _is_own_class(value: Any, name: str) -> bool:
    if not isinstance(value, type) or value.__dict__.get("__module__") != name:
        return False
    flags = type.__dict__["__flags__"].__get__(value)
    return bool(flags & HEAP_TYPE) and not flags & IMMUTABLE_TYPE
