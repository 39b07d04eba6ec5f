"""The event that is being written: what is wrong with it, what it would be. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from hookscope.console.fire.json_places import column_of, line_of, offsets_of
from hookscope.console.fire.references import unset_in
from hookscope.console.marks import count, word
from hookscope.core.event_notes import placed_notes
from hookscope.core.runs import Event
from hookscope.core.text import has_controls, with_signs
from hookscope.values import dataclass
from hookscope.workbench.compose import BadContext, check_complete, parse_context, template
from hookscope.workbench.filling import Filling, filled_event
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.variables import escaped as literal

if TYPE_CHECKING:
    from hookscope.workbench import View

SMALL = 400  # characters of settings that may stand in the text
CFG = "cfg"
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\]:]')


@dataclass(frozen=True, slots=True)
class Draft:
    """What the composer holds."""

    key: str = ""
    session: str = ""
    text: str = ""
    only: str | None = None
    cfg: Mapping[str, Any] | None = None  # settings in force, too long for the text
    ctx_text: str = ""  # the second argument of stream and plugin handlers
    meta: Mapping[str, Any] = field(default_factory=dict)  # of a stream's envelope


@dataclass(frozen=True, slots=True)
class Noted:
    """Something odd."""

    text: str
    field: str = ""  # the name of the field that it is about, or in
    in_ctx: bool = False
    line: int = 0  # 1 and up; 0: not in the text
    column: int = 0

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft read: the event, or what is wrong and where."""

    event: Event | None
    problem: str = ""
    line: int = 0  # 1 and up; 0: not in the text
    column: int = 0
    in_ctx: bool = False  # is the place in the text of `ctx`
    notes: tuple[Noted, ...] = ()  # worth knowing, stop nothing


def template_draft(key: str, view: View, only: str | None = None) -> Draft:
    """A realistic event of that key as text."""
    return replace(event_draft(template(key, view.host), only), key=key)


def event_draft(event: Event, only: str | None = None) -> Draft:
    """An event as text. Long settings stay out of the text, and are kept."""
    context = dict(event.context)
    held = None
    if len(as_json(context.get(CFG, {}))) >= SMALL:
        held = context.pop(CFG)
    context = literal(context)
    ctx = as_json(literal(event.ctx)) if event.kind != "folder" else ""
    return Draft(event.key, literal(event.session_key), as_json(context), only, held, ctx, event.meta)


def has_ctx(key: str, view: View | None) -> bool:
    """Do handlers of this event get a second argument?"""
    return view is not None and view.host.dialect.event_of(key).kind != "folder"


def check(draft: Draft, view: View | None, filling: Filling | None = None) -> Checked:
    """The event of a draft as it is written, or why it is none. Without `filling` variables are let be."""
    key = draft.key.strip()
    if not key:
        return Checked(None, "an event key is wanted, such as command:new")
    kind, _, action = key.partition(":")
    if not kind or has_controls(key) or " " in key:
        return Checked(None, f"{word(key, 60)} is no event key; one looks like command:new")
    try:
        context = parse_context(draft.text)
    except BadContext as error:
        return Checked(None, error.problem, error.line, error.column)
    try:
        ctx = parse_context(draft.ctx_text) if has_ctx(key, view) else {}
    except BadContext as error:
        return Checked(None, error.problem, error.line, error.column, in_ctx=True)
    if draft.cfg is not None:
        context.setdefault(CFG, literal(draft.cfg))
    bare = view.host.dialect.event_of(key) if view is not None else Event(kind, action)
    event = replace(bare, session_key=draft.session, context=context, ctx=ctx, meta=draft.meta)
    meant = event
    if filling is not None:
        unset = mistake_in(draft, event, filling)
        if unset is not None:
            return unset
        meant = filled_event(event, filling)
    if view is not None:
        try:
            check_complete(meant, view.host)
        except Refusal as refused:
            return Checked(None, refused.what.rstrip("."))
    if view is None:
        return Checked(event)
    note = key_note(key, view)
    return Checked(event, notes=(Noted(note),) if note else context_notes(meant, draft, view))


