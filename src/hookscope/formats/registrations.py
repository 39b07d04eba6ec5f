"""What a plugin registers, and how the text of a plugin in Python shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from hookscope.formats.positions import FormatError
from hookscope.formats.python_source import parse_python
from hookscope.values import dataclass

API_NAME = "api"  # the usual name of a plugin's api object
PYTHON_REGISTER_NAMES = frozenset({"on", "register_hook"})
_DEEPEST = 16  # names that stand for names


@dataclass(frozen=True, slots=True)
class PluginRegistration:
    """One call by which a plugin registers a handler, as written."""

    event: str
    priority: int | None  # None: unknown
    line: int  # from 1
    names_event_directly: bool = False  # whether it is `registerHook("NAME", …)`
    module: str = ""  # the file that has the call, as its reader names it


@dataclass(frozen=True, slots=True)
class PluginRegistrations:
    """The registrations that a plugin's text shows, in order, and how many it has that it does not show."""

    found: tuple[PluginRegistration, ...] = ()
    unread: int = 0


def python_registrations(source: bytes) -> PluginRegistrations:
    """See `plugin_source.plugin_registrations`."""
    try:
        tree = parse_python(source)
    except FormatError:
        return PluginRegistrations()
    nodes = list(in_order(tree))
    names = _names(nodes)
    apis = {API_NAME, *_api_names(nodes)}
    apis |= {name for name, value in names.items() if isinstance(value, ast.Name) and value.id in apis}
    found: list[PluginRegistration] = []
    unread = 0
    for node in nodes:
        if isinstance(node, ast.Call) and (method := _method_called(node, names, apis)):
            read = _registrations(node, method, names)
            found += [one for one in read if one is not None]
            unread += read.count(None)
    return PluginRegistrations(tuple(sorted(found, key=lambda registration: registration.line)), unread)


def in_order(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all nodes in order; uses a stack, since long chains are deep."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(list(ast.iter_child_nodes(node)))


def _names(nodes: list[ast.AST]) -> dict[str, ast.expr]:
    """Return the names that are assigned once, with their values; a loop's name has its list, starred."""
    found: dict[str, ast.expr | None] = {}
    for node in nodes:
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, ast.Starred(node.iter))]
        for target, value in pairs:
            if isinstance(target, ast.Name):
                found[target.id] = None if target.id in found else value
    return {name: value for name, value in found.items() if value is not None}


def _api_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield the names of the first parameter of `register`."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "register":
            positional = [*node.args.posonlyargs, *node.args.args]
            yield from (argument.arg for argument in positional[:1])


def called_name(call: ast.Call) -> str:
    """Return the last name of the called function; empty if it has none."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _method_called(call: ast.Call, names: Mapping[str, ast.expr], apis: set[str]) -> str:
    """Return the registering method that is called, also by a name for it (`on = api.on`); else empty."""
    function = names.get(call.func.id) if isinstance(call.func, ast.Name) else call.func
    if not isinstance(function, ast.Attribute) or function.attr not in PYTHON_REGISTER_NAMES:
        return ""
    return function.attr if isinstance(function.value, ast.Name) and function.value.id in apis else ""


def members_of_dict(node: ast.expr | None) -> dict[str, ast.expr] | None:
    """Return the members of a dict literal; None for any other expression."""
    if not isinstance(node, ast.Dict):
        return None
    found: dict[str, ast.expr] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            return None
        found[key.value] = value
    return found


def members_of_call(call: ast.Call) -> dict[str, ast.expr] | None:
    """Return the keyword arguments of a call; None if it unpacks arguments."""
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _registrations(
    call: ast.Call, method: str, names: Mapping[str, ast.expr]
) -> list[PluginRegistration | None]:
    """Return what a call registers; None for each event that the text does not show."""
    keywords = members_of_call(call)
    if keywords is None:
        return [None]
    first = call.args[0] if call.args else None
    named = first is not None and method != "on" and bool(_texts(first, names))
    positional = members_of_dict(first) if first is not None and method != "on" and not named else {}
    if positional is None:
        return [None]
    arguments = {**dict(zip(("name", "handler"), call.args, strict=False)), **positional, **keywords}
    event = first if named else arguments.get("name" if method == "on" else "event")
    priority = _whole_number(arguments["priority"]) if "priority" in arguments else 0
    found = [PluginRegistration(text, priority, call.lineno, named) for text in _texts(event, names)]
    return [*found] or [None]


def _texts(node: ast.expr | None, names: Mapping[str, ast.expr], depth: int = 0) -> tuple[str, ...]:
    """Return the texts that an expression can be; none if one is unknown."""
    match node:
        case ast.Constant(value=str() as text):
            return (text,)
        case ast.Name(id=name) if name in names and depth < _DEEPEST:
            return _texts(names[name], names, depth + 1)
        case ast.Starred(value=ast.Name(id=name)) if name in names and depth < _DEEPEST:
            return _texts(ast.Starred(names[name]), names, depth + 1)
        case ast.Starred(value=ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items)):
            found = [_texts(item, names, depth + 1) for item in items]
            return tuple(text for texts in found for text in texts) if all(found) else ()
    return ()


def _whole_number(node: ast.expr) -> int | None:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
    return None
