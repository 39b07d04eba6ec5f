"""The lines of a run: calls, remarks and skipped hooks, with their texts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from rich.cells import cell_len
from textual.content import Content

from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.console.keymap.active_keys import key_of, with_keys
from hookscope.console.panes.fire.event_draft import readable_json
from hookscope.console.panes.fire.run_sheet import CallRow, RunSheet, run_outcome
from hookscope.console.panes.fire.tab_input import join_lines, muted, safe_block
from hookscope.console.theme.text_styles import (
    FAINT,
    MARK_MUTED,
    OUTCOME_MARKS,
    counted,
    fixed_width,
    safe_word,
)
from hookscope.model.run import FileChange, NotRun, Result, Run, SandboxResult, reported_log
from hookscope.model.run_comparison import CallKey, results_by_call
from hookscope.model.text import duration
from hookscope.model.uncalled_hooks import not_called_reason, split_listed
from hookscope.values import dataclass

CallResults = Mapping[CallKey, Result]
MOST_COMPARED_HANDLERS = 3  # handlers to name one by one


def comparison_summary(before: Run, after: Run) -> str:
    """Return changes of outcomes, messages and context ("as before" if there are none), and both times."""
    old, new = results_by_call(before), results_by_call(after)
    parts = [*_outcome_changes(old, new), *_message_changes(before, after)]
    if before.context != after.context:
        parts.append("context differs")
    seconds = (sum(result.took for result in run.results) for run in (before, after))
    times = " → ".join(dict.fromkeys(map(duration, seconds)))
    return " · ".join([*(parts or ["as before"]), times])


def _outcome_changes(old: CallResults, new: CallResults) -> list[str]:
    changes = []
    for call, result in new.items():
        past = old.get(call)
        if past is None:
            changes.append(f"{safe_word(call[0], 30)} new {OUTCOME_MARKS[result.status].glyph}")
        elif past.status != result.status:
            signs = f"{OUTCOME_MARKS[past.status].glyph} → {OUTCOME_MARKS[result.status].glyph}"
            changes.append(f"{safe_word(call[0], 30)} {signs}")
        if result.stale is not None:
            changes.append(f"{safe_word(call[0], 30)} ran its previous version: the saved one does not load")
    changes += [f"{safe_word(call[0], 30)} did not run" for call in old if call not in new]
    if len(changes) > MOST_COMPARED_HANDLERS:
        return [*changes[:MOST_COMPARED_HANDLERS], f"{len(changes) - MOST_COMPARED_HANDLERS} more"]
    return changes


def _message_changes(before: Run, after: Run) -> list[str]:
    if before.messages == after.messages:
        return []
    more = len(after.messages) - len(before.messages)
    return [f"{'+' if more > 0 else '-'}{counted(abs(more), 'message')}"] if more else ["different messages"]


EXPECTATION_STYLES = {"+": "$text-success", "-": "$text-error"}


def expectation_remark(checked: SavedEventResult) -> tuple[str, str]:
    """Return one line about the comparison with a saved event, and its colour."""
    name = safe_word(checked.file.name, 60)
    if checked.problem:
        return f"✗ {name}: {safe_word(checked.problem, 200)}", "$text-error"
    if checked.accepted:
        return f"✓ {name} passed", "$text-success"
    if not checked.expects:
        return (
            f"{name} has no expectations yet: press {key_of('fire.accept')} to save this run's results",
            MARK_MUTED,
        )
    if checked.misses and not checked.passed:
        return f"{_check_text(checked)}: press {key_of('fire.accept')} to accept", "$text-error"
    return _check_text(checked), EXPECTATION_STYLES["+" if checked.passed else "-"]


def _check_text(checked: SavedEventResult) -> str:
    """Return whether the run matches the expectations of its saved event."""
    name, missed = safe_word(checked.file.name, 40), len(checked.misses)
    if checked.passed:
        return f"✓ matches {name}"
    if missed:
        return f"✗ {missed} {'differs' if missed == 1 else 'differ'} from {name}"
    if checked.could_not_run:
        return f"✗ {counted(len(checked.could_not_run), 'hook')} could not run; the rest matches {name}"
    return "✗ cancelled before all hooks ran"


def expectation_lines(checked: SavedEventResult) -> Iterator[Content]:
    """Yield each failed expectation with the expected and the actual value."""
    if not checked.failure_lines:
        text, style = expectation_remark(checked)
        yield Content.styled(text, style)
    for line in checked.failure_lines:
        if line.startswith("  "):
            yield Content("  ") + safe_block(line[2:], 300).stylize(
                EXPECTATION_STYLES.get(line[2:3], MARK_MUTED)
            )
        else:
            yield safe_block(line, 600)
    if any(line.startswith(("  -", "  +")) for line in checked.failure_lines):
        yield muted("- expected, + actual")


FILE_CHANGE_KINDS: tuple[Literal["written", "changed", "deleted"], ...] = ("written", "changed", "deleted")
MOST_LOG_LINES = 4  # lines of the host's log
WAIT_BLOCK, LOAD_BLOCK, PAST_MARK = "░", "▒", "┊"  # on the time line; a run is `█`
LEAST_TIME = 1e-9  # seconds; a handler that ran has a time, even if the clock has not moved
LEAST_NOTED_WAIT = 0.001  # seconds
WIDEST_NAME, WIDEST_TIME = 24, 10  # cells of a handler's name, and of one of its times
NOTED_SHARE = 0.05  # of the time line: shorter waits and loads are not explained
FEW_SKIPPED = 2  # subscribed hooks that did not run and are shown without unfolding


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of Hookscope's own: a remark on the run, or on hooks that are not listed."""

    text: str
    folds: bool = False  # enter unfolds or folds the others
    about: Literal["", "copies", "expected", "times"] = ""  # what is shown below if the line is selected
    style: str = MARK_MUTED


