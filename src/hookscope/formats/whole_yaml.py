"""YAML 1.2 with what no settings need: tags, anchors and aliases, as a host reads a header that has them.

The slower of two readers, for the few texts that `yaml12` refuses. It also takes `{events:[a]}`, whose colon
stands at the bracket.
"""

from __future__ import annotations

from typing import Final

import yaml

from .places import FormatError, span_at
from .yaml_nodes import Wrong, compose_yaml
from .yaml_scalars import plain_value

MOST_CHARACTERS: Final = 8 * 1024  # characters; PyYAML in Python takes some tenths of a second for them
_MOST: Final = 10_000  # values; aliases of aliases would make any number
_YAML: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
}


def read_whole_yaml(text: str) -> object:
    """As `read_yaml`. Tags of numbers and words are heeded, any other makes text of what is written; what
    stands under a list or mapping as its key is left out.

    Raises:
        FormatError: not one YAML document, a key twice, an alias of nothing or within what it names, more
            than 64 collections in one another, over 10,000 values or 8,192 characters.
    """
    try:
        node = compose_yaml(text, MOST_CHARACTERS, whole=True)
        return None if node is None else _Values().of(node)
    except Wrong as wrong:
        raise FormatError(wrong.problem, span_at(text, wrong.start, wrong.end)) from None


class _Values:
    """What the nodes of one document mean; a node that several aliases name is made anew for each.

    Not the walk of `yaml12`: its nodes are a tree and bounded by the text, these are a graph, whose aliases
    may lead round or multiply, and whose scalars have tags.
    """

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._made = 0

    def of(self, node: yaml.Node) -> object:
        self._made += 1
        if self._made > _MOST:
            raise _wrong(f"more than {_MOST:,} values in one document", node)
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if id(node) in self._open:
            raise _wrong("an alias stands within what it names", node)
        self._open.add(id(node))
        value = self._items(node) if isinstance(node, yaml.SequenceNode) else self._members(node)
        self._open.discard(id(node))
        return value

    def _items(self, node: yaml.SequenceNode) -> list[object]:
        return [self.of(item) for item in node.value]

    def _members(self, node: yaml.Node) -> dict[str, object]:
        members: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):  # a key that no text can ask for
                self.of(key)
                self.of(value)
                continue
            if key.value in members:
                raise _wrong(f"the key `{key.value}` stands twice", key)
            members[key.value] = self.of(value)
        return members


def _wrong(problem: str, node: yaml.Node) -> Wrong:
    return Wrong(problem, node.start_mark.index, node.start_mark.index)


def _scalar(node: yaml.ScalarNode) -> object:
    """A tag of another kind makes text of what is written, as `!!str` does."""
    if node.tag is None:
        return node.value if node.style else plain_value(node.value)
    value = plain_value(node.value)
    return value if type(value) in _TYPES.get(str(node.tag).removeprefix(_YAML), ()) else node.value
