"""The tabs of a selected handler: error, answer, messages, output, context and timing.

Each is a pure function from a row to text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from textual.content import Content

from hookscope.analysis.run_explanation import MergeStep, handler_input, merge_steps
from hookscope.console.keymap.active_keys import key_of
from hookscope.console.panes.fire.event_draft import readable_json
from hookscope.console.panes.fire.run_sheet import (
    ABSENT,
    MOST_PATCH_OPERATIONS,
    CallRow,
    PatchPath,
    RunSheet,
    ValueChange,
    context_changes,
)
from hookscope.console.theme.text_styles import (
    MARK_MUTED,
    OUTCOME_MARKS,
    counted,
    fixed_width,
    safe_text,
    safe_word,
)
from hookscope.console.widgets.time_bars import time_bar
from hookscope.model.failure import Failure, Frame
from hookscope.model.host import Host
from hookscope.model.machine import Files
from hookscope.model.run import Code, EventKind, Registration, Result
from hookscope.model.text import duration
from hookscope.values import dataclass

MOST_ITEMS = 200  # messages, frames or changes to draw; the rest is counted


@dataclass(frozen=True, slots=True)
class TabInput:
    """One row of one run, and how much of it to draw."""

    sheet: RunSheet
    row: CallRow
    host: Host
    limit: int = 20_000  # characters of one foreign text
    now: float = 0.0  # by the screen's clock
    around: int = 2  # source lines above and below the failed one

    @property
    def product(self) -> str:
        """The host's display name."""
        return self.host.dialect.product

    def path(self, path: str) -> str:
        """Return a path for display: relative below the folder of hooks, with `~` below the home folder."""
        target = self.row.call.target
        if isinstance(target, Code):
            base = f"{target.root.parent}/"
            if path.startswith(base):
                return path[len(base) :]
        home = f"{self.host.machine.home}/"
        return f"~/{path[len(home) :]}" if path.startswith(home) else path


def muted(text: str) -> Content:
    """Return words of Hookscope's own, muted to set them apart from a handler's output."""
    return Content.styled(text, MARK_MUTED)


def join_lines(lines: Iterable[Content]) -> Content:
    """Return the lines as one text."""
    return Content("\n").join(lines)


def safe_block(text: str, limit: int) -> Content:
    """Return foreign text of several lines. Tabs become spaces, as after a bar their width is wrong."""
    return safe_text(text[:limit].replace("\t", "    ") + text[limit:], limit)


def quoted_lines(text: str, bar: str, style: str, limit: int) -> list[Content]:
    """Return foreign lines behind a bar, so that they cannot be mistaken for Hookscope's own."""
    rule = Content.styled(bar, style)
    return [rule + piece for piece in safe_block(text, limit).split("\n", allow_blank=True)]


LARGEST_SOURCE = 512 * 1024  # bytes of a source file to read
LINES_AROUND = 2


@dataclass(frozen=True, slots=True)
class SourceExcerpt:
    """Numbered lines; `at` is the relevant one. `changed`: the file has changed since the run."""

    first: int
    lines: tuple[str, ...]
    at: int
    changed: bool = False


def source_excerpt(files: Files, frame: Frame, around: int = LINES_AROUND) -> SourceExcerpt | None:
    """Return the source around a frame, from disk; None if it cannot be read."""
    path = Path(frame.file)
    try:
        facts = files.facts(path)
        if facts is None or not facts.file or facts.size > LARGEST_SOURCE:
            return None
        text = files.read(path).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    lines = text.split("\n")
    if not 1 <= frame.line <= len(lines):
        return None
    first = max(1, frame.line - around)
    shown = tuple(line.rstrip("\r") for line in lines[first - 1 : frame.line + around])
    now = lines[frame.line - 1].strip()
    return SourceExcerpt(first, shown, frame.line, changed=bool(frame.source) and frame.source.strip() != now)


def excerpt_as_run(frame: Frame) -> SourceExcerpt | None:
    """Return the source line that the handler's process reported; None if it reported none."""
    return SourceExcerpt(frame.line, (frame.source,), frame.line) if frame.source else None


