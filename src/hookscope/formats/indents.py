"""What PyYAML does not look at in values in brackets or quotes: how far in their lines stand, and what is
behind them.

What stands in brackets or in quotes inside a block goes on further in than the key or dash that it belongs
to; only the last bracket may stand right below that. A comment stands apart. Source: YAML 1.2.2, 7.4, 7.3
and 6.6; the reader of OpenClaw 2026.9.6 holds to it and gives up a header that does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import yaml

from .whole_yaml import MOST_CHARACTERS
from .yaml_nodes import Wrong, compose_yaml

# A line at the margin that is no key, comment, or last bracket: it goes on with what was begun above it.
_AT_THE_MARGIN: Final = re.compile(r"^(?![ \t\n#}\]-]|[A-Za-z0-9_-]+:(?:[ \t\n]|\Z)).", re.MULTILINE)
# A block in a block, and an indented line that opens what it does not close.
_NESTED: Final = re.compile(
    r"""^[^\s#][^\n]*:[ ]*\n(?:[ ]*\n)*[ ]+["']?[A-Za-z0-9_-]+["']?[ ]*:""", re.MULTILINE
)
# What a line opens and closes again; then any sign that is left may open something for the lines below it.
_QUOTED: Final = re.compile(r"""(?<=[\s\[{,])(?:"[^"\\\n]*"|'[^'\n]*')""")
_IN_BRACKETS: Final = re.compile(r"\[[^\[\]{}\n]*\]|\{[^\[\]{}\n]*\}")
_OPEN: Final = re.compile(r"""^[ ][^\n]*[\[{"']""", re.MULTILINE)
_OPEN_AT_THE_MARGIN: Final = re.compile(r"""^[^\s#][^\n]*:[ \t]+[\[{"']""", re.MULTILINE)
_GLUED: Final = re.compile(r"""["'\]}]#""")
_MOST_IN_ONE_ANOTHER: Final = 8  # brackets that are taken away; more are looked at by the parser


def starts_too_far_left(text: str) -> bool:
    """Whether a line does that goes on with a value in brackets or quotes; False for what is no YAML."""
    if not (
        _AT_THE_MARGIN.search(text)
        or (_NESTED.search(text) and _may_stay_open(text, _OPEN))
        or (_OPEN_AT_THE_MARGIN.search(text) and _may_stay_open(text, _OPEN_AT_THE_MARGIN))
    ):
        return False
    try:
        node = compose_yaml(text, len(text), whole=len(text) <= MOST_CHARACTERS)
    except Wrong:
        return False
    lines = text.split("\n")
    return any(
        _too_far_left(lines[number], column, value, ends=number == value.end_mark.line)
        for value, column in _values_in_blocks(node)
        for number in range(value.start_mark.line + 1, value.end_mark.line + 1)
    )


def has_glued_comment(text: str) -> bool:
    """Whether a `#` stands right behind a value in brackets or quotes; False for what is no YAML."""
    if not _GLUED.search(text):
        return False
    try:
        node = compose_yaml(text, len(text), whole=len(text) <= MOST_CHARACTERS)
    except Wrong:
        return False
    return any(text[value.end_mark.index :].startswith("#") for value, _ in _values_in_blocks(node))


def _may_stay_open(text: str, sign: re.Pattern[str]) -> bool:
    """Whether a line that bears the sign perhaps opens what it does not close."""
    bare = _QUOTED.sub("", text)
    for _ in range(_MOST_IN_ONE_ANOTHER):
        bare, found = _IN_BRACKETS.subn("", bare)
        if not found:
            break
    return sign.search(bare) is not None


def _values_in_blocks(root: yaml.Node | None) -> Iterator[tuple[yaml.Node, int]]:
    """Each value in brackets or quotes that stands in a block, with the column of its key or dash."""
    open_nodes, done = [root] if root else [], set[int]()
    while open_nodes:
        node = open_nodes.pop()
        if id(node) in done or not isinstance(node, yaml.CollectionNode) or node.flow_style:
            continue
        done.add(id(node))
        column = node.start_mark.column
        values = [value for _, value in node.value] if isinstance(node, yaml.MappingNode) else node.value
        for value in values:
            quoted = isinstance(value, yaml.ScalarNode) and value.style in ("'", '"')
            if quoted or (isinstance(value, yaml.CollectionNode) and value.flow_style):
                yield value, column
        open_nodes += values


def _too_far_left(line: str, column: int, value: yaml.Node, *, ends: bool) -> bool:
    said = line.lstrip(" ")
    if not said.strip() or len(line) - len(said) > column:
        return False
    if isinstance(value, yaml.ScalarNode):
        return True
    last_bracket = ends and said[0] in "]}" and len(line) - len(said) == column
    return not (last_bracket or said.startswith("#"))
