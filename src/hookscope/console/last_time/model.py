"""What is kept of a console from one time to the next, as plain values and back. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, get_args

from hookscope.console.hooks.rows import GROUPINGS, Grouping
from hookscope.console.layout import MODE_OF, Mode, Pane, Side
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.console.state import ConsoleState

OF_STATE = ("mode", "side", "reading", "zoom", "selected", "filter", "grouping", "start_hidden")


@dataclass(frozen=True, slots=True)
class KeptDraft:
    """The composer's event. Without a text it was its template, and is that again."""

    key: str = ""
    only: str | None = None
    session: str = ""
    text: str | None = None
    ctx_text: str = ""
    held: bool = False  # the settings in force stand beside the text, not in it
    file: str | None = None  # the saved event that it came from


@dataclass(frozen=True, slots=True)
class Kept:
    """All of it. What is as in a console that was never used is left out of the file."""

    mode: Mode = "hooks"
    side: Side = "why"
    reading: bool = False
    zoom: Pane | None = None
    selected: str = ""
    filter: str = ""
    grouping: Grouping = "source"
    start_hidden: bool = False
    log_filter: str = ""
    part: str | None = None  # of the Fire mode, that has all its room
    form: bool = False  # the event is shown as a form
    draft: KeptDraft = KeptDraft()
    dialect: str | None = None  # chosen by hand
    environment: str | None = None  # chosen by hand; empty: none is wanted


def kept_of(state: ConsoleState) -> Kept:
    """What a state has of it; the rest lies in panes."""
    return Kept(**{name: getattr(state, name) for name in OF_STATE})


def restored(state: ConsoleState, kept: Kept) -> ConsoleState:
    """The state with what was kept. What its user has changed since the start stays as it is now."""
    begun = type(state)()
    untouched = [name for name in OF_STATE if getattr(state, name) == getattr(begun, name)]
    return replace(state, **{name: getattr(kept, name) for name in untouched})


def as_values(kept: Kept) -> dict[str, Any]:
    """What stands in the file."""
    values = _others(kept, Kept())
    if kept.draft != KeptDraft():
        values["draft"] = _others(kept.draft, KeptDraft())
    return values


def from_values(values: Mapping[str, Any]) -> Kept:
    """What a file says. Raises ValueError that names what is none of ours."""
    draft = values.get("draft", {})
    if not isinstance(draft, Mapping):
        raise ValueError("draft")
    taken = _checked({name: value for name, value in values.items() if name != "draft"}, KINDS)
    return Kept(**taken, draft=KeptDraft(**_checked(draft, DRAFT_KINDS)))


def _others(one: Any, usual: Any) -> dict[str, Any]:
    names = [field.name for field in fields(one) if field.name != "draft"]
    return {name: getattr(one, name) for name in names if getattr(one, name) != getattr(usual, name)}


def _checked(values: Mapping[str, Any], kinds: Mapping[str, Callable[[Any], bool]]) -> dict[str, Any]:
    for name, value in values.items():
        if name not in kinds or not kinds[name](value):
            raise ValueError(str(name)[:60])
    return dict(values)


def _one_of(*known: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in known


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


KINDS: Mapping[str, Callable[[Any], bool]] = {
    "mode": _one_of(*get_args(Mode)),
    "side": _one_of(*get_args(Side)),
    "reading": _truth,
    "zoom": _one_of(*MODE_OF),
    "selected": _text,
    "filter": _text,
    "grouping": _one_of(*GROUPINGS),
    "start_hidden": _truth,
    "log_filter": _text,
    "part": _one_of("composer", "plan", "run"),
    "form": _truth,
    "dialect": _text,
    "environment": _text,
}
DRAFT_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "key": _text,
    "only": _text,
    "session": _text,
    "text": _text,
    "ctx_text": _text,
    "held": _truth,
    "file": _text,
}
