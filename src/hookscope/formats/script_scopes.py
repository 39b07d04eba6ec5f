"""Functions, names and calls of a TypeScript or JavaScript file, read from its tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field
from heapq import heappop, heappush
from typing import Literal, NamedTuple, TypeAlias

from hookscope.formats.script_source import call_arguments, skip_value
from hookscope.formats.script_tokens import TokenizedScript, string_value
from hookscope.values import dataclass

Range: TypeAlias = tuple[int, int]  # the tokens of an expression: its first, and the one after its last
Path: TypeAlias = tuple[str | int, ...]  # members and positions that a pattern takes of a value

DECLARATIONS = frozenset({"const", "let", "var"})
_STATEMENTS = frozenset({"if", "for", "while", "switch", "catch", "with", "return", "await", "typeof", "new"})
_MODIFIERS = frozenset({"private", "public", "protected", "readonly", "override"})
_CONTINUES = frozenset({"as", "satisfies", "in", "of", "instanceof"})  # also on a line of its own
_PREFIXES = frozenset({"new", "await", "typeof", "void", "async", "function", "class", "extends", "yield"})
_VALUE_ENDS = frozenset({"name", "string", "template", "number", "regex", "close"})
_VALUE_STARTS = frozenset({"name", "string", "number"})
_LONGEST_TYPE = 200  # tokens of a function's return type


class Function(NamedTuple):
    """A function, an arrow or a method."""

    name: str  # empty for one without
    start: int  # of its expression; the name of a method
    parameters: tuple[Range, ...]
    body: Range


class Binding(NamedTuple):
    """The meaning of a name between two tokens.

    `value` is the position of an expression: the initializer of "code", or the list of a loop's "each".
    """

    kind: Literal["code", "each", "function", "parameter", "import"]
    scope: Range
    value: Range = (0, 0)
    path: Path = ()
    function: Function | None = None
    module: str = ""  # of an import, with `path` for the name that it exports


@dataclass(slots=True)
class ScriptScopes:
    """The functions, names and calls of one file. See `scopes_of`."""

    script: TokenizedScript
    functions: dict[int, Function] = field(default_factory=dict)  # by start
    names: dict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    calls: list[int] = field(default_factory=list)  # the `(` of each call, in order
    calls_by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    classes: list[tuple[Range, str]] = field(default_factory=list)  # from name to end, in order
    members: dict[str, list[Range]] = field(default_factory=lambda: defaultdict(list))  # `this.NAME = …`
    _chain_starts: dict[int, int] = field(default_factory=dict)  # by the last token of the chain
    _innermost: dict[str | None, _Innermost] = field(default_factory=dict)  # by name; None: the classes

    def binding(self, name: str, at: int) -> Binding | None:
        """Return the innermost meaning of a name at this token, or None."""
        known = self.names.get(name)
        if known is None:
            return None
        if name not in self._innermost:
            self._innermost[name] = _Innermost([one.scope for one in known])
        number = self._innermost[name].around(at)
        return None if number is None else known[number]

    def class_around(self, at: int) -> str:
        """Return the name of the innermost class around this token; empty if there is none."""
        if None not in self._innermost:
            self._innermost[None] = _Innermost([place for place, _ in self.classes])
        number = self._innermost[None].around(at)
        return "" if number is None else self.classes[number][1]

    def callee_end(self, call: int) -> int:
        """Return the index after the expression that this `(` calls."""
        at = call
        if at and self.script.is_at(at - 1, ">"):
            at = _before_types(self.script, at - 1)
        return at - 1 if at and self.script.is_at(at - 1, "?.") else at

    def chain_start(self, end: int) -> int:
        """Return the first token of the `a.b(c)!.d` that ends before `end`. Each chain is read once."""
        at, passed = end - 1, []
        while (start := self._chain_starts.get(at)) is None:
            passed.append(at)
            at, start = self._before_in_chain(at)
            if start is not None:
                break
        self._chain_starts.update(dict.fromkeys(passed, start))
        return start

    def _before_in_chain(self, at: int) -> tuple[int, int | None]:
        """Return the token before the part of a chain that ends at `at`; and the start, if the chain ends."""
        script = self.script
        while at > 0 and script.is_at(at, "!"):
            at -= 1
        if at <= 0:
            return at, 0
        if script.kind_at(at) == "close":
            at = script.partner.get(at, at)
            is_statement = script.tokens[at - 1].text in _STATEMENTS
            follows = script.kind_at(at - 1) in ("name", "close") and not is_statement
            return (at - 1, None) if follows else (at, at)
        if script.is_at(at - 1, ".") or script.is_at(at - 1, "?."):
            return at - 2, None
        return at, at


class _Innermost:
    """Finds the innermost of many ranges, sorted by their start, faster than a search of all."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        self._starts = sorted({place for one in ranges for place in one})
        self._numbers: list[int | None] = []
        open_ranges: list[int] = []  # a heap of negative numbers: the range that starts last is on top
        following = 0
        for place in self._starts:
            while following < len(ranges) and ranges[following][0] <= place:
                heappush(open_ranges, -following)
                following += 1
            while open_ranges and ranges[-open_ranges[0]][1] <= place:
                heappop(open_ranges)
            self._numbers.append(-open_ranges[0] if open_ranges else None)

    def around(self, at: int) -> int | None:
        """Return the number of the innermost range around a place, or None."""
        number = bisect_right(self._starts, at) - 1
        return self._numbers[number] if number >= 0 else None


