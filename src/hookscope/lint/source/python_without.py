"""Does a Python handler go on without a variable that it reads: told by what stands around the reading."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from hookscope.lint.source.facts import FARTHEST

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Without:
    """Asks what stands around a node. Lives as long as the walk over its tree."""

    def __init__(self, parents: Mapping[ast.AST, ast.AST]) -> None:
        self._parents = parents
        self._texts: dict[ast.expr, frozenset[str]] = {}

    def has_fallback(self, node: ast.expr) -> bool:
        """Does what it belongs to go on without it: `x or y`, `if x:`, `x == "1"`, `x in …`."""
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

    def is_asked_for(self, name: str, node: ast.AST) -> bool:
        """Does a condition around it name it: `if "A" in os.environ: use(os.environ["A"])`."""
        for _ in range(FARTHEST):
            parent = self._parents.get(node)
            if parent is None or isinstance(parent, SCOPES):
                break
            asked: list[ast.expr] = []
            if isinstance(parent, ast.If | ast.IfExp | ast.While) and parent.test is not node:
                asked = [parent.test]
            elif isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
                asked = _before(node, parent.values[:FARTHEST])
            if any(name in self._texts_of(condition) for condition in asked):
                return True
            node = parent
        return False

    def _texts_of(self, condition: ast.expr) -> frozenset[str]:
        """The texts that stand in a condition. Read once: many may stand below it."""
        found = self._texts.get(condition)
        if found is None:
            texts = (text_of(part) for part in ast.walk(condition))
            found = self._texts[condition] = frozenset(text for text in texts if text is not None)
        return found

    def is_tried(self, node: ast.AST) -> bool:
        """Does it stand in a `try` that takes the KeyError."""
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
    """The text that stands there as it is; None for all else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
