"""The policy of stream events: call order, and what a throw or cancel causes (rules note 3.4; eve 03, 20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from hookscope.model.event_catalogue import ALL_EVENTS
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.host import Arrangement
from hookscope.model.payload import CANCEL, EVENT, Arguments, make_arguments
from hookscope.model.run import (
    CallGroup,
    Ending,
    Event,
    Fold,
    Next,
    NotRun,
    Registration,
    Result,
)
from hookscope.values import dataclass

# In an event's `meta`: it was written outside any turn. Handlers never get it.
OUTSIDE = "outside"
TERMINAL = ("session.failed", "session.completed")
ROOT_NODE = "__root__"  # a host's possible node id of its root agent
CHANNEL, DYNAMIC = "channel", "dynamic"
ROLES = (CHANNEL, DYNAMIC)
CHANNELS = "channels/"  # prefix of the name of a channel's module
DEFAULT_CHANNEL = "http"  # the built-in one, used for events fired by hand


def stream_call_groups(
    event: Event, registrations: Sequence[Registration], unreachable: Mapping[str, str]
) -> Arrangement:
    """Return the subscribed handlers in their call groups.

    `unreachable`: event types that reach no hook, and why.
    """
    excluded = {call: reason for call in registrations if (reason := _skip_reason(call, event, unreachable))}
    called = [call for call in registrations if call not in excluded]
    return Arrangement(
        tuple(_call_groups(called)),
        tuple(NotRun(call.name, reason, call.hook) for call, reason in excluded.items()),
    )


def _call_groups(called: Sequence[Registration]) -> Iterator[CallGroup]:
    predicates: Mapping[str, Callable[[Registration], bool]] = {
        CHANNEL: lambda call: role_of(call) == CHANNEL,
        "typed": lambda call: role_of(call) not in ROLES and call.key != ALL_EVENTS,
        ALL_EVENTS: lambda call: role_of(call) not in ROLES and call.key == ALL_EVENTS,
        DYNAMIC: lambda call: role_of(call) == DYNAMIC,
    }
    for label, belongs in predicates.items():
        calls = tuple(call for call in called if belongs(call))
        if calls:
            yield CallGroup(calls, after_record=label != CHANNEL, label=label)


def role_of(call: Registration) -> str:
    """Return the role of the hook; empty for a plain hook and for handlers registered by code."""
    return call.hook.role if call.hook is not None else ""


def _skip_reason(call: Registration, event: Event, unreachable: Mapping[str, str]) -> str:
    role, node = role_of(call), node_of(event)
    if call.hook is not None and call.hook.scope != node:
        return f"it hears {_stream_of(call.hook.scope)}; this is {_stream_of(node)} (ctx.agent.nodeId)"
    if role in ROLES and call.key == ALL_EVENTS:
        return f"`{ALL_EVENTS}` is no event to a {role} module"
    if role == CHANNEL:
        return _other_channel_reason(call.name, event)
    if event.meta.get(OUTSIDE) and event.type in TERMINAL:
        return f"{event.type} written from outside a turn reaches the channel and the stream, and no hook"
    return unreachable.get(event.type, "")


def node_of(event: Event) -> str:
    """Return the node id of the event's agent; empty for the root agent."""
    agent = event.ctx.get("agent")
    node = agent.get("nodeId") if isinstance(agent, Mapping) else None
    return node if isinstance(node, str) and node != ROOT_NODE else ""


def _stream_of(scope: str) -> str:
    return f"the stream of {scope}" if scope else "the root agent's stream"


def _other_channel_reason(name: str, event: Event) -> str:
    """Return why a channel does not receive the event; empty if it does.

    A session has one channel. Events of the built-in channel, like those fired by hand, reach all.
    """
    channel = event.ctx.get("channel")
    kind = channel.get("kind") if isinstance(channel, Mapping) else None
    if not isinstance(kind, str) or kind == DEFAULT_CHANNEL or name.removeprefix(CHANNELS) == kind:
        return ""
    return f"the session's channel is {kind}"


DATA = "data"
ThrowLog = Callable[[Event, Registration, Failure], LogLine]  # the host's log line about a throw
IgnoredCancelLog = Callable[[Event, Registration], LogLine]  # and about an ignored cancel


