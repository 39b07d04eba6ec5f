"""What a script's tree says of the file as a whole: where it does not read, and what it exports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookscope.lint.source.script_names import FUNCTIONS, plain, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

GENERATORS = frozenset({"generator_function", "generator_function_declaration"})
TYPES = frozenset({"interface_declaration", "type_alias_declaration", "ambient_declaration"})


def stumble(root: Node) -> Node | None:
    """The first place that the grammar cannot read, as narrow as it tells it; None: it reads."""
    found, node = None, root
    while node.has_error:
        if node.is_error or node.is_missing:
            found = node
        inner = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inner is None:
            break
        node = inner
        if node.is_missing:
            return node
    return found


def exports_of(root: Node) -> dict[str, bool] | None:
    """Each name that an ES module exports, and whether that is plainly a function; None: not to be told."""
    found: dict[str, bool] = {}
    for node in root.named_children:
        if node.type != "export_statement":
            continue
        told = list(_exported(node))
        if (None, False) in told:
            return None
        found |= {name: function for name, function in told if name is not None}
    return found


def _exported(statement: Node) -> Iterator[tuple[str | None, bool]]:
    """The names of one `export …`; None among them where what else there is cannot be told."""
    words = {child.type for child in statement.children if not child.is_named}
    declared = statement.child_by_field_name("declaration")
    if "type" in words or (declared is not None and declared.type in TYPES):
        return
    if "default" in words:
        yield "default", _is_function(declared or plain(statement.child_by_field_name("value")))
    elif declared is not None:
        yield from _declared(declared)
    else:
        clauses = [
            one for one in statement.named_children if one.type in ("export_clause", "namespace_export")
        ]
        for clause in clauses:
            yield from _listed(clause)
        if not clauses:  # `export * from`, `export =`
            yield None, False


def _declared(node: Node) -> Iterator[tuple[str | None, bool]]:
    name = node.child_by_field_name("name")
    if name is not None:
        yield text_of(name), _is_function(node)
    for one in node.named_children:
        if one.type == "variable_declarator":
            name = one.child_by_field_name("name")
            plainly = name is not None and name.type == "identifier"
            is_function = plainly and _is_function(plain(one.child_by_field_name("value")))
            yield (text_of(name) if name is not None and plainly else None), is_function


def _listed(clause: Node) -> Iterator[tuple[str | None, bool]]:
    if clause.type == "namespace_export":
        yield text_of(clause.named_children[-1]), False
        return
    for one in clause.named_children:
        if one.type == "export_specifier" and not any(child.type == "type" for child in one.children):
            name = one.child_by_field_name("alias") or one.child_by_field_name("name")
            yield (text_of(name) if name is not None else None), False


def _is_function(node: Node | None) -> bool:
    return node is not None and node.type in FUNCTIONS | GENERATORS
