"""The nodes of a YAML document, every scalar as it was written: text in; a node, or Wrong, out.

Tags, anchors and aliases are refused, unless they are asked for; so is what is too deep for the parser in C,
which recurses.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

import yaml

from .places import DEPTH
from .standins import standins_for


class Wrong(Exception):
    """A problem, by its offsets in the text that PyYAML was given."""

    def __init__(self, problem: str, start: int, end: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.start = start
        self.end = end


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
TOO_DEEP = f"more than {DEPTH} lists and mappings in one another"
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
        raise too_deep(0)  # each would be looked through for every other
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


def compose_own(text: str) -> yaml.Node | None:
    """As `compose_yaml`, of a file of this program: nothing in it is refused, and nothing is looked for."""
    return yaml.compose(text, Loader=_NODES)


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
                raise too_deep(at)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _refuse_properties(event: yaml.Event, at: int) -> None:
    if isinstance(event, yaml.AliasEvent):
        raise Wrong(f"the alias `*{event.anchor}` is not read here: write the value out", at, at)
    if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
        raise Wrong(f"the anchor `&{event.anchor}` is not read here: leave it out", at, at)
    if isinstance(event, yaml.CollectionStartEvent | yaml.ScalarEvent) and event.tag is not None:
        raise Wrong(f"the tag `{event.tag}` is not read here: leave it out", at, at)


def too_deep(at: int) -> Wrong:
    return Wrong(TOO_DEEP, at, at)


def _sentence(error: yaml.MarkedYAMLError, found: str) -> str:
    if isinstance(error, yaml.composer.ComposerError):
        return "a second document starts here; a file has one"
    problem = error.problem or "not YAML"
    if "nesting depth" in problem:  # libyaml 0.2.6 looks ahead as far as the thousandth, and stops there
        return TOO_DEEP
    if "cannot start any token" in problem:
        if found == "\t":
            return "a tab stands where YAML wants spaces"
        return f"`{found}` cannot start a value; put the value in quotes"
    return f"{problem}, {error.context}" if error.context else problem
