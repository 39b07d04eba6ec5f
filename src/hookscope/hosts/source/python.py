"""Facts of a Python handler, from its syntax tree: what it reads, starts, writes and compares."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import decode_source

from hookscope.formats.positions import FormatError
from hookscope.formats.python_source import parse_python
from hookscope.hosts.source.facts import (
    EVENT_NAMES,
    FARTHEST,
    GUARDED_MEMBERS,
    HOME,
    MOST_FACTS,
    RETURNED_MEMBERS,
    HandlerFacts,
    Occurrence,
    first_program,
    looked_up_program,
)


class PythonNames:
    """The names in one tree; `nodes` are all its nodes. Lives as long as the walk over it."""

    def __init__(self, tree: ast.Module, nodes: Sequence[ast.AST]) -> None:
        self._modules = dict(_imported(nodes))
        self._events = _event_names(tree)
        self._contexts = frozenset[str]()  # empty during the search, which calls `is_context`
        self._contexts = self._context_names(nodes)

    def dotted(self, node: ast.AST) -> str:
        """Return the imported name, such as `subprocess.run`, under any alias; empty if not a plain name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._modules:
            return ""
        return ".".join([self._modules[node.id], *reversed(parts)])

    def is_event(self, node: ast.AST) -> bool:
        """Return whether the node is a name of the event."""
        return isinstance(node, ast.Name) and node.id in self._events

    def is_context(self, node: ast.AST) -> bool:
        """Return whether the node is the event's context, `event.context or {}`, or an alias."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self.is_context(node.values[0])
        if isinstance(node, ast.Attribute):
            return node.attr == "context" and self.is_event(node.value)
        return isinstance(node, ast.Name) and node.id in self._contexts

    def guarded_member(self, node: ast.AST) -> str:
        """Return "type" or "action" if the node is that member of the event; else empty."""
        if isinstance(node, ast.Attribute) and node.attr in GUARDED_MEMBERS and self.is_event(node.value):
            return node.attr
        return ""

    def takes_event(self, scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
        """Return whether the first parameter of `scope` is the event."""
        return any(argument.arg in self._events for argument in scope.args.args[:1])

    def _context_names(self, nodes: Sequence[ast.AST]) -> frozenset[str]:
        """Return the names that always mean the event's context."""
        assigned: dict[str, set[bool]] = {}
        for node in nodes:
            match node:
                case ast.Assign(targets=targets, value=value):
                    names = [target.id for target in targets if isinstance(target, ast.Name)]
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    names = [name]
                case ast.NamedExpr(target=ast.Name(id=name), value=value):
                    names = [name]
                case ast.arg(arg=name):
                    assigned.setdefault(name, set()).add(False)
                    continue
                case _:
                    continue
            for name in names:
                assigned.setdefault(name, set()).add(self.is_context(value))
        return frozenset(name for name, kinds in assigned.items() if kinds == {True})


def _imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _event_names(tree: ast.Module) -> frozenset[str]:
    """Return the names of the parameters that hold the event.

    They are first parameters of top-level functions: those named like an event, and that of `handler`.
    """
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
            if first is not None and (node.name in ("handler", "default") or EVENT_NAMES.match(first.arg)):
                found.add(first.arg)
    return frozenset(found)


SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class PythonFallbacks:
    """Inspects the code around a node. Lives as long as the walk over its tree."""

    def __init__(self, parents: Mapping[ast.AST, ast.AST]) -> None:
        self._parents = parents
        self._texts: dict[ast.expr, frozenset[str]] = {}

    def has_fallback(self, node: ast.expr) -> bool:
        """Return whether the code works without the value: `x or y`, `if x:`, `x == "1"`, `x in …`."""
        parent = self._parents.get(node)
        match parent:
            case ast.BoolOp():
                return isinstance(parent.op, ast.And) or parent.values[-1] is not node
            case ast.UnaryOp(op=ast.Not()) | ast.Compare():
                return True
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                return test is node
            case ast.Call(func=ast.Name(id="bool")):
                return True
        return False

    def is_checked_by_condition(self, name: str, node: ast.AST) -> bool:
        """Return whether an enclosing condition has `name`: `if "A" in os.environ: use(os.environ["A"])`."""
        for _ in range(FARTHEST):
            parent = self._parents.get(node)
            if parent is None or isinstance(parent, SCOPES):
                break
            conditions: list[ast.expr] = []
            if isinstance(parent, ast.If | ast.IfExp | ast.While) and parent.test is not node:
                conditions = [parent.test]
            elif isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
                conditions = _before(node, parent.values[:FARTHEST])
            if any(name in self._texts_of(condition) for condition in conditions):
                return True
            node = parent
        return False

    def _texts_of(self, condition: ast.expr) -> frozenset[str]:
        """Return the strings in a condition, cached, because many nodes may be below it."""
        found = self._texts.get(condition)
        if found is None:
            texts = (text_of(part) for part in ast.walk(condition))
            found = self._texts[condition] = frozenset(text for text in texts if text is not None)
        return found

    def is_in_try(self, node: ast.AST) -> bool:
        """Return whether the node is in a `try` that catches a KeyError."""
        while (parent := self._parents.get(node)) is not None:
            if isinstance(parent, ast.Try) and node in parent.body:
                return any(_takes_key_error(handler.type) for handler in parent.handlers)
            node = parent
        return False


def _takes_key_error(type_: ast.expr | None) -> bool:
    names = [node.id for node in ast.walk(type_) if isinstance(node, ast.Name)] if type_ else ["Exception"]
    return bool({"KeyError", "LookupError", "Exception"} & set(names))


def _before(node: ast.AST, values: list[ast.expr]) -> list[ast.expr]:
    return values[: values.index(node)] if node in values else values


