"""The events of a host, and the reader of the YAML files that list them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import reduce
from itertools import chain
from typing import Any

from hookscope.formats.yaml12 import read_own_yaml
from hookscope.model.run import EventKind
from hookscope.model.text import nearest_word
from hookscope.values import dataclass

DEFAULT_SESSION = "agent:main:main"
ALL_EVENTS = "*"  # a stream hook's key for all events


def json_type(value: object) -> str | None:
    """Return the JSON Schema type of a value; None for a value that JSON does not have.

    Every number is a "number": the hosts are JavaScript, where 1 and 1.0 are the same.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case list() | tuple():
            return "array"
        case _:
            return None


@dataclass(frozen=True, slots=True)
class EventField:
    """One member of an event's context or `ctx`: its meaning and its possible values."""

    text: str  # its meaning, for display
    types: tuple[str, ...] = ()  # JSON Schema types; none: any value
    examples: tuple[Any, ...] = ()  # realistic values; templates use the first
    values: tuple[Any, ...] = ()  # all possible values, if a source lists them
    members: Mapping[str, EventField] = field(default_factory=dict)  # of the object, or of a list's items
    if_missing: str = ""  # for a required member of an item: the consequence of its absence


@dataclass(frozen=True, slots=True)
class EventType:
    """One event of a host's catalogue."""

    key: str  # `command:new`; a bare type is a family: all events of that type
    when: str
    kind: EventKind = "folder"
    when_not: str = ""  # when it is unexpectedly not sent; empty: unknown
    by: str = ""  # the part of the host that sends it
    emitted: bool = True  # False: documented but never sent
    open: bool = False  # a family whose actions are the user's own
    delivers: bool = False  # pushed messages reach the user
    awaited: bool = True
    mutable: tuple[str, ...] = ()  # context fields that the host uses afterwards
    session: str = DEFAULT_SESSION  # a realistic session key
    context: Mapping[str, Any] = field(default_factory=dict)  # a realistic example
    fields: Mapping[str, EventField] = field(default_factory=dict)  # of the context, including the family's
    described: bool = True  # False: no source describes the whole context
    required: tuple[str, ...] = ()  # context fields that the host always sends
    ctx: Mapping[str, Any] = field(default_factory=dict)  # an example of a handler's second argument
    ctx_fields: Mapping[str, EventField] = field(default_factory=dict)  # none: no source describes it
    policy: str = ""  # its policy's name, if the system has several
    limit: float | None = None  # the host's time limit per handler in seconds; None: none
    limit_since: str = ""  # the first version of the host with that limit; empty: all have it
    cancellable: bool = False  # whether a handler may cancel the event's turn
    source: str = ""
    since: str = ""  # the first version of the host that sends it; empty: all older ones did too
    until: str = ""  # the last version of the host that sends it; empty: the newest does too

    def is_sent_by(self, version: str) -> bool:
        """Return whether this version of the host has the event; "" means the newest version."""
        if not version:
            return not self.until
        dropped = self.until and _numbers(version) > _numbers(self.until)
        return _numbers(version) >= _numbers(self.since) and not dropped

    def in_version(self, version: str) -> EventType:
        """Return the event as this version of the host has it; "" means the newest version."""
        has_limit = not version or _numbers(version) >= _numbers(self.limit_since)
        return self if has_limit else replace(self, limit=None)

    @property
    def required_item_members(self) -> Mapping[str, Mapping[str, str]]:
        """Each list of the context that the host reads → required member of its items → effect if missing."""
        lists = ((name, self.fields[name].members) for name in self.mutable if name in self.fields)
        required = (
            (name, {key: item.if_missing for key, item in members.items() if item.if_missing})
            for name, members in lists
        )
        return {name: needed for name, needed in required if needed}

    @property
    def family(self) -> bool:
        """Whether this is a type, which means all events of that type."""
        return self.kind == "folder" and ":" not in self.key


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)


@dataclass(frozen=True, slots=True)
class EventTypo:
    """A name that authors write for an event, and that some or all hosts never send."""

    instead: tuple[str, ...] = ()  # keys of the same event, on any host
    near: tuple[str, ...] = ()  # keys of similar events
    plugin: tuple[str, ...] = ()  # keys for plugins
    why: str = ""  # a clause that explains the name


