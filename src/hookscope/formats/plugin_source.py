"""What the files of a plugin register, read without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from hookscope.formats.positions import FormatError
from hookscope.formats.python_source import in_order, members_of_call, members_of_dict, parse_python
from hookscope.formats.script_evaluation import (
    DEFAULT,
    UNKNOWN,
    Api,
    Evaluator,
    FunctionValue,
    Items,
    Members,
    Method,
    ModuleReader,
    ScriptModule,
    Value,
)
from hookscope.formats.script_scopes import Range, arguments_of
from hookscope.formats.script_values import LONGEST_SCRIPT
from hookscope.formats.subscriptions import SCRIPT_LANGUAGES, SourceLanguage
from hookscope.values import dataclass

MOST_REGISTRATIONS = 2_000  # of one plugin; further ones are counted as unread
API_NAME = "api"  # the usual name of a plugin's api object
PYTHON_REGISTER_NAMES = frozenset({"on", "register_hook"})
_DEEPEST = 16  # names in a row whose value is another name
REGISTER_NAMES = frozenset({"on", "registerHook"})
PLUGIN_FUNCTIONS = ("register", "activate")  # the functions that the host calls with the api


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
    """The registrations in a plugin's source, in order, and how many more have an unknown event."""

    found: tuple[PluginRegistration, ...] = ()
    unread: int = 0


def plugin_registrations(
    source: bytes, language: SourceLanguage, name: str = "", read_module: ModuleReader | None = None
) -> PluginRegistrations:
    """Return every `api.on("NAME", …)` and `api.registerHook({event: "NAME", …})` of a plugin.

    `api` is the first parameter of `register`, under any name, cast, alias or destructured; names of
    constants, loops over literal lists, and calls of functions that get the api are followed. With
    `read_module`, also those in relative files: `name` is the file's own name there. A registration
    whose event the text does not show is counted. Never raises.
    Source: seed 003, "Hook Registration"; rules note 6.
    """
    if len(source) > LONGEST_SCRIPT:
        return PluginRegistrations()
    if language == "python":
        return python_registrations(source)
    if language not in SCRIPT_LANGUAGES:
        return PluginRegistrations()
    return script_registrations(source, name, read_module)


def script_registrations(
    source: bytes, name: str = "", read_module: ModuleReader | None = None
) -> PluginRegistrations:
    """See `plugin_registrations`."""
    evaluator = Evaluator(read_module, API_NAME)
    entry = evaluator.add_module(name, source, is_entry=True)
    if entry is None:
        return PluginRegistrations()
    _note_register(evaluator, entry)
    found: list[PluginRegistration] = []
    unread = 0
    for module in _reached_modules(evaluator, entry):
        for call in module.scopes.calls:
            if len(found) >= MOST_REGISTRATIONS:
                unread += 1
                break
            read, missed = _registrations_of_call(evaluator, module, call)
            found += read
            unread += missed
    return PluginRegistrations(tuple(found), unread)


def _note_register(evaluator: Evaluator, entry: ScriptModule) -> None:
    """Note which functions the host calls with the api: `register`, or the default export itself."""
    evaluator.api_functions |= {
        (entry.name, function.start)
        for function in entry.scopes.functions.values()
        if function.name in PLUGIN_FUNCTIONS or _is_named_register(entry, function.start)
    }
    for value in evaluator.exported(entry, DEFAULT):
        is_object = isinstance(value, Members)
        members = [evaluator.member(value, name) for name in PLUGIN_FUNCTIONS] if is_object else ()
        for one in (value, *(inner for values in members for inner in values)):
            if isinstance(one, FunctionValue):
                evaluator.api_functions.add((one.module.name, one.function.start))
    evaluator.forget()


def _is_named_register(module: ScriptModule, start: int) -> bool:
    """Return whether `register = …` or `register: …` precedes this function."""
    script = module.scopes.script
    return script.kind_at(start - 2) == "name" and any(
        script.is_at(start - 2, name, mark) for name in PLUGIN_FUNCTIONS for mark in "=:"
    )


def _reached_modules(evaluator: Evaluator, entry: ScriptModule) -> list[ScriptModule]:
    """Return the files that get the api, in the order of their calls, and note those calls."""
    names = dict.fromkeys((entry.name, *sorted(name for name, _ in evaluator.api_functions)))
    waiting = [module for name in names if (module := evaluator.modules.get(name)) is not None]
    reached: list[ScriptModule] = []
    while waiting:
        module = waiting.pop(0)
        if module in reached:
            continue
        reached.append(module)
        for call in module.scopes.calls:
            for value in _called_outside(evaluator, module, call):
                key = (value.module.name, value.function.start)
                evaluator.outside_calls.setdefault(key, []).append((module, call))
                waiting.append(value.module)
        evaluator.forget()
    return reached


