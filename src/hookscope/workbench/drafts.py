"""A saved event as its author wrote it, variables and all: read to be edited, written back in place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hookscope.changes import Change
from hookscope.core.alike import alike
from hookscope.core.regular_file import read_regular
from hookscope.core.runs import Event
from hookscope.formats import FormatError, locate_yaml, read_yaml, text_of
from hookscope.formats.places import Span
from hookscope.journal.redaction import NOTHING_KNOWN, Redaction
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saved import read_saved, saved_document
from hookscope.workbench.saving import NOT_TEXT, flow, named, rendered, variable_name
from hookscope.workbench.user_files import Write, write

PARTS = ("session", "context", "ctx")  # what is rewritten; everything else in a file is its author's


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """What an event's file says, nothing filled in. `ctx` is laid over that of the event's template."""

    key: str
    session: str | None = None  # None: as in the template
    context: Mapping[str, Any] = field(default_factory=dict)
    ctx: Mapping[str, Any] = field(default_factory=dict)


def read_draft(file: Path) -> SavedDraft:
    """The event of a file as it is written. Raises Refusal for what is no saved event."""
    saved = read_saved(file)
    return SavedDraft(saved.key, saved.session, saved.context, saved.ctx)


def create(
    file: Path, draft: SavedDraft, writing: Write = write, redaction: Redaction = NOTHING_KNOWN
) -> tuple[str, ...]:
    """Write a draft as a new file, and never over another; the variables that stand for its secrets.

    Raises Refusal where there is such a file, or no file can hold the event.
    """
    wanted, hidden = _document(draft, redaction)
    source = "".join(f"{line}\n" for line in rendered(wanted)).encode("utf-8", "replace")
    if not _says(source, wanted):
        raise Refusal(f"The event cannot be saved in {file}: no text file can hold it.", NOT_TEXT)
    if os.path.exists(file):
        raise Refusal(f"There is {file} already.", "Save under another name.")
    writing(Change(file, f"save {draft.key} as {file.name}", None, source))
    return hidden


def overwrite(
    file: Path, draft: SavedDraft, writing: Write = write, redaction: Redaction = NOTHING_KNOWN
) -> tuple[str, ...]:
    """Write a draft over the event that its file holds; the variables that stand for its secrets.

    Only the values that are others now are replaced where they stand, `expect:` and comments beside them
    stay. Raises Refusal, and then the file is as it was.
    """
    before = saved_document(file)
    wanted, hidden = _document(draft, redaction)
    source = read_regular(file)
    after = {name: value for name, value in before.items() if name not in (*PARTS, "event")} | wanted
    new = _rewritten(source, before, wanted)
    if not _says(new, after):
        raise Refusal(f"{file} cannot be edited with certainty.", "Save under another name.")
    writing(Change(file, f"save {draft.key} as {file.name}", source, new))
    return hidden


def _document(draft: SavedDraft, redaction: Redaction) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What the file of a draft says, and the variables in it that stand for secrets."""
    veil = redaction.veil(draft.context, draft.ctx, draft.session or "")
    document: dict[str, Any] = {"event": draft.key}
    if draft.session is not None:
        document["session"] = named(veil.text(draft.session))
    for name, value in (("context", draft.context), ("ctx", draft.ctx)):
        if value:
            document[name] = named(veil.value(value))
    return document, tuple(variable_name(secret.name) for secret in veil.secrets)


def draft_of(event: Event, template: Event, context: Mapping[str, Any]) -> SavedDraft:
    """An event as a file would say it, with `context` in place of its own: what its template says too is
    left out."""
    ctx = {name: value for name, value in event.ctx.items() if template.ctx.get(name) != value}
    session = event.session_key if event.session_key != template.session_key else None
    return SavedDraft(event.key, session, context, ctx)


def _rewritten(source: bytes, before: Mapping[str, Any], wanted: Mapping[str, Any]) -> bytes:
    """The source with every part replaced that is another now, from the last to the first."""
    text = text_of(source)
    spans = {name: locate_yaml(source, (name,)) for name in ("event", *PARTS)}
    edits: list[tuple[int, int, str]] = []
    added: list[str] = []
    for name, span in spans.items():
        if alike(before.get(name), wanted.get(name)):
            continue
        if span is None or name not in before:
            added += rendered({name: wanted[name]})
        elif name == "session" and name not in wanted:
            edits.append(
                (text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end) + 1 or len(text), "")
            )
        else:
            edits.append((span.start, span.end, _in_place(text, span, wanted.get(name))))
    for start, end, now in sorted(edits, reverse=True):
        text = text[:start] + now + text[end:]
    if added:
        text = _with_lines(text, added)
    return text.encode("utf-8", "replace")


def _in_place(text: str, span: Span, value: Any) -> str:
    """A value in the style of the one that stands there: a line for each name, or all on one."""
    if value is None:
        return "{}"
    indent = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    if isinstance(value, Mapping) and indent and not indent.strip():
        return f"\n{indent}".join(line.strip() for line in rendered({"x": value})[1:])
    return rendered({"x": value})[0].removeprefix("x: ") if isinstance(value, str) else flow(value)


def _with_lines(text: str, lines: list[str]) -> str:
    """New parts stand before `expect:`, else at the end."""
    block = "".join(f"{line}\n" for line in lines)
    at = 0 if text.startswith("expect:") else text.find("\nexpect:") + 1
    if at or text.startswith("expect:"):
        return text[:at] + block + text[at:]
    return text + ("" if text.endswith("\n") or not text else "\n") + block


def _says(source: bytes, document: Mapping[str, Any]) -> bool:
    """Is that what the source says; a part that is empty is as good as one that is absent."""
    try:
        read = read_yaml(source)
    except FormatError:
        return False
    if not isinstance(read, dict):
        return False
    gone = {name for name in ("context", "ctx") if name not in document and not read.get(name)}
    return alike({name: value for name, value in read.items() if name not in gone}, document)
