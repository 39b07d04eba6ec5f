"""The events of a hook that its host never sends, for all rules."""

from __future__ import annotations

from collections.abc import Mapping

from hookscope.core.event_types import EVERY
from hookscope.core.mistaken import Dead, dead_event
from hookscope.lint.subject import Subject


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
    return dead_event(key, subject.kind_of(key), subject.host.catalogue)
