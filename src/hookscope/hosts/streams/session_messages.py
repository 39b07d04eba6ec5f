"""The inputs of a session and the commands that it returns: one command for each input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from hookscope.values import dataclass

Data: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Thrown:
    """A thrown error. `name` is its class; empty if the thrown value is not an error."""

    message: str
    name: str = "Error"

    @property
    def text(self) -> str:
        """Return the error as the language prints it: `Error: no such city`."""
        return f"{self.name}: {self.message}" if self.name else self.message


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool or subagent that the model called. `refusal`: why its input is not valid."""

    id: str
    name: str
    input: Any = field(default_factory=dict)
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """One message of the conversation: a text, or the result of a tool."""

    role: Literal["user", "assistant", "tool", "note"]  # a note is the host's message in the user's role
    text: str = ""
    call: ToolCall | None = None
    output: Any = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class SessionAgent:
    """The agent of a session, and what it may call."""

    name: str
    node: str = ""  # its node id; empty for the root agent
    tools: frozenset[str] = frozenset()
    subagents: Mapping[str, str] = field(default_factory=dict)  # name → node id
    delegated: bool = False  # another agent opened this session and waits for its outcome


# Inputs.


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message from the user. Accepted only while the session waits for one."""

    text: str


@dataclass(frozen=True, slots=True)
class Published:
    """An event is on record and its handlers have run."""

    thrown: Thrown | None = None  # by a hook
    cancelled: bool = False  # a hook requested to cancel the turn


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The model's reply: a text, calls, both, or a failure."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    failure: Thrown | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one tool. `ended_after`: seconds after all tools were called."""

    id: str
    output: Any = None
    failure: Thrown | None = None
    ended_after: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolResults:
    """The results of all tools of one reply, in the order of the calls."""

    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class ChildOutcome:
    """The outcome of a child session: its last text, or why it failed."""

    session: str
    output: str = ""
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class ChildOutcomes:
    """The requested child sessions have ended, or wait for a message."""

    outcomes: tuple[ChildOutcome, ...]


SessionInput: TypeAlias = UserMessage | Published | ModelReply | ToolResults | ChildOutcomes


# Commands.


@dataclass(frozen=True, slots=True)
class Publish:
    """Publish this event. Answer: Published."""

    type: str
    data: Data = field(default_factory=dict)
    reaches_hooks: bool = True  # False: only the channel and the stream receive it


@dataclass(frozen=True, slots=True)
class AskModel:
    """Query the model. Answer: ModelReply."""

    history: tuple[ConversationEntry, ...]
    step: int


@dataclass(frozen=True, slots=True)
class CallTools:
    """Run these tools, all at once. Answer: ToolResults."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class ChildSession:
    """A session to start for a subagent."""

    agent: str
    node: str
    message: str
    call: str  # the call that requested it
    session: str
    turn: str  # the parent's turn


@dataclass(frozen=True, slots=True)
class StartChildren:
    """Run these sessions to their end, each in its own stream. Answer: ChildOutcomes."""

    children: tuple[ChildSession, ...]


@dataclass(frozen=True, slots=True)
class WaitingForUser:
    """The turn is over. Answer: the next UserMessage. `output` is the model's last text."""

    output: str = ""
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class SessionFinished:
    """The session is over and accepts no input."""

    output: str = ""
    failure: str | None = None


SessionCommand: TypeAlias = Publish | AskModel | CallTools | StartChildren | WaitingForUser | SessionFinished


def model_request(command: AskModel) -> dict[str, Any]:
    """Return the input of a scripted model: the conversation, and the results of tools so far.

    Source: eve 16 for `toolResults`; the mock model of eve 0.80.1 for the other members.
    """
    user_texts = [entry.text for entry in command.history if entry.role == "user"]
    return {
        "messages": [_message(entry) for entry in command.history],
        "toolResults": [_result(entry) for entry in command.history if entry.call is not None],
        "prompt": user_texts[-1] if user_texts else "",
        "lastUserMessage": user_texts[-1] if user_texts else None,
        "userMessages": user_texts,
        "userMessageCount": len(user_texts),
        "stepIndex": command.step,
        "tools": [],
    }


def _message(entry: ConversationEntry) -> dict[str, Any]:
    role = "user" if entry.role == "note" else entry.role
    return {"role": role, "text": entry.text if entry.call is None else str(entry.output)}


def _result(entry: ConversationEntry) -> dict[str, Any]:
    assert entry.call is not None
    name = entry.call.name
    return {"id": entry.call.id, "name": name, "output": entry.output, "isError": entry.failed}