def _scope_start(binding: Binding) -> int:
    return binding.scope[0]


def _before_types(script: TokenizedScript, at: int) -> int:
    """Return the index of the `<` whose `>` is at `at`, or the index after it if there is none."""
    depth = 0
    for place in range(at, max(-1, at - _LONGEST_TYPE), -1):
        depth += script.is_at(place, ">") - script.is_at(place, "<")
        if depth == 0:
            return place
        if script.is_at(place, ";"):
            break
    return at + 1


def expression_end(script: TokenizedScript, at: int, close: int, *, commas: bool = True) -> int:
    """Return the end of the expression at `at`: its comma, semicolon, bracket, or the end of its line."""
    first = at
    while at < close and not script.is_at(at, ";") and not (commas and script.is_at(at, ",")):
        if at > first and _starts_statement(script, at):
            break
        at = skip_value(script, at)
    return min(at, close)


def _starts_statement(script: TokenizedScript, at: int) -> bool:
    """Return whether a declaration begins here, or a line that does not continue the one before."""
    token, before = script.tokens[at], script.tokens[at - 1]
    if _is_declaration(script, at):
        return True
    return (
        token.line > before.line
        and before.kind in _VALUE_ENDS
        and before.text not in _CONTINUES | _PREFIXES
        and token.kind in _VALUE_STARTS
        and token.text not in _CONTINUES
    )


def _is_declaration(script: TokenizedScript, at: int) -> bool:
    """Return whether `const`, `let` or `var` begins a declaration here, unlike `as const`."""
    token, before = script.tokens[at], script.tokens[at - 1].text if at else ""
    return token.kind == "name" and token.text in DECLARATIONS and before not in (".", "?.", "as")


def parts(script: TokenizedScript, start: int, end: int, *, typed: bool = False) -> tuple[Range, ...]:
    """Return the expressions between commas; `typed`: commas inside `<…>` of a type do not count."""
    found: list[Range] = []
    at = first = start
    depth = in_type = 0
    while at < end:
        if typed:
            in_type = (in_type or script.is_at(at, ":")) and not script.is_at(at, "=")
            depth = max(0, depth + script.is_at(at, "<") - script.is_at(at, ">")) if in_type else 0
        if script.is_at(at, ",") and not depth:
            found.append((first, at))
            first, in_type = at + 1, False
        at = skip_value(script, at)
    return (*found, (first, end)) if first < end else tuple(found)


def pattern_names(
    script: TokenizedScript, start: int, end: int, path: Path = ()
) -> Iterator[tuple[str, Path]]:
    """Yield the names that a pattern binds, each with its path in the value."""
    while start < end and script.tokens[start].text in _MODIFIERS and script.kind_at(start + 1) == "name":
        start += 1
    if start >= end or len(path) > 8 or script.is_at(start, "..."):
        return
    token = script.tokens[start]
    close = script.partner.get(start)
    if token.kind == "name":
        yield token.text, path
    elif close is not None and token.text == "[":
        for number, (first, last) in enumerate(parts(script, start + 1, close)):
            yield from pattern_names(script, first, last, (*path, number))
    elif close is not None and token.text == "{":
        for first, last in parts(script, start + 1, close):
            if first < last and script.kind_at(first) in ("name", "string"):
                key = string_value(script.tokens[first]) or script.tokens[first].text
                own = first + 2 if script.is_at(first + 1, ":") else first
                yield from pattern_names(script, own, last, (*path, key))


def scopes_of(script: TokenizedScript) -> ScriptScopes:
    """Return the functions, names and calls of a file. Takes linear time. Never raises."""
    return _Reader(script).read()


