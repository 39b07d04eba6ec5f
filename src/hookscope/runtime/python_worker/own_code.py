"""The worker's own code: compared after each handler with what it was, and restored.

A handler reaches it through `sys.modules`, a stack frame or `gc`. What it replaces there could falsify the
results of later handlers: the host replaces a worker whose own code was changed. A handler that changes this
check too is not noticed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any

from .process_baseline import add_notes
from .standard_library import list_names

OWN_PACKAGE, OWN_EVENT = "_hookscope_worker.", "_hookscope_event"


def watch_own_code(worker: Any, *others: Any) -> None:
    """Set `worker.restore_own_code` to a function that restores our code, and returns the names of what
    differed.

    It uses nothing but what it holds, because a handler may have replaced anything else. The worker and the
    `others` are long-lived objects, whose methods and parts a handler could replace.
    """
    known = [(name, vars(owner), owner, dict(vars(owner))) for name, owner in _own_modules_and_classes()]
    views = [names.values() for _, names, _, _ in known]
    values = [value for view in views for value in view]
    functions = [value for value in values if type(value) is FunctionType]
    code_of, codes = attrgetter("__code__"), [function.__code__ for function in functions]
    joined, each, listed, kind, can_call, put, drop = chain, map, list, type, callable, setattr, delattr

    def restore() -> list[str]:
        changed: list[str] = []
        if listed(joined(*views)) != values:
            for name, names, owner, before in known:
                for key in [key for key in names if key not in before and can_call(names[key])]:
                    drop(owner, key)
                    changed.append(f"{name}.{key}")
                for key in [key for key in before if names.get(key, before) is not before[key]]:
                    put(owner, key, before[key])
                    changed.append(f"{name}.{key}")
        if listed(each(code_of, functions)) != codes:
            for function, code in zip(functions, codes):  # noqa: B905  (3.9)
                if function.__code__ is not code:
                    function.__code__ = code
                    changed.append(function.__qualname__)
        for name, names, before in parts:
            for key, value in before.items():
                now = names.get(key)
                if now is not value and (can_call(value) or kind(now) is not kind(value)):
                    names[key] = value
                    changed.append(f"{name}.{key}")
            for key, value in listed(names.items()):
                if key not in before and can_call(value):
                    del names[key]
                    changed.append(f"{name}.{key}")
        return changed

    worker.restore_own_code = restore
    parts = [(type(one).__name__, vars(one), _parts_of(one)) for one in (worker, *others)]


def _own_modules_and_classes() -> Iterator[tuple[str, Any]]:
    """Yield our loaded modules, and the classes that they define, with their names."""
    for module in list(sys.modules.values()):
        if type(module) is not ModuleType or not _is_own(module.__name__):
            continue
        yield module.__name__.rpartition(".")[2], module
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield value.__name__, value


def _is_own(module: str) -> bool:
    return module in ("__main__", OWN_EVENT) or module.startswith(OWN_PACKAGE)


def _parts_of(one: Any) -> dict[str, Any]:
    """Return the attributes of an object that are functions, or objects of our own classes."""
    return {
        key: value for key, value in vars(one).items() if callable(value) or _is_own(type(value).__module__)
    }


def note_changed_code(answer: dict[str, Any], changed: list[str], who: str = "it") -> None:
    """Add what was changed to an answer, and let the host replace this process."""
    if changed:
        names, after = list_names(changed), "it was restored, and the next handler gets a new worker"
        add_notes(answer, f"{who} changed the worker's own code ({names}): {after}")
        answer["dirty"] = True
