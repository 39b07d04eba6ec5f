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
    safe_line,
    safe_text,
    safe_word,
)
from hookscope.model.failure import outcome_text
from hookscope.model.text import duration, in_local_time, one_line

if TYPE_CHECKING:
    from hookscope.model.run import NotRun, Result, Run

LEVEL_SIGNS: Mapping[str, tuple[str, str]] = {
    "error": ("✗", "$text-error"),
    "warn": ("!", "$text-warning"),
    "debug": ("·", MARK_MUTED),
}
KIND_SIGNS: Mapping[str, tuple[str, str]] = {"real": ("≈", "")}  # a host's real event, in any theme
KIND_WIDTH, SHORT_KIND_WIDTH = 10, 8  # cells: quarantine, accepted
LEVEL_WIDTH = 5  # cells: error, the longest level
WIDE_LOG_WIDTH = 130  # cells; wider logs show the level as a word too
ROOMY_LOG_WIDTH = 100  # cells; wider logs show milliseconds and longer subjects
NARROW_LOG_WIDTH = 64  # cells; narrower logs show no kind
LONGEST_ENTRY = 600  # characters of an entry's text
TEXT_INDENT = 2  # cells before the text of an entry, if it has its own line


def entry_line(entry: LogEntry, width: int, mark: str = "") -> Content:
    """Return the line of an entry: time, level, kind, subject, text. A narrow line has no kind.

    `mark`: the sign of a folded or unfolded run, shown after the kind.
    """
    prefix = _entry_prefix(entry, width, mark)
    text = Content(safe_word(entry.text, LONGEST_ENTRY))
    return prefix + text.truncate(max(width - prefix.cell_length, 1), ellipsis=True)


def entry_lines(entry: LogEntry, width: int, mark: str = "") -> Content:
    """Return the two lines of an entry in a narrow log: everything but the text, then the text."""
    first = _entry_prefix(entry, width, mark, _room_of_subject(width)).truncate(width, ellipsis=True)
    text = Content(" " * TEXT_INDENT + safe_word(entry.text, LONGEST_ENTRY))
    return Content("\n").join([first, text.truncate(max(width, 1), ellipsis=True)])


def is_cut(entry: LogEntry, width: int, row_height: int = 1) -> bool:
    """Return True if the lines of an entry, of this width, truncate its subject or text."""
    text = Content(safe_word(entry.text, LONGEST_ENTRY + 1)).cell_length
    subject = Content(safe_word(entry.subject, 200)).cell_length
    if row_height > 1:
        return text > width - TEXT_INDENT or subject > _room_of_subject(width)
    return text > width - _entry_prefix(entry, width).cell_length or subject > _subject_width(width)


def _room_of_subject(width: int) -> int:
    """Return the cells of the subject on the first of two lines: those after time, sign and fold sign."""
    return max(10, width - 14)


def _entry_prefix(entry: LogEntry, width: int, mark: str = "", subject_width: int = 0) -> Content:
    """Return everything before the text. `subject_width`: if it does not follow from the line's width."""
    at = in_local_time(entry.at)
    roomy, narrow = width >= ROOMY_LOG_WIDTH, width < NARROW_LOG_WIDTH
    time = f"{at:%H:%M:%S}.{at.microsecond // 1000:03}" if roomy else f"{at:%H:%M:%S}"
    level = LEVEL_ALIASES.get(entry.level.lower(), entry.level.lower())
    glyph, style = LEVEL_SIGNS.get(level, (" ", MARK_MUTED))
    if glyph == " ":
        glyph, style = KIND_SIGNS.get(entry.kind, (glyph, style))
    word = fixed_width(safe_word(level, 40), LEVEL_WIDTH, style) + "  " if width >= WIDE_LOG_WIDTH else ""
    kind_width = KIND_WIDTH if roomy else SHORT_KIND_WIDTH
    kind = fixed_width(safe_word(f"{entry.kind} {mark}".rstrip(), 40), kind_width, MARK_MUTED) + " "
    return Content.assemble(
        Content.styled(f"{time} " if narrow else f"{time}  ", MARK_MUTED),
        Content.styled(f"{glyph} ", style),
        word,
        Content.styled(f"{mark or ' '} ", MARK_MUTED) if narrow else kind,
        fixed_width(safe_word(entry.subject, 200), subject_width or _subject_width(width)),
        " " if narrow else "  ",
    )


def _subject_width(width: int) -> int:
    return max(10, min(width // 3, 26, max(18, width // 5)))


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
    effects += [_change_line(operation) for operation in result.patch if not _is_message(operation)]
    yield from effects[:MOST_EFFECTS]
    if len(effects) > MOST_EFFECTS:
        yield Content.styled(f"{counted(len(effects) - MOST_EFFECTS, 'more change')}", MUTED)
    for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        if text.strip():
            yield Content.styled(f"{name} ", MUTED) + safe_line(text, 400).stylize(MUTED)


def _is_message(operation: Mapping[str, Any]) -> bool:
    return str(operation.get("path", "")).startswith("/messages")  # listed as messages already


def _change_line(operation: Mapping[str, Any]) -> Content:
    path = str(operation.get("path", "")).strip("/").replace("/", ".").replace("~1", "/").replace("~0", "~")
    if operation.get("op") == "remove":
        return Content.assemble(("- ", "$text-error"), safe_line(path, 120))
    sign = ("+ ", "$text-success") if operation.get("op") == "add" else ("± ", "$text-warning")
    value = _value_text(operation.get("value"))
    return Content.assemble(sign, safe_line(path, 120), " = ", safe_line(value, LONGEST_VALUE))


def _value_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[: LONGEST_VALUE * 4]


def run_details(number: int, run: Run) -> Content:
    """Return the outcome of a run, each handler with its effects, and the hooks that did not run."""
    return Content("\n").join(_run_lines(number, run))


def _run_lines(number: int, run: Run) -> Iterator[Content]:
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
    for result in run.results:
        yield Content()
        yield handler_head(result)
        yield from (Content("  ") + line for line in handler_effects(result))
    skipped = [item for item in run.not_run if item.subscribed and not item.exclusion]
    if skipped:
        yield Content()
        yield from map(_not_run_line, skipped[:MOST_NOT_RUN])


def _not_run_line(item: NotRun) -> Content:
    return Content.assemble("– ", safe_line(item.name, 60), ("  " + one_line(item.reason, 200), MUTED))


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
