"""The hook runner of seed 004: an agent asks here before it calls a tool or sends a message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar

from hookscope.core.expecting import expect_key, expect_mapping, instead
from hookscope.core.given import camel
from hookscope.core.runs import Event, Run
from hookscope.core.text import nearest
from hookscope.engine import HookEngine
from hookscope.library import HookFailure, engine, say
from hookscope.plugins import results
from hookscope.plugins.results import HookResult, Observed, result_of
from hookscope.runtime import Firing

R = TypeVar("R", bound=HookResult)
R_co = TypeVar("R_co", bound=HookResult, covariant=True)
CTX = "ctx"

_SAYING: set[asyncio.Task[None]] = set()  # the loop holds tasks weakly


class Ask(Protocol[R_co]):
    """Asks the handlers of one hook."""

    async def __call__(
        self, event: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **fields: Any
    ) -> R_co: ...


class Tell(Protocol):
    """Tells the observers of one hook."""

    async def __call__(
        self,
        event: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        *,
        wait: bool = False,
        **fields: Any,
    ) -> Observed | None: ...


class _Asks(Generic[R]):
    """A hook whose handlers are asked; the attribute's name is the hook's, behind `run_`."""

    def __init__(self, kind: type[R]) -> None:
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self.hook = name.removeprefix("run_")

    def __get__(self, runner: HookRunner, owner: type) -> Ask[R]:
        async def ask(
            event: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **fields: Any
        ) -> R:
            return result_of(self.kind, await runner.run(self.hook, event, ctx, **fields))

        return ask


class _Tells:
    """A hook that only observes."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.hook = name.removeprefix("run_")

    def __get__(self, runner: HookRunner, owner: type) -> Tell:
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
    """Asks the plugin hooks that are registered now. Stateless: it may be kept or asked for anew.

    `run_<hook>(event, ctx)` takes the event's fields as a mapping, its `ctx` among them or beside it, or by
    name: `run_before_tool_call(tool_name="exec", params={…})`. It returns when all handlers have answered,
    and raises HookFailure where the hook fails closed and a handler failed, LookupError where the host has no
    plugin hooks. Observers are told and not waited for: their `run_<hook>` returns None at once; with
    `wait=True` it returns when all have ended.

    Source: seed 004, "Global Hook Runner"; seed 003, "Execution Model".
    """

    def __init__(self, engine_of: Callable[[], HookEngine] = engine) -> None:
        """`engine_of` gives the engine at each call; the process's own by default.

        Raises TypeError where it cannot be called.
        """
        if not callable(engine_of):
            then = "`lambda: engine` gives one" if isinstance(engine_of, HookEngine) else "leave it out"
            raise TypeError(
                f"HookRunner takes a function that gives a HookEngine, not {instead(engine_of)}: {then}"
            )
        self._engine = engine_of

    def has_hooks(self, name: str) -> bool:
        """Would anybody hear this hook; nobody does where the host has none. `name` may have hyphens.

        Raises TypeError for a name that is no text, ValueError for an empty one.
        """
        here = self._engine()
        return "plugin" in here.host.dialect.kinds and here.hears(Event(_key(here, name), kind="plugin"))

    async def run(
        self,
        name: str,
        event: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Run:
        """Any hook by its name, answered by the Run itself. Waits for all handlers, observers too.

        Raises HookFailure and LookupError as every `run_<hook>`, TypeError for a name that is no text and an
        event or ctx that is no mapping, ValueError for an empty name.
        """
        run = await self._fire(name, event, ctx, fields)
        say(run.ending.log)
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
        """Start a hook by name and go on. The Firing may be awaited or left alone; failures are logged.

        Raises RuntimeError outside of a running event loop, else what `run` raises before it waits.
        """
        firing = self._fire(name, event, ctx, fields)
        saying = asyncio.get_running_loop().create_task(_say_at_the_end(firing))
        _SAYING.add(saying)
        saying.add_done_callback(_SAYING.discard)
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
        here = self._engine()
        return here.fire(Event(_key(here, name), kind="plugin", context=payload, ctx=ctx or {}))

    if not TYPE_CHECKING:  # who checks types knows which there are

        def __getattr__(self, name: str) -> NoReturn:
            """Only for what is not there."""
            near = nearest(name, dir(type(self)))
            meant = f"; did you mean {near}?" if near else ": `run` takes any hook by its name"
            raise AttributeError(f"HookRunner has no {name!r}{meant}", name=name, obj=self)

    # What answers

    run_before_tool_call = _Asks(results.BeforeToolCallResult)
    run_message_sending = _Asks(results.MessageSendingResult)
    run_reply_payload_sending = _Asks(results.ReplyPayloadResult)
    run_before_message_write = _Asks(results.MessageWriteResult)
    run_tool_result_persist = _Asks(results.ToolResultPersistResult)
    run_before_model_resolve = _Asks(results.ModelResult)
    run_agent_turn_prepare = _Asks(results.ContextResult)
    run_heartbeat_prompt_contribution = _Asks(results.ContextResult)
    run_before_prompt_build = _Asks(results.PromptResult)
    run_before_agent_start = _Asks(results.AgentStartResult)
    run_before_agent_run = _Asks(results.AgentRunResult)
    run_before_agent_finalize = _Asks(results.FinalizeResult)
    run_before_install = _Asks(results.InstallResult)
    run_resolve_exec_env = _Asks(results.ExecEnvResult)
    run_subagent_delivery_target = _Asks(results.DeliveryTargetResult)
    run_inbound_claim = _Asks(results.ClaimResult)
    run_before_dispatch = _Asks(results.ClaimResult)
    run_before_agent_reply = _Asks(results.ClaimResult)
    run_reply_dispatch = _Asks(results.ClaimResult)
    run_skill_proposal_evaluate = _Asks(results.EvaluationResult)

    # What observes

    run_gateway_start = _Tells()
    run_gateway_stop = _Tells()
    run_session_start = _Tells()
    run_session_end = _Tells()
    run_message_received = _Tells()
    run_message_sent = _Tells()
    run_after_tool_call = _Tells()
    run_before_compaction = _Tells()
    run_after_compaction = _Tells()
    run_before_reset = _Tells()
    run_model_call_started = _Tells()
    run_model_call_ended = _Tells()
    run_llm_input = _Tells()
    run_llm_output = _Tells()
    run_agent_end = _Tells()
    run_channel_pairing_requested = _Tells()
    run_subagent_spawned = _Tells()
    run_subagent_progress = _Tells()
    run_subagent_ended = _Tells()
    run_cron_reconciled = _Tells()
    run_cron_changed = _Tells()
    run_skill_proposal_changed = _Tells()
    run_skill_changed = _Tells()


def _key(here: HookEngine, name: str) -> str:
    expect_key(name, "before_tool_call")
    return here.host.dialect.catalogue().canonical(name)


async def _say_at_the_end(firing: Firing) -> None:
    run = await firing
    say(run.ending.log)


_RUNNER = HookRunner()


def get_global_hook_runner() -> HookRunner:
    """The runner of this process: it asks what `PluginApi`, `load_plugins` and `load_hooks` registered.

    Always the same one. Source: seed 004, "Global Hook Runner".
    """
    return _RUNNER
