"""The hook runner of seed 004: an agent calls it before it runs a tool or sends a message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar

from hookscope.embedding import hook_results
from hookscope.embedding.hook_results import HookResult, Observed, result_of
from hookscope.embedding.library import HookFailure, log_lines, process_engine
from hookscope.engine.argument_checks import expect_key, expect_mapping, type_phrase
from hookscope.engine.hook_engine import HookEngine
from hookscope.model.handler_arguments import camel
from hookscope.model.run import Event, Run
from hookscope.model.text import nearest_word
from hookscope.runtime.firing import Firing

R = TypeVar("R", bound=HookResult)
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
        async def ask(
            event: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **fields: Any
        ) -> R:
            return result_of(self.kind, await runner.run(self.hook, event, ctx, **fields))

        return ask


class _ObservingHook:
    """A hook that only observes."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.hook = name.removeprefix("run_")

    def __get__(self, runner: HookRunner, owner: type) -> ObservingCall:
        async def tell(
            event: Mapping[str, Any] | None = None,
            ctx: Mapping[str, Any] | None = None,
            *,
            wait: bool = False,
            **fields: Any,
        ) -> Observed | None:
            if wait:
                return result_of(Observed, await runner.run(self.hook, event, ctx, **fields))
            runner.tell(self.hook, event, ctx, **fields)
            return None

        return tell


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
            hint = "`lambda: engine` gives one" if isinstance(engine_of, HookEngine) else "leave it out"
            raise TypeError(
                f"HookRunner takes a function that gives a HookEngine, not {type_phrase(engine_of)}: {hint}"
            )
        self._engine_of = engine_of

    def has_hooks(self, name: str) -> bool:
        """Return whether this hook has handlers; False if the host has no plugin hooks.

        `name` may have hyphens. Raises TypeError for a name that is no text, ValueError for an
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

        Raises HookFailure and LookupError as every `run_<hook>`, TypeError for a name that is no
        text and an event or ctx that is no mapping, ValueError for an empty name.
        """
        run = await self._fire(name, event, ctx, fields)
        log_lines(run.ending.log)
        if run.ending.failure is not None:
            raise HookFailure(run)
        return run

    def tell(
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

    run_before_tool_call = _AnsweringHook(hook_results.BeforeToolCallResult)
    run_message_sending = _AnsweringHook(hook_results.MessageSendingResult)
    run_reply_payload_sending = _AnsweringHook(hook_results.ReplyPayloadResult)
    run_before_message_write = _AnsweringHook(hook_results.MessageWriteResult)
    run_tool_result_persist = _AnsweringHook(hook_results.ToolResultPersistResult)
    run_before_model_resolve = _AnsweringHook(hook_results.ModelResult)
    run_agent_turn_prepare = _AnsweringHook(hook_results.ContextResult)
    run_heartbeat_prompt_contribution = _AnsweringHook(hook_results.ContextResult)
    run_before_prompt_build = _AnsweringHook(hook_results.PromptResult)
    run_before_agent_start = _AnsweringHook(hook_results.AgentStartResult)
    run_before_agent_run = _AnsweringHook(hook_results.AgentRunResult)
    run_before_agent_finalize = _AnsweringHook(hook_results.FinalizeResult)
    run_before_install = _AnsweringHook(hook_results.InstallResult)
    run_resolve_exec_env = _AnsweringHook(hook_results.ExecEnvResult)
    run_subagent_delivery_target = _AnsweringHook(hook_results.DeliveryTargetResult)
    run_inbound_claim = _AnsweringHook(hook_results.ClaimResult)
    run_before_dispatch = _AnsweringHook(hook_results.ClaimResult)
    run_before_agent_reply = _AnsweringHook(hook_results.ClaimResult)
    run_reply_dispatch = _AnsweringHook(hook_results.ClaimResult)
    run_skill_proposal_evaluate = _AnsweringHook(hook_results.EvaluationResult)

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
