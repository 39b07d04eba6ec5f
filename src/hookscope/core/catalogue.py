"""A host's event catalogue, read from the YAML that stands beside its dialect."""

from collections.abc import Mapping
from typing import Any

from hookscope.core.dialect import Catalogue, EventType
from hookscope.formats import read_yaml

FIELDS = frozenset(EventType.__dataclass_fields__) - {"key"}


def read_catalogue(source: bytes) -> Catalogue:
    """The catalogue of a YAML file: `defaults`, then `events: {KEY: {when, context, …}}`.

    Raises ValueError for a field that no event has: such a file is our own mistake.
    """
    document = read_yaml(source)
    if not isinstance(document, dict):
        raise ValueError("a catalogue is a mapping")
    defaults = document.get("defaults") or {}
    return Catalogue(
        tuple(_event(key, {**defaults, **(event or {})}) for key, event in document["events"].items())
    )


def _event(key: str, fields: Mapping[str, Any]) -> EventType:
    strange = fields.keys() - FIELDS
    if strange:
        raise ValueError(f"{key}: an event has no {', '.join(sorted(strange))}")
    lists = {name: tuple(fields.get(name, ())) for name in ("mutable", "required")}
    return EventType(key, **{**fields, **lists})
