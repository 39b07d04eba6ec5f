"""Compose the nodes of a YAML document, refuse unsupported YAML, and resolve plain scalars."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any, Final

import yaml

from hookscope.formats.positions import BYTE_ORDER_MARK, MAX_DEPTH
from hookscope.values import dataclass

_FOREIGN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LONE_RETURN = r"\r(?!\n)"
# The backslash of "\ud83d", half of a pair as JSON writes it. One behind an odd number of others is text.
_HALF = r"(?<!\\)((?:\\\\)*)\\(?=u[dD][89a-fA-F][0-9a-fA-F]{2})"
_PAIR = r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
_LONG = r"\\U([0-9a-fA-F]{8})"
# 0 to 0x9F: the rest
_WIDE = {"\u2028": 0xA1, "\u2029": 0xA2, BYTE_ORDER_MARK: 0xA3, "\ufffe": 0xA4, "\uffff": 0xA5}
_BLOCKS = range(0xF00, 0x1100)  # of 256 characters each: the private planes 15 and 16


@dataclass(frozen=True, slots=True)
class StandInCharacters:
    """A block of private characters that replace those that PyYAML refuses."""

    base: int

    def replace_in(self, text: str) -> str:
        """Return the text for PyYAML, of the same length."""
        text = _FOREIGN.sub(lambda match: self._stand_in(match[0]), text)
        text = re.sub(_LONE_RETURN, self._stand_in("\r"), text)
        return re.sub(_HALF, lambda match: match[1] + self._stand_in("\\"), text)

    def restore_in(self, root: yaml.Node) -> None:
        """Restore the original characters in every scalar. Escaped halves in double quotes are decoded."""
        originals: dict[int, str] = {self.base + code: chr(code) for code in range(0xA0)}
        originals |= {self.base + code: character for character, code in _WIDE.items()}
        half = re.compile(self._stand_in("\\") + "u([0-9a-fA-F]{4})")
        nodes, done = [root], set[int]()
        while nodes:
            node = nodes.pop()
            if id(node) in done:  # several aliases may share it
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

    def _stand_in(self, character: str) -> str:
        return chr(self.base + _WIDE.get(character, ord(character)))


def stand_in_characters(text: str) -> StandInCharacters | None:
    """Return the stand-ins that a text needs, or None; most texts need none.

    Raises:
        LookupError: the text uses each of the 512 private blocks.
    """
    needs_some = (
        _FOREIGN.search(text)
        or ("\r" in text and re.search(_LONE_RETURN, text))  # `in` first: a failing search is slow
        or ("\\u" in text and re.search(_HALF, text))
    )
    if not needs_some:
        return None
    used = {ord(character) >> 8 for character in text} | _escaped_blocks(text)
    for block in _BLOCKS:
        if block not in used:
            return StandInCharacters(block << 8)
    raise LookupError("too many kinds of private characters")


def _escaped_blocks(text: str) -> set[int]:
    """Return the blocks of the characters that the text's escapes encode."""
    long = {int(code, 16) >> 8 for code in re.findall(_LONG, text)}
    return long | {
        ord(_join(chr(int(high, 16)) + chr(int(low, 16)))) >> 8 for high, low in re.findall(_PAIR, text)
    }


def _join(text: str) -> str:
    """Return the text with surrogate pairs as characters and lone halves as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class YamlProblem(Exception):
    """A problem, with its offsets in the text that PyYAML read."""

    def __init__(self, problem: str, start: int, end: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.start = start
        self.end = end


class _Untagged:
    """Replaces PyYAML's resolver, which would compute unused tags for every node."""

    def resolve(self, *_: object) -> None:
        return None

    def descend_resolver(self, *_: object) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


class _PureNodes(_Untagged, yaml.BaseLoader):
    def scan_to_next_token(self) -> None:
        """Accept tabs between tokens on one line, as YAML 1.2 and the C reader do."""
        while True:
            super().scan_to_next_token()
            if self.peek() != "\t" or (self.allow_simple_key and not self.flow_level):
                return
            self.forward()

    def scan_plain_spaces(self, indent: int, start_mark: yaml.Mark) -> Any:
        """Accept tabs inside a plain scalar, too."""
        length = 0
        while self.peek(length) in " \t":
            length += 1
        blanks: str = self.prefix(length)
        if "\t" not in blanks:
            return super().scan_plain_spaces(indent, start_mark)
        self.forward(length)
        return [blanks] if self.peek() not in "\r\n" else super().scan_plain_spaces(indent, start_mark)


class _WholeNodes(_PureNodes):
    """Composes nodes. Keeps the tag `!`, which marks a scalar as text; an anchor may be defined twice."""

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


# A tag, anchor or alias where a value may start (`&` or `!` in prose only costs time).
_PROPERTY = r"[&*!](?<![^\s\[{,:?\-].)(?:(?<=!)|\S)"
# So many indicators on a line, or so much indentation, that nesting may be deep.
_MANY_INDICATORS = re.compile(r"[-?:][ \t]+(?:[-?:][ \t]+){31}")
_INDENT = " " * 100
TOO_DEEP = f"lists and mappings nested more than {MAX_DEPTH} deep"
_STEP_OF = {"[": 1, "{": 1, "]": -1, "}": -1}


