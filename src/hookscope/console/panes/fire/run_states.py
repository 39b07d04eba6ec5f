"""The context tab: a slider over the handlers of a run, and the event as it was after each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from textual.content import Content

from hookscope.console.keymap.active_keys import key_of
from hookscope.console.panes.fire.event_draft import readable_json
from hookscope.console.panes.fire.run_sheet import (
    ABSENT,
    MOST_PATCH_OPERATIONS,
    CallRow,
    RunSheet,
    ValueChange,
    context_changes,
    document_before,
    event_document,
    patch_changes,
)
from hookscope.console.panes.fire.tab_input import (
    MOST_ITEMS,
    TabInput,
    brief_json,
    join_lines,
    muted,
    path_name,
    safe_block,
)
from hookscope.console.theme.text_styles import counted, fixed_width, safe_word
from hookscope.model.run import Event, EventKind

SHARED_MEMBERS: Mapping[EventKind, tuple[str, ...]] = {"folder": ("messages", "context"), "stream": ("data",)}
FILE_SIGNS = {"written": "+", "changed": "~", "deleted": "-"}
CHANGE_STYLES = {"+": "$text-success", "-": "$text-error", "~": "$text-warning"}
WIDEST_PATH = 32  # cells of the column of paths
MOST_STATE_CHARACTERS = 40_000  # characters of an event's JSON to compare
MOST_SLIDER_STEPS = 24  # steps to draw one by one
LINES_NEAR_A_CHANGE = 2  # unchanged lines to keep beside a changed one
MOST_FILES = 20
NOT_SHOWN = "not shown"  # in place of the host's settings, which may hold secrets


def steps_of(sheet: RunSheet, row: CallRow) -> tuple[CallRow, ...]:
    """Return the handlers that ran on the row's event, in order: the steps of the slider."""
    return tuple(one for one in sheet.rows if one.result is not None and one.follow_up is row.follow_up)


def context_text(shown: TabInput) -> Content:
    """Return what the handler changed, and the event after it, or as it was fired."""
    if shown.row.result is None:
        return muted("Changes are shown when the handler has ended.")
    changes = [_slider(shown), *_changes(shown)]
    return join_lines([*changes, Content(), *_state_lines(shown), *_file_lines(shown)])


def _slider(shown: TabInput) -> Content:
    steps = steps_of(shown.sheet, shown.row)
    at = 0 if shown.as_fired else steps.index(shown.row) + 1
    track = "─".join("●" if number == at else "○" for number in range(len(steps) + 1))
    where = f"after {shown.row.name}, {at} of {len(steps)}" if at else "as fired"
    keys = f"   {key_of('run.earlier')} {key_of('run.later')} step"
    drawn = Content.styled(f"{track}  ", "$text-accent") if len(steps) <= MOST_SLIDER_STEPS else Content()
    return drawn + Content.styled(where, "bold") + muted(keys)


def _changes(shown: TabInput) -> list[Content]:
    """Return every change, in the order in which it was made."""
    if shown.as_fired or shown.row.result is None:
        return []
    changes = context_changes(shown.sheet, shown.row)
    if not changes:
        return [muted("It did not change the event.")]
    names = [path_name(change.path) for change in changes[:MOST_ITEMS]]
    width = min(max(len(name) for name in names), WIDEST_PATH)
    lines = [_change_line(change, name, width) for change, name in zip(changes, names, strict=False)]
    if len(changes) > MOST_ITEMS:
        lines.append(muted(f"and {counted(len(changes) - MOST_ITEMS, 'more change')}"))
    if (count := len(shown.row.result.patch)) > MOST_PATCH_OPERATIONS:
        lines.append(muted(f"only the first {MOST_PATCH_OPERATIONS:,} of {count:,} operations were read"))
    return [*lines, *_later_handler_lines(shown, changes)]


def _change_line(change: ValueChange, name: str, width: int) -> Content:
    sign = Content.styled(f"{change.kind} ", CHANGE_STYLES[change.kind])
    column = fixed_width(name, width) + Content("  ")
    if change.before is ABSENT:
        return sign + column + Content(brief_json(change.after))
    if change.after is ABSENT:
        return sign + column + muted("was ") + Content(brief_json(change.before))
    return sign + column + muted(brief_json(change.before)) + muted(" → ") + Content(brief_json(change.after))


