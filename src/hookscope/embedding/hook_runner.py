"""The hook runner of seed 004: an agent calls it before it runs a tool or sends a message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar

from hookscope.embedding.library import HookFailure, log_lines, process_engine
from hookscope.engine.argument_checks import expect_key, expect_mapping, type_phrase
from hookscope.engine.hook_engine import HookEngine
from hookscope.model.handler_arguments import camel
from hookscope.model.run import Event, Run
from hookscope.model.text import nearest_word
from hookscope.runtime.firing import Firing

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
    """Whether the tool may run, and its parameters. Source: seed 004, "Global Hook Runner"; plug-02."""

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
    """Whether the agent may run. `decision` has the reason, message and category. Source: plug-04."""

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


R_co = TypeVar("R_co", bound=HookResult, covariant=True)
CTX = "ctx"

_LOGGING_TASKS: set[asyncio.Task[None]] = set()  # the loop holds tasks weakly


class AnsweringCall(Protocol[R_co]):
    """Calls the handlers of one hook and returns its answer."""

    async def __call__(
        self, event: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **fields: Any
    ) -> R_co: ...


class ObservingCall(Protocol):
    """Calls the observers of one hook."""

    async def __call__(
        self,
        event: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        *,
        wait: bool = False,
        **fields: Any,
    ) -> Observed | None: ...


class _AnsweringHook(Generic[R]):
    """A hook with an answer; the attribute's name is `run_` and the hook's name."""

    def __init__(self, kind: type[R]) -> None:
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self.hook = name.removeprefix("run_")

    def __get__(self, runner: HookRunner, owner: type) -> AnsweringCall[R]:
        async def call(
            event: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **fields: Any
        ) -> R:
            return result_of(self.kind, await runner.run(self.hook, event, ctx, **fields))

        return call


class _ObservingHook:
    def __set_name__(self, owner: type, name: str) -> None:
        self.hook = name.removeprefix("run_")

    def __get__(self, runner: HookRunner, owner: type) -> ObservingCall:
        async def call(
            event: Mapping[str, Any] | None = None,
            ctx: Mapping[str, Any] | None = None,
            *,
            wait: bool = False,
            **fields: Any,
        ) -> Observed | None:
            if wait:
                return result_of(Observed, await runner.run(self.hook, event, ctx, **fields))
            runner.start(self.hook, event, ctx, **fields)
            return None

        return call


class HookRunner:
    """Runs the plugin hooks that are registered now. Stateless: keep it or create a new one.

    `run_<hook>(event, ctx)` takes the event's fields as a mapping, with `ctx` inside or separate,
    or as keywords: `run_before_tool_call(tool_name="exec", params={…})`. It returns when all
    handlers have answered. It raises HookFailure if the hook fails closed and a handler failed, and
    LookupError if the host has no plugin hooks. The `run_<hook>` of observers returns None at once;
    with `wait=True` it returns when all have ended.

    Source: seed 004, "Global Hook Runner"; seed 003, "Execution Model".
    """

    def __init__(self, engine_of: Callable[[], HookEngine] = process_engine) -> None:
        """`engine_of` returns the engine for each call; by default the process's own.

        Raises TypeError if it is not callable.
        """
        if not callable(engine_of):
            hint = "pass `lambda: engine`" if isinstance(engine_of, HookEngine) else "leave it out"
            raise TypeError(
                f"HookRunner takes a function that gives a HookEngine, not {type_phrase(engine_of)}: {hint}"
            )
        self._engine_of = engine_of

    def has_hooks(self, name: str) -> bool:
        """Return whether this hook has handlers; False if the host has no plugin hooks.

        `name` may have hyphens. Raises TypeError for a name that is not text, ValueError for an
        empty one.
        """
        engine = self._engine_of()
        return "plugin" in engine.host.dialect.kinds and engine.has_listeners_for(
            Event(_key(engine, name), kind="plugin")
        )

    async def run(
        self,
        name: str,
        event: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Run:
        """Run any hook by its name and return the Run. Waits for all handlers, observers too.

        Raises HookFailure and LookupError as every `run_<hook>`, TypeError for a name that is not a string
        and an event or ctx that is not a mapping, ValueError for an empty name.
        """
        run = await self._fire(name, event, ctx, fields)
        log_lines(run.ending.log)
        if run.ending.failure is not None:
            raise HookFailure(run)
        return run

    def start(
        self,
        name: str,
        event: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Firing:
        """Start a hook by name without waiting. The Firing may be awaited; failures are logged.

        Raises RuntimeError outside a running event loop, else what `run` raises before it waits.
        """
        firing = self._fire(name, event, ctx, fields)
        logging_task = asyncio.get_running_loop().create_task(_log_when_done(firing))
        _LOGGING_TASKS.add(logging_task)
        logging_task.add_done_callback(_LOGGING_TASKS.discard)
        return firing

    def _fire(
        self,
        name: str,
        event: Mapping[str, Any] | None,
        ctx: Mapping[str, Any] | None,
        fields: Mapping[str, Any],
    ) -> Firing:
        expect_mapping(event, "the event of a plugin hook")
        expect_mapping(ctx, "the ctx of a plugin hook")
        payload = {**(event or {}), **{camel(field): value for field, value in fields.items()}}
        if ctx is None and isinstance(payload.get(CTX), Mapping):
            ctx = payload.pop(CTX)
        engine = self._engine_of()
        return engine.fire(Event(_key(engine, name), kind="plugin", context=payload, ctx=ctx or {}))

    if not TYPE_CHECKING:  # type checkers report missing members themselves

        def __getattr__(self, name: str) -> NoReturn:
            """Raise AttributeError with the closest match."""
            near = nearest_word(name, dir(type(self)))
            meant = f"; did you mean {near}?" if near else ": `run` takes any hook by its name"
            raise AttributeError(f"HookRunner has no {name!r}{meant}", name=name, obj=self)

    # Hooks with an answer

    run_before_tool_call = _AnsweringHook(BeforeToolCallResult)
    run_message_sending = _AnsweringHook(MessageSendingResult)
    run_reply_payload_sending = _AnsweringHook(ReplyPayloadResult)
    run_before_message_write = _AnsweringHook(MessageWriteResult)
    run_tool_result_persist = _AnsweringHook(ToolResultPersistResult)
    run_before_model_resolve = _AnsweringHook(ModelResult)
    run_agent_turn_prepare = _AnsweringHook(ContextResult)
    run_heartbeat_prompt_contribution = _AnsweringHook(ContextResult)
    run_before_prompt_build = _AnsweringHook(PromptResult)
    run_before_agent_start = _AnsweringHook(AgentStartResult)
    run_before_agent_run = _AnsweringHook(AgentRunResult)
    run_before_agent_finalize = _AnsweringHook(FinalizeResult)
    run_before_install = _AnsweringHook(InstallResult)
    run_resolve_exec_env = _AnsweringHook(ExecEnvResult)
    run_subagent_delivery_target = _AnsweringHook(DeliveryTargetResult)
    run_inbound_claim = _AnsweringHook(ClaimResult)
    run_before_dispatch = _AnsweringHook(ClaimResult)
    run_before_agent_reply = _AnsweringHook(ClaimResult)
    run_reply_dispatch = _AnsweringHook(ClaimResult)
    run_skill_proposal_evaluate = _AnsweringHook(EvaluationResult)

    # Hooks that only observe

    run_gateway_start = _ObservingHook()
    run_gateway_stop = _ObservingHook()
    run_session_start = _ObservingHook()
    run_session_end = _ObservingHook()
    run_message_received = _ObservingHook()
    run_message_sent = _ObservingHook()
    run_after_tool_call = _ObservingHook()
    run_before_compaction = _ObservingHook()
    run_after_compaction = _ObservingHook()
    run_before_reset = _ObservingHook()
    run_model_call_started = _ObservingHook()
    run_model_call_ended = _ObservingHook()
    run_llm_input = _ObservingHook()
    run_llm_output = _ObservingHook()
    run_agent_end = _ObservingHook()
    run_channel_pairing_requested = _ObservingHook()
    run_subagent_spawned = _ObservingHook()
    run_subagent_progress = _ObservingHook()
    run_subagent_ended = _ObservingHook()
    run_cron_reconciled = _ObservingHook()
    run_cron_changed = _ObservingHook()
    run_skill_proposal_changed = _ObservingHook()
    run_skill_changed = _ObservingHook()


def _key(engine: HookEngine, name: str) -> str:
    expect_key(name, "before_tool_call")
    return engine.host.dialect.catalogue().canonical(name)


async def _log_when_done(firing: Firing) -> None:
    run = await firing
    log_lines(run.ending.log)


_RUNNER = HookRunner()


def get_global_hook_runner() -> HookRunner:
    """Return the runner of this process, always the same one.

    It runs what `PluginApi`, `load_plugins` and `load_hooks` registered. Source: seed 004, "Global
    Hook Runner".
    """
    return _RUNNER
