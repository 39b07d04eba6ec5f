"""Evaluates expressions of a script, without running it: texts, lists, objects, functions, a plugin's api."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from itertools import islice
from typing import NamedTuple, TypeAlias

from hookscope.formats.script_scopes import (
    Binding,
    Function,
    Path,
    Range,
    ScriptScopes,
    arguments_of,
    expression_end,
    parts,
    scopes_of,
)
from hookscope.formats.script_source import default_export, object_members, top_level, whole_number_at
from hookscope.formats.script_tokens import read_script, string_value
from hookscope.values import dataclass

ModuleReader = Callable[[str, str], "tuple[str, bytes] | None"]
"""A module's name and what it imports → the imported module's name and source; None if it is not there."""

DEFAULT = "default"
MOST_MODULES = 32
_DEEPEST = 60  # nested values
_MOST_VALUES = 500  # of one expression
_LONGEST_TEXT = 1_000  # characters of a text that is put together
_MOST_WORK = 30_000  # evaluated expressions and calls; what is left then is unknown
_TOKENS = 32  # this many searched tokens count as one expression
_CALLBACK_OF_LIST = frozenset({"forEach", "map", "flatMap", "filter", "some", "every", "find"})
_PASSES_ON = frozenset({"freeze", "seal"})  # of `Object`: they return their argument


@dataclass(frozen=True, slots=True, eq=False)
class ScriptModule:
    """One file and its functions, names and calls."""

    name: str
    scopes: ScriptScopes
    is_entry: bool  # the plugin's own file


class Api(NamedTuple):
    """The object by which a plugin registers its handlers."""


class Method(NamedTuple):
    """A method of the api. `call` is "bind" or "call" for `api.on.bind` and `api.on.call`."""

    name: str
    call: str = ""


class Expression(NamedTuple):
    """An expression that is not evaluated yet."""

    module: ScriptModule
    start: int
    end: int


class Items(NamedTuple):
    """A list."""

    items: tuple[Value, ...]


class Members(NamedTuple):
    """An object literal."""

    members: dict[str, Expression]


class FunctionValue(NamedTuple):
    """A function, and the file that it is in."""

    module: ScriptModule
    function: Function


class Namespace(NamedTuple):
    """All exports of a file."""

    module: ScriptModule


Value: TypeAlias = (
    "str | int | Api | Method | Expression | Items | Members | FunctionValue | Namespace | None"
)
UNKNOWN: tuple[Value, ...] = (None,)


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions of a plugin's files. A value is unknown (None) unless the text shows it."""

    read: ModuleReader | None
    api_name: str
    modules: dict[str, ScriptModule | None] = field(default_factory=dict)
    api_functions: set[tuple[str, int]] = field(default_factory=set)  # called by the host with the api
    outside_calls: dict[tuple[str, int], list[tuple[ScriptModule, int]]] = field(default_factory=dict)
    _work: int = 0
    _known: dict[tuple[object, ...], tuple[Value, ...]] = field(default_factory=dict)

    def add_module(self, name: str, source: bytes, *, is_entry: bool = False) -> ScriptModule | None:
        """Read a file; return None for one that is too long."""
        script = read_script(source)
        module = None if script is None else ScriptModule(name, scopes_of(script), is_entry)
        self.modules[name] = module
        return module

    def imported(self, importer: ScriptModule, written: str) -> ScriptModule | None:
        """Return the relative module that a file imports; None for packages and absent files."""
        if self.read is None or not written.startswith("."):
            return None
        found = self.read(importer.name, written) if len(self.modules) < MOST_MODULES else None
        if found is None:
            return None
        name, source = found
        return self.modules[name] if name in self.modules else self.add_module(name, source)

    def forget(self) -> None:
        """Forget the values of names. Call this after a change of `api_functions` or `outside_calls`."""
        self._known.clear()

    # Expressions

    def values(self, module: ScriptModule, start: int, end: int, depth: int = 0) -> tuple[Value, ...]:
        """Return the possible values of an expression; a loop's variable or a parameter may have several."""
        self._work += 1
        if depth > _DEEPEST or self._work > _MOST_WORK:
            return UNKNOWN
        script = module.scopes.script
        start, end = peeled(module.scopes, start, end)
        if start >= end:
            return UNKNOWN
        number = whole_number_at(script, start, end)
        if number is not None:
            return (number,)
        outside = list(_outside(module, start, end))
        self._work += len(outside) // _TOKENS
        plus = next((at for at in outside if script.is_at(at, "+")), None)
        if plus is not None and plus > start:
            first, rest = (self.values(module, *one, depth + 1) for one in ((start, plus), (plus + 1, end)))
            pairs = ((a, b) for a in first for b in rest)
            return _some(_sum(a, b) for a, b in pairs)
        found, at = self._primary(module, start, end, depth + 1)
        while at < end and any(one is not None for one in found):
            found, at = self._postfix(module, found, at, end, depth + 1)
        return found[:_MOST_VALUES] if at >= end else UNKNOWN

    def _primary(
        self, module: ScriptModule, start: int, end: int, depth: int
    ) -> tuple[tuple[Value, ...], int]:
        scopes, script = module.scopes, module.scopes.script
        function = scopes.functions.get(start)
        if function is not None:
            return (FunctionValue(module, function),), function.body[1]
        close, token = script.partner.get(start, start), script.tokens[start]
        text = string_value(token)
        if text is not None:
            return (text,), start + 1
        if token.text == "[" and close > start:
            return (Items(_some(self._items(module, start + 1, close, depth))),), close + 1
        if token.text == "{" and close > start:
            return self._object(module, start), close + 1
        if token.text == "(" and close > start:
            return self.values(module, start + 1, close, depth), close + 1
        if token.kind != "name":
            return UNKNOWN, end
        if token.text == "class":
            return self._constructor(module, start), end
        special = self._special(module, start, depth)
        return special if special is not None else (self._named(module, start, depth), start + 1)

    def _items(self, module: ScriptModule, start: int, end: int, depth: int) -> Iterator[Value]:
        for first, last in parts(module.scopes.script, start, end):
            if not module.scopes.script.is_at(first, "..."):
                yield Expression(module, first, last)
                continue
            for one in self.values(module, first + 1, last, depth):
                yield from one.items if isinstance(one, Items) else UNKNOWN

    def _object(self, module: ScriptModule, start: int) -> tuple[Value, ...]:
        members = object_members(module.scopes.script, start)
        if members is None:
            return UNKNOWN
        return (Members({one.name: Expression(module, one.start, one.end) for one in members}),)

    def _constructor(self, module: ScriptModule, start: int) -> tuple[Value, ...]:
        script, functions = module.scopes.script, module.scopes.functions
        places = range(start, min(start + 40, len(script.tokens)))
        body = next((at for at in places if script.is_at(at, "{")), start)
        inside = (functions[at] for at in range(body, script.partner.get(body, body)) if at in functions)
        found = next((one for one in inside if one.name == "constructor"), None)
        return UNKNOWN if found is None else (FunctionValue(module, found),)

    def _special(self, module: ScriptModule, start: int, depth: int) -> tuple[tuple[Value, ...], int] | None:
        """Return the value of `new Set(…)`, `Object.keys(…)`, `require("./x")`, `this.x`; None for others."""
        script = module.scopes.script
        if script.is_at(start, "this", ".") and script.kind_at(start + 2) == "name":
            places = module.scopes.members.get(script.tokens[start + 2].text, [])
            values = (one for place in places for one in self.values(module, *place, depth))
            return _some(values) or UNKNOWN, start + 3
        is_set = script.is_at(start, "new", "Set") or script.is_at(start, "new", "Map")
        is_object = script.is_at(start, "Object", ".")
        call = start + (2 if is_set else 3 if is_object else 1)
        arguments = arguments_of(script, call) if script.is_at(call, "(") else ()
        if not arguments:
            return None
        after = script.partner[call] + 1
        if script.is_at(start, "require"):
            text = string_value(script.tokens[arguments[0][0]])
            found = self.imported(module, text) if text is not None else None
            return ((Namespace(found),) if found is not None else UNKNOWN), after
        if not is_set and not is_object:
            return None
        inner = self.values(module, *arguments[0], depth)
        return (inner if is_set else _of_object(script.tokens[start + 2].text, inner)), after

    def _named(self, module: ScriptModule, at: int, depth: int) -> tuple[Value, ...]:
        name = module.scopes.script.tokens[at].text
        binding = module.scopes.binding(name, at)
        if binding is None:
            return (Api(),) if name == self.api_name and module.is_entry else UNKNOWN
        return self.bound(module, name, binding, depth)

    def bound(self, module: ScriptModule, name: str, binding: Binding, depth: int = 0) -> tuple[Value, ...]:
        """Return the possible values of a name."""
        key = (module.name, name, binding.kind, binding.scope, binding.value, binding.path)
        if key not in self._known:
            self._known[key] = UNKNOWN  # while it is evaluated
            self._known[key] = self._bound(module, name, binding, depth + 1)
        return self._known[key]

    def _bound(self, module: ScriptModule, name: str, binding: Binding, depth: int) -> tuple[Value, ...]:
        match binding.kind:
            case "function":
                assert binding.function is not None
                return (FunctionValue(module, binding.function),)
            case "import":
                found = self.imported(module, binding.module)
                if found is None:
                    return UNKNOWN
                is_whole = binding.path == ("*",)
                return (Namespace(found),) if is_whole else self.exported(found, str(binding.path[0]), depth)
            case "code":
                values = self.values(module, *binding.value, depth)
            case "each":
                lists = self.values(module, *binding.value, depth)
                values = _some(
                    item for one in lists for item in (one.items if isinstance(one, Items) else UNKNOWN)
                )
            case "parameter":
                values = self._parameter(module, binding, name, depth)
        return self._member_of_path(values, binding.path, depth)

    def _parameter(self, module: ScriptModule, binding: Binding, name: str, depth: int) -> tuple[Value, ...]:
        function, number = binding.function, binding.value[0]
        assert function is not None
        if number == 0 and (module.name, function.start) in self.api_functions:
            return (Api(),)
        found: list[Value] = []
        calls = self.calls_of(module, function)
        for caller, call in calls:
            if len(found) >= _MOST_VALUES:
                break
            arguments = arguments_of(caller.scopes.script, call)
            if number < len(arguments):
                found += self.values(caller, *arguments[number], depth)
        if number == 0:
            found += self._iterated(module, function, depth)
        known = any(one is not None for one in found)
        if not known and name == self.api_name and module.is_entry:
            return (Api(),)
        return tuple(found) if found or calls or not module.is_entry else UNKNOWN

    def calls_of(self, module: ScriptModule, function: Function) -> list[tuple[ScriptModule, int]]:
        """Return the calls of a function, each with its file."""
        scopes = module.scopes
        found = list(self.outside_calls.get((module.name, function.start), ()))
        for name in _names_of(module, function):
            for call in scopes.calls_by_name.get(name, ()):
                self._work += 1
                if self._work > _MOST_WORK:
                    return found
                callee = scopes.callee_end(call) - 1
                binding = scopes.binding(name, callee)
                if scopes.script.is_at(callee - 1, ".") or scopes.script.is_at(callee - 1, "?."):
                    if function.name == name and binding is None:
                        found.append((module, call))
                elif binding is not None and (
                    binding.function == function or function.start in range(*binding.value)
                ):
                    found.append((module, call))
        return found

    def _iterated(self, module: ScriptModule, function: Function, depth: int) -> Iterator[Value]:
        """Yield the items of the list whose `forEach` calls the function."""
        scopes, script, call = module.scopes, module.scopes.script, function.start - 1
        if not script.is_at(call, "(") or script.tokens[call - 1].text not in _CALLBACK_OF_LIST:
            return
        for one in self.values(module, scopes.chain_start(call - 2), call - 2, depth):
            yield from one.items if isinstance(one, Items) else UNKNOWN

    def evaluated(self, value: Value, depth: int = 0) -> tuple[Value, ...]:
        """Return the possible values of `value`; evaluate it if it is an Expression."""
        return self.values(*value, depth) if isinstance(value, Expression) else (value,)

    def _member_of_path(self, values: tuple[Value, ...], path: Path, depth: int) -> tuple[Value, ...]:
        found = _some(inner for one in values for inner in self.evaluated(one, depth))
        for step in path:
            found = self._members(found, step, depth)
        return found

    def _members(self, values: tuple[Value, ...], step: str | int | None, depth: int) -> tuple[Value, ...]:
        return _some(inner for one in values for inner in self.member(one, step, depth))

    def member(self, value: Value, step: str | int | None, depth: int = 0) -> tuple[Value, ...]:
        """Return a member of a value; `step` None: any item of a list."""
        match value:
            case Api() if isinstance(step, str):
                return (Method(step),)
            case Method(call="") if step in ("bind", "call"):
                return (Method(value.name, str(step)),)
            case Members(members) if isinstance(step, str) and step in members:
                return self.evaluated(members[step], depth + 1)
            case Items(items) if step is None:
                return _some(inner for one in items for inner in self.evaluated(one, depth + 1))
            case Items(items) if isinstance(step, int) and step < len(items):
                return self.evaluated(items[step], depth + 1)
            case Namespace(module) if isinstance(step, str):
                return self.exported(module, step, depth)
        return UNKNOWN

    def _postfix(
        self, module: ScriptModule, found: tuple[Value, ...], at: int, end: int, depth: int
    ) -> tuple[tuple[Value, ...], int]:
        script = module.scopes.script
        at += script.is_at(at, "!")
        if script.is_at(at, ".") or (script.is_at(at, "?.") and script.kind_at(at + 1) == "name"):
            name = script.tokens[at + 1].text if at + 1 < end else ""
            return self._members(found, name, depth), at + 2
        at += script.is_at(at, "?.")
        close = script.partner.get(at)
        if at < end and close is not None and script.is_at(at, "["):
            steps = self.values(module, at + 1, close, depth)
            step = steps[0] if len(steps) == 1 and isinstance(steps[0], str | int) else None
            return self._members(found, step, depth), close + 1
        if at < end and close is not None and script.is_at(at, "("):
            bound = (
                Method(one.name) if isinstance(one, Method) and one.call == "bind" else None for one in found
            )
            return tuple(bound), close + 1
        return (found, at) if at >= end else (UNKNOWN, end)

    # Exports

    def exported(self, module: ScriptModule, name: str, depth: int = 0) -> tuple[Value, ...]:
        """Return the possible values of what a file exports as `name`."""
        key = (module.name, name)
        if key not in self._known:
            self._known[key] = UNKNOWN  # while it is evaluated
            self._known[key] = self._exported(module, name, depth + 1)
        return self._known[key]

    def _exported(self, module: ScriptModule, name: str, depth: int) -> tuple[Value, ...]:
        self._work += len(module.scopes.script.tokens) // _TOKENS
        if self._work > _MOST_WORK:
            return UNKNOWN
        if name == DEFAULT:
            place = exported_default(module)
            if place is not None:
                values = self.values(module, *place, depth)
                return self._wrapped(module, *place, depth) if values == UNKNOWN else values
        script = module.scopes.script
        for at in top_level(script):
            if script.is_at(at, "export", "{") and (
                found := self._listed_export(module, at + 1, name, depth)
            ):
                return found
            if script.is_at(at, "export", "*", "from") and name != DEFAULT:
                found = self._from(module, at + 3, name, depth)
                if found != UNKNOWN:
                    return found
            if script.is_at(at, "exports", ".", name, "="):
                return self.values(module, at + 4, expression_end(script, at + 4, len(script.tokens)), depth)
        last = len(script.tokens) - 1
        binding = module.scopes.binding(name, 0) or module.scopes.binding(name, last)
        if binding is not None:
            return self.bound(module, name, binding, depth)
        whole = exported_default(module)
        values = self.values(module, *whole, depth) if whole is not None and name != DEFAULT else UNKNOWN
        return self._members(values, name, depth)

    def _wrapped(self, module: ScriptModule, start: int, end: int, depth: int) -> tuple[Value, ...]:
        """Return the arguments of a call that a file exports, such as `definePluginEntry({…})`."""
        script = module.scopes.script
        call = next((at for at in range(start, end) if script.is_at(at, "(")), end)
        if call in (start, end) or script.partner.get(call, end) >= end:
            return UNKNOWN
        arguments = arguments_of(script, call)
        return _some(one for part in arguments for one in self.values(module, *part, depth)) or UNKNOWN

    def _listed_export(self, module: ScriptModule, opening: int, name: str, depth: int) -> tuple[Value, ...]:
        """Return the value of `name` in `export { … }`; nothing if it is not listed."""
        script = module.scopes.script
        close = script.partner.get(opening, opening)
        for first, last in parts(script, opening + 1, close):
            if script.tokens[last - 1].text == name:
                own = script.tokens[first].text
                if script.is_at(close + 1, "from"):
                    return self._from(module, close + 2, own, depth)
                return self._named(module, first, depth)
        return ()

    def _from(self, module: ScriptModule, at: int, name: str, depth: int) -> tuple[Value, ...]:
        tokens = module.scopes.script.tokens
        written = string_value(tokens[at]) if at < len(tokens) else None
        found = self.imported(module, written) if written is not None else None
        return self.exported(found, name, depth) if found is not None else UNKNOWN


