"""What a Python module says it listens to, read from its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .listening_types import API, PluginRegistration, once
from .places import FormatError
from .python_source import parse_python

DEFINES = "define_hook"
REGISTERS = frozenset({"on", "register_hook"})
DEFAULTS = frozenset({"default", "hook"})  # the names under which a plain mapping counts as the module's hook


def python_stream_events(source: bytes) -> tuple[str, ...] | None:
    """See `stream_events`."""
    try:
        tree = parse_python(source)
    except FormatError:
        return None
    calls = [node for node in _in_order(tree) if isinstance(node, ast.Call) and _called(node) == DEFINES]
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
    names = {API, *_api_names(nodes)}
    found: list[PluginRegistration] = []
    for node in nodes:
        if not (isinstance(node, ast.Call) and _receiver(node) in names and _called(node) in REGISTERS):
            continue
        read = _registration(node)
        if read is None:
            return None
        found.append(read)
    return tuple(sorted(found, key=lambda registration: registration.line))


def _in_order(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes; a stack, since a long chain is as deep as it is long."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _receiver(call: ast.Call) -> str:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner.id if isinstance(owner, ast.Name) else ""


def _api_names(nodes: list[ast.AST]) -> Iterator[str]:
    """What `register` calls its parameter."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "register":
            positional = [*node.args.posonlyargs, *node.args.args]
            yield from (argument.arg for argument in positional[:1])


def _events_of_call(call: ast.Call) -> tuple[str, ...] | None:
    said = _keywords(call)
    if said is None:
        return None
    if "events" in said:
        return _keys(said["events"])
    if len(call.args) == 1:
        return _events_of_mapping(call.args[0])
    return None if call.args else ()


def _plain_hooks(tree: ast.Module) -> Iterator[ast.expr]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id in DEFAULTS for target in node.targets
        ):
            yield node.value


def _events_of_mapping(node: ast.expr) -> tuple[str, ...] | None:
    members = _members(node)
    if members is None:
        return None
    return _keys(members["events"]) if "events" in members else ()


def _keys(node: ast.expr) -> tuple[str, ...] | None:
    members = _members(node)
    return None if members is None else once(members)


def _members(node: ast.expr | None) -> dict[str, ast.expr] | None:
    """The members of a mapping that is written out; None for any other expression."""
    if not isinstance(node, ast.Dict):
        return None
    found: dict[str, ast.expr] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = _text(key)
        if name is None:
            return None
        found[name] = value
    return found


def _keywords(call: ast.Call) -> dict[str, ast.expr] | None:
    """The keywords of a call; None where it has others that the text does not say."""
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _registration(call: ast.Call) -> PluginRegistration | None:
    said = _keywords(call)
    if said is None:
        return None
    named = bool(call.args) and _called(call) != "on" and _text(call.args[0]) is not None
    positional = _members(call.args[0]) if call.args and _called(call) != "on" and not named else {}
    if positional is None:
        return None
    words = {**dict(zip(("name", "handler"), call.args, strict=False)), **positional, **said}
    event = _text(words.get("name" if _called(call) == "on" else "event"))
    if named:
        event = _text(call.args[0])
    if event is None:
        return None
    priority = _whole_number(words["priority"]) if "priority" in words else 0
    return PluginRegistration(event, priority, call.lineno, named)


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _whole_number(node: ast.expr) -> int | None:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
    return None
