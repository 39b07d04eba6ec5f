"""Importing a handler so that its folder is its own world.

The handler and its helper modules load under one name that no other hook has, so two hooks may both
have a `util.py`, and a changed folder is a new name: everything in it loads anew. `import util` in
a handler means the `util` of its own folder first. That is settled per module, by the `__import__`
which the module sees, and not by sys.path: so it also holds for imports inside functions, in
parallel handlers and in threads, and nobody else's imports change. What asks by name at run time
(`importlib.import_module("util")`) is not reached by it.

Used by the worker and by the lane of the embedding process. Not thread-safe: one import at a time.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Sequence  # noqa: UP035  (3.9: used in aliases)

_FORGOTTEN = "_hookscope_forgotten"  # of a package: its modules, once they are forgotten
PREFIX = "_hookscope_hooks_"  # and then the unique name: one package per hook and content

Handler = Callable[[Any], Any]


class NoHandler(Exception):
    """The file loads, and has no function under the name that is asked for."""


class LeadsElsewhere(Exception):
    """A link on the way to the file was changed after the file was checked."""


def lies_within(real: str, within: str) -> bool:
    """True if a real path is `within`, or lies below it."""
    return real == within or real.startswith(os.path.join(within, ""))


def check_place(path: str, within: str) -> None:
    """Raises LeadsElsewhere unless the file really lies at or below `within`, a real path."""
    real = os.path.realpath(path)
    if not lies_within(real, within):
        raise LeadsElsewhere(
            f"{path} now leads to {real}, and trust was checked for {within}: it was not loaded; fire again"
        )


def import_handler(path: str, export: str, root: str, unique_name: str) -> Handler:
    """The function that `export` names in the file at `path`.

    `default` means a function `default`, else `handler`. Raises NoHandler where there is none, and
    whatever the file itself raises, SystemExit included; then nothing of it stays loaded.
    """
    module = import_file(path, root, unique_name)
    return _pick(module, export, os.path.basename(path))


def import_file(path: str, root: str, unique_name: str) -> ModuleType:
    """The module of the file at `path`, the same one as other files of the folder import.

    Raises whatever the file itself raises; then nothing of it stays loaded.
    """
    package = PREFIX + unique_name
    if package not in sys.modules:
        importlib.invalidate_caches()  # helper files may have come since the folder was last listed
        sys.modules[package] = _package(package, root)
        if _FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _FINDER)
    parents, name = _names(path, root)
    full = ".".join([package, *parents, name])
    module = sys.modules.get(full)
    if module is None:
        before = set(sys.modules)
        try:
            parent = importlib.import_module(".".join([package, *parents])) if parents else None
            module = _load(full, path)
            if parent is not None:
                setattr(parent, name, module)  # as after an `import`
        except BaseException:
            _drop(name for name in _below(package) if name not in before)
            raise
    return module


def _names(path: str, root: str) -> tuple[list[str], str]:
    """The packages between the folder and the file, and the file's own name.

    A file that lies elsewhere, or below a folder with a dot in its name, stands in the folder itself.
    """
    below, file = os.path.split(os.path.relpath(path, root))
    parents = below.split(os.sep) if below else []
    if any("." in parent for parent in parents):
        parents = []
    return parents, os.path.splitext(file)[0].replace(".", "_")


def forget(unique_name: str) -> None:
    """Drop all modules that were loaded under this name.

    Code of theirs that is called again all the same finds them when it imports: see `_importer`.
    """
    forget_all([unique_name])


def forget_all(unique_names: Iterable[str]) -> None:
    """As `forget`, of many: all modules of the process are gone through once."""
    members: Dict[str, Dict[str, ModuleType]] = {PREFIX + name: {} for name in unique_names}  # noqa: UP006
    for name, module in list(sys.modules.items()):
        package = name.partition(".")[0] if name.startswith(PREFIX) else ""
        if package in members:
            members[package][name] = module
    for package, known in members.items():
        if package in known:
            known[package].__dict__[_FORGOTTEN] = known
        _drop(known)


def _below(package: str) -> list[str]:
    return [name for name in list(sys.modules) if name.startswith(package + ".")]


def _drop(names: Iterable[str]) -> None:
    for name in names:
        sys.modules.pop(name, None)


def _package(package: str, root: str) -> ModuleType:
    module = ModuleType(package)
    module.__path__ = [root]
    return module


def _load(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, path))
    if spec is None:  # cannot be: a loader is given
        raise ImportError(f"cannot load {path}", path=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _Loader(name, path).exec_module(module)
    return module


def _pick(module: ModuleType, export: str, file: str) -> Handler:
    names = ("default", "handler") if export == "default" else (export,)
    name = next((name for name in names if hasattr(module, name)), None)
    if name is None:
        raise NoHandler(f"{file} has no `{names[-1]}`; {_functions(module)}")
    found = getattr(module, name)
    if isinstance(found, type):
        raise NoHandler(f"`{name}` in {file} is a class; a handler is a function; {_functions(module)}")
    if not callable(found):
        kind = type(found).__name__
        one = "an" if kind[:1] in "aeiouAEIO" else "a"
        raise NoHandler(f"`{name}` in {file} is {one} {kind}, not a function; {_functions(module)}")
    return found  # type: ignore[no-any-return]  # callable, and more cannot be known


def _functions(module: ModuleType) -> str:
    names = [
        f"`{name}`"
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and callable(value) and name[0] != "_"
    ]
    return f"it defines {', '.join(names[:8])}" if names else "it defines no functions"


class _Loader(SourceFileLoader):
    """Loads from source, always: a cached file could be older than an edit within the same second."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        package = module.__name__.partition(".")[0]
        own = dict(vars(builtins))
        own["__import__"] = _importer(package, sys.modules[package])
        module.__dict__["__builtins__"] = own
        super().exec_module(module)
        for name, value in vars(
            builtins
        ).items():  # what it has added, such as the `_` of gettext, is its own
            own.setdefault(name, value)


