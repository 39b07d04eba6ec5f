"""Messages from panes, controllers and threads to the main screen. Data only, without widgets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.message import Message
from textual.message_pump import MessagePump

from hookscope.console.state.console_message import ConsoleMessage

if TYPE_CHECKING:
    from hookscope.app.edits import Toggle, Undoing
    from hookscope.app.runs.activation_chain import Activity
    from hookscope.app.snapshot import PastRun
    from hookscope.console.state.console_state import ComposedEvent
    from hookscope.console.state.log_entries import LogEntry
    from hookscope.console.state.state_changes import StateChange
    from hookscope.model.hook import FilePosition, Hook
    from hookscope.model.hook_status import HookStatus, RejectedHook
    from hookscope.model.run import Plan, Run, Step
    from hookscope.model.trust import TrustTarget
    from hookscope.runtime.debugger import Debugger, Stop
    from hookscope.sessions.session_runner import SimulationResult
    from hookscope.storage.edits.change import Change as Edit


Severity = Literal["information", "warning", "error"]


class StateChanged(ConsoleMessage):
    """A change that the screen applies to its state."""

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
    """The workbench could not be opened: the console has nothing to show."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        super().__init__()


class ThreadAnswered(ConsoleMessage):
    """A thread's result is ready; `call` handles it in the screen's own thread."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        super().__init__()


class HandlerStopped(ConsoleMessage):
    """A debugged handler has stopped and waits for a command."""

    def __init__(self, debugger: Debugger, stop: Stop) -> None:
        self.debugger, self.seen = debugger, stop  # Message has a method `stop`
        super().__init__()


class DebugEnded(ConsoleMessage):
    """Debugging has ended."""


class ComposeForHookRequested(ConsoleMessage):
    """Request to compose an event with this key for that hook. `fires`: also fire it at this hook alone."""

    def __init__(self, key: str, hook: str, *, fires: bool = False) -> None:
        self.key, self.hook, self.fires = key, hook, fires
        super().__init__()


class WhyRequested(ConsoleMessage):
    """Request to show why this hook, or the hook of this name, does or does not run on this event."""

    def __init__(self, hook: Hook | str, key: str) -> None:
        self.hook, self.key = hook, key
        super().__init__()


class ToggleRequested(ConsoleMessage):
    """Request to switch this hook on or off."""

    def __init__(self, name: str, on: bool) -> None:
        self.name, self.on = name, on
        super().__init__()


class FixRequested(ConsoleMessage):
    """Request to fix the failed gates of this hook, or to turn a rejected one into a hook."""

    def __init__(self, item: HookStatus | RejectedHook) -> None:
        self.item = item
        super().__init__()


Command = Literal[
    "cancel", "compare runs", "debugger", "fix all", "new hook", "packs", "saved events", "scan",
    "tap status", "undo", "what if",
]  # fmt: skip


class CommandRequested(ConsoleMessage):
    """A request that has no data."""

    def __init__(self, command: Command) -> None:
        self.command: Command = command
        super().__init__()


class TogglePlanned(ConsoleMessage):
    """The edit that a toggle would write, or why it cannot write one."""

    def __init__(self, toggle: Toggle | None, problem: str = "") -> None:
        self.toggle, self.problem = toggle, problem
        super().__init__()


class UndoPlanned(ConsoleMessage):
    """The edit that an undo would write, or why it cannot write one.

    `stuck`: the edit that cannot be undone, which the user can forget instead.
    """

    def __init__(self, undoing: Undoing | None, problem: str = "", stuck: Edit | None = None) -> None:
        self.undoing, self.problem, self.stuck = undoing, problem, stuck
        super().__init__()


class SettingsWritten(ConsoleMessage):
    """Settings were changed, or `problem` has the reason why not. `undoing`: the edit that was undone."""

    def __init__(self, subject: str, text: str, problem: str = "", undoing: Undoing | None = None) -> None:
        self.subject, self.text, self.problem, self.undoing = subject, text, problem, undoing
        super().__init__()


class TrustRequested(ConsoleMessage):
    """Request to ask the user to trust these folders."""

    def __init__(self, folders: tuple[TrustTarget, ...]) -> None:
        self.folders = folders
        super().__init__()


class EditorRequested(ConsoleMessage):
    """Request to open the user's editor at this place."""

    def __init__(self, place: FilePosition) -> None:
        self.place = place
        super().__init__()