def own_frames(frames: Sequence[Frame], call: Registration) -> tuple[tuple[Frame, ...], tuple[Frame, ...]]:
    """Return the frames in the hook's folder, then the others; both innermost first."""
    own: list[Frame] = []
    others: list[Frame] = []
    for frame in reversed(frames):
        (own if is_own_frame(frame, call) else others).append(frame)
    return tuple(own), tuple(others)


def is_own_frame(frame: Frame, call: Registration) -> bool:
    """Return True if the frame is in the hook's folder, but not in packages installed there."""
    if not isinstance(call.target, Code):
        return False
    path, root = Path(frame.file), call.target.root
    if not path.is_relative_to(root):
        return False
    return not {"site-packages", "node_modules"} & set(path.relative_to(root).parts)


PHASE_TEXTS = {"spawn": "before it could start", "load": "while loading; it did not run"}
MOST_SHOWN_KEYS = 40
MOST_MESSAGE_CHARACTERS = 4_000  # characters of an error message to draw; the rest is counted


def failure_text(shown: TabInput) -> Content:
    """Return the error of one handler, or a note that there was no error."""
    return join_lines(_failure_lines(shown))


def failure_frame(shown: TabInput) -> Frame | None:
    """Return the frame for the editor: the innermost one in the hook's code, else the innermost."""
    result = shown.row.result
    failure = (result.error or result.stale) if result is not None else None
    if failure is None:
        return None
    own, others = own_frames(failure.frames, shown.row.call)
    return next(iter((*own, *others)), None)


def _failure_lines(shown: TabInput) -> Iterator[Content]:
    row = shown.row
    if row.result is None:
        yield _no_result_text(shown)
        return
    failure = row.result.error
    yield from _stale_lines(shown, row.result.stale)
    if failure is None:
        mark = OUTCOME_MARKS[row.phase]
        yield muted("It ran without an error.") if row.phase == "ok" else mark.content
    else:
        yield _headline(failure, min(shown.limit, MOST_MESSAGE_CHARACTERS))
        if failure.phase in PHASE_TEXTS:
            yield muted(f"It failed {PHASE_TEXTS[failure.phase]}.")
        yield from _frame_lines(shown, failure)
        if failure.phase == "run" and row.phase == "error":  # raised by the handler, which was not stopped
            yield from _handler_input_lines(shown, failure)
    yield from _host_log_lines(shown)
    yield from (muted("note         ") + safe_block(note, 400) for note in row.result.notes)


def _stale_lines(shown: TabInput, failure: Failure | None) -> Iterator[Content]:
    """Yield a note if the previous version ran, and why the saved one does not load."""
    if failure is None:
        return
    yield Content.styled("The previous version ran. The saved one does not load:", "$text-warning")
    yield _headline(failure, min(shown.limit, MOST_MESSAGE_CHARACTERS))
    yield from _frame_lines(shown, failure)
    yield Content()


def _no_result_text(shown: TabInput) -> Content:
    match shown.row.phase:
        case "waiting":
            return muted("It has not started yet.")
        case "running":
            return muted("It is running. ") + Content(key_of("fire.cancel")) + muted(" cancels.")
        case _:
            return muted("It did not run: ") + safe_block(shown.row.reason, 400)


def _headline(failure: Failure, limit: int) -> Content:
    message = safe_block(failure.message, limit)
    kind = Content.styled(safe_word(failure.type), "bold $text-error")
    return kind + Content(": ") + message if failure.message else kind


def _frame_lines(shown: TabInput, failure: Failure) -> Iterator[Content]:
    own, others = own_frames(failure.frames, shown.row.call)
    frames = (*own, *others)
    if not frames:
        return
    first, further = frames[0], frames[1:]
    yield _frame_place(shown, first)
    source = source_excerpt(shown.host.machine.files, first, shown.around)
    if source is not None and source.changed:
        yield Content.styled("The file has changed since. This is the line that ran:", "$text-warning")
        source = excerpt_as_run(first)
    yield from _excerpt_lines(source or excerpt_as_run(first))
    for frame in further[:MOST_ITEMS]:
        sign = "called from  " if frame in own else "elsewhere    "
        yield muted(sign) + _frame_place(shown, frame)


