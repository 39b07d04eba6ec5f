"""The arguments of a launch request: the event to fire, at which hooks, in which host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.app.options import Options, with_given
from hookscope.authoring.testing.fire_request import FireRequest, RequestedEvent, parse_faults
from hookscope.host_options import BUNDLED, HOST_OPTIONS, PLATFORMS
from hookscope.model.refusal import Refusal
from hookscope.model.text import nearest_word, one_line
from hookscope.values import dataclass

LAUNCH_ARGUMENTS = (
    *("event", "session", "context", "ctx", "only", "except", "force", "break", "sandbox", "stopOnEntry"),
    *(option.argument for option in HOST_OPTIONS),
)
EDITOR_ARGUMENTS = (
    "name",
    "type",
    "request",
    "console",
    "presentation",
    "program",
    "cwd",
    "args",
    "noDebug",
    "trust",
)
EDITOR_PREFIX = "_"  # prefix of arguments that editors add for themselves


@dataclass(frozen=True, slots=True)
class Launch:
    """The event that an editor wants to fire, and how."""

    event: RequestedEvent
    request: FireRequest
    options: Options
    sandbox: bool
    stop_on_entry: bool  # stop handlers at their first line
    debug: bool  # if False, nothing stops


def parse_launch(arguments: Mapping[str, Any], base: Options) -> Launch:
    """Return the launch that the arguments describe; omitted ones come from `base`.

    Editors add arguments of their own, which are ignored. Raises Refusal.
    """
    if arguments.get("trust"):
        raise Refusal(
            "`trust` is no launch argument: a launch.json may come with the files that it would trust.",
            "`hookscope trust DIR` allows a folder to run, `hookscope dap --trust` all of this session.",
        )
    typed = _LaunchArguments(arguments)
    event = typed.get("event", str, dict)
    if not event:
        raise Refusal("The launch arguments name no `event`.", '"event": "command:new" is one.')
    request = FireRequest(
        session=typed.get("session", str),
        context=typed.get("context", dict),
        ctx=typed.get("ctx", dict),
        only=typed.get("only", str),
        excluded=typed.texts("except"),
        force=typed.get("force", bool) or False,
        faults=parse_faults(typed.texts("break")),
    )
    if request.force and request.only is None:
        raise Refusal("`force` calls one hook.", 'Name it: "only": "HOOK".')
    if request.only is not None and request.excluded:
        raise Refusal("`only` fires at one hook, `except` leaves hooks out.", "Take one of them.")
    if typed.get("os", str) not in (None, *PLATFORMS):
        raise Refusal(f"`os` is one of {', '.join(PLATFORMS)}.")
    return Launch(
        event,
        request,
        _launch_options(typed, base),
        typed.get("sandbox", bool) or False,
        typed.get("stopOnEntry", bool) or False,
        not typed.get("noDebug", bool),
    )


def unknown_argument_warnings(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each unknown argument that looks like a misspelt one of ours."""
    for name in arguments:
        closest = (
            nearest_word(name, LAUNCH_ARGUMENTS)
            if name not in (*LAUNCH_ARGUMENTS, *EDITOR_ARGUMENTS) and not name.startswith(EDITOR_PREFIX)
            else None
        )
        if closest is not None:
            yield f"There is no launch argument `{one_line(name)}`: did you mean `{closest}`?"


class _LaunchArguments:
    """Launch arguments by name, checked for their type. None means omitted."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = arguments

    def get(self, name: str, *types: type) -> Any:
        value = self._arguments.get(name)
        if value is not None and type(value) not in types:
            words = {str: "a text", dict: "an object", bool: "true or false", list: "a list"}
            raise Refusal(
                f"The launch argument `{name}` wants {' or '.join(words[type_] for type_ in types)}."
            )
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.get(name, list, str)
        values = [values] if isinstance(values, str) else values or []
        if not all(isinstance(value, str) for value in values):
            raise Refusal(f"The launch argument `{name}` wants a list of texts.")
        return tuple(values)


ARGUMENT_TYPES: Mapping[str, type] = {"text": str, "path": str, "pairs": dict, "flag": bool}


def _launch_options(typed: _LaunchArguments, base: Options) -> Options:
    given = {option.name: typed.get(option.argument, ARGUMENT_TYPES[option.kind]) for option in HOST_OPTIONS}
    for option in HOST_OPTIONS:
        value = given[option.name]
        if option.kind == "path" and value is not None:
            given[option.name] = Path(value)
        elif option.kind == "pairs" and value is not None:
            given[option.name] = {str(name): str(text) for name, text in value.items()}
    trusted = base.bundled_trusted and given[BUNDLED.name] is None  # a launch.json must not grant trust
    return replace(with_given(base, given), bundled_trusted=trusted)
