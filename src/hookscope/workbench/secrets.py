"""Secrets put back into an event that the journal gave out: it keeps `${SECRET:NAME}` in their place."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.runs import Event
from hookscope.journal.secrets import Secret
from hookscope.workbench.compose import as_plain
from hookscope.workbench.refusal import Refusal

MASK = re.compile(r"\$\{SECRET:(\w+)\}")


def resolved(event: Event, host: Host, variables: Callable[[], Mapping[str, str]]) -> Event:
    """The event with its secrets: from the variables by name, those of `cfg` from the settings in force.

    Raises Refusal where one is not to be had: a handler must not take the mask for the secret.
    """
    context = dict(event.context)
    if _masked(context.get("cfg")):
        context["cfg"] = as_plain(host.settings.value)
    parts = [event.session_key, context, event.ctx, event.messages]
    if context == event.context and not _masked(parts):
        return event
    session, context, ctx, messages = _filled(parts, variables())
    return replace(event, session_key=session, context=context, ctx=ctx, messages=tuple(messages))


def secrets_of(event: Event, variables: Mapping[str, str]) -> tuple[Secret, ...]:
    """The secrets that `resolved` takes from the variables."""
    names = dict.fromkeys(_names([event.session_key, event.context, event.ctx, event.messages]))
    return tuple(Secret(name, variables[name]) for name in names if name in variables)


def _names(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield from MASK.findall(value)
        case Mapping():
            for item in value.values():
                yield from _names(item)
        case list() | tuple():
            for item in value:
                yield from _names(item)


def _masked(value: Any) -> bool:
    match value:
        case str():
            return MASK.search(value) is not None
        case Mapping():
            return any(_masked(item) for item in value.values())
        case list() | tuple():
            return any(_masked(item) for item in value)
        case _:
            return False


def _filled(value: Any, env: Mapping[str, str]) -> Any:
    match value:
        case str():
            return MASK.sub(lambda found: _secret(found[1], env), value)
        case Mapping():
            return {key: _filled(item, env) for key, item in value.items()}
        case list() | tuple():
            return [_filled(item, env) for item in value]
        case _:
            return value


def _secret(name: str, env: Mapping[str, str]) -> str:
    if name not in env:
        raise Refusal(
            f"The event had a secret that was not kept: {name}.",
            f"Set {name} in the environment, or put its value into the context.",
        )
    return env[name]
