"""Does a script go on without a variable that it reads: told by what stands around the reading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hookscope.lint.source.facts import FARTHEST
from hookscope.lint.source.script_names import AROUND, FUNCTIONS, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

EQUAL = frozenset({"===", "!==", "==", "!="})
ELSE = frozenset({"||", "??", "&&"})
LONGEST_CONDITION = 400  # bytes; a longer one is not searched for a name: chains of `&&` are one in another


class Without:
    """Asks what stands around a node; `parents` by their number. Lives as long as the walk over its tree."""

    def __init__(self, parents: Mapping[int, Node]) -> None:
        self._parents = parents

    def around(self, node: Node) -> tuple[Node | None, Node]:
        """What a value is part of, and the part: brackets and types around it are passed over."""
        parent = self._parents.get(node.id)
        while parent is not None and parent.type in AROUND:
            node, parent = parent, self._parents.get(parent.id)
        return parent, node

    def has_fallback(self, parent: Node | None, node: Node) -> bool:
        """Is a value asked whether it is there, or replaced where it is not."""
        parent, node = self._out_of_chain(parent, node)
        if parent is None:
            return False
        operator = parent.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        match parent.type:
            case "binary_expression":
                return sign in EQUAL or (sign in ELSE and is_field(parent, "left", node))
            case "unary_expression":
                return sign in ("!", "typeof")
            case "if_statement" | "while_statement" | "ternary_expression":
                return is_field(parent, "condition", node)
            case "arguments":
                call = self._parents.get(parent.id)
                function = call.child_by_field_name("function") if call is not None else None
                return function is not None and text_of(function) == "Boolean"
        return False

    def _out_of_chain(self, parent: Node | None, node: Node) -> tuple[Node | None, Node]:
        """Of the last of a chain, `a || b`, what stands around the chain."""
        for _ in range(FARTHEST):
            sign = parent.child_by_field_name("operator") if parent is not None else None
            if (
                parent is None
                or sign is None
                or sign.type not in ("||", "??")
                or not is_field(parent, "right", node)
            ):
                break
            parent, node = self.around(parent)
        return parent, node

    def is_decided_on(self, parent: Node | None, node: Node, asked: frozenset[str]) -> bool:
        """Does it get a name that is asked later on whether there is any: `const a = …; if (a) use(a)`."""
        parent, node = self._out_of_chain(parent, node)
        name = parent.child_by_field_name("name") if parent and is_field(parent, "value", node) else None
        return name is not None and text_of(name) in asked

    def asked_names(self, nodes: list[Node]) -> frozenset[str]:
        """Names without which something else is done, but for those asked in order to end there: `!a`."""
        return frozenset(
            text_of(node) for node in nodes if node.type == "identifier" and self._is_asked(node)
        )

    def _is_asked(self, node: Node) -> bool:
        parent, used = self.around(node)
        if parent is None:
            return False
        if parent.type in ("if_statement", "while_statement", "ternary_expression"):
            return is_field(parent, "condition", used)
        sign = parent.child_by_field_name("operator") if parent.type == "binary_expression" else None
        return sign is not None and sign.type in ELSE and is_field(parent, "left", used)

    def is_asked_for(self, name: str, node: Node) -> bool:
        """Does a condition around it name it: `if (process.env.A) use(process.env.A)`."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        for _ in range(FARTHEST):
            parent = self._parents.get(node.id)
            if parent is None or parent.type in FUNCTIONS:
                break
            asked = _condition_of(parent)
            if asked is not None and asked != node:
                text = text_of(asked) if asked.end_byte - asked.start_byte <= LONGEST_CONDITION else ""
                if "process.env" in text and word.search(text):
                    return True
            node = parent
        return False


def _condition_of(node: Node) -> Node | None:
    """What decides whether the rest of it runs; None for what always runs."""
    if node.type in ("if_statement", "while_statement", "ternary_expression"):
        return node.child_by_field_name("condition")
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return node.child_by_field_name("left") if operator is not None and operator.type == "&&" else None


def is_field(parent: Node | None, field: str, node: Node) -> bool:
    """Does the node stand in that field of what is around it."""
    return parent is not None and parent.child_by_field_name(field) == node