class _Finder:
    """Finds the modules below our packages, and gives them our loader."""

    def find_spec(
        self,
        fullname: str,
        path: Optional[Sequence[str]],  # noqa: UP045
        target: Optional[ModuleType] = None,  # noqa: UP045
    ) -> Optional[ModuleSpec]:  # noqa: UP045
        if not fullname.startswith(PREFIX) or path is None:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


_FINDER: Any = _Finder()


def _importer(package: str, holder: ModuleType) -> Callable[..., ModuleType]:
    """The `__import__` of one hook's modules. `holder`: their package, which knows them when forgotten."""
    elsewhere = builtins.__import__

    def own_first(
        name: str,
        globals: Optional[Mapping[str, Any]] = None,  # noqa: A002, UP045  (the names of the builtin)
        locals: Optional[Mapping[str, Any]] = None,  # noqa: A002, UP045
        fromlist: Optional[Sequence[str]] = (),  # noqa: UP045
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if package not in sys.modules:
            sys.modules.update(holder.__dict__.get(_FORGOTTEN, {}))
        if level or not _is_own(package, top):
            return elsewhere(name, globals, locals, fromlist or (), level)
        module = elsewhere(f"{package}.{name}", globals, locals, fromlist or (), 0)
        # Without a from-list the outermost package comes back: of ours, the name the hook asked for.
        return module if fromlist else sys.modules[f"{package}.{top}"]

    return own_first


def _is_own(package: str, top: str) -> bool:
    """Does the hook's folder have a module of this name?

    As everywhere in Python, a folder without `__init__.py` counts only where nothing else has the name.
    """
    if f"{package}.{top}" in sys.modules:
        return True
    parent = sys.modules.get(package)
    if parent is None:  # forgotten meanwhile: an old handler still running
        return False
    spec = PathFinder.find_spec(f"{package}.{top}", parent.__path__)
    if spec is None:
        return False
    return (spec.loader is not None and spec.origin is not None) or _nowhere_else(top)


def _nowhere_else(top: str) -> bool:
    try:
        return top not in sys.modules and importlib.util.find_spec(top) is None
    except (ImportError, ValueError):
        return True
