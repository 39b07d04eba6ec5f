"""Writes saved events: a fired event as a new file, and a draft over the event of its file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hookscope.app.event_templates import WORKSPACE_FIELD
from hookscope.app.variables import CFG, WORKSPACE, variable_name, with_secret_names
from hookscope.app.yaml_sections import EVENTS_FOLDER
from hookscope.authoring.testing.saved_events import is_saved_event, read_saved, saved_document
from hookscope.formats.positions import FormatError, Span, text_of
from hookscope.formats.yaml12 import locate_yaml, read_yaml
from hookscope.model.payload import json_equal
from hookscope.model.refusal import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.run import Event
from hookscope.storage.edits.change import Change
from hookscope.storage.edits.user_files import WriteChange, write_user_file
from hookscope.storage.journal.redaction import NOTHING_KNOWN, Redaction
from hookscope.values import dataclass

BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")  # valid in JSON, not in YAML
PLAIN = re.compile(r"[A-Za-z_][\w.:/-]*")  # needs no quotes in our files, where keys are always text
NOT_TEXT = "Take out what is no text: half of a surrogate pair, NaN or Infinity."
YAML_WORDS = {"true", "false", "null"}


def saved_event_path(name: str, workspace: Path, cwd: Path) -> Path:
    """Return where an event is saved: the named file, else a file of the workspace.

    Raises Refusal for a name that leads out of the folder of saved events.
    """
    if not is_saved_event(name) and ".." in Path(name).parts:
        next_step = f"Name a file, such as {name}.yaml, or the event alone."
        raise Refusal(f"{name} leads out of {EVENTS_FOLDER}.", next_step, code=2)
    return cwd / name if is_saved_event(name) else workspace / EVENTS_FOLDER / f"{name}.yaml"


def save_event(
    event: Event,
    template: Event,
    file: Path,
    redaction: Redaction = NOTHING_KNOWN,
    *,
    expect: Mapping[str, Any] | None = None,
    write: WriteChange = write_user_file,
) -> tuple[str, ...]:
    """Write the event as a new file; return the variables that replace its secrets.

    The workspace's folder and the current settings are written as `${workspace}` and `${cfg}`; other
    settings are left out, as is everything equal to the template of its key except the context. Raises
    Refusal if the file exists, or no file can hold the event.

    Args:
        redaction: knows secrets that nothing in the event reveals.
        expect: the expectations of its run.
        write: writes the file.
    """
    local = local_values(event.context, template.context)
    context = {name: value for name, value in event.context.items() if name not in (*local, CFG)}
    ctx = {name: value for name, value in event.ctx.items() if template.ctx.get(name) != value}
    masker = redaction.masker(context, ctx, event.session_key)
    document: dict[str, Any] = {"event": event.key}
    if event.session_key != template.session_key:
        document["session"] = with_secret_names(masker.masked_value(event.session_key), literal=True)
    saved = with_secret_names(masker.masked_value(context), literal=True)
    saved = {
        str(name): (saved | local)[str(name)] for name in event.context if name in local or name in context
    }
    for name, value in (
        ("context", saved),
        ("ctx", with_secret_names(masker.masked_value(ctx), literal=True)),
    ):
        if value:
            document[name] = value
    if expect:
        document["expect"] = expect
    source = "".join(f"{line}\n" for line in yaml_lines(document)).encode("utf-8", "replace")
    if not reads_as(source, document):
        raise Refusal(f"The event cannot be saved in {file}: no text file can hold it.", NOT_TEXT)
    if os.path.exists(file):  # unlike Path.exists it accepts invalid names
        raise Refusal(f"There is {file} already.", "Save under another name.")
    write(Change(file, f"save {event.key} as {file.name}", None, source))
    return tuple(variable_name(secret.name) for secret in masker.secrets)


def local_values(context: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, str]:
    """Return the context's values that belong to this machine, as a file writes them."""
    words = {WORKSPACE_FIELD: f"${{{WORKSPACE}}}", CFG: f"${{{CFG}}}"}
    return {
        name: word for name, word in words.items() if name in context and _same_value(name, context, template)
    }


def _same_value(name: str, context: Mapping[str, Any], template: Mapping[str, Any]) -> bool:
    return name in template and json_equal(context[name], template[name])