def _later_handler_lines(shown: TabInput, changes: tuple[ValueChange, ...]) -> list[Content]:
    rows = [row for row in shown.sheet.rows if row.follow_up is shown.row.follow_up]
    later = sum(row.number > shown.row.number for row in rows)
    lines = [
        muted(f"shared with {counted(later, 'later handler')}" if later else "no later handler sees this")
    ]
    event = shown.row.follow_up or shown.sheet.plan.event
    event_type = shown.host.dialect.catalogue().find(event.key)
    touched = {change.path[1] for change in changes if len(change.path) > 1 and change.path[0] == "context"}
    used = sorted(touched & set(event_type.mutable)) if event_type is not None else []
    if used:
        lines.append(muted(f"{shown.product} uses the new value of {', '.join(used)}"))
    return lines


def _state_lines(shown: TabInput) -> list[Content]:
    """Return the event's JSON at this step; added, changed and removed lines are marked."""
    event = shown.row.follow_up or shown.sheet.plan.event
    if shown.as_fired:
        before = after = _state_json(event, event_document(event))
    else:
        document = document_before(shown.sheet, shown.row)
        patch = shown.row.result.patch[:MOST_PATCH_OPERATIONS] if shown.row.result is not None else ()
        before = _state_json(event, document)
        after = _state_json(event, patch_changes(document, patch)[1])
    marked = list(_marked_lines(before, after))
    folds = len(marked) > shown.room // 2 and any(sign != " " for sign, _ in marked)
    heading = muted("the event as it was fired" if shown.as_fired else "the event after it")
    lines = _folded(marked) if folds else [_marked_line(*line) for line in marked]
    return [heading, *lines]


def _state_json(event: Event, document: Any) -> list[str]:
    """Return the part of the event that handlers share, as lines of JSON."""
    if not isinstance(document, Mapping):
        return readable_json(document)[:MOST_STATE_CHARACTERS].split("\n")
    shared = {name: document[name] for name in SHARED_MEMBERS.get(event.kind, document) if name in document}
    context = shared.get("context")
    if isinstance(context, Mapping) and "cfg" in context:
        shared["context"] = {**context, "cfg": NOT_SHOWN}
    return readable_json(shared)[:MOST_STATE_CHARACTERS].split("\n")


def _marked_lines(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each line with its sign; a comma at its end does not count."""
    old, new = ([line.rstrip(",") for line in lines] for lines in (before, after))
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from ((" ", line) for line in after[start:end])
        else:
            yield from (("-", line) for line in before[first:last])
            yield from (("+", line) for line in after[start:end])


def _folded(marked: list[tuple[str, str]]) -> Iterator[Content]:
    """Yield the changed lines with the lines near them, and a count in place of the others."""
    changed = [at for at, (sign, _) in enumerate(marked) if sign != " "]
    near = {at + by for at in changed for by in range(-LINES_NEAR_A_CHANGE, LINES_NEAR_A_CHANGE + 1)}
    for is_near, group in groupby(enumerate(marked), key=lambda item: item[0] in near):
        lines = [line for _, line in group]
        if is_near:
            yield from (_marked_line(*line) for line in lines)
        else:
            yield muted(f"  … {counted(len(lines), 'unchanged line')}")


def _marked_line(sign: str, line: str) -> Content:
    style = CHANGE_STYLES.get(sign, "")
    text = Content(f"{sign} ") + safe_block(line, 400)
    return text.stylize(style) if style else text


def _file_lines(shown: TabInput) -> list[Content]:
    """Return the files that the run changed, as far as they are recorded."""
    run = shown.sheet.run
    if run is None or shown.as_fired:
        return []
    if run.guarded is None:
        return [muted(f"files: recorded only on copies; {key_of('fire.guarded')} fires on copies")]
    files = run.guarded.changes
    if not files:
        return [muted(f"files: {run.guarded.unchanged_text}")]
    lines = [muted("files after the whole run; which handler changed them is not recorded")]
    for change in files[:MOST_FILES]:
        sign = FILE_SIGNS[change.kind]
        path = Content(safe_word(shown.path(str(change.path)), 300))
        lines.append(Content.styled(f"{sign} ", CHANGE_STYLES[sign]) + path + muted(f"  {change.kind}"))
    if more := len(files) - MOST_FILES + run.guarded.more:
        lines += [muted(f"and {counted(more, 'more file')}")] if more > 0 else []
    return lines