def mistake_in(draft: Draft, event: Event, filling: Filling) -> Checked | None:
    """The first variable that cannot be filled, as what is wrong with the draft."""
    if filling.problem:
        return Checked(None, filling.problem)
    variables, now = filling.variables, event.timestamp
    session = unset_in(event.session_key, "", variables, now)
    if session is not None:
        return Checked(None, f"the session: {session.problem}")
    for value, text, in_ctx in ((event.context, draft.text, False), (event.ctx, draft.ctx_text, True)):
        unset = unset_in(value, text, variables, now)
        if unset is not None and unset.at is not None:
            line, column = line_of(text, unset.at), column_of(text, unset.at)
            return Checked(None, unset.problem, line, column, in_ctx=in_ctx)
        if unset is not None:
            return Checked(None, unset.problem)
    return None


def key_note(key: str, view: View) -> str:
    """What is odd about an event key; empty where nothing is."""
    catalogue, product = view.host.dialect.catalogue(), view.host.dialect.product
    if catalogue.sends(key):
        return ""
    if key in catalogue.by_key:
        return f"{product} documents {key} and never sends it"
    if key in view.host.dialect.later:
        return f"not in {product}'s guide; {view.host.dialect.later[key]} sends it"
    near = catalogue.nearest(key)
    hint = f": did you mean {near}?" if near and near != key else ""
    return f"no event of {product}{hint}"


def context_notes(event: Event, draft: Draft, view: View) -> tuple[Noted, ...]:
    """What is odd about the context and `ctx`, with its lines."""
    notes = placed_notes(event, view.host.dialect.catalogue())
    texts = {False: draft.text, True: draft.ctx_text}
    offsets = {
        in_ctx: offsets_of(text, [note.path for note in notes if note.in_ctx == in_ctx])
        for in_ctx, text in texts.items()
    }
    found = ((note, texts[note.in_ctx], offsets[note.in_ctx].get(note.path)) for note in notes)
    return tuple(
        Noted(
            word(note.text, 160),
            str(note.path[0]),
            note.in_ctx,
            line_of(text, at) if at is not None else 0,
            column_of(text, at) if at is not None else 0,
        )
        for note, text, at in found
    )


def same_event(first: Event | None, second: Event | None) -> bool:
    """Are two drafts' events alike but for the moment of writing?"""
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


def as_json(value: Any) -> str:
    """Readable JSON without a raw control character: those stand as their escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return escaped(text)


def escaped(text: str) -> str:
    """Text as it may enter the editor: what would not be seen stands as its JSON escape."""
    return with_signs(text.replace("\r\n", "\n").replace("\r", "\n"), _json_escape)


def _json_escape(character: str) -> str:
    """Its UTF-16 units, as JSON writes them."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def field_at(text: str, line: int, column: int) -> str | None:
    """The top-level key whose value the cursor stands in. `line` and `column` count from 0.

    A scanner that forgives everything: the text is being written and seldom valid.
    """
    rows = text.split("\n")
    start = sum(len(row) + 1 for row in rows[:line])
    end = start + len(rows[line]) if line < len(rows) else len(text)
    depth, last, found = 0, None, None
    for token in TOKEN.finditer(text, 0, end):
        sign = token[0]
        if sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        elif sign == ":" and depth == 1 and last is not None:
            # Of several keys on the cursor's own line: the last one before it, else the first.
            first_here = last.start() >= start and (found is None or found.start() < start)
            if last.start() <= start + column or first_here:
                found = last
        last = token if sign.startswith('"') else None
    return found[0].strip('"') if found is not None else None


def cfg_note(draft: Draft) -> str:
    """How the settings get into the event where the text does not show them."""
    if draft.cfg is None:
        return ""
    return f"cfg: settings in force ({count(len(draft.cfg), 'key')})"
