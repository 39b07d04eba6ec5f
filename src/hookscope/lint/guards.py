"""What guards compare the event with."""

from __future__ import annotations

from hookscope.lint.source.facts import Met
from hookscope.lint.subject import Subject


def is_whole_key(met: Met, subject: Subject) -> bool:
    """Is a value that a guard names a whole key. An action may hold a colon too: `compact:before`."""
    if ":" not in met.name or met.kind not in ("type", "action"):
        return False
    if met.kind == "type":
        return True
    actions = {key.partition(":")[2] for key in (*subject.events, *subject.host.catalogue.by_key)}
    return met.name not in actions and met.name.partition(":")[0] in _families(subject)


def _families(subject: Subject) -> frozenset[str]:
    return frozenset(key.partition(":")[0] for key in (*subject.events, *subject.host.catalogue.by_key))
