"""Check arguments of the public library; each error names what is wrong and what to do."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from math import inf
from typing import ParamSpec, TypeVar

from hookscope.model.handler_arguments import camel, type_with_article
from hookscope.model.hook import Hook
from hookscope.model.hook_event import HookEvent
from hookscope.model.host import Host
from hookscope.model.machine import Machine
from hookscope.model.run import Event

ExpectedTypes = type | tuple[type, ...]
NONE_TYPE = type(None)
P = ParamSpec("P")
R = TypeVar("R")


def type_phrase(value: object) -> str:
    """Return the type of a value with its article: `a str`, `an int`, `None`."""
    return "None" if value is None else type_with_article(value)


def expect(value: object, kinds: ExpectedTypes, requirement: str, hint: str = "") -> None:
    """Raise TypeError with `requirement`, the actual type and `hint` if the value has none of these types."""
    if not isinstance(value, kinds):
        raise TypeError(f"{requirement}, not {type_phrase(value)}{f': {hint}' if hint else ''}")


def expect_key(value: object, example: str = "command:new") -> None:
    """Raise TypeError if the key is not text, ValueError if it is empty."""
    expect(value, str, f"an event key must be a string such as `{example}`")
    if not value:
        raise ValueError("an event key needs a type, such as `command`, or `command:new`")


def expect_mapping(value: object, name: str) -> None:
    """Raise TypeError if the value is neither a mapping nor None."""
    expect(value, (Mapping, NONE_TYPE), f"{name} must be a mapping, such as a dict, or None")


def expect_seconds(value: object, name: str) -> None:
    """Raise TypeError if the value is not a number or None, ValueError if it is not a duration."""
    requirement = f"{name} must be a number of seconds or None"
    expect(value, (int, float, NONE_TYPE), requirement)
    if isinstance(value, bool):
        raise TypeError(f"{requirement}, not a bool")
    if isinstance(value, int | float) and not 0 <= value < inf:
        raise ValueError(f"{requirement}, not {value!r}")


def expect_folders(value: object, name: str) -> None:
    """Raise TypeError if the value is not an iterable of paths. A single path is refused too."""
    hint = f"put it in brackets, `{name}=[…]`" if _is_path(value) else ""
    if hint or not isinstance(value, Iterable):
        raise TypeError(
            f"{name} must be a list of folders, not {type_phrase(value)}{f': {hint}' if hint else ''}"
        )


def expect_folder(value: object, name: str) -> None:
    """Raise TypeError if the value is not a path. The folder need not exist."""
    if not _is_path(value):
        raise TypeError(f"{name} must be a folder, as a string or Path, not {type_phrase(value)}")


def _is_path(value: object) -> bool:
    return isinstance(value, str) or hasattr(value, "__fspath__")


def expect_machine(value: object) -> None:
    """Raise TypeError if the value is neither a Machine nor None."""
    hint = "leave it out for this machine"
    expect(value, (Machine, NONE_TYPE), "surroundings must be a hookscope.model.Surroundings", hint)


def expect_host(value: object, requirement: str) -> None:
    """Raise TypeError if the value is not a Host."""
    expect(value, Host, requirement, "`embedded_host(workspace_path=…)` makes one")


def expect_hook(value: object) -> None:
    """Raise TypeError if the value is not a Hook."""
    expect(value, Hook, "check_eligibility takes a Hook", "`discover_hooks(…)` finds them")


def expect_hook_event(value: object) -> None:
    """Raise TypeError if the value is not a HookEvent, or if a member has another type."""
    hint = "`create_hook_event(type, action)` makes one"
    if isinstance(value, Event):
        hint = f"{hint}; `HookEngine.fire` takes an Event"
    expect(value, HookEvent, "trigger_hook takes a HookEvent", hint)
    assert isinstance(value, HookEvent)
    _expect_event_parts(value)
    expect(value.messages, list, "the messages of an event must be a list")


def expect_parts(kind: object, action: object, session_key: object) -> None:
    """Raise TypeError if a part of an event is not text, ValueError if its type is empty."""
    for value, name in ((kind, "type"), (action, "action"), (session_key, "session key")):
        if not isinstance(value, str):  # checked first, to format the message only on errors
            expect(value, str, f"the {name} of an event must be a string")
    if not kind:
        raise ValueError("an event needs a type, such as `command`")


def expect_event(value: object) -> None:
    """Raise TypeError if the value is not an event that an engine can plan."""
    hint = "`create_hook_event(type, action)` or `Event(type, action)` makes one"
    expect(value, (Event, HookEvent), "a HookEngine takes an event", hint)
    assert isinstance(value, Event | HookEvent)
    _expect_event_parts(value)
    if isinstance(value, HookEvent):
        expect(value.messages, list, "the messages of an event must be a list")


def names_guide_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that a TypeError names its parameter for a keyword of the guides.

    `workspacePath=` is a keyword of the guides' TypeScript; here it is `workspace_path=`. A guide
    names the argument for all settings after its own host: `…Config`.
    """
    parameters = tuple(inspect.signature(function).parameters)
    known = {camel(name): name for name in parameters if "_" in name}

    def meant(name: str) -> str:
        settings = "host_config" if name.endswith("Config") and "host_config" in parameters else ""
        return known.get(name, settings)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in parameters and meant(name):
                raise TypeError(f"{function.__name__}() has no {name!r}: write `{meant(name)}=`")
        return function(*args, **kwargs)

    return checked


def _expect_event_parts(event: Event | HookEvent) -> None:
    expect_parts(event.type, event.action, event.session_key)
    expect(event.context, Mapping, "the context of an event must be a mapping, such as a dict")
