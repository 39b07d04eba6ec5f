"""Tokens of a TypeScript or JavaScript file, with paired brackets. The file is never run.

A small, tolerant tokenizer: it knows strings, templates, comments, regular expressions and
brackets, and leaves the grammar to its callers. Any text yields tokens, in time linear to its
length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from hookscope.formats.positions import BYTE_ORDER_MARK
from hookscope.formats.script_values import LONGEST_SCRIPT
from hookscope.values import dataclass

TokenKind: TypeAlias = Literal["name", "string", "template", "number", "regex", "open", "close", "mark"]


class Token(NamedTuple):
    """One token. Brackets are `open` and `close`.

    A template without `${…}` is a `string`. One with them is an `open` that ends with `${`, the
    tokens of the expression, a `close`, and then the next such `open` or, at its end, a `template`.
    """

    kind: TokenKind
    text: str
    start: int  # offset in the text
    line: int  # from 1


@dataclass(frozen=True, slots=True)
class TokenizedScript:
    """A file's tokens. `partner` maps each bracket to its partner, if it has one."""

    tokens: tuple[Token, ...]
    partner: Mapping[int, int]

    def is_at(self, index: int, *texts: str) -> bool:
        """Return whether the tokens from `index` on have these texts, and none of them is a string."""
        if not 0 <= index < len(self.tokens) or self.tokens[index].text != texts[0]:  # nearly always
            return False
        found = self.tokens[index : index + len(texts)]
        return tuple(token.text for token in found) == texts and all(
            token.kind != "string" for token in found
        )

    def kind_at(self, index: int) -> TokenKind | None:
        """Return the kind of a token; None after the last one."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else None


def read_script(source: bytes) -> TokenizedScript | None:
    """Return the tokens of a file; None if it is longer than 256 Ki characters. Never raises.

    Bytes that are not UTF-8 become U+FFFD.
    """
    text = source.decode("utf-8", "replace").removeprefix(BYTE_ORDER_MARK)
    if len(text) > LONGEST_SCRIPT:
        return None
    return _Tokenizer(text).read()


_IDENTIFIER = r"(?:[\w$]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\}))"
# Every part is possessive, so that no text is slow to match. Unterminated strings
# and comments are matched too.
_TOKEN = re.compile(
    r"""(?P<blank>[\s\ufeff]++|//[^\n\r\u2028\u2029]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)"""
    rf"""|(?P<number>\.?+\d[\w.]*+)|(?P<name>\#?{_IDENTIFIER}++)"""
    r"""|(?P<string>"(?:[^"\\\n\r]|\\(?:\r\n|[\s\S])|\\)*+"?+|'(?:[^'\\\n\r]|\\(?:\r\n|[\s\S])|\\)*+'?+)"""
    r"""|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<mark>=>|\.\.\.|\?\.|[\s\S])"""
)
_HASHBANG = re.compile(r"#![^\n\r]*+")
_TEMPLATE = re.compile(r"(?:[^`\\$]++|\\[\s\S]|\\|\$(?!\{))*+(?P<end>`|\$\{)?+")
_REGEX = re.compile(r"/(?:[^/\\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*+\])++/[\w$]*+")
_LINE_END = re.compile(r"[\n\r]|\Z")