@dataclass(frozen=True, slots=True)
class FailureRule:
    """The effects of a handler's throw and of `ctx.cancel()` under one version of a host."""

    stops_event: bool  # a hook's throw fails the event, and the remaining handlers do not run
    swallowed_log: ThrowLog  # the log of a channel's or resolver's throw, its only effect
    hook_log: ThrowLog | None = None  # the log of a hook's throw
    events_after_throw: Callable[[Event, Failure], tuple[Event, ...]] = lambda event, failure: ()
    events_after_cancel: Callable[[Event], tuple[Event, ...]] = lambda event: ()
    ignored_cancel_log: IgnoredCancelLog | None = None  # None: there is no `ctx.cancel()`


@dataclass(frozen=True, slots=True)
class SharedStreamEvent:
    """The one event of all handlers. Handlers of a channel get only its data, and share it."""

    of: Event
    hooks: Arguments
    channel: Arguments

    @property
    def data(self) -> Mapping[str, Any]:
        """Return the event's current data, or the original if a handler removed it."""
        event = self.hooks.get(EVENT)
        data = event.get(DATA) if isinstance(event, Mapping) else None
        return data if isinstance(data, Mapping) else self.of.context


@dataclass(frozen=True, slots=True)
class StreamPolicy:
    """One event's handlers: return values are ignored, changes are visible to later handlers.

    Source: seed 002, "Execution order" and "What happens when a hook throws"; rules note 3.4 to
    3.7.
    """

    failure_rule: FailureRule
    cancellable: bool = False  # whether `ctx.cancel()` works on this event
    shows_envelope: bool = True
    ctx_methods: tuple[str, ...] = ()
    omits_data: bool = False  # hooks get no `data` on this event

    @property
    def batched(self) -> bool:
        return not self.failure_rule.stops_event

    def start(self, event: Event) -> Fold:
        data, ctx = deepcopy(dict(event.context)), deepcopy(dict(event.ctx))
        event_object: dict[str, Any] = (
            {"type": event.type} if self.omits_data else {"type": event.type, DATA: data}
        )
        if self.shows_envelope:
            event_object["meta"] = {name: value for name, value in event.meta.items() if name != OUTSIDE}
        channel_methods = tuple(name for name in self.ctx_methods if name != CANCEL)
        hooks, channel = (
            make_arguments(event_object, ctx, methods=self.ctx_methods),
            make_arguments(data, ctx, methods=channel_methods),
        )
        return Fold(SharedStreamEvent(event, hooks, channel))

    def view(self, fold: Fold, call: Registration) -> Any:
        return fold.event.channel if role_of(call) == CHANNEL else fold.event.hooks

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        call, shared = result.call, fold.event
        if role_of(call) == CHANNEL and not self.omits_data:
            shared.hooks[EVENT][DATA] = shared.channel[EVENT]  # a handler in a worker may have replaced it
        if CANCEL in result.asked:
            fold = self._with_cancel(fold, call)
        failure = result.error
        if failure is None:
            return fold, Next.GO
        if role_of(call) in ROLES:
            return _with_log_line(fold, self.failure_rule.swallowed_log(shared.of, call, failure)), Next.GO
        if self.failure_rule.hook_log is not None:
            fold = _with_log_line(fold, self.failure_rule.hook_log(shared.of, call, failure))
        if not self.failure_rule.stops_event:
            return fold, Next.GO
        follow_ups = (*fold.follow_ups, *self.failure_rule.events_after_throw(shared.of, failure))
        return replace(fold, failure=failure.own_text, follow_ups=follow_ups), Next.FAIL

    def _with_cancel(self, fold: Fold, call: Registration) -> Fold:
        if self.failure_rule.ignored_cancel_log is None:
            return fold
        if not self.cancellable:
            return _with_log_line(fold, self.failure_rule.ignored_cancel_log(fold.event.of, call))
        if CANCEL in fold.answer:  # a turn is cancelled only once
            return fold
        return replace(
            fold, answer={CANCEL: call.name}, follow_ups=self.failure_rule.events_after_cancel(fold.event.of)
        )

    def finish(self, fold: Fold) -> Ending:
        by = fold.answer.get(CANCEL)
        return Ending(
            answer=fold.answer or None,
            failure=fold.failure,
            follow_ups=fold.follow_ups,
            log=fold.log,
            verdict=f"turn cancelled by {by}" if by is not None else "",
            context=dict(fold.event.data),
        )


def _with_log_line(fold: Fold, line: LogLine) -> Fold:
    return replace(fold, log=(*fold.log, line))
