"""What a TypeScript or JavaScript module says it listens to, read from its tokens."""

from __future__ import annotations

from collections.abc import Iterator

from .listening_types import API, PluginRegistration
from .script_objects import (
    Member,
    arguments_of,
    default_export,
    members_of,
    object_at,
    text_at,
    texts_at,
    whole_number_at,
)
from .script_tokens import Script, read_script

REGISTERS = frozenset({"on", "registerHook"})


def script_stream_events(source: bytes) -> tuple[str, ...] | None:
    """See `stream_events`."""
    script = read_script(source)
    if script is None:
        return None
    start = default_export(script)
    hook = None if start is None else object_at(script, start, "defineHook")
    members = None if hook is None else members_of(script, hook)
    if members is None:
        return None
    events = next((member for member in reversed(members) if member.name == "events"), None)
    if events is None:
        return ()
    keys = members_of(script, events.start)
    if keys is None:
        return None
    heard = {member.name: not _is_undefined(script, member) for member in keys}  # the last of a name counts
    return tuple(name for name, is_heard in heard.items() if is_heard)


def _is_undefined(script: Script, member: Member) -> bool:
    """A key whose handler is `undefined` is none (eve 10)."""
    return member.end == member.start + 1 and script.is_at(member.start, "undefined")


def script_registrations(source: bytes) -> tuple[PluginRegistration, ...] | None:
    """See `plugin_registrations`."""
    script = read_script(source)
    if script is None:
        return None
    names = _api_names(script)
    found: list[PluginRegistration] = []
    for at in range(len(script.tokens) - 3):
        if not _is_call(script, at, names):
            continue
        read = _registration(script, at)
        if read is None:
            return None
        found += read
    return tuple(found)


def _is_call(script: Script, at: int, names: frozenset[str]) -> bool:
    """`api.on(`, `api.on?.(` or `api?.registerHook(`, where `api` is no member of something else."""
    tokens = script.tokens
    return (
        tokens[at].kind == "name"
        and tokens[at].text in names
        and tokens[at + 1].text in (".", "?.")
        and tokens[at + 2].text in REGISTERS
        and script.is_at(_opening(script, at), "(")
        and not (at > 0 and tokens[at - 1].text in (".", "?."))
    )


def _opening(script: Script, at: int) -> int:
    """Where the bracket of a call begins."""
    return at + (4 if script.is_at(at + 3, "?.") else 3)


def _registration(script: Script, at: int) -> list[PluginRegistration] | None:
    """The events of one call. None where it does not say them as texts."""
    arguments = arguments_of(script, _opening(script, at))
    if not arguments:
        return None
    line = script.tokens[at].line
    first = arguments[0]
    if script.tokens[at + 2].text == "on" or not script.is_at(first[0], "{"):
        events = texts_at(script, *first)
        priority, named = _priority_in_options(script, arguments[2:3]), script.tokens[at + 2].text != "on"
        if events is None:
            return None
        return [PluginRegistration(event, priority, line, named) for event in events]
    members = members_of(script, first[0])
    if members is None:
        return None
    said = {member.name: member for member in members}
    event = _text_of(script, said.get("event"))
    return None if event is None else [PluginRegistration(event, _priority(script, said), line)]


def _text_of(script: Script, member: Member | None) -> str | None:
    return None if member is None else text_at(script, member.start, member.end)


def _priority(script: Script, said: dict[str, Member]) -> int | None:
    member = said.get("priority")
    return 0 if member is None else whole_number_at(script, member.start, member.end)


def _priority_in_options(script: Script, options: tuple[tuple[int, int], ...]) -> int | None:
    if not options:
        return 0
    members = members_of(script, options[0][0])
    return None if members is None else _priority(script, {member.name: member for member in members})


def _api_names(script: Script) -> frozenset[str]:
    """What the functions that get the api call it: the first parameter of `register`; and always `api`."""
    return frozenset({API, *_first_parameters(script)})


def _first_parameters(script: Script) -> Iterator[str]:
    tokens = script.tokens
    for at, token in enumerate(tokens):
        if token.kind == "name" and token.text == "register":
            behind = at + 1
            if script.is_at(behind, ":") or script.is_at(behind, "="):
                behind += 1
            yield from _parameter(script, behind)
    start = default_export(script)
    if start is not None:
        yield from _parameter(script, start)


def _parameter(script: Script, at: int) -> Iterator[str]:
    """The first parameter of the function that begins here."""
    while script.is_at(at, "async") or script.is_at(at, "function"):
        at += 1
        if script.kind_at(at) == "name" and script.is_at(at + 1, "("):
            at += 1
    if script.is_at(at, "("):
        closes = script.partner.get(at, at)
        is_function = (
            script.is_at(closes + 1, "{") or script.is_at(closes + 1, "=>") or script.is_at(closes + 1, ":")
        )
        at += 1
        if not is_function:
            return
    elif not script.is_at(at + 1, "=>"):
        return
    if script.kind_at(at) == "name":
        yield script.tokens[at].text
