"""What the catalogue says an event may hold, as a form and an editor offer it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookscope.console.fire.draft import CFG, as_json
from hookscope.core.event_types import Field
from hookscope.core.schema import told, typed
from hookscope.values import dataclass

EMPTY = {"number": "0", "integer": "0", "boolean": "false", "array": "[]", "object": "{}", "null": "null"}


@dataclass(frozen=True, slots=True)
class Offer:
    """One field that the event may have."""

    name: str
    help: str
    told: str = ""  # the same with values and types
    example: str = '""'  # JSON, over several lines perhaps
    values: tuple[str, ...] = ()  # all that it can be, as JSON; empty: anything
    members: tuple[Offer, ...] = ()  # of the object, or of each item of the list

    @property
    def is_text(self) -> bool:
        return self.example.startswith('"')


def offers(fields: Mapping[str, Field], required: Sequence[str] = ()) -> tuple[Offer, ...]:
    """These fields of the catalogue: those that every such event has, then the others."""
    return tuple(
        Offer(
            name,
            field.text,
            f"{told(field)} · {typed(field)}{', needed' if name in required else ''}",
            _example(field),
            _values(field),
            offers(field.members),
        )
        for name, field in sorted(fields.items(), key=lambda item: item[0] not in required)
    )


def _values(field: Field) -> tuple[str, ...]:
    if field.values or "boolean" not in field.types:
        return tuple(as_json(value) for value in field.values)
    return ("true", "false")


def offers_at(known: Sequence[Offer], path: Sequence[str | int]) -> tuple[Offer, ...]:
    """What the object at this path may have; the steps into lists are those into any of their items."""
    for step in path:
        if isinstance(step, str):
            known = next((offer.members for offer in known if offer.name == step), ())
    return tuple(known)


def _example(field: Field) -> str:
    if field.examples:
        return as_json(field.examples[0])
    return EMPTY.get(field.types[0], '""') if field.types else '""'


def offer_help(known: Sequence[Offer], name: str | None, text: str) -> str:
    """One line about the field of this name, else about the fields that `text` does not have."""
    found = next((offer for offer in known if offer.name == name), None)
    if found is not None:
        return f"{name}: {found.told or found.help}"
    absent = [offer.name for offer in known if f'"{offer.name}"' not in text and offer.name != CFG]
    return f"could also hold: {', '.join(absent)}" if absent else ""
