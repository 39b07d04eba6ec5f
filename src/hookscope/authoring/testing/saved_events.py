"""Saved events: small YAML files that can be read, listed and fired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.app.variables import filled_value
from hookscope.app.yaml_sections import EVENTS_FOLDER, YAML_ENDINGS, YamlSection, files_below, read_section
from hookscope.authoring.testing.expectations import PATTERNS, literal_pattern
from hookscope.model.refusal import Refusal
from hookscope.model.run import Event
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

EVENT_KEYS = ("name", "tags", "notes", "event", "session", "at", "context", "ctx", "expect")


@dataclass(frozen=True, slots=True)
class SavedEvent:
    """A saved event before variables are filled in."""

    file: Path
    key: str
    session: str | None = None  # None: the template's
    at: str | None = None  # the event's time; None: the time of the fire
    context: Mapping[str, Any] = field(default_factory=dict)
    merges_template: bool = False  # the context is merged into the template's
    ctx: Mapping[str, Any] = field(default_factory=dict)  # merged into the template's
    expect: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""  # for people; defaults to the file's name
    tags: tuple[str, ...] = ()
    notes: str = ""
    place: str = ""  # position for errors; empty: the whole file


@dataclass(frozen=True, slots=True)
class SavedEventRow:
    """A saved event in a list, or why its file is not one."""

    file: Path
    name: str
    key: str = ""
    session: str | None = None
    tags: tuple[str, ...] = ()
    notes: str = ""
    expects: bool = False  # it has expectations
    problem: str = ""  # a sentence


def is_saved_event(text: str) -> bool:
    """Return whether a command-line argument names a file, not an event key."""
    return text.endswith(YAML_ENDINGS)


def read_saved(file: Path) -> SavedEvent:
    """Return the event in a file, as written. Raises Refusal."""
    return saved_event_in(_event_section(file))


def _event_section(file: Path) -> YamlSection:
    return read_section(file, "saved event: it wants a mapping with `event: KEY`")


def saved_event_in(section: YamlSection) -> SavedEvent:
    """Return the event in a file or a part of one. Raises Refusal."""
    if "steps" in section.value and "event" not in section.value:
        raise Refusal(f"{section.file} is a sequence.", "`hookscope sequence FILE` fires it.", code=2)
    section.check_keys(EVENT_KEYS, "An event")
    key = section.value.get("event")
    if not isinstance(key, str) or not key:
        raise section.refusal("`event` wants a key such as command:new.", "event")
    return SavedEvent(
        file=section.file,
        key=key,
        session=section.text("session"),
        at=section.text("at"),
        context=section.mapping("context"),
        ctx=section.mapping("ctx"),
        expect=section.mapping("expect"),
        name=section.text("name") or section.file.stem,
        tags=section.texts("tags"),
        notes=section.text("notes") or "",
    )


def event_to_fire(bench: Workbench, view: Snapshot, saved: SavedEvent) -> Event:
    """Return the event to fire now: variables and times filled in, its secrets collected.

    What the file omits comes from the event's template, except the context. `${now}` is the event's own
    time, which `at` sets. Raises Refusal.
    """
    event = bench.template(view, saved.key)
    variables, where = bench.filler.variables(view), saved.place or str(saved.file)
    if saved.at is not None:
        at = bench.filler.fill(saved.at, variables, event.timestamp, where)
        event = replace(event, timestamp=parse_moment(at, where))
    session, context, ctx = bench.filler.fill(
        [saved.session, saved.context, saved.ctx], variables, event.timestamp, where
    )
    context = {**event.context, **context} if saved.merges_template else context
    event = replace(event, context=context, ctx={**event.ctx, **ctx})
    return event if session is None else replace(event, session_key=str(session))


def expectations_of(bench: Workbench, view: Snapshot, saved: SavedEvent, event: Event) -> Mapping[str, Any]:
    """Return the expectations of this event's run, filled in as the event is.

    In patterns a variable's value is literal: its `*` matches only `*`. Raises Refusal.
    """
    if "${" not in repr(saved.expect):
        return saved.expect
    variables, where = bench.filler.variables(view), saved.place or str(saved.file)
    expected = dict(bench.filler.fill(saved.expect, variables, event.timestamp, where))
    values = {name: literal_pattern(value) for name, value in variables.values.items()}
    as_patterns = replace(variables, values=values)
    for name in PATTERNS:
        match saved.expect.get(name):
            case list() as texts:
                expected[name] = _texts_in(texts, filled_value(texts, as_patterns, event.timestamp, where))
            case Mapping() as hooks:  # `{greet: [...]}`: of one hook
                plain = filled_value(hooks, as_patterns, event.timestamp, where)
                expected[name] = {
                    hook: _texts_in(texts, plain[hook]) if isinstance(texts, list) else plain[hook]
                    for hook, texts in hooks.items()
                }
    return expected


def _texts_in(written: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    return [str(now) if isinstance(was, str) else now for was, now in zip(written, values, strict=True)]


def parse_moment(at: object, where: str) -> datetime:
    """Return an ISO time, in UTC by default. Raises Refusal."""
    try:
        moment = datetime.fromisoformat(str(at))
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        next_step = "`at` is such as 2026-01-30T09:00:00Z or ${now-1h}."
        raise Refusal(f"{where} has `at: {at}`, which is no time.", next_step, code=2) from None


def read_saved_event(bench: Workbench, view: Snapshot, file: Path) -> Event:
    """Return the event in a file, to be fired now; see `event_to_fire`. Raises Refusal."""
    return event_to_fire(bench, view, read_saved(file))


def saved_document(file: Path) -> Mapping[str, Any]:
    """Return the document of a saved event, nothing filled in: `event` is a text; `context` and `ctx` are
    mappings or missing. Raises Refusal.
    """
    section = _event_section(file)
    saved_event_in(section)
    return section.value


def saved_listing(workspace: Path) -> tuple[SavedEventRow, ...]:
    """Return all saved events of a workspace, sorted by file. Never raises."""
    return tuple(_saved_event_row(file) for file in files_below(workspace / EVENTS_FOLDER))


def _saved_event_row(file: Path) -> SavedEventRow:
    try:
        saved = read_saved(file)
    except Refusal as refused:
        return SavedEventRow(file, file.stem, problem=str(refused))
    return SavedEventRow(
        file, saved.name, saved.key, saved.session, saved.tags, saved.notes, expects=bool(saved.expect)
    )
