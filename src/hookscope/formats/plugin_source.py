"""What the files of a plugin register, read without running them."""

from __future__ import annotations

from collections.abc import Iterator

from hookscope.formats.registrations import (
    API_NAME,
    PluginRegistration,
    PluginRegistrations,
    python_registrations,
)
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
from hookscope.formats.script_tokens import LONGEST_SCRIPT
from hookscope.formats.subscriptions import SCRIPT_LANGUAGES, SourceLanguage

REGISTER_NAMES = frozenset({"on", "registerHook"})
PLUGIN_FUNCTIONS = ("register", "activate")  # the functions that the host calls with the api


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
    """Yield the functions of other files that this call may hand the api."""
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
    """Return what one call registers, and how many registrations its text does not show."""
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
    """Return the registering methods of the api that this call may call."""
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
    """Yield event (None: unknown), priority (None: unknown) and whether the call names the event itself."""
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
