"""A JSON object as the rows of a form. Every edit is a splice of the text, so the rest of it stays as it was
written: order, spaces, long numbers, escapes. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from hookscope.console.fire.draft import escaped
from hookscope.console.fire.json_places import SCANNER, members
from hookscope.values import dataclass
from hookscope.workbench.compose import BadContext, parse_context

Kind = Literal["text", "number", "true/false", "null", "list", "object", "value"]

LONGEST = 10_000  # characters of a value that a row of a form takes
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
QUOTE = re.compile(r'(\\.)|"', re.DOTALL)
KINDS: dict[str, Kind] = {
    '"': "text",
    "{": "object",
    "[": "list",
    "t": "true/false",
    "f": "true/false",
    "n": "null",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One member of the object, and where it stands in the text."""

    name: str
    start: int  # of its key
    at: int  # of its value
    end: int
    kind: Kind  # `value`: no value yet
    shown: str  # its value on one line; of a text, what stands between the quotes
    problem: str = ""  # why what was typed is no value

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    @property
    def too_long(self) -> bool:
        return self.end - self.at > LONGEST


@dataclass(frozen=True, slots=True)
class Form:
    """The text and its fields, in their order. A key that stands there twice is two fields.

    While what was typed into a field makes the text invalid, the fields are those of before, moved along.
    """

    text: str
    fields: tuple[Field, ...] = ()

    def find(self, name: str) -> int | None:
        """The index of the field of this name: the last one, whose value counts."""
        return next((i for i in reversed(range(len(self.fields))) if self.fields[i].name == name), None)

    def write(self, index: int, typed: str) -> Form:
        """With this value of that field: of a text, what stands between the quotes; else JSON."""
        field = self.fields[index]
        if typed == field.shown or field.too_long:
            return self
        if field.is_text:
            return self._put(index, quoted(typed), is_text=True)
        source = escaped(typed).strip()
        if "\n" in self.text[field.at : field.end] and not problem_of(source):
            source = laid_out(source, _indent(self.text, field.start))
        return self._put(index, source, is_text=False)

    def put(self, index: int, source: str) -> Form:
        """With this JSON as the value of that field."""
        return self._put(index, source, is_text=source.startswith('"'))

    def turn(self, index: int) -> Form:
        """With that field as a text where it was none; else as the JSON that its text is, if it is any."""
        field = self.fields[index]
        if not field.is_text:
            return self._put(index, quoted(_literal(field.shown)), is_text=True)
        text = self.text[field.at : field.end]
        inside = escaped(str(json.loads(text)).strip()) if not field.problem else text
        if inside.startswith('"') or (inside and problem_of(inside)):
            return self
        return self._put(index, inside or "null", is_text=False)

    def remove(self, index: int) -> Form:
        """Without that field."""
        fields, text = self.fields, self.text
        if len(fields) == 1:
            start, end = text.index("{") + 1, text.rindex("}")
        elif index == 0:
            start, end = fields[0].start, fields[1].start
        else:
            start, end = fields[index - 1].end, fields[index].end
        return self._spliced(start, end, "", (*fields[:index], *fields[index + 1 :]))

    def add(self, name: str, source: str) -> Form:
        """With one field more, at the end."""
        key = f"{quoted(_literal(name))}: "
        if self.fields:
            before, gap = self.text[: self.fields[-1].end] + ",", self._gap()
            after = self.text[self.fields[-1].end :]
        else:
            before, gap, after = "{", "\n  ", "\n}"
        start = len(before) + len(gap)
        at = start + len(key)
        new = _field(name, start, at, at + len(source), source, source.startswith('"'))
        return _read_or_kept(f"{before}{gap}{key}{source}{after}", (*self.fields, new))

    def _gap(self) -> str:
        """What stands between a comma and the member after it."""
        if len(self.fields) > 1:
            before, after = self.fields[-2:]
            return self.text[self.text.index(",", before.end) + 1 : after.start]
        opening = self.text[self.text.index("{") + 1 : self.fields[0].start]
        return opening if "\n" in opening else " "

    def _put(self, index: int, source: str, *, is_text: bool) -> Form:
        field = self.fields[index]
        new = _field(field.name, field.start, field.at, field.at + len(source), source, is_text)
        return self._spliced(
            field.at, field.end, source, (*self.fields[:index], new, *self.fields[index + 1 :])
        )

    def _spliced(self, start: int, end: int, new: str, fields: tuple[Field, ...]) -> Form:
        by = len(new) - (end - start)
        moved = (
            replace(field, start=field.start + by, at=field.at + by, end=field.end + by)
            if field.start >= end
            else field
            for field in fields
        )
        return _read_or_kept(self.text[:start] + new + self.text[end:], tuple(moved))


