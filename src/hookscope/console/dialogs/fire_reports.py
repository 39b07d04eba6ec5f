"""Reports on many runs of one event: repeated, in other orders, and fuzzed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hookscope.analysis import order_findings
from hookscope.console.dialogs.base_dialogs import Dialog
from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.theme.text_styles import MARK_MUTED, OUTCOME_MARKS, counted, fixed_width, safe_word
from hookscope.console.widgets.lines import KeyScroll, LineList
from hookscope.model.run_comparison import FileRepetition, HookRepetition, RepeatOutcome, Repetition
from hookscope.model.text import duration

if TYPE_CHECKING:
    from hookscope.analysis.fuzzing import FoundFailure, FuzzResult


FRESH_COPIES_NOTE = order_findings.STATE_KEPT_NOTE.format("on copies")


def order_lines(findings: order_findings.OrderFindings, copies: bool) -> Iterator[Content]:
    """Yield the result, then each finding with its two runs. Names and values are safe to show."""
    yield Content.styled(
        order_findings.order_summary(findings), "$text-warning" if findings.order_matters else "$text-success"
    )
    yield Content.styled(f"registered: {', '.join(findings.names)}", MARK_MUTED)
    for sentence in order_findings.finding_sentences(findings):
        worst = sentence.finding.subject.kind is order_findings.FactKind.ENDED
        yield Content()
        yield Content.styled(sentence.text, "bold $text-error" if worst else "bold $text-warning")
        yield from (
            Content.styled(f"  {line}", MARK_MUTED)
            for line in order_findings.evidence_lines(sentence.finding, findings.names)
        )
    for text in order_findings.unexplained_sentences(findings):
        yield Content()
        yield Content.styled(text, "$text-warning")
    if findings.unstable:
        yield Content()
        differing = ", ".join(order_findings.unsteady_subjects(findings))
        yield Content.styled(f"Varies within one order, so not compared: {differing}.", MARK_MUTED)
    if not copies:
        yield Content()
        yield Content.styled(FRESH_COPIES_NOTE, MARK_MUTED)


REPEAT_STYLES: Mapping[RepeatOutcome, str] = {
    RepeatOutcome.NOTHING: "$text-success",
    RepeatOutcome.SAME: "$foreground",
    RepeatOutcome.GROWS: "$text-error",
    RepeatOutcome.OTHER: "$text-warning",
    RepeatOutcome.ONCE: "$foreground",
}
REPEAT_SIGNS: Mapping[RepeatOutcome, str] = {
    RepeatOutcome.NOTHING: "✓",
    RepeatOutcome.SAME: "=",
    RepeatOutcome.GROWS: "↑",
    RepeatOutcome.OTHER: "≠",
    RepeatOutcome.ONCE: "·",
}
MOST_SHOWN_RUNS = 5  # runs whose values are shown one by one
FILES_UNKNOWN = "File changes are unknown; run on copies to see them."


def repetition_lines(repetition: Repetition, short: Callable[[Path], str]) -> Iterator[Content]:
    """Yield each handler with its verdict, then the files. `short` shortens a path."""
    if not repetition.hooks:
        yield Content("No handler was called.")
    width = min(max((len(safe_word(hook.hook, 40)) for hook in repetition.hooks), default=8), 40)
    for hook in repetition.hooks:
        yield from _repeated_hook_lines(hook, width)
    yield Content()
    if repetition.files is None:
        yield Content.styled(FILES_UNKNOWN, MARK_MUTED)
    elif not repetition.files:
        unchanged = repetition.sandbox.unchanged_text if repetition.sandbox is not None else ""
        yield Content.styled(f"Files: {unchanged}.", MARK_MUTED)
    for file in repetition.files or ():
        yield _repeated_file_line(file, short(Path(file.path)))


def _repeated_hook_lines(hook: HookRepetition, width: int) -> Iterator[Content]:
    yield Content.assemble(fixed_width(safe_word(hook.hook, 40), width), "  ", _repeat_verdict(hook.outcome))
    outcomes = [OUTCOME_MARKS[status].glyph if status else "–" for status in hook.statuses]
    facts = [
        ("outcome", _series_text(outcomes)),
        ("time", _series_text([duration(took) for took in hook.took])),
        ("messages", _series_text(hook.messages) if any(hook.messages) else ""),
        ("changes", _series_text(hook.changes) if any(hook.changes) else ""),
    ]
    yield from (Content.styled(f"  {name:<9} {text}", MARK_MUTED) for name, text in facts if text)
    for text in hook.same_messages[:3]:
        yield Content.styled(f"  again     {safe_word(text, 200)}", MARK_MUTED)
    for pointer in hook.same_changes[:3]:
        yield Content.styled(f"  changed   {safe_word(pointer, 200)}", MARK_MUTED)


def _series_text(values: Sequence[object]) -> str:
    cells = [f"{value!s:>8}" for value in values]
    if len(cells) > MOST_SHOWN_RUNS:
        cells[MOST_SHOWN_RUNS:] = ["…", cells[-1]]
    return " ".join(cells)


def _repeated_file_line(file: FileRepetition, path: str) -> Content:
    sizes = ["–" if size is None else f"{size:,}" for size in file.sizes]
    return Content.assemble(
        safe_word(path, 200),
        "  ",
        _repeat_verdict(file.outcome),
        (f"  {' → '.join(sizes[:MOST_SHOWN_RUNS])} bytes", MARK_MUTED),
    )


def _repeat_verdict(again: RepeatOutcome) -> Content:
    return Content.styled(f"{REPEAT_SIGNS[again]} {again}", REPEAT_STYLES[again])


def order_conclusions(result: Repetition | order_findings.OrderFindings) -> tuple[str, ...]:
    """Return a sentence for each interference between handlers; none for a plain repetition."""
    if isinstance(result, Repetition):
        return ()
    return tuple(sentence.text for sentence in order_findings.finding_sentences(result))


class RepeatScreen(Dialog[None]):
    """The report on one event that was fired several times."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "dismiss(None)", "Back", id="repeated.leave", tooltip="Back to the runs")
    ]
    DEFAULT_CSS = """
    RepeatScreen {
        & > Vertical { max-width: 110; max-height: 86%; }
        & VerticalScroll { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
        & Static { height: auto; }
    }
    """

    def __init__(
        self,
        event: str,
        result: Repetition | order_findings.OrderFindings,
        short: Callable[[Path], str] = str,
        *,
        copies: bool = False,
    ) -> None:
        super().__init__()
        self._event = event
        if isinstance(result, Repetition):
            self._times, lines = result.times, repetition_lines(result, short)
        else:
            self._times, lines = len(result.fired), order_lines(result, copies)
        self._report = Content("\n").join(lines)

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(f"{safe_word(self._event, 60)}   {counted(self._times, 'time')}")
            frame.border_subtitle = key_hints(("repeated.leave", "back"))
            with KeyScroll():
                yield Static(self._report, markup=False)

    def on_mount(self) -> None:
        self.query_one(KeyScroll).focus()


