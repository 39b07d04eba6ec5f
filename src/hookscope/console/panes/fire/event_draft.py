"""The composed event: its checked text, the positions of mistakes, variables, and its saved event."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from json import JSONDecoder
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from textual.content import Content

from hookscope.app.event_templates import BadContext, check_required_fields, parse_context, template_event
from hookscope.app.variables import (
    NOW,
    WRITTEN_REFERENCE,
    VariableReference,
    Variables,
    VariableSources,
    filled_event,
    folders_of,
    references_in,
)
from hookscope.app.variables import escaped_value as literal
from hookscope.authoring.testing.saved_events import SavedDraft, draft_with_context
from hookscope.console.theme.text_styles import MARK_MUTED, counted, safe_word
from hookscope.model.event_schema import event_notes
from hookscope.model.failure import Refusal
from hookscope.model.run import Event
from hookscope.model.run_comparison import REPLAY_MARK
from hookscope.model.text import has_controls, nearest_word, replace_hidden
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot


JsonPath: TypeAlias = tuple[str | int, ...]

WHITESPACE = re.compile(r"[ \t\n\r]*")


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Numbers stay strings, so that they are shown as written.
JSON_SCANNER = JSONDecoder(parse_int=str, parse_float=str, parse_constant=_reject_constant)


class JsonMember(NamedTuple):
    """A member of an object, or an item of a list."""

    name: str | int
    start: int  # offset of its key, or of an item's value
    at: int  # offset of its value
    end: int


def members_at(text: str, at: int) -> Iterator[JsonMember]:
    """Yield the members of the object or list that starts at `at`. The text must be valid."""
    is_object = text[at] == "{"
    start, index = skip_whitespace(text, at + 1), 0
    while text[start] not in "}]":
        name: str | int = index
        value = start
        if is_object:
            name, end = JSON_SCANNER.raw_decode(text, start)
            value = skip_whitespace(text, skip_whitespace(text, end) + 1)
        _, end = JSON_SCANNER.raw_decode(text, value)
        yield JsonMember(name, start, value, end)
        index += 1
        start = skip_whitespace(text, end)
        if text[start] == ",":
            start = skip_whitespace(text, start + 1)


def offsets_of(text: str, paths: Iterable[JsonPath]) -> dict[JsonPath, int]:
    """Return the start offset of each path's member in a valid text; of duplicates, the last one's."""
    paths_by_step: dict[str | int, list[JsonPath]] = {}
    for path in paths:
        paths_by_step.setdefault(path[0], []).append(path)
    return _offsets(text, skip_whitespace(text, 0), paths_by_step, 0) if paths_by_step else {}


def _offsets(
    text: str, at: int, paths_by_step: Mapping[str | int, list[JsonPath]], depth: int
) -> dict[JsonPath, int]:
    if text[at : at + 1] not in ("{", "["):
        return {}
    last = {member.name: member for member in members_at(text, at) if member.name in paths_by_step}
    offsets: dict[JsonPath, int] = {}
    for name, member in last.items():
        deeper: dict[str | int, list[JsonPath]] = {}
        for path in paths_by_step[name]:
            if len(path) == depth + 1:
                offsets[path] = member.start
            else:
                deeper.setdefault(path[depth + 1], []).append(path)
        if deeper:
            offsets |= _offsets(text, member.at, deeper, depth + 1)
    return offsets


def line_of(text: str, offset: int) -> int:
    """Return the line of a character, from 1."""
    return text.count("\n", 0, offset) + 1


def offset_at(text: str, row: int, column: int) -> int:
    """Return the offset of a row and a column, both from 0."""
    start = 0
    for _ in range(row):
        start = text.find("\n", start) + 1
    return start + column


def column_of(text: str, offset: int) -> int:
    """Return the column of a character, from 1."""
    return offset - text.rfind("\n", 0, offset)


def skip_whitespace(text: str, at: int) -> int:
    """Return the offset of the next character that is not whitespace."""
    space = WHITESPACE.match(text, at)
    return space.end() if space else at


@dataclass(frozen=True, slots=True)
class UnsetVariable:
    """A variable that cannot be filled. `at`: its offset in the text; None if it was not found there."""

    problem: str
    at: int | None


def first_unset_variable(value: Any, text: str, variables: Variables, now: datetime) -> UnsetVariable | None:
    """Return the first variable in a value that cannot be filled; `text` is the value's JSON."""
    use = next((use for use in references_in(value, variables, now) if use.problem), None)
    if use is None:
        return None
    places = (
        match.start()
        for match in WRITTEN_REFERENCE.finditer(text)
        if match[2] == use.written and not match[1]
    )
    return UnsetVariable(variable_problem(use.written, variables.values), next(places, None))