def yaml_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the lines of a saved event: one per member of a mapping, its value on one line."""
    lines: list[str] = []
    for name, value in document.items():
        if isinstance(value, Mapping):
            lines.append(f"{name}:")
            lines += [f"  {_yaml_word(key)}: {yaml_value(item)}" for key, item in value.items()]
        else:
            lines.append(f"{name}: {_yaml_word(value)}")
    return lines


def _yaml_word(text: str) -> str:
    plain = PLAIN.fullmatch(text) and text.lower() not in YAML_WORDS and not text.endswith(":")
    return text if plain else yaml_value(text)


def yaml_value(value: Any) -> str:
    """Return a value on one line: JSON, which is also YAML except for some characters."""
    written = json.dumps(value, ensure_ascii=False)
    return BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def reads_as(source: bytes, document: Mapping[str, Any]) -> bool:
    """Return whether the source, read as YAML, is this document."""
    try:
        return json_equal(read_yaml(source), document)
    except FormatError:
        return False


DRAFT_PARTS = ("session", "context", "ctx")  # parts that are rewritten; the rest belongs to the author


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """An event's file before variables are filled in. `ctx` is merged into the template's."""

    key: str
    session: str | None = None  # None: as in the template
    context: Mapping[str, Any] = field(default_factory=dict)
    ctx: Mapping[str, Any] = field(default_factory=dict)


def read_draft(file: Path) -> SavedDraft:
    """Return the event of a file as written. Raises Refusal if it is no saved event."""
    saved = read_saved(file)
    return SavedDraft(saved.key, saved.session, saved.context, saved.ctx)


def create_saved_event(
    file: Path,
    draft: SavedDraft,
    write: WriteChange = write_user_file,
    redaction: Redaction = NOTHING_KNOWN,
) -> tuple[str, ...]:
    """Write a draft as a new file; return the variables that replace its secrets.

    Raises Refusal if the file exists, or no file can hold the event.
    """
    document, secret_names = _draft_document(draft, redaction)
    source = "".join(f"{line}\n" for line in yaml_lines(document)).encode("utf-8", "replace")
    if not _reads_as_draft(source, document):
        raise Refusal(f"The event cannot be saved in {file}: no text file can hold it.", NOT_TEXT)
    if os.path.exists(file):
        raise Refusal(f"There is {file} already.", "Save under another name.")
    write(Change(file, f"save {draft.key} as {file.name}", None, source))
    return secret_names


def overwrite_saved_event(
    file: Path,
    draft: SavedDraft,
    write: WriteChange = write_user_file,
    redaction: Redaction = NOTHING_KNOWN,
) -> tuple[str, ...]:
    """Write a draft over the event of its file; return the variables that replace its secrets.

    Only changed values are replaced, in their place; `expect:` and comments stay. Raises Refusal; the file
    is unchanged then.
    """
    before = saved_document(file)
    document, secret_names = _draft_document(draft, redaction)
    source = read_regular(file)
    after = {name: value for name, value in before.items() if name not in (*DRAFT_PARTS, "event")} | document
    new = _rewritten(source, before, document)
    if not _reads_as_draft(new, after):
        raise Refusal(f"{file} cannot be edited with certainty.", "Save under another name.")
    write(Change(file, f"save {draft.key} as {file.name}", source, new))
    return secret_names


def _draft_document(draft: SavedDraft, redaction: Redaction) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a draft's document, and the variables in it that replace secrets."""
    masker = redaction.masker(draft.context, draft.ctx, draft.session or "")
    document: dict[str, Any] = {"event": draft.key}
    if draft.session is not None:
        document["session"] = with_secret_names(masker.masked_text(draft.session))
    for name, value in (("context", draft.context), ("ctx", draft.ctx)):
        if value:
            document[name] = with_secret_names(masker.masked_value(value))
    return document, tuple(variable_name(secret.name) for secret in masker.secrets)


def draft_with_context(event: Event, template: Event, context: Mapping[str, Any]) -> SavedDraft:
    """Return an event as a file has it, with another context; values of its template are left out."""
    ctx = {name: value for name, value in event.ctx.items() if template.ctx.get(name) != value}
    session = event.session_key if event.session_key != template.session_key else None
    return SavedDraft(event.key, session, context, ctx)


def _rewritten(source: bytes, before: Mapping[str, Any], document: Mapping[str, Any]) -> bytes:
    """Return the source with every changed part replaced, last part first."""
    text = text_of(source)
    spans = {name: locate_yaml(source, (name,)) for name in ("event", *DRAFT_PARTS)}
    edits: list[tuple[int, int, str]] = []
    added: list[str] = []
    for name, span in spans.items():
        if json_equal(before.get(name), document.get(name)):
            continue
        if span is None or name not in before:
            added += yaml_lines({name: document[name]})
        elif name == "session" and name not in document:
            edits.append(
                (text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end) + 1 or len(text), "")
            )
        else:
            edits.append((span.start, span.end, _in_place(text, span, document.get(name))))
    for start, end, now in sorted(edits, reverse=True):
        text = text[:start] + now + text[end:]
    if added:
        text = _with_lines(text, added)
    return text.encode("utf-8", "replace")


def _in_place(text: str, span: Span, value: Any) -> str:
    """Return a value in the style of the existing one: one line per member, or a single line."""
    if value is None:
        return "{}"
    indent = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    if isinstance(value, Mapping) and indent and not indent.strip():
        return f"\n{indent}".join(line.strip() for line in yaml_lines({"x": value})[1:])
    return yaml_lines({"x": value})[0].removeprefix("x: ") if isinstance(value, str) else yaml_value(value)


def _with_lines(text: str, lines: list[str]) -> str:
    """Return the text with new parts inserted before `expect:`, else at the end."""
    block = "".join(f"{line}\n" for line in lines)
    at = 0 if text.startswith("expect:") else text.find("\nexpect:") + 1
    if at or text.startswith("expect:"):
        return text[:at] + block + text[at:]
    return text + ("" if text.endswith("\n") or not text else "\n") + block


def _reads_as_draft(source: bytes, document: Mapping[str, Any]) -> bool:
    """Return whether the source is this document; an empty part equals a missing one."""
    try:
        read = read_yaml(source)
    except FormatError:
        return False
    if not isinstance(read, dict):
        return False
    gone = {name for name in ("context", "ctx") if name not in document and not read.get(name)}
    return json_equal({name: value for name, value in read.items() if name not in gone}, document)
