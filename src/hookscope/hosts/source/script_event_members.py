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
    reading = _EventReader(nodes, parents)
    for node in nodes:
        reading.look_at(node)
    stored = {name for one in reading.functions.values() for name, _ in one.stores}
    for one in reading.with_the_event():
        for name, node in one.reads:
            if name not in EVENT_MEMBERS | INHERITED | stored:
                yield "strays", name, node
        for name, node in one.stores:
            if name not in EVENT_MEMBERS:
                yield "puts", name, node


class _EventFunction:
    """A function whose first parameter may be the event, and what it does with it."""

    def __init__(self, node: Node, name: str, parameter: str, *, called: bool) -> None:
        self.node, self.name, self.parameter = node, name, parameter
        self.called = called  # by the host
        self.reads: list[tuple[str, Node]] = []
        self.stores: list[tuple[str, Node]] = []
        self.hands: set[str] = set()  # functions that it calls with the parameter as first argument

    @property
    def is_telling(self) -> bool:
        names = {name for name, _ in self.reads}
        return self.called or any(members <= names for members in TELLING_MEMBERS)


class _EventReader:
    """One walk over a tree. Lives as long as the walk."""

    def __init__(self, nodes: list[Node], parents: Mapping[int, Node]) -> None:
        self._parents = parents
        self.functions: dict[int, _EventFunction] = {}
        exported = {name for node in nodes for name in exported_names(node)}
        for node in nodes:
            if node.type in FUNCTIONS:
                self._add(node, exported)
        self._names = frozenset(one.parameter for one in self.functions.values())

    def _add(self, node: Node, exported: set[str]) -> None:
        first, name = first_parameter(node), name_of(node, self._parents)
        called = name in exported or is_exported(self._parents.get(node.id))
        if first is not None and (name in PLUGIN_MEMBERS or text_of(first) == API):
            return  # it registers a plugin's handlers and gets no event
        if first is not None and first.type == "identifier":
            parameter = text_of(first)
            if called or EVENT_NAMES.match(parameter):
                self.functions[node.id] = _EventFunction(node, name, parameter, called=called)
        elif first is not None and first.type == "object_pattern" and called:
            taken = _EventFunction(node, name, "", called=True)
            taken.reads += [(key, first) for key, _ in members_of(first)]
            self.functions[node.id] = taken

    def look_at(self, node: Node) -> None:
        match node.type:
            case "member_expression":
                self._member(node)
            case "variable_declarator":
                self._taken_apart(node)
            case "call_expression":
                self._call(node)

    def with_the_event(self) -> list[_EventFunction]:
        """Return the functions that certainly get the event, and those that they pass it to."""
        sure = [one for one in self.functions.values() if one.is_telling]
        for one in sure:  # the list grows during the loop
            sure += [
                other for other in self.functions.values() if other.name in one.hands and other not in sure
            ]
        return sure

    def _owner(self, node: Node | None) -> _EventFunction | None:
        """Return the function whose first parameter the node names."""
        name = unwrapped(node)
        if name is None or name.type != "identifier" or text_of(name) not in self._names:
            return None
        wanted, around = text_of(name), self._parents.get(name.id)
        for _ in range(HIGHEST):
            if around is None:
                break
            if around.type in FUNCTIONS and wanted in _parameters(around):
                found = self.functions.get(around.id)
                return found if found is not None and found.parameter == wanted else None
            around = self._parents.get(around.id)
        return None

    def _member(self, node: Node) -> None:
        name, owner = node.child_by_field_name("property"), self._owner(node.child_by_field_name("object"))
        if owner is None or name is None or name.type != "property_identifier":
            return
        around = self._parents.get(node.id)
        is_set = around is not None and around.type == "assignment_expression"
        if around is not None and is_set and around.child_by_field_name("left") == node:
            owner.stores.append((text_of(name), node))
        else:
            owner.reads.append((text_of(name), node))

    def _taken_apart(self, node: Node) -> None:
        """Record `const { content } = event`."""
        pattern, owner = node.child_by_field_name("name"), self._owner(node.child_by_field_name("value"))
        if owner is not None and pattern is not None and pattern.type == "object_pattern":
            owner.reads += [(key, pattern) for key, _ in members_of(pattern)]

    def _call(self, node: Node) -> None:
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        owner = self._owner(next(iter(given.named_children), None)) if given is not None else None
        if owner is not None and called is not None and called.type == "identifier":
            owner.hands.add(text_of(called))


def _parameters(function: Node) -> frozenset[str]:
    single = function.child_by_field_name("parameter")
    whole = function.child_by_field_name("parameters")
    named = [single] if single is not None else whole.named_children if whole is not None else []
    patterns = (one.child_by_field_name("pattern") or one for one in named)
    return frozenset(text_of(one) for one in patterns if one.type == "identifier")
