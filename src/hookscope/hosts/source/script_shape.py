"""A script file as a whole: syntax errors, exports, and TypeScript that is more than types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hookscope.hosts.source.facts import EVENT_NAMES
from hookscope.hosts.source.script_names import (
    FUNCTIONS,
    exported_names,
    first_parameter,
    is_exported,
    members_of,
    name_of,
    text_of,
    unwrapped,
)

if TYPE_CHECKING:
    from tree_sitter import Node


EVENT_MEMBERS = frozenset({"type", "action", "sessionKey", "timestamp", "messages", "context"})
INHERITED = frozenset({"constructor", "hasOwnProperty", "toJSON", "toLocaleString", "toString", "valueOf"})
TELLING_MEMBERS = ({"sessionKey"}, {"context"}, {"type", "action"})  # reads that identify the event
PLUGIN_MEMBERS = frozenset({"register", "activate"})
API = "api"
HIGHEST = 200  # levels up the tree to the function with that parameter


def unknown_event_members(nodes: list[Node], parents: Mapping[int, Node]) -> Iterator[tuple[str, str, Node]]:
    """Yield (kind, name, node) of uses of members that no event has: `strays` if read, `puts` if set."""
    reader = _EventReader(nodes, parents)
    for node in nodes:
        reader.visit(node)
    stored = {name for function in reader.functions.values() for name, _ in function.writes}
    for function in reader.event_functions():
        for name, node in function.reads:
            if name not in EVENT_MEMBERS | INHERITED | stored:
                yield "strays", name, node
        for name, node in function.writes:
            if name not in EVENT_MEMBERS:
                yield "puts", name, node


class _EventFunction:
    """A function whose first parameter may be the event, and what it does with it."""

    def __init__(self, node: Node, name: str, parameter: str, *, called_by_host: bool) -> None:
        self.node, self.name, self.parameter = node, name, parameter
        self.called_by_host = called_by_host
        self.reads: list[tuple[str, Node]] = []
        self.writes: list[tuple[str, Node]] = []
        self.passes_event_to: set[str] = set()  # functions that it calls with the parameter as first argument

    @property
    def is_event_handler(self) -> bool:
        names = {name for name, _ in self.reads}
        return self.called_by_host or any(members <= names for members in TELLING_MEMBERS)


class _EventReader:
    """One walk over a tree. Lives as long as the walk."""

    def __init__(self, nodes: list[Node], parents: Mapping[int, Node]) -> None:
        self._parents = parents
        self.functions: dict[int, _EventFunction] = {}
        exported = {name for node in nodes for name in exported_names(node)}
        for node in nodes:
            if node.type in FUNCTIONS:
                self._add(node, exported)
        self._names = frozenset(function.parameter for function in self.functions.values())

    def _add(self, node: Node, exported: set[str]) -> None:
        first, name = first_parameter(node), name_of(node, self._parents)
        called_by_host = name in exported or is_exported(self._parents.get(node.id))
        if first is not None and (name in PLUGIN_MEMBERS or text_of(first) == API):
            return  # it registers a plugin's handlers and gets no event
        if first is not None and first.type == "identifier":
            parameter = text_of(first)
            if called_by_host or EVENT_NAMES.match(parameter):
                self.functions[node.id] = _EventFunction(node, name, parameter, called_by_host=called_by_host)
        elif first is not None and first.type == "object_pattern" and called_by_host:
            function = _EventFunction(node, name, "", called_by_host=True)
            function.reads += [(key, first) for key, _ in members_of(first)]
            self.functions[node.id] = function

    def visit(self, node: Node) -> None:
        match node.type:
            case "member_expression":
                self._member(node)
            case "variable_declarator":
                self._destructuring(node)
            case "call_expression":
                self._call(node)

    def event_functions(self) -> list[_EventFunction]:
        """Return the functions that certainly get the event, and the functions to which they pass it."""
        confirmed = [function for function in self.functions.values() if function.is_event_handler]
        for function in confirmed:  # the list grows during the loop
            confirmed += [
                other
                for other in self.functions.values()
                if other.name in function.passes_event_to and other not in confirmed
            ]
        return confirmed

    def _owner(self, node: Node | None) -> _EventFunction | None:
        """Return the function whose first parameter the node names."""
        name = unwrapped(node)
        if name is None or name.type != "identifier" or text_of(name) not in self._names:
            return None
        parameter, enclosing = text_of(name), self._parents.get(name.id)
        for _ in range(HIGHEST):
            if enclosing is None:
                break
            if enclosing.type in FUNCTIONS and parameter in _parameters(enclosing):
                found = self.functions.get(enclosing.id)
                return found if found is not None and found.parameter == parameter else None
            enclosing = self._parents.get(enclosing.id)
        return None

    def _member(self, node: Node) -> None:
        name, owner = node.child_by_field_name("property"), self._owner(node.child_by_field_name("object"))
        if owner is None or name is None or name.type != "property_identifier":
            return
        enclosing = self._parents.get(node.id)
        is_set = enclosing is not None and enclosing.type == "assignment_expression"
        if enclosing is not None and is_set and enclosing.child_by_field_name("left") == node:
            owner.writes.append((text_of(name), node))
        else:
            owner.reads.append((text_of(name), node))

    def _destructuring(self, node: Node) -> None:
        """Record `const { content } = event`."""
        pattern, owner = node.child_by_field_name("name"), self._owner(node.child_by_field_name("value"))
        if owner is not None and pattern is not None and pattern.type == "object_pattern":
            owner.reads += [(key, pattern) for key, _ in members_of(pattern)]

    def _call(self, node: Node) -> None:
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        owner = self._owner(next(iter(arguments.named_children), None)) if arguments is not None else None
        if owner is not None and callee is not None and callee.type == "identifier":
            owner.passes_event_to.add(text_of(callee))


def _parameters(function: Node) -> frozenset[str]:
    single = function.child_by_field_name("parameter")
    parameter_list = function.child_by_field_name("parameters")
    named = (
        [single]
        if single is not None
        else parameter_list.named_children
        if parameter_list is not None
        else []
    )
    patterns = (node.child_by_field_name("pattern") or node for node in named)
    return frozenset(text_of(node) for node in patterns if node.type == "identifier")


GENERATORS = frozenset({"generator_function", "generator_function_declaration"})
TYPE_DECLARATIONS = frozenset({"interface_declaration", "type_alias_declaration", "ambient_declaration"})


def first_syntax_error(root: Node) -> Node | None:
    """Return the first, smallest node that the grammar cannot read; None if there is none."""
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


def module_exports(root: Node) -> dict[str, bool] | None:
    """Return each export of an ES module, and whether it is certainly a function; None if unknown."""
    found: dict[str, bool] = {}
    for node in root.named_children:
        if node.type != "export_statement":
            continue
        exported = list(_exported(node))
        if (None, False) in exported:
            return None
        found |= {name: function for name, function in exported if name is not None}
    return found


def _exported(statement: Node) -> Iterator[tuple[str | None, bool]]:
    """Yield the names of one `export …`; None for exports whose names are unknown."""
    words = {child.type for child in statement.children if not child.is_named}
    declared = statement.child_by_field_name("declaration")
    if "type" in words or (declared is not None and declared.type in TYPE_DECLARATIONS):
        return
    if "default" in words:
        yield "default", _is_function(declared or unwrapped(statement.child_by_field_name("value")))
    elif declared is not None:
        yield from _declared(declared)
    else:
        clauses = [
            clause_node
            for clause_node in statement.named_children
            if clause_node.type in ("export_clause", "namespace_export")
        ]
        for clause in clauses:
            yield from _listed(clause)
        if not clauses:  # `export * from`, `export =`
            yield None, False


def _declared(node: Node) -> Iterator[tuple[str | None, bool]]:
    name = node.child_by_field_name("name")
    if name is not None:
        yield text_of(name), _is_function(node)
    for declarator in node.named_children:
        if declarator.type == "variable_declarator":
            name = declarator.child_by_field_name("name")
            is_plain_name = name is not None and name.type == "identifier"
            is_function = is_plain_name and _is_function(unwrapped(declarator.child_by_field_name("value")))
            yield (text_of(name) if name is not None and is_plain_name else None), is_function


def _listed(clause: Node) -> Iterator[tuple[str | None, bool]]:
    if clause.type == "namespace_export":
        yield text_of(clause.named_children[-1]), False
        return
    for specifier in clause.named_children:
        if specifier.type == "export_specifier" and not any(
            child.type == "type" for child in specifier.children
        ):
            name = specifier.child_by_field_name("alias") or specifier.child_by_field_name("name")
            yield (text_of(name) if name is not None else None), False


def commonjs_exports(root: Node, nodes: list[Node]) -> dict[str, bool] | None:
    """Return the exports if they are a single `module.exports = {…}` with known names; else None."""
    assigned = [value for node in root.named_children if (value := _assigned_exports(node)) is not None]
    mentions = sum(node.type == "member_expression" and text_of(node) == "module.exports" for node in nodes)
    bare_exports = sum(node.type == "identifier" and text_of(node) == "exports" for node in nodes)
    if len(assigned) != 1 or mentions != 1 or bare_exports or assigned[0].type != "object":
        return None
    functions = {text_of(name) for node in root.named_children for name in _functions(node)}
    found: dict[str, bool] = {}
    for member in assigned[0].named_children:
        match member.type:
            case "shorthand_property_identifier":
                found[text_of(member)] = text_of(member) in functions
            case "pair" | "method_definition":
                name = member.child_by_field_name("key") or member.child_by_field_name("name")
                value = unwrapped(member.child_by_field_name("value"))
                if name is None or name.type != "property_identifier":
                    return None
                is_named = value is not None and value.type == "identifier" and text_of(value) in functions
                found[text_of(name)] = member.type == "method_definition" or is_named or _is_function(value)
            case "comment":
                continue
            case _:
                return None
    return None if "default" in found else found


def _assigned_exports(statement: Node) -> Node | None:
    first = statement.named_children[0] if statement.type == "expression_statement" else None
    if first is None or first.type != "assignment_expression":
        return None
    left = first.child_by_field_name("left")
    is_module_exports = left is not None and text_of(left) == "module.exports"
    return unwrapped(first.child_by_field_name("right")) if is_module_exports else None


def _functions(statement: Node) -> Iterator[Node]:
    """Yield the names of functions that a top-level statement declares."""
    name = statement.child_by_field_name("name")
    if name is not None and _is_function(statement):
        yield name
    for declarator in statement.named_children:
        name = declarator.child_by_field_name("name") if declarator.type == "variable_declarator" else None
        if name is not None and _is_function(unwrapped(declarator.child_by_field_name("value"))):
            yield name


def _is_function(node: Node | None) -> bool:
    return node is not None and node.type in FUNCTIONS | GENERATORS


CODE_WORDS = {
    "enum_declaration": "enum",
    "decorator": "decorator",
    "import_alias": "import … =",
    "import_require_clause": "import … = require()",
}
MODULE_NODES = frozenset({"internal_module", "module"})
PARAMETER_PROPERTY = frozenset({"accessibility_modifier", "override_modifier", "readonly"})
USED_NAMES = frozenset({"identifier", "shorthand_property_identifier"})


def typescript_only_code(node: Node, parent: Node | None) -> str:
    """Return the name of a TypeScript construct that is more than types; empty for any other node."""
    if parent is not None and parent.type == "ambient_declaration":
        return ""  # `declare …`
    if node.type in MODULE_NODES:
        body = node.child_by_field_name("body")
        return "namespace" if body is not None and not all(map(_is_type, body.named_children)) else ""
    if node.type == "required_parameter":
        return (
            "parameter property" if any(child.type in PARAMETER_PROPERTY for child in node.children) else ""
        )
    if node.type == "export_statement":
        return "export =" if any(child.type == "=" for child in node.children) else ""
    return CODE_WORDS.get(node.type, "")


def _is_type(statement: Node) -> bool:
    if statement.type == "export_statement":
        declared = statement.child_by_field_name("declaration")
        return declared is not None and declared.type in TYPE_DECLARATIONS
    return statement.type in TYPE_DECLARATIONS or statement.type == "comment"


def unmarked_type_imports(nodes: list[Node]) -> frozenset[int]:
    """Return the import statements that import only types and do not begin with `import type`."""
    imports = [node for node in nodes if node.type == "import_statement"]
    if not imports:
        return frozenset()
    inside = {node.id for statement in imports for node in _below(statement)}
    outside = [node for node in nodes if node.id not in inside]
    values = {text_of(node) for node in outside if node.type in USED_NAMES}
    types = {text_of(node) for node in outside if node.type == "type_identifier"} - values
    return frozenset(statement.id for statement in imports if _brings_types(statement, types))


def _brings_types(statement: Node, types: set[str]) -> bool:
    flags = [name in types or marked for name, marked in _import_names(statement)]
    return bool(flags) and all(flags)


def _import_names(statement: Node) -> Iterator[tuple[str, bool]]:
    """Yield each name that an import binds, and whether `type` precedes it."""
    for node in _below(statement):
        if node.type == "import_specifier":
            name = node.child_by_field_name("alias") or node.child_by_field_name("name")
            marked = any(child.type == "type" for child in node.children)
            yield (text_of(name) if name is not None else ""), marked
        elif node.type == "import_clause":
            yield from (
                (text_of(identifier), False)
                for identifier in node.named_children
                if identifier.type == "identifier"
            )
        elif node.type == "namespace_import":
            yield text_of(node.named_children[-1]), False


def _below(node: Node) -> Iterator[Node]:
    stack = list(reversed(node.named_children))
    while stack:
        child = stack.pop()
        yield child
        stack += reversed(child.named_children)
