"""The fields of a JSON context: their form, their catalogue entries, and their completion. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from hookscope.app.event_templates import BadContext, parse_context
from hookscope.console.panes.fire import event_draft
from hookscope.model.event_catalogue import EventField
from hookscope.model.event_schema import field_summary, type_words
from hookscope.values import dataclass

ValueKind = Literal["text", "number", "true/false", "null", "list", "object", "value"]

LONGEST_VALUE = 10_000  # characters of a value in a form row
JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
QUOTE_OR_ESCAPE = re.compile(r'(\\.)|"', re.DOTALL)
KIND_BY_SIGN: dict[str, ValueKind] = {
    '"': "text",
    "{": "object",
    "[": "list",
    "t": "true/false",
    "f": "true/false",
    "n": "null",
}


@dataclass(frozen=True, slots=True)
class FormField:
    """A member of the object, and its place in the text."""

    name: str
    start: int  # offset of its key
    at: int  # offset of its value
    end: int
    kind: ValueKind  # `value`: no value yet
    shown: str  # its value on one line; for a text, the content of the quotes
    problem: str = ""  # why the typed text is not a value

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    @property
    def too_long(self) -> bool:
        return self.end - self.at > LONGEST_VALUE


@dataclass(frozen=True, slots=True)
class JsonForm:
    """The text and its fields, in order. A key that occurs twice is two fields.

    While a typed value makes the text invalid, the fields are the previous ones, with their offsets
    adjusted.
    """

    text: str
    fields: tuple[FormField, ...] = ()

    def find(self, name: str) -> int | None:
        """Return the index of the last field with this name, whose value counts."""
        return next((i for i in reversed(range(len(self.fields))) if self.fields[i].name == name), None)

    def write(self, index: int, typed: str) -> JsonForm:
        """Return the form with this value: the content of the quotes for a text, JSON for others."""
        field = self.fields[index]
        if typed == field.shown or field.too_long:
            return self
        if field.is_text:
            return self._put(index, quote_text(typed), is_text=True)
        source = event_draft.escape_controls(typed).strip()
        if "\n" in self.text[field.at : field.end] and not value_problem(source):
            source = indented_json(source, _indent_before(self.text, field.start))
        return self._put(index, source, is_text=False)

    def put(self, index: int, source: str) -> JsonForm:
        """Return the form with this JSON as a field's value."""
        return self._put(index, source, is_text=source.startswith('"'))

    def turn(self, index: int) -> JsonForm:
        """Return the form with a field's value turned into a text, or a text turned into its JSON value."""
        field = self.fields[index]
        if not field.is_text:
            return self._put(index, quote_text(_inside_quotes(field.shown)), is_text=True)
        text = self.text[field.at : field.end]
        inside = event_draft.escape_controls(str(json.loads(text)).strip()) if not field.problem else text
        if inside.startswith('"') or (inside and value_problem(inside)):
            return self
        return self._put(index, inside or "null", is_text=False)

    def remove(self, index: int) -> JsonForm:
        """Return the form without that field."""
        fields, text = self.fields, self.text
        if len(fields) == 1:
            start, end = text.index("{") + 1, text.rindex("}")
        elif index == 0:
            start, end = fields[0].start, fields[1].start
        else:
            start, end = fields[index - 1].end, fields[index].end
        return self._spliced(start, end, "", (*fields[:index], *fields[index + 1 :]))

    def add(self, name: str, source: str) -> JsonForm:
        """Return the form with another field at the end."""
        key = f"{quote_text(_inside_quotes(name))}: "
        if self.fields:
            before, gap = self.text[: self.fields[-1].end] + ",", self._gap()
            after = self.text[self.fields[-1].end :]
        else:
            before, gap, after = "{", "\n  ", "\n}"
        start = len(before) + len(gap)
        at = start + len(key)
        new = _form_field(name, start, at, at + len(source), source, source.startswith('"'))
        return _reread_form(f"{before}{gap}{key}{source}{after}", (*self.fields, new))

    def _gap(self) -> str:
        """Return the text between a comma and the next member."""
        if len(self.fields) > 1:
            before, after = self.fields[-2:]
            return self.text[self.text.index(",", before.end) + 1 : after.start]
        opening = self.text[self.text.index("{") + 1 : self.fields[0].start]
        return opening if "\n" in opening else " "

    def _put(self, index: int, source: str, *, is_text: bool) -> JsonForm:
        field = self.fields[index]
        new = _form_field(field.name, field.start, field.at, field.at + len(source), source, is_text)
        return self._spliced(
            field.at, field.end, source, (*self.fields[:index], new, *self.fields[index + 1 :])
        )

    def _spliced(self, start: int, end: int, new: str, fields: tuple[FormField, ...]) -> JsonForm:
        by = len(new) - (end - start)
        moved = (
            replace(field, start=field.start + by, at=field.at + by, end=field.end + by)
            if field.start >= end
            else field
            for field in fields
        )
        return _reread_form(self.text[:start] + new + self.text[end:], tuple(moved))


