"""The names that a Python file exports, read from its syntax tree. The file is never run."""

from __future__ import annotations

import ast
import io
import re
import threading
import tokenize
import warnings
from collections.abc import Iterator
from typing import Literal, TypeAlias

from hookscope.formats.positions import FormatError, Span, span_at
from hookscope.values import dataclass

ExportKind: TypeAlias = Literal["function", "async function", "class", "value", "import"]


@dataclass(frozen=True, slots=True)
class Export:
    """A name bound at the top level of a module. A name bound to a lambda is a function."""

    name: str
    kind: ExportKind
    line: int
    required_arguments: int | None = None  # number of required arguments, if one is wrong


def read_exports(source: bytes) -> dict[str, Export]:
    """Return the names that running the module would bind, each as last bound in the text.

    Blocks of `if`, `try`, `with`, loops and `match` count as if each ran. The name `*` means
    names that are known only at run time: from `from x import *`, a module's `__getattr__`, a call
    of `globals`, `exec` and the like. `del` is ignored.

    Raises:
        FormatError: Python cannot parse the file. Offsets refer to the text as Python decodes it,
            which may differ from `text_of` if the file has a coding cookie.
    """
    exports: dict[str, Export] = {}
    stack: list[ast.AST] = [parse_python(source)]
    binds_in_expressions = _HINTS.search(source) is not None  # rare, and walking expressions is slow
    while stack:  # a stack: long `elif` chains are deeply nested
        node = stack.pop()
        for export in _bound_names(node):
            exports[export.name] = export
        for export in _names_bound_inside(node) if binds_in_expressions else ():
            exports.setdefault(export.name, export)
        if not isinstance(node, _OWN_SCOPES):
            inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, _STATEMENTS)]
            stack += reversed(inner)
    return exports


_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_OWN_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _bound_names(node: ast.AST) -> Iterator[Export]:
    """Yield the names that one statement binds, except those bound in its blocks."""
    match node:
        case ast.FunctionDef():
            yield Export(node.name, "function", node.lineno, _argument_mismatch(node))
        case ast.AsyncFunctionDef():
            yield Export(node.name, "async function", node.lineno, _argument_mismatch(node))
        case ast.ClassDef():
            yield Export(node.name, "class", node.lineno)
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]  # `import a.b` binds `a`
                yield Export(name, "import", alias.lineno)
        case ast.Assign():
            for target in node.targets:
                yield from _targets(target, node.value)
        case ast.AnnAssign(value=ast.expr()):  # without a value it binds nothing
            yield from _targets(node.target, node.value)
        case ast.For() | ast.AsyncFor():
            yield from _targets(node.target)
        case ast.With() | ast.AsyncWith():
            for item in node.items:
                if item.optional_vars is not None:
                    yield from _targets(item.optional_vars)


def _argument_mismatch(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int | None:
    """Return the number of required arguments if it is not one; None for a decorated function."""
    arguments = node.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    needed = positional - len(arguments.defaults) + sum(default is None for default in arguments.kw_defaults)
    by_name = any(default is None for default in arguments.kw_defaults)
    fits = needed <= 1 and not by_name and (positional >= 1 or arguments.vararg is not None)
    return None if fits or node.decorator_list else needed


_BINDERS = frozenset({"globals", "locals", "vars", "exec", "eval", "setattr"})
_HINTS = re.compile(rb":=|__getattr__|globals|locals|vars|exec|eval|setattr")


def _names_bound_inside(node: ast.AST) -> Iterator[Export]:
    """Yield names that a statement's expressions bind: `:=`, and calls that may bind any name."""
    if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
        yield Export("*", "value", node.lineno)
    if not isinstance(node, ast.stmt) or isinstance(node, _OWN_SCOPES):
        return
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.expr):
            continue
        for inner in ast.walk(part):
            if isinstance(inner, ast.NamedExpr):
                kind: ExportKind = "function" if isinstance(inner.value, ast.Lambda) else "value"
                yield Export(inner.target.id, kind, inner.lineno)
            elif (
                isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in _BINDERS
            ):
                yield Export("*", "value", inner.lineno)


def _targets(target: ast.expr, value: ast.expr | None = None) -> Iterator[Export]:
    is_function = isinstance(target, ast.Name) and isinstance(value, ast.Lambda)
    for part in ast.walk(target):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):  # `a[b].c = …` binds neither
            yield Export(part.id, "function" if is_function else "value", part.lineno)


_MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_OF_ANOTHER_CODING = ("codec can't decode", "Non-UTF-8 code")  # before Python 3.14, and since
UTF_16 = "it is UTF-16 text; save it as UTF-8"
_WARNINGS = threading.Lock()  # `catch_warnings` changes global state


def parse_python(source: bytes) -> ast.Module:
    """Return the syntax tree. Raises FormatError if Python cannot parse the file."""
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `"\d"` in somebody's file is not ours to complain about
            return ast.parse(source)
    except SyntaxError as error:
        if source.startswith(_MARKS_OF_UTF_16):  # reported so by later Pythons
            raise FormatError(UTF_16, _place(source, 1, 1)) from None
        hint = "; save it as UTF-8" if any(words in error.msg for words in _OF_ANOTHER_CODING) else ""
        raise FormatError(
            f"{error.msg}{hint}", _place(source, error.lineno or 1, error.offset or 1)
        ) from None
    except (RecursionError, MemoryError):  # raised when the parser's stack is full
        raise FormatError("nested too deeply for Python", _place(source, 1, 1)) from None
    except (ValueError, LookupError) as error:  # null bytes before 3.12; faulty codecs
        problem = UTF_16 if source.startswith(_MARKS_OF_UTF_16) else str(error)
        raise FormatError(problem, _place(source, 1, 1)) from None


def _place(source: bytes, line: int, column: int) -> Span:
    """Return the position that Python reports; if it is outside the file, the nearest one in it."""
    text = _decoded(source)
    lines = text.split("\n")
    row = min(max(line, 1), len(lines)) - 1
    start = sum(len(before) + 1 for before in lines[:row]) + min(max(column, 1) - 1, len(lines[row]))
    return span_at(text, start, start)


def _decoded(source: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding, "replace")
    except (SyntaxError, LookupError, ValueError):
        return source.decode("latin-1")


def in_order(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all nodes in order; uses a stack, since long chains are deep."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(list(ast.iter_child_nodes(node)))


def called_name(call: ast.Call) -> str:
    """Return the last name of the called function; empty if it has none."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


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
