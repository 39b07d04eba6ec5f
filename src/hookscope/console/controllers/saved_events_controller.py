"""Saved events: saved from the composer, loaded, compared with their runs, accepted and tested."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.project_config import EVENTS_FOLDER
from hookscope.app.trust_requests import cannot_run_messages, trust_next_steps
from hookscope.authoring.testing.acceptance import acceptance_change, expectation_masking_of
from hookscope.authoring.testing.saved_events import (
    SavedDraft,
    create_saved_event,
    expectations_of,
    overwrite_saved_event,
    read_draft,
    read_saved,
    saved_event_path,
    saved_listing,
)
from hookscope.authoring.testing.test_runs import SavedEventResult, compare_run
from hookscope.console.controllers import job_runner
from hookscope.console.dialogs.base_dialogs import Question
from hookscope.console.dialogs.edit_preview import EditScreen, change_sheet
from hookscope.console.dialogs.saved_events import (
    SavedFileRow,
    SavedScreen,
    file_name_problem,
    saved_file_rows,
)
from hookscope.console.keymap.active_keys import key_of
from hookscope.console.panes.fire.event_draft import EventDraft, same_event, suggested_file_name
from hookscope.console.state.log_entries import LogEntry
from hookscope.model.text import local_now, one_line

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.authoring.testing.sequences import EventSequence, SequenceStepRun
    from hookscope.console.context import ConsoleContext
    from hookscope.console.panes.fire.fire_pane import FirePane
    from hookscope.console.state.fire_requests import SaveEventRequested
    from hookscope.model.run import Plan, Run
    from hookscope.storage.edits.change import Change
    from hookscope.storage.journal.redaction import Redaction

    # Returns the variables in place of secrets.
    WriteSavedEvent = Callable[[Path, SavedDraft, Callable[[Change], None], Redaction], tuple[str, ...]]

SAVED_GROUP = "saved events"


class SavedEventsController:
    """Saves, loads, fires and compares saved events. Files are read and written in threads."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        self.checked: dict[Path, SavedEventResult] = {}  # the last comparison of each file
        self._runs: dict[int, tuple[Snapshot, Plan, Path | None]] = {}  # of this session, to compare later
        self._list: SavedScreen | None = None
        self._to_accept: Path | None = None  # a file whose next comparison is accepted

    @property
    def pane(self) -> FirePane:
        return self.context.panes.fire_pane

    # The list.

    def show_list(self) -> None:
        """Open the list of saved events."""
        view = self.context.scanned()
        if view is not None:
            host = view.host

            def listing() -> tuple[SavedFileRow, ...]:
                from hookscope.authoring.testing.sequences import sequences_of

                return saved_file_rows(
                    saved_listing(host.workspace), sequences_of(host.workspace, host.dialect)
                )

            self.context.bridge.ask(SAVED_GROUP, listing, self._listed, opens=True)

    def _listed(self, rows: Sequence[SavedFileRow]) -> None:
        listed = self._list = SavedScreen(
            rows, self.checked, self.test, self.stop, self.pane.event_view.loaded
        )

        def chosen(row: SavedFileRow | None) -> None:
            self._list = None
            if row is not None and row.sequence is not None:
                self.follow(row.sequence)
            elif row is not None:
                self.load(row.file)

        self.context.push_dialog(listed, chosen)

    def load(self, file: Path) -> None:
        """Put a saved event into the composer."""
        self.context.bridge.ask(
            SAVED_GROUP,
            lambda: read_draft(file),
            lambda saved: self.pane.event_view.load_saved(file, saved),
            opens=True,
        )

    def follow(self, sequence: EventSequence) -> None:
        """Fire a sequence step by step, then show the last run that called a handler."""
        called: list[int] = []

        def step_ended(number: int, stepped: SequenceStepRun) -> None:
            done = stepped.result
            if done.run is not None and done.run.results:
                called.append(number)
            if stepped.step.event.expect and done.run is not None:
                self.pane.run_view.compared(number, done)
            if done.problem:
                self.context.log_line("sequence", done.problem, "error", sequence.name, toast=done.problem)

        def ended(passed: bool) -> None:
            shown = self.pane.run_view.runs.current
            if called and shown is not None and shown.number > called[-1] and not shown.rows:
                self.pane.run_view.show_run(called[-1])
            text = f"The sequence {sequence.name} has ended" + (
                "." if passed else ", with failed expectations."
            )
            level = "info" if passed else "error"
            self.context.log_line("sequence", text, level, sequence.name, toast=text)

        runner = self.context.runner
        if runner.start(
            f"The sequence {sequence.name}",
            lambda: job_runner.sequence_job(runner, sequence, step_ended, ended),
        ):
            self.context.log_line("sequence", f"{len(sequence.steps)} steps", subject=sequence.name)

    def test(self, files: tuple[Path, ...]) -> bool:
        """Fire each saved event and compare. Return False if another job runs."""
        runner = self.context.runner
        return runner.start(
            "The test", lambda: job_runner.saved_events_job(runner, files, self._test_begins, self._tested)
        )

    def stop(self) -> bool:
        """Stop the running test. Return False if there is none."""
        return self.context.runner.cancel()

    def _test_begins(self, file: Path) -> None:
        if self._list is not None:
            self._list.begins(file)

    def _tested(self, done: SavedEventResult) -> None:
        self.checked[done.file] = done
        if self._list is not None:
            self._list.show(done)
        text = "as expected" if done.passed else _failures_text(done) or "cancelled"
        mark, level = ("✓", "info") if done.passed else ("✗", "error")
        run = done.run.id if done.run is not None else None  # 0: not recorded
        self.context.log_entries(
            [LogEntry(local_now(), "test", done.file.name, f"{mark} {text}", level, run or None)]
        )

    # Saving.

    def save(self, request: SaveEventRequested) -> None:
        """Write the composer's event over its file, or under a name that the user types."""
        view = self.context.scanned()
        if view is None:
            return
        if request.file is not None:
            self._write(request.file, overwrite_saved_event, request)
            return
        host = view.host

        def place(name: str) -> Path:
            return saved_event_path(name.strip(), host.workspace, host.workspace / EVENTS_FOLDER)

        def why_not(name: str) -> str:
            there = f"{place(name).name} already exists: choose another name."
            return file_name_problem(name.strip()) or (there if os.path.exists(place(name)) else "")

        def named(name: str | None) -> None:
            if name is not None:
                self._write(place(name), create_saved_event, request)

        short = host.machine.short(host.workspace / EVENTS_FOLDER)
        question = Question(
            "Save event as",
            f"a file in {short}",
            enter="save",
            why_not=why_not,
            proposed=suggested_file_name(request.saved.key),
        )
        self.context.push_dialog(question, named)

    def reverted(self, files: Sequence[Path]) -> None:
        """Handle restored files: read and compare the shown ones again."""
        shown = {self.pane.event_view.loaded, *self.checked, *(file for _, _, file in self._runs.values())}
        concerned = [file for file in files if file in shown]

        def reading() -> dict[Path, SavedDraft | None]:
            return {file: read_draft(file) if os.path.isfile(file) else None for file in concerned}

        if concerned:
            self.context.bridge.ask(SAVED_GROUP, reading, self._read_again)

    def _read_again(self, now: Mapping[Path, SavedDraft | None]) -> None:
        loaded = self.pane.event_view.loaded
        if loaded is not None and loaded in now:
            self.pane.event_view.came_from(loaded, now[loaded])
        self.checked = {file: done for file, done in self.checked.items() if file not in now}
        for number, (view, plan, file) in [*self._runs.items()]:
            sheet = self.pane.run_view.runs.sheet(number)
            if file is None or file not in now or sheet is None or sheet.run is None:
                continue
            if now[file] is None:
                self._runs[number] = (view, plan, None)
                self.pane.run_view.compared(number, None)
            else:
                self.ran(number, sheet.run)

    def _write(self, file: Path, write: WriteSavedEvent, request: SaveEventRequested) -> None:
        self._to_accept = file if request.accept else None
        bench = self.context.bench
        self.context.bridge.ask(
            SAVED_GROUP,
            lambda: write(file, request.saved, bench.edits.write_saved_file, bench.redaction),
            lambda variables: self._saved(file, variables, request.draft),
        )

    def _saved(self, file: Path, variables: tuple[str, ...], draft: EventDraft) -> None:
        self.pane.event_view.kept_as(file, draft)
        then = f"; set its secrets as environment variables: {', '.join(variables)}" if variables else ""
        text = f"Saved as {file.name}{then}. {key_of('hooks.undo')} undoes it."
        self.context.log_line("saved", text, subject=draft.key, toast=text)
        self._compare_shown(file)

    def _compare_shown(self, file: Path) -> None:
        """If the shown run was of this event, compare it, so that its results can be accepted."""
        number = self.pane.run_view.runs.shown
        known = self._runs.get(number) if number is not None else None
        if number is None or known is None or not same_event(known[1].event, self.pane.event_view.event):
            self._to_accept = None
            return
        sheet = self.pane.run_view.runs.current
        self._runs[number] = (known[0], known[1], file)
        if sheet is not None and sheet.run is not None:
            self.ran(number, sheet.run)

    # Comparing and accepting.

    def fired(self, number: int, view: Snapshot, plan: Plan, file: Path | None) -> None:
        """Note a started run; `file` is the saved event that was fired."""
        self._runs[number] = (view, plan, file)
        kept = {sheet.number for sheet in self.pane.run_view.runs.sheets} | {number}
        self._runs = {run: known for run, known in self._runs.items() if run in kept}

    def ran(self, number: int, run: Run) -> None:
        """Handle an ended run: compare it if it was of a saved event."""
        known = self._runs.get(number)
        if known is None or known[2] is None:
            return
        view, plan, file = known[0], known[1], known[2]
        bench = self.context.bench

        def comparing() -> SavedEventResult:
            left = (*trust_next_steps(view, plan), *cannot_run_messages(view, plan))
            expect = expectations_of(bench, view, read_saved(file), plan.event)
            return compare_run(file, expect, run, view, left)

        self.context.bridge.ask(SAVED_GROUP, comparing, lambda done: self._compared(number, done))

    def _compared(self, number: int, done: SavedEventResult) -> None:
        self.checked[done.file] = done
        self.pane.run_view.compared(number, done)
        if done.expects and not done.passed:
            self.context.log_line("expect", _failures_text(done), "error", done.file.name)
        if done.file == self._to_accept:
            self._to_accept = None
            self.accept(number, done)

    def accept(self, number: int, item: SavedEventResult) -> None:
        """Preview the change that accepts the run's results as expected, even if a hook could not run."""
        self.context.bridge.ask(
            SAVED_GROUP,
            lambda: acceptance_change(item, expectation_masking_of(self.context.bench), as_is=True),
            lambda change: self._accept(number, item, change),
            opens=True,
        )

    def _accept(self, number: int, item: SavedEventResult, change: Change | None) -> None:
        view = self.context.scanned()
        if view is None:
            return
        if change is None:
            why_not = f" It still fails: {one_line(item.could_not_run[0], 300)}" if item.could_not_run else ""
            self.context.notify(f"{item.file.name} already expects these results.{why_not}")
            return

        def answered(agreed: bool | None) -> None:
            if agreed:
                edits = self.context.bench.edits
                self.context.bridge.ask(
                    SAVED_GROUP,
                    lambda: edits.write_saved_file(change),
                    lambda _: self._accepted(number, item),
                )

        sheet = change_sheet(change, view.host.machine)
        left_out = "Accept as is? Not every hook could run"
        title = left_out if item.could_not_run else "Accept these results?"
        self.context.push_dialog(EditScreen(title, sheet), answered)

    def _accepted(self, number: int, item: SavedEventResult) -> None:
        self.context.log_line("accepted", "these results are expected from now on", subject=item.file.name)
        if item.run is not None:
            self.ran(number, item.run)


def _failures_text(done: SavedEventResult) -> str:
    """Return the failed expectations on one line, without their single items."""
    return one_line("; ".join(line.rstrip(".") for line in done.failure_lines if line[:1] != " "), 300)