def read_json_form(text: str) -> JsonForm:
    """Return the form of a JSON object; an empty text counts as `{}`. Raises BadContext."""
    parse_context(text)
    return JsonForm(text, tuple(_form_fields(text)) if text.strip() else ())


def _reread_form(text: str, fields: tuple[FormField, ...]) -> JsonForm:
    try:
        return read_json_form(text)
    except BadContext:
        return JsonForm(text, fields)


def _form_fields(text: str) -> Iterator[FormField]:
    """Yield the members of a valid object."""
    for name, start, at, end in event_draft.members_at(text, text.index("{")):
        yield _form_field(str(name), start, at, end, text[at:end], text[at] == '"')


def _form_field(name: str, start: int, at: int, end: int, source: str, is_text: bool) -> FormField:
    if len(source) > LONGEST_VALUE:
        return FormField(name, start, at, end, _kind_of(source), f"{len(source):,} characters")
    problem = value_problem(source, is_text=is_text)
    if is_text:
        return FormField(name, start, at, end, "text", source[1:-1].replace('\\"', '"'), problem)
    if problem:
        return FormField(name, start, at, end, "value", source, problem)
    return FormField(name, start, at, end, _kind_of(source), one_line_json(source))


def _kind_of(source: str) -> ValueKind:
    return KIND_BY_SIGN.get(source[:1], "number")


def value_problem(source: str, *, is_text: bool = False) -> str:
    """Return why `source` is not exactly one JSON value; empty if it is."""
    try:
        _, end = event_draft.JSON_SCANNER.raw_decode(source)
    except (ValueError, RecursionError):
        if is_text:
            return "a backslash begins an escape: \\\\ is one backslash, \\n a line end"
        return "not a JSON value" if source else "a value is required"
    return "" if end == len(source) else "only one JSON value is allowed"


def quote_text(typed: str) -> str:
    """Return the JSON string whose quotes contain `typed`; inner quotes need no backslash."""
    inside = event_draft.escape_controls(QUOTE_OR_ESCAPE.sub(lambda found: found[1] or '\\"', typed))
    return '"' + inside.replace("\n", "\\n").replace("\t", "\\t") + '"'


def shown_text(text: str) -> str:
    """Return a text as its form row shows it: line ends, tabs and backslashes escaped."""
    return quote_text(_inside_quotes(text))[1:-1].replace('\\"', '"')


