"""Read YAML 1.2 as the hosts do: a fast reader for the plain subset, else PyYAML's nodes."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final

import yaml

from hookscope.formats.positions import (
    BYTE_ORDER_MARK,
    MAX_DEPTH,
    FormatError,
    KeyPath,
    Span,
    span_at,
    text_of,
)
from hookscope.formats.yaml_nodes import YamlProblem, compose_trusted, compose_yaml, plain_value, too_deep

_QUOTES: Final = "'\""
_LONGEST: Final = 65_536  # characters
_LONGEST_FLOW: Final = 1000  # characters; YAML keys have at most 1,024
_MOST_BRACKETS: Final = 30  # in one value
_DEEPEST: Final = 30  # nested blocks

# Possessive repetition (`+`), since backtracking over thousands of spaces is slow.
_LINES: Final = re.compile(
    r"""
    ([ ]*+)
    (?: \#[^\n]*
      | (-[ ]++)?
        (?: ([A-Za-z_][A-Za-z0-9_-]{0,99}) : (?![^ \n]) )?
        [ ]*+
        ( "[^"\\\n]*"
        | '[^'\n]*'
        | [\[{] (?: [^\n]*[\]}](?=[ ]*+(?:\n|\Z)) | [^\n]*+ (?: \n(?=[ \]}]) [^\n]*+ )*+ )
        | [^ \n\-?:,\[\]{}\#&*!|>'"%@`] [^\n:\#]*+ (?: (?: :(?=[^ \n]) | (?<=[^ \n])\# ) [^\n:\#]*+ )*+
        )?
        [ ]*+
    )
    (?: \n | \Z )
  | ([^\n]+)
    """,
    re.VERBOSE,
)
_WORD = r"[A-Za-z_](?:[A-Za-z0-9_./*-]|:(?=[A-Za-z0-9_*]))*"
_WORDS: Final = re.compile(rf"\[ *{_WORD}(?: *, *{_WORD})* *\]")
_LAST_COMMA: Final = re.compile(r'("[^"\n]*")|(?<=["\]}a-z0-9]),(?=[ \n]*[\]}])')
_KEY_APART: Final = re.compile(r"\n *:")  # a key on another line than its colon
_MANY_DIGITS: Final = 300
_LONG_NUMBER: Final = re.compile(rf"[0-9]{{{_MANY_DIGITS}}}")


class _NotPlainYaml(Exception):
    """The text has YAML beyond the plain subset."""


def read_plain_yaml(text: str) -> dict[str, object] | None:
    """Return the mapping as the full reader would; None if only the full reader can tell."""
    if len(text) > _LONGEST:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not text.replace("\n", "").isprintable():
        return None
    try:
        return _plain_mapping(text) or None
    except _NotPlainYaml:
        return None


def _plain_mapping(text: str) -> dict[str, object]:
    root: dict[str, object] = {}
    block: Any = root  # the innermost block, a mapping or a list
    column = 0  # its indentation
    outer_blocks: list[tuple[Any, int]] = []  # the enclosing blocks
    open_key = ""  # the last key, if its value is on later lines
    for indent, dash, key, value, unreadable in _LINES.findall(text):
        if unreadable:
            raise _NotPlainYaml
        if not (key or dash or value):
            continue
        at = len(indent)
        if open_key and (at > column or (dash and at == column)):
            if not (key or dash):
                block[open_key], open_key = _plain_value(value), ""
                continue
            if len(outer_blocks) > _DEEPEST:
                raise _NotPlainYaml
            outer_blocks.append((block, column))
            block[open_key] = block = [] if dash else {}
            column = at
        while at < column or (at == column and not dash and type(block) is list):
            if not outer_blocks:
                raise _NotPlainYaml
            block, column = outer_blocks.pop()
        if at != column or (type(block) is list) is not bool(dash):
            raise _NotPlainYaml
        if dash:
            if not key:
                if not value:
                    raise _NotPlainYaml
                block.append(_plain_value(value))
                open_key = ""
                continue
            item: dict[str, object] = {}
            block.append(item)
            outer_blocks.append((block, column))
            block, column = item, at + len(dash)
        if not key or key in block:
            raise _NotPlainYaml
        if not value:
            block[key], open_key = None, key
            continue
        block[key] = value[1:-1] if value[0] in _QUOTES else _plain_value(value)
        open_key = ""
    return root


def _plain_value(text: str) -> object:
    first = text[0]
    if first in _QUOTES:
        return text[1:-1]
    if first == "[" and (items := _plain_items(text)) is not None:
        return [*items]
    return _plain_flow(text) if first in "[{" else plain_value(text.rstrip(" "))


@lru_cache(maxsize=512)
def _plain_items(text: str) -> tuple[object, ...] | None:
    """Return the items of a flat list; None for nested lists. Cached, because many hooks have equal lists."""
    items = _plain_flow(text)
    assert isinstance(items, list)
    return None if any(isinstance(item, dict | list) for item in items) else tuple(items)


def _plain_flow(text: str) -> object:
    """Return a value in brackets: JSON with an optional last comma, or a list of plain words."""
    if len(text) > _LONGEST_FLOW or "\\" in text or text.count("[") + text.count("{") > _MOST_BRACKETS:
        raise _NotPlainYaml
    if len(text) > _MANY_DIGITS and _LONG_NUMBER.search(text):
        raise _NotPlainYaml
    value = _json(text)
    if value is None and _WORDS.fullmatch(text):
        return [plain_value(word.strip(" ")) for word in text[1:-1].split(",")]
    if value is None:
        value = _json(_LAST_COMMA.sub(r"\1", text))
    if value is None or ("\n" in text and _KEY_APART.search(text)):
        raise _NotPlainYaml
    return value


def _json(text: str) -> object:
    """Return a list or mapping, or None if the text is not JSON."""
    try:
        value, end = _read_plain(text)
    except ValueError:
        return None
    return value if end == len(text) and type(value) in (dict, list) else None


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _NotPlainYaml
    return members


def _is_no_number(_: str) -> object:
    raise _NotPlainYaml


_read_plain: Final = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_is_no_number).raw_decode


YAML_LIMIT = 64 * 1024


def read_yaml(source: bytes, *, limit: int = YAML_LIMIT) -> object:
    """Return the document's data: dict, list, str, int, float, bool or None (also if empty).

    Keys are text. Only plain scalars can be numbers, true, false or null; quoted ones and keys are
    always text. Integers are exact up to 500 characters and floats beyond, mostly inf. Half of a
    surrogate pair reads as U+FFFD.

    Args:
        limit: the most characters the text may have.

    Raises:
        FormatError: not UTF-8, not one YAML document, a key that repeats or is not a scalar, a tag, an
            anchor or alias, more than 64 nested collections, or text over the limit.
    """
    text = text_of(source)
    return read_part(text, int(text.startswith(BYTE_ORDER_MARK)), len(text), limit)


def read_own_yaml(source: bytes) -> object:
    """Read a YAML file of this program without the checks of `read_yaml`, which take as long as reading."""
    node = compose_trusted(source.decode())
    return None if node is None else _node_value(node, 1)


def locate_yaml(source: bytes, path: KeyPath) -> Span | None:
    """Return the span of the value at `path`; None if there is none or the source is invalid.

    A missing value (`key:`) is an empty span. A list or mapping in block style spans from its first
    item to its last; a block scalar (`|`, `>`) includes the blank lines after it.
    """
    try:
        text = text_of(source)
    except FormatError:
        return None
    return locate_part(text, int(text.startswith(BYTE_ORDER_MARK)), len(text), path)


def read_part(text: str, start: int, end: int, limit: int = YAML_LIMIT) -> object:
    """Read `text[start:end]` as a document; errors have positions in the whole text."""
    document = text[start:end]
    plain = read_plain_yaml(document) if len(document) <= limit else None
    return plain if plain is not None else read_part_from_nodes(text, start, end, limit)


def read_part_from_nodes(text: str, start: int, end: int, limit: int = YAML_LIMIT) -> object:
    """Read as `read_part`, with the full reader."""
    try:
        node = compose_yaml(text[start:end], limit)
        return None if node is None else _node_value(node, 1)
    except YamlProblem as wrong:
        raise FormatError(wrong.problem, span_at(text, start + wrong.start, start + wrong.end)) from None


def locate_part(text: str, start: int, end: int, path: KeyPath, *, of_key: bool = False) -> Span | None:
    """Locate a value in the document `text[start:end]`; the span is in the whole text.

    `of_key`: locate the last step's key instead of its value; None if it is not a key of a mapping.
    """
    node = _valid_node(text[start:end])
    if node is None:
        return None
    steps, last = (path[:-1], path[-1]) if of_key and path else (path, None)
    for step in steps:
        node = _child_node(node, step)
        if node is None:
            return None
    if of_key:
        keys = [key for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        node = next((key for key in keys if key.value == last), None)
        if node is None:
            return None
    return span_at(text, start + node.start_mark.index, start + _node_end(node))


@lru_cache(maxsize=1)  # many values of one document are located
def _valid_node(document: str) -> yaml.Node | None:
    """Return the node of a document; None for an empty or unreadable one."""
    try:
        node = compose_yaml(document, YAML_LIMIT)
        if node is not None:
            _node_value(node, 1)  # refuses an unreadable document
    except YamlProblem:
        return None
    return node


# From nodes to values


def _node_value(node: yaml.Node, depth: int) -> object:
    """Return a node's value. The nodes are a tree, so only the depth is bounded; see `full_yaml`."""
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.style else plain_value(node.value)
    if depth > MAX_DEPTH:
        raise too_deep(node.start_mark.index)
    if isinstance(node, yaml.SequenceNode):
        return [_node_value(item, depth + 1) for item in node.value]
    members: dict[str, object] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise YamlProblem(
                "a key is text, not a list or mapping", key.start_mark.index, key.end_mark.index
            )
        if key.value in members:
            raise YamlProblem(
                f"the key `{key.value}` appears twice", key.start_mark.index, key.end_mark.index
            )
        members[key.value] = _node_value(value, depth + 1)
    return members


# From nodes to positions


def _child_node(node: yaml.Node, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        item: yaml.Node = node.value[step]
        return item
    return None


def _node_end(node: yaml.Node) -> int:
    """Return the end of the node's own text. PyYAML ends a block where the next token starts."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    end: int = node.end_mark.index
    return end