def variable_problem(written: str, values: Mapping[str, str]) -> str:
    """Return why a variable cannot be filled, in a few words."""
    if written.startswith(NOW) and not written.isidentifier():
        return f"${{{written}}} is not a time; example: ${{now-1h30m}}"
    closest = nearest_word(written, values)
    return f"${{{written}}} is not set{f'; did you mean ${{{closest}}}?' if closest else ''}"


def variable_help(text: str, at: int, variables: Variables, now: datetime) -> str:
    """Return the value of the variable at offset `at`, for people; empty if there is none."""
    match = next(
        (match for match in WRITTEN_REFERENCE.finditer(text) if match.start() <= at <= match.end()), None
    )
    if match is None:
        return ""
    doubled, name = match.groups()
    if doubled:
        return f"{match[0]}: the literal text ${{{name}}}"
    (use,) = references_in(f"${{{name}}}", variables, now)
    return f"{match[0]}: {_variable_text(use, variables)}"


def _variable_text(use: VariableReference, variables: Variables) -> str:
    if use.problem:
        return variable_problem(use.written, variables.values).partition("} ")[2]
    return f"{use.shown or 'empty'} · from {use.origin}"


INLINE_CFG_LIMIT = 400  # characters of settings that fit in the text
CFG = "cfg"
DRAFT_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\]:]')


@dataclass(frozen=True, slots=True)
class EventDraft:
    """The content of the composer."""

    key: str = ""
    session: str = ""
    text: str = ""
    only: str | None = None
    cfg: Mapping[str, Any] | None = None  # the current settings, if they are too long for the text
    ctx_text: str = ""  # the second argument of stream and plugin handlers
    meta: Mapping[str, Any] = field(default_factory=dict)  # the envelope of a stream event


@dataclass(frozen=True, slots=True)
class DraftNote:
    """A note on something unusual in the draft."""

    text: str
    field: str = ""  # the name of its field
    in_ctx: bool = False
    line: int = 0  # 1 and up; 0: not in the text
    column: int = 0

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A checked draft: its event, or a problem with its place."""

    event: Event | None
    problem: str = ""
    line: int = 0  # 1 and up; 0: not in the text
    column: int = 0
    in_ctx: bool = False  # whether the place is in the text of `ctx`
    notes: tuple[DraftNote, ...] = ()  # notes that do not prevent firing


def template_draft(key: str, view: Snapshot, only: str | None = None) -> EventDraft:
    """Return a realistic event with that key as a draft."""
    return replace(draft_of_event(template_event(key, view.host), only), key=key)


def draft_of_event(event: Event, only: str | None = None) -> EventDraft:
    """Return an event as a draft. Long settings are kept outside the text."""
    context = dict(event.context)
    held = None
    if len(readable_json(context.get(CFG, {}))) >= INLINE_CFG_LIMIT:
        held = context.pop(CFG)
    context = literal(context)
    ctx = readable_json(literal(event.ctx)) if event.kind != "folder" else ""
    return EventDraft(
        event.key, literal(event.session_key), readable_json(context), only, held, ctx, event.meta
    )


def has_second_argument(key: str, view: Snapshot | None) -> bool:
    """Return True if handlers of this event get a second argument."""
    return view is not None and view.host.dialect.event_of(key).kind != "folder"


def check_draft(
    draft: EventDraft, view: Snapshot | None, filling: VariableSources | None = None
) -> CheckedDraft:
    """Return the event of a draft, or the draft's problem. Without `filling`, variables stay unfilled."""
    key = draft.key.strip()
    if not key:
        return CheckedDraft(None, "type an event key, such as command:new")
    kind, _, action = key.partition(":")
    if not kind or has_controls(key) or " " in key:
        return CheckedDraft(None, f"{safe_word(key, 60)} is not an event key; example: command:new")
    try:
        context = parse_context(draft.text)
    except BadContext as error:
        return CheckedDraft(None, error.problem, error.line, error.column)
    try:
        ctx = parse_context(draft.ctx_text) if has_second_argument(key, view) else {}
    except BadContext as error:
        return CheckedDraft(None, error.problem, error.line, error.column, in_ctx=True)
    if draft.cfg is not None:
        context.setdefault(CFG, literal(draft.cfg))
    bare = view.host.dialect.event_of(key) if view is not None else Event(kind, action)
    event = replace(bare, session_key=draft.session, context=context, ctx=ctx, meta=draft.meta)
    filled = event
    if filling is not None:
        unset = unset_variable_problem(draft, event, filling)
        if unset is not None:
            return unset
        filled = filled_event(event, filling)
    if view is not None:
        try:
            check_required_fields(filled, view.host)
        except Refusal as refused:
            return CheckedDraft(None, refused.problem.rstrip("."))
    if view is None:
        return CheckedDraft(event)
    note = key_note(key, view)
    return CheckedDraft(event, notes=(DraftNote(note),) if note else context_notes(filled, draft, view))


