"""Requests of the Fire pane to its screen, and how an event is to be fired. Data only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.message import Message

from hookscope.console.state.console_message import ConsoleMessage
from hookscope.model.failure import FaultName
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.authoring.testing.saved_event_files import SavedDraft
    from hookscope.authoring.testing.test_runs import SavedEventResult
    from hookscope.console.panes.fire.event_draft import EventDraft
    from hookscope.model.run import Event
    from hookscope.model.trust import TrustTarget


StepCommand = Literal["run_it", "pass_over", "run_all"]


class FireRequested(ConsoleMessage):
    """This event is to be fired, at one hook only where `only` names it; on copies if `guarded`.

    `file` is the saved event that it is; `way` says how, where it is not simply fired. Of an event as it
    was `written` the variables are still to be filled.
    """

    def __init__(
        self,
        event: Event,
        only: str | None,
        guarded: bool = False,
        file: Path | None = None,
        way: FireOptions | None = None,
        written: bool = False,
    ) -> None:
        super().__init__()
        self.event, self.only, self.guarded, self.file, self.way = event, only, guarded, file, way
        self.written = written


class StepRequested(ConsoleMessage):
    """What waits is to begin, to be passed over, or to begin with all that follow."""

    def __init__(self, word: StepCommand) -> None:
        super().__init__()
        self.word: StepCommand = word


class DebuggerRequested(ConsoleMessage):
    """The handler that is debugged is to be shown."""


class PartsMounted(Message):
    """The pane has got its parts: it can take the focus."""


class DraftChanged(ConsoleMessage):
    """The composer holds another event; None while it holds none that is valid."""

    def __init__(self, event: Event | None, only: str | None) -> None:
        super().__init__()
        self.event, self.only = event, only

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, DraftChanged)


class EnvironmentChosen(ConsoleMessage):
    """Events are to be filled from this environment; None: from none."""

    def __init__(self, name: str | None) -> None:
        super().__init__()
        self.name = name


class FireOnSaveRequested(ConsoleMessage):
    """This event is to be fired again whenever a file is saved; or no longer."""

    def __init__(self, event: Event, only: str | None, file: Path | None = None) -> None:
        super().__init__()
        self.event, self.only, self.file = event, only, file


class SaveEventRequested(ConsoleMessage):
    """The composer's event is to be saved: over the file that it was loaded from, or as a new one.

    `draft` is what the composer holds of it: until it is written, other things may be typed.
    """

    def __init__(self, saved: SavedDraft, file: Path | None, draft: EventDraft) -> None:
        super().__init__()
        self.saved, self.file, self.draft = saved, file, draft


class SavedEventsRequested(ConsoleMessage):
    """The list of saved events is wanted."""


class FuzzRequested(ConsoleMessage):
    """The smallest events like this one that a hook fails at are to be looked for."""

    def __init__(self, event: Event, only: str | None) -> None:
        super().__init__()
        self.event, self.only = event, only


class ReplayRequested(ConsoleMessage):
    """The shown run is to be fired again, marked so; from its handler of the number `start` on."""

    def __init__(self, start: int | None = None) -> None:
        super().__init__()
        self.start = start


class ComparisonRequested(ConsoleMessage):
    """The shown run is wanted beside another one."""


class AcceptRequested(ConsoleMessage):
    """What happened in a run is to be what its saved event expects."""

    def __init__(self, number: int, checked: SavedEventResult) -> None:
        super().__init__()
        self.number, self.checked = number, checked


class SessionRequested(ConsoleMessage):
    """A whole session is to be played, begun by this message of a user."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class CancelRequested(ConsoleMessage):
    """The run that is going on is to be cancelled."""


class SourceEditRequested(ConsoleMessage):
    """The editor is wanted at a line of a file."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__()
        self.path, self.line = path, line


class FoldersTrustRequested(ConsoleMessage):
    """These folders are to be allowed to run."""

    def __init__(self, folders: tuple[TrustTarget, ...]) -> None:
        super().__init__()
        self.folders = folders


@dataclass(frozen=True, slots=True)
class FireOptions:
    """How an event is fired, where it is not simply fired."""

    only: str | None = None  # at this hook alone
    forced: bool = False  # although it is off, blocked or does not listen
    broken: str | None = None  # the hook in whose handler's place there is a fault
    fault: FaultName = "exception"
    times: int = 1
    shuffled: bool = False  # in other orders too, so many times at most
    guarded: bool = False  # on copies
    stepped: bool = False  # a word is waited for before each handler
    debugged: bool = False  # and at its lines

    @property
    def plain(self) -> bool:
        """Is it fired as any event."""
        return replace(self, fault="exception", guarded=False, only=None) == FireOptions()
