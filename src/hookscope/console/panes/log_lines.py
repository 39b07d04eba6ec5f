"""The texts of the log: the line of an entry, the filter chips, and the details of a run or event. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.style import Style

from hookscope.console.keymap.active_keys import key_of
from hookscope.console.state.log_entries import LEVEL_ALIASES, LogChips, LogEntry
from hookscope.console.theme.text_styles import (
    MARK_MUTED,
    MUTED,
    OUTCOME_MARKS,
    counted,
    fixed_width,
    keep_ends,
    safe_line,
    safe_text,
    safe_word,
)
from hookscope.model.failure import outcome_text
from hookscope.model.text import duration, in_local_time, one_line

if TYPE_CHECKING:
    from hookscope.model.run import Result, Run

LEVEL_SIGNS: Mapping[str, tuple[str, str]] = {
    "error": ("✗", "$text-error"),
    "warn": ("!", "$text-warning"),
    "debug": ("·", MARK_MUTED),
}
KIND_SIGNS: Mapping[str, str] = {"real": "≈"}  # a host's real event
KIND_WIDTH, SHORT_KIND_WIDTH = 10, 8  # cells: quarantine, accepted
LEVEL_WIDTH = 5  # cells: error, the longest level
ROOMY_LOG_WIDTH = 100  # cells; wider logs show milliseconds, the level as a word too, and longer subjects
NARROW_LOG_WIDTH = 64  # cells; narrower logs show no kind
LEAST_SUBJECT, MOST_SUBJECT = 10, 26  # cells of the subjects' column
LONGEST_ENTRY = 600  # characters of an entry's text
TEXT_INDENT = 2  # cells before the text of an entry, if it has its own line


def entry_line(entry: LogEntry, width: int, mark: str = "", widest: int = MOST_SUBJECT) -> Content:
    """Return the line of an entry: time, level, kind, subject, text. A narrow line has no kind.

    `mark`: the sign of a folded or unfolded run, shown after the kind. `widest`: the cells of the widest
    subject in the log.
    """
    prefix = _entry_prefix(entry, width, mark, _subject_width(width, widest))
    text = Content(safe_word(entry.text, LONGEST_ENTRY))
    return prefix + text.truncate(max(width - prefix.cell_length, 1), ellipsis=True)


def entry_lines(entry: LogEntry, width: int, mark: str = "", _: int = 0) -> Content:
    """Return the two lines of an entry in a narrow log: everything but the text, then the text."""
    first = _entry_prefix(entry, width, mark, _room_of_subject(width)).truncate(width, ellipsis=True)
    text = Content(" " * TEXT_INDENT + safe_word(entry.text, LONGEST_ENTRY))
    return Content("\n").join([first, text.truncate(max(width, 1), ellipsis=True)])


def is_cut(entry: LogEntry, width: int, row_height: int, widest: int) -> bool:
    """Return True if the lines of an entry, of this width, truncate its subject or text."""
    text = Content(safe_word(entry.text, LONGEST_ENTRY + 1)).cell_length
    subject = Content(safe_word(entry.subject, 200)).cell_length
    if row_height > 1:
        return text > width - TEXT_INDENT or subject > _room_of_subject(width)
    room = _subject_width(width, widest)
    return text > width - _entry_prefix(entry, width, "", room).cell_length or subject > room


def _room_of_subject(width: int) -> int:
    """Return the cells of the subject on the first of two lines: those after time, sign and fold sign."""
    return max(10, width - 14)


def _entry_prefix(entry: LogEntry, width: int, mark: str, subject_width: int) -> Content:
    at = in_local_time(entry.at)
    roomy, narrow = width >= ROOMY_LOG_WIDTH, width < NARROW_LOG_WIDTH
    time = f"{at:%H:%M:%S}.{at.microsecond // 1000:03}" if roomy else f"{at:%H:%M:%S}"
    level = LEVEL_ALIASES.get(entry.level.lower(), entry.level.lower())
    glyph, style = LEVEL_SIGNS.get(level, (" ", MARK_MUTED))
    kind_name = entry.kind
    if entry.kind in KIND_SIGNS and roomy:
        kind_name = f"{KIND_SIGNS[entry.kind]} {entry.kind}"
    elif entry.kind in KIND_SIGNS and glyph == " ":
        glyph, style = KIND_SIGNS[entry.kind], ""  # in any theme
    word = fixed_width(safe_word(level, 40), LEVEL_WIDTH, style) + "  " if roomy else ""
    kind_width = KIND_WIDTH if roomy else SHORT_KIND_WIDTH
    kind = fixed_width(safe_word(f"{kind_name} {mark}".rstrip(), 40), kind_width, MARK_MUTED) + " "
    return Content.assemble(
        Content.styled(f"{time} " if narrow else f"{time}  ", MARK_MUTED),
        Content.styled(f"{glyph} ", style),
        word,
        Content.styled(f"{mark or ' '} ", MARK_MUTED) if narrow else kind,
        fixed_width(keep_ends(safe_word(entry.subject, 200), subject_width), subject_width),
        " " if narrow else "  ",
    )


def _subject_width(width: int, widest: int) -> int:
    """Return the cells of the subjects' column: as many as the widest subject needs, if the text has room."""
    return max(LEAST_SUBJECT, min(widest, width // 3, MOST_SUBJECT, max(22, width // 5)))


MOST_EFFECTS = 12  # messages and changes of one handler that are listed
MOST_NOT_RUN = 20  # hooks that did not run
LONGEST_VALUE = 200  # characters of a changed value
LONGEST_CONTEXT = 4_000  # characters of an event's payload
CHIP_TITLES = {"event": "event", "hook": "hook", "outcome": "outcome", "origin": "from"}
LONGEST_CHIP = 18  # characters of a chip's value


def chips_line(chips: LogChips, width: int) -> Content:
    """Return the filter chips, each with its key and its value; a click presses the key.

    If they are too long for the width, those that filter come first.
    """
    narrow = width < NARROW_LOG_WIDTH
    gap, parts, filtering = Content("  " if narrow else "   "), [], []
    for name, title in CHIP_TITLES.items():
        key, value = key_of(f"log.{name}_chip"), getattr(chips, name)
        shown = "" if narrow and not value else " " + safe_word(value or "all", LONGEST_CHIP)
        chip = Content.assemble((key, "bold"), f" {title}", shown)
        chip = chip.stylize("bold $text-accent" if value else MUTED)
        parts.append(chip.stylize(Style.from_meta({"@click": f"app.simulate_key('{key}')"})))
        filtering += parts[-1:] if value else []
    line = gap.join(parts)
    if line.cell_length > width:
        return gap.join([*filtering, *(part for part in parts if part not in filtering)])
    return line


def handler_head(result: Result) -> Content:
    """Return a handler's mark, name and time."""
    mark = OUTCOME_MARKS[result.status]
    return Content.assemble(
        (f"{mark.glyph} ", mark.style),
        safe_line(result.hook, 60).stylize("bold"),
        (f"  {duration(result.took)}", MUTED),
    )


def handler_effects(result: Result) -> Iterator[Content]:
    """Yield what a handler did, a line each: its error, answer, messages, changes and output."""
    if result.error is not None:
        yield safe_line(outcome_text(result.status, result.error), 400).stylize("$text-error")
    if result.returned is not None:
        yield Content.styled("returned ", MUTED) + safe_line(_value_text(result.returned), LONGEST_VALUE)
    effects = [Content.styled("message ", MUTED) + safe_line(text, 400) for text in result.messages]
    changes = (one for one in result.patch if not str(one.get("path", "")).startswith("/messages"))
    effects += map(_change_line, changes)
    yield from effects[:MOST_EFFECTS]
    if len(effects) > MOST_EFFECTS:
        yield Content.styled(f"{counted(len(effects) - MOST_EFFECTS, 'more change')}", MUTED)
    for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        if text.strip():
            yield Content.styled(f"{name} ", MUTED) + safe_line(text, 400).stylize(MUTED)


def _change_line(operation: Mapping[str, Any]) -> Content:
    path = str(operation.get("path", "")).strip("/").replace("/", ".").replace("~1", "/").replace("~0", "~")
    if operation.get("op") == "remove":
        return Content.assemble(("- ", "$text-error"), safe_line(path, 120))
    sign = ("+ ", "$text-success") if operation.get("op") == "add" else ("± ", "$text-warning")
    value = _value_text(operation.get("value"))
    return Content.assemble(sign, safe_line(path, 120), " = ", safe_line(value, LONGEST_VALUE))


def _value_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[: LONGEST_VALUE * 4]


def run_details(number: int, run: Run, only: str = "") -> Content:
    """Return the outcome of a run, each handler with its effects, and the hooks that did not run.

    `only`: the hook of the only handlers to list.
    """
    return Content("\n").join(_run_lines(number, run, only))


def _run_lines(number: int, run: Run, only: str) -> Iterator[Content]:
    failed = len(run.failed)
    outcome = (f"✗ {failed} failed", "$text-error") if failed else ("✓ ok", "$text-success")
    if run.cancelled:
        outcome = ("⊘ cancelled", "$text-warning")
    yield Content.assemble(
        (f"Run {number}  ", "bold"),
        safe_line(run.event.key, 60).stylize("bold"),
        "  ",
        outcome,
        (f"  {duration(run.took)}", MUTED),
    )
    if run.ending.verdict:
        yield Content("→ ") + safe_line(run.ending.verdict, 300)
    if run.guarded is not None:
        yield Content.styled(f"on copies: {counted(len(run.guarded.changes), 'file')} changed", MUTED)
    yield Content()
    for result in run.results:
        if only in ("", result.call.name):
            yield handler_head(result)
            yield from (Content("  ") + line for line in handler_effects(result))
    skipped = [item for item in run.not_run if item.subscribed and not item.exclusion and not only]
    if skipped:
        yield Content()
    for item in skipped[:MOST_NOT_RUN]:
        yield Content.assemble("– ", safe_line(item.name, 60), ("  " + one_line(item.reason, 200), MUTED))


def real_details(key: str, session: str, payload: Mapping[str, Any], would_run: Sequence[str]) -> Content:
    """Return the session and payload of a real event, and the hooks that a replay would call."""
    hooks = ", ".join(one_line(name, 40) for name in would_run) or "no hook"
    text = json.dumps(payload, indent=2, ensure_ascii=False, default=str)
    return Content("\n").join(
        [
            Content.assemble(
                ("≈ real event  ", MUTED),
                safe_line(key, 60).stylize("bold"),
                ("  " + one_line(session, 60), MUTED),
            ),
            Content.assemble(
                (f"{key_of('lines.choose')} replays it on copies of your files: ", MUTED), hooks
            ),
            Content(),
            safe_text(text, LONGEST_CONTEXT),
        ]
    )


def entry_details(entry: LogEntry) -> Content:
    """Return a whole entry."""
    at = in_local_time(entry.at)
    kind = f"{safe_word(entry.kind, 40)} · {safe_word(entry.level, 40)}"
    return Content("\n").join(
        [
            Content.assemble(
                safe_line(entry.subject or entry.kind, 200).stylize("bold"),
                (f"  {kind} · {at:%Y-%m-%d %H:%M:%S}", MUTED),
            ),
            Content(),
            safe_text(entry.text),
        ]
    )
