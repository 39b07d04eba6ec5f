"""What is to be said of an event's name that its host never sends: one answer for all rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookscope.core.event_types import EVERY
from hookscope.formats import read_yaml
from hookscope.lint.near import meant
from hookscope.lint.subject import Mistaken, Subject
from hookscope.values import dataclass

OF_PLUGINS = "names with `_` are of plugins' events, which no HOOK.md hook hears"


@dataclass(frozen=True, slots=True)
class Dead:
    """An event that a hook listens for and never hears."""

    key: str
    known: bool  # does the host document it
    why: str = ""  # half a sentence on what the name is
    instead: tuple[str, ...] = ()  # what is sent, and is meant
    near: tuple[str, ...] = ()  # what is sent, and comes near
    plugin: tuple[str, ...] = ()  # what plugins hear of it
    elsewhere: str = ""  # the dialect of another version of the host, which sends it

    @property
    def then(self) -> str:
        """What to write in its place; empty where nothing is known."""
        if self.elsewhere:
            return f"`--dialect {self.elsewhere}` takes that version's rules."
        if self.instead:
            return f"Write `{'` or `'.join(self.instead)}`."
        if self.near:
            return f"What comes nearest is `{'` or `'.join(self.near)}`."
        if self.plugin:
            return f"Only a plugin hears of it, as `{'` or `'.join(self.plugin)}`."
        return ""


def read_mistaken(source: bytes) -> Mapping[str, Mistaken]:
    """The names that a YAML file lists. Raises TypeError for a member that none has: our own mistake."""
    document = read_yaml(source)
    assert isinstance(document, dict)
    return {name: _mistaken(told) for name, told in document.items()}


def listed_as(key: str, mistaken: Mapping[str, Mistaken]) -> Mistaken | None:
    """What is said of a name: of itself, else of all of its type."""
    return mistaken.get(key) or mistaken.get(f"{key.partition(':')[0]}:*")


def _mistaken(told: dict[str, Any]) -> Mistaken:
    parts: dict[str, Any] = {key: value if key == "why" else tuple(value) for key, value in told.items()}
    return Mistaken(**parts)


def dead_events(subject: Subject) -> tuple[Dead, ...]:
    """The events of a hook that its host never sends, none twice."""
    keys = (key for key in dict.fromkeys(subject.events) if not _is_heard(key, subject))
    return tuple(_dead(key, subject) for key in keys)


def later_events(subject: Subject) -> tuple[str, ...]:
    """Events that its host's guide does not have, and its program does."""
    return tuple(key for key in dict.fromkeys(subject.events) if _is_later(key, subject))


def doubtful_events(subject: Subject) -> tuple[Dead, ...]:
    """Events of a type whose actions are anybody's own, whose names look like slips all the same."""
    catalogue = subject.host.catalogue
    own = [key for key in dict.fromkeys(subject.events) if _comes(key, subject)]
    strange = (_dead(key, subject) for key in own if key not in catalogue.by_key and key != EVERY)
    return tuple(dead for dead in strange if dead.why or dead.instead or dead.near)


def is_all_dead(subject: Subject) -> bool:
    """Does the host send none of its events: it never runs."""
    return bool(subject.events) and not any(_is_heard(key, subject) for key in subject.events)


def _is_heard(key: str, subject: Subject) -> bool:
    return _comes(key, subject) or _is_later(key, subject)


def _is_later(key: str, subject: Subject) -> bool:
    return key in later_of(subject) and not _comes(key, subject)


def later_of(subject: Subject) -> Mapping[str, str]:
    """The events that its guide lacks, with who sends them to hooks of its kind."""
    return subject.host.later_plugin if subject.kind == "plugin" else subject.host.later


def _comes(key: str, subject: Subject) -> bool:
    """Folders have no wildcards, not even in a type whose actions are anybody's own."""
    return subject.sends(key) and not (subject.kind == "folder" and key.endswith("*"))


def _dead(key: str, subject: Subject) -> Dead:
    catalogue, kind = subject.host.catalogue, subject.kind
    found = listed_as(key, subject.host.mistaken)
    listed = found or Mistaken()
    instead, near = _sent(listed.instead, subject), _sent(listed.near, subject)
    if other := catalogue.elsewhere(key):
        return Dead(key, False, f"{other} has it", elsewhere=other)
    known = catalogue.by_key.get(catalogue.canonical(key))
    if known is not None and known.kind == kind:
        return Dead(key, True, listed.why, instead, near)
    family = key.removesuffix(":*")
    if kind == "folder" and family != key and subject.sends(family):
        return Dead(key, False, "there are no wildcards; a type alone is all of its events", (family,))
    if known is not None and known.kind == "plugin":
        return Dead(key, False, "only plugins hear it", instead, near, (known.key,))
    if found is not None:
        plugin = tuple(name for name in listed.plugin if name in catalogue.keys_of("plugin"))
        return Dead(key, False, listed.why, instead, near, plugin)
    slip = meant(key, filter(subject.sends, sorted(catalogue.keys_of(kind))))
    is_plugins = kind == "folder" and "_" in key and ":" not in key and not slip
    return Dead(key, False, OF_PLUGINS if is_plugins else "", (slip,) if slip else ())


def _sent(keys: tuple[str, ...], subject: Subject) -> tuple[str, ...]:
    """Those of the keys that this host documents and sends."""
    known = subject.host.catalogue.keys_of(subject.kind)
    return tuple(key for key in keys if key in known and subject.sends(key))