class _Reader:
    """Reads the tokens of a file once."""

    def __init__(self, script: TokenizedScript) -> None:
        self.script = script
        self.scopes = ScriptScopes(script)
        self.brackets: list[int] = []  # open ones around the token, each with a partner
        self.blocks: list[int] = []  # those of them that are `{`
        self.last_expressions: dict[tuple[int, bool], Range] = {}  # by the end of the brackets around them

    def read(self) -> ScriptScopes:
        for at, token in enumerate(self.script.tokens):
            if token.kind == "close" and self.brackets and self.script.partner.get(at) == self.brackets[-1]:
                if self.brackets.pop() in self.blocks[-1:]:
                    self.blocks.pop()
            elif token.kind == "name":
                self._name(at, token.text)
            elif token.kind == "open" and at in self.script.partner:
                if token.text == "(":
                    self._parenthesis(at)
                elif token.text == "{":
                    self.blocks.append(at)
                self.brackets.append(at)
            elif token.text == "=>" and self.script.kind_at(at - 1) == "name":
                self._add_function(at - 1, ((at - 1, at),), at + 1, arrow=True)
        for known in self.scopes.names.values():
            known.sort(key=_scope_start)
        return self.scopes

    def _close(self) -> int:
        return self.script.partner[self.brackets[-1]] if self.brackets else len(self.script.tokens)

    def _block(self) -> Range:
        """Return the innermost block around the token."""
        if not self.blocks:
            return 0, len(self.script.tokens)
        return self.blocks[-1], self.script.partner[self.blocks[-1]]

    # Names

    def _name(self, at: int, text: str) -> None:
        if self.script.is_at(at - 1, ".") or self.script.is_at(at - 1, "?."):
            if self.script.is_at(at - 2, "this") and self._is_assigned(at + 1):
                self.scopes.members[text].append((at + 2, self._expression_end(at + 2, self._close())))
        elif text in DECLARATIONS and _is_declaration(self.script, at):
            self._declaration(at)
        elif text == "import":
            self._import(at)
        elif text == "class" and self.script.kind_at(at + 1) == "name":
            self._class(at)

    def _is_assigned(self, at: int) -> bool:
        return self.script.is_at(at, "=") and not self.script.is_at(at + 1, "=")

    def _declaration(self, at: int) -> None:
        around = self.brackets[-1] if self.brackets else 0
        if self.script.is_at(around - 1, "for") or self.script.is_at(around - 2, "for", "await"):
            self._loop(at + 1)
            return
        close, place = self._close(), at + 1
        while place < close:
            end = expression_end(self.script, place, close)
            target = skip_value(self.script, place)
            places = (one for one in range(target, end) if not self.script.is_at(one - 1, "="))
            equals = next(filter(self._is_assigned, places), None)
            if equals is not None:
                self._bind(place, target, Binding("code", self._block(), (equals + 1, end)))
            if not self.script.is_at(end, ","):
                return
            place = end + 1

    def _bind(self, start: int, end: int, binding: Binding) -> None:
        for name, path in pattern_names(self.script, start, end):
            self.scopes.names[name].append(binding._replace(path=path))

    def _loop(self, start: int) -> None:
        opening = self.brackets[-1]
        close, target = self.script.partner[opening], skip_value(self.script, start)
        if self.script.is_at(target, "of"):
            body = close + 1
            end = (
                self.script.partner.get(body, body)
                if self.script.is_at(body, "{")
                else self._expression_end(body, len(self.script.tokens), commas=False)
            )
            self._bind(start, target, Binding("each", (opening, end + 1), (target + 1, close)))

    def _class(self, at: int) -> None:
        """Record the name of a class. Its constructor is evaluated when the class is called."""
        tokens = self.script.tokens
        body = next((one for one in range(at, min(at + 40, len(tokens))) if tokens[one].text == "{"), at)
        value = (at, self.script.partner.get(body, body) + 1)
        self.scopes.names[tokens[at + 1].text].append(Binding("code", self._block(), value))
        self.scopes.classes.append((value, tokens[at + 1].text))

    def _import(self, at: int) -> None:
        place, end = at + 1, min(len(self.script.tokens), at + _LONGEST_TYPE)
        source = next((one for one in range(place, end) if self._ends_import(one)), None)
        module = string_value(self.script.tokens[source]) if source is not None else None
        if source is None or module is None or self.script.is_at(place, "("):
            return
        everywhere = (0, len(self.script.tokens))
        while place < source and not self.script.is_at(place, "from"):
            if self.script.is_at(place, "{"):
                for first, last in parts(self.script, place + 1, self.script.partner.get(place, place + 1)):
                    first += self.script.is_at(first, "type") and last - first > 1
                    written = self.script.tokens[first].text
                    self.scopes.names[self.script.tokens[last - 1].text].append(
                        Binding("import", everywhere, path=(written,), module=module)
                    )
            elif self.script.kind_at(place) == "name" and not self.script.is_at(place, "as"):
                name = "*" if self.script.is_at(place - 2, "*", "as") else "default"
                self.scopes.names[self.script.tokens[place].text].append(
                    Binding("import", everywhere, path=(name,), module=module)
                )
            place = skip_value(self.script, place)

    def _ends_import(self, at: int) -> bool:
        return self.script.kind_at(at) == "string" or self.script.is_at(at, "import")

    # Functions and calls

    def _parenthesis(self, at: int) -> None:
        script, close = self.script, self.script.partner[at]
        body, arrow = self._function_body(at, close)
        if body is not None:
            self._add_function(at, parts(script, at + 1, close, typed=True), body, arrow=arrow)
            return
        callee = self.scopes.callee_end(at) - 1
        if callee < 0 or not (script.kind_at(callee) in ("name", "close") or script.is_at(callee, "!")):
            return
        name = script.tokens[callee].text
        if name in _STATEMENTS or name == "function":
            return
        self.scopes.calls.append(at)
        if script.kind_at(callee) == "name":
            self.scopes.calls_by_name[name].append(at)

    def _function_body(self, at: int, close: int) -> tuple[int | None, bool]:
        """Return where the body of the function with these parameters begins, and whether it is an arrow."""
        script, after = self.script, close + 1
        if script.is_at(after, "=>"):
            return after + 1, True
        named = self._is_named_head(at)
        if script.is_at(after, "{"):
            return (after, False) if named else (None, False)
        if not script.is_at(after, ":"):
            return None, False
        place, first = after + 1, after + 1
        while place < min(len(script.tokens), first + _LONGEST_TYPE) and script.kind_at(place) != "close":
            if script.is_at(place, "=>"):
                return place + 1, True
            if script.is_at(place, "{") and place > first and named:
                return place, False
            if script.tokens[place].text in (";", "=", "?", ":"):
                break
            place = skip_value(script, place)
        return None, False

    def _is_named_head(self, at: int) -> bool:
        """Return whether `function (`, `function name(` or a method's `name(` begins here."""
        before = self.scopes.callee_end(at) - 1
        named = self.script.kind_at(before) in ("name", "string")
        return named and self.script.tokens[before].text not in _STATEMENTS

    def _add_function(self, at: int, parameters: tuple[Range, ...], body: int, *, arrow: bool) -> None:
        script, start, name = self.script, at, ""
        if not arrow:
            start = self.scopes.callee_end(at) - 1
            if not script.is_at(start, "function"):
                name = string_value(script.tokens[start]) or script.tokens[start].text
            start -= script.is_at(start - 1, "*")
        is_statement = not arrow and script.is_at(start - 1, "function")
        start -= is_statement
        start -= script.is_at(start - 1, "async")
        end = self._body_end(body)
        function = Function(name, start, parameters, (body, end))
        self.scopes.functions[start] = function
        if is_statement and name:
            self.scopes.names[name].append(Binding("function", self._block(), function=function))
        scope = (parameters[0][0] if parameters else body, end)
        for number, (first, last) in enumerate(parameters):
            for own, path in pattern_names(script, first, last):
                parameter = Binding("parameter", scope, (number, number), path, function)
                self.scopes.names[own].append(parameter)
                if first < last and script.tokens[first].text in _MODIFIERS:
                    place = next(at for at in range(first, last) if script.is_at(at, own))
                    self.scopes.members[own].append((place, place + 1))

    def _body_end(self, body: int) -> int:
        if self.script.is_at(body, "{"):
            return self.script.partner.get(body, body) + 1
        return self._expression_end(body, self._close())

    def _expression_end(self, at: int, close: int, *, commas: bool = True) -> int:
        """Return `expression_end`; it reads expressions that end at one place only once."""
        start, end = self.last_expressions.get((close, commas), (0, 0))
        if not start <= at < end:
            end = expression_end(self.script, at, close, commas=commas)
            self.last_expressions[close, commas] = at, end
        return end


def arguments_of(script: TokenizedScript, call: int) -> tuple[Range, ...]:
    """Return the arguments of the call with this `(`; none of an unclosed one."""
    return call_arguments(script, call) or ()
