"""Messages from panes, controllers and threads to the main screen. Data only; no message carries a widget."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.message import Message
from textual.message_pump import MessagePump

from hookscope.console.state.console_message import ConsoleMessage

if TYPE_CHECKING:
    from hookscope.app.runs.activation_links import Activity
    from hookscope.app.snapshot import PastRun
    from hookscope.app.toggle import Toggle, Undoing
    from hookscope.console.state.console_state import ComposedEvent
    from hookscope.console.state.log_entries import LogEntry
    from hookscope.console.state.state_changes import StateChange
    from hookscope.model.hook import FilePosition, Hook
    from hookscope.model.hook_status import HookStatus
    from hookscope.model.inventory import RejectedHook
    from hookscope.model.run import Plan, Run, Step
    from hookscope.model.trust import TrustTarget
    from hookscope.runtime.debugger import Debugger, Stop
    from hookscope.sessions.simulation import SimulationResult
    from hookscope.storage.edits.change import Change as Edit


Severity = Literal["information", "warning", "error"]


class StateChanged(ConsoleMessage):
    """Something is different now: the screen reduces it into its state."""

    def __init__(self, change: StateChange) -> None:
        self.change = change
        super().__init__()


class NoticeShown(Message):
    """One line for the user."""

    def __init__(self, text: str, severity: Severity = "information") -> None:
        self.text, self.severity = text, severity
        super().__init__()


class PreferencesSaved(ConsoleMessage):
    """A file of keys or themes was saved."""


class WorkbenchFailed(ConsoleMessage):
    """There is no workbench: the console has nothing to show."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        super().__init__()


class ThreadAnswered(ConsoleMessage):
    """What a thread was asked for is there: the one who asked takes it, in the screen's own thread."""

    def __init__(self, take: Callable[[], object]) -> None:
        self.take = take
        super().__init__()


class HandlerStopped(ConsoleMessage):
    """A handler that is debugged stands, and waits for a word to its debugger."""

    def __init__(self, debugger: Debugger, stop: Stop) -> None:
        self.debugger, self.seen = debugger, stop  # `stop` is taken: messages bubble until then
        super().__init__()


class DebugEnded(ConsoleMessage):
    """Nothing is debugged any more."""


class ComposeForHookRequested(ConsoleMessage):
    """Compose an event of this key, for the sake of that hook."""

    def __init__(self, key: str, hook: str) -> None:
        self.key, self.hook = key, hook
        super().__init__()


class ToggleRequested(ConsoleMessage):
    """Switch this hook on or off."""

    def __init__(self, name: str, on: bool) -> None:
        self.name, self.on = name, on
        super().__init__()


class FixRequested(ConsoleMessage):
    """Find out what opens the checks that stop this hook, or make one of what is none."""

    def __init__(self, item: HookStatus | RejectedHook) -> None:
        self.item = item
        super().__init__()


class NewHookRequested(ConsoleMessage):
    """Ask for a new hook, pack, plugin or module."""


class PacksRequested(ConsoleMessage):
    """Show the packs of this host."""


class WhatIfRequested(ConsoleMessage):
    """Show the bar of what is assumed."""


class UndoRequested(ConsoleMessage):
    """Take back the last change to the settings."""


class TogglePlanned(ConsoleMessage):
    """What a toggle would write; or that it cannot be, and why."""

    def __init__(self, toggle: Toggle | None, problem: str = "") -> None:
        self.toggle, self.problem = toggle, problem
        super().__init__()


class UndoPlanned(ConsoleMessage):
    """What taking back the last change would write; or that it cannot be, and why.

    `stuck`: the change that can be given up instead.
    """

    def __init__(self, undoing: Undoing | None, problem: str = "", stuck: Edit | None = None) -> None:
        self.undoing, self.problem, self.stuck = undoing, problem, stuck
        super().__init__()


class SettingsWritten(ConsoleMessage):
    """The settings were changed; or could not be, and why. `files`: those of an edit that was taken back."""

    def __init__(self, subject: str, text: str, problem: str = "", files: tuple[Path, ...] = ()) -> None:
        self.subject, self.text, self.problem, self.files = subject, text, problem, files
        super().__init__()


