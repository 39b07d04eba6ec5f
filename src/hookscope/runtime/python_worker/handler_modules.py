"""Import a handler so that its folder is a namespace of its own; and make `import hookscope` work in it.

The handler and its helper modules load under a package name that no other hook has. So two hooks may both
have a `util.py`, and a changed folder has a new name: everything in it loads again. `import util` in a
handler looks for `util` in the handler's folder first. This is decided by the `__import__` that each module
sees, not by sys.path. So it also works for imports inside functions, in concurrent handlers and in threads,
and does not affect the imports of other code. It does not affect `importlib.import_module("util")`.

Used by the worker and by the executor of the embedding process. Not thread-safe: one import at a time.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from .safe_values import type_with_article

PREFIX = "_hookscope_hooks_"  # the content's name follows: one package for each hook and content
_FORGOTTEN = "_hookscope_forgotten"  # attribute of a forgotten package: its modules
AUTHORING_API, HANDLER_ARGUMENTS = "hookscope.model.authoring_api", "hookscope.model.handler_arguments"
PACKAGE, MODEL = "hookscope", "hookscope.model"
# What `import hookscope` offers to authors if it is not installed: name there → name in authoring_api.
AUTHOR_NAMES = {
    "PluginApi": "RecordingPluginApi",
    **{name: name for name in ("define_agent", "define_channel", "define_connection", "define_dynamic")},
    **{name: name for name in ("define_hook", "define_tool", "mock_model", "tool_result_from")},
}

Handler = Callable[[Any], Any]


class NoHandler(Exception):
    """The file loads, but has no function of the requested name."""


class LeadsElsewhere(Exception):
    """A symbolic link on the way to the file was changed after the file was checked."""


def lies_within(real: str, within: str) -> bool:
    """Return True if a real path is `within`, or lies below it."""
    return real == within or real.startswith(os.path.join(within, ""))


def check_location(path: str, within: str) -> None:
    """Raise LeadsElsewhere unless the file's real path is `within` or lies below it."""
    real = os.path.realpath(path)
    if not lies_within(real, within):
        raise LeadsElsewhere(
            f"not loaded: {path} now leads to {real}, outside {within}, where trust was checked; fire again"
        )


# Import


def import_handler(path: str, export: str, root: str, unique_name: str) -> Handler:
    """Return the function that `export` names in the file at `path`.

    `default` means the function `default`, else `handler`. Raises NoHandler if there is none, and everything
    that the file raises, even SystemExit; in that case none of its modules stays loaded.
    """
    module = import_file(path, root, unique_name)
    return _exported_handler(module, export, os.path.basename(path))


def import_file(path: str, root: str, unique_name: str) -> ModuleType:
    """Return the module of the file at `path`, the same one that other files of the folder import.

    Raises everything that the file raises; in that case none of its modules stays loaded.
    """
    package = PREFIX + unique_name
    if package not in sys.modules:
        importlib.invalidate_caches()  # helper files may be new since the folder was last listed
        sys.modules[package] = _make_package(package, root)
        if _HOOK_FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _HOOK_FINDER)
    parents, name = _module_names(path, root)
    full = ".".join([package, *parents, name])
    module = sys.modules.get(full)
    if module is None:
        before = set(sys.modules)
        try:
            parent = importlib.import_module(".".join([package, *parents])) if parents else None
            module = _load_module(full, path)
            if parent is not None:
                setattr(parent, name, module)  # as an `import` does
        except BaseException:
            new = [known for known in sys.modules if known not in before and known.startswith(package + ".")]
            _drop_modules(new)
            raise
    return module


def forget(unique_names: Iterable[str]) -> None:
    """Drop all modules that were loaded under these names.

    If their code is still called later, its imports find them again: see `_hook_import`.
    """
    members: dict[str, dict[str, ModuleType]] = {PREFIX + name: {} for name in unique_names}
    for name, module in list(sys.modules.items()):
        package = name.partition(".")[0] if name.startswith(PREFIX) else ""
        if package in members:
            members[package][name] = module
    for package, known in members.items():
        if package in known:
            known[package].__dict__[_FORGOTTEN] = known
        _drop_modules(known)


def _module_names(path: str, root: str) -> tuple[list[str], str]:
    """Return the packages between the folder and the file, and the file's own name.

    A file outside the folder, or below a folder with a dot in its name, counts as a file of the folder
    itself.
    """
    below, file = os.path.split(os.path.relpath(path, root))
    parents = below.split(os.sep) if below else []
    if any("." in parent for parent in parents):
        parents = []
    return parents, os.path.splitext(file)[0].replace(".", "_")


def _drop_modules(names: Iterable[str]) -> None:
    for name in names:
        sys.modules.pop(name, None)


def _make_package(package: str, root: str) -> ModuleType:
    module = ModuleType(package)
    module.__path__ = [root]
    return module


