"""`${NAME}` and `${now-2h}` in a draft: what each comes to, and which come to nothing. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hookscope.core.text import nearest
from hookscope.values import dataclass
from hookscope.workbench.variables import NOW, WRITTEN, Reference, Variables, used


@dataclass(frozen=True, slots=True)
class Unset:
    """A reference that cannot be filled, and where it stands in the text: from 0; None: not found there."""

    problem: str
    at: int | None


def unset_in(value: Any, text: str, variables: Variables, now: datetime) -> Unset | None:
    """The first reference in a value that cannot be filled; `text` is the JSON that it is read from."""
    use = next((use for use in used(value, variables, now) if use.problem), None)
    if use is None:
        return None
    places = (found.start() for found in WRITTEN.finditer(text) if found[2] == use.written and not found[1])
    return Unset(problem_of(use.written, variables.values), next(places, None))


def problem_of(written: str, values: Mapping[str, str]) -> str:
    """Why a reference cannot be filled, in a few words."""
    if written.startswith(NOW) and not written.isidentifier():
        return f"${{{written}}} is no time; one looks like ${{now-1h30m}}"
    near = nearest(written, values)
    return f"${{{written}}} is not set{f'; did you mean ${{{near}}}?' if near else ''}"


def reference_help(text: str, at: int, variables: Variables, now: datetime) -> str:
    """What the reference comes to that stands at this character of a text; empty where none stands."""
    found = next((found for found in WRITTEN.finditer(text) if found.start() <= at <= found.end()), None)
    if found is None:
        return ""
    doubled, name = found.groups()
    if doubled:
        return f"{found[0]}: the text ${{{name}}}"
    (use,) = used(f"${{{name}}}", variables, now)
    return f"{found[0]}: {_said(use, variables)}"


def _said(use: Reference, variables: Variables) -> str:
    if use.problem:
        return problem_of(use.written, variables.values).partition("} ")[2]
    return f"{use.shown or 'empty'} · from {use.origin}"
