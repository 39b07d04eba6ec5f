"""Read YAML with tags, anchors and aliases; recognise the indentation errors that some hosts tolerate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import yaml

from hookscope.formats.positions import FormatError, span_at
from hookscope.formats.yaml_nodes import YamlProblem, compose_yaml, plain_value

FULL_YAML_LIMIT: Final = 8 * 1024  # characters; takes pure PyYAML some tenths of a second
_MOST: Final = 10_000  # values
MOST_ALIASES: Final = 100  # of one anchor, multiplied by those in it
_YAML: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
}


def read_full_yaml(text: str) -> object:
    """Return the document's data, as `read_yaml`.

    Tags of numbers and words apply; any other tag makes the value text. A list or mapping as a key
    is skipped with its value.

    Raises:
        FormatError: not one YAML document, a repeated key, an alias without an anchor or inside its
            own anchor, more than 100 aliases, more than 64 nested collections, over 10,000 values
            or 8,192 characters.
    """
    try:
        node = compose_yaml(text, FULL_YAML_LIMIT, with_tags=True)
        return None if node is None else _Values().value_of(node)
    except YamlProblem as wrong:
        raise FormatError(wrong.problem, span_at(text, wrong.start, wrong.end)) from None


class _Values:
    """Converts the nodes of one document, in their order; an alias gets the value of its anchor.

    `yaml12` converts trees whose size is bounded by the text. These nodes form a graph:
    aliases may form cycles or multiply the number of values. Scalars here have tags.
    """

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._values: dict[int, object] = {}
        self._places: dict[int, tuple[int, int]] = {}  # the parent and index where each node is written
        self._uses: dict[int, int] = {}
        self._weights: dict[int, int] = {}

    def value_of(self, node: yaml.Node, parent: int = 0, index: int = 0) -> object:
        if id(node) in self._open:
            raise _format_error("an alias is within its own anchor", node)
        if id(node) in self._values:
            self._count_alias(node)
            return self._values[id(node)]
        self._places[id(node)] = parent, index
        if len(self._places) > _MOST:
            raise _format_error(f"more than {_MOST:,} values in one document", node)
        self._open.add(id(node))
        value = self._converted(node)
        self._open.discard(id(node))
        self._values[id(node)] = value
        return value

    def _converted(self, node: yaml.Node) -> object:
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        values = [self.value_of(item, id(node), index) for index, item in enumerate(_parts(node))]
        if isinstance(node, yaml.SequenceNode):
            return values
        members: dict[str, object] = {}
        for (key, _), value in zip(node.value, values[1::2], strict=True):
            if not isinstance(key, yaml.ScalarNode):  # such a key cannot be looked up
                continue
            if key.value in members:
                raise _format_error(f"the key `{key.value}` occurs twice", key)
            members[key.value] = value
        return members

    def _count_alias(self, node: yaml.Node) -> None:
        """Raise YamlProblem for more aliases than the `yaml` package allows (2.8; openclaw fx-16)."""
        self._uses[id(node)] = self._uses.get(id(node), 1) + 1
        if id(node) not in self._weights:
            self._weights[id(node)] = self._weight(node)
        if self._uses[id(node)] * self._weights[id(node)] > MOST_ALIASES:
            raise _format_error(f"aliases multiply to more than {MOST_ALIASES} values", node)

    def _weight(self, node: yaml.Node) -> int:
        """Return how often aliases have copied the most copied value in the node."""
        weight = 0 if isinstance(node, yaml.CollectionNode) else 1
        for index, item in enumerate(_parts(node)):
            if self._places.get(id(item)) == (id(node), index):
                weight = max(weight, self._weight(item))
            else:
                weight = max(weight, self._uses.get(id(item), 1) * self._weights.get(id(item), 0))
        return weight


def _parts(node: yaml.Node) -> list[yaml.Node]:
    """Return the items of a sequence, or the keys and values of a mapping in turn."""
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _format_error(problem: str, node: yaml.Node) -> YamlProblem:
    return YamlProblem(problem, node.start_mark.index, node.start_mark.index)


def _scalar(node: yaml.ScalarNode) -> object:
    """Return a scalar's value; an unknown tag makes it text, as `!!str` does."""
    if node.tag is None:
        return node.value if node.style else plain_value(node.value)
    value = plain_value(node.value)
    return value if type(value) in _TYPES.get(str(node.tag).removeprefix(_YAML), ()) else node.value


