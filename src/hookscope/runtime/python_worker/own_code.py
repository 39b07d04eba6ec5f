"""Compares the worker's own code after each handler with its original, and restores it.

A handler reaches this code through `sys.modules`, a stack frame or `gc`, and could so falsify the results of
later handlers. The host replaces a worker whose code was changed. It does not notice if a handler changes
this check too.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any

from .process_baseline import add_notes, dict_version
from .standard_library import list_names

OWN_PACKAGE, OWN_EVENT = "_hookscope_worker.", "_hookscope_event"


def watch_own_code(worker: Any, *others: Any) -> None:
    """Set `worker.restore_own_code` to a function that restores our code and returns the changed names.

    The function uses only its own variables, because a handler may have replaced everything else. It also
    restores the methods and parts of the worker and of the `others`, which are long-lived objects.
    """
    known = [(name, vars(owner), owner, dict(vars(owner))) for name, owner in _own_modules_and_classes()]
    values = chain.from_iterable(names.values() for _, names, _, _ in known)
    functions = [value for value in values if type(value) is FunctionType]
    codes, baseline = [function.__code__ for function in functions], worker.baseline
    listed, length, kind, can_call, put, drop = list, len, type, callable, setattr, delattr
    state = _state_reader([owner for _, _, owner, _ in known])
    seen = [state()]

    def restore() -> list[str]:
        changed: list[str] = []
        if state() != seen[0]:
            for name, names, owner, before in known:
                for key in [key for key in names if key not in before and can_call(names[key])]:
                    drop(owner, key)
                    changed.append(f"{name}.{key}")
                for key in [key for key in before if names.get(key, before) is not before[key]]:
                    put(owner, key, before[key])
                    changed.append(f"{name}.{key}")
            seen[0] = state()
        if baseline.code_was_set:  # to read each would cost an audit event
            for function, code in zip(functions, codes):  # noqa: B905  (3.9)
                if function.__code__ is not code:
                    function.__code__ = code
                    changed.append(function.__qualname__)
            baseline.code_was_set = False
        for name, names, size, before in parts:
            for key, value in before.items():
                now = names.get(key)
                if now is not value and (can_call(value) or kind(now) is not kind(value)):
                    names[key] = value
                    changed.append(f"{name}.{key}")
            for key, value in listed(names.items()) if length(names) != size else ():
                if key not in before and can_call(value):
                    del names[key]
                    changed.append(f"{name}.{key}")
        return changed

    worker.restore_own_code = restore
    parts = [(type(one).__name__, vars(one), len(vars(one)), _parts_of(one)) for one in (worker, *others)]


def _state_reader(owners: list[Any]) -> Callable[[], list[Any]]:
    """Return a function whose result differs once a name of a module or class has changed.

    It reads the versions of their dictionaries, or all values where the interpreter has no versions.
    """
    names = [vars(one) for one in owners]
    dicts = [one if type(one) is dict else gc.get_referents(one)[0] for one in names]
    versions, views = [dict_version(one) for one in dicts], [one.values() for one in names]
    listed, each, joined, value_of = list, map, chain, attrgetter("value")
    if None in versions:
        return lambda: listed(joined(*views))
    return lambda: listed(each(value_of, versions))


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
    """Add a note on the changed names to an answer, and request that the host replaces this process."""
    if changed:
        names, after = list_names(changed), "it was restored, and the next handler gets a new worker"
        add_notes(answer, f"{who} changed the worker's own code ({names}): {after}")
        answer["dirty"] = True
