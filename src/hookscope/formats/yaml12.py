"""One YAML 1.2 document: text in; dicts, lists and plain values, or one FormatError, out.

PyYAML reads the syntax and leaves every scalar as it was written; what a scalar means is decided here, by
the core schema of YAML 1.2. `on`, `1:30` and `2026-11-20` are text, `1e3` is a number. Tags, anchors and
aliases, which no settings need, are refused.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

import yaml

from .places import BOM, DEPTH, FormatError, KeyPath, Span, span_at, text_of
from .plain_yaml import read_plain_yaml
from .standins import standins_for
from .yaml_scalars import plain_value

LIMIT = 64 * 1024


def read_yaml(source: bytes, *, limit: int = LIMIT) -> object:
    """What the document says: dict (keys are text), list, str, int, float, bool or None (also when empty).

    Only plain scalars can be numbers, true, false or null; quoted ones and keys are always text. Integers
    are exact up to 500 characters and floats beyond, mostly inf. Half of a surrogate pair reads as U+FFFD.

    Args:
        limit: the most characters the text may have.

    Raises:
        FormatError: not UTF-8, not one YAML document, a key twice or not a scalar, a tag, an anchor or
            alias, more than 64 collections in one another, or text over the limit.
    """
    text = text_of(source)
    return read_part(text, int(text.startswith(BOM)), len(text), limit)


def read_own_yaml(source: bytes) -> object:
    """As `read_yaml`, of a file of this program: it is taken for granted that nothing in it is refused.

    To look for that takes as long as to read it.
    """
    node = yaml.compose(source.decode(), Loader=_NODES)
    return None if node is None else _value(node, 1)


def locate_yaml(source: bytes, path: KeyPath, *, limit: int = LIMIT) -> Span | None:
    """Where the value at `path` stands, or None where there is none or the source cannot be read.

    A missing value (`key:`) is an empty span. A list or mapping in block style starts at its first item
    and ends with its last; a block scalar (`|`, `>`) takes the blank lines after it along.
    """
    try:
        text = text_of(source)
    except FormatError:
        return None
    return locate_part(text, int(text.startswith(BOM)), len(text), path, limit)


def read_part(text: str, start: int, end: int, limit: int = LIMIT) -> object:
    """Read `text[start:end]` as a document; errors stand where they do in the whole text."""
    document = text[start:end]
    plain = read_plain_yaml(document) if len(document) <= limit else None
    return plain if plain is not None else read_in_full(text, start, end, limit)


def read_in_full(text: str, start: int, end: int, limit: int = LIMIT) -> object:
    """As `read_part`, which asks for what only this reader can tell."""
    try:
        node = compose_yaml(text[start:end], limit)
        return None if node is None else _value(node, 1)
    except Wrong as wrong:
        raise FormatError(wrong.problem, span_at(text, start + wrong.start, start + wrong.end)) from None


def locate_part(
    text: str, start: int, end: int, path: KeyPath, limit: int = LIMIT, *, of_key: bool = False
) -> Span | None:
    """Locate in the document `text[start:end]`; the span is one in the whole text.

    `of_key`: of the last step's key, in place of its value; None where that is no key of a mapping.
    """
    try:
        node = compose_yaml(text[start:end], limit)
        if node is None:
            return None
        _value(node, 1)  # what cannot be read has no places
    except Wrong:
        return None
    steps, last = (path[:-1], path[-1]) if of_key and path else (path, None)
    for step in steps:
        node = _child(node, step)
        if node is None:
            return None
    if of_key:
        keys = [key for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        node = next((key for key in keys if key.value == last), None)
        if node is None:
            return None
    return span_at(text, start + node.start_mark.index, start + _end(node))


class Wrong(Exception):
    """A problem, by its offsets in the text that PyYAML was given."""

    def __init__(self, problem: str, start: int, end: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.start = start
        self.end = end


# From text to nodes


class _Untagged:
    """Takes the place of PyYAML's resolver, which would give every node a tag that nobody reads."""

    def resolve(self, *_: object) -> None:
        return None

    def descend_resolver(self, *_: object) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


class _PureNodes(_Untagged, yaml.BaseLoader):
    def scan_to_next_token(self) -> None:
        """Tabs stand apart what stands on one line, as in YAML 1.2 and in the reader in C."""
        while True:
            super().scan_to_next_token()
            if self.peek() != "\t" or (self.allow_simple_key and not self.flow_level):
                return
            self.forward()

    def scan_plain_spaces(self, indent: int, start_mark: yaml.Mark) -> Any:
        """Likewise those within a text."""
        length = 0
        while self.peek(length) in " \t":
            length += 1
        blanks: str = self.prefix(length)
        if "\t" not in blanks:
            return super().scan_plain_spaces(indent, start_mark)
        self.forward(length)
        return [blanks] if self.peek() not in "\r\n" else super().scan_plain_spaces(indent, start_mark)


