"""Calls the workbench in threads that touch no widget, and opens it after the first frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import perf_counter, time_ns
from typing import TYPE_CHECKING, TypeVar

from textual.message import Message
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
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import HookStatus
from hookscope.model.text import error_reason

if TYPE_CHECKING:
    from hookscope.analysis.why_chain import WhyChain
    from hookscope.app.edits import Toggle, Undoing
    from hookscope.app.runs.activation_chain import ActivationLink
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.watching import Watch
    from hookscope.app.workbench import Workbench
    from hookscope.model.hook_status import RejectedHook
    from hookscope.model.machine import Machine


T = TypeVar("T")
LARGEST_SOURCE = 262_144  # bytes; larger files are not shown beside a hook


class Bridge:
    """Calls the workbench in threads, and posts the results. A failure is a message, never an exception."""

    def __init__(self, screen: Widget, opener: WorkbenchOpener) -> None:
        self.screen = screen
        self.opener = opener
        self._requested = 0  # number of requested scans
        self._is_scanning = False
        self._again = False
        self._watch: Watch | None = None
        self._read_at = 0  # when the last scan began, in nanoseconds of the epoch
        self._awaited_dialogs = 0  # pending answers that may open a dialog

    @property
    def awaits_dialog(self) -> bool:
        """True if a dialog may be about to open. It receives the keys that are typed meanwhile."""
        return self._awaited_dialogs > 0

    @property
    def bench(self) -> Workbench:
        """The workbench; the first access opens it."""
        return self.opener()

    def open(self, then: Callable[[], object]) -> None:
        """Open the workbench in a thread, while the first frame is already visible."""

        def open_workbench() -> Message:
            self._listen_for_late_output(self.opener())
            return ThreadAnswered(then)

        self._post_result("open", open_workbench, WorkbenchFailed)

    def scan(self) -> None:
        """Scan in a thread. One scan runs and at most one waits."""
        if self._is_scanning:
            self._again = True
            return
        self._is_scanning = True
        self._requested += 1
        number = self._requested
        post_to(self.screen, StateChanged(ScanStarted()))
        run_in_background(lambda: self._scan(number), "look")

    def _scan(self, number: int) -> None:
        began, self._read_at = perf_counter(), time_ns()
        try:
            view = self.bench.scan()
            filling = self.bench.filler.sources(view)
            listing = listing_of(view).with_groups()
            view.precompute()
            freeze_scan_result(listing.rows)
        except Exception as error:  # the console continues, and reports the error
            post_to(self.screen, StateChanged(ScanFailed(error_text(error))))
        else:
            took = perf_counter() - began
            post_to(self.screen, StateChanged(ScanFinished(number, view, took, filling, listing)))

    def follow(self, view: Snapshot) -> str:
        """Watch the files of this snapshot from now on. Return a description of how they are watched."""
        if self._watch is None:
            self._watch = self.bench.watch(lambda paths: post_to(self.screen, FilesChanged(paths)))
        also = (*self.bench.setup.source_files, *self.bench.shared_state_files)
        return self._watch.follow(view.host, also, self._read_at)

    def is_shared_state(self, path: Path) -> bool:
        """Return True if `path` is a file of Hookscope's shared state, or a folder for such a file."""
        return any(file.is_relative_to(path) for file in self.bench.shared_state_files)

    def _listen_for_late_output(self, bench: Workbench) -> None:
        """Post late output of handlers, and what sandboxes do not protect."""
        bench.worker_pools.on_late = lambda who, text: post_to(self.screen, LateOutputReported(who, text))
        bench.worker_pools.warn_unprotected = lambda text: post_to(self.screen, UnprotectedReported(text))

    def close(self) -> None:
        """Stop watching and scanning."""
        if self.opener.opened is not None:
            self.opener.opened.stop_scans()
        if self._watch is not None:
            self._watch.close()

    @property
    def is_scanning(self) -> bool:
        """True if a scan is running or pending: the panes may be outdated."""
        return self._is_scanning

    def scan_ended(self) -> None:
        """Start the waiting scan, if there is one."""
        self._is_scanning = False
        resume_collection()
        if self._again:
            self._again = False
            self.scan()

    def read(
        self, row: str, path: Path | None, item: HookStatus | RejectedHook, view: Snapshot, event: str = ""
    ) -> None:
        """Read the file to show beside a row, and lint its hook, in a thread.

        `event`: the event whose chain is shown; empty: the hook's first event.
        """

        def reading() -> None:
            if path is not None:
                source = read_source(row, path, view.host.machine)
                post_to(self.screen, StateChanged(SourceRead(source)))
            if isinstance(item, HookStatus) and not get_current_worker().is_cancelled:
                post_to(self.screen, StateChanged(HookChecked(self._checked(row, item, view, event))))

        self.screen.run_worker(
            reading, name="read", group="read", thread=True, exclusive=True, exit_on_error=False
        )

    def _checked(self, row: str, item: HookStatus, view: Snapshot, event: str) -> HookCheck:
        """Return the lint findings, activation links and chain of one hook."""
        try:
            from hookscope.authoring.lint.linting import lint_one

            report = lint_one(item, view.host)
        except Exception as error:
            return HookCheck(row, problem=error_text(error))
        without = next((one.why for one in report.not_run), "")
        chain = self._chain(item, view, event)
        return HookCheck(row, report.findings, without, self._links(item, view), chain)

    def _chain(self, item: HookStatus, view: Snapshot, event: str) -> WhyChain | None:
        """Return the chain from the hook's file to its user, for one event; None if it is unknown."""
        from hookscope.analysis.why_chain import why_chains

        try:
            return why_chains(self.bench, view, item, event or next(iter(item.events or ()), None))[0]
        except (OSError, Refusal):
            return None

    def _links(self, item: HookStatus, view: Snapshot) -> tuple[ActivationLink, ...]:
        """Return a hook's activation chain; empty if the journal is unreadable (reported elsewhere)."""
        from hookscope.app.runs.activation_chain import activation_chain

        try:
            return activation_chain(self.bench, view, item)
        except OSError:
            return ()

    def trust(self, folders: tuple[Path, ...]) -> None:
        """Trust these folders."""
        self._post_result(
            "trust",
            lambda: TrustWritten(tuple(self.bench.trust(folder, must_be_real=True) for folder in folders)),
            lambda error: TrustWritten((), error_text(error)),
        )

    def plan_toggle(self, view: Snapshot, name: str, on: bool) -> None:
        """Plan the edit that switches a hook on or off."""
        self._post_result(
            "settings",
            lambda: TogglePlanned(self.bench.edits.toggle(view, name, on)),
            lambda error: TogglePlanned(None, error_text(error)),
            opens=True,
        )

    def apply_toggle(self, toggle: Toggle) -> None:
        """Write a planned edit."""

        def apply() -> Message:
            self.bench.edits.apply(toggle)
            return SettingsWritten(toggle.name, f"{toggle.after}: {toggle.change.meaning}")

        self._post_result(
            "settings", apply, lambda error: SettingsWritten(toggle.name, "", error_text(error))
        )

    def plan_undo(self) -> None:
        """Plan the edit that undoes the last one."""

        def blocked(error: Exception) -> Message:
            from hookscope.app.edits import UndoBlocked

            if isinstance(error, UndoBlocked):
                return UndoPlanned(None, error.problem, error.change)
            return UndoPlanned(None, error_text(error))

        self._post_result(
            "settings", lambda: UndoPlanned(self.bench.edits.pending_undo()), blocked, opens=True
        )

    def apply_undo(self, undoing: Undoing) -> None:
        """Write a planned undo."""

        def undo() -> Message:
            self.bench.edits.undo(undoing)
            return SettingsWritten("undo", f"undone: {undoing.change.meaning}", undoing=undoing)

        self._post_result("settings", undo, lambda error: SettingsWritten("undo", "", error_text(error)))

    def ask(
        self,
        name: str,
        work: Callable[[], T],
        then: Callable[[T], object],
        *,
        opens: bool = False,
        scans: bool = False,
    ) -> None:
        """Run `work` in a thread, then call `then` with its result in the screen's thread.

        A failure, such as a Refusal, is shown as a toast. `opens` and `scans`: see `_post_result`.
        """

        def answered() -> Message:
            answer = work()
            return ThreadAnswered(lambda: then(answer))

        self._post_result(
            name, answered, lambda error: NoticeShown(error_text(error), "warning"), opens=opens, scans=scans
        )

    def _post_result(
        self,
        name: str,
        work: Callable[[], Message],
        failed: Callable[[Exception], Message],
        *,
        opens: bool = False,
        scans: bool = False,
    ) -> None:
        """Run `work` in a thread and post the message that it returns; if it raises, that of `failed`.

        `opens`: the message may open a dialog, which receives the keys that are typed meanwhile. `scans`:
        `work` only reads, perhaps thousands of files, so the console does not wait for it when it exits.
        """

        def work_and_post() -> None:
            try:
                message = work()
            except Exception as error:
                message = failed(error)
            post_to(self.screen, message)
            if opens:
                post_to(self.screen, ThreadAnswered(self._opened))

        self._awaited_dialogs += opens
        if scans:
            run_in_background(work_and_post, name)
        else:
            self.screen.run_worker(work_and_post, name=name, group=name, thread=True, exit_on_error=False)

    def _opened(self) -> None:
        self._awaited_dialogs -= 1

    def failed(self, name: str, error: BaseException | None) -> None:
        """Report a worker that ended with an unexpected error."""
        post_to(self.screen, ConsoleTaskFailed(name, error_text(error)))


