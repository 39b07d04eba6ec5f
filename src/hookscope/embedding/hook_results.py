"""The merged answers of plugin hooks, one class for each kind of answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar

from hookscope.model.handler_arguments import camel
from hookscope.model.run import Run

# A field's key in the answer is its camelCase name (`block_reason`: blockReason), or:
ANSWER_KEYS: Mapping[str, tuple[str, ...]] = {"blocked": ("blocked", "block"), "cancelled": ("cancel",)}
# Fields that default to the event's own value.
EVENT_FIELDS = frozenset({"params", "content", "payload", "message", "result", "prompt", "messages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """`answer` is the merged answer with the host's own keys, or None; `run` is the whole run."""

    answer: Mapping[str, Any] | None = None
    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeToolCallResult(HookResult):
    """Whether the tool may run, and with which parameters.

    Source: seed 004, "Global Hook Runner"; plug-02.
    """

    blocked: bool = False
    params: Any = None
    block_reason: str | None = None
    require_approval: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSendingResult(HookResult):
    """Whether the message is sent, and its content. Source: seed 004 section 8; plug-03."""

    cancelled: bool = False
    content: Any = None
    cancel_reason: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPayloadResult(HookResult):
    """The answer of `reply_payload_sending`: whether the reply is sent, and its payload."""

    cancelled: bool = False
    payload: Any = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWriteResult(HookResult):
    """Whether the message is written, and its content. Source: seed 004 section 8."""

    blocked: bool = False
    message: Any = None
    block_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPersistResult(HookResult):
    """The part of a tool's result that is kept. Source: seed 004 section 8."""

    message: Any = None
    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult(HookResult):
    """The model that answers; None: the one in the settings."""

    model_override: str | None = None
    provider_override: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult(HookResult):
    """Texts to put before and after the model's context."""

    prepend_context: str | None = None
    append_context: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptResult(ContextResult):
    """The prompt after all handlers. Source: seed 004 section 8; plug-01."""

    prompt: Any = None
    messages: Any = None
    system_prompt: str | None = None
    prepend_system_context: str | None = None
    append_system_context: str | None = None
    tools_allow: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStartResult(PromptResult):
    """The prompt and model with which an agent starts. Source: seeds 003 and 004."""

    model_override: str | None = None
    provider_override: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRunResult(HookResult):
    """Whether the agent may run. `decision` has the handler's reason, message and category.

    Source: plug-04.
    """

    decision: Mapping[str, Any] | None = None
    plugin_id: str | None = None

    @property
    def blocked(self) -> bool:
        """Whether a handler blocked the run."""
        return self.decision is not None and self.decision.get("outcome") == "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizeResult(HookResult):
    """How an agent's answer ends: finalize, revise or continue; None: unchanged."""

    action: str | None = None
    reason: str | None = None
    retry: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallResult(HookResult):
    """Whether a package may be installed, and the findings in it."""

    blocked: bool = False
    block_reason: str | None = None
    findings: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecEnvResult(HookResult):
    """Environment variables for a program that the agent starts."""

    @property
    def env(self) -> Mapping[str, str]:
        """The variables by name."""
        return self.answer or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTargetResult(HookResult):
    """The destination of a sub-agent's answer."""

    origin: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult(HookResult):
    """Whether a handler claimed the message. `answer` has its own keys. Source: plug-04."""

    handled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationResult(HookResult):
    """The result of each evaluator, with its plugin's id."""

    outcomes: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed(HookResult):
    """All observers have ended; their answers are ignored."""


R = TypeVar("R", bound=HookResult)


def result_of(kind: type[R], run: Run) -> R:
    """Return the run's merged answer as an instance of `kind`."""
    answer = run.ending.answer
    members: Mapping[str, Any] = answer or {}
    values: dict[str, Any] = {}
    for name, keys in _answer_fields(kind):  # type: ignore[arg-type]  # a class is hashable
        for key in keys:
            if members.get(key) is not None:
                values[name] = members[key]
                break
        else:
            if name in EVENT_FIELDS:
                values[name] = run.event.context.get(name)
    return kind(answer=answer, run=run, **values)


@cache
def _answer_fields(kind: type[HookResult]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the fields of a class with their keys in an answer."""
    own = (one.name for one in fields(kind) if one.name not in ("answer", "run"))
    return tuple((name, ANSWER_KEYS.get(name, (camel(name),))) for name in own)