class Catalogue:
    """The events that a host knows."""

    def __init__(self, events: Iterable[EventType] = (), renamed: Mapping[str, str] | None = None) -> None:
        self.by_key: Mapping[str, EventType] = {event.key: event for event in events}
        self.typos: Callable[[], Mapping[str, EventTypo]] = dict  # by name; read on first use
        self.other_versions: Mapping[str, Callable[[], Catalogue]] = {}  # of other versions, by dialect
        self.own_renamed: Mapping[str, str] = renamed or {}
        self.accepts_hyphens = True  # whether plugin hooks may have hyphens
        self.parts: tuple[Callable[[], Catalogue], ...] = ()
        self._keys: dict[EventKind, frozenset[str]] = {}  # by kind, filled on first use

    @classmethod
    def joined(
        cls,
        *parts: Callable[[], Catalogue],
        other_versions: Mapping[str, Callable[[], Catalogue]] | None = None,
        typos: Callable[[], Mapping[str, EventTypo]] = dict,
        accepts_hyphens: bool = True,
    ) -> Catalogue:
        """Return several catalogues as one. No key is in two of them.

        A part is read only if no earlier part has the requested key.
        """
        combined = cls()
        combined.by_key, combined.parts = _JoinedEvents(parts), parts
        combined.other_versions, combined.typos, combined.accepts_hyphens = (
            other_versions or {},
            typos,
            accepts_hyphens,
        )
        return combined

    @property
    def renamed(self) -> Mapping[str, str]:
        """Keys that older versions of the host sent, with the keys that replaced them."""
        return {
            **self.own_renamed,
            **{key: new_key for part in self.parts for key, new_key in part().renamed.items()},
        }

    @property
    def events(self) -> tuple[EventType, ...]:
        """All events, in order."""
        return tuple(self.by_key.values())

    def find(self, key: str) -> EventType | None:
        """Return the event of exactly this key, else its family, else None."""
        key = self.registry_key(key)
        return self.by_key.get(key) or self.by_key.get(key.partition(":")[0])

    def registry_key(self, key: str) -> str:
        """Return the key under which the host stores a registration for this key."""
        return self.canonical(key) if self.accepts_hyphens else key

    def canonical(self, key: str) -> str:
        """Return the host's spelling of a key: plugin hooks may have hyphens (seed 003)."""
        if "-" not in key or key in self.by_key:
            return key
        known = self.by_key.get(key.replace("-", "_"))
        return known.key if known is not None and known.kind == "plugin" else key

    def keys_of(self, kind: EventKind) -> frozenset[str]:
        """Return the keys of all events of one kind: those that hooks of this kind can receive."""
        if kind not in self._keys:
            self._keys[kind] = frozenset(event.key for event in self.events if event.kind == kind)
        return self._keys[kind]

    def sends(self, key: str, kind: EventKind | None = None) -> bool:
        """Return whether the host ever sends an event that a subscriber of `key` receives.

        With `kind`, a subscriber of that kind: a HOOK.md folder receives no plugin event, whatever
        its name.
        """
        if key == ALL_EVENTS:
            return any(event.kind == "stream" and event.emitted for event in self.events)
        exact = self.by_key.get(self.registry_key(key))
        if exact is not None:
            return exact.emitted and kind in (None, exact.kind)
        family = self.by_key.get(key.partition(":")[0])
        return family is not None and family.open and family.emitted

    def other_dialect_of(self, key: str) -> str:
        """Return the dialect of another version of the host that sends this exact key, or ""."""
        dialects = (
            name
            for name, other in self.other_versions.items()
            if key in other().by_key and other().sends(key)
        )
        return "" if key in self.by_key else next(dialects, "")

    def nearest(self, key: str, kind: EventKind | None = None) -> str | None:
        """Return the known key closest to `key`, of that `kind` if given, or None."""
        known = self.by_key if kind is None else self.keys_of(kind)
        new_key = self.renamed.get(key)
        return (
            new_key if new_key in known else nearest_word(key, sorted(known) if kind is not None else known)
        )