def unset_variable_problem(draft: EventDraft, event: Event, filling: VariableSources) -> CheckedDraft | None:
    """Return a checked draft with the first variable that cannot be filled; None if all can be."""
    if filling.problem:
        return CheckedDraft(None, filling.problem)
    variables, now = filling.variables, event.timestamp
    session = first_unset_variable(event.session_key, "", variables, now)
    if session is not None:
        return CheckedDraft(None, f"the session: {session.problem}")
    for value, text, in_ctx in ((event.context, draft.text, False), (event.ctx, draft.ctx_text, True)):
        unset = first_unset_variable(value, text, variables, now)
        if unset is not None and unset.at is not None:
            line, column = line_of(text, unset.at), column_of(text, unset.at)
            return CheckedDraft(None, unset.problem, line, column, in_ctx=in_ctx)
        if unset is not None:
            return CheckedDraft(None, unset.problem)
    return None


def key_note(key: str, view: Snapshot) -> str:
    """Return what is unusual about an event key; empty if nothing is."""
    catalogue, product = view.host.dialect.catalogue(), view.host.dialect.product
    if catalogue.sends(key):
        return ""
    if key in catalogue.by_key:
        return f"{product} documents {key} but never sends it"
    if key in view.host.dialect.later_events:
        return f"not in {product}'s guide; {view.host.dialect.later_events[key]} sends it"
    closest = catalogue.nearest(key)
    hint = f": did you mean {closest}?" if closest and closest != key else ""
    return f"unknown to {product}{hint}"


def context_notes(event: Event, draft: EventDraft, view: Snapshot) -> tuple[DraftNote, ...]:
    """Return what is unusual about the context and `ctx`, with line and column."""
    notes = event_notes(event, view.host.dialect.catalogue())
    texts = {False: draft.text, True: draft.ctx_text}
    offsets = {
        in_ctx: offsets_of(text, [note.path for note in notes if note.in_ctx == in_ctx])
        for in_ctx, text in texts.items()
    }
    located = ((note, texts[note.in_ctx], offsets[note.in_ctx].get(note.path)) for note in notes)
    return tuple(
        DraftNote(
            safe_word(note.text, 160),
            str(note.path[0]),
            note.in_ctx,
            line_of(text, at) if at is not None else 0,
            column_of(text, at) if at is not None else 0,
        )
        for note, text, at in located
    )