@dataclass(frozen=True, slots=True)
class GroupHeading:
    """A heading with the host's name for the calls below it, if an event goes through several executors."""

    name: str
    note: str = ""


WaterfallEntry: TypeAlias = CallRow | NotRun | Remark | GroupHeading
GROUP_NOTES: Mapping[str, str] = {
    "channel": "the channel's handler, before recording",
    "typed": "hooks of this event",
    "*": "hooks of every event",
    "dynamic": "resolvers of tools and instructions",
}
RECORDED_GROUP = "recorded"


def waterfall_entries(sheet: RunSheet | None, unfolded: bool, room: int = 0) -> tuple[WaterfallEntry, ...]:
    """Return the rows from top to bottom. `room`: lines in which skipped hooks are listed too."""
    if sheet is None:
        return ()
    listed, others = split_listed(sheet.not_run)
    listeners = [item for item in listed if item.subscribed]
    near_misses = listed[len(listeners) :]
    rows = (*entries_with_headings(sheet), *run_remarks(sheet), *_time_remarks(sheet))
    if unfolded:
        folds = _fold_remarks([f"{key_of('run.others')} folds these"] if sheet.not_run else [])
        return (*rows, *listed, *others, *folds)
    fits = len(listed) <= FEW_SKIPPED or len(rows) + len(listed) < room  # the last line is for others
    shown = listed if fits else listeners if len(listeners) <= FEW_SKIPPED else []
    folded = []
    if len(listeners) > len(shown):
        folded.append(f"{len(listeners)} subscribed hooks that did not run")
    if near_misses and len(listed) > len(shown):
        folded.append("1 near miss" if len(near_misses) == 1 else f"{len(near_misses)} near misses")
    if others:
        folded.append(f"{counted(len(others), 'hook')} of other events")
    folded[:1] = [f"{key_of('run.others')} lists {first}" for first in folded[:1]]
    return (*rows, *shown, *_fold_remarks(folded))


def entries_with_headings(sheet: RunSheet) -> tuple[WaterfallEntry, ...]:
    """Return the calls, with a heading for each executor and one, `recorded`, after the channel's calls."""
    if not any(row.group for row in sheet.rows):
        return sheet.rows
    listed: list[WaterfallEntry] = []
    group, recorded = "", False
    for row in sheet.rows:
        if not recorded and row.group != "channel":
            listed.append(GroupHeading(RECORDED_GROUP, _record_id(sheet)))
            recorded = True
        if row.group != group:
            group = row.group
            listed += [GroupHeading(group, GROUP_NOTES.get(group, ""))] if group else []
        listed.append(row)
    return tuple(listed)


def _record_id(sheet: RunSheet) -> str:
    event = sheet.run.event if sheet.run is not None else sheet.plan.event
    return safe_word(str(event.meta.get("id", "")), 60)


