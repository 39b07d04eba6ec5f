"""What can stand at the cursor in the JSON of a context, and how it gets there. Pure.

The text is being written and seldom valid: whatever is not understood is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from hookscope.console.fire.fields import laid_out, on_one_line
from hookscope.console.fire.offers import Offer, offers_at
from hookscope.values import dataclass

Slot = Literal["name", "value", "after"]  # `after`: behind a member, where a comma is missing yet

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class Level:
    """An object or a list that is open at some character."""

    is_object: bool
    opened: int
    name: str = ""  # the member whose value is next
    slot: Slot | Literal["colon"] = "name"
    items: int = 0


@dataclass(frozen=True, slots=True)
class Spot:
    """The place at the cursor: of an object's member."""

    path: tuple[str | int, ...]  # of the object
    slot: Slot
    name: str  # the member whose value is meant
    names: frozenset[str]  # all that the object has, but for what is being written
    opened: int  # where the object begins
    start: int  # of what is replaced
    end: int
    typed: str  # so far, without quotes


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be put at the spot."""

    shown: str
    help: str
    source: str  # JSON


@dataclass(frozen=True, slots=True)
class Completed:
    """What replaces `start` to `end` of the text, and which part of it is to be selected then."""

    start: int
    end: int
    text: str
    select: tuple[int, int]  # from the beginning of `text`


def spot_at(text: str, at: int) -> Spot | None:
    """What stands at this character; None outside every object."""
    levels: list[Level] = []
    here: re.Match[str] | None = None
    for token in TOKEN.finditer(text):
        if token.start() >= at:
            break
        if token.end() > at or (token.end() == at and _unfinished(token[0], levels)):
            here = token
            break
        _take(levels, token[0], token.start())
    if not levels or not levels[-1].is_object:
        return None
    top = levels[-1]
    if top.slot == "colon":
        return None
    path = tuple(level.name if level.is_object else level.items for level in levels[:-1])
    start, end, typed = (here.start(), here.end(), here[0]) if here else (at, at, "")
    names = frozenset(_names_of(text, top, here))
    return Spot(path, top.slot, top.name, names, top.opened, start, end, typed.strip('"'))


def _unfinished(sign: str, levels: list[Level]) -> bool:
    """Is the cursor right behind this to write on? Behind a whole text that is a value it is not."""
    if sign in "{}[],:" or not levels:
        return False
    whole = len(sign) > 1 and sign[0] == sign[-1] == '"'
    return not whole or levels[-1].slot == "name"


def _take(levels: list[Level], sign: str, at: int) -> None:
    if sign in "{[":
        levels.append(Level(sign == "{", at))
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


def _names_of(text: str, top: Level, here: re.Match[str] | None) -> list[str]:
    """The names of all members of an open object, but for the one that is being written."""
    skip = here.start() if here else -1
    levels = [Level(True, top.opened)]
    found: list[str] = []
    for token in TOKEN.finditer(text, top.opened + 1):
        if len(levels) == 1 and token.start() != skip and levels[0].slot == "name" and token[0][0] == '"':
            found.append(_unquoted(token[0]))
        _take(levels, token[0], token.start())
        if not levels:
            break
    return found


def _unquoted(sign: str) -> str:
    try:
        return str(json.loads(sign))
    except ValueError:
        return sign.strip('"')


def choices_at(spot: Spot, known: Sequence[Offer]) -> tuple[Choice, ...]:
    """What the catalogue knows for this spot: names of absent members, or values of this one."""
    offered = offers_at(known, spot.path)
    if spot.slot == "value":
        return values_of(next((offer for offer in offered if offer.name == spot.name), None))
    return tuple(
        Choice(offer.name, offer.told or offer.help, offer.example)
        for offer in offered
        if offer.name not in spot.names
    )


def values_of(offer: Offer | None) -> tuple[Choice, ...]:
    """All that a field can be, as far as is known; else its example."""
    if offer is None:
        return ()
    if offer.values:
        return tuple(Choice(value, offer.help, value) for value in offer.values)
    return (Choice(on_one_line(offer.example), f"an example of {offer.name}", offer.example),)


def completed(text: str, spot: Spot, choice: Choice) -> Completed:
    """The text with the choice in its place: commas, line and indent as its neighbours have them."""
    indent = _indent(text, spot.start)
    if spot.slot == "value":
        return _put(spot.start, spot.end, "", laid_out(choice.source, indent), "")
    name = json.dumps(choice.shown, ensure_ascii=False)
    rest = text[spot.end :].lstrip()
    if rest.startswith(":"):  # it has a value already
        return Completed(spot.start, spot.end, name, (len(name), len(name)))
    begin = len(text[: spot.start].rstrip())  # behind what stands before it
    over_lines = "\n" in text[spot.opened : spot.start]
    comma = "," if spot.slot == "after" else ""
    after = "," if rest[:1] not in ("}", ",", "") else ""
    end = spot.end
    if begin == spot.opened + 1 and not over_lines and rest[:1] in ("}", ""):  # the first one
        indent += "  "
        gap, after = f"\n{indent}", f"\n{indent[:-2]}"
        end = len(text) - len(rest)
    elif over_lines:
        gap = f"\n{indent or _indent(text, spot.opened) + '  '}"
    else:
        gap = "" if begin == spot.opened + 1 else " "
        after = after and f"{after} "
    return _put(begin, end, f"{comma}{gap}{name}: ", laid_out(choice.source, indent), after)


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _put(start: int, end: int, before: str, value: str, after: str) -> Completed:
    first, last = len(before), len(before) + len(value)
    inside = (first + 1, last - 1) if value.startswith('"') else (first, last)
    return Completed(start, end, before + value + after, inside)
