"""Facts of a TypeScript or JavaScript handler, from its syntax tree. Runs in the parser process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from hookscope.hosts.source.facts import (
    FARTHEST,
    HOME,
    MOST_FACTS,
    RETURNED_MEMBERS,
    HandlerFacts,
    Occurrence,
    first_program,
    looked_up_program,
)
from hookscope.hosts.source.script_names import (
    FUNCTIONS,
    WRAPPERS,
    ScriptNames,
    dotted,
    further_parameters,
    is_text,
    text_of,
    unwrapped,
)
from hookscope.hosts.source.script_shape import (
    commonjs_exports,
    first_syntax_error,
    module_exports,
    typescript_only_code,
    unknown_event_members,
    unmarked_type_imports,
)

if TYPE_CHECKING:
    from tree_sitter import Node


EQUAL_SIGNS = frozenset({"===", "!==", "==", "!="})
ELSE_OPERATORS = frozenset({"||", "??", "&&"})
LONGEST_CONDITION = 400  # bytes; longer conditions are not searched: chains of `&&` are nested


class ScriptFallbacks:
    """Inspects the code around a node; `parents` by node id. Lives as long as the walk over its tree."""

    def __init__(self, parents: Mapping[int, Node]) -> None:
        self._parents = parents

    def enclosing(self, node: Node) -> tuple[Node | None, Node]:
        """Return the nearest ancestor other than brackets and types, and its child that contains the node."""
        parent = self._parents.get(node.id)
        while parent is not None and parent.type in WRAPPERS:
            node, parent = parent, self._parents.get(parent.id)
        return parent, node

    def has_fallback(self, parent: Node | None, node: Node) -> bool:
        """Return whether a value is tested for existence, or replaced if it is missing."""
        parent, node = self._out_of_chain(parent, node)
        if parent is None:
            return False
        operator = parent.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        match parent.type:
            case "binary_expression":
                return sign in EQUAL_SIGNS or (
                    sign in ELSE_OPERATORS and is_field_of_parent(parent, "left", node)
                )
            case "unary_expression":
                return sign in ("!", "typeof")
            case "if_statement" | "while_statement" | "ternary_expression":
                return is_field_of_parent(parent, "condition", node)
            case "arguments":
                call = self._parents.get(parent.id)
                function = call.child_by_field_name("function") if call is not None else None
                return function is not None and text_of(function) == "Boolean"
        return False

    def _out_of_chain(self, parent: Node | None, node: Node) -> tuple[Node | None, Node]:
        """If `node` ends a chain such as `a || b`, return `enclosing` of the chain; else both arguments."""
        for _ in range(FARTHEST):
            sign = parent.child_by_field_name("operator") if parent is not None else None
            if (
                parent is None
                or sign is None
                or sign.type not in ("||", "??")
                or not is_field_of_parent(parent, "right", node)
            ):
                break
            parent, node = self.enclosing(parent)
        return parent, node

    def is_tested_later(self, parent: Node | None, node: Node, tested: frozenset[str]) -> bool:
        """Return whether the value is assigned to a name in `tested`: `const a = …; if (a) use(a)`."""
        parent, node = self._out_of_chain(parent, node)
        name = (
            parent.child_by_field_name("name")
            if parent and is_field_of_parent(parent, "value", node)
            else None
        )
        return name is not None and text_of(name) in tested

    def tested_names(self, nodes: list[Node]) -> frozenset[str]:
        """Return the names that the code tests for a value; a negated test, `!a`, does not count."""
        return frozenset(
            text_of(node) for node in nodes if node.type == "identifier" and self._is_tested(node)
        )

    def _is_tested(self, node: Node) -> bool:
        parent, used = self.enclosing(node)
        if parent is None:
            return False
        if parent.type in ("if_statement", "while_statement", "ternary_expression"):
            return is_field_of_parent(parent, "condition", used)
        sign = parent.child_by_field_name("operator") if parent.type == "binary_expression" else None
        return sign is not None and sign.type in ELSE_OPERATORS and is_field_of_parent(parent, "left", used)

    def is_checked_by_condition(self, name: str, node: Node) -> bool:
        """Return whether an enclosing condition contains `name`: `if (process.env.A) use(process.env.A)`."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        for _ in range(FARTHEST):
            parent = self._parents.get(node.id)
            if parent is None or parent.type in FUNCTIONS:
                break
            condition = _condition_of(parent)
            if condition is not None and condition != node:
                text = (
                    text_of(condition)
                    if condition.end_byte - condition.start_byte <= LONGEST_CONDITION
                    else ""
                )
                if "process.env" in text and word.search(text):
                    return True
            node = parent
        return False


