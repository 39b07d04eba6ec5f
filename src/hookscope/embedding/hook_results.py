"""What the handlers of a plugin hook came to, as the one who asked them reads it: a class for each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar

from hookscope.model.handler_arguments import camel
from hookscope.model.run import Run

# A field's word in the answer is its own name in the hosts' spelling (`block_reason`: blockReason), or:
ANSWER_KEYS: Mapping[str, tuple[str, ...]] = {"blocked": ("blocked", "block"), "cancelled": ("cancel",)}
# What nobody has answered stands as the event has it.
EVENT_FIELDS = frozenset({"params", "content", "payload", "message", "result", "prompt", "messages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """`answer` is the merged one in the host's own words, None where nobody answered; `run` is all of it."""

    answer: Mapping[str, Any] | None = None
    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeToolCallResult(HookResult):
    """May the tool run, and with what. Source: seed 004, "Global Hook Runner"; plug-02."""

    blocked: bool = False
    params: Any = None
    block_reason: str | None = None
    require_approval: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSendingResult(HookResult):
    """Is the message sent, and which. Source: seed 004 section 8; plug-03."""

    cancelled: bool = False
    content: Any = None
    cancel_reason: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPayloadResult(HookResult):
    """What `reply_payload_sending` came to: whether the reply is sent, and the payload that is."""

    cancelled: bool = False
    payload: Any = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWriteResult(HookResult):
    """Is the message written down, and which. Source: seed 004 section 8."""

    blocked: bool = False
    message: Any = None
    block_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPersistResult(HookResult):
    """What of a tool's result is kept. Source: seed 004 section 8."""

    message: Any = None
    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult(HookResult):
    """Which model answers; None: the one in the settings."""

    model_override: str | None = None
    provider_override: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult(HookResult):
    """Texts around what the model gets."""

    prepend_context: str | None = None
    append_context: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptResult(ContextResult):
    """The prompt as handlers leave it. Source: seed 004 section 8; plug-01."""

    prompt: Any = None
    messages: Any = None
    system_prompt: str | None = None
    prepend_system_context: str | None = None
    append_system_context: str | None = None
    tools_allow: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStartResult(PromptResult):
    """How an agent starts. Source: seeds 003 and 004."""

    model_override: str | None = None
    provider_override: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRunResult(HookResult):
    """May the agent run. `decision` has the handler's words: reason, message, category. Source: plug-04."""

    decision: Mapping[str, Any] | None = None
    plugin_id: str | None = None

    @property
    def blocked(self) -> bool:
        """Did a handler say no."""
        return self.decision is not None and self.decision.get("outcome") == "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizeResult(HookResult):
    """How an agent's answer ends: finalize, revise or continue; None: as it would."""

    action: str | None = None
    reason: str | None = None
    retry: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallResult(HookResult):
    """May something be installed, and what was found in it."""

    blocked: bool = False
    block_reason: str | None = None
    findings: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecEnvResult(HookResult):
    """Environment variables for a program that the agent starts."""

    @property
    def env(self) -> Mapping[str, str]:
        """Name → value."""
        return self.answer or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTargetResult(HookResult):
    """Where a sub-agent's answer goes."""

    origin: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult(HookResult):
    """Has a handler taken the matter over. `answer` has its own words. Source: plug-04."""

    handled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationResult(HookResult):
    """What each evaluator said, with its plugin's id."""

    outcomes: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed(HookResult):
    """All observers have ended; what they answered is ignored."""


R = TypeVar("R", bound=HookResult)


def result_of(kind: type[R], run: Run) -> R:
    """The run's merged answer as its class."""
    answer = run.ending.answer
    said: Mapping[str, Any] = answer or {}
    values: dict[str, Any] = {}
    for name, words in _answer_fields(kind):  # type: ignore[arg-type]  # a class is hashable
        for word in words:
            if said.get(word) is not None:
                values[name] = said[word]
                break
        else:
            if name in EVENT_FIELDS:
                values[name] = run.event.context.get(name)
    return kind(answer=answer, run=run, **values)


@cache
def _answer_fields(kind: type[HookResult]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The fields of a class with their words in an answer."""
    own = (one.name for one in fields(kind) if one.name not in ("answer", "run"))
    return tuple((name, ANSWER_KEYS.get(name, (camel(name),))) for name in own)