def _called_outside(evaluator: Evaluator, module: ScriptModule, call: int) -> Iterator[FunctionValue]:
    """Yield the functions of other files to which this call may pass the api."""
    scopes = module.scopes
    end = scopes.callee_end(call)
    start = scopes.chain_start(end)
    binding = scopes.binding(scopes.script.tokens[start].text, start)
    if binding is None or binding.kind not in ("import", "code"):
        return
    arguments = arguments_of(scopes.script, call)
    if not any(_holds_api(evaluator, module, part) for part in arguments):
        return
    for value in evaluator.values(module, start, end):
        if isinstance(value, FunctionValue) and value.module is not module:
            yield value


def _holds_api(evaluator: Evaluator, module: ScriptModule, part: Range) -> bool:
    values = evaluator.values(module, *part)
    inner = tuple(
        one
        for value in values
        if isinstance(value, Members)
        for expression in value.members.values()
        for one in evaluator.evaluated(expression)
    )
    return any(isinstance(one, Api | Method) for one in values + inner)


def _registrations_of_call(
    evaluator: Evaluator, module: ScriptModule, call: int
) -> tuple[list[PluginRegistration], int]:
    """Return what one call registers, and the number of its registrations with an unknown event."""
    found: list[PluginRegistration] = []
    unread = 0
    for method in _methods_called(evaluator, module, call):
        arguments = arguments_of(module.scopes.script, call)[1 if method.call == "call" else 0 :]
        line = module.scopes.script.tokens[call].line
        for event, priority, named in _events(evaluator, module, method.name, arguments):
            if event is None:
                unread += 1
            else:
                found.append(PluginRegistration(event, priority, line, named, module.name))
    return found, unread


def _methods_called(evaluator: Evaluator, module: ScriptModule, call: int) -> list[Method]:
    scopes, script = module.scopes, module.scopes.script
    end = scopes.callee_end(call)
    while script.is_at(end - 1, "!"):
        end -= 1
    last, is_member = script.tokens[end - 1], script.is_at(end - 2, ".") or script.is_at(end - 2, "?.")
    if last.kind == "name" and is_member and last.text not in REGISTER_NAMES | {"call"}:
        return []
    if last.kind == "name" and not is_member and scopes.binding(last.text, end - 1) is None:
        return []
    if last.kind == "close" and last.text == ")":
        return []
    values = evaluator.values(module, scopes.chain_start(end), end)
    methods = dict.fromkeys(one for one in values if isinstance(one, Method))
    return [one for one in methods if one.name in REGISTER_NAMES and one.call != "bind"]


def _events(
    evaluator: Evaluator, module: ScriptModule, method: str, arguments: tuple[Range, ...]
) -> Iterator[tuple[str | None, int | None, bool]]:
    """Yield event and priority (None: unknown), and whether the call names the event directly."""
    values = evaluator.values(module, *arguments[0]) if arguments else UNKNOWN
    options = evaluator.values(module, *arguments[2]) if len(arguments) > 2 else ()
    priority = _priority(evaluator, options[0]) if options else 0
    for value in values:
        if isinstance(value, Members) and method != "on":
            event = evaluator.member(value, "event")
            own = _priority(evaluator, value)
            yield from ((one if isinstance(one, str) else None, own, False) for one in event)
            continue
        for one in evaluator.member(value, None) if isinstance(value, Items) else (value,):
            yield (one if isinstance(one, str) else None), priority, method != "on"


def _priority(evaluator: Evaluator, options: Value) -> int | None:
    if not isinstance(options, Members):
        return None
    if "priority" not in options.members:
        return 0
    values = evaluator.member(options, "priority")
    return values[0] if len(values) == 1 and isinstance(values[0], int) else None


def python_registrations(source: bytes) -> PluginRegistrations:
    """See `plugin_registrations`."""
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
            read = _registrations(node, method, names) if len(found) < MOST_REGISTRATIONS else [None]
            found += [one for one in read if one is not None]
            unread += read.count(None)
    return PluginRegistrations(tuple(sorted(found, key=lambda registration: registration.line)), unread)


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


def _method_called(call: ast.Call, names: Mapping[str, ast.expr], apis: set[str]) -> str:
    """Return the registering method that is called, also by a name for it (`on = api.on`); else empty."""
    function = names.get(call.func.id) if isinstance(call.func, ast.Name) else call.func
    if not isinstance(function, ast.Attribute) or function.attr not in PYTHON_REGISTER_NAMES:
        return ""
    return function.attr if isinstance(function.value, ast.Name) and function.value.id in apis else ""


def _registrations(
    call: ast.Call, method: str, names: Mapping[str, ast.expr]
) -> list[PluginRegistration | None]:
    """Return what a call registers, or a None if the source does not show the event."""
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