def read_source(row: str, path: Path, machine: Machine) -> SourceText:
    """Return the text of a file, or why it is not shown. Only regular files of limited size are shown."""
    facts = machine.files.facts(path)
    if facts is None or not facts.file:
        return SourceText(row, path, problem="The file is missing, or is not a regular file.")
    if facts.size > LARGEST_SOURCE:
        problem = f"The file is too large to show: {facts.size:,} bytes. {key_of('hooks.edit')} opens it."
        return SourceText(row, path, problem=problem)
    try:
        return SourceText(row, path, machine.files.read(path).decode("utf-8", "replace"))
    except OSError as error:
        return SourceText(row, path, problem=f"The file cannot be read: {error_reason(error)}.")


class WorkbenchOpener:
    """Opens one workbench, once. Safe from any thread: later callers wait for the first."""

    def __init__(self, open_workbench: Callable[[], Workbench]) -> None:
        self._open_workbench = open_workbench
        self._lock = Lock()
        self._bench: Workbench | None = None

    @property
    def opened(self) -> Workbench | None:
        return self._bench

    def __call__(self) -> Workbench:
        """Return the workbench. Raises Refusal if it cannot be opened."""
        with self._lock:
            if self._bench is None:
                self._bench = self._open_workbench()
            return self._bench
