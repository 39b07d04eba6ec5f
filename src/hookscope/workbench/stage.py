"""Does what a session asks for: fires its events, runs its tools, asks its model, plays its subagents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hookscope.core.arguments import CANCEL
from hookscope.core.hooks import LogLine
from hookscope.core.runs import (
    Ending,
    Event,
    Fold,
    Next,
    Plan,
    Policy,
    Registration,
    Result,
    Run,
)
from hookscope.engine import HookEngine
from hookscope.runtime import Firing
from hookscope.runtime.clock import begin_run
from hookscope.systems.streams import OUTSIDE, stream_system_of
from hookscope.systems.streams.arranging import ROLES, role_of
from hookscope.systems.streams.session import advance, begin
from hookscope.systems.streams.session_acts import Session
from hookscope.systems.streams.session_words import (
    AskModel,
    CallTools,
    ChildSession,
    Command,
    Ended,
    Input,
    Message,
    Outcome,
    Outcomes,
    Publish,
    Published,
    Reply,
    StartChildren,
    Thrown,
    ToolCall,
    ToolResult,
    ToolResults,
    Waiting,
    asked_of_model,
)
from hookscope.workbench.cast import Cast, cast_of, rules_of
from hookscope.workbench.compose import as_plain
from hookscope.workbench.own_code import OwnCode
from hookscope.workbench.replies import (
    Script,
    checked,
    given_to,
    has_schema,
    reply_of,
    scripted,
    thrown_of,
)

NO_MODEL = "has no file `agent` that names a model"
MOST_EVENTS = 2_000  # of a play: a script that calls a tool for ever would never end
OF_SUBAGENT = {"kind": "subagent"}  # the channel of a child session


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be played. Without `replies` the root agent's own scripted model answers."""

    messages: tuple[str, ...]
    seed: str  # all ids are made of it
    replies: Script | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """One event of a session, and what it came to."""

    session: str
    node: str  # of the agent; empty for the root agent
    place: int  # in the session's own stream, from 0
    plan: Plan
    run: Run


@dataclass(frozen=True, slots=True)
class Use:
    """One call of a tool or a model, and what it came to."""

    session: str
    what: Literal["tool", "model"]
    name: str
    after: int  # how many events of all sessions had been published
    failure: Thrown | None = None


class Stopped(Exception):
    """The play stops here; the text says why. Without one, it was cancelled."""


@dataclass(frozen=True, slots=True)
class Alone:
    """A policy whose event causes no others: in a session the machine says what follows."""

    of: Policy
    said: LogLine | None = None  # what the host logs of this very event

    @property
    def batched(self) -> bool:
        return self.of.batched

    def start(self, event: Event) -> Fold:
        return self.of.start(event)

    def view(self, fold: Fold, call: Registration) -> Any:
        return self.of.view(fold, call)

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        return self.of.take(fold, result)

    def finish(self, fold: Fold) -> Ending:
        ending = self.of.finish(fold)
        log = ending.log if ending.failure is None else ()  # what a failure comes to is told by later events
        return replace(ending, follow_ups=(), log=(*log, *((self.said,) if self.said is not None else ())))