class QuarantineEndRequested(ConsoleMessage):
    """Request to end the quarantine of this hook."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        super().__init__()


class LateOutputReported(ConsoleMessage):
    """A handler printed or raised something after it had returned."""

    def __init__(self, who: str, text: str) -> None:
        self.who, self.text = who, text
        super().__init__()


class UnprotectedReported(ConsoleMessage):
    """Reports what the sandbox does not protect in a run that is starting."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()


class CopyRequested(ConsoleMessage):
    """Request to copy `text` to the clipboard. `what` names it for the user."""

    def __init__(self, text: str, what: str) -> None:
        self.text, self.what = text, what
        super().__init__()


class PastRunsLoaded(ConsoleMessage):
    """The runs recorded before the console was started, oldest first.

    `others`: the dialects of the runs that are not listed, because the current dialect lacks their events.
    """

    def __init__(self, runs: tuple[PastRun, ...], others: tuple[str, ...] = ()) -> None:
        self.runs, self.others = runs, others
        super().__init__()


class FilesChanged(ConsoleMessage):
    """Watched files were saved, created or removed."""

    def __init__(self, paths: frozenset[Path]) -> None:
        self.paths = paths
        super().__init__()


class TrustWritten(ConsoleMessage):
    """Folders were trusted, or `problem` has the reason why not."""

    def __init__(self, folders: tuple[Path, ...], problem: str = "") -> None:
        self.folders, self.problem = folders, problem
        super().__init__()


class JobStarted(ConsoleMessage):
    """Something that fires has started: a run, a session, tests."""

    def __init__(self, job: str) -> None:
        self.job = job
        super().__init__()


class JobEnded(ConsoleMessage):
    """The job has ended."""


class FiringStarted(ConsoleMessage):
    """A run has started. `asked`: the composed event, if the composer or fire on save requested the run."""

    def __init__(self, number: int, plan: Plan, asked: ComposedEvent | None = None) -> None:
        self.number, self.plan, self.asked = number, plan, asked
        super().__init__()


class StepsReported(ConsoleMessage):
    """The new steps of a run, in order."""

    def __init__(self, number: int, steps: tuple[Step, ...]) -> None:
        self.number, self.steps = number, steps
        super().__init__()


class FiringEnded(ConsoleMessage):
    """A run has ended, or `problem` has the reason why it has no result. Number 0: it was never started."""

    def __init__(self, number: int, run: Run | None, problem: str = "") -> None:
        self.number, self.run, self.problem = number, run, problem
        super().__init__()


class SessionEnded(ConsoleMessage):
    """A session has ended, or `problem` has the reason why it could not be simulated."""

    def __init__(self, result: SimulationResult | None, problem: str = "") -> None:
        self.result, self.problem = result, problem
        super().__init__()


class RealEventsReported(ConsoleMessage):
    """New real events, or runs of other programs: a log entry each. `activity`: the hooks they concern."""

    def __init__(
        self, entries: tuple[LogEntry, ...], activity: Activity, runs: tuple[PastRun, ...] = ()
    ) -> None:
        self.entries, self.activity, self.runs = entries, activity, runs
        super().__init__()


class ConsoleTaskFailed(ConsoleMessage):
    """A background task of the console itself has failed."""

    def __init__(self, subject: str, text: str) -> None:
        self.subject, self.text = subject, text
        super().__init__()


def post_to(screen: MessagePump, message: Message) -> None:
    """Post a message from any thread; it is dropped once the screen is gone."""
    with suppress(RuntimeError):  # the event loop is closed: the program is ending
        screen.post_message(message)


def error_text(error: BaseException | None) -> str:
    """Return an error as text for people."""
    return str(error) or type(error).__name__


class HostsRequested(ConsoleMessage):
    """A request from the Hosts pane that needs a thread or a run: choose, compare again, fire, cancel."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what
