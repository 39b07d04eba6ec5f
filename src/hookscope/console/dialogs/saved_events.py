"""The dialog of saved events and sequences: load or fire one, test all, see the last results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from hookscope.console.dialogs.base_dialogs import Picker, filtered, picker_keys
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints, with_keys
from hookscope.console.theme.text_styles import (
    MARK_MUTED,
    counted,
    fixed_width,
    keep_ends,
    safe_text,
    safe_word,
)
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.authoring.testing.saved_events import SavedEventRow
    from hookscope.authoring.testing.sequences import EventSequence, SequenceRow
    from hookscope.authoring.testing.test_runs import SavedEventResult

WIDEST_EVENT_KEY = 28  # cells of an event's key
TEST_RESULT_WIDTH = 16  # cells of the last test result
COLUMN_GAP = 2
MOST_REASON_LINES = 6  # lines of failures
RUNNING_SIGN = Content.styled("» running", "$text-accent")
NO_SAVED_EVENTS = "No saved events yet: {fire.save} saves the composer's event."


@dataclass(frozen=True, slots=True)
class SavedFileRow:
    """A saved event or a sequence."""

    name: str
    what: str  # the event's key, or the number of steps
    file: Path
    sequence: EventSequence | None = None
    tags: tuple[str, ...] = ()
    expects: bool = False
    problem: str = ""
    note: str = ""

    @property
    def testable(self) -> bool:
        """Whether the event or sequence can be fired from its file."""
        return not self.problem and (self.sequence is None or not self.sequence.is_shipped)


def saved_file_rows(
    events: Sequence[SavedEventRow], sequences: Sequence[SequenceRow]
) -> tuple[SavedFileRow, ...]:
    """Return the rows: events, then sequences, shipped ones last."""
    return (*map(_event_row, events), *map(_sequence_row, sequences))


def _event_row(row: SavedEventRow) -> SavedFileRow:
    return SavedFileRow(row.name, row.key, row.file, None, row.tags, row.expects, row.problem, row.notes)


def _sequence_row(row: SequenceRow) -> SavedFileRow:
    sequence = row.sequence
    if sequence is None:
        return SavedFileRow(row.name, "sequence", row.file, problem=row.problem)
    steps_text = f"{counted(len(sequence.steps), 'step')}{', shipped' if sequence.is_shipped else ''}"
    return SavedFileRow(
        row.name, steps_text, row.file, sequence, sequence.tags, sequence.expects, note=sequence.notes
    )


def last_test_result(row: SavedFileRow, checked: SavedEventResult | None) -> Content:
    """Return the result of a row's last test in this session."""
    if row.problem:
        return Content.styled("✗ cannot be read", "$text-error")
    if checked is None and row.sequence is not None:
        return Content.styled(f"{ENTER_KEY} fires", MARK_MUTED)
    if checked is None:
        return Content.styled("not tested yet" if row.expects else "–", MARK_MUTED)
    if checked.passed:
        return Content.styled("✓ as expected", "$text-success")
    missed = len(checked.misses) + len(checked.could_not_run)
    return Content.styled("✗ not fired" if checked.problem else f"✗ {missed} failed", "$text-error")


