"""Names in a script: imported functions, the event, its context, its type and action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hookscope.hosts.source.facts import EVENT_NAMES, GUARDED_MEMBERS

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset(
    {"arrow_function", "function_declaration", "function_expression", "function", "method_definition"}
)
WRAPPERS = frozenset(  # syntax that does not change a value: brackets, types, `!`, `await`
    {
        "parenthesized_expression",
        "as_expression",
        "satisfies_expression",
        "non_null_expression",
        "type_assertion",
        "await_expression",
    }
)
DEEPEST = 6  # nested members and brackets that are followed: keeps the work linear
EXPORTS = ("module.exports", "module.exports.default", "exports.default")
CONTEXT, MESSAGES = "context", "messages"


def text_of(node: Node) -> str:
    """Return the source of a node; for a string, the text between its quotes."""
    text = (node.text or b"").decode("utf-8", "replace")
    return text[1:-1] if node.type in ("string", "template_string") else text


def is_text(node: Node | None) -> bool:
    """Return whether the node is a literal string, or a template without substitutions."""
    if node is None:
        return False
    is_plain_template = node.type == "template_string" and all(
        child.type == "string_fragment" for child in node.named_children
    )
    return node.type == "string" or is_plain_template


def unwrapped(node: Node | None) -> Node | None:
    """Return the value without brackets and types around it, up to `DEEPEST` of them."""
    for _ in range(DEEPEST):
        if node is None or node.type not in WRAPPERS or not node.named_children:
            break
        node = node.named_children[-1 if node.type == "type_assertion" else 0]
    return node


def dotted(node: Node | None) -> str:
    """Return a dotted name such as `process.env` with at most `DEEPEST` members; empty for any other node."""
    parts: list[str] = []
    node = unwrapped(node)
    while node is not None and node.type == "member_expression" and len(parts) < DEEPEST:
        name = node.child_by_field_name("property")
        parts.append(text_of(name) if name is not None else "?")
        node = unwrapped(node.child_by_field_name("object"))
    if node is None or node.type != "identifier":
        return ""
    return ".".join([text_of(node), *reversed(parts)])


class ScriptNames:
    """What the names in one file refer to. A name with two meanings is ignored."""

    def __init__(self, nodes: list[Node], parents: Mapping[int, Node]) -> None:
        self._modules: dict[str, str] = {}  # name → module, or module.member
        self._roles: dict[str, set[str]] = {}  # name → context, messages, type, action; "" for all else
        self._esm = self._commonjs = False
        functions = [node for node in nodes if node.type in FUNCTIONS]
        self._exported = frozenset(name for node in nodes for name in exported_names(node))
        self._events = frozenset(_event_names(functions, self._exported, parents))
        for node in nodes:
            self._visit(node)

    @property
    def module(self) -> str:
        """Return esm, commonjs or both; empty for neither."""
        names = {(True, False): "esm", (False, True): "commonjs", (True, True): "both"}
        return names.get((self._esm, self._commonjs), "")

    def imported_name(self, function: Node) -> str:
        """Return the imported name of an alias, such as `child_process.exec`; empty if it is not imported."""
        name = dotted(function)
        first, _, rest = name.partition(".")
        module = self._modules.get(first, "")
        return f"{module}.{rest}" if module and rest else module

    def is_context(self, node: Node | None) -> bool:
        """Return whether the node is the event's context."""
        node = unwrapped(node)
        if node is not None and node.type == "binary_expression":
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type in ("??", "||"):
                return self.is_context(node.child_by_field_name("left"))
        return self._is_event_member(node, CONTEXT)

    def is_messages(self, node: Node | None) -> bool:
        """Return whether the node is the event's messages."""
        return self._is_event_member(unwrapped(node), MESSAGES)

    def guarded_member(self, node: Node | None) -> str:
        """Return "type" or "action" if the node is that member of the event; else empty."""
        node = unwrapped(node)
        return next((member for member in GUARDED_MEMBERS if self._is_event_member(node, member)), "")

    def takes_event(self, function: Node) -> bool:
        """Return whether the function's first parameter is the event."""
        first = first_parameter(function)
        return first is not None and first.type == "identifier" and text_of(first) in self._events

    def is_called_by_host(self, function: Node, parents: Mapping[int, Node]) -> bool:
        """Return whether the file exports the function as its handler."""
        return name_of(function, parents) in self._exported or is_exported(parents.get(function.id))

    def _is_event_member(self, node: Node | None, member: str) -> bool:
        if node is None:
            return False
        if node.type == "identifier":
            return self._roles.get(text_of(node)) == {member}
        owner, _, last = dotted(node).rpartition(".")
        return last == member and owner in self._events

    # Collecting

    def _visit(self, node: Node) -> None:
        match node.type:
            case "import_statement":
                self._esm = True
                self._import(node)
            case "export_statement":
                self._esm = True
            case "assignment_expression":
                target = dotted(node.child_by_field_name("left"))
                if target == "module.exports" or target.startswith(("module.exports.", "exports.")):
                    self._commonjs = True
                self._roles.setdefault(target, set()).add("")
            case "variable_declarator":
                self._declare(node)
            case "required_parameter" | "optional_parameter":
                self._add_parameter(node.child_by_field_name("pattern"))
            case "formal_parameters":
                for parameter in node.named_children:
                    self._add_parameter(parameter)

    def _add_parameter(self, node: Node | None) -> None:
        if node is not None and node.type == "identifier":
            self._roles.setdefault(text_of(node), set()).add("")
        elif (
            node is not None
            and node.type == "object_pattern"
            and {CONTEXT, MESSAGES} & dict(members_of(node)).keys()
        ):
            self._add_roles(node)

    def _add_roles(self, pattern: Node) -> None:
        for key, name in members_of(pattern):
            role = key if key in (CONTEXT, MESSAGES, *GUARDED_MEMBERS) else ""
            self._roles.setdefault(name, set()).add(role)

    def _import(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        clause = next((child for child in node.named_children if child.type == "import_clause"), None)
        if source is None or clause is None:
            return
        module = _module(text_of(source))
        for child in clause.named_children:
            if child.type == "identifier":
                self._modules[text_of(child)] = module
            elif child.type == "namespace_import" and child.named_children:
                self._modules[text_of(child.named_children[0])] = module
            elif child.type == "named_imports":
                self._import_names(child, module)

    def _import_names(self, names: Node, module: str) -> None:
        for specifier in names.named_children:
            name = specifier.child_by_field_name("name")
            alias = specifier.child_by_field_name("alias") or name
            if name is not None and alias is not None:
                self._modules[text_of(alias)] = f"{module}.{text_of(name)}"

    def _declare(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), unwrapped(node.child_by_field_name("value"))
        if name is None or value is None:
            return
        module = self._module_of(value)
        if name.type == "object_pattern":
            if dotted(value) in self._events:
                self._add_roles(name)
            for key, local in members_of(name) if module else ():
                self._modules[local] = f"{module}.{key}"
        elif name.type == "identifier":
            if module:
                self._modules[text_of(name)] = module
            role = CONTEXT if self.is_context(value) else self.guarded_member(value)
            role = role or (MESSAGES if self.is_messages(value) else "")
            self._roles.setdefault(text_of(name), set()).add(role)

    def _module_of(self, value: Node) -> str:
        """Return the module, or its member, that `require`, `import()` or `promisify` returns."""
        if value.type == "member_expression":
            owner, name = (
                unwrapped(value.child_by_field_name("object")),
                value.child_by_field_name("property"),
            )
            module = self._module_of(owner) if owner is not None else ""
            return f"{module}.{text_of(name)}" if module and name is not None else ""
        if value.type != "call_expression":
            return ""
        function, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
        first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
        if function is None or first is None:
            return ""
        callee = "import" if function.type == "import" else dotted(function)
        if callee in ("require", "import") and is_text(first):
            self._commonjs |= callee == "require"
            return _module(text_of(first))
        return self.imported_name(first) if callee.rpartition(".")[2] == "promisify" else ""


def _module(name: str) -> str:
    return name.removeprefix("node:")


def members_of(pattern: Node) -> Iterator[tuple[str, str]]:
    """Yield each member that a pattern reads, and the name that it gets."""
    for member in pattern.named_children:
        key, value = member.child_by_field_name("key"), member.child_by_field_name("value")
        if member.type == "object_assignment_pattern":
            key = value = member.child_by_field_name("left")
        elif member.type == "shorthand_property_identifier_pattern":
            key = value = member
        elif value is not None and value.type == "assignment_pattern":
            value = value.child_by_field_name("left")
        if key is not None and value is not None:
            yield text_of(key), text_of(value)


def first_parameter(function: Node) -> Node | None:
    single = function.child_by_field_name("parameter")
    if single is not None:
        return single
    parameters = function.child_by_field_name("parameters")
    first = (
        next((child for child in parameters.named_children if child.type != "comment"), None)
        if (parameters is not None)
        else None
    )
    return first.child_by_field_name("pattern") or first if first is not None else None


def exported_names(node: Node) -> Iterator[str]:
    """Yield the names of functions that a file exports to its host."""
    if node.type == "export_statement" and any(child.type == "default" for child in node.children):
        value = node.child_by_field_name("value")
        if value is not None and value.type == "identifier":
            yield text_of(value)
    elif node.type == "assignment_expression":
        target, value = dotted(node.child_by_field_name("left")), node.child_by_field_name("right")
        if target in EXPORTS and value is not None and value.type == "identifier":
            yield text_of(value)


def further_parameters(function: Node) -> Iterator[Node]:
    """Yield the required parameters after the first: those without a default, `?` or `...`."""
    parameters = function.child_by_field_name("parameters")
    found = [child for child in parameters.named_children if child.type != "comment"] if parameters else []
    for parameter in found[1:]:
        pattern = parameter.child_by_field_name("pattern") or parameter
        has_default = parameter.child_by_field_name("value") is not None
        if (
            parameter.type in ("identifier", "required_parameter")
            and pattern.type == "identifier"
            and not has_default
        ):
            yield pattern


def _event_names(
    functions: list[Node], exported: frozenset[str], parents: Mapping[int, Node]
) -> Iterator[str]:
    for function in functions:
        first = first_parameter(function)
        if first is not None and first.type == "identifier":
            name = text_of(first)
            if (
                EVENT_NAMES.match(name)
                or name_of(function, parents) in exported
                or (is_exported(parents.get(function.id)))
            ):
                yield name


def name_of(function: Node, parents: Mapping[int, Node]) -> str:
    own = function.child_by_field_name("name")
    if own is not None:
        return text_of(own)
    parent = parents.get(function.id)
    name = parent.child_by_field_name("name") if parent and parent.type == "variable_declarator" else None
    return text_of(name) if name is not None else "?"


def is_exported(parent: Node | None) -> bool:
    """Return whether a function with this parent is exported directly to the host."""
    if parent is None:
        return False
    if parent.type == "assignment_expression":
        return dotted(parent.child_by_field_name("left")) in EXPORTS
    return parent.type == "export_statement" and any(child.type == "default" for child in parent.children)
