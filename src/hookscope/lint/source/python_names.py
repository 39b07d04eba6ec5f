"""What the names of a handler stand for: imported functions, the event, its context, its type and action."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hookscope.lint.source.words import EVENT, GUARDED


class Names:
    """Of one tree; `nodes` are all of it. Lives as long as the walk over it."""

    def __init__(self, tree: ast.Module, nodes: Sequence[ast.AST]) -> None:
        self._modules = dict(_imported(nodes))
        self._events = _event_names(tree)
        self._contexts = frozenset[str]()  # while they are looked for, `event.context` alone is one
        self._contexts = self._context_names(nodes)

    def dotted(self, node: ast.AST) -> str:
        """`subprocess.run` for whatever name it goes by here; empty for what is no plain name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._modules:
            return ""
        return ".".join([self._modules[node.id], *reversed(parts)])

    def is_event(self, node: ast.AST) -> bool:
        """Is it a name of the event."""
        return isinstance(node, ast.Name) and node.id in self._events

    def is_context(self, node: ast.AST) -> bool:
        """Is it the event's context: `event.context`, `event.context or {}`, a name for either."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self.is_context(node.values[0])
        if isinstance(node, ast.Attribute):
            return node.attr == "context" and self.is_event(node.value)
        return isinstance(node, ast.Name) and node.id in self._contexts

    def guarded(self, node: ast.AST) -> str:
        """ "type" or "action" where that member of the event stands."""
        if isinstance(node, ast.Attribute) and node.attr in GUARDED and self.is_event(node.value):
            return node.attr
        return ""

    def takes_event(self, scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
        """Is its first parameter the event."""
        return any(argument.arg in self._events for argument in scope.args.args[:1])

    def _context_names(self, nodes: Sequence[ast.AST]) -> frozenset[str]:
        """Names that stand for the event's context and for nothing else."""
        given: dict[str, set[bool]] = {}
        for node in nodes:
            match node:
                case ast.Assign(targets=targets, value=value):
                    names = [target.id for target in targets if isinstance(target, ast.Name)]
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    names = [name]
                case ast.NamedExpr(target=ast.Name(id=name), value=value):
                    names = [name]
                case ast.arg(arg=name):
                    given.setdefault(name, set()).add(False)
                    continue
                case _:
                    continue
            for name in names:
                given.setdefault(name, set()).add(self.is_context(value))
        return frozenset(name for name, kinds in given.items() if kinds == {True})


def _imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _event_names(tree: ast.Module) -> frozenset[str]:
    """What the event is called: the first parameter of a function at the top named so, or of `handler`."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
            if first is not None and (node.name in ("handler", "default") or EVENT.match(first.arg)):
                found.add(first.arg)
    return frozenset(found)