def text_of(node: ast.AST) -> str | None:
    """Return the value of a string literal; None for any other node."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


LINE_COMMANDS = (
    "subprocess.getoutput subprocess.getstatusoutput os.system os.popen asyncio.create_subprocess_shell"
)
WORD_COMMANDS = """
subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen
asyncio.create_subprocess_exec shutil.which
"""
# Function → whether it takes a whole command line.
COMMANDS = dict.fromkeys(LINE_COMMANDS.split(), True) | dict.fromkeys(WORD_COMMANDS.split(), False)
NETWORK = ("urllib.request.", "http.client.", "requests.", "httpx.", "aiohttp.", "websockets.", "smtplib.")
NETWORK_CALLS = ("urllib3.request", "socket.create_connection", "asyncio.open_connection")
WRITING_FUNCTIONS = """
shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.move shutil.rmtree os.makedirs os.mkdir
os.remove os.rename os.replace os.rmdir os.unlink
"""
WRITERS = frozenset(WRITING_FUNCTIONS.split())
WRITING_METHODS = frozenset({"write_text", "write_bytes"})


def python_facts(source: bytes) -> HandlerFacts:
    """Return the facts of the source. Never raises: a syntax error is an `error`."""
    try:
        tree = parse_python(source)
    except FormatError as error:
        return HandlerFacts(error=Occurrence(error.problem, error.span.line, error.span.column))
    try:
        return _PythonReader(tree, decode_source(source).split("\n")).facts()
    except RecursionError:
        return HandlerFacts(error=Occurrence("it is nested too deeply to be read", 1, 1))


class _PythonReader:
    """One walk over a tree. Lives as long as the walk."""

    def __init__(self, tree: ast.Module, lines: list[str]) -> None:
        self._lines = lines
        self._parents: dict[ast.AST, ast.AST] = {}
        self._nodes: list[ast.AST] = [tree]
        for node in self._nodes:  # the list grows during the loop until it holds the whole tree, top down
            children = list(ast.iter_child_nodes(node))
            self._parents.update(dict.fromkeys(children, node))
            self._nodes += children
        self._names = PythonNames(tree, self._nodes)
        self._fallbacks = PythonFallbacks(self._parents)
        self._occurrences: dict[str, list[Occurrence]] = {}

    def facts(self) -> HandlerFacts:
        """Return all facts, each kind in the order of the source."""
        for node in self._nodes:
            self._visit(node)
        stored = {occurrence.name for occurrence in self._occurrences.get("changes", ())}
        if "fields" in self._occurrences:
            self._occurrences["fields"] = [
                occurrence for occurrence in self._occurrences["fields"] if occurrence.name not in stored
            ]
        found = {
            name: tuple(sorted(occurrences, key=_place)) for name, occurrences in self._occurrences.items()
        }
        return HandlerFacts(**found)  # type: ignore[arg-type]  # its names are fields, but for `module`

    def _record(self, category: str, name: str, node: ast.AST, kind: str = "") -> None:
        occurrences = self._occurrences.setdefault(category, [])
        if len(occurrences) < MOST_FACTS:
            line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
            before = self._lines[line - 1].encode()[:offset].decode()  # the tree counts bytes
            occurrences.append(Occurrence(name, line, len(before) + 1, kind))

    def _visit(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self._call(node)
            case ast.Subscript():
                self._subscript(node)
            case ast.Attribute():
                self._attribute(node)
            case ast.Compare():
                self._compare(node)
            case ast.Match():
                self._match(node)
            case ast.Return(value=ast.Dict() as answer):
                self._answer(node, answer)
            case ast.AugAssign(target=ast.Attribute(attr="messages", value=owner)) if self._names.is_event(
                owner
            ):
                self._record("pushes", "+=", node)
            case ast.Constant(value=str() as text) if HOME.match(text) and not isinstance(
                self._parents.get(node), ast.Expr
            ):
                self._record("homes", text, node)
            case ast.Import():
                for alias in node.names:
                    self._record("imports", alias.name, node)
            case ast.ImportFrom(level=0, module=str() as module):
                self._record("imports", module, node)

    # Visitors

    def _call(self, node: ast.Call) -> None:
        name = self._names.dotted(node.func)
        if name in ("os.getenv", "os.environ.get", "os.environ.pop") and node.args:
            has_default = len(node.args) > 1 or bool(node.keywords)
            self._variable(node.args[0], node, optional=has_default)
        elif name in COMMANDS:
            self._command(node, whole_line=COMMANDS[name])
        elif name.startswith(NETWORK) or name in NETWORK_CALLS:
            self._record("network", name, node)
        elif name in WRITERS or self._writes(node):
            self._record("writes", name or _last(node.func), node)
        if isinstance(node.func, ast.Attribute):
            self._method(node, node.func)

    def _method(self, node: ast.Call, function: ast.Attribute) -> None:
        owner = function.value
        if function.attr in ("append", "extend", "insert") and isinstance(owner, ast.Attribute):
            if owner.attr == "messages" and self._names.is_event(owner.value):
                pushed = node.args[-1] if node.args and function.attr != "extend" else None
                self._record("pushes", function.attr, node, _not_text(pushed))
        elif function.attr in ("append", "insert") and node.args and isinstance(owner, ast.Subscript):
            if self._names.is_context(owner.value):
                self._item(text_of(owner.slice) or "", node.args[-1])
        elif self._names.is_context(owner) and node.args and isinstance(field := text_of(node.args[0]), str):
            if function.attr == "get":
                self._record("fields", field, node)
            elif function.attr == "setdefault":
                self._record("changes", field, node, "default")

    def _item(self, field: str, value: ast.expr) -> None:
        """Record an object that is put into a list of the context, with all its members."""
        members = (
            [text_of(key) if key is not None else None for key in value.keys]
            if isinstance(value, ast.Dict)
            else []
        )
        if field and all(members):
            self._record("items", field, value, ",".join(map(str, members)))

    def _writes(self, node: ast.Call) -> bool:
        match node.func:
            case ast.Name(id="open"):
                modes = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "mode")]
            case ast.Attribute(attr="open"):
                modes = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "mode")]
            case ast.Attribute(attr=attr):
                return attr in WRITING_METHODS
            case _:
                return False
        return any(set(text_of(mode) or "") & set("wax+") for mode in modes)

    def _command(self, node: ast.Call, *, whole_line: bool) -> None:
        if not node.args:
            return
        first = node.args[0]
        if isinstance(first, ast.List | ast.Tuple) and first.elts:
            program = looked_up_program(text_of(first.elts[0]) or "")
        else:
            text = text_of(first) or _plain_start(first)
            program = first_program(text) if whole_line or " " in text else looked_up_program(text)
        if program:
            self._record("programs", program, node)

    def _subscript(self, node: ast.Subscript) -> None:
        name = text_of(node.slice)
        if name is None:
            return
        stores = not isinstance(node.ctx, ast.Load)
        if self._names.dotted(node.value) == "os.environ" and not stores:
            self._variable(node.slice, node, optional=self._fallbacks.is_in_try(node))
        elif self._names.is_context(node.value):
            self._record("changes" if stores else "fields", name, node)

    def _attribute(self, node: ast.Attribute) -> None:
        parent = self._parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        if self._names.is_context(node.value) and not called:
            self._record("fields" if isinstance(node.ctx, ast.Load) else "changes", node.attr, node)

    def _variable(self, name: ast.expr, node: ast.expr, *, optional: bool) -> None:
        text = text_of(name)
        if text:
            optional = (
                optional
                or self._fallbacks.has_fallback(node)
                or self._fallbacks.is_checked_by_condition(text, node)
            )
            self._record("env", text, node, "optional" if optional else "")

    # Guards

    def _compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, right, sign in zip(sides, sides[1:], node.ops, strict=False):
            if isinstance(sign, ast.Eq | ast.NotEq):
                for field, value in ((left, right), (right, left)):
                    self._guard(self._names.guarded_member(field), value)
            elif isinstance(sign, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
                for value in right.elts:
                    self._guard(self._names.guarded_member(left), value)

    def _match(self, node: ast.Match) -> None:
        member = self._names.guarded_member(node.subject)
        for case in node.cases if member else ():
            patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
            for shape in patterns:
                if isinstance(shape, ast.MatchValue):
                    self._guard(member, shape.value)

    def _guard(self, member: str, value: ast.expr) -> None:
        text = text_of(value)
        if member and text is not None:
            self._record("guards", text, value, member)

    def _answer(self, node: ast.Return, answer: ast.Dict) -> None:
        scope: ast.AST | None = node
        while scope is not None and not isinstance(scope, SCOPES):
            scope = self._parents.get(scope)
        if scope is None or not self._names.takes_event(scope):
            return
        for key in answer.keys:
            name = text_of(key) if key is not None else None
            if name is None or key is None:
                continue
            if name in RETURNED_MEMBERS:
                self._record("answers", name, key)
            elif getattr(scope, "name", "") in ("handler", "default"):
                self._record("answers", name, key, "other")


def _plain_start(node: ast.AST) -> str:
    """Return the literal start of an f-string up to its last space, so that its words are complete."""
    if isinstance(node, ast.JoinedStr) and node.values:
        return (text_of(node.values[0]) or "").rpartition(" ")[0]
    return ""


def _not_text(node: ast.expr | None) -> str:
    """Describe a literal that is not a string; empty for a string and for any other expression."""
    match node:
        case ast.Dict():
            return "an object"
        case ast.List() | ast.Tuple() | ast.Set():
            return "a list"
        case ast.Constant(value=bool()):
            return "a boolean"
        case ast.Constant(value=int() | float()):
            return "a number"
        case ast.Constant(value=None):
            return "null"
    return ""


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _place(occurrence: Occurrence) -> tuple[int, int]:
    return occurrence.line, occurrence.column
