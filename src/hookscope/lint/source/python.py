"""The facts of a Python handler, from its syntax tree."""

from __future__ import annotations

import ast
import re
import warnings

from hookscope.lint.source.facts import MOST, HandlerFacts, Met
from hookscope.lint.source.python_names import Names
from hookscope.lint.source.python_without import SCOPES, Without, text_of
from hookscope.lint.source.words import ANSWERS, HOME, program_in, program_named

COMMANDS = {  # function → does it take a whole command line
    "subprocess.run": False,
    "subprocess.call": False,
    "subprocess.check_call": False,
    "subprocess.check_output": False,
    "subprocess.Popen": False,
    "subprocess.getoutput": True,
    "subprocess.getstatusoutput": True,
    "os.system": True,
    "os.popen": True,
    "asyncio.create_subprocess_exec": False,
    "asyncio.create_subprocess_shell": True,
    "shutil.which": False,
}
NETWORK = ("urllib.request.", "http.client.", "requests.", "httpx.", "aiohttp.", "websockets.", "smtplib.")
NETWORK_CALLS = ("urllib3.request", "socket.create_connection", "asyncio.open_connection")
WRITERS = frozenset(
    {
        "shutil.copy",
        "shutil.copy2",
        "shutil.copyfile",
        "shutil.copytree",
        "shutil.move",
        "shutil.rmtree",
        "os.makedirs",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.replace",
        "os.rmdir",
        "os.unlink",
    }
)
WRITING_METHODS = frozenset({"write_text", "write_bytes"})
LINE_END = re.compile(r"\r\n|\r|\n")  # as Python counts lines