def run_remarks(sheet: RunSheet) -> tuple[Remark, ...]:
    """Return remarks on the run: changes since the last run, its failure, its assumptions."""
    if sheet.run is None:
        return (Remark(safe_word(sheet.problem, 300)),) if sheet.problem else ()
    copies = (_copies_remark(sheet.run.guarded),) if sheet.run.guarded is not None else ()
    texts = (Remark(safe_word(text, 300)) for text in _remark_texts(sheet, sheet.run))
    return (*_expectation_remarks(sheet), *copies, *texts)


def _remark_texts(sheet: RunSheet, run: Run) -> Iterator[str]:
    forced = dict.fromkeys(result.call.name for result in run.results if result.forced)
    if forced:
        yield f"forced: {', '.join(map(safe_word, forced))} would not run otherwise"
    if sheet.before is not None:
        yield f"compared with run {sheet.before[0]}: {comparison_summary(sheet.before[1], run)}"
    if run.ending.failure and run.event.kind != "stream":  # a stream's failure is the error of a call
        yield run.ending.failure
    yield from (line.text for line in reported_log(run)[:MOST_LOG_LINES])
    for caused in run.caused:  # events with calls are listed with them
        if not caused.results:
            yield f"↳ {caused.event.key} follows; no hook ran on it"
    yield from run.notes[:FEW_SKIPPED]
    if run.assumed:
        yield f"fired with assumptions: {', '.join(sorted(run.assumed))}"


def _time_remarks(sheet: RunSheet) -> Iterator[Remark]:
    """Yield the legend of the bars, if waiting and loading take much of the time line."""
    done = [row for row in sheet.rows if row.result is not None]
    waited = sum(row.load_start - sheet.wait_start(row) for row in done)
    loaded = sum(row.loaded for row in done)
    ran = sum(row.took(0.0) for row in done)
    if sheet.running or waited + loaded < NOTED_SHARE * sheet.span(0.0) or not done:
        return
    parts = [f"{WAIT_BLOCK} wait {duration(waited)}"]
    parts += [f"{LOAD_BLOCK} load {duration(loaded)}"] if loaded else []
    parts.append(f"█ run {duration(ran)}")
    parts += [f"{PAST_MARK} earlier"] if any(row.past for row in done) else []
    yield Remark("  ".join(parts), about="times")


def times_text(sheet: RunSheet) -> Content:
    """Return how long each handler waited, and for what, and how long it loaded and ran."""
    done = [row for row in sheet.rows if row.result is not None]
    names = min(max((cell_len(row.name) for row in done), default=0), WIDEST_NAME)
    lines = []
    for row in done:
        waited = row.load_start - sheet.wait_start(row)
        parts = (
            f"{WAIT_BLOCK} {duration(waited)}" if waited >= LEAST_NOTED_WAIT else "",
            f"{LOAD_BLOCK} {duration(row.loaded)}" if row.loaded else "",
            f"█ {duration(max(row.took(0.0), LEAST_TIME))}",
        )
        times = "".join(f"  {part:<{WIDEST_TIME}}" for part in parts)
        lines.append(fixed_width(row.name, names) + muted(times.rstrip()))
    lines.append(muted(f"{WAIT_BLOCK} is recording and worker start, or waiting for a busy worker."))
    if any(row.past for row in sheet.rows):
        lines.append(muted(f"{PAST_MARK} marks how long a handler ran in each of the last five runs."))
    return join_lines(lines)


def not_run_text(sheet: RunSheet) -> Content:
    """Return every hook that did not run, with the reason."""
    width = min(max((cell_len(safe_word(item.name)) for item in sheet.not_run), default=0), WIDEST_NAME)
    return join_lines(
        fixed_width(safe_word(item.name), width) + muted(f"  {safe_word(not_called_reason(item), 300)}")
        for item in sheet.not_run
    )


def _expectation_remarks(sheet: RunSheet) -> tuple[Remark, ...]:
    if sheet.checked is None or (sheet.checked.passed and _verdict(sheet.checked)):
        return ()  # the title says that it passed
    text, style = expectation_remark(sheet.checked)
    return (Remark(text, about="expected", style=style),)


def _copies_remark(guarded: SandboxResult) -> Remark:
    kinds = Counter(change.kind for change in guarded.changes)
    counts = ", ".join(f"{counted(kinds[kind], 'file')} {kind}" for kind in FILE_CHANGE_KINDS if kinds[kind])
    isolation = (
        "no network, other files read-only"
        if guarded.no_network and guarded.read_only_disk
        else "copies only, no isolation"
    )
    if guarded.originals and guarded.originals.changed and not guarded.read_only_disk:
        changed = len(guarded.originals.changed) + guarded.originals.unlisted
        counts = ", ".join(filter(None, (counts, f"{counted(changed, 'original')} changed")))
    none = "no copy was changed" if guarded.complete else "not everything could be compared"
    return Remark(f"on copies ({isolation}): {counts or none}", about="copies")


