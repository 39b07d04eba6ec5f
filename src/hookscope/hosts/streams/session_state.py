"""The state of a session, and the actions on its agenda."""

from __future__ import annotations

import json
import re
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
    ToolResult,
)
from hookscope.hosts.streams.session_rules import SessionRules
from hookscope.values import dataclass

FAILED = "ACTION_RESULT_FAILED"
SUBAGENT_FAILED = "SUBAGENT_EXECUTION_FAILED"
MODEL_FAILED = "MODEL_CALL_FAILED"
LONGEST_LABEL = 500


def tool_action(call: ToolCall) -> dict[str, Any]:
    """Return a tool call as event data."""
    return {"callId": call.id, "input": call.input, "kind": "tool-call", "toolName": call.name}


def subagent_action(call: ToolCall, node: str) -> dict[str, Any]:
    """Return a call of a subagent, which runs as `node`, as event data."""
    return {
        "callId": call.id,
        "input": call.input,
        "kind": "subagent-call",
        "name": call.name,
        "nodeId": node,
        "subagentName": call.name,
    }


def tool_result(result: ToolResult, name: str, rules: SessionRules) -> dict[str, Any]:
    """Return the data of action.result: `result`, `status` and, after a failure, `error`."""
    result_data = {"callId": result.id, "kind": "tool-result", "output": result.output, "toolName": name}
    failure = result.failure
    if failure is None:
        return _outcome(result_data, rules)
    error_name = {"name": failure.name or "Error"} if rules.error_names else {}
    result_data |= {"output": failure.message, "isError": True}
    if rules.error_names:
        result_data["errorName"] = error_name["name"]
    error = {"code": FAILED, "message": failure.message, **error_name}
    return {"result": result_data, "status": "failed", "error": error}


def task_receipt(call: ToolCall, text: str) -> dict[str, Any]:
    """Return the data of action.result for a call that a task will answer later."""
    result_data = {"callId": call.id, "kind": "tool-result", "output": text, "toolName": call.name}
    return {"result": result_data, "status": "completed"}


def subagent_result(call: ToolCall, output: str, failure: str | None) -> dict[str, Any]:
    """Return the data of action.result for a subagent that the step waited for."""
    result_data: dict[str, Any] = {"callId": call.id, "kind": "subagent-result", "subagentName": call.name}
    if failure is None:
        return {"result": {**result_data, "output": output}, "status": "completed"}
    error = {"code": SUBAGENT_FAILED, "message": failure}
    return {"result": {**result_data, "output": error, "isError": True}, "status": "failed", "error": error}


def _outcome(result_data: dict[str, Any], rules: SessionRules) -> dict[str, Any]:
    error = error_in(result_data["output"]) if rules.output_can_fail else None
    if error is None:
        return {"result": result_data, "status": "completed"}
    return {"result": result_data, "status": "failed", "error": error}


def error_in(output: Any) -> dict[str, str] | None:
    """Return the `code` and `message` of an output, which may be JSON text; None if it lacks either."""
    if isinstance(output, str):
        try:
            output = json.loads(output)
        except ValueError:
            return None
    if not isinstance(output, Mapping):
        return None
    members = {name: output.get(name) for name in ("code", "message")}
    texts = {name: text for name, text in members.items() if isinstance(text, str) and text}
    return texts if len(texts) == len(members) else None


def failure_data(code: str, message: str, id: str, thrown: str, name: str = "") -> dict[str, Any]:  # noqa: A002  (theirs)
    """Return the data of step.failed, turn.failed and session.failed."""
    details = {"errorId": id, "message": thrown, **({"name": name} if name else {})}
    return {"code": code, "message": message, "details": details}


def call_label(call: ToolCall) -> dict[str, Any]:
    """Return the label of a subagent's call in actions.requested: its title and the first sentence."""
    title = display_title(call.name)
    message = call.input.get("message") if isinstance(call.input, Mapping) else None
    sentence = first_sentence(message) if isinstance(message, str) else ""
    return {call.id: {"label": f"{title}: {sentence}" if sentence else title}}


def display_title(name: str) -> str:
    """Return a readable name: `weather_helper` is `Weather helper`, `readPDF` is `Read PDF`."""
    last = next((part for part in reversed(name.split("__")) if part), name)
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", last))
    words = [word for word in re.split(r"[\s_-]+", spaced) if word]
    title = " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in words) or name
    return title[:1].upper() + title[1:]


def first_sentence(text: str) -> str:
    """Return the first sentence of the first non-empty line. A number before a full stop does not end it."""
    lines = (" ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", line).split()) for line in text.splitlines())
    line = next((line for line in lines if line), "")[:LONGEST_LABEL]
    for end in re.finditer(r"(?<=[.!?])\s+(?=[A-Z\"'`(])", line):
        if not re.search(r"(?:^|\s)\d{1,2}\.$", line[: end.start()]):
            return line[: end.start()]
    return line


LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # without easily confused letters


