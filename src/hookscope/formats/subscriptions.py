"""Subscribed events, plugin registrations and agent descriptions, read without running the code."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from hookscope.formats.positions import FormatError
from hookscope.formats.python_source import parse_python
from hookscope.formats.script_source import (
    ObjectMember,
    call_arguments,
    default_export,
    object_at,
    object_members,
    text_at,
    texts_at,
    whole_number_at,
)
from hookscope.formats.script_tokens import LONGEST_SCRIPT, TokenizedScript, read_script
from hookscope.values import dataclass

API_NAME = "api"  # the usual name of a plugin's api object


@dataclass(frozen=True, slots=True)
class PluginRegistration:
    """One call by which a plugin registers a handler, as written."""

    event: str
    priority: int | None  # None: unknown
    line: int  # from 1
    names_event_directly: bool = False  # whether it is `registerHook("NAME", …)`


def without_repeats(keys: Iterable[str]) -> tuple[str, ...]:
    """Return each key once, in order of first occurrence."""
    return tuple(dict.fromkeys(keys))


PYTHON_DEFINE_NAMES = "define_hook"
PYTHON_REGISTER_NAMES = frozenset({"on", "register_hook"})
PYTHON_DEFAULT_NAMES = frozenset({"default", "hook"})  # names of a dict that counts as the module's hook


def python_stream_events(source: bytes) -> tuple[str, ...] | None:
    """See `stream_events`."""
    try:
        tree = parse_python(source)
    except FormatError:
        return None
    calls = [
        node
        for node in _in_order(tree)
        if isinstance(node, ast.Call) and _called_name(node) == PYTHON_DEFINE_NAMES
    ]
    if len(calls) == 1:
        return _events_of_call(calls[0])
    plain = [] if calls else list(_plain_hooks(tree))
    return _events_of_mapping(plain[0]) if len(plain) == 1 else None


def python_registrations(source: bytes) -> tuple[PluginRegistration, ...] | None:
    """See `plugin_registrations`."""
    try:
        tree = parse_python(source)
    except FormatError:
        return None
    nodes = list(_in_order(tree))
    names = {API_NAME, *_python_api_names(nodes)}
    found: list[PluginRegistration] = []
    for node in nodes:
        if not (
            isinstance(node, ast.Call)
            and _receiver(node) in names
            and _called_name(node) in PYTHON_REGISTER_NAMES
        ):
            continue
        read = _python_registration(node)
        if read is None:
            return None
        found.append(read)
    return tuple(sorted(found, key=lambda registration: registration.line))


def _in_order(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all nodes in order; uses a stack, since long chains are deep."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(list(ast.iter_child_nodes(node)))


def _called_name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _receiver(call: ast.Call) -> str:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner.id if isinstance(owner, ast.Name) else ""


def _python_api_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield the names of the first parameter of `register`."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "register":
            positional = [*node.args.posonlyargs, *node.args.args]
            yield from (argument.arg for argument in positional[:1])


def _events_of_call(call: ast.Call) -> tuple[str, ...] | None:
    keywords = _keywords(call)
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
    members = _python_members(node)
    if members is None:
        return None
    return _keys(members["events"]) if "events" in members else ()


def _keys(node: ast.expr) -> tuple[str, ...] | None:
    members = _python_members(node)
    return None if members is None else without_repeats(members)


def _python_members(node: ast.expr | None) -> dict[str, ast.expr] | None:
    """Return the members of a dict literal; None for any other expression."""
    if not isinstance(node, ast.Dict):
        return None
    found: dict[str, ast.expr] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = _python_text(key)
        if name is None:
            return None
        found[name] = value
    return found


def _keywords(call: ast.Call) -> dict[str, ast.expr] | None:
    """Return the keyword arguments of a call; None if it unpacks arguments."""
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _python_registration(call: ast.Call) -> PluginRegistration | None:
    keywords = _keywords(call)
    if keywords is None:
        return None
    named = bool(call.args) and _called_name(call) != "on" and _python_text(call.args[0]) is not None
    positional = (
        _python_members(call.args[0]) if call.args and _called_name(call) != "on" and not named else {}
    )
    if positional is None:
        return None
    arguments = {**dict(zip(("name", "handler"), call.args, strict=False)), **positional, **keywords}
    event = _python_text(arguments.get("name" if _called_name(call) == "on" else "event"))
    if named:
        event = _python_text(call.args[0])
    if event is None:
        return None
    priority = _whole_number(arguments["priority"]) if "priority" in arguments else 0
    return PluginRegistration(event, priority, call.lineno, named)


def _python_text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _whole_number(node: ast.expr) -> int | None:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
    return None


SCRIPT_REGISTER_NAMES = frozenset({"on", "registerHook"})


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


def script_registrations(source: bytes) -> tuple[PluginRegistration, ...] | None:
    """See `plugin_registrations`."""
    script = read_script(source)
    if script is None:
        return None
    names = _script_api_names(script)
    found: list[PluginRegistration] = []
    for at in range(len(script.tokens) - 3):
        if not _is_call(script, at, names):
            continue
        read = _script_registration(script, at)
        if read is None:
            return None
        found += read
    return tuple(found)


def _is_call(script: TokenizedScript, at: int, names: frozenset[str]) -> bool:
    """Return whether `api.on(`, `api.on?.(` or `api?.registerHook(` starts here.

    `api` must not be a member of another object.
    """
    tokens = script.tokens
    return (
        tokens[at].kind == "name"
        and tokens[at].text in names
        and tokens[at + 1].text in (".", "?.")
        and tokens[at + 2].text in SCRIPT_REGISTER_NAMES
        and script.is_at(_opening(script, at), "(")
        and not (at > 0 and tokens[at - 1].text in (".", "?."))
    )


def _opening(script: TokenizedScript, at: int) -> int:
    """Return the index of the call's bracket."""
    return at + (4 if script.is_at(at + 3, "?.") else 3)