def _frame_place(shown: TabInput, frame: Frame) -> Content:
    column = f":{frame.column}" if frame.column else ""
    place = Content(f"{safe_word(shown.path(frame.file), 300)}:{frame.line}{column}")
    return place + muted(f"  in {safe_word(frame.function)}") if frame.function else place


def _excerpt_lines(source: SourceExcerpt | None) -> Iterator[Content]:
    if source is None:
        return
    size = len(str(source.first + len(source.lines)))
    for number, line in enumerate(source.lines, source.first):
        is_failed_line = number == source.at
        mark = Content.styled("❱ ", "$text-error") if is_failed_line else Content("  ")
        code = safe_block(line, 400)
        yield mark + muted(f"{number:>{size}} │ ") + (code.stylize("bold") if is_failed_line else code)


def _handler_input_lines(shown: TabInput, failure: Failure) -> Iterator[Content]:
    row = shown.row
    results = (
        other.result for other in shown.sheet.rows[: row.number - 1] if other.follow_up is row.follow_up
    )
    failed_input = handler_input(
        row.follow_up or shown.sheet.plan.event, (result.patch for result in results if result), failure
    )
    listed = ", ".join(safe_word(key, 40) for key in failed_input.keys[:MOST_SHOWN_KEYS]) or "no keys"
    hidden_count = len(failed_input.keys) - MOST_SHOWN_KEYS
    more = f" and {counted(hidden_count, 'more key')}" if hidden_count > 0 else ""
    yield muted(f"{f'{failed_input.name} had':<11}  ") + Content(listed + more)
    if failed_input.closest_key:
        yield Content(f"Did you mean {safe_word(failed_input.closest_key, 80)}?")


def _host_log_lines(shown: TabInput) -> Iterator[Content]:
    run = shown.sheet.run
    if run is None:
        return
    for entry in run.ending.log[:MOST_ITEMS]:
        if shown.row.call.name[:200] in entry.text:
            yield muted("host's log   ") + safe_block(entry.text, 400)


def messages_text(shown: TabInput) -> Content:
    """Return every pushed message."""
    result = shown.row.result
    if result is None or not result.messages:
        return muted("It pushed no messages.")
    lines = [message_delivery(shown)]
    for number, message in enumerate(result.messages[:MOST_ITEMS], 1):
        first, *more = quoted_lines(message, "│ ", MARK_MUTED, shown.limit)
        lines += [muted(f"{number:>3} ") + first, *(Content("    ") + line for line in more)]
    if len(result.messages) > MOST_ITEMS:
        lines.append(muted(f"and {counted(len(result.messages) - MOST_ITEMS, 'more message')}"))
    return join_lines(lines)


def message_delivery(shown: TabInput) -> Content:
    """Return what the host does with messages of this event."""
    if shown.sheet.plan.delivers:
        return Content.styled("✓ delivered", "$text-success") + muted(
            f"  {shown.product} would deliver these to the user"
        )
    return Content.styled("– ignored", "$text-warning") + muted(
        f"  {shown.product} ignores messages of this event"
    )


def output_text(shown: TabInput) -> Content:
    """Return standard output, standard error, and notes, such as on truncated output."""
    result = shown.row.result
    if result is None:
        return muted("Output is shown when the handler has ended.")
    lines: list[Content] = []
    if result.stdout:
        lines += quoted_lines(result.stdout.rstrip("\n"), "out │ ", MARK_MUTED, shown.limit)
    if result.stderr:
        lines += quoted_lines(result.stderr.rstrip("\n"), "err │ ", "$text-warning", shown.limit)
    lines += [Content.styled("note  ", "$text-warning") + safe_block(note, 400) for note in result.notes]
    return join_lines(lines) if lines else muted("It printed nothing.")