@dataclass(frozen=True, slots=True)
class PublishEvent:
    """Publish an event. `level`: whether its data names the turn and the step."""

    type: str
    data: Data = field(default_factory=dict)
    level: Literal["session", "turn", "step"] = "step"
    reaches_hooks: bool = True
    in_model_step: bool = False  # while the model's reply is handled


@dataclass(frozen=True, slots=True)
class BeginStep:
    """Begin a durable step, to which an undo returns. A cancel keeps the conversation's `kept_entries`."""

    kept_entries: tuple[ConversationEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class AddEntry:
    """Append entries to the conversation."""

    entries: tuple[ConversationEntry, ...]


@dataclass(frozen=True, slots=True)
class QueryModel:
    """Query the model. `is_retry`: its last reply was empty."""

    is_retry: bool = False


@dataclass(frozen=True, slots=True)
class RunTools:
    """Call tools. `refusals`: what the model reads about calls that cannot be made, in order of the calls.

    `is_deferred`: the conversation gets the results together with those of the awaited subagents.
    """

    calls: tuple[ToolCall, ...]
    refusals: tuple[ConversationEntry, ...] = ()
    is_deferred: bool = False


class ChildPurpose(Enum):
    """What the outcomes of child sessions are used for."""

    JOIN = "join"  # the step continues with them
    SETTLE = "settle"  # they settle tasks
    NOTHING = "nothing"  # the turn is over; the children still run to their end


@dataclass(frozen=True, slots=True)
class RunChildren:
    """Run child sessions. `calls`: the calls that requested them."""

    children: tuple[ChildSession, ...]
    calls: tuple[ToolCall, ...]
    purpose: ChildPurpose


@dataclass(frozen=True, slots=True)
class SubagentTask:
    """A subagent's call that runs while the turn continues."""

    id: str
    child: ChildSession
    call: ToolCall
    announced: bool = False  # agent.started was published and its session run
    outcome: ChildOutcome | None = None


@dataclass(frozen=True, slots=True)
class OpenTasks:
    """Add tasks that have been started."""

    tasks: tuple[SubagentTask, ...]


@dataclass(frozen=True, slots=True)
class SettleTask:
    """Publish the outcome of the first task that has one, and continue the turn."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """Begin the model's next step."""


@dataclass(frozen=True, slots=True)
class CloseTurn:
    """End the turn, or wait while tasks are open."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing is left to do. `ended`: the session accepts no more input."""

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
    """The session at the beginning of its durable step, and how often the step was tried."""

    session: SessionState
    kept_entries: tuple[ConversationEntry, ...] = ()
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class SessionState:
    """The whole state of a session. All its ids are derived from `seed`."""

    rules: SessionRules
    agent: SessionAgent
    id: str
    seed: str
    token: str  # continuation token
    history: tuple[ConversationEntry, ...] = ()
    started: bool = False
    in_turn: bool = False
    is_failing: bool = False  # a failure cascade is being published
    sequence: int = 0  # of the turn
    step: int = 0
    last_text: str = ""  # the model's last text
    tasks: tuple[SubagentTask, ...] = ()
    deferred_entries: tuple[ConversationEntry, ...] = ()  # see RunTools
    agenda: tuple[Action, ...] = ()
    pending_action: Action | None = None  # the action whose answer is awaited
    checkpoint: StepCheckpoint | None = None
    ids_made: int = 0  # ids derived so far

    @property
    def turn_id(self) -> str:
        """Return the turn's id, as events name it."""
        return f"turn_{self.sequence}"

    def data_of(self, action: PublishEvent) -> Mapping[str, Any]:
        """Return the event's data with its turn and step."""
        if action.level == "session":
            return action.data
        turn = {**action.data, "sequence": self.sequence, "turnId": self.turn_id}
        return turn if action.level == "turn" else {**turn, "stepIndex": self.step}

    def with_agenda(self, *actions: Action, **changes: Any) -> SessionState:
        """Return the session with these actions in place of its agenda."""
        return replace(self, agenda=actions, **changes)

    def next_number(self) -> tuple[SessionState, str]:
        """Return the session with one more id counted, and that id: 64 hexadecimal digits from the seed."""
        text = sha256(f"{self.seed}/{self.ids_made}".encode()).hexdigest()
        return replace(self, ids_made=self.ids_made + 1), text


def format_error_id(digits: str) -> str:
    """Return hexadecimal digits in the form of a UUID."""
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))


def format_session_id(digits: str) -> str:
    """Return a session id: `wrun_` and 26 letters and digits."""
    return "wrun_" + id_letters(digits, 26).upper()


def id_letters(digits: str, count: int) -> str:
    """Return `count` letters and digits from a hexadecimal number."""
    number = int(digits, 16)
    return "".join(LETTERS[(number >> (5 * place)) & 31] for place in range(count))


def model_step(session: SessionState) -> tuple[Action, ...]:
    """Return the actions that query the model."""
    step_data = {"modelId": session.rules.model_id} if session.rules.includes_model else {}
    return PublishEvent("step.started", step_data), QueryModel()