def python_facts(text: str) -> HandlerFacts:
    """What the source says it does. Never raises: what cannot be read is an `error`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape that is none is the author's affair
            tree = ast.parse(text)
    except SyntaxError as error:
        at = Met(error.msg, max(error.lineno or 1, 1), max(error.offset or 1, 1))
        return HandlerFacts(error=at)
    except (ValueError, MemoryError, RecursionError) as error:
        return HandlerFacts(error=Met(str(error) or type(error).__name__, 1, 1))
    try:
        return _Reader(tree, LINE_END.split(text)).facts()
    except RecursionError:
        return HandlerFacts(error=Met("it is nested too deeply to be read", 1, 1))


class _Reader:
    """One walk over a tree. Lives as long as that walk."""

    def __init__(self, tree: ast.Module, lines: list[str]) -> None:
        self._lines = lines
        self._parents: dict[ast.AST, ast.AST] = {}
        self._nodes: list[ast.AST] = [tree]
        for node in self._nodes:  # which grows on the way, so all of the tree is in it, top down
            children = list(ast.iter_child_nodes(node))
            self._parents.update(dict.fromkeys(children, node))
            self._nodes += children
        self._names = Names(tree, self._nodes)
        self._without = Without(self._parents)
        self._met: dict[str, list[Met]] = {}

    def facts(self) -> HandlerFacts:
        """All that it says, each kind in the order of the text."""
        for node in self._nodes:
            self._look_at(node)
        stored = {met.name for met in self._met.pop("stored", [])}
        if "fields" in self._met:
            self._met["fields"] = [met for met in self._met["fields"] if met.name not in stored]
        found = {name: tuple(sorted(mets, key=_place)) for name, mets in self._met.items()}
        return HandlerFacts(**found)  # type: ignore[arg-type]  # its names are fields, but for `module`

    def _note(self, what: str, name: str, node: ast.AST, kind: str = "") -> None:
        mets = self._met.setdefault(what, [])
        if len(mets) < MOST:
            line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
            before = self._lines[line - 1].encode()[:offset].decode()  # the tree counts bytes
            mets.append(Met(name, line, len(before) + 1, kind))

    def _look_at(self, node: ast.AST) -> None:
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
                self._note("pushes", "+=", node)
            case ast.Constant(value=str() as text) if HOME.match(text) and not self._is_a_docstring(node):
                self._note("homes", text, node)
            case ast.Import():
                for alias in node.names:
                    self._note("imports", alias.name, node)
            case ast.ImportFrom(level=0, module=str() as module):
                self._note("imports", module, node)

    def _is_a_docstring(self, node: ast.Constant) -> bool:
        return isinstance(self._parents.get(node), ast.Expr)

    # What is looked at

    def _call(self, node: ast.Call) -> None:
        name = self._names.dotted(node.func)
        if name in ("os.getenv", "os.environ.get", "os.environ.pop") and node.args:
            has_default = len(node.args) > 1 or bool(node.keywords)
            self._variable(node.args[0], node, optional=has_default)
        elif name in COMMANDS:
            self._command(node, whole_line=COMMANDS[name])
        elif name.startswith(NETWORK) or name in NETWORK_CALLS:
            self._note("network", name, node)
        elif name in WRITERS or self._writes(node):
            self._note("writes", name or _last(node.func), node)
        if isinstance(node.func, ast.Attribute):
            self._method(node, node.func)

    def _method(self, node: ast.Call, function: ast.Attribute) -> None:
        owner = function.value
        if function.attr in ("append", "extend", "insert") and isinstance(owner, ast.Attribute):
            if owner.attr == "messages" and self._names.is_event(owner.value):
                self._note("pushes", function.attr, node)
        elif self._names.is_context(owner) and node.args and isinstance(field := text_of(node.args[0]), str):
            if function.attr == "get":
                self._note("fields", field, node)
            elif function.attr == "setdefault":
                self._note("stored", field, node)

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
            program = program_named(text_of(first.elts[0]) or "")
        else:
            text = text_of(first) or _begins(first)
            program = program_in(text) if whole_line or " " in text else program_named(text)
        if program:
            self._note("programs", program, node)

    def _subscript(self, node: ast.Subscript) -> None:
        name = text_of(node.slice)
        if name is None:
            return
        stores = not isinstance(node.ctx, ast.Load)
        if self._names.dotted(node.value) == "os.environ" and not stores:
            self._variable(node.slice, node, optional=self._without.is_tried(node))
        elif self._names.is_context(node.value):
            self._note("stored" if stores else "fields", name, node)

    def _attribute(self, node: ast.Attribute) -> None:
        parent = self._parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        if self._names.is_context(node.value) and not called:
            self._note("fields" if isinstance(node.ctx, ast.Load) else "stored", node.attr, node)

    def _variable(self, name: ast.expr, node: ast.expr, *, optional: bool) -> None:
        text = text_of(name)
        if text:
            optional = optional or self._without.has_fallback(node) or self._without.is_asked_for(text, node)
            self._note("env", text, node, "optional" if optional else "")

    # Guards

    def _compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for one, other, sign in zip(sides, sides[1:], node.ops, strict=False):
            if isinstance(sign, ast.Eq | ast.NotEq):
                for field, value in ((one, other), (other, one)):
                    self._guard(self._names.guarded(field), value)
            elif isinstance(sign, ast.In | ast.NotIn) and isinstance(other, ast.Tuple | ast.List | ast.Set):
                for value in other.elts:
                    self._guard(self._names.guarded(one), value)

    def _match(self, node: ast.Match) -> None:
        member = self._names.guarded(node.subject)
        for case in node.cases if member else ():
            patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
            for shape in patterns:
                if isinstance(shape, ast.MatchValue):
                    self._guard(member, shape.value)

    def _guard(self, member: str, value: ast.expr) -> None:
        text = text_of(value)
        if member and text is not None:
            self._note("guards", text, value, member)

    def _answer(self, node: ast.Return, answer: ast.Dict) -> None:
        scope: ast.AST | None = node
        while scope is not None and not isinstance(scope, SCOPES):
            scope = self._parents.get(scope)
        if scope is None or not self._names.takes_event(scope):
            return
        for key in answer.keys:
            name = text_of(key) if key is not None else None
            if name in ANSWERS and name is not None and key is not None:
                self._note("answers", name, key)


def _begins(node: ast.AST) -> str:
    """The plain beginning of an f-string, up to its last blank: the program's name is whole."""
    if isinstance(node, ast.JoinedStr) and node.values:
        return (text_of(node.values[0]) or "").rpartition(" ")[0]
    return ""


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _place(met: Met) -> tuple[int, int]:
    return met.line, met.column
