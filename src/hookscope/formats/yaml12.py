"""One YAML 1.2 document: text in; dicts, lists and plain values, or one FormatError, out.

PyYAML reads the syntax and leaves every scalar as it was written; what a scalar means is decided here, by
the core schema of YAML 1.2. `on`, `1:30` and `2026-11-20` are text, `1e3` is a number. Tags, anchors and
aliases, which no settings need, are refused.
"""

from __future__ import annotations

import yaml

from .places import BOM, DEPTH, FormatError, KeyPath, Span, span_at, text_of
from .plain_yaml import read_plain_yaml
from .yaml_nodes import Wrong, compose_own, compose_yaml, too_deep
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
    node = compose_own(source.decode())
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


# From nodes to values


def _value(node: yaml.Node, depth: int) -> object:
    """Of a tree, so that depth alone is bounded; `whole_yaml` walks what has aliases and tags."""
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.style else plain_value(node.value)
    if depth > DEPTH:
        raise too_deep(node.start_mark.index)
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
