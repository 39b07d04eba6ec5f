"""Plays a session against hooks and replies in the neutral words of the cases. Nothing is loaded or run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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
    SessionAgent,
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
)
from hookscope.hosts.streams.session_rules import SessionRules
from hookscope.hosts.streams.session_state import SessionState
from hookscope.model.event_catalogue import ALL_EVENTS

Words = Mapping[str, Any]  # what a handler does: throws, throwsValue, cancel
Tool = Callable[[Any], Any]
Rested: TypeAlias = WaitingForUser | SessionFinished
MOST_COMMANDS = 2_000  # a session that asks for more never ends


@dataclass(frozen=True)
class Hook:
    """One handler: its slug, the key it listens to, what it does, whose events it hears."""

    slug: str
    key: str
    words: Words = field(default_factory=dict)
    node: str = ""


@dataclass
class Stage:
    """The world around a session: hooks, a scripted model, tools, and other agents with their own."""

    rules: SessionRules
    agents: Mapping[str, SessionAgent]  # by node id
    hooks: Sequence[Hook] = ()
    replies: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # by node id
    tools: Mapping[str, Tool] = field(default_factory=dict)
    streams: dict[str, list[tuple[str, dict[str, Any]]]] = field(default_factory=dict)  # by session id
    calls: list[tuple[str, Hook, str, int]] = field(default_factory=list)  # session, hook, event, place
    asked: list[tuple[str, int]] = field(default_factory=list)  # session, place in its stream
    nodes: dict[str, str] = field(default_factory=dict)  # session id → node id
    commands: int = 0

    def play(self, *messages: str, node: str = "", id: str = "") -> tuple[SessionState, Rested]:  # noqa: A002
        """All messages, one after another; where the session came to rest."""
        session = begin_session(self.rules, self.agents[node], "seed", id)
        command: Rested = WaitingForUser()
        self.nodes[session.id] = node
        self.streams[session.id] = []
        for message in messages:
            if isinstance(command, SessionFinished):
                break
            session, command = self.rested(*advance_session(session, UserMessage(message)))
        return session, command

    def rested(self, session: SessionState, command: SessionCommand) -> tuple[SessionState, Rested]:
        """Answer all that is asked for."""
        while not isinstance(command, WaitingForUser | SessionFinished):
            self.commands += 1
            assert self.commands < MOST_COMMANDS, "the session does not come to rest"
            session, command = advance_session(session, self.answer(session, command))
        return session, command

    def answer(self, session: SessionState, command: SessionCommand) -> SessionInput:
        match command:
            case Publish():
                return self.published(session, command)
            case AskModel():
                self.asked.append((session.id, len(self.streams[session.id])))
                return self.reply(session, command)
            case CallTools(calls):
                return ToolResults(tuple(self.result(call) for call in calls))
            case StartChildren(children):
                return ChildOutcomes(tuple(self.outcome(child) for child in children))
        raise AssertionError(command)

    def published(self, session: SessionState, event: Publish) -> Published:
        place = len(self.streams[session.id])
        self.streams[session.id].append((event.type, dict(event.data)))
        cancelled, thrown = False, None
        for hook in self.heard(session, event):
            self.calls.append((session.id, hook, event.type, place))
            cancelled = cancelled or bool(hook.words.get("cancel"))
            if "throws" in hook.words or "throwsValue" in hook.words:
                thrown = Thrown(str(hook.words.get("throws", hook.words.get("throwsValue"))))
                if not self.goes_on:
                    break
        return Published(thrown, cancelled)

    @property
    def goes_on(self) -> bool:
        """Do the remaining hooks run after a throw."""
        return self.rules.throw_effect.value == "logged"

    def heard(self, session: SessionState, event: Publish) -> Iterator[Hook]:
        for key in (event.type, ALL_EVENTS):
            for hook in self.hooks if event.reaches_hooks else ():
                if hook.key == key and hook.node == session.agent.node:
                    yield hook

    def reply(self, session: SessionState, asked: AskModel) -> ModelReply:
        script = self.replies[session.agent.node]
        results = sum(entry.call is not None for entry in asked.history)
        return reply_of(script[min(results, len(script) - 1)])

    def result(self, call: ToolCall) -> ToolResult:
        try:
            return ToolResult(call.id, self.tools[call.name](call.input))
        except RuntimeError as error:
            return ToolResult(call.id, failure=Thrown(str(error)))

    def outcome(self, child: ChildSession) -> ChildOutcome:
        _, command = self.play(child.message, node=child.node, id=child.session)
        return ChildOutcome(child.session, command.output, command.failure)


def reply_of(told: Any) -> ModelReply:
    """A reply of a case's script."""
    if isinstance(told, str):
        return ModelReply(told)
    if "fail" in told:
        return ModelReply(failure=Thrown(told["fail"]))
    calls = (
        ToolCall(one.get("id", f"call_{place}"), one["name"], one.get("input"))
        for place, one in enumerate(told.get("toolCalls", ()), start=1)
    )
    return ModelReply(told.get("text", ""), tuple(calls))


HELPER = "subagents/helper"
ADD = {"name": "add", "input": {"a": 1, "b": 2}}
FAILS, HELP, NONE = {"name": "fails"}, {"name": "helper", "input": {"message": "please"}}, {"name": "none"}
TOOLS: dict[str, Any] = {"add": lambda asked: {"sum": asked["a"] + asked["b"]}, "fails": lambda _: fail()}


def fail() -> Any:
    raise RuntimeError("tool is broken")


def stage_of(
    rules: SessionRules,
    replies: Sequence[Any] = ("Hello back",),
    *hooks: Hook,
    child: Sequence[Any] = ("Helper answer",),
) -> Stage:
    agents = {
        "": SessionAgent("app", tools=frozenset(TOOLS), subagents={"helper": HELPER}),
        HELPER: SessionAgent("helper", HELPER, delegated=True),
    }
    return Stage(rules, agents, hooks, {"": replies, HELPER: child}, TOOLS)


def told(stage: Stage, session: str) -> list[str]:
    return [kind for kind, _ in stage.streams[session]]