def read_form(text: str) -> Form:
    """The fields of a JSON object; empty text is an empty one. Raises BadContext."""
    parse_context(text)
    return Form(text, tuple(_fields(text)) if text.strip() else ())


def _read_or_kept(text: str, fields: tuple[Field, ...]) -> Form:
    try:
        return read_form(text)
    except BadContext:
        return Form(text, fields)


def _fields(text: str) -> Iterator[Field]:
    """The members of a valid object."""
    for name, start, at, end in members(text, text.index("{")):
        yield _field(str(name), start, at, end, text[at:end], text[at] == '"')


def _field(name: str, start: int, at: int, end: int, source: str, is_text: bool) -> Field:
    if len(source) > LONGEST:
        return Field(name, start, at, end, _kind(source), f"{len(source):,} characters")
    problem = problem_of(source, is_text=is_text)
    if is_text:
        return Field(name, start, at, end, "text", source[1:-1].replace('\\"', '"'), problem)
    if problem:
        return Field(name, start, at, end, "value", source, problem)
    return Field(name, start, at, end, _kind(source), on_one_line(source))


def _kind(source: str) -> Kind:
    return KINDS.get(source[:1], "number")


def problem_of(source: str, *, is_text: bool = False) -> str:
    """Why this is not the JSON of one value; empty where it is."""
    try:
        _, end = SCANNER.raw_decode(source)
    except (ValueError, RecursionError):
        if is_text:
            return "a backslash begins an escape: \\\\ is one backslash, \\n a line end"
        return "no JSON value" if source else "a value is wanted"
    return "" if end == len(source) else "one JSON value is wanted"


def quoted(typed: str) -> str:
    """The JSON of a text from what stands between its quotes; quotes in it need no backslash."""
    inside = escaped(QUOTE.sub(lambda found: found[1] or '\\"', typed))
    return '"' + inside.replace("\n", "\\n").replace("\t", "\\t") + '"'


def as_shown(text: str) -> str:
    """A text as its row of a form shows it: line ends, tabs and backslashes as their escapes."""
    return quoted(_literal(text))[1:-1].replace('\\"', '"')


def _literal(text: str) -> str:
    """Any text as it may stand between quotes."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def on_one_line(source: str) -> str:
    """A JSON value with the spaces of one line, its tokens as they were."""
    spaced = {",": ", ", ":": ": "}
    return "".join(spaced.get(token, token) for token in TOKEN.findall(source))


def laid_out(source: str, indent: str) -> str:
    """A JSON value over several lines, its tokens as they were; `indent` is that of its first line."""
    tokens = TOKEN.findall(source)
    parts, depth = [], 0
    for index, token in enumerate(tokens):
        after = tokens[index + 1 : index + 2]
        line_end = "\n" + indent
        if token in "{[" and after not in (["}"], ["]"]):
            depth += 1
            parts.append(token + line_end + "  " * depth)
        elif token in "}]" and tokens[index - 1] not in "{[":
            depth -= 1
            parts.append(line_end + "  " * depth + token)
        elif token == ",":
            parts.append(token + line_end + "  " * depth)
        else:
            parts.append(": " if token == ":" else token)
    return "".join(parts)


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]