def _load_module(name: str, path: str) -> ModuleType:
    loader = _HookLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:  # impossible: a loader is given
        raise ImportError(f"cannot load {path}", path=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def _exported_handler(module: ModuleType, export: str, file: str) -> Handler:
    names = ("default", "handler") if export == "default" else (export,)
    name = next((name for name in names if hasattr(module, name)), None)
    if name is None:
        raise NoHandler(f"{file} has no `{names[-1]}`; {_list_functions(module)}")
    found: Handler = getattr(module, name)
    if isinstance(found, type):
        raise NoHandler(f"`{name}` in {file} is a class; a handler is a function; {_list_functions(module)}")
    if not callable(found):
        kind = type_with_article(found)
        raise NoHandler(f"`{name}` in {file} is {kind}, not a function; {_list_functions(module)}")
    return found


def _list_functions(module: ModuleType) -> str:
    names = [
        f"`{name}`"
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and callable(value) and name[0] != "_"
    ]
    return f"it defines {', '.join(names[:8])}" if names else "it defines no functions"


class _HookLoader(SourceFileLoader):
    """Always loads from source: a cached file could be older than an edit within the same second."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        package = module.__name__.partition(".")[0]
        own = dict(vars(builtins))
        own["__import__"] = _hook_import(package, sys.modules[package])
        module.__dict__["__builtins__"] = own
        super().exec_module(module)
        for name, value in vars(builtins).items():  # keep new builtins, as gettext's `_`
            own.setdefault(name, value)


class _HookFinder:
    """Finds the modules below the hooks' packages, and gives them our loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(PREFIX) or path is None:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _HookLoader(spec.loader.name, spec.loader.path)
        return spec


_HOOK_FINDER: Any = _HookFinder()


def _hook_import(package: str, holder: ModuleType) -> Callable[..., ModuleType]:
    """Return the `__import__` for one hook's modules. `holder`: their package, which keeps forgotten ones."""
    import_elsewhere = builtins.__import__

    def own_first(
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002  (the names of the builtin)
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if package not in sys.modules:
            sys.modules.update(holder.__dict__.get(_FORGOTTEN, {}))
        if level or not _is_own_module(package, top):
            return import_elsewhere(name, globals, locals, fromlist or (), level)
        module = import_elsewhere(f"{package}.{name}", globals, locals, fromlist or (), 0)
        # Without a from-list, `import a.b` returns `a`: here, the hook's own `a`.
        return module if fromlist else sys.modules[f"{package}.{top}"]

    return own_first


def _is_own_module(package: str, top: str) -> bool:
    """Return True if the hook's folder has a module of this name.

    As usual in Python, a folder without `__init__.py` counts only if no other module has the name.
    """
    if f"{package}.{top}" in sys.modules:
        return True
    parent = sys.modules.get(package)
    if parent is None:  # forgotten, but an old handler still runs
        return False
    spec = PathFinder.find_spec(f"{package}.{top}", parent.__path__)
    if spec is None:
        return False
    return (spec.loader is not None and spec.origin is not None) or _is_unknown_elsewhere(top)


def _is_unknown_elsewhere(top: str) -> bool:
    try:
        return top not in sys.modules and importlib.util.find_spec(top) is None
    except (ImportError, ValueError):
        return True


# `import hookscope` in a handler


class AuthoringModules:
    """Makes `import hookscope` work in handlers, whether or not it is installed for this interpreter.

    Every import gets the worker's own copy of the authoring API: `tool_result_from` compares definitions by
    identity, so there must be only one `define_tool`. If Hookscope is not installed, a stand-in has its
    names.
    """

    def __init__(self, load: Callable[[str], Any]) -> None:
        """`load` loads AUTHORING_API or HANDLER_ARGUMENTS as a module of that name."""
        self._load = load
        self._loaded: dict[str, Any] = {}

    def authoring_api(self) -> Any:
        """Return the worker's only copy of the authoring API."""
        self.handler_arguments()  # the authoring API imports it by name
        return self._module(AUTHORING_API)

    def handler_arguments(self) -> Any:
        """Return the worker's only copy of the module with the objects that handlers receive."""
        return self._module(HANDLER_ARGUMENTS)

    def _module(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def add_names(self, module: ModuleType) -> None:
        """Add the names for authors to the module `hookscope`."""
        authoring = self.authoring_api()
        vars(module).update({name: getattr(authoring, own) for name, own in AUTHOR_NAMES.items()})


class AuthoringFinder:
    """Lets `import hookscope` find the worker's own modules. For the front of sys.meta_path."""

    def __init__(self, authoring: AuthoringModules) -> None:
        self._authoring = authoring

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name[:9] != PACKAGE:
            return None
        if name == PACKAGE:
            found = PathFinder.find_spec(name)
            if found is not None and found.loader is not None:
                # mypy wants the base class Loader; the import system needs only a loader's methods.
                found.loader = _PackageLoader(found.loader, self._authoring)  # type: ignore[assignment]
                return found
        if name in (PACKAGE, AUTHORING_API, HANDLER_ARGUMENTS) or (name == MODEL and not path):
            loader: Any = _StandInLoader(self._authoring)
            return ModuleSpec(name, loader, is_package=name in (PACKAGE, MODEL))
        return None


class _StandInLoader:
    """Loads the worker's own modules, and empty packages around them."""

    def __init__(self, authoring: AuthoringModules) -> None:
        self._authoring = authoring

    def create_module(self, spec: ModuleSpec) -> Any:
        if spec.name == HANDLER_ARGUMENTS:
            return self._authoring.handler_arguments()
        return self._authoring.authoring_api() if spec.name == AUTHORING_API else None

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == PACKAGE:
            self._authoring.add_names(module)


class _PackageLoader:
    """Loads the installed package, which may be another version, and adds the names for authors."""

    def __init__(self, loader: Any, authoring: AuthoringModules) -> None:
        self._loader, self._authoring = loader, authoring

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._authoring.add_names(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
