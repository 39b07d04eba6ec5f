"""The fix of a requirement that is not declared: its name put into `requires`."""

from __future__ import annotations

from collections.abc import Mapping

from hookscope.core.hooks import Edit
from hookscope.lint.subject import Subject


def declared(subject: Subject, kind: str, name: str) -> tuple[Edit, ...] | None:
    """The edit that adds `name` to `requires.<kind>`; None where something else stands there."""
    own, requires = subject.own, subject.own.get("requires")
    if not own or not isinstance(requires, Mapping | None) or subject.header.quoted:
        return None
    listed = (requires or {}).get(kind, [])
    if not isinstance(listed, list):
        return None
    path = (*subject.base, "requires", kind)
    return (subject.edit(path, [*listed, name], f"requires.{kind}: {name} added"),)