def _script_registration(script: TokenizedScript, at: int) -> list[PluginRegistration] | None:
    """Return the registrations of one call; None if its events are not plain texts."""
    arguments = call_arguments(script, _opening(script, at))
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
    members = object_members(script, first[0])
    if members is None:
        return None
    members_by_name = {member.name: member for member in members}
    event = _text_of(script, members_by_name.get("event"))
    return (
        None
        if event is None
        else [PluginRegistration(event, _script_priority(script, members_by_name), line)]
    )


def _text_of(script: TokenizedScript, member: ObjectMember | None) -> str | None:
    return None if member is None else text_at(script, member.start, member.end)


def _script_priority(script: TokenizedScript, members: dict[str, ObjectMember]) -> int | None:
    member = members.get("priority")
    return 0 if member is None else whole_number_at(script, member.start, member.end)


def _priority_in_options(script: TokenizedScript, options: tuple[tuple[int, int], ...]) -> int | None:
    if not options:
        return 0
    members = object_members(script, options[0][0])
    return None if members is None else _script_priority(script, {member.name: member for member in members})


def _script_api_names(script: TokenizedScript) -> frozenset[str]:
    """Return the names of the api: the first parameter of `register`, and always `api`."""
    return frozenset({API_NAME, *_first_parameters(script)})


def _first_parameters(script: TokenizedScript) -> Iterator[str]:
    tokens = script.tokens
    for at, token in enumerate(tokens):
        if token.kind == "name" and token.text == "register":
            after = at + 1
            if script.is_at(after, ":") or script.is_at(after, "="):
                after += 1
            yield from _script_parameter(script, after)
    start = default_export(script)
    if start is not None:
        yield from _script_parameter(script, start)


def _script_parameter(script: TokenizedScript, at: int) -> Iterator[str]:
    """Yield the first parameter of the function that begins here."""
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


def plugin_registrations(source: bytes, language: SourceLanguage) -> tuple[PluginRegistration, ...] | None:
    """Return every `api.on("NAME", …)` and `api.registerHook({event: "NAME", …})` of a plugin.

    `api` is the name of `register`'s parameter. Calls in other files that receive the api are not
    seen. None if the event of a call is no plain text, since the result would be incomplete. Never
    raises.
    Source: seed 003, "Hook Registration"; rules note 6.
    """
    if len(source) > LONGEST_SCRIPT:
        return None
    if language == "python":
        return python_registrations(source)
    return script_registrations(source) if language in SCRIPT_LANGUAGES else None


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
