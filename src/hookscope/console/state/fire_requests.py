"""Requests of the Fire pane to its screen, and options for firing an event. Data only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.message import Message

from hookscope.console.state.console_message import ConsoleMessage
from hookscope.model.failure import FaultName
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.authoring.testing.saved_events import SavedDraft
    from hookscope.authoring.testing.test_runs import SavedEventResult
    from hookscope.console.panes.fire.event_draft import EventDraft
    from hookscope.console.state.console_state import ComposedEvent
    from hookscope.model.run import Event


StepCommand = Literal["run_it", "pass_over", "run_all"]


class FireRequested(ConsoleMessage):
    """Request to fire an event."""

    def __init__(self, asked: ComposedEvent) -> None:
        super().__init__()
        self.asked = asked


class StepRequested(ConsoleMessage):
    """Request to run or skip the paused handler, or to run it and all that follow."""

    def __init__(self, word: StepCommand) -> None:
        super().__init__()
        self.word: StepCommand = word


class PartsMounted(Message):
    """The pane's parts are mounted, so it can take the focus."""


class DraftChanged(ConsoleMessage):
    """The composer holds another event; None if it is not valid."""

    def __init__(self, event: Event | None, only: str | None) -> None:
        super().__init__()
        self.event, self.only = event, only

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, DraftChanged)


class EnvironmentChosen(ConsoleMessage):
    """Request to fill events from this environment, or from no environment if None."""

    def __init__(self, name: str | None) -> None:
        super().__init__()
        self.name = name


class FireOnSaveRequested(ConsoleMessage):
    """Request to fire this event whenever a file is saved, or to stop that."""

    def __init__(self, asked: ComposedEvent) -> None:
        super().__init__()
        self.asked = asked


class SaveEventRequested(ConsoleMessage):
    """Request to save the composer's event: over the file it was loaded from, or as a new one.

    `draft` is the composer's content, because the user can continue typing until the file is written.
    `accept`: then accept the results of the shown run.
    """

    def __init__(self, saved: SavedDraft, file: Path | None, draft: EventDraft, accept: bool = False) -> None:
        super().__init__()
        self.saved, self.file, self.draft, self.accept = saved, file, draft, accept


class FuzzRequested(ConsoleMessage):
    """Request to find the smallest variants of this event that make a hook fail."""

    def __init__(self, event: Event, only: str | None) -> None:
        super().__init__()
        self.event, self.only = event, only


class ReplayRequested(ConsoleMessage):
    """Request to replay the shown run, from its handler with the number `start` on."""

    def __init__(self, start: int | None = None) -> None:
        super().__init__()
        self.start = start


class AcceptRequested(ConsoleMessage):
    """Request to accept a run's results as what its saved event expects."""

    def __init__(self, number: int, checked: SavedEventResult) -> None:
        super().__init__()
        self.number, self.checked = number, checked


class SessionRequested(ConsoleMessage):
    """Request to simulate a session that starts with this user message."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


@dataclass(frozen=True, slots=True)
class FireOptions:
    """Options for firing an event. By default, an event is fired once at all subscribed hooks."""

    only: str | None = None  # at this hook alone
    forced: bool = False  # even if it is off, blocked or not subscribed
    broken: str | None = None  # the hook whose handler is replaced by a fault
    fault: FaultName = "exception"
    times: int = 1
    shuffled: bool = False  # also in other orders, `times` runs at most
    guarded: bool = False  # in the sandbox
    stepped: bool = False  # pauses before each handler
    debugged: bool = False  # stops at lines of a handler

    @property
    def plain(self) -> bool:
        """Whether all options but `only`, `fault` and `guarded` have their defaults."""
        return replace(self, fault="exception", guarded=False, only=None) == FireOptions()
