"""Run a simulated session: messages in; every event with its hooks' results out.

Its tools and model are called in workers. Needs a running event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from hookscope.app.event_templates import as_plain
from hookscope.engine.hook_engine import HookEngine
from hookscope.hosts.streams import stream_system_of
from hookscope.hosts.streams.session_machine import advance_session, begin_session
from hookscope.hosts.streams.session_messages import (
    AskModel,
    CallTools,
    ChildOutcome,
    ChildOutcomes,
    ChildSession,
    ModelReply,
    Publish,
    Published,
    SessionCommand,
    SessionFinished,
    SessionInput,
    StartChildren,
    Thrown,
    ToolCall,
    ToolResult,
    ToolResults,
    UserMessage,
    WaitingForUser,
    model_request,
)
from hookscope.hosts.streams.session_state import SessionState
from hookscope.hosts.streams.stream_policy import OUTSIDE, ROLES, role_of
from hookscope.model.executor import Executor
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.payload import CANCEL, make_arguments
from hookscope.model.run import (
    Ending,
    Event,
    Fold,
    Module,
    ModuleShape,
    Next,
    Plan,
    Policy,
    Registration,
    Result,
    Run,
    Step,
)
from hookscope.runtime.async_helpers import Broadcast, start_run_clock, wait_until_done
from hookscope.runtime.firing import Firing
from hookscope.sessions.session_agents import (
    AgentCode,
    ReplyScript,
    SessionAgents,
    checked_call,
    has_input_schema,
    parse_reply,
    scripted_reply,
    session_agents_of,
    session_rules_of,
    thrown_from_failure,
    tool_input_of,
)
from hookscope.values import dataclass

NOT_TRUSTED = "NotTrusted"  # the failure type of an untrusted tool or model


class ProjectCode:
    """Calls a project's tools and models. Serves one simulation: loaded files are kept."""

    def __init__(self, engine: HookEngine) -> None:
        self._engine = engine
        self._targets: dict[tuple[Path, ModuleShape], Any] = {}

    async def run(
        self, member: AgentCode, shape: ModuleShape, inputs: Sequence[tuple[Path, Any]]
    ) -> list[Result]:
        """Return each file's result for its input, in order; one executor's calls run at once."""
        calls = [(await self._call(member, path, shape), make_arguments(given, {})) for path, given in inputs]
        results: dict[Registration, Result] = {}

        def step(news: Step) -> None:
            if isinstance(news, Result):
                results[news.call] = news

        calls_by_executor: dict[int, tuple[Executor, list[tuple[Registration, Any]]]] = {}
        for call, payload in calls:
            if isinstance(call, Result):
                results[call.call] = call
            else:
                executor = self._engine.executors.executor_of(call)
                calls_by_executor.setdefault(id(executor), (executor, []))[1].append((call, payload))
        for executor, executor_calls in calls_by_executor.values():
            await executor.run_together(executor_calls, step)
        return [results[call.call if isinstance(call, Result) else call] for call, _ in calls]

    async def _call(self, member: AgentCode, path: Path, shape: ModuleShape) -> Registration | Result:
        """Return the loaded target to call, or a result if it cannot be loaded."""
        if (path, shape) not in self._targets:
            self._targets[path, shape] = await self._target(member, path, shape)
        target = self._targets[path, shape]
        if isinstance(target, Failure):
            return Result(Registration(shape, path.stem, print), "error", error=target)
        return Registration(shape, path.stem, target)

    async def _target(self, member: AgentCode, path: Path, shape: ModuleShape) -> Any:
        code = member.code(path, shape, self._engine.host.env)
        if not member.trusted:
            text = f"{path.name} did not run: {member.root} is not trusted"
            return Failure(NOT_TRUSTED, text, phase="load")
        executor = self._engine.executors.code.get(code.language)
        if executor is None:
            return Failure("NoLane", f"{path.name} did not run: {code.language} does not run here")
        target = await executor.load(code)
        return Failure("NoTool", f"{path.name} is not a {shape}") if isinstance(target, Module) else target


NO_MODEL_FILE = "has no file `agent` that names a model"
MOST_EVENTS = 2_000  # per simulation, to stop scripts that never end
SUBAGENT_CHANNEL = {"kind": "subagent"}  # the channel of a child session


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """The simulation to run. Without `replies`, the root agent's own scripted model answers."""

    messages: tuple[str, ...]
    seed: str  # all ids derive from it
    replies: ReplyScript | None = None


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """One event of a session, with its plan and run."""

    session: str
    node: str  # of the agent; empty for the root agent
    position: int  # in the session's own stream, from 0
    plan: Plan
    run: Run


