"""What the fire pane asks of its screen. Data only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.message import Message

if TYPE_CHECKING:
    from hookscope.console.fire.draft import Draft
    from hookscope.console.fire.otherwise import Otherwise
    from hookscope.core.runs import Event
    from hookscope.core.trust import TrustTarget
    from hookscope.workbench.drafts import SavedDraft
    from hookscope.workbench.testing import Verified

StepWord = Literal["run_it", "pass_over", "run_all"]


class FireAsked(Message):
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
        way: Otherwise | None = None,
        written: bool = False,
    ) -> None:
        super().__init__()
        self.event, self.only, self.guarded, self.file, self.way = event, only, guarded, file, way
        self.written = written


class StepAsked(Message):
    """What waits is to begin, to be passed over, or to begin with all that follow."""

    def __init__(self, word: StepWord) -> None:
        super().__init__()
        self.word: StepWord = word


class DebugAsked(Message):
    """The handler that is debugged is to be shown."""


class Furnished(Message):
    """The pane has got its parts: it can take the focus."""


class DraftChanged(Message):
    """The composer holds another event; None while it holds none that is valid."""

    def __init__(self, event: Event | None, only: str | None) -> None:
        super().__init__()
        self.event, self.only = event, only

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, DraftChanged)


class EnvironmentAsked(Message):
    """Events are to be filled from this environment; None: from none."""

    def __init__(self, name: str | None) -> None:
        super().__init__()
        self.name = name


class ArmAsked(Message):
    """This event is to be fired again whenever a file is saved; or no longer."""

    def __init__(self, event: Event, only: str | None, file: Path | None = None) -> None:
        super().__init__()
        self.event, self.only, self.file = event, only, file


class SaveAsked(Message):
    """The composer's event is to be saved: over the file that it was loaded from, or as a new one.

    `draft` is what the composer holds of it: until it is written, other things may be typed.
    """

    def __init__(self, saved: SavedDraft, file: Path | None, draft: Draft) -> None:
        super().__init__()
        self.saved, self.file, self.draft = saved, file, draft


class SavedAsked(Message):
    """The list of saved events is wanted."""


class FuzzAsked(Message):
    """The smallest events like this one that a hook fails at are to be looked for."""

    def __init__(self, event: Event, only: str | None) -> None:
        super().__init__()
        self.event, self.only = event, only


class ReplayAsked(Message):
    """The shown run is to be fired again, marked so; from its handler of the number `start` on."""

    def __init__(self, start: int | None = None) -> None:
        super().__init__()
        self.start = start


class CompareAsked(Message):
    """The shown run is wanted beside another one."""


class AcceptAsked(Message):
    """What happened in a run is to be what its saved event expects."""

    def __init__(self, number: int, checked: Verified) -> None:
        super().__init__()
        self.number, self.checked = number, checked


class PlayAsked(Message):
    """A whole session is to be played, begun by this message of a user."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class CancelAsked(Message):
    """The run that is going on is to be cancelled."""


class EditAsked(Message):
    """The editor is wanted at a line of a file."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__()
        self.path, self.line = path, line


class TrustAsked(Message):
    """These folders are to be allowed to run."""

    def __init__(self, folders: tuple[TrustTarget, ...]) -> None:
        super().__init__()
        self.folders = folders