def compose_yaml(text: str, limit: int, *, with_tags: bool = False) -> yaml.Node | None:
    """Return the document's node, with every scalar as written; None for an empty document.

    `with_tags`: with tags, anchors and aliases, by the reader in Python. Raises YamlProblem.
    """
    if len(text) > limit:
        raise YamlProblem(f"{len(text):,} characters of YAML; the limit is {limit:,}", limit, len(text))
    try:
        standins = stand_in_characters(text)
    except LookupError as error:
        raise YamlProblem(str(error), 0, 0) from None
    document = standins.replace_in(text) if standins else text
    if with_tags and max(accumulate(_STEP_OF.get(sign, 0) for sign in document), default=0) > MAX_DEPTH:
        raise too_deep(0)  # quadratic otherwise
    try:
        if with_tags or _needs_checking(document):
            _refuse_depth(document, properties=with_tags)
        node = yaml.compose(document, Loader=_WholeNodes if with_tags else _NODES)
    except yaml.MarkedYAMLError as error:
        at = min(error.problem_mark.index if error.problem_mark else 0, len(text))
        raise YamlProblem(_sentence(error, text[at : at + 1]), at, at) from None
    if standins and node:
        standins.restore_in(node)
    return node


def compose_trusted(text: str) -> yaml.Node | None:
    """Return the node of a YAML file of this program, without checks."""
    return yaml.compose(text, Loader=_NODES)


def _needs_checking(text: str) -> bool:
    """Return whether the text might have a tag, an anchor, or more depth than C can take.

    A text that passes has at most 64 brackets, 99 columns of indentation and 31 indicators in a
    row. Each adds at most two levels, so the C parser, which crashes at 50,000, stays below 500.
    """
    return (
        _NODES is _PureNodes  # recursion in Python has a far lower limit
        or text.count("[") + text.count("{") > MAX_DEPTH
        or _INDENT in text
        or _MANY_INDICATORS.search(text) is not None
        or (("&" in text or "*" in text or "!" in text) and re.search(_PROPERTY, text) is not None)
    )


def _refuse_depth(text: str, *, properties: bool) -> None:
    """Raise YamlProblem for deep nesting, from the parser's events, which need no recursion.

    `properties`: tags, anchors and aliases are allowed.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_PureNodes if properties else _NODES):
        at = event.start_mark.index if event.start_mark else 0
        if not properties:
            _refuse_properties(event, at)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise too_deep(at)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _refuse_properties(event: yaml.Event, at: int) -> None:
    if isinstance(event, yaml.AliasEvent):
        raise YamlProblem(f"the alias `*{event.anchor}` is not read here: write the value out", at, at)
    if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
        raise YamlProblem(f"the anchor `&{event.anchor}` is not read here: leave it out", at, at)
    if isinstance(event, yaml.CollectionStartEvent | yaml.ScalarEvent) and event.tag is not None:
        raise YamlProblem(f"the tag `{event.tag}` is not read here: leave it out", at, at)


def too_deep(at: int) -> YamlProblem:
    return YamlProblem(TOO_DEEP, at, at)


def _sentence(error: yaml.MarkedYAMLError, found: str) -> str:
    if isinstance(error, yaml.composer.ComposerError):
        return "a second document starts here; a file has one"
    problem = error.problem or "not YAML"
    if "nesting depth" in problem:  # libyaml 0.2.6 refuses depths above 1,000
        return TOO_DEEP
    if "mapping values are not allowed" in problem:  # `description: Note: this greets`
        return f"{problem}: quote the value, its colon starts another one"
    if "cannot start any token" in problem:
        if found == "\t":
            return "a tab is used where YAML needs spaces"
        return f"`{found}` cannot start a value; put the value in quotes"
    return f"{problem}, {error.context}" if error.context else problem


_MOST_DIGITS: Final = 500
"""A longer integer is a float, as in JS: Python refuses to print one of over 4,300 digits."""

_SCALAR_WORDS: Final[dict[str, float | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_NUMBER: Final = re.compile(
    r"(?P<decimal>[-+]?[0-9]+)|0o(?P<octal>[0-7]+)|0x(?P<hex>[0-9a-fA-F]+)"
    r"|(?P<real>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
)
_BASES: Final = {"decimal": 10, "octal": 8, "hex": 16}
_FIRST_CHARACTERS: Final = frozenset("~nNtTfF.+-0123456789")  # of scalars that are not text


def plain_value(text: str) -> str | float | None:
    """Return the value of a plain scalar by the core schema, 10.3.2 of YAML 1.2.2."""
    if text and text[0] not in _FIRST_CHARACTERS:
        return text
    if text in _SCALAR_WORDS:
        return _SCALAR_WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    kind = number.lastgroup or "real"
    return float(text) if kind == "real" else _parse_integer(number[kind], _BASES[kind])


def _parse_integer(digits: str, base: int) -> float:
    if len(digits) <= _MOST_DIGITS:
        return int(digits, base)
    if base == 10:
        return float(digits)
    try:
        return float(int(digits, base))
    except OverflowError:
        return float("inf")