class _WholeNodes(_PureNodes):
    """Keeps the tag `!` of a scalar, which says that it is text; an anchor may stand twice."""

    def compose_node(self, parent: Any, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # its stubs leave it open
        if not isinstance(event, yaml.AliasEvent):
            self.anchors.pop(event.anchor, None)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node

    def compose_scalar_node(self, anchor: Any) -> yaml.ScalarNode:
        tag = self.peek_event().tag  # type: ignore[no-untyped-call]  # its stubs leave it open
        node: yaml.ScalarNode = super().compose_scalar_node(anchor)
        node.tag = tag
        return node


_NODES: type[yaml.BaseLoader] = _PureNodes

if yaml.__with_libyaml__:

    class _FastNodes(_Untagged, yaml.CBaseLoader):
        pass

    _NODES = _FastNodes  # type: ignore[assignment]  # the two loaders share their methods and no class


# A tag, anchor or alias where a value may start (a harmless `&` or `!` in prose costs one slower read).
_PROPERTY = re.compile(r"[&*!](?<![^\s\[{,:?\-].)(?:(?<=!)|\S)")
# More indicators on one line, or more indentation, than it takes to get deep without a bracket.
_STEPS = re.compile(r"[-?:][ \t]+(?:[-?:][ \t]+){31}")
_INDENT = " " * 100
_STEP_OF = {"[": 1, "{": 1, "]": -1, "}": -1}


def compose_yaml(text: str, limit: int, *, whole: bool = False) -> yaml.Node | None:
    """The document's node, with every scalar as written; None for an empty document.

    `whole`: with tags, anchors and aliases, by the reader in Python. Raises Wrong.
    """
    if len(text) > limit:
        raise Wrong(f"{len(text):,} characters of YAML; the limit is {limit:,}", limit, len(text))
    try:
        standins = standins_for(text)
    except LookupError as error:
        raise Wrong(str(error), 0, 0) from None
    given = standins.put(text) if standins else text
    if whole and max(accumulate(_STEP_OF.get(sign, 0) for sign in given), default=0) > DEPTH:
        raise _too_deep(0)  # each would be looked through for every other
    try:
        if whole or _needs_a_look(given):
            _refuse_depth(given, properties=whole)
        node = yaml.compose(given, Loader=_WholeNodes if whole else _NODES)
    except yaml.MarkedYAMLError as error:
        at = min(error.problem_mark.index if error.problem_mark else 0, len(text))
        raise Wrong(_sentence(error, text[at : at + 1]), at, at) from None
    if standins and node:
        standins.take_back(node)
    return node


def _needs_a_look(text: str) -> bool:
    """Whether the text might have a tag, an anchor, or more depth than C can take.

    What passes has at most 64 brackets, 99 columns of indentation and 31 indicators in a row. Each can
    give two levels, so the C parser, which dies of 50,000, never gets as far as 500.
    """
    return (
        _NODES is _PureNodes  # composes by recursion in Python, which ends far sooner
        or text.count("[") + text.count("{") > DEPTH
        or _INDENT in text
        or _STEPS.search(text) is not None
        or (("&" in text or "*" in text or "!" in text) and _PROPERTY.search(text) is not None)
    )


def _refuse_depth(text: str, *, properties: bool) -> None:
    """Look through the events, which the parser gives without recursion, however deep the text is.

    `properties`: are tags, anchors and aliases let through.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_PureNodes if properties else _NODES):
        at = event.start_mark.index if event.start_mark else 0
        if not properties:
            _refuse_properties(event, at)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEPTH:
                raise _too_deep(at)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _refuse_properties(event: yaml.Event, at: int) -> None:
    if isinstance(event, yaml.AliasEvent):
        raise Wrong(f"the alias `*{event.anchor}` is not read here: write the value out", at, at)
    if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
        raise Wrong(f"the anchor `&{event.anchor}` is not read here: leave it out", at, at)
    if isinstance(event, yaml.CollectionStartEvent | yaml.ScalarEvent) and event.tag is not None:
        raise Wrong(f"the tag `{event.tag}` is not read here: leave it out", at, at)


def _too_deep(at: int) -> Wrong:
    return Wrong(f"more than {DEPTH} lists and mappings in one another", at, at)


def _sentence(error: yaml.MarkedYAMLError, found: str) -> str:
    if isinstance(error, yaml.composer.ComposerError):
        return "a second document starts here; a file has one"
    problem = error.problem or "not YAML"
    if "cannot start any token" in problem:
        if found == "\t":
            return "a tab stands where YAML wants spaces"
        return f"`{found}` cannot start a value; put the value in quotes"
    return f"{problem}, {error.context}" if error.context else problem


# From nodes to values


def _value(node: yaml.Node, depth: int) -> object:
    """Of a tree, so that depth alone is bounded; `whole_yaml` walks what has aliases and tags."""
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.style else plain_value(node.value)
    if depth > DEPTH:
        raise _too_deep(node.start_mark.index)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, depth + 1) for item in node.value]
    members: dict[str, object] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise Wrong("a key is text, not a list or mapping", key.start_mark.index, key.end_mark.index)
        if key.value in members:
            raise Wrong(f"the key `{key.value}` stands twice", key.start_mark.index, key.end_mark.index)
        members[key.value] = _value(value, depth + 1)
    return members


# From nodes to places


def _child(node: yaml.Node, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        item: yaml.Node = node.value[step]
        return item
    return None


def _end(node: yaml.Node) -> int:
    """Where the node's own text ends. PyYAML ends a block collection where the next thing starts."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    end: int = node.end_mark.index
    return end