CFG_FIELD = "cfg"  # in every context; the report omits it
LONGEST_EVENT = 2_000  # characters of an event
MOST_VISIBLE_FAILURES = 12  # failures visible at once


def fuzz_summary(fuzzed: FuzzResult) -> str:
    """Return the number of events, the hooks, and the result."""
    fired = sum(hook.fired for hook in fuzzed.hooks)
    hooks = ", ".join(safe_word(hook.hook, 40) for hook in fuzzed.hooks)
    stopped = "; stopped early" if fuzzed.stopped else ""
    result = counted(len(fuzzed.failures), "failure") if fuzzed.failures else "nothing failed"
    return f"{counted(fired, 'event')} at {hooks}: {result}{stopped}"


class FuzzFailureList(LineList):
    """A line for each failure."""

    def __init__(self, found: tuple[FoundFailure, ...]) -> None:
        super().__init__()
        self.found = found

    @property
    def line_count(self) -> int:
        return len(self.found)

    def line_at(self, index: int, width: int) -> Content:
        failure = self.found[index]
        mark = OUTCOME_MARKS[failure.status]
        message = f"{failure.type}: {failure.error.message}" if failure.error is not None else failure.type
        return Content.assemble(
            (f"{mark.glyph} ", mark.style),
            fixed_width(safe_word(failure.hook, 40), 18),
            "  ",
            safe_word(message, 200),
        )


class FuzzScreen(Dialog[Path | None]):
    """The failures, and the smallest event of the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="fuzzed.leave", tooltip="Back to the composer")
    ]
    DEFAULT_CSS = """
    FuzzScreen {
        & > Vertical { max-width: 110; max-height: 86%; }
        & Static { height: auto; max-height: 10; }
        & #fuzzed-event { margin: 1 0 0 2; }
    }
    """

    def __init__(self, fuzzed: FuzzResult) -> None:
        super().__init__()
        self._fuzzed = fuzzed

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(f"Fuzz   {safe_word(self._fuzzed.template.key, 60)}")
            loads = [("lines.choose", "load the event")] if self._fuzzed.failures else []
            frame.border_subtitle = key_hints(*loads, ("fuzzed.leave", "back"))
            yield Static(Content.styled(fuzz_summary(self._fuzzed), MARK_MUTED), markup=False)
            yield FuzzFailureList(self._fuzzed.failures)
            yield Static(id="fuzzed-event", markup=False)

    def on_mount(self) -> None:
        lines = self.query_one(FuzzFailureList)
        lines.styles.height = min(len(lines.found), MOST_VISIBLE_FAILURES)
        lines.focus()
        self._draw()

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._draw()

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        failure = self._fuzzed.failures[event.index]
        if failure.file is None:
            self.app.notify(safe_word(failure.save_problem or "The event was not saved.", 300), markup=False)
        else:
            self.dismiss(failure.file)

    def _draw(self) -> None:
        lines = self.query_one(FuzzFailureList)
        if not lines.found:
            return
        failure = lines.found[lines.cursor]
        file_note = f"saved as {failure.file.name}" if failure.file is not None else failure.save_problem
        where = f"{Path(failure.place[0]).name}:{failure.place[1]}   " if failure.place is not None else ""
        context = {name: value for name, value in failure.event.context.items() if name != CFG_FIELD}
        self.query_one("#fuzzed-event", Static).update(
            Content.assemble(
                ("the smallest event: ", MARK_MUTED),
                safe_word(json.dumps(context, ensure_ascii=False, default=str), LONGEST_EVENT),
                "\n",
                (safe_word(f"{where}{file_note}", 300), MARK_MUTED),
            )
        )
