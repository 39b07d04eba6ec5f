"""Calls the workbench in threads that touch no widget, and opens it after the first frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import perf_counter, time_ns
from typing import TYPE_CHECKING, TypeVar

from textual.widget import Widget
from textual.worker import get_current_worker

from hookscope.console.keymap.active_keys import key_of
from hookscope.console.process import freeze_scan_result, resume_collection, run_in_background
from hookscope.console.state.console_state import HookCheck, SourceText
from hookscope.console.state.hook_rows import listing_of
from hookscope.console.state.messages import (
    ConsoleTaskFailed,
    FilesChanged,
    LateOutputReported,
    NoticeShown,
    SettingsWritten,
    StateChanged,
    ThreadAnswered,
    TogglePlanned,
    TrustWritten,
    UndoPlanned,
    UnprotectedReported,
    WorkbenchFailed,
    error_text,
    post_to,
)
from hookscope.console.state.state_changes import (
    HookChecked,
    ScanFailed,
    ScanFinished,
    ScanStarted,
    SourceRead,
)
from hookscope.model.hook_status import HookStatus
from hookscope.model.text import error_reason

if TYPE_CHECKING:
    from hookscope.app.edits import Toggle, Undoing
    from hookscope.app.runs.activation_chain import ActivationLink
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.watching import Watch
    from hookscope.app.workbench import Workbench
    from hookscope.model.hook_status import RejectedHook
    from hookscope.model.machine import Machine


T = TypeVar("T")
WATCH_SECONDS = 0.1  # seconds between two reports of a run's steps
LARGEST_SOURCE = 262_144  # bytes of a file that is shown beside a hook


class Bridge:
    """Asks the workbench, and posts what it answers. A failure is a message, never an exception."""

    def __init__(self, screen: Widget, opener: WorkbenchOpener) -> None:
        self.screen = screen
        self.opener = opener
        self._asked = 0  # looks asked for
        self._looking = False
        self._again = False
        self._watch: Watch | None = None
        self._read_at = 0  # when the last look began, in nanoseconds of the epoch
        self._opening = 0  # answers on their way that may open a dialog

    @property
    def opening(self) -> bool:
        """May a dialog be on its way: whoever types on means that."""
        return self._opening > 0

    @property
    def bench(self) -> Workbench:
        """The workbench; the first access opens it."""
        return self.opener()

    def open(self, then: Callable[[], object]) -> None:
        """Open the workbench, in a thread: meanwhile there is something to be seen already."""

        def opening() -> None:
            try:
                self._hear_late(self.opener())
            except Exception as error:
                post_to(self.screen, WorkbenchFailed(error))
            else:
                post_to(self.screen, ThreadAnswered(then))

        self.screen.run_worker(opening, name="open", group="open", thread=True, exit_on_error=False)

    def look(self) -> None:
        """Look at everything, in a thread: one look runs, one waits."""
        if self._looking:
            self._again = True
            return
        self._looking = True
        self._asked += 1
        number = self._asked
        post_to(self.screen, StateChanged(ScanStarted()))
        run_in_background(lambda: self._look(number), "look")

    def _look(self, number: int) -> None:
        began, self._read_at = perf_counter(), time_ns()
        try:
            view = self.bench.scan()
            filling = self.bench.filler.sources(view)
            listing = listing_of(view).with_groups()
            view.precompute()
            freeze_scan_result(listing.rows)
        except Exception as error:  # the console lives on; what went wrong is said
            post_to(self.screen, StateChanged(ScanFailed(error_text(error))))
        else:
            took = perf_counter() - began
            post_to(self.screen, StateChanged(ScanFinished(number, view, took, filling, listing)))

    def follow(self, view: Snapshot) -> str:
        """Watch the files of this view from now on; what is watched, in words."""
        if self._watch is None:
            self._watch = self.bench.watch(lambda paths: post_to(self.screen, FilesChanged(paths)))
        also = (*self.bench.setup.source_files, *self.bench.shared_state_files)
        return self._watch.follow(view.host, also, self._read_at)

    def is_learned(self, path: Path) -> bool:
        """Does only what was learned of hooks lie there, or will it: none of what they are made of."""
        return any(file.is_relative_to(path) for file in self.bench.shared_state_files)

    def _hear_late(self, bench: Workbench) -> None:
        """Post what handlers print or throw after they have answered, and what copies do not protect."""
        bench.worker_pools.on_late = lambda who, text: post_to(self.screen, LateOutputReported(who, text))
        bench.worker_pools.warn_unprotected = lambda text: post_to(self.screen, UnprotectedReported(text))

    def close(self) -> None:
        """Watch nothing any more, and scan nothing."""
        if self.opener.opened is not None:
            self.opener.opened.stop_scans()
        if self._watch is not None:
            self._watch.close()

    @property
    def looking(self) -> bool:
        """Is a look on its way or waiting: what is shown may be older than the last wish."""
        return self._looking

    def look_ended(self) -> None:
        """An answer came: start the look that waited, if one did."""
        self._looking = False
        resume_collection()
        if self._again:
            self._again = False
            self.look()

    def read(self, row: str, path: Path | None, item: HookStatus | RejectedHook, view: Snapshot) -> None:
        """Read the file that belongs beside a row, and lint its hook, in a thread."""

        def reading() -> None:
            if path is not None:
                source = read_source(row, path, view.host.machine)
                post_to(self.screen, StateChanged(SourceRead(source)))
            if isinstance(item, HookStatus) and not get_current_worker().is_cancelled:
                post_to(self.screen, StateChanged(HookChecked(self._checked(row, item, view))))

        self.screen.run_worker(
            reading, name="read", group="read", thread=True, exclusive=True, exit_on_error=False
        )

    def _checked(self, row: str, item: HookStatus, view: Snapshot) -> HookCheck:
        """Return the lint findings of one hook."""
        try:
            from hookscope.authoring.lint.linting import lint_one

            report = lint_one(item, view.host)
        except Exception as error:
            return HookCheck(row, problem=error_text(error))
        without = next((one.why for one in report.not_run), "")
        return HookCheck(row, report.findings, without, self._links(item, view))

    def _links(self, item: HookStatus, view: Snapshot) -> tuple[ActivationLink, ...]:
        """What has come of a hook; nothing where the journal cannot be read, which is said elsewhere."""
        from hookscope.app.runs.activation_chain import activation_chain

        try:
            return activation_chain(self.bench, view, item)
        except OSError:
            return ()

    def trust(self, folders: tuple[Path, ...]) -> None:
        """Record that these folders may run."""

        def trusting() -> None:
            try:
                done = tuple(self.bench.trust(folder, must_be_real=True) for folder in folders)
            except Exception as error:
                post_to(self.screen, TrustWritten((), error_text(error)))
            else:
                post_to(self.screen, TrustWritten(done))

        self.screen.run_worker(trusting, name="trust", group="trust", thread=True, exit_on_error=False)

    def plan_toggle(self, view: Snapshot, name: str, on: bool) -> None:
        """Find out what switching a hook would write."""

        def planning() -> None:
            try:
                toggle = self.bench.edits.toggle(view, name, on)
            except Exception as error:
                post_to(self.screen, TogglePlanned(None, error_text(error)))
            else:
                post_to(self.screen, TogglePlanned(toggle))
            post_to(self.screen, ThreadAnswered(self._opened))

        self._opening += 1
        self._write(planning)

    def apply_toggle(self, toggle: Toggle) -> None:
        """Write what was planned."""

        def applying() -> None:
            try:
                self.bench.edits.apply(toggle)
            except Exception as error:
                post_to(self.screen, SettingsWritten(toggle.name, "", error_text(error)))
            else:
                post_to(self.screen, SettingsWritten(toggle.name, f"{toggle.after}: {toggle.change.meaning}"))

        self._write(applying)

    def plan_undo(self) -> None:
        """Find out what taking back the last change would write."""

        def planning() -> None:
            from hookscope.app.edits import UndoBlocked

            try:
                undoing = self.bench.edits.pending_undo()
            except UndoBlocked as error:
                post_to(self.screen, UndoPlanned(None, error.problem, error.change))
            except Exception as error:
                post_to(self.screen, UndoPlanned(None, error_text(error)))
            else:
                post_to(self.screen, UndoPlanned(undoing))
            post_to(self.screen, ThreadAnswered(self._opened))

        self._opening += 1
        self._write(planning)

    def apply_undo(self, undoing: Undoing) -> None:
        """Write what was planned."""

        def applying() -> None:
            try:
                self.bench.edits.undo(undoing)
            except Exception as error:
                post_to(self.screen, SettingsWritten("undo", "", error_text(error)))
            else:
                taken = f"taken back: {undoing.change.meaning}"
                post_to(self.screen, SettingsWritten("undo", taken, files=undoing.files))
                for told in undoing.skipped_messages:
                    post_to(self.screen, NoticeShown(told))

        self._write(applying)

    def _write(self, work: Callable[[], None]) -> None:
        self.screen.run_worker(work, name="settings", group="settings", thread=True, exit_on_error=False)

    def ask(
        self,
        name: str,
        work: Callable[[], T],
        then: Callable[[T], object],
        *,
        opens: bool = False,
        scans: bool = False,
    ) -> None:
        """Do what reads or writes files in a thread; its answer comes back to the screen's own.

        A Refusal, like every other failure, becomes a line for the user. `opens`: the answer may open a
        dialog, which gets the keys that are typed meanwhile. `scans`: it only reads, perhaps thousands of
        files, so that the end of the console does not wait for it.
        """

        def asking() -> None:
            try:
                answer = work()
            except Exception as error:
                post_to(self.screen, NoticeShown(error_text(error), "warning"))
            else:
                post_to(self.screen, ThreadAnswered(lambda: then(answer)))
            if opens:
                post_to(self.screen, ThreadAnswered(self._opened))

        self._opening += opens
        if scans:
            run_in_background(asking, name)
        else:
            self.screen.run_worker(asking, name=name, group=name, thread=True, exit_on_error=False)

    def _opened(self) -> None:
        self._opening -= 1

    def failed(self, name: str, error: BaseException | None) -> None:
        """Report a worker that ended with an unexpected error."""
        post_to(self.screen, ConsoleTaskFailed(name, error_text(error)))


def read_source(row: str, path: Path, surroundings: Machine) -> SourceText:
    """The text of a file, or why it is not shown. Regular files of a bounded size only."""
    facts = surroundings.files.facts(path)
    if facts is None or not facts.file:
        return SourceText(row, path, problem="it is gone, or no ordinary file")
    if facts.size > LARGEST_SOURCE:
        return SourceText(
            row,
            path,
            problem=f"{facts.size:,} bytes: too large to be shown here; {key_of('hooks.edit')} opens it",
        )
    try:
        return SourceText(row, path, surroundings.files.read(path).decode("utf-8", "replace"))
    except OSError as error:
        return SourceText(row, path, problem=f"cannot be read: {error_reason(error)}")


class WorkbenchOpener:
    """Opens one workbench, once. May be called from any thread: who comes meanwhile waits for it."""

    def __init__(self, opening: Callable[[], Workbench]) -> None:
        self._opening = opening
        self._lock = Lock()
        self._bench: Workbench | None = None

    @property
    def opened(self) -> Workbench | None:
        """The workbench, if it is open."""
        return self._bench

    def __call__(self) -> Workbench:
        """The workbench. Raises Refusal where it cannot be opened."""
        with self._lock:
            if self._bench is None:
                self._bench = self._opening()
            return self._bench
