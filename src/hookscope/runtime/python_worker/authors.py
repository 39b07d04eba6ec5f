"""`import hookscope` in a handler: there is something of that name, installed or not.

What authors write with is the worker's own copy, whoever imports it: `tool_result_from` knows a definition by
its identity, so there must be one `define_tool` only. Where no Hookscope is installed for this interpreter, a
stand-in has the same names.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Callable, Optional  # noqa: UP035  (3.9)

AUTHORING, GIVEN = "hookscope.model.authoring_api", "hookscope.model.handler_arguments"
PACKAGE, CORE = "hookscope", "hookscope.model"
NAMES = (
    "PluginApi",
    "define_agent",
    "define_channel",
    "define_connection",
    "define_dynamic",
    "define_hook",
    "define_tool",
    "mock_model",
    "tool_result_from",
)


class Authors:
    """Owns the worker's modules of these names, which are loaded when they are first asked for."""

    def __init__(self, load: Callable[[str], Any]) -> None:
        """`load` loads model/authoring_api.py or model/handler_arguments.py, under the name that it gets."""
        self._load = load
        self._loaded: dict[str, Any] = {}

    def authoring(self) -> Any:
        """What authors write with, one for this worker."""
        self.given()  # it imports that by its name
        return self._module(AUTHORING)

    def given(self) -> Any:
        """What handlers get, one for this worker."""
        return self._module(GIVEN)

    def _module(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def install(self) -> None:
        """Let `import hookscope` find it."""
        sys.meta_path.insert(0, _Finder(self))

    def names(self) -> dict[str, Any]:
        """What `hookscope` itself gives to authors."""
        authoring = self.authoring()
        return {name: getattr(authoring, name) for name in NAMES}


class _Finder:
    def __init__(self, authors: Authors) -> None:
        self._authors = authors

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:  # noqa: UP045
        if name[:9] != PACKAGE:
            return None
        if name == PACKAGE:
            found = PathFinder.find_spec(name)
            if found is not None and found.loader is not None:
                completing: Any = _Completing(found.loader, self._authors)
                found.loader = completing  # it may be another version
                return found
        if name in (PACKAGE, AUTHORING, GIVEN) or (name == CORE and not path):
            loader: Any = _StandIn(self._authors)
            return ModuleSpec(name, loader, is_package=name in (PACKAGE, CORE))
        return None


class _StandIn:
    """Gives what there is no file for."""

    def __init__(self, authors: Authors) -> None:
        self._authors = authors

    def create_module(self, spec: ModuleSpec) -> Any:
        if spec.name == GIVEN:
            return self._authors.given()
        return self._authors.authoring() if spec.name == AUTHORING else None

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == PACKAGE:
            vars(module).update(self._authors.names())


class _Completing:
    """Loads the installed package, and sees to it that authors find their names there."""

    def __init__(self, loader: Any, authors: Authors) -> None:
        self._loader = loader
        self._authors = authors

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        vars(module).update(self._authors.names())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
