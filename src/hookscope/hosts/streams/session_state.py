"""The state of a session, and the actions on its agenda."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from hookscope.hosts.streams.session_messages import (
    ChildOutcome,
    ChildSession,
    ConversationEntry,
    Data,
    SessionAgent,
    ToolCall,
)
from hookscope.hosts.streams.session_rules import SessionRules
from hookscope.values import dataclass

LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # without those that are read amiss


@dataclass(frozen=True, slots=True)
class PublishEvent:
    """Publish an event. `level`: which of turn and step its data names."""

    type: str
    data: Data = field(default_factory=dict)
    level: Literal["session", "turn", "step"] = "step"
    heard: bool = True
    inside: bool = False  # while the model's answer is handled


@dataclass(frozen=True, slots=True)
class BeginStep:
    """A durable step begins here: what is undone is undone to this place.

    `keeps`: what a cancel leaves in the conversation all the same.
    """

    keeps: tuple[ConversationEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class AddEntry:
    """To the conversation."""

    entries: tuple[ConversationEntry, ...]


@dataclass(frozen=True, slots=True)
class QueryModel:
    """Ask the model. `again`: it has given no answer before."""

    again: bool = False


@dataclass(frozen=True, slots=True)
class RunTools:
    """Call tools. `refused`: what the model reads of calls that cannot be made. In order of the calls.

    `held`: the results enter the conversation with those of subagents that the step waits for.
    """

    calls: tuple[ToolCall, ...]
    refused: tuple[ConversationEntry, ...] = ()
    held: bool = False


class ChildPurpose(Enum):
    """What the outcomes of child sessions are wanted for."""

    JOIN = "join"  # the step goes on with them
    SETTLE = "settle"  # they settle tasks
    NOTHING = "nothing"  # the turn is over; the children run to their end all the same


@dataclass(frozen=True, slots=True)
class RunChildren:
    """Play child sessions. `calls`: which asked for them."""

    children: tuple[ChildSession, ...]
    calls: tuple[ToolCall, ...]
    purpose: ChildPurpose


@dataclass(frozen=True, slots=True)
class SubagentTask:
    """A subagent's call that the turn goes on beside."""

    id: str
    child: ChildSession
    call: ToolCall
    announced: bool = False  # was agent.started said, and so its session played
    outcome: ChildOutcome | None = None


@dataclass(frozen=True, slots=True)
class OpenTasks:
    """Tasks that have been started."""

    tasks: tuple[SubagentTask, ...]


@dataclass(frozen=True, slots=True)
class SettleTask:
    """Tell the outcome of the first task that has one, and go on with the turn."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """The next step of the model."""


@dataclass(frozen=True, slots=True)
class CloseTurn:
    """End the turn, or hold it while tasks are open."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing more is to be done. `ended`: nor ever will be."""

    ended: bool = False
    failure: str | None = None


Action: TypeAlias = (
    PublishEvent
    | BeginStep
    | AddEntry
    | QueryModel
    | RunTools
    | RunChildren
    | OpenTasks
    | SettleTask
    | NextStep
    | CloseTurn
    | Idle
)


@dataclass(frozen=True, slots=True)
class StepCheckpoint:
    """The session as it was when its durable step began, and how often that was tried before."""

    session: SessionState
    keeps: tuple[ConversationEntry, ...] = ()
    tries: int = 0


@dataclass(frozen=True, slots=True)
class SessionState:
    """All that is known of a session. `seed` makes its ids: another seed, other ids."""

    rules: SessionRules
    agent: SessionAgent
    id: str
    seed: str
    token: str  # with which a caller continues it
    history: tuple[ConversationEntry, ...] = ()
    started: bool = False
    in_turn: bool = False
    falling: bool = False  # a failure is being told
    sequence: int = 0  # of the turn
    step: int = 0
    said: str = ""  # the model's last text
    tasks: tuple[SubagentTask, ...] = ()
    held: tuple[ConversationEntry, ...] = ()  # see Use
    agenda: tuple[Action, ...] = ()
    asked: Action | None = None  # the act whose answer is waited for
    mark: StepCheckpoint | None = None
    made: int = 0  # ids so far

    @property
    def turn_id(self) -> str:
        """The turn's id, as events name it."""
        return f"turn_{self.sequence}"

    def data_of(self, say: PublishEvent) -> Mapping[str, Any]:
        """The event's data with the turn and step that it belongs to."""
        if say.level == "session":
            return say.data
        turn = {**say.data, "sequence": self.sequence, "turnId": self.turn_id}
        return turn if say.level == "turn" else {**turn, "stepIndex": self.step}

    def with_agenda(self, *acts: Action, **changes: Any) -> SessionState:
        """The session with these acts before it in place of its own."""
        return replace(self, agenda=acts, **changes)

    def number(self) -> tuple[SessionState, str]:
        """A made-up number in hexadecimal, 64 digits, and the session that has used it."""
        text = sha256(f"{self.seed}/{self.made}".encode()).hexdigest()
        return replace(self, made=self.made + 1), text


def format_error_id(digits: str) -> str:
    """The look of a UUID, from hexadecimal digits."""
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))


def format_session_id(digits: str) -> str:
    """The look of a session's id: `wrun_` and 26 letters and digits."""
    return "wrun_" + id_letters(digits, 26).upper()


def id_letters(digits: str, count: int) -> str:
    """`count` letters and digits from a hexadecimal number."""
    number = int(digits, 16)
    return "".join(LETTERS[(number >> (5 * place)) & 31] for place in range(count))


def model_step(session: SessionState) -> tuple[Action, ...]:
    """The model is asked."""
    told = {"modelId": session.rules.model} if session.rules.names_model else {}
    return PublishEvent("step.started", told), QueryModel()