class TrustRequested(ConsoleMessage):
    """Ask whether these folders may run."""

    def __init__(self, folders: tuple[TrustTarget, ...]) -> None:
        self.folders = folders
        super().__init__()


class EditorRequested(ConsoleMessage):
    """Open the user's editor there."""

    def __init__(self, place: FilePosition) -> None:
        self.place = place
        super().__init__()


class QuarantineEndRequested(ConsoleMessage):
    """End the quarantine of this hook."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        super().__init__()


class LateOutputReported(ConsoleMessage):
    """A handler printed or threw something after it had answered."""

    def __init__(self, who: str, text: str) -> None:
        self.who, self.text = who, text
        super().__init__()


class UnprotectedReported(ConsoleMessage):
    """What a run on copies, which begins now, does not protect."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()


class CopyRequested(ConsoleMessage):
    """Put this on the clipboard."""

    def __init__(self, text: str, what: str) -> None:
        self.text, self.what = text, what
        super().__init__()


class PastRunsLoaded(ConsoleMessage):
    """What was fired here before this sitting, oldest first; and of runs that are none of the dialect in
    force, the dialect of each."""

    def __init__(self, runs: tuple[PastRun, ...], others: tuple[str, ...] = ()) -> None:
        self.runs, self.others = runs, others
        super().__init__()


class FilesChanged(ConsoleMessage):
    """Files that matter were saved, made or removed."""

    def __init__(self, paths: frozenset[Path]) -> None:
        self.paths = paths
        super().__init__()


class ScanRequested(ConsoleMessage):
    """Look at everything again."""


class TrustWritten(ConsoleMessage):
    """Folders were allowed to run; or could not be, and why."""

    def __init__(self, folders: tuple[Path, ...], problem: str = "") -> None:
        self.folders, self.problem = folders, problem
        super().__init__()


class JobStarted(ConsoleMessage):
    """Something that fires is on its way: the run, the session, the tests."""

    def __init__(self, job: str) -> None:
        self.job = job
        super().__init__()


class JobEnded(ConsoleMessage):
    """Nothing is on its way any more."""


class FiringStarted(ConsoleMessage):
    """A run is on its way; `asked` as, where it was asked for in the composer or is fired on save."""

    def __init__(self, number: int, plan: Plan, asked: ComposedEvent | None = None) -> None:
        self.number, self.plan, self.asked = number, plan, asked
        super().__init__()


class StepsReported(ConsoleMessage):
    """What a run did since the last time, in order."""

    def __init__(self, number: int, steps: tuple[Step, ...]) -> None:
        self.number, self.steps = number, steps
        super().__init__()


class FiringEnded(ConsoleMessage):
    """A run is complete; or there is none, and why. Number 0: it has not even begun."""

    def __init__(self, number: int, run: Run | None, problem: str = "") -> None:
        self.number, self.run, self.problem = number, run, problem
        super().__init__()


class SessionEnded(ConsoleMessage):
    """A session was played to its rest; or could not be, and why."""

    def __init__(self, played: SimulationResult | None, problem: str = "") -> None:
        self.played, self.problem = played, problem
        super().__init__()


class RealEventsReported(ConsoleMessage):
    """Real events came into the spool, or runs of other programs on record: a line of the log each.

    `happened` says whom they are about.
    """

    def __init__(
        self, entries: tuple[LogEntry, ...], happened: Activity, runs: tuple[PastRun, ...] = ()
    ) -> None:
        self.entries, self.happened, self.runs = entries, happened, runs
        super().__init__()


class ConsoleTaskFailed(ConsoleMessage):
    """A worker of the console itself failed."""

    def __init__(self, subject: str, text: str) -> None:
        self.subject, self.text = subject, text
        super().__init__()


def post_to(screen: MessagePump, message: Message) -> None:
    """Safe from any thread; nobody listens any more once the screen is gone."""
    with suppress(RuntimeError):  # the event loop is closed: the program ends
        screen.post_message(message)


def error_text(error: BaseException | None) -> str:
    """What went wrong, for people."""
    return str(error) or type(error).__name__


class HostsRequested(ConsoleMessage):
    """Something that takes a thread or a run: choose, compare again, fire, cancel."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what
