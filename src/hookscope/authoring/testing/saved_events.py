"""Saved events: small YAML files that can be read, listed and fired."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.app.project_config import EVENTS_FOLDER, YAML_ENDINGS, YamlSection, files_below, read_section
from hookscope.app.variables import CFG, filled_value, variable_name, with_folder_names, with_secret_names
from hookscope.authoring.testing.expectations import PATTERNS, literal_pattern
from hookscope.formats.positions import FormatError, Span, text_of
from hookscope.formats.yaml12 import locate_yaml, read_yaml
from hookscope.model.failure import Refusal
from hookscope.model.payload import json_equal
from hookscope.model.regular_file import read_regular
from hookscope.model.run import Event
from hookscope.storage.edits.change import Change, WriteChange, write_user_file
from hookscope.storage.journal.redaction import NOTHING_KNOWN, Redaction
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")  # valid in JSON, not in YAML
PLAIN = re.compile(r"[A-Za-z_][\w.:/-]*")  # needs no quotes in our files, where keys are always text
NOT_TEXT = "Remove what is not text: half of a surrogate pair, NaN or Infinity."
YAML_WORDS = {"true", "false", "null"}


def saved_event_path(name: str, workspace: Path, cwd: Path) -> Path:
    """Return where an event is saved: the named file, else a file of the workspace.

    Raises Refusal for a name that leads outside the folder of saved events.
    """
    if not is_saved_event(name) and ".." in Path(name).parts:
        next_step = f"Name a file, such as {name}.yaml, or use a name without `..`."
        raise Refusal(f"{name} leads outside {EVENTS_FOLDER}.", next_step, code=2)
    return cwd / name if is_saved_event(name) else workspace / EVENTS_FOLDER / f"{name}.yaml"


def save_event(
    event: Event,
    template: Event,
    file: Path,
    redaction: Redaction = NOTHING_KNOWN,
    *,
    folders: Mapping[str, str],
    expect: Mapping[str, Any] | None = None,
    write: WriteChange = write_user_file,
) -> tuple[str, ...]:
    """Write the event as a new file; return the variables that replace its secrets.

    Paths of the workspace begin with `${workspace}`, those of the host's state folder with `${state}`, and
    the current settings are `${cfg}`. Other settings are omitted, and so are values, except in the context,
    that equal the event's template. Raises Refusal if the file exists, or no file can hold the event.

    Args:
        redaction: known secrets, which nothing in the event marks as secret.
        folders: folders that differ between machines, by variable; see `folders_of`.
        expect: the expectations of its run.
        write: writes the file.
    """
    context = {name: value for name, value in event.context.items() if name != CFG}
    has_settings = CFG in event.context and CFG in template.context
    local = (
        {CFG: f"${{{CFG}}}"} if has_settings and json_equal(event.context[CFG], template.context[CFG]) else {}
    )
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
            document[name] = with_folder_names(value, folders)
    if expect:
        document["expect"] = expect
    source = new_source(file, document)
    if not reads_as(source, document):
        raise Refusal(f"The event cannot be saved in {file}: no text file can hold it.", NOT_TEXT)
    if os.path.exists(file):  # unlike Path.exists it accepts invalid names
        raise Refusal(f"{file} already exists.", "Save under another name.")
    write(Change(file, f"save {event.key} as {file.name}", None, source))
    return tuple(variable_name(secret.name) for secret in masker.secrets)


SCHEMA_FILE = "event.schema.json"  # what `hookscope schema event` prints


def new_source(file: Path, document: Mapping[str, Any]) -> bytes:
    """Return the source of a new saved event. Names its schema for editors if that is in the same folder."""
    has_schema = os.path.isfile(file.parent / SCHEMA_FILE)
    named = [f"# yaml-language-server: $schema={SCHEMA_FILE}"] if has_schema else []
    return "".join(f"{line}\n" for line in [*named, *yaml_lines(document)]).encode("utf-8", "replace")


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
    """Return the event of a file as written. Raises Refusal if it is not a saved event."""
    saved = read_saved(file)
    return SavedDraft(saved.key, saved.session, saved.context, saved.ctx)


def create_saved_event(
    file: Path, draft: SavedDraft, write: WriteChange, redaction: Redaction
) -> tuple[str, ...]:
    """Write a draft as a new file; return the variables that replace its secrets.

    Raises Refusal if the file exists, or no file can hold the event.
    """
    document, secret_names = _draft_document(draft, redaction)
    source = new_source(file, document)
    if not _reads_as_draft(source, document):
        raise Refusal(f"The event cannot be saved in {file}: no text file can hold it.", NOT_TEXT)
    if os.path.exists(file):
        raise Refusal(f"{file} already exists.", "Save under another name.")
    write(Change(file, f"save {draft.key} as {file.name}", None, source))
    return secret_names


def overwrite_saved_event(
    file: Path, draft: SavedDraft, write: WriteChange = write_user_file, redaction: Redaction = NOTHING_KNOWN
) -> tuple[str, ...]:
    """Write a draft over the event of its file; return the variables that replace its secrets.

    Only changed values are replaced, in their place; `expect:` and comments stay. Raises Refusal and
    leaves the file unchanged if it cannot be edited safely.
    """
    before = saved_document(file)
    document, secret_names = _draft_document(draft, redaction)
    source = read_regular(file)
    after = {name: value for name, value in before.items() if name not in (*DRAFT_PARTS, "event")} | document
    new = _rewritten(source, before, document)
    if not _reads_as_draft(new, after):
        raise Refusal(f"{file} cannot be edited safely.", "Save under another name.")
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


def draft_with_context(
    event: Event, template: Event, context: Mapping[str, Any], folders: Mapping[str, str]
) -> SavedDraft:
    """Return an event as a draft with this context, without session and ctx values of its template."""
    ctx = {name: value for name, value in event.ctx.items() if template.ctx.get(name) != value}
    session = event.session_key if event.session_key != template.session_key else None
    return SavedDraft(
        event.key, session, with_folder_names(context, folders), with_folder_names(ctx, folders)
    )


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
    return read_section(file, "a saved event: it needs a mapping with `event: KEY`")


def saved_event_in(section: YamlSection) -> SavedEvent:
    """Return the event in a file or a part of one. Raises Refusal."""
    if "steps" in section.value and "event" not in section.value:
        raise Refusal(f"{section.file} is a sequence.", "`hookscope sequence FILE` fires it.", code=2)
    section.check_keys(EVENT_KEYS, "An event")
    key = section.value.get("event")
    if not isinstance(key, str) or not key:
        raise section.refusal("`event` needs a key such as command:new.", "event")
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
    """Return the event to fire now, with variables and times filled in and its secrets collected.

    What the file omits comes from the event's template, except the context. `${now}` is the event's own
    time, which `at` sets. Raises Refusal.
    """
    event = bench.template(view, saved.key)
    variables, where = bench.filler.variables_of(view.host), saved.place or str(saved.file)
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
    variables, where = bench.filler.variables_of(view.host), saved.place or str(saved.file)
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
    """Return an ISO time in UTC; without a time zone it is taken as UTC. Raises Refusal."""
    try:
        moment = datetime.fromisoformat(str(at))
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        next_step = "Write `at` as 2026-01-30T09:00:00Z or ${now-1h}."
        raise Refusal(f"{where} has `at: {at}`, which is not a time.", next_step, code=2) from None


def read_saved_event(bench: Workbench, view: Snapshot, file: Path) -> Event:
    """Return the event in a file, to be fired now; see `event_to_fire`. Raises Refusal."""
    return event_to_fire(bench, view, read_saved(file))


def saved_document(file: Path) -> Mapping[str, Any]:
    """Return the checked document of a saved event, without variables filled in. Raises Refusal."""
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
