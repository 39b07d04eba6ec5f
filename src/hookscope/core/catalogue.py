"""A host's event catalogue, read from the YAML that stands beside its dialect.

    defaults: {source: …}                   # of every event
    groups:                                 # what several events have in common
      turn: {required: [turnId], context: {turnId: turn_0}, fields: {turnId: the turn's id}}
    events:
      turn.started: {with: [turn], when: …, by: …, context: {…}, fields: {…}, ctx: {…}, ctx_fields: {…}}

An event has what `defaults` says, then its groups in order, then what it says itself: mappings and lists
add up, anything else replaces. A field is its text alone, or `{text, type, example, values, members}`;
what it leaves out comes from the event's example `context`, or `ctx`.
"""

from collections.abc import Mapping
from functools import reduce
from typing import Any

from hookscope.core.event_types import Catalogue, EventType, Field, json_type
from hookscope.formats import read_own_yaml

MEMBERS = frozenset(EventType.__dataclass_fields__) - {"key"}
MEMBERS_OF_A_FIELD = frozenset({"text", "type", "example", "values", "members", "without"})


def read_catalogue(source: bytes) -> Catalogue:
    """The catalogue of a YAML file. An event has its family's fields too, each with types and examples.

    Raises ValueError for a member that no event and no field has, and for a group that is not there:
    such a file is our own mistake.
    """
    document = read_own_yaml(source)
    if not isinstance(document, dict):
        raise ValueError("a catalogue is a mapping")
    defaults, groups = document.get("defaults") or {}, document.get("groups") or {}
    written: dict[str, dict[str, Any]] = {}
    for key, own in document["events"].items():
        own = dict(own or {})
        names = own.pop("with", ())
        strange = [name for name in names if name not in groups]
        if strange:
            raise ValueError(f"{key}: there is no group {', '.join(strange)}")
        written[key] = reduce(_added, [defaults, *(groups[name] for name in names), own])
    events = tuple(_event(key, members, written) for key, members in written.items())
    return Catalogue(events, document.get("gone"))


def _added(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Both, with lists and the mappings of one level added up."""
    both = {**under, **over}
    for name in under.keys() & over.keys():
        if isinstance(over[name], dict):
            both[name] = {**under[name], **over[name]}
        elif isinstance(over[name], list):
            both[name] = list(dict.fromkeys([*under[name], *over[name]]))
    return both


def _event(key: str, members: Mapping[str, Any], all_of_them: Mapping[str, Mapping[str, Any]]) -> EventType:
    strange = members.keys() - MEMBERS
    if strange:
        raise ValueError(f"{key}: an event has no {', '.join(sorted(strange))}")
    family = all_of_them.get(key.partition(":")[0], {})
    fields = {**(family.get("fields") or {}), **(members.get("fields") or {})}
    examples = {**(family.get("context") or {}), **(members.get("context") or {})}
    lists = {name: tuple(members.get(name, ())) for name in ("mutable", "required")}
    described = {
        "fields": _fields(key, fields, examples),
        "ctx_fields": _fields(key, members.get("ctx_fields") or {}, members.get("ctx") or {}),
    }
    return EventType(key, **{**members, **lists, **described})


def _fields(where: str, written: Mapping[str, Any], examples: Mapping[str, Any]) -> dict[str, Field]:
    return {
        name: _field(f"{where}, {name}", member, [examples[name]] if name in examples else [])
        for name, member in written.items()
    }


def _field(where: str, written: str | Mapping[str, Any], examples: list[Any]) -> Field:
    told: Mapping[str, Any] = {"text": written} if isinstance(written, str) else written
    strange = told.keys() - MEMBERS_OF_A_FIELD
    if strange:
        raise ValueError(f"{where}: a field has no {', '.join(sorted(strange))}")
    values = told.get("values", ())
    examples = [told["example"]] if "example" in told else examples or list(values[:1])
    types = told.get("type", _types_of([*examples, *values]))  # an empty list: any
    return Field(
        told["text"],
        types=(types,) if isinstance(types, str) else tuple(types),
        examples=tuple(examples),
        values=tuple(values),
        members=_fields(where, told.get("members") or {}, _members_of(examples)),
        without=told.get("without", ""),
    )


def _types_of(values: list[Any]) -> tuple[str, ...]:
    """Of an example that is null nothing follows: any type."""
    types = tuple(dict.fromkeys(filter(None, map(json_type, values))))
    return () if types == ("null",) else types


def _members_of(examples: list[Any]) -> dict[str, Any]:
    """The example's members; of a list, the members of its items together, the first one's first."""
    found: dict[str, Any] = {}
    for example in examples:
        for item in example if isinstance(example, list) else [example]:
            found = {**item, **found} if isinstance(item, dict) else found
    return found