CHANGE_STYLES = {"+": "$text-success", "-": "$text-error", "~": "$text-warning"}
MOST_VALUE_CHARACTERS = 2_000  # characters of a value's JSON to process
MOST_PATH_PARTS = 12  # parts of a path to show
WIDEST_PATH = 32  # cells of the column of paths


def changes_text(shown: TabInput) -> Content:
    """Return every change, in the order in which it was made."""
    if shown.row.result is None:
        return muted("Changes are shown when the handler has ended.")
    changes = context_changes(shown.sheet, shown.row)
    if not changes:
        return muted("It did not change the event.")
    names = [path_name(change.path) for change in changes[:MOST_ITEMS]]
    width = min(max(len(name) for name in names), WIDEST_PATH)
    lines = [_change_line(change, name, width) for change, name in zip(changes, names, strict=False)]
    if len(changes) > MOST_ITEMS:
        lines.append(muted(f"and {counted(len(changes) - MOST_ITEMS, 'more change')}"))
    if (count := len(shown.row.result.patch)) > MOST_PATCH_OPERATIONS:
        lines.append(muted(f"only the first {MOST_PATCH_OPERATIONS:,} of {count:,} operations were read"))
    return join_lines([*lines, *_later_handler_lines(shown, changes)])


def path_name(path: PatchPath) -> str:
    """Return a path as in code: `turns[0].text`, without the leading `context`."""
    parts = path[1:] if len(path) > 1 and path[0] in ("context", "data") else path
    name = ""
    for part in parts[:MOST_PATH_PARTS]:
        if name and part.isdigit():
            name += f"[{part}]"
        else:
            name += f".{safe_word(part, 60)}" if name else safe_word(part, 60)
    return name or "the whole event"


def brief_json(value: Any) -> str:
    """Return a value as one line of JSON."""
    if isinstance(value, str) and len(value) > MOST_VALUE_CHARACTERS:
        value = value[:MOST_VALUE_CHARACTERS] + "…"
    try:
        shown = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        shown = repr(type(value))
    return safe_word(shown[:MOST_VALUE_CHARACTERS], 160)


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


def has_answer(result: Result) -> bool:
    """Return True if the handler returned a value or requested an action."""
    return result.returned is not None or bool(result.asked)


def answer_text(shown: TabInput) -> Content:
    """Return the answer. For plugin events, first what it changed in the merged answer."""
    result = shown.row.result
    if result is None:
        return muted("Its answer is shown when the handler has ended.")
    answer_lines = _answer_lines(shown, result)
    if ignores_answers(shown):
        ignored = f"{shown.product} ignores return values of this event."
        return join_lines([*answer_lines, muted(ignored)])
    step = merge_step_of(shown)
    return join_lines([*(_merge_lines(step) if step is not None else []), *answer_lines])


def ignores_answers(shown: TabInput) -> bool:
    """Return True if the host ignores answers to this event."""
    event = shown.row.follow_up or shown.sheet.plan.event
    event_type = shown.host.dialect.catalogue().find(event.key)
    return event.kind == "stream" or event_type is None or event_type.policy in ("", "observe")


def _answer_lines(shown: TabInput, result: Result) -> list[Content]:
    if not has_answer(result):
        return [muted("It returned nothing.")]
    request_lines = [Content(f"requested: {', '.join(result.asked)}")] if result.asked else []
    if result.returned is None:
        return request_lines
    return [*request_lines, muted("it returned"), safe_block(readable_json(result.returned), shown.limit)]


def merge_step_of(shown: TabInput) -> MergeStep | None:
    """Return this call's step of the merged answer; None if its answer was not merged."""
    plan = shown.sheet.plan
    done = {row.call: row.result for row in shown.sheet.rows if row.result and row.follow_up is None}
    results = [done[call] for call in plan.calls if call in done]
    event = plan.event if shown.sheet.run is None else shown.sheet.run.event
    steps = merge_steps(plan.policy, event, results)
    paired = zip(results, steps, strict=False)
    return next((step for result, step in paired if result is shown.row.result), None)


