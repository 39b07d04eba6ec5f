"""The tabs of a selected handler: error, answer, messages, output, context, source and timing.

Each is a pure function from a row to text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from textual.content import Content

from hookscope.analysis.run_explanation import MergeStep, handler_input, merge_steps
from hookscope.console.keymap.active_keys import key_of
from hookscope.console.panes.fire import run_source
from hookscope.console.panes.fire.event_draft import readable_json
from hookscope.console.panes.fire.run_sheet import CallRow, RunSheet, context_changes
from hookscope.console.panes.fire.run_states import context_text
from hookscope.console.panes.fire.tab_input import (
    MOST_ITEMS,
    TabInput,
    brief_json,
    join_lines,
    muted,
    quoted_lines,
    safe_block,
)
from hookscope.console.theme.text_styles import MARK_MUTED, OUTCOME_MARKS, counted, fixed_width, safe_word
from hookscope.console.widgets.time_bars import time_bar
from hookscope.model.failure import Failure, Frame
from hookscope.model.run import EventKind, Result
from hookscope.model.text import duration

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
    own, others = run_source.own_frames(failure.frames, shown.row.call)
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
    own, others = run_source.own_frames(failure.frames, shown.row.call)
    frames = (*own, *others)
    if not frames:
        return
    first, further = frames[0], frames[1:]
    yield _frame_place(shown, first)
    source = run_source.source_excerpt(shown.host.machine.files, first, max(shown.around, 0))
    if source is not None and source.changed:
        yield Content.styled("The file has changed since this run. The line that ran:", "$text-warning")
        source = run_source.excerpt_as_run(first)
    elif shown.around < 0 and run_source.is_handler_file(shown.row.call, first):
        source = None  # its whole file is beside
    elif source is None:
        source = run_source.excerpt_as_run(first)
    yield from run_source.excerpt_lines(source, shown.width)
    for frame in further[:MOST_ITEMS]:
        sign = "called from  " if frame in own else "elsewhere    "
        yield muted(sign) + _frame_place(shown, frame)


def _frame_place(shown: TabInput, frame: Frame) -> Content:
    column = f":{frame.column}" if frame.column else ""
    place = Content(f"{safe_word(shown.path(frame.file), 300)}:{frame.line}{column}")
    return place + muted(f"  in {safe_word(frame.function)}") if frame.function else place


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


def has_answer(result: Result) -> bool:
    """Return True if the handler returned a value or requested an action."""
    return result.returned is not None or bool(result.asked)


def answer_text(shown: TabInput) -> Content:
    """Return the answer. For plugin events, first what it changed in the merged answer."""
    result = shown.row.result
    if result is None:
        return muted("The handler's answer is shown once it has ended.")
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
LEAST_WIDTH_WITH_BARS = 80  # cells; narrower tabs show times without bars


def timing_text(shown: TabInput) -> Content:
    """Return load time, run time and share of the run, each with its bar."""
    row, total = shown.row, shown.sheet.total(shown.now)
    if row.result is None:
        return muted("Times are shown when the handler has ended.")
    loaded, took = row.result.loaded, row.result.took
    share = took / total if total > 0 else 0.0
    of_limit = f"{_percent(took / row.limit)} of its {row.limit:g} s limit" if row.limit else "no time limit"
    total_seconds = max(loaded + took, total)
    waited = row.load_start - shown.sheet.wait_start(row)
    load_note = "importing the handler" if loaded else "already loaded"
    lines = (
        ("wait", waited, "recording and worker start" if waited else ""),
        ("load", loaded, load_note),
        ("run", took, f"{_percent(share)} of the run, {of_limit}"),
        ("whole run", total, f"the handler started after {duration(row.started)}"),
    )
    bars = TIME_BAR_WIDTH if shown.width >= LEAST_WIDTH_WITH_BARS else 0
    return join_lines(_timing_line(name, time, total_seconds, note, bars) for name, time, note in lines)


def _percent(share: float) -> str:
    return "under 1%" if 0 < share < 0.01 else f"{share:.0%}"


def _timing_line(name: str, seconds: float, total: float, note: str, bars: int) -> Content:
    drawn = time_bar(0, seconds, total, bars).drawn if seconds > 0 and bars else ""
    return (
        muted(fixed_width(name, 10).plain)
        + Content(f"{duration(seconds) if seconds else '–':>9}  ")
        + fixed_width(drawn, bars, MARK_MUTED)
        + muted(f"  {note}" if bars else note)
    )


Tab = Literal["error", "answer", "messages", "output", "context", "source", "timing"]
TABS_BY_KIND: Mapping[EventKind, tuple[Tab, ...]] = {
    "folder": ("error", "messages", "output", "context", "source", "timing"),
    "stream": ("error", "answer", "output", "context", "source", "timing"),
    "plugin": ("error", "answer", "output", "context", "source", "timing"),
}

TAB_TEXTS: Mapping[Tab, Callable[[TabInput], Content]] = {
    "error": failure_text,
    "answer": answer_text,
    "messages": messages_text,
    "output": output_text,
    "context": context_text,
    "source": run_source.source_text,
    "timing": timing_text,
}


def tabs_of_run(sheet: RunSheet | None) -> tuple[Tab, ...]:
    """Return the tabs of a run, by the kind of its event."""
    return TABS_BY_KIND["folder" if sheet is None else sheet.plan.event.kind]


def has_content(tab: Tab, sheet: RunSheet, row: CallRow | None) -> bool:
    """Return True if the handler left something to show in this tab."""
    result = row.result if row is not None else None
    if row is None or result is None:
        return False
    match tab:
        case "error":
            return row.failed or row.stale
        case "answer":
            return has_answer(result)
        case "messages":
            return bool(result.messages)
        case "output":
            return bool(result.stdout or result.stderr or result.notes)
        case "context":
            return bool(context_changes(sheet, row))
        case "source" | "timing":
            return True


def first_row_with_content(sheet: RunSheet) -> CallRow | None:
    """Return the first call with content in a tab other than its source and timing; None without one."""
    tabs = [tab for tab in tabs_of_run(sheet) if tab not in ("source", "timing")]
    return next((row for row in sheet.rows if any(has_content(tab, sheet, row) for tab in tabs)), None)


def tab_label(tab: Tab, sheet: RunSheet, row: CallRow | None) -> str:
    """Return the label of a tab, with a count of its content."""
    result = row.result if row is not None else None
    match tab:
        case "error":
            return "Error" if result is None or result.status != "ok" or result.stale else "Error –"
        case "answer":
            return "Answer" if result is not None and has_answer(result) else "Answer –"
        case "messages":
            return f"Messages {len(result.messages) or '–' if result else '–'}"
        case "output":
            return f"Output {output_line_count(result) or '–' if result else '–'}"
        case "context":
            changed = len(context_changes(sheet, row)) if row is not None else 0
            return f"Context ±{changed}" if changed else "Context –"
        case "source" | "timing":
            return tab.capitalize()


def output_line_count(result: Result) -> int:
    """Return how many lines a handler printed."""
    return sum(
        text.count("\n") + (not text.endswith("\n")) for text in (result.stdout, result.stderr) if text
    )