def exported_default(module: ScriptModule) -> Range | None:
    """Return the expression that a file exports as its default, or as `module.exports`."""
    script = module.scopes.script
    start = default_export(script)
    return None if start is None else (start, expression_end(script, start, len(script.tokens)))


def _names_of(module: ScriptModule, function: Function) -> Iterator[str]:
    """Yield the names under which a file calls a function: its own, a constant's, its class's."""
    script, start = module.scopes.script, function.start
    if function.name == "constructor":
        yield module.scopes.class_around(start)
    elif function.name:
        yield function.name
    elif script.kind_at(start - 2) == "name" and any(script.is_at(start - 1, mark) for mark in "=:"):
        yield script.tokens[start - 2].text


def _of_object(name: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return the possible results of `Object.NAME(value)`."""
    if name in _PASSES_ON:
        return values
    found: list[Value] = []
    for one in values:
        pairs = one.members.items() if isinstance(one, Members) else None
        if pairs is None or name not in ("keys", "values", "entries"):
            found.append(None)
        elif name == "entries":
            found.append(Items(tuple(Items((key, code)) for key, code in pairs)))
        else:
            found.append(Items(tuple(key if name == "keys" else code for key, code in pairs)))
    return tuple(found)


def _some(values: Iterable[Value]) -> tuple[Value, ...]:
    """Return the values, at most `_MOST_VALUES`. Later ones are not evaluated."""
    return tuple(islice(values, _MOST_VALUES))


def _sum(first: Value, second: Value) -> Value:
    is_short = (
        isinstance(first, str) and isinstance(second, str) and len(first) + len(second) <= _LONGEST_TEXT
    )
    return f"{first}{second}" if is_short else None


def _outside(module: ScriptModule, start: int, end: int) -> Iterator[int]:
    """Yield the tokens of an expression that are outside its brackets."""
    partner = module.scopes.script.partner
    at = start
    while at < end:
        yield at
        at = max(partner.get(at, at), at) + 1


def peeled(scopes: ScriptScopes, start: int, end: int) -> Range:
    """Return the expression without what does not change its value: types, `!`, `await`, round brackets."""
    script = scopes.script
    while start < end:
        before = (start, end)
        while start < end and start not in scopes.functions:
            at = _after_types(scopes, start, end) if script.is_at(start, "<") else start
            at += script.is_at(at, "await")
            if at == start:
                break
            start = at
        if start in scopes.functions:
            return start, end
        if script.is_at(start, "(") and script.partner.get(start) == end - 1:
            start, end = start + 1, end - 1
        end = _before_type(scopes, start, end)
        while end - 1 > start and script.is_at(end - 1, "!"):
            end -= 1
        if before == (start, end):
            break
    return start, end


def _after_types(scopes: ScriptScopes, start: int, end: int) -> int:
    depth = 0
    for at in range(start, end):
        depth += scopes.script.is_at(at, "<") - scopes.script.is_at(at, ">")
        if depth == 0:
            return at + 1
    return start


def _before_type(scopes: ScriptScopes, start: int, end: int) -> int:
    """Return the end of the value before `as …` and `satisfies …`."""
    script, at = scopes.script, start
    while at < end:
        is_cast = script.is_at(at, "as") or script.is_at(at, "satisfies")
        if is_cast and at > start and not script.is_at(at - 1, ".") and not script.is_at(at - 1, "?."):
            return at
        at = max(script.partner.get(at, at), at) + 1
    return end