def _condition_of(node: Node) -> Node | None:
    """Return the condition that decides whether the rest of the node runs; None if it always runs."""
    if node.type in ("if_statement", "while_statement", "ternary_expression"):
        return node.child_by_field_name("condition")
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return node.child_by_field_name("left") if operator is not None and operator.type == "&&" else None


def is_field_of_parent(parent: Node | None, field: str, node: Node) -> bool:
    """Return whether the node is the `field` of `parent`."""
    return parent is not None and parent.child_by_field_name(field) == node


COMMANDS = {"exec": True, "execSync": True} | dict.fromkeys(
    ("spawn", "spawnSync", "execFile", "execFileSync"), False
)
WRITERS = frozenset(
    f"{name}{more}"
    for name in ("appendFile", "copyFile", "cp", "mkdir", "rename", "rm", "rmdir", "unlink", "writeFile")
    for more in ("", "Sync")
) | {"createWriteStream"}
NETWORK = frozenset({"axios", "got", "node-fetch", "undici", "ws", "superagent"})
NETWORK_CALLS = frozenset(f"{module}.{name}" for module in ("http", "https") for name in ("request", "get"))
GLOBAL_NETWORK = frozenset({"fetch", "WebSocket", "EventSource"})


def script_facts(root: Node, source: bytes) -> HandlerFacts:
    """Return the facts of a parsed file."""
    return _ScriptReader(root, source).facts()