def _fold_remarks(parts: list[str]) -> tuple[Remark, ...]:
    return (Remark(" · ".join(parts), folds=True),) if parts else ()


MOST_FILE_DIFF_LINES = 400  # lines of one diff
FILE_DIFF_STYLES = {"+": "$text-success", "-": "$text-error", "@": FAINT}


def copied_files_text(guarded: SandboxResult | None, short: Callable[[Path], str]) -> Content:
    """Return all file changes with their diffs. `short` shortens a path."""
    if guarded is None:
        return Content()
    lines: list[Content] = []
    for change in guarded.changes:
        lines += _file_change_lines(change, short)
    if guarded.more:
        lines.append(muted(f"and {guarded.more:,} more"))
    lines += (
        [Content(), safe_block(guarded.isolation, 600).stylize(MARK_MUTED)]
        if lines
        else [safe_block(guarded.isolation, 600)]
    )
    lines += [muted("note  ") + safe_block(note, 400) for note in guarded.notes]
    return join_lines(lines)


def _file_change_lines(change: FileChange, short: Callable[[Path], str]) -> Iterator[Content]:
    sizes = " → ".join("–" if size is None else f"{size:,}" for size in (change.before, change.after))
    path = Content(safe_word(short(change.path), 300))
    yield Content.styled(f"{change.kind:<8} ", "bold") + path + muted(f"  {sizes} bytes")
    for line in change.diff.split("\n")[2:MOST_FILE_DIFF_LINES]:
        if line:
            yield Content("    ") + safe_block(line, 300).stylize(FILE_DIFF_STYLES.get(line[0], MARK_MUTED))


MOST_EVENT_CHARACTERS = 20_000  # characters of an event to show
NOTHING_FIRED = "Nothing was fired yet. Press {fire.fire} to fire the event."


def run_title(sheet: RunSheet | None, now: float, width: int) -> Content:
    """Return the border's title: number, event, outcome, and the time if it fits into `width`."""
    if sheet is None:
        return Content("Run")
    words, phase = run_outcome(sheet)
    mark = OUTCOME_MARKS[phase]
    head = Content.assemble(
        f"Run {sheet.number}   {safe_word(sheet.plan.event.key, 60)}   ",
        (f"{mark.glyph} {words}", mark.style),
    )
    title = Content.assemble(head, *_verdict(sheet.checked))
    if title.cell_length > width:  # the event's pane names the file too
        title = Content.assemble(head, *_verdict(sheet.checked, named=False))
    took = f"   {duration(sheet.run.took if sheet.run else now - sheet.begun)}"
    return title + took if title.cell_length + len(took) <= width else title


def _verdict(checked: SavedEventResult | None, *, named: bool = True) -> tuple[tuple[str, str] | str, ...]:
    """Return the comparison with a saved event, as a part of the title. `named`: with the file's name."""
    if checked is None or checked.problem or checked.accepted or not checked.expects:
        return ()
    name = safe_word(checked.file.name, 40)
    text = _check_text(checked) if named else _check_text(checked).removesuffix(name).removesuffix(" from ")
    return "   ", (text.rstrip(), EXPECTATION_STYLES["+" if checked.passed else "-"])


def paused_text(row: CallRow) -> Content:
    """Return a paused handler's keys, and the event it would get."""
    keys = (
        "Paused: {fire.step} runs this handler, {fire.pass_over} skips it, {fire.run_all} runs it and "
        "all later ones, {fire.cancel} cancels the run."
    )
    return Content("\n").join(
        [
            Content(with_keys(keys)),
            Content(),
            muted("the event that it would receive"),
            safe_block(readable_json(row.event), MOST_EVENT_CHARACTERS),
        ]
    )


def ending_text(sheet: RunSheet) -> Content:
    """Return the text to show if no handler was called."""
    lines = ["No handler was called."] if sheet.run else ["Waiting for the first handler."]
    if sheet.run is not None:
        lines += [safe_word(note, 400) for note in (*sheet.run.notes, sheet.run.ending.failure or "") if note]
    return Content("\n".join(lines))
