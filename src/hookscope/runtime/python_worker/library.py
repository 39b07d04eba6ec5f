"""The modules of Python's standard library: noted as they are loaded, compared and put back behind a handler.

A handler that replaces `functools.wraps` does it for itself, not for the handlers after it. What is
compared is code (functions, classes, modules) and public constants: state that a module keeps in other
names changes by itself. The interpreter gives each dictionary a new version when it changes (up to 3.12),
so that modules that nobody touched are not compared. Newer interpreters have none: there only the modules
of `CORE` are compared.
"""

from __future__ import annotations

import gc
import os
import sys
from operator import attrgetter, is_
from types import FunctionType, ModuleType
from typing import Any, Callable, Dict, List  # noqa: UP035  (3.9)

_LIBRARY = os.path.dirname(os.__file__)


def _extensions() -> List[str]:  # noqa: UP006
    try:
        return os.listdir(os.path.join(_LIBRARY, "lib-dynload"))
    except OSError:  # they are built into the interpreter
        return []


_NAMES: Any = (
    getattr(sys, "stdlib_module_names", None)
    or {  # 3.10
        *sys.builtin_module_names,
        *(name.partition(".")[0] for name in os.listdir(_LIBRARY)),
        *(name.partition(".")[0] for folder in sys.path[-1:] for name in os.listdir(folder)),  # extensions
    }
)
OURS = "_hookscope_"  # how the names of our own modules, and of the packages of hooks, begin
HOOKS = f"{OURS}hooks_"
# Loaded by the rest of the library, and changed by it as it works.
STATEFUL = ("__main__", "idlelib", "sitecustomize", "usercustomize", "this", "antigravity", "test")
CORE = frozenset(
    (
        *("_frozen_importlib", "_frozen_importlib_external"),
        *("abc", "asyncio", "asyncio.base_events", "asyncio.events", "asyncio.futures", "asyncio.locks"),
        *("asyncio.queues", "asyncio.runners", "asyncio.streams", "asyncio.subprocess", "asyncio.tasks"),
        *("asyncio.timeouts", "base64", "builtins", "collections", "collections.abc", "contextlib", "copy"),
        *("datetime", "decimal", "enum", "functools", "gc", "hashlib", "heapq", "http.client", "importlib"),
        *("importlib.util", "inspect", "io", "itertools", "json", "json.decoder", "json.encoder", "locale"),
        *("logging", "math", "operator", "os", "pathlib", "pickle", "posix", "posixpath", "queue", "random"),
        *("re", "resource", "secrets", "select", "selectors", "shutil", "signal", "socket", "ssl", "struct"),
        *("subprocess", "sys", "tempfile", "textwrap", "threading", "time", "traceback", "types", "typing"),
        *(
            "string",
            "glob",
            "fnmatch",
            "html",
            "platform",
            "stat",
            "dataclasses",
            "concurrent.futures.thread",
            "urllib.parse",
            "urllib.request",
            "uuid",
            "warnings",
            "weakref",
        ),
    )
)
CLASSES = ("json.decoder", "json.encoder", "threading")  # whose classes are compared without versions, too
HEAP, FIXED = 1 << 9, 1 << 8  # flags of classes: made by Python code; not to be changed
WHOLE = ("builtins", "json", "os", "queue", "struct", "threading", "time")  # with all that they hold
CHANGING = (
    "environ",
    "tzname",
    "timezone",
    "altzone",
    "daylight",
)  # of `time`, which the library itself sets anew
CONSTANTS = (str, int, float, tuple, bytes)
NAMED = 6  # names that a note lists

# Bound before any handler runs.
_modules, _len, _map, _all, _zip, _list = sys.modules, len, map, all, zip, list
_value_of = attrgetter("value")
_dict_of = type.__dict__["__dict__"].__get__


class _Noted:
    """One module or class: what it held when it was loaded."""

    def __init__(self, name: str, names: Dict[str, Any], owner: Any, version: Any) -> None:  # noqa: UP006
        self.name, self.names, self.owner, self.version = name, names, owner, version
        self.known = {key: value for key, value in names.items() if self._is_compared(key, value)}
        self.keys, self.values = _list(self.known), _list(self.known.values())
        self.seen = version.value if version is not None else 0

    def _is_compared(self, key: str, value: Any) -> bool:
        if isinstance(self.owner, type):
            return callable(value) or hasattr(type(value), "__get__")
        return _is_kept(key, value) or (self.name in WHOLE and key not in CHANGING)

    def differing(self) -> List[str]:  # noqa: UP006
        names = self.names
        if _all(_map(is_, _map(names.get, self.keys), self.values)):
            return self.added()
        return [key for key, value in self.known.items() if names.get(key) is not value] + self.added()

    def added(self) -> List[str]:  # noqa: UP006
        """Return the functions that were added to a class: they may be called in place of inherited ones."""
        if not isinstance(self.owner, type):
            return []
        return [
            key for key, value in _list(self.names.items()) if key not in self.known and _is_foreign(value)
        ]

    def put_back(self, keys: List[str]) -> None:  # noqa: UP006
        for key in keys:
            if isinstance(self.owner, type):
                if key in self.known:
                    type.__setattr__(self.owner, key, self.known[key])
                else:
                    type.__delattr__(self.owner, key)
            else:
                self.names[key] = self.known[key]