# After these words an expression begins, so `/` starts a regular expression.
_BEFORE_VALUES = frozenset(
    {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else"}
    | {"instanceof", "yield", "await", "extends", "default"}
)
_HEADS = frozenset({"if", "while", "for", "with"})  # also after their `(…)`
_BEFORE_BLOCKS = frozenset({"else", "do", "try", "finally"})
_CLOSES = {"(": ")", "[": "]", "{": "}"}


class _OpenBracket(NamedTuple):
    token: int
    closes: str
    is_value: bool  # it ends a value, so a following `/` divides
    is_hole: bool  # `${…}` of a template


class _Tokenizer:
    """Reads a text once, from beginning to end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.partner: dict[int, int] = {}
        self.open_brackets: list[_OpenBracket] = []
        self.line = 1
        self.slash_divides = False  # whether `/` divides here
        self.regex_free_until = 0  # no regular expression ends before this offset

    def read(self) -> TokenizedScript:
        hashbang = _HASHBANG.match(self.text)
        at = hashbang.end() if hashbang else 0
        while at < len(self.text):
            end = self._next(at)
            self.line += self.text.count("\n", at, end)
            at = end
        return TokenizedScript(tuple(self.tokens), self.partner)

    def _next(self, at: int) -> int:
        """Read the token or white space at `at`; return the start of the next one."""
        if self.text[at] == "`":
            return self._template(at, at + 1)
        match = _TOKEN.match(self.text, at)
        assert match is not None  # its last part matches any character
        kind, text = match.lastgroup, match[0]
        match kind:
            case "blank":
                return at + len(text)
            case "open":
                return self._open(text, at, _CLOSES[text], is_value=self._opens_a_value(text))
            case "close":
                return self._close(text, at)
            case "name":
                is_member = bool(self.tokens) and self.tokens[-1].text in (".", "?.")
                return self._add("name", text, at, after_value=is_member or text not in _BEFORE_VALUES)
            case "number":
                return self._add("number", text, at)
            case "string":
                return self._add("string", text, at)
        if text == "/" and (regex := self._regex(at)) is not None:
            return self._add("regex", regex, at)
        return self._add("mark", text, at, after_value=False)

    def _add(self, kind: TokenKind, text: str, at: int, *, after_value: bool = True) -> int:
        self.tokens.append(Token(kind, text, at, self.line))
        self.slash_divides = after_value
        return at + len(text)

    def _regex(self, at: int) -> str | None:
        if self.slash_divides or at < self.regex_free_until:
            return None
        match = _REGEX.match(self.text, at)
        if match is not None:
            return match[0]
        end = _LINE_END.search(self.text, at)
        self.regex_free_until = end.start() if end else len(self.text)
        return None

    def _opens_a_value(self, text: str) -> bool:
        """Return whether the bracket opens a value, not a statement's head or a block."""
        last = self.tokens[-1] if self.tokens else None
        if text == "(":
            return last is None or last.text not in _HEADS
        if text == "[":
            return True
        if last is None or last.text in (";", "{", "}", ")", "=>"):
            return False
        return not (last.kind == "name" and last.text in _BEFORE_BLOCKS)

    def _open(self, text: str, at: int, closes: str, *, is_value: bool, is_hole: bool = False) -> int:
        self.open_brackets.append(_OpenBracket(len(self.tokens), closes, is_value, is_hole))
        return self._add("open", text, at, after_value=False)

    def _close(self, text: str, at: int) -> int:
        """Close the innermost bracket; a bracket of another kind closes nothing."""
        if not self.open_brackets or self.open_brackets[-1].closes != text:
            return self._add("close", text, at)
        opened = self.open_brackets.pop()
        index = len(self.tokens)
        self.partner[opened.token], self.partner[index] = index, opened.token
        end = self._add("close", text, at, after_value=opened.is_value)
        return self._template(end, end) if opened.is_hole else end

    def _template(self, start: int, at: int) -> int:
        """Read a template from `at` to its end or next `${`, as a token that starts at `start`."""
        match = _TEMPLATE.match(self.text, at)
        assert match is not None  # it may be empty
        text = self.text[start : match.end()]
        if match["end"] == "${":
            return self._open(text, start, "}", is_value=True, is_hole=True)
        return self._add("string" if start < at else "template", text, start)


_ESCAPE = re.compile(r"\\(?:\r\n|u([0-9a-fA-F]{4})|u\{0*([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|([\s\S]))")
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_CONTINUED = "\n\r\u2028\u2029"


def string_value(token: Token) -> str | None:
    """Return the value of a string token; None for other tokens and unterminated strings."""
    if token.kind != "string" or len(token.text) < 2 or token.text[-1] != token.text[0]:
        return None
    inner = token.text[1:-1]
    if "\\" not in inner:
        return inner
    if (len(inner) - len(inner.rstrip("\\"))) % 2:  # its last quote is escaped
        return None
    try:
        text = _ESCAPE.sub(_unescaped, inner)
    except ValueError:  # beyond Unicode
        return None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # joins surrogate pairs


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        return chr(int(code, 16))
    character = match[4] or "\n"
    return "" if character in _CONTINUED else _SHORT.get(character, character)