# A line at the margin that is not a key, comment or closing bracket: it continues a value.
_AT_THE_MARGIN: Final = re.compile(r"^(?![ \t\n#}\]-]|[A-Za-z0-9_-]+:(?:[ \t\n]|\Z)).", re.MULTILINE)
# A nested block, and an indented line with an unclosed bracket or quote.
_NESTED: Final = re.compile(
    r"""^[^\s#][^\n]*:[ ]*\n(?:[ ]*\n)*[ ]+["']?[A-Za-z0-9_-]+["']?[ ]*:""", re.MULTILINE
)
# Closed quotes and brackets; any sign that remains may be open for later lines.
_QUOTED: Final = re.compile(r"""(?<=[\s\[{,])(?:"[^"\\\n]*"|'[^'\n]*')""")
_IN_BRACKETS: Final = re.compile(r"\[[^\[\]{}\n]*\]|\{[^\[\]{}\n]*\}")
_OPEN: Final = re.compile(r"""^[ ][^\n]*[\[{"']""", re.MULTILINE)
_OPEN_AT_THE_MARGIN: Final = re.compile(r"""^[^\s#][^\n]*:[ \t]+[\[{"']""", re.MULTILINE)
_GLUED: Final = re.compile(r"""["'\]}]#""")
_MOST_IN_ONE_ANOTHER: Final = 8  # nested brackets removed here; deeper ones need the parser


def starts_too_far_left(text: str) -> bool:
    """Return whether a value in quotes or brackets continues left of its block; False if not YAML."""
    if not (
        _AT_THE_MARGIN.search(text)
        or (_NESTED.search(text) and _may_stay_open(text, _OPEN))
        or (_OPEN_AT_THE_MARGIN.search(text) and _may_stay_open(text, _OPEN_AT_THE_MARGIN))
    ):
        return False
    try:
        node = compose_yaml(text, len(text), with_tags=len(text) <= FULL_YAML_LIMIT)
    except YamlProblem:
        return False
    lines = text.split("\n")
    return any(
        _too_far_left(lines[number], column, value, ends=number == value.end_mark.line)
        for value, column in _values_in_blocks(node)
        for number in range(value.start_mark.line + 1, value.end_mark.line + 1)
    )


def has_glued_comment(text: str) -> bool:
    """Return whether a `#` directly follows a value in brackets or quotes; False if not YAML."""
    if not _GLUED.search(text):
        return False
    try:
        node = compose_yaml(text, len(text), with_tags=len(text) <= FULL_YAML_LIMIT)
    except YamlProblem:
        return False
    return any(text[value.end_mark.index :].startswith("#") for value, _ in _values_in_blocks(node))


def _may_stay_open(text: str, sign: re.Pattern[str]) -> bool:
    """Return whether a line that matches `sign` may open a bracket or quote without closing it."""
    bare = _QUOTED.sub("", text)
    for _ in range(_MOST_IN_ONE_ANOTHER):
        bare, found = _IN_BRACKETS.subn("", bare)
        if not found:
            break
    return sign.search(bare) is not None


def _values_in_blocks(root: yaml.Node | None) -> Iterator[tuple[yaml.Node, int]]:
    """Yield each value in brackets or quotes inside a block, with the column of its key or dash."""
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
    stripped = line.lstrip(" ")
    if not stripped.strip() or len(line) - len(stripped) > column:
        return False
    if isinstance(value, yaml.ScalarNode):
        return True
    last_bracket = ends and stripped[0] in "]}" and len(line) - len(stripped) == column
    return not (last_bracket or stripped.startswith("#"))