def _merge_lines(step: MergeStep) -> list[Content]:
    lines = []
    if not step.changed:
        lines.append(muted("The merged answer is unchanged."))
    for name, value in step.changed.items():
        lines.append(
            Content.styled("→ ", "$text-warning") + Content(f"{safe_word(name)} = {brief_json(value)}")
        )
    if step.answer:
        lines.append(muted(f"merged so far: {brief_json(dict(step.answer))}"))
    if step.stopped:
        lines.append(Content.styled("⊘ stopped here: later handlers are not called", "$text-warning"))
    return lines


TIME_BAR_WIDTH = 24


def timing_text(shown: TabInput) -> Content:
    """Return load time, run time and share of the run, each with its bar."""
    row, total = shown.row, shown.sheet.total(shown.now)
    if row.result is None:
        return muted("Times are shown when the handler has ended.")
    loaded, took = row.result.loaded, row.result.took
    share = took / total if total > 0 else 0.0
    of_limit = f"{_percent(took / row.limit)} of its {row.limit:g} s limit" if row.limit else "no time limit"
    total_seconds = max(loaded + took, total)
    return join_lines(
        [
            _timing_line(
                "load", loaded, total_seconds, "importing the handler" if loaded else "already loaded"
            ),
            _timing_line("run", took, total_seconds, f"{share:.0%} of the run, {of_limit}"),
            _timing_line(
                "whole run", total, total_seconds, f"the handler started after {duration(row.started)}"
            ),
        ]
    )


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{share:.0%}"


def _timing_line(name: str, seconds: float, total: float, note: str) -> Content:
    drawn = time_bar(0, seconds, total, TIME_BAR_WIDTH).drawn if seconds > 0 else ""
    return (
        muted(fixed_width(name, 10).plain)
        + Content(f"{duration(seconds) if seconds else '–':>9}  ")
        + fixed_width(drawn, TIME_BAR_WIDTH, MARK_MUTED)
        + muted(f"  {note}")
    )


Tab = Literal["error", "answer", "messages", "output", "context", "timing"]
TABS_BY_KIND: Mapping[EventKind, tuple[Tab, ...]] = {
    "folder": ("error", "messages", "output", "context", "timing"),
    "stream": ("error", "answer", "output", "context", "timing"),
    "plugin": ("error", "answer", "output", "context", "timing"),
}

TAB_TEXTS: Mapping[Tab, Callable[[TabInput], Content]] = {
    "error": failure_text,
    "answer": answer_text,
    "messages": messages_text,
    "output": output_text,
    "context": changes_text,
    "timing": timing_text,
}


def tabs_of_run(sheet: RunSheet | None) -> tuple[Tab, ...]:
    """Return the tabs of a run, by the kind of its event."""
    return TABS_BY_KIND["folder" if sheet is None else sheet.plan.event.kind]


def first_tab(sheet: RunSheet) -> Tab:
    """Return the tab to open if nothing failed: Output if stream hooks returned nothing, else the second."""
    results = [row.result for row in sheet.rows if row.result is not None]
    if sheet.plan.event.kind == "stream" and not any(map(has_answer, results)):
        return "output"
    return tabs_of_run(sheet)[1]


def tab_label(tab: Tab, sheet: RunSheet, row: CallRow | None) -> str:
    """Return the label of a tab, with a count of its content."""
    result = row.result if row is not None else None
    match tab:
        case "error":
            return "Error" if result is None or result.status != "ok" or result.stale else "Error –"
        case "answer":
            return "Answer" if result is not None and has_answer(result) else "Answer –"
        case "messages":
            return f"Messages {len(result.messages) if result else 0}"
        case "output":
            return f"Output {output_line_count(result) if result else 0}"
        case "context":
            changed = len(context_changes(sheet, row)) if row is not None else 0
            return f"Context ±{changed}" if changed else "Context –"
        case "timing":
            return "Timing"


def output_line_count(result: Result) -> int:
    """Return how many lines a handler printed."""
    return sum(
        text.count("\n") + (not text.endswith("\n")) for text in (result.stdout, result.stderr) if text
    )


__all__ = ["TAB_TEXTS", "Tab", "TabInput", "first_tab", "output_line_count", "tab_label", "tabs_of_run"]