def _inside_quotes(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def one_line_json(source: str) -> str:
    """Return a JSON value on one line; its tokens stay as written."""
    spaced = {",": ", ", ":": ": "}
    return "".join(spaced.get(token, token) for token in JSON_TOKEN.findall(source))


def indented_json(source: str, indent: str) -> str:
    """Return a JSON value on several lines; its tokens stay as written.

    `indent` is the indentation of its first line.
    """
    tokens = JSON_TOKEN.findall(source)
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


def _indent_before(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


EMPTY_VALUES = {
    "number": "0",
    "integer": "0",
    "boolean": "false",
    "array": "[]",
    "object": "{}",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class KnownField:
    """A field that the event can have."""

    name: str
    help: str
    full_help: str = ""  # help with values and types
    example: str = '""'  # JSON, possibly of several lines
    values: tuple[str, ...] = ()  # possible values as JSON; empty: any
    members: tuple[KnownField, ...] = ()  # members of the object, or of each item of the list

    @property
    def is_text(self) -> bool:
        return self.example.startswith('"')


def known_fields(fields: Mapping[str, EventField], required: Sequence[str] = ()) -> tuple[KnownField, ...]:
    """Return the catalogue's fields, the required ones first."""
    return tuple(
        KnownField(
            name,
            field.text,
            f"{field_summary(field)} · {type_words(field)}{', required' if name in required else ''}",
            _example_json(field),
            _known_values(field),
            known_fields(field.members),
        )
        for name, field in sorted(fields.items(), key=lambda item: item[0] not in required)
    )


def _known_values(field: EventField) -> tuple[str, ...]:
    if field.values or "boolean" not in field.types:
        return tuple(event_draft.readable_json(value) for value in field.values)
    return ("true", "false")


def known_fields_at(known: Sequence[KnownField], path: Sequence[str | int]) -> tuple[KnownField, ...]:
    """Return the fields of the object at this path; a step into a list matches any of its items."""
    for step in path:
        if isinstance(step, str):
            known = next((offer.members for offer in known if offer.name == step), ())
    return tuple(known)


def _example_json(field: EventField) -> str:
    if field.examples:
        return event_draft.readable_json(field.examples[0])
    return EMPTY_VALUES.get(field.types[0], '""') if field.types else '""'


def known_field_help(known: Sequence[KnownField], name: str | None, text: str) -> str:
    """Return one line about this field, else about the fields that `text` lacks."""
    field = next((offer for offer in known if offer.name == name), None)
    if field is not None:
        return f"{name}: {field.full_help or field.help}"
    absent = [
        offer.name for offer in known if f'"{offer.name}"' not in text and offer.name != event_draft.CFG
    ]
    return f"other fields:  {', '.join(absent)}" if absent else ""


CursorSlot = Literal["name", "value", "after"]  # `after`: after a member, before a missing comma

PARTIAL_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class JsonLevel:
    """An object or list that is open at some character."""

    is_object: bool
    opened: int
    name: str = ""  # the member whose value is next
    slot: CursorSlot | Literal["colon"] = "name"
    items: int = 0


@dataclass(frozen=True, slots=True)
class CompletionPlace:
    """What can be completed at the cursor: a name or value of an object."""

    path: tuple[str | int, ...]  # path of the object
    slot: CursorSlot
    name: str  # the member whose value is completed
    names: frozenset[str]  # the object's other names, without the name being typed
    opened: int  # offset of the object
    start: int  # range to replace
    end: int
    typed: str  # typed so far, without quotes


@dataclass(frozen=True, slots=True)
class Completion:
    """A value or name that can be inserted."""

    shown: str
    help: str
    source: str  # JSON


@dataclass(frozen=True, slots=True)
class CompletedText:
    """What replaces `start` to `end` of the text, and which part of it to select."""

    start: int
    end: int
    text: str
    select: tuple[int, int]  # from the beginning of `text`


def completion_place_at(text: str, at: int) -> CompletionPlace | None:
    """Return what can be completed at offset `at`; None outside objects, or before a colon."""
    levels: list[JsonLevel] = []
    current: re.Match[str] | None = None
    for token in PARTIAL_TOKEN.finditer(text):
        if token.start() >= at:
            break
        if token.end() > at or (token.end() == at and _unfinished(token[0], levels)):
            current = token
            break
        _read_token(levels, token[0], token.start())
    if not levels or not levels[-1].is_object:
        return None
    top = levels[-1]
    if top.slot == "colon":
        return None
    path = tuple(level.name if level.is_object else level.items for level in levels[:-1])
    start, end, typed = (current.start(), current.end(), current[0]) if current else (at, at, "")
    names = frozenset(_other_names(text, top, current))
    return CompletionPlace(path, top.slot, top.name, names, top.opened, start, end, typed.strip('"'))


def _unfinished(sign: str, levels: list[JsonLevel]) -> bool:
    """Return True if text typed after this token extends it. A finished text value is not extended."""
    if sign in "{}[],:" or not levels:
        return False
    is_complete = len(sign) > 1 and sign[0] == sign[-1] == '"'
    return not is_complete or levels[-1].slot == "name"


def _read_token(levels: list[JsonLevel], sign: str, at: int) -> None:
    if sign in "{[":
        levels.append(JsonLevel(sign == "{", at))
        return
    if not levels:
        return
    top = levels[-1]
    if sign in "}]":
        levels.pop()
        if levels:
            levels[-1].slot = "after"
    elif sign == ",":
        top.slot, top.items = "name", top.items + 1
    elif sign == ":":
        top.slot = "value"
    elif top.slot == "name" and top.is_object:
        top.name, top.slot = _unquoted(sign), "colon"
    else:
        top.slot = "after"


def _other_names(text: str, top: JsonLevel, current: re.Match[str] | None) -> list[str]:
    """Return the names of all members of an open object, without the one being typed."""
    skip = current.start() if current else -1
    levels = [JsonLevel(True, top.opened)]
    names: list[str] = []
    for token in PARTIAL_TOKEN.finditer(text, top.opened + 1):
        if token.start() == skip:
            continue  # a name may follow it without a colon or a comma
        if len(levels) == 1 and levels[0].slot == "name" and token[0][0] == '"':
            names.append(_unquoted(token[0]))
        _read_token(levels, token[0], token.start())
        if not levels:
            break
    return names


def _unquoted(sign: str) -> str:
    try:
        return str(json.loads(sign))
    except ValueError:
        return sign.strip('"')


def completions_at(spot: CompletionPlace, known: Sequence[KnownField]) -> tuple[Completion, ...]:
    """Return completions from the catalogue: names of absent members, or values of this member."""
    offered = known_fields_at(known, spot.path)
    if spot.slot == "value":
        return value_completions(next((offer for offer in offered if offer.name == spot.name), None))
    return tuple(
        Completion(offer.name, offer.full_help or offer.help, offer.example)
        for offer in offered
        if offer.name not in spot.names
    )


def value_completions(offer: KnownField | None) -> tuple[Completion, ...]:
    """Return all known values of a field; else its example."""
    if offer is None:
        return ()
    if offer.values:
        return tuple(Completion(value, offer.help, value) for value in offer.values)
    return (Completion(one_line_json(offer.example), f"an example of {offer.name}", offer.example),)


def complete_text(text: str, spot: CompletionPlace, choice: Completion) -> CompletedText:
    """Return the edit that inserts a choice, with commas, lines and indentation as around it."""
    indent = _line_indent(text, spot.start)
    if spot.slot == "value":
        return _replacement(spot.start, spot.end, "", indented_json(choice.source, indent), "")
    name = json.dumps(choice.shown, ensure_ascii=False)
    following = text[spot.end :].lstrip()
    if following.startswith(":"):  # the name already has a value
        return CompletedText(spot.start, spot.end, name, (len(name), len(name)))
    begin = len(text[: spot.start].rstrip())  # after the preceding text
    over_lines = "\n" in text[spot.opened : spot.start]
    comma = "," if spot.slot == "after" else ""
    after = "," if following[:1] not in ("}", ",", "") else ""
    end = spot.end
    if begin == spot.opened + 1 and not over_lines and following[:1] in ("}", ""):  # the first member
        indent += "  "
        gap, after = f"\n{indent}", f"\n{indent[:-2]}"
        end = len(text) - len(following)
    elif over_lines:
        indent = indent or f"{_line_indent(text, spot.opened)}  "
        gap = f"\n{indent}"
    else:
        gap = "" if begin == spot.opened + 1 else " "
        after = after and f"{after} "
    return _replacement(begin, end, f"{comma}{gap}{name}: ", indented_json(choice.source, indent), after)


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _replacement(start: int, end: int, before: str, value: str, after: str) -> CompletedText:
    first, last = len(before), len(before) + len(value)
    inside = (first + 1, last - 1) if value.startswith('"') else (first, last)
    return CompletedText(start, end, before + value + after, inside)