class _JoinedEvents(Mapping[str, EventType]):
    """The events of several catalogues by key."""

    def __init__(self, parts: tuple[Callable[[], Catalogue], ...]) -> None:
        self._parts = parts
        self._whole: Mapping[str, EventType] | None = None  # once all parts were read

    def get(self, key: str, default: Any = None) -> Any:
        """Return the event or `default`. Avoids a KeyError, since every event is looked up."""
        if self._whole is None:
            for part in self._parts:
                event = part().by_key.get(key)
                if event is not None:
                    return event
            self._whole = {key: event for part in self._parts for key, event in part().by_key.items()}
        return self._whole.get(key, default)

    def __getitem__(self, key: str) -> EventType:
        event: EventType | None = self.get(key)
        if event is None:
            raise KeyError(key)
        return event

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(part().by_key for part in self._parts)

    def __len__(self) -> int:
        return sum(len(part().by_key) for part in self._parts)


EVENT_MEMBERS = frozenset(EventType.__dataclass_fields__) - {"key"}
FIELD_MEMBERS = frozenset({"text", "type", "example", "values", "members", "without"})


def read_catalogue(source: bytes) -> Catalogue:
    """Read a catalogue from YAML. Events inherit their family's fields; fields get types and examples.

    Raises ValueError for an unknown member of an event or field and for an unknown group: the file
    is ours.
    """
    document = read_own_yaml(source)
    if not isinstance(document, dict):
        raise ValueError("a catalogue is a mapping")
    defaults, groups = document.get("defaults") or {}, document.get("groups") or {}
    entries: dict[str, dict[str, Any]] = {}
    for key, own in document["events"].items():
        own = dict(own or {})
        names = own.pop("with", ())
        unknown = [name for name in names if name not in groups]
        if unknown:
            raise ValueError(f"{key}: there is no group {', '.join(unknown)}")
        entries[key] = reduce(_merged, [defaults, *(groups[name] for name in names), own])
    events = tuple(_read_event(key, members, entries) for key, members in entries.items())
    return Catalogue(events, document.get("gone"))


def _merged(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Return both mappings merged; lists and nested mappings (one level) are combined."""
    merged = {**base, **override}
    for name in base.keys() & override.keys():
        if isinstance(override[name], dict):
            merged[name] = {**base[name], **override[name]}
        elif isinstance(override[name], list):
            merged[name] = list(dict.fromkeys([*base[name], *override[name]]))
    return merged


def _read_event(key: str, members: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]) -> EventType:
    unknown = members.keys() - EVENT_MEMBERS
    if unknown:
        raise ValueError(f"{key}: an event has no {', '.join(sorted(unknown))}")
    family = entries.get(key.partition(":")[0], {})
    fields = {**(family.get("fields") or {}), **(members.get("fields") or {})}
    examples = {**(family.get("context") or {}), **(members.get("context") or {})}
    lists = {name: tuple(members.get(name, ())) for name in ("mutable", "required")}
    described = {
        "fields": _read_fields(key, fields, examples),
        "ctx_fields": _read_fields(key, members.get("ctx_fields") or {}, members.get("ctx") or {}),
    }
    return EventType(key, **{**members, **lists, **described})


def _read_fields(
    context: str, entries: Mapping[str, Any], examples: Mapping[str, Any]
) -> dict[str, EventField]:
    return {
        name: _read_field(f"{context}, {name}", member, [examples[name]] if name in examples else [])
        for name, member in entries.items()
    }


def _read_field(context: str, entry: str | Mapping[str, Any], examples: list[Any]) -> EventField:
    members: Mapping[str, Any] = {"text": entry} if isinstance(entry, str) else entry
    unknown = members.keys() - FIELD_MEMBERS
    if unknown:
        raise ValueError(f"{context}: a field has no {', '.join(sorted(unknown))}")
    values = members.get("values", ())
    examples = [members["example"]] if "example" in members else examples or list(values[:1])
    types = members.get("type", _example_types([*examples, *values]))  # an empty list: any type
    return EventField(
        members["text"],
        types=(types,) if isinstance(types, str) else tuple(types),
        examples=tuple(examples),
        values=tuple(values),
        members=_read_fields(context, members.get("members") or {}, _example_members(examples)),
        if_missing=members.get("without", ""),
    )


def _example_types(values: list[Any]) -> tuple[str, ...]:
    """Return the types of the examples; an example that is null allows any type."""
    types = tuple(dict.fromkeys(filter(None, map(json_type, values))))
    return () if types == ("null",) else types


def _example_members(examples: list[Any]) -> dict[str, Any]:
    """Return the members of the examples, or of the items of example lists; the first one wins."""
    members: dict[str, Any] = {}
    for example in examples:
        for item in example if isinstance(example, list) else [example]:
            members = {**item, **members} if isinstance(item, dict) else members
    return members