def same_event(first: Event | None, second: Event | None) -> bool:
    """Return True if two events are equal, apart from their timestamps."""
    if first is None or second is None:
        return first is second
    return (first.key, first.session_key, first.kind, first.context, first.ctx, first.meta) == (
        second.key,
        second.session_key,
        second.kind,
        second.context,
        second.ctx,
        second.meta,
    )


def readable_json(value: Any) -> str:
    """Return readable JSON with all control characters escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return escape_controls(text)


def escape_controls(text: str) -> str:
    """Return text for the editor, with invisible characters as JSON escapes."""
    return replace_hidden(text.replace("\r\n", "\n").replace("\r", "\n"), _json_escape)


def _json_escape(character: str) -> str:
    """Return a character's UTF-16 units as JSON escapes."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def field_name_at(text: str, line: int, column: int) -> str | None:
    """Return the top-level key whose value contains the cursor. `line` and `column` start at 0.

    The scanner tolerates every error, because text that is being edited is rarely valid.
    """
    rows = text.split("\n")
    start = sum(len(row) + 1 for row in rows[:line])
    end = start + len(rows[line]) if line < len(rows) else len(text)
    depth, last, name = 0, None, None
    for token in DRAFT_TOKEN.finditer(text, 0, end):
        sign = token[0]
        if sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        elif sign == ":" and depth == 1 and last is not None:
            # Of several keys on the cursor's line: the last one before the cursor, else the first.
            first_here = last.start() >= start and (name is None or name.start() < start)
            if last.start() <= start + column or first_here:
                name = last
        last = token if sign.startswith('"') else None
    return name[0].strip('"') if name is not None else None


def cfg_note(draft: EventDraft) -> str:
    """Return a note on settings that the event gets although the text does not show them."""
    if draft.cfg is None:
        return ""
    return f"cfg: current settings ({counted(len(draft.cfg), 'key')})"


@dataclass(frozen=True, slots=True)
class LoadedEvent:
    """A saved event in the composer, and the draft that its file contains."""

    file: Path
    draft: EventDraft

    def changed(self, now: EventDraft) -> bool:
        """Return True if the composer's event differs from the file's, apart from its target hook."""
        return replace(self.draft, only=None) != replace(now, only=None)


def loaded_event_title(loaded: LoadedEvent | None, now: EventDraft) -> Content:
    """Return the composer's title: the file of a saved event, and whether the event was changed."""
    if loaded is None:
        return Content("Event")
    changed = Content.styled(" • changed", "$text-warning") if loaded.changed(now) else Content()
    return Content.assemble("Event   ", Content.styled(safe_word(loaded.file.name, 60), MARK_MUTED), changed)


def draft_of_saved(saved: SavedDraft, view: Snapshot) -> EventDraft:
    """Return a file's event as a draft, with its variables unfilled."""
    template = template_event(saved.key, view.host)
    session = template.session_key if saved.session is None else saved.session
    ctx = readable_json({**template.ctx, **saved.ctx}) if has_second_argument(saved.key, view) else ""
    return EventDraft(saved.key, session, readable_json(saved.context), ctx_text=ctx)


def saved_draft_of(draft: EventDraft, event: Event, view: Snapshot) -> SavedDraft:
    """Return the composer's event as it is saved. `event`: the draft's valid event.

    The current settings become `${cfg}`; other settings and the replay mark are omitted.
    """
    settings, in_force = f"${{{CFG}}}", literal(template_event(event.key, view.host).context.get(CFG))
    context = {
        name: value for name, value in parse_context(draft.text).items() if name not in (CFG, REPLAY_MARK)
    }
    if CFG in event.context and event.context[CFG] in (settings, in_force):
        context[CFG] = settings
    ctx = {name: value for name, value in event.ctx.items() if name != REPLAY_MARK}
    template = template_event(event.key, view.host)
    return draft_with_context(replace(event, ctx=ctx), template, context, folders_of(view.host))


def suggested_file_name(key: str) -> str:
    """Return a suggested file name, such as `command-new`."""
    return "-".join("".join(char if char.isalnum() else " " for char in key).split()).lower() or "event"