class Library:
    """The loaded modules of the standard library, and `sys.modules` itself."""

    def __init__(self, version_of: Callable[[Dict[str, Any]], Any]) -> None:  # noqa: UP006
        self._version_of = version_of
        self._has_versions = version_of({}) is not None
        self._noted: List[_Noted] = []  # noqa: UP006
        self._versions: List[Any] = []  # noqa: UP006
        self._seen: List[int] = []  # noqa: UP006
        self._names: set[str] = set()
        self._loaded: Dict[str, Any] = {}  # noqa: UP006
        self._loaded_version = version_of(_modules)
        self._loaded_seen = -1

    def begin(self) -> None:
        """Note all that is loaded now, and from now on what is loaded."""
        for name, module in _list(_modules.items()):
            self.note(name, module)
        self._loaded = {name: module for name, module in _modules.items() if not _is_of_hook(name)}
        sys.meta_path.insert(0, _Finder(self))

    def note(self, name: str, module: Any) -> None:
        """Note what a module holds, right after it was loaded."""
        if name in self._names or type(module) is not ModuleType or not is_standard(name):
            return
        if not self._has_versions and name not in CORE:
            return
        self._names.add(name)
        self._add(name, vars(module), module)
        if name in (CORE if self._has_versions else CLASSES):
            for key, value in _list(vars(module).items()):
                if _is_own_class(value, name):
                    self._add(f"{name}.{key}", gc.get_referents(_dict_of(value))[0], value)

    def accept(self, *names: str) -> None:
        """Take what these modules hold now as their own: the worker itself has changed it."""
        for at, noted in enumerate(self._noted):
            if noted.name in names:
                self._noted[at] = _Noted(noted.name, noted.names, noted.owner, noted.version)
                self._seen[at] = self._noted[at].seen

    def _add(self, name: str, names: Any, owner: Any) -> None:
        noted = _Noted(name, names, owner, self._version_of(names))
        self._noted.append(noted)
        self._versions.append(noted.version)
        self._seen.append(noted.seen)

    def restore(self, changed: List[str], lost: List[str]) -> None:  # noqa: UP006
        """Put back what differs. Adds to `changed` what was put back, and to `lost` what could not be."""
        self._restore_modules(changed, lost)
        if self._has_versions:
            now = _list(_map(_value_of, self._versions))
            if now == self._seen:
                return
            touched = [noted for noted, seen, one in _zip(self._noted, self._seen, now) if seen != one]
        else:
            touched = self._noted
        names: List[str] = []  # noqa: UP006
        for noted in touched:
            keys = noted.differing()
            if keys:
                names += [f"{noted.name}.{key}" for key in keys]
                noted.put_back(keys)
        if self._has_versions:
            self._seen = _list(_map(_value_of, self._versions))
        if names:
            changed.append(listed(names))

    def _restore_modules(self, changed: List[str], lost: List[str]) -> None:  # noqa: UP006
        """Put back modules that were replaced or removed, and remove those that no import has made."""
        version = self._loaded_version
        if version is not None and version.value == self._loaded_seen and sys.modules is _modules:
            return
        if sys.modules is not _modules:
            sys.modules = _modules
            changed.append("sys.modules")
        known = self._loaded
        gone = [name for name, module in known.items() if _modules.get(name) is not module]
        if _len(gone) > _len(known) // 2 or any(name.startswith(OURS) for name in gone):
            lost.append("the modules in sys.modules")
            return
        for name in gone:
            _modules[name] = known[name]
        made = []
        for name, module in _list(_modules.items()):
            if name not in known:
                if _is_made_up(name, module):
                    made.append(name)
                    del _modules[name]
                elif not _is_of_hook(name):
                    known[name] = module
        changed += [f"sys.modules ({listed([*gone, *made])})"] if gone or made else []
        if version is not None:
            self._loaded_seen = version.value


class _Finder:
    """Finds modules of the library as the other finders do, and has them noted as they are loaded."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not is_standard(name):
            return None
        for finder in _list(sys.meta_path):
            find: Any = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find is not None else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Noting(spec.loader, self._library)
                return spec
        return None


class _Noting:
    """Loads a module with its own loader, and has it noted."""

    def __init__(self, loader: Any, library: Library) -> None:
        self._loader, self._library = loader, library

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._library.note(module.__name__, module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def is_standard(name: str) -> bool:
    """Return whether the module of this name is one of the standard library."""
    top = name.partition(".")[0]
    if top in STATEFUL or top.startswith(OURS):
        return False
    return top in _NAMES


def listed(names: List[str]) -> str:  # noqa: UP006
    """Return names as a list, cut where it is long."""
    shown, more = names[:NAMED], _len(names) - NAMED
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _is_of_hook(name: str) -> bool:
    return name.startswith(HOOKS)


def _is_made_up(name: str, module: Any) -> bool:
    """Return whether no import has put this into `sys.modules`."""
    if name.startswith(OURS):
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
    is_empty = not values and "cython" not in name  # extension modules share what is compiled in this way
    return is_empty or any(_module_of(value).startswith(HOOKS) for value in values)


def _module_of(value: Any) -> str:
    module = getattr(value, "__module__", None)
    return module if type(module) is str else ""


def _is_kept(key: str, value: Any) -> bool:
    if key[:2] == "__" and key[-2:] == "__" and key != "__import__" and key != "__build_class__":
        return False
    if callable(value) or type(value) is ModuleType:
        return True
    return key[:1] != "_" and key not in CHANGING and type(value) in CONSTANTS


def _is_foreign(value: Any) -> bool:
    """Return whether this is a function that no module of the library defines."""
    function = getattr(value, "__func__", value)
    return type(function) is FunctionType and not is_standard(function.__module__ or "")


def _is_own_class(value: Any, name: str) -> bool:
    if not isinstance(value, type) or value.__dict__.get("__module__") != name:
        return False
    flags = type.__dict__["__flags__"].__get__(value)
    return bool(flags & HEAP) and not flags & FIXED
