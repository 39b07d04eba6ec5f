"""What of TypeScript is more than types, and which imports are of types without saying so.

A host that removes types and does no more cannot load either: the first is code that JavaScript has not, and
the second stays behind as an import of what is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookscope.lint.source.script_names import text_of
from hookscope.lint.source.script_shape import TYPES

if TYPE_CHECKING:
    from tree_sitter import Node

WORDS = {
    "enum_declaration": "enum",
    "decorator": "decorator",
    "import_alias": "import … =",
    "import_require_clause": "import … = require()",
}
MODULES = frozenset({"internal_module", "module"})
PROPERTY = frozenset({"accessibility_modifier", "override_modifier", "readonly"})
USED = frozenset({"identifier", "shorthand_property_identifier"})


def code_beyond(node: Node, parent: Node | None) -> str:
    """The word for what is no mere type; empty for all else."""
    if parent is not None and parent.type == "ambient_declaration":
        return ""  # `declare …`
    if node.type in MODULES:
        body = node.child_by_field_name("body")
        return "namespace" if body is not None and not all(map(_is_type, body.named_children)) else ""
    if node.type == "required_parameter":
        return "parameter property" if any(child.type in PROPERTY for child in node.children) else ""
    if node.type == "export_statement":
        return "export =" if any(child.type == "=" for child in node.children) else ""
    return WORDS.get(node.type, "")


def _is_type(statement: Node) -> bool:
    if statement.type == "export_statement":
        declared = statement.child_by_field_name("declaration")
        return declared is not None and declared.type in TYPES
    return statement.type in TYPES or statement.type == "comment"


def of_types_alone(nodes: list[Node]) -> frozenset[int]:
    """The import statements that bring types, all of them, and do not begin with `import type`."""
    imports = [node for node in nodes if node.type == "import_statement"]
    if not imports:
        return frozenset()
    inside = {node.id for one in imports for node in _below(one)}
    outside = [node for node in nodes if node.id not in inside]
    values = {text_of(node) for node in outside if node.type in USED}
    types = {text_of(node) for node in outside if node.type == "type_identifier"} - values
    return frozenset(one.id for one in imports if _brings_types(one, types))


def _brings_types(statement: Node, types: set[str]) -> bool:
    told = [name in types or marked for name, marked in _names(statement)]
    return bool(told) and all(told)


def _names(statement: Node) -> Iterator[tuple[str, bool]]:
    """Each name that it binds, and whether `type` stands before that one."""
    for node in _below(statement):
        if node.type == "import_specifier":
            name = node.child_by_field_name("alias") or node.child_by_field_name("name")
            marked = any(child.type == "type" for child in node.children)
            yield (text_of(name) if name is not None else ""), marked
        elif node.type == "import_clause":
            yield from ((text_of(one), False) for one in node.named_children if one.type == "identifier")
        elif node.type == "namespace_import":
            yield text_of(node.named_children[-1]), False


def _below(node: Node) -> Iterator[Node]:
    stack = list(reversed(node.named_children))
    while stack:
        child = stack.pop()
        yield child
        stack += reversed(child.named_children)
