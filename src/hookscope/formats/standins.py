"""Characters that YAML 1.2 allows, carried past PyYAML, which refuses them or takes them for ends of lines.

Each is replaced by one character of a private block that the text does not use, so that no offset moves, and
put back in the scalars afterwards. So is the backslash of half a surrogate pair, as JSON writes emoji.
"""

from __future__ import annotations

import re

import yaml

from hookscope.values import dataclass

from .places import BOM

_FOREIGN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LONE_RETURN = re.compile(r"\r(?!\n)")
# The backslash of "\ud83d", half of a pair as JSON writes it. One behind an odd number of others is text.
_HALF = re.compile(r"(?<!\\)((?:\\\\)*)\\(?=u[dD][89a-fA-F][0-9a-fA-F]{2})")
_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_LONG = re.compile(r"\\U([0-9a-fA-F]{8})")
_WIDE = {"\u2028": 0xA1, "\u2029": 0xA2, BOM: 0xA3, "\ufffe": 0xA4, "\uffff": 0xA5}  # 0 to 0x9F: the rest
_BLOCKS = range(0xF00, 0x1100)  # of 256 characters each: planes 15 and 16, which belong to nobody


@dataclass(frozen=True, slots=True)
class Standins:
    """A private block, by the code of its first character."""

    base: int

    def put(self, text: str) -> str:
        """The text for PyYAML, as long as it was."""
        text = _FOREIGN.sub(lambda match: self._of(match[0]), text)
        text = _LONE_RETURN.sub(self._of("\r"), text)
        return _HALF.sub(lambda match: match[1] + self._of("\\"), text)

    def take_back(self, root: yaml.Node) -> None:
        """Put the characters back in every scalar. Halves that stand in double quotes become characters."""
        originals: dict[int, str] = {self.base + code: chr(code) for code in range(0xA0)}
        originals |= {self.base + code: character for character, code in _WIDE.items()}
        half = re.compile(self._of("\\") + "u([0-9a-fA-F]{4})")
        nodes, done = [root], set[int]()
        while nodes:
            node = nodes.pop()
            if id(node) in done:  # several aliases may name it
                continue
            done.add(id(node))
            if isinstance(node, yaml.ScalarNode):
                if node.style == '"' and half.search(node.value):
                    node.value = _join(half.sub(lambda match: chr(int(match[1], 16)), node.value))
                node.value = node.value.translate(originals)
            elif isinstance(node, yaml.MappingNode):
                nodes += [part for member in node.value for part in member]
            else:
                nodes += node.value

    def _of(self, character: str) -> str:
        return chr(self.base + _WIDE.get(character, ord(character)))


def standins_for(text: str) -> Standins | None:
    """The stand-ins that a text needs, or None for most texts, which need none.

    Raises:
        LookupError: the text uses each of the 512 private blocks.
    """
    needs_some = (
        _FOREIGN.search(text)
        or ("\r" in text and _LONE_RETURN.search(text))  # `in` first: a search is slow where it finds nothing
        or ("\\u" in text and _HALF.search(text))
    )
    if not needs_some:
        return None
    used = {ord(character) >> 8 for character in text} | _escaped_blocks(text)
    for block in _BLOCKS:
        if block not in used:
            return Standins(block << 8)
    raise LookupError("too many kinds of private characters")


def _escaped_blocks(text: str) -> set[int]:
    """The blocks of characters that a text writes as escapes: they are there once it is read."""
    long = {int(code, 16) >> 8 for code in _LONG.findall(text)}
    return long | {
        ord(_join(chr(int(high, 16)) + chr(int(low, 16)))) >> 8 for high, low in _PAIR.findall(text)
    }


def _join(text: str) -> str:
    """Surrogate pairs as characters, and each half that has lost its other half as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