@dataclass(frozen=True, slots=True)
class CodeCall:
    """One call of a tool or a model, and its failure."""

    session: str
    kind: Literal["tool", "model"]
    name: str
    events_before: int  # events of all sessions published before it
    failure: Thrown | None = None


class SimulationStopped(Exception):
    """Stops the simulation; the text is the reason. Without a text, it was cancelled."""


@dataclass(frozen=True, slots=True)
class WithoutFollowUps:
    """A policy without follow-up events: in a session the session machine decides what follows."""

    inner: Policy
    log_line: LogLine | None = None  # the host's log line for this event

    @property
    def batched(self) -> bool:
        return self.inner.batched

    def start(self, event: Event) -> Fold:
        return self.inner.start(event)

    def view(self, fold: Fold, call: Registration) -> Any:
        return self.inner.view(fold, call)

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        return self.inner.take(fold, result)

    def finish(self, fold: Fold) -> Ending:
        ending = self.inner.finish(fold)
        log = ending.log if ending.failure is None else ()  # later events show the effect of a failure
        return replace(
            ending, follow_ups=(), log=(*log, *((self.log_line,) if self.log_line is not None else ()))
        )


class SessionRunner:
    """Runs the sessions of one simulation: the side effects that the session machine requests."""

    def __init__(
        self, engine: HookEngine, request: SessionRequest, on_event: Callable[[SessionEvent], None]
    ) -> None:
        """Raises Refusal if the host has no sessions; OSError if an agent cannot be read."""
        self.engine, self.request, self.on_event = engine, request, on_event
        self.code_calls: list[CodeCall] = []
        self.notes: list[str] = []
        self.firing: Firing | None = None  # the event in progress
        self.session: SessionState | None = None  # the root agent's current state
        self.published = 0
        self.rules = session_rules_of(engine.host)
        self.agents: SessionAgents = session_agents_of(engine.host)
        self._context = stream_system_of(engine.host.dialect).context_rule
        self._positions: dict[str, int] = {}
        self._parents: dict[str, dict[str, Any]] = {}
        self._project_code = ProjectCode(engine)
        self._note_build_problem()

    def _note_build_problem(self) -> None:
        """Note a build error: the host would not start, so no hook runs."""
        rows = self.engine.inventory.hooks
        problem = next((row.hook.build for row in rows if row.hook.build is not None), None)
        if problem is not None:
            product = self.engine.host.dialect.product
            self.notes.append(f"no hook runs: {product} cannot build the project: {problem.text}")

    async def play(self) -> SessionCommand:
        """Send all messages in turn; return the command with which the last one ended."""
        command: SessionCommand = WaitingForUser()
        self.session = begin_session(self.rules, self.agents[""].agent, self.request.seed)
        for number, message in enumerate(self.request.messages):
            if isinstance(command, SessionFinished):
                if not self.rules.reopens_finished:
                    self.notes.append(f"the session is over: {message!r} was not sent")
                    break
                self.session = begin_session(
                    self.rules, self.agents[""].agent, f"{self.request.seed}/{number}"
                )
            self.session, command = await self._run_until_idle(
                *advance_session(self.session, UserMessage(message))
            )
        return command

    async def _run_until_idle(
        self, session: SessionState, command: SessionCommand
    ) -> tuple[SessionState, SessionCommand]:
        while not isinstance(command, WaitingForUser | SessionFinished):
            session, command = advance_session(session, await self._answer(session, command))
            if not session.agent.delegated:
                self.session = session
        return session, command

    async def _answer(self, session: SessionState, command: SessionCommand) -> SessionInput:
        match command:
            case Publish():
                return await self._publish(session, command)
            case AskModel():
                return await self._ask_model(session, command)
            case CallTools(calls):
                return ToolResults(await self._call_tools(session, calls))
            case StartChildren(children):
                return ChildOutcomes(tuple([await self._delegate(session, child) for child in children]))
        raise TypeError(command)

    # Events.

    async def _publish(self, session: SessionState, command: Publish) -> Published:
        if self.published >= MOST_EVENTS:
            raise SimulationStopped(f"stopped at the limit of {MOST_EVENTS} events: the model did not finish")
        plan = self.engine.plan(self._event(session, command))
        log_line = self.rules.failure_log(command.type, command.data)
        self.firing = self.engine.fire(replace(plan, policy=WithoutFollowUps(plan.policy, log_line)))
        try:
            run = await self.firing
        finally:
            self.firing = None
        position = self._positions.get(session.id, 0)
        self._positions[session.id] = position + 1
        self.published += 1
        self.on_event(SessionEvent(session.id, session.agent.node, position, plan, run))
        if run.cancelled:
            raise SimulationStopped
        return Published(_hook_failure_in(run), CANCEL in (run.ending.answer or {}))

    def _event(self, session: SessionState, command: Publish) -> Event:
        session_facts = {
            "id": session.id,
            "turn": {"id": session.turn_id, "sequence": session.sequence},
            **self._parents.get(session.id, {}),
        }
        channel = {"continuationToken": session.token}
        ctx: dict[str, Any] = {
            "agent": {"nodeId": session.agent.node} if session.agent.node else {},
            "channel": {**SUBAGENT_CHANNEL, **channel} if session.agent.delegated else channel,
            "session": {
                name: value for name, value in session_facts.items() if name in self._context.session_members
            },
        }
        meta = {} if command.reaches_hooks else {OUTSIDE: True}
        return Event(
            command.type, session_key=session.id, context=command.data, kind="stream", meta=meta, ctx=ctx
        )

    async def _delegate(self, parent: SessionState, child: ChildSession) -> ChildOutcome:
        root = self._parents.get(parent.id, {}).get("parent", {}).get("rootSessionId", parent.id)
        turn = {"id": parent.turn_id, "sequence": parent.sequence}
        parent_facts = {"callId": child.call, "rootSessionId": root, "sessionId": parent.id, "turn": turn}
        self._parents[child.session] = {"parent": parent_facts}
        member, seed = self.agents[child.node], f"{self.request.seed}/{child.session}"
        session = begin_session(self.rules, member.agent, seed, child.session)
        text = self.rules.first_message(child.agent, member.description, child.message)
        _, command = await self._run_until_idle(*advance_session(session, UserMessage(text)))
        assert isinstance(command, WaitingForUser | SessionFinished)
        return ChildOutcome(child.session, command.output, command.failure)

    # Models and tools.

    async def _ask_model(self, session: SessionState, request: AskModel) -> ModelReply:
        reply = await self._with_checked_inputs(session, await self._reply(session, request))
        self._note_call(session, "model", session.agent.name, reply.failure)
        agent = session.agent
        for call in reply.calls:
            if call.name not in agent.tools and call.name not in agent.subagents:  # no event shows these
                self._note_call(session, "tool", call.name, Thrown("the project has no such tool", ""))
            elif call.refusal:
                self._note_call(session, "tool", call.name, Thrown(call.refusal, ""))
        return reply

    async def _with_checked_inputs(self, session: SessionState, reply: ModelReply) -> ModelReply:
        """Return the reply with each input as its tool's schema reads it. No event shows a refused call."""
        member = self.agents[session.agent.node]
        calls = list(reply.calls)
        checkable = [index for index, call in enumerate(calls) if has_input_schema(member, call)]
        inputs = [(member.tools[calls[index].name], tool_input_of(calls[index])) for index in checkable]
        results = await self._project_code.run(member, "input", inputs) if inputs else []
        for index, result in zip(checkable, results, strict=True):
            calls[index] = checked_call(calls[index], result.returned)
        return replace(reply, calls=tuple(calls))

    async def _reply(self, session: SessionState, request: AskModel) -> ModelReply:
        member = self.agents[session.agent.node]
        try:
            if self.request.replies is not None and not session.agent.node:
                return scripted_reply(self.request.replies, request)
            if member.model is None:
                return ModelReply(failure=Thrown(f"{member.root.name} {NO_MODEL_FILE}"))
            (result,) = await self._project_code.run(
                member, "model", [(member.model, model_request(request))]
            )
            if result.error is not None:
                return ModelReply(failure=thrown_from_failure(result.error))
            return parse_reply(result.returned, request)
        except ValueError as error:
            return ModelReply(failure=Thrown(str(error)))

    async def _call_tools(self, session: SessionState, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        member = self.agents[session.agent.node]
        start_run_clock()
        results = await self._project_code.run(
            member, "tool", [(member.tools[call.name], call.input) for call in calls]
        )
        found = []
        for call, result in zip(calls, results, strict=True):
            failure = thrown_from_failure(result.error) if result.error is not None else None
            self._note_call(session, "tool", call.name, failure)
            ended = result.started + result.took
            found.append(ToolResult(call.id, as_plain(result.returned), failure, ended))
        return tuple(found)

    def _note_call(
        self, session: SessionState, kind: Literal["tool", "model"], name: str, failure: Thrown | None
    ) -> None:
        self.code_calls.append(CodeCall(session.id, kind, name, self.published, failure))


def _hook_failure_in(run: Run) -> Thrown | None:
    """Return the error that a hook threw; those of channels and resolvers are ignored (eve 20)."""
    failures = (result.error for result in run.results if role_of(result.call) not in ROLES)
    return next((thrown_from_failure(failure) for failure in failures if failure is not None), None)


SimulationEnd = Literal["waiting", "ended", "cancelled", "stopped"]


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """The result of a simulation. `events` are its events in order of publication."""

    end: SimulationEnd  # how the root agent's session ended
    session: str  # the id of its last session
    throw_effect: str  # the effect of a throwing hook, as a sentence
    events: tuple[SessionEvent, ...] = ()
    code_calls: tuple[CodeCall, ...] = ()
    failure: str | None = None  # of the last turn, or of the session
    notes: tuple[str, ...] = ()

    def stream(self, session: str = "") -> tuple[SessionEvent, ...]:
        """Return the events of one session; by default the root agent's."""
        return tuple(event for event in self.events if event.session == (session or self.session))

    @property
    def sessions(self) -> tuple[str, ...]:
        """All sessions, in order of their first event."""
        return tuple(dict.fromkeys(event.session for event in self.events))

    @property
    def untrusted(self) -> bool:
        """Whether a tool or model was refused because its agent's folder is not trusted."""
        return any(use.failure is not None and use.failure.name == NOT_TRUSTED for use in self.code_calls)

    @property
    def failed(self) -> tuple[tuple[SessionEvent, Result], ...]:
        """Every handler that failed, with its event."""
        return tuple((event, result) for event in self.events for result in event.run.failed)


class Simulation:
    """A running simulation: iterate it for events, await it for the SimulationResult, or cancel it.

    Create it inside a running loop; it starts at once. Cancelling an awaiter cancels the
    simulation too; the awaiter returns when everything has ended. The engine keeps its executors.
    """

    def __init__(self, engine: HookEngine, request: SessionRequest) -> None:
        """Start the simulation. The hooks of `engine` are registered already.

        Raises Refusal if the host has no sessions, and OSError.
        """
        self._events: Broadcast[SessionEvent] = Broadcast()
        self._runner = SessionRunner(engine, request, self._events.publish)
        self._task = asyncio.get_running_loop().create_task(self._play())
        self._task.add_done_callback(lambda _: self._events.close())

    def cancel(self) -> None:
        """Stop the running handler and the simulation. The events so far are still the result."""
        if self._runner.firing is not None:
            self._runner.firing.cancel()
        else:
            self._task.cancel()

    def __await__(self) -> Generator[object, None, SimulationResult]:
        return self._awaited().__await__()

    async def _awaited(self) -> SimulationResult:
        await wait_until_done(self._task, self.cancel)
        if self._task.cancelled():  # before its first step
            return self._result("cancelled", None)
        return self._task.result()

    def __aiter__(self) -> AsyncIterator[SessionEvent]:
        """Iterate all events from the beginning. Leaving the loop cancels nothing."""
        return aiter(self._events)

    async def _play(self) -> SimulationResult:
        try:
            command = await self._runner.play()
        except asyncio.CancelledError:
            return self._result("cancelled", None)
        except SimulationStopped as why:
            self._runner.notes += why.args
            return self._result("stopped" if why.args else "cancelled", None)
        assert isinstance(command, WaitingForUser | SessionFinished)
        return self._result("ended" if isinstance(command, SessionFinished) else "waiting", command.failure)

    def _result(self, end: SimulationEnd, failure: str | None) -> SimulationResult:
        runner = self._runner
        return SimulationResult(
            end,
            runner.session.id if runner.session is not None else "",
            runner.rules.summary,
            tuple(self._events.items),
            tuple(runner.code_calls),
            failure,
            tuple(runner.notes),
        )