@dataclass
class Stage:
    """The world around the sessions of one play."""

    engine: HookEngine
    wanted: Wanted
    tell: Callable[[Scene], None]
    uses: list[Use] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    firing: Firing | None = None  # the event that is on its way
    session: Session | None = None  # the root agent's, as it stands
    published: int = 0

    def __post_init__(self) -> None:
        """Raises Refusal where the engine's host has no sessions; OSError where no agent can be read."""
        self.rules = rules_of(self.engine.host)
        self.cast: Cast = cast_of(self.engine.host)
        self._context = stream_system_of(self.engine.host.dialect).context
        self._places: dict[str, int] = {}
        self._parents: dict[str, dict[str, Any]] = {}
        self._own = OwnCode(self.engine)
        self._tell_of_build()

    def _tell_of_build(self) -> None:
        """The host would not have begun: then no hook is called, and nobody else says why."""
        rows = self.engine.inventory.hooks
        problem = next((row.hook.build for row in rows if row.hook.build is not None), None)
        if problem is not None:
            product = self.engine.host.dialect.product
            self.notes.append(f"no hook runs: {product} builds nothing: {problem.text}")

    async def play(self) -> Command:
        """All messages, one after another; the command with which the last one came to rest."""
        command: Command = Waiting()
        self.session = begin(self.rules, self.cast[""].agent, self.wanted.seed)
        for number, message in enumerate(self.wanted.messages):
            if isinstance(command, Ended):
                if not self.rules.reopens:
                    self.notes.append(f"the session is over: {message!r} was not sent")
                    break
                self.session = begin(self.rules, self.cast[""].agent, f"{self.wanted.seed}/{number}")
            self.session, command = await self._rested(*advance(self.session, Message(message)))
        return command

    async def _rested(self, session: Session, command: Command) -> tuple[Session, Command]:
        while not isinstance(command, Waiting | Ended):
            session, command = advance(session, await self._answer(session, command))
            if not session.agent.delegated:
                self.session = session
        return session, command

    async def _answer(self, session: Session, command: Command) -> Input:
        match command:
            case Publish():
                return await self._publish(session, command)
            case AskModel():
                return await self._ask(session, command)
            case CallTools(calls):
                return ToolResults(await self._use(session, calls))
            case StartChildren(children):
                return Outcomes(tuple([await self._delegate(session, child) for child in children]))
        raise TypeError(command)

    # Events.

    async def _publish(self, session: Session, told: Publish) -> Published:
        if self.published >= MOST_EVENTS:
            raise Stopped(f"stopped after {MOST_EVENTS} events: the model asks for more and more")
        plan = self.engine.plan(self._event(session, told))
        said = self.rules.logged(told.type, told.data)
        self.firing = self.engine.fire(replace(plan, policy=Alone(plan.policy, said)))
        try:
            run = await self.firing
        finally:
            self.firing = None
        place = self._places.get(session.id, 0)
        self._places[session.id] = place + 1
        self.published += 1
        self.tell(Scene(session.id, session.agent.node, place, plan, run))
        if run.cancelled:
            raise Stopped
        return Published(_thrown_in(run), CANCEL in (run.ending.answer or {}))

    def _event(self, session: Session, told: Publish) -> Event:
        about = {
            "id": session.id,
            "turn": {"id": session.turn_id, "sequence": session.sequence},
            **self._parents.get(session.id, {}),
        }
        channel = {"continuationToken": session.token}
        ctx: dict[str, Any] = {
            "agent": {"nodeId": session.agent.node} if session.agent.node else {},
            "channel": {**OF_SUBAGENT, **channel} if session.agent.delegated else channel,
            "session": {name: value for name, value in about.items() if name in self._context.session},
        }
        meta = {} if told.heard else {OUTSIDE: True}
        return Event(told.type, session_key=session.id, context=told.data, kind="stream", meta=meta, ctx=ctx)

    async def _delegate(self, parent: Session, child: ChildSession) -> Outcome:
        root = self._parents.get(parent.id, {}).get("parent", {}).get("rootSessionId", parent.id)
        turn = {"id": parent.turn_id, "sequence": parent.sequence}
        told = {"callId": child.call, "rootSessionId": root, "sessionId": parent.id, "turn": turn}
        self._parents[child.session] = {"parent": told}
        member, seed = self.cast[child.node], f"{self.wanted.seed}/{child.session}"
        session = begin(self.rules, member.agent, seed, child.session)
        text = self.rules.first_message(child.agent, member.description, child.message)
        _, command = await self._rested(*advance(session, Message(text)))
        assert isinstance(command, Waiting | Ended)
        return Outcome(child.session, command.output, command.failure)

    # Models and tools.

    async def _ask(self, session: Session, asked: AskModel) -> Reply:
        reply = await self._checked(session, await self._reply(session, asked))
        self._note(session, "model", session.agent.name, reply.failure)
        agent = session.agent
        for call in reply.calls:
            if call.name not in agent.tools and call.name not in agent.subagents:  # no event tells of these
                self._note(session, "tool", call.name, Thrown("the project has no such tool", ""))
            elif call.refused:
                self._note(session, "tool", call.name, Thrown(call.refused, ""))
        return reply

    async def _checked(self, session: Session, reply: Reply) -> Reply:
        """With what each tool's own schema makes of its input: no event tells of a call that does not fit."""
        member = self.cast[session.agent.node]
        calls = list(reply.calls)
        able = [place for place, call in enumerate(calls) if has_schema(member, call)]
        asked = [(member.tools[calls[place].name], given_to(calls[place])) for place in able]
        results = await self._own.run(member, "input", asked) if asked else []
        for place, result in zip(able, results, strict=True):
            calls[place] = checked(calls[place], result.returned)
        return replace(reply, calls=tuple(calls))

    async def _reply(self, session: Session, asked: AskModel) -> Reply:
        member = self.cast[session.agent.node]
        try:
            if self.wanted.replies is not None and not session.agent.node:
                return scripted(self.wanted.replies, asked)
            if member.model is None:
                return Reply(failure=Thrown(f"{member.root.name} {NO_MODEL}"))
            (result,) = await self._own.run(member, "model", [(member.model, asked_of_model(asked))])
            if result.error is not None:
                return Reply(failure=thrown_of(result.error))
            return reply_of(result.returned, asked)
        except ValueError as error:
            return Reply(failure=Thrown(str(error)))

    async def _use(self, session: Session, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        member = self.cast[session.agent.node]
        begin_run()
        results = await self._own.run(
            member, "tool", [(member.tools[call.name], call.input) for call in calls]
        )
        found = []
        for call, result in zip(calls, results, strict=True):
            failure = thrown_of(result.error) if result.error is not None else None
            self._note(session, "tool", call.name, failure)
            ended = result.started + result.took
            found.append(ToolResult(call.id, as_plain(result.returned), failure, ended))
        return tuple(found)

    def _note(
        self, session: Session, what: Literal["tool", "model"], name: str, failure: Thrown | None
    ) -> None:
        self.uses.append(Use(session.id, what, name, self.published, failure))


def _thrown_in(run: Run) -> Thrown | None:
    """What a hook has thrown; channels and resolvers may, and nothing comes of it (eve 20)."""
    failures = (result.error for result in run.results if role_of(result.call) not in ROLES)
    return next((thrown_of(failure) for failure in failures if failure is not None), None)
