"""Members that a script reads or sets on the event and that no event has."""

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
    """Yield members of the event that no event has: `strays` that are read, `puts` that are set."""
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
        self.called_by_host = called_by_host  # by the host
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
        """Return the functions that certainly get the event, and those that they pass it to."""
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