class SavedScreen(Picker[SavedFileRow, SavedFileRow]):
    """A list of saved events: typing filters it, enter loads an event or fires a sequence."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="saved.cancel", tooltip="Stop running tests, or go back"),
        Binding("ctrl+r,f5", "test", "Test all", id="saved.test", tooltip="Fire all, and compare each run"),
        *picker_keys("saved", "event"),
    ]
    DEFAULT_CSS = """
    SavedScreen {
        & #saved-why { height: auto; max-height: 6; margin: 1 0 0 0; color: $text-muted; display: none; }
        & #saved-why.-shown { display: block; }
    }
    """

    def __init__(
        self,
        rows: Sequence[SavedFileRow],
        checked: Mapping[Path, SavedEventResult],
        test: Callable[[tuple[Path, ...]], bool],
        stop: Callable[[], bool],
        current: Path | None = None,
    ) -> None:
        """`test` fires files and compares each run; `begins` and `show` report the progress.

        `stop` ends the tests and returns whether any were running.
        """
        super().__init__()
        self._test, self._stop = test, stop
        self._goes: Path | None = None  # the file being fired
        self._rows, self._checked, self._current = tuple(rows), dict(checked), current

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Saved events and sequences"
            frame.border_subtitle = key_hints(
                (ENTER_KEY, "load or fire"), ("saved.test", "test all"), ("saved.cancel", "back")
            )
            yield Input(placeholder="type to filter", compact=True)
            yield OptionList(markup=False)
            yield Static(id="saved-why", markup=False)

    def on_mount(self) -> None:
        self._fill("")
        files = [row.file for row in self.found]
        if self._current in files:
            self.query_one(OptionList).highlighted = files.index(self._current)

    def begins(self, file: Path) -> None:
        """Mark this file as being fired."""
        self._goes = file
        self._redraw()

    def show(self, checked: SavedEventResult) -> None:
        """Show the result of one test."""
        self._checked[checked.file], self._goes = checked, None
        self._redraw()

    def _redraw(self) -> None:
        if self.is_open:  # once the dialog is closed, results go only to the log
            self._fill(self.typed)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def _fill(self, typed: str) -> None:
        named = ((row.name, f"{row.what} {' '.join(row.tags)}", row) for row in self._rows)
        rows, at = filtered(typed, named), self.query_one(OptionList).highlighted
        what = min(max((cell_len(safe_word(row.what)) for row in self._rows), default=10), WIDEST_EVENT_KEY)
        name = max((cell_len(safe_word(row.name)) for row in self._rows), default=10)
        widths = min(name, max(10, self.room - what - TEST_RESULT_WIDTH - 2 * COLUMN_GAP)), what
        none = f"No match for {safe_word(typed)}." if self._rows else with_keys(NO_SAVED_EVENTS)
        self.list_rows(rows, (self._prompt(row, *widths) for row in rows), none, at or 0)
        self.leave_room()
        self._say_why()

    @property
    def below(self) -> int:
        has_notes = any(row.problem or row.note for row in self._rows)
        return (
            MOST_REASON_LINES + 1
            if has_notes or any(not checked.passed for checked in self._checked.values())
            else 0
        )

    def _prompt(self, row: SavedFileRow, name_width: int, key_width: int) -> Content:
        return Content.assemble(
            fixed_width(keep_ends(safe_word(row.name), name_width), name_width),
            " " * COLUMN_GAP,
            fixed_width(safe_word(row.what), key_width, MARK_MUTED),
            " " * COLUMN_GAP,
            RUNNING_SIGN if row.file == self._goes else last_test_result(row, self._checked.get(row.file)),
        )

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._say_why()

    def _say_why(self) -> None:
        """Show the failures of the row under the cursor."""
        row = self.row
        checked = self._checked.get(row.file) if row is not None else None
        reasons: tuple[str, ...] = ()
        if row is not None:
            reasons = (row.problem,) if row.problem else checked.failure_lines if checked is not None else ()
            reasons = reasons or ((row.note,) if row.note else ())
        why = self.query_one("#saved-why", Static)
        why.set_class(bool(reasons), "-shown")
        why.update(safe_text("\n".join(reasons[:MOST_REASON_LINES]), 1_200))

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        self._load()

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._load()

    def _load(self) -> None:
        row = self.row
        if row is not None and row.problem:
            self.app.notify(
                f"{safe_word(row.name)} cannot be loaded: {safe_word(row.problem, 300)}", markup=False
            )
        elif row is not None:
            self.dismiss(row)

    def action_test(self) -> None:
        files = tuple(row.file for row in self.found if row.testable)
        if files:
            self._test(files)
        else:
            self.app.notify("There is nothing to test.", markup=False)

    def action_cancel(self) -> None:
        """Stop running tests; otherwise close."""
        if self._goes is None or not self._stop():
            self.dismiss(None)


def file_name_problem(name: str) -> str:
    """Return why a file cannot have this name; empty if it can."""
    if not name:
        return "Enter a name, such as hello."
    parts = Path(name).parts
    is_unsafe = name.startswith(("/", "~")) or ".." in parts or any(part.startswith(".") for part in parts)
    if is_unsafe or not name.isprintable() or "\\" in name:
        return f"{safe_word(name, 60)} is not a valid name: use letters, digits and -."
    return ""