class _ScriptReader:
    """One walk over a tree. Lives as long as the walk."""

    def __init__(self, root: Node, source: bytes) -> None:
        self._nodes = [root]
        self._parents: dict[int, Node] = {}  # `node.parent` would search from the root
        _walk(self._nodes, self._parents)
        self._lines = source.split(b"\n")
        self._names = ScriptNames(self._nodes, self._parents)
        self._fallbacks = ScriptFallbacks(self._parents)
        self._tested_names = self._fallbacks.tested_names(self._nodes)
        self._types = unmarked_type_imports(self._nodes)
        self._occurrences: dict[str, list[Occurrence]] = {}
        self._visitors: dict[str, Callable[[Node], None]] = {
            "import_statement": self._import,
            "member_expression": self._member,
            "subscript_expression": self._member,
            "variable_declarator": self._declarator,
            "binary_expression": self._compare,
            "switch_statement": self._switch,
            "call_expression": self._call,
            "new_expression": self._new,
            "return_statement": self._return,
            "arrow_function": self._arrow,
            "function_declaration": self._function,
            "function_expression": self._function,
            "string": self._home,
            "template_string": self._home,
        }

    def facts(self) -> HandlerFacts:
        """Return all facts, each kind in the order of the source."""
        for node in self._nodes:
            visit = self._visitors.get(node.type)
            if visit is not None:
                visit(node)
            word = typescript_only_code(node, self._parents.get(node.id))
            if word:
                self._record("code", word, node)
        for category, name, node in unknown_event_members(self._nodes, self._parents):
            self._record(category, name, node)
        stored = {occurrence.name for occurrence in self._occurrences.get("changes", ())}
        if "fields" in self._occurrences:
            self._occurrences["fields"] = [
                occurrence for occurrence in self._occurrences["fields"] if occurrence.name not in stored
            ]
        found = {name: tuple(occurrences) for name, occurrences in self._occurrences.items()}
        module, root = self._names.module, self._nodes[0]
        at = first_syntax_error(root)
        return HandlerFacts(
            **found,  # type: ignore[arg-type]  # they are its fields
            module=module,
            doubt=self._place("", at) if at is not None else None,
            exports=self._exports(root, module) if at is None else None,
        )

    def _exports(self, root: Node, module: str) -> dict[str, bool] | None:
        if module == "commonjs":
            return commonjs_exports(root, self._nodes)
        return module_exports(root) if self._is_plain_module(module) else None

    def _is_plain_module(self, module: str) -> bool:
        """Return whether the file can export only by `export`.

        Other exports, such as by `Object.assign(exports, …)`, cannot be read.
        """
        return module == "esm" or (not module and not any(b"exports" in line for line in self._lines))

    def _record(self, category: str, name: str, node: Node, kind: str = "") -> None:
        occurrences = self._occurrences.setdefault(category, [])
        if len(occurrences) < MOST_FACTS:
            occurrences.append(self._place(name, node, kind))

    def _place(self, name: str, node: Node, kind: str = "") -> Occurrence:
        row, column = node.start_point
        before = self._lines[row][:column].decode("utf-8", "replace")
        return Occurrence(name, row + 1, len(before) + 1, kind)

    def _import(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        types = any(child.type == "type" for child in node.children)
        kind = "type" if types else "types" if node.id in self._types else ""
        if source is not None and is_text(source):
            self._record("imports", text_of(source), node, kind)

    def _member(self, node: Node) -> None:
        """Record `process.env.NAME`, `event.context.name`, and both with `["name"]`."""
        owner, name = node.child_by_field_name("object"), _member_name(node)
        if owner is None or not name:
            return
        parent, used = self._fallbacks.enclosing(node)
        stores = (
            parent is not None
            and parent.type
            in ("assignment_expression", "augmented_assignment_expression", "unary_expression")
            and (is_field_of_parent(parent, "left", used) or parent.children[0].type == "delete")
        )
        if dotted(owner) == "process.env":
            if not stores:
                fallbacks = self._fallbacks
                optional = fallbacks.has_fallback(parent, used) or fallbacks.is_checked_by_condition(
                    name, used
                )
                optional = optional or fallbacks.is_tested_later(parent, used, self._tested_names)
                self._record("env", name, node, "optional" if optional else "")
        elif self._names.is_context(owner) and not is_field_of_parent(parent, "function", used):
            self._record("changes" if stores else "fields", name, node)

    def _declarator(self, node: Node) -> None:
        """Record `const { A, B = "b" } = process.env` and `const { a } = event.context`."""
        pattern, value = node.child_by_field_name("name"), unwrapped(node.child_by_field_name("value"))
        if pattern is None or value is None or pattern.type != "object_pattern":
            return
        env, context = dotted(value) == "process.env", self._names.is_context(value)
        for name, place, default in _pattern_members(pattern) if env or context else ():
            if env:
                self._record("env", name, place, "optional" if default else "")
            else:
                self._record("fields", name, place)

    # Guards

    def _compare(self, node: Node) -> None:
        operator = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator is None or operator.type not in EQUAL_SIGNS or left is None or right is None:
            return
        for field, value in ((left, right), (right, left)):
            self._guard(self._names.guarded_member(field), value)

    def _switch(self, node: Node) -> None:
        member, body = (
            self._names.guarded_member(node.child_by_field_name("value")),
            node.child_by_field_name("body"),
        )
        for case in body.children if member and body is not None else ():
            self._guard(member, case.child_by_field_name("value"))

    def _guard(self, member: str, value: Node | None) -> None:
        value = unwrapped(value)
        if member and value is not None and is_text(value):
            self._record("guards", text_of(value), value, member)

    # Calls

    def _call(self, node: Node) -> None:
        function, arguments = node.child_by_field_name("function"), _arguments(node)
        if function is None:
            return
        name = self._names.imported_name(function)
        module, _, member = name.rpartition(".")
        if module == "child_process" and member in COMMANDS and arguments:
            self._command(node, arguments[0], COMMANDS[member])
        elif module in ("fs", "fs.promises", "fs/promises") and member in WRITERS:
            self._record("writes", name, node)
        elif name in NETWORK_CALLS or name.partition(".")[0] in NETWORK:
            self._record("network", name, node)
        elif function.type == "identifier" and not name and text_of(function) in GLOBAL_NETWORK:
            self._record("network", text_of(function), node)
        elif function.type == "member_expression":
            self._method(node, function, arguments)

    def _method(self, node: Node, function: Node, arguments: list[Node]) -> None:
        owner, name = function.child_by_field_name("object"), _member_name(function)
        if owner is None:
            return
        if name in ("push", "unshift") and self._names.is_messages(owner):
            kinds = (NOT_TEXT.get(value.type, "") for argument in arguments if (value := unwrapped(argument)))
            self._record("pushes", name, node, next(filter(None, kinds), ""))
        elif name in ("push", "unshift") and self._names.is_context(
            unwrapped(owner.child_by_field_name("object"))
        ):
            self._items(_member_name(owner), arguments)
        elif name == "includes" and owner.type == "array" and arguments:
            for value in owner.named_children:
                self._guard(self._names.guarded_member(arguments[0]), value)

    def _command(self, node: Node, first: Node, whole_line: bool) -> None:
        if is_text(first):
            text = text_of(first)
        elif first.type == "template_string" and first.named_children:
            start = first.named_children[0]
            text = text_of(start).rpartition(" ")[0] if start.type == "string_fragment" else ""
        else:
            return
        program = first_program(text) if whole_line else looked_up_program(text)
        if program:
            self._record("programs", program, node)

    def _new(self, node: Node) -> None:
        name = node.child_by_field_name("constructor")
        if name is not None and name.type == "identifier" and text_of(name) in GLOBAL_NETWORK:
            self._record("network", text_of(name), node)

    # What the handler returns

    def _return(self, node: Node) -> None:
        scope = self._parents.get(node.id)
        while scope is not None and scope.type not in FUNCTIONS:
            scope = self._parents.get(scope.id)
        values = [unwrapped(child) for child in node.named_children]
        if values and scope is not None:
            self._answer(scope, values[0])

    def _arrow(self, node: Node) -> None:
        self._answer(node, unwrapped(node.child_by_field_name("body")))
        self._function(node)

    def _function(self, node: Node) -> None:
        """Record required parameters after the first, because the host passes the event only."""
        if self._names.is_called_by_host(node, self._parents):
            for parameter in further_parameters(node):
                self._record("parameters", text_of(parameter), parameter)

    def _items(self, field: str, values: list[Node]) -> None:
        """Record objects that are put into a list of the context, with all their members."""
        for value in values:
            item = unwrapped(value)
            members = [_key_of(member) for member in item.named_children] if item is not None else []
            if field and item is not None and item.type == "object" and all(members):
                self._record("items", field, item, ",".join(members))

    def _answer(self, scope: Node, value: Node | None) -> None:
        if value is None or value.type != "object" or not self._names.takes_event(scope):
            return
        for member in value.named_children:
            name = _key_of(member)
            if name in RETURNED_MEMBERS:
                self._record("answers", name, member)
            elif name and self._names.is_called_by_host(scope, self._parents):
                self._record("answers", name, member, "other")

    def _home(self, node: Node) -> None:
        if HOME.match(text_of(node)):
            self._record("homes", text_of(node), node)


KEYS = frozenset({"property_identifier", "shorthand_property_identifier", "string"})
NOT_TEXT = {"object": "an object", "array": "a list", "number": "a number", "null": "null"}
NOT_TEXT |= dict.fromkeys(("true", "false"), "a boolean")


def _key_of(member: Node) -> str:
    """Return the key of a member of an object literal; empty if it is computed or a spread."""
    key = member.child_by_field_name("key") or member.child_by_field_name("name") or member
    return text_of(key) if key.type in KEYS else ""


def _walk(nodes: list[Node], parents: dict[int, Node]) -> None:
    """Add all nodes below the first one, in source order, and the parent of each."""
    stack = [nodes.pop()]
    while stack:
        node = stack.pop()
        nodes.append(node)
        children = node.named_children
        parents.update((child.id, node) for child in children)
        stack += reversed(children)


def _member_name(node: Node) -> str:
    """Return the name in `.name` or `["name"]`; empty if it is computed."""
    name = node.child_by_field_name("property") or node.child_by_field_name("index")
    if name is None or not (name.type == "property_identifier" or is_text(name)):
        return ""
    return text_of(name)


def _arguments(node: Node) -> list[Node]:
    arguments = node.child_by_field_name("arguments")
    return [child for child in arguments.named_children if child.type != "comment"] if arguments else []


def _pattern_members(pattern: Node) -> Iterator[tuple[str, Node, bool]]:
    """Yield the members that a pattern reads: name, node, and whether it has a default."""
    for member in pattern.named_children:
        match member.type:
            case "shorthand_property_identifier_pattern":
                yield text_of(member), member, False
            case "object_assignment_pattern":
                left = member.child_by_field_name("left")
                if left is not None:
                    yield text_of(left), member, True
            case "pair_pattern":
                key, value = member.child_by_field_name("key"), member.child_by_field_name("value")
                if key is not None and key.type in KEYS:
                    yield text_of(key), member, value is not None and value.type == "assignment_pattern"
