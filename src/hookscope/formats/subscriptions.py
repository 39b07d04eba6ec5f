"""Events of stream hooks and descriptions of agents, read without running the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal, TypeAlias

from hookscope.formats.positions import FormatError
from hookscope.formats.python_source import (
    called_name,
    in_order,
    members_of_call,
    members_of_dict,
    parse_python,
)
from hookscope.formats.script_source import ObjectMember, default_export, object_at, object_members, text_at
from hookscope.formats.script_tokens import TokenizedScript, read_script
from hookscope.formats.script_values import LONGEST_SCRIPT

PYTHON_DEFINE_NAMES = "define_hook"
PYTHON_DEFAULT_NAMES = frozenset({"default", "hook"})  # names of a dict that counts as the module's hook


def python_stream_events(source: bytes) -> tuple[str, ...] | None:
    """See `stream_events`."""
    try:
        tree = parse_python(source)
    except FormatError:
        return None
    calls = [
        node
        for node in in_order(tree)
        if isinstance(node, ast.Call) and called_name(node) == PYTHON_DEFINE_NAMES
    ]
    if len(calls) == 1:
        return _events_of_call(calls[0])
    plain = [] if calls else list(_plain_hooks(tree))
    return _events_of_mapping(plain[0]) if len(plain) == 1 else None


def _events_of_call(call: ast.Call) -> tuple[str, ...] | None:
    keywords = members_of_call(call)
    if keywords is None:
        return None
    if "events" in keywords:
        return _keys(keywords["events"])
    if len(call.args) == 1:
        return _events_of_mapping(call.args[0])
    return None if call.args else ()


def _plain_hooks(tree: ast.Module) -> Iterator[ast.expr]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id in PYTHON_DEFAULT_NAMES for target in node.targets
        ):
            yield node.value


def _events_of_mapping(node: ast.expr) -> tuple[str, ...] | None:
    members = members_of_dict(node)
    if members is None:
        return None
    return _keys(members["events"]) if "events" in members else ()


def _keys(node: ast.expr) -> tuple[str, ...] | None:
    members = members_of_dict(node)
    return None if members is None else tuple(members)


def script_stream_events(source: bytes) -> tuple[str, ...] | None:
    """See `stream_events`."""
    script = read_script(source)
    if script is None:
        return None
    start = default_export(script)
    hook = None if start is None else object_at(script, start, "defineHook")
    members = None if hook is None else object_members(script, hook)
    if members is None:
        return None
    events = next((member for member in reversed(members) if member.name == "events"), None)
    if events is None:
        return ()
    keys = object_members(script, events.start)
    if keys is None:
        return None
    defined = {member.name: not _is_undefined(script, member) for member in keys}  # last of equal names
    return tuple(name for name, is_defined in defined.items() if is_defined)


def _is_undefined(script: TokenizedScript, member: ObjectMember) -> bool:
    """Return whether the handler is `undefined`: such a key is ignored (eve 10)."""
    return member.end == member.start + 1 and script.is_at(member.start, "undefined")


SourceLanguage: TypeAlias = Literal["python", "typescript", "javascript", "unknown"]
SCRIPT_LANGUAGES = frozenset({"typescript", "javascript"})


def stream_events(source: bytes, language: SourceLanguage) -> tuple[str, ...] | None:
    """Return the keys of a stream hook's `events`, as written, without repeats. Never raises.

    It reads `define_hook(events={…})` and `define_hook({…})`, and in TypeScript and JavaScript the
    default export: `defineHook({events: {…}})`, the plain object, a constant, or a function that
    returns one. None for computed or spread keys, for variables, and for a text that cannot be
    read.
    Source: seed 002, "Define a hook"; eve 10.
    """
    if len(source) > LONGEST_SCRIPT:
        return None
    if language == "python":
        return python_stream_events(source)
    return script_stream_events(source) if language in SCRIPT_LANGUAGES else None


def agent_description(source: bytes, language: SourceLanguage) -> str | None:
    """Return the plain-text `description` of `defineAgent({…})`, an object or `define_agent(…)`.

    None if the text does not show it or cannot be read. Never raises.
    """
    if len(source) > LONGEST_SCRIPT:
        return None
    if language == "python":
        return _python_description(source)
    return _script_description(source) if language in SCRIPT_LANGUAGES else None


def _script_description(source: bytes) -> str | None:
    script = read_script(source)
    start = default_export(script) if script is not None else None
    if script is None or start is None:
        return None
    opening = object_at(script, start, "defineAgent")
    members = object_members(script, opening) if opening is not None else None
    description = next((one for one in reversed(members or ()) if one.name == "description"), None)
    return text_at(script, description.start, description.end) if description is not None else None


def _python_description(source: bytes) -> str | None:
    try:
        tree = parse_python(source)
    except FormatError:
        return None
    calls = (node.value for node in tree.body if isinstance(node, ast.Assign))
    for call in calls:
        if isinstance(call, ast.Call):
            for keyword in call.keywords:
                value = keyword.value
                if keyword.arg == "description" and isinstance(value, ast.Constant):
                    return value.value if isinstance(value.value, str) else None
    return None
