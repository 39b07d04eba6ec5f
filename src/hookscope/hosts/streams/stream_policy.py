"""The policy of stream events: call order, and what a throw or cancel causes (eve 03 and 20)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hookscope.hosts.streams.module_folders import stem_of_module
from hookscope.model.event_catalogue import ALL_EVENTS, Catalogue
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.hook_event import iso
from hookscope.model.host import Arrangement, Host
from hookscope.model.payload import CANCEL, EVENT, Arguments, make_arguments, mapping_or_empty
from hookscope.model.run import CallGroup, Ending, Event, Fold, Next, NotRun, Registration, Result
from hookscope.values import dataclass

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
FIRST_TURN = "turn_0"
LARGEST = 1_048_576  # bytes of a package.json that are read


@dataclass(frozen=True, slots=True)
class ContextRule:
    """Which parts of an event and its session a version of the host passes to its handlers."""

    stamps_ids: bool = True  # whether events get an id
    shows_envelope: bool = True  # whether handlers get `meta`, not only readers of the record
    dataless_events: frozenset[str] = frozenset()  # events that reach hooks without `data` if it is empty
    session_members: tuple[str, ...] = ("id",)  # members of ctx.session
    ctx_methods: tuple[str, ...] = ()  # functions that ctx has


def stamped_event(event: Event, host: Host, entropy: bytes, rule: ContextRule) -> Event:
    """Return the event with a new envelope and complete `ctx`. `entropy`: 16 random bytes. Source: eve 17."""
    stamp: dict[str, Any] = {"id": "evt_" + ulid(event.timestamp, entropy)} if rule.stamps_ids else {}
    stamp["at"] = iso(event.timestamp)
    context = {
        "agent": _agent(event, host),
        "channel": {"kind": DEFAULT_CHANNEL, "continuationToken": _session_id(event)},
        "session": _session(event, rule),
    }
    own_ctx = event.ctx
    ctx = {**own_ctx, **{name: {**made, **_mapping_at(own_ctx, name)} for name, made in context.items()}}
    return replace(event, meta={**event.meta, **stamp}, ctx=ctx)


def _mapping_at(ctx: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return mapping_or_empty(ctx.get(name))


def _agent(event: Event, host: Host) -> dict[str, Any]:
    node = node_of(event)
    if node:
        last = node.rpartition("/")[2]
        return {"name": stem_of_module(last) or last, "nodeId": node}
    return {"name": project_name(host)}


def project_name(host: Host) -> str:
    """Return the name in the project's package.json without its scope, else the folder's name."""
    try:
        package_data = json.loads(host.machine.files.read(host.workspace / "package.json", LARGEST))
    except (OSError, ValueError, RecursionError):
        package_data = None
    name = package_data.get("name") if isinstance(package_data, dict) else None
    return name.rpartition("/")[2] if isinstance(name, str) and name else host.workspace.name


def _session(event: Event, rule: ContextRule) -> dict[str, Any]:
    known: dict[str, Any] = {
        "id": _session_id(event),
        "auth": {"current": None, "initiator": None},
        "turn": turn_of(event),
    }
    return {name: known.get(name) for name in rule.session_members}


def _session_id(event: Event) -> str:
    session = _mapping_at(event.ctx, "session").get("id")
    return session if isinstance(session, str) else event.session_key


def turn_of(event: Event) -> dict[str, Any]:
    """Return the turn of an event: the one that it names, else the first."""
    turn, sequence = event.context.get("turnId"), event.context.get("sequence")
    return {"id": FIRST_TURN if turn is None else turn, "sequence": 0 if sequence is None else sequence}


def ulid(moment: datetime, entropy: bytes) -> str:
    """Return 26 letters and digits that sort by time: 48 bits of milliseconds, then 80 bits of `entropy`."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    milliseconds = max(0, int(aware.timestamp() * 1000)) % (1 << 48)
    number = (milliseconds << 80) | int.from_bytes(entropy[:10], "big")
    return "".join(CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))


FAILURE_CASCADE = ("step.failed", "turn.failed")


def following_event(event: Event, kind: str, data: Mapping[str, Any], **meta: Any) -> Event:
    """Return the next event of the same session."""
    following = Event(kind, session_key=event.session_key, context=dict(data), kind="stream", ctx=event.ctx)
    return replace(following, meta=meta) if meta else following


def step_failed(event: Event, code: str, message: str) -> Event:
    """Return the `step.failed` event for the step of `event`."""
    index = event.context.get("stepIndex")
    data = {**_turn(event), "stepIndex": 0 if index is None else index, "code": code, "message": message}
    return following_event(event, "step.failed", data)


def turn_failed(event: Event, code: str, message: str) -> Event:
    """Return the `turn.failed` event for the turn of `event`."""
    return following_event(event, "turn.failed", {**_turn(event), "code": code, "message": message})


def turn_cancelled(event: Event) -> Event:
    """Return the `turn.cancelled` event for the turn of `event`."""
    return following_event(event, "turn.cancelled", _turn(event))


def session_failed(event: Event, code: str, message: str, *, outside: bool = False) -> Event:
    """Return the `session.failed` event; if it is written `outside` any turn, no hook receives it."""
    data = {"sessionId": _session_id(event), "code": code, "message": message}
    return following_event(event, "session.failed", data, **({OUTSIDE: True} if outside else {}))


def session_waiting(event: Event, *, token: bool) -> Event:
    """Return the `session.waiting` event; with `token`, it has a continuation token."""
    data = {"wait": "next-user-message"}
    if token:
        channel_token = _mapping_at(event.ctx, "channel").get("continuationToken")
        data["continuationToken"] = channel_token if isinstance(channel_token, str) else _session_id(event)
    return following_event(event, "session.waiting", data)


def _turn(event: Event) -> dict[str, Any]:
    turn = turn_of(event)
    return {"turnId": turn["id"], "sequence": turn["sequence"]}


def event_problems(event: Event, catalogue: Catalogue) -> tuple[str, ...]:
    """Return a sentence for an unknown type, and one for each missing required field of the data."""
    event_type = catalogue.by_key.get(event.type)
    if event_type is None or event_type.kind != "stream":
        closest = catalogue.nearest(event.type)
        return (f"this stream has no event {event.type}" + (f"; did you mean {closest}?" if closest else ""),)
    return tuple(
        f"{event.type} has no `{name}` in its data"
        + (f": {event_type.fields[name].text}" if name in event_type.fields else "")
        for name in event_type.required
        if name not in event.context
    )


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
    """Group the subscribed handlers. `unreachable`: event types that reach no hook, each with the reason."""
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
        own, this = _stream_of(call.hook.scope), _stream_of(node)
        return f"the hook receives {own}; this event is in {this} (ctx.agent.nodeId)"
    if role in ROLES and call.key == ALL_EVENTS:
        return f"`{ALL_EVENTS}` is not an event for a {role} module"
    if role == CHANNEL:
        return _other_channel_reason(call.name, event)
    if event.meta.get(OUTSIDE) and event.type in TERMINAL:
        return f"{event.type} from outside a turn reaches the channel and the stream, but no hook"
    return unreachable.get(event.type, "")


def node_of(event: Event) -> str:
    """Return the node id of the event's agent; empty for the root agent."""
    node = _mapping_at(event.ctx, "agent").get("nodeId")
    return node if isinstance(node, str) and node != ROOT_NODE else ""


def _stream_of(scope: str) -> str:
    return f"the stream of {scope}" if scope else "the root agent's stream"


def _other_channel_reason(name: str, event: Event) -> str:
    """Return why a channel does not receive the event; empty if it does.

    A session has one channel. Events of the built-in channel, like those fired by hand, reach all.
    """
    kind = _mapping_at(event.ctx, "channel").get("kind")
    if not isinstance(kind, str) or kind == DEFAULT_CHANNEL or name.removeprefix(CHANNELS) == kind:
        return ""
    return f"the session's channel is {kind}"


DATA = "data"
ThrowLog = Callable[[Event, Registration, Failure], LogLine]  # the host's log line about a throw
IgnoredCancelLog = Callable[[Event, Registration], LogLine]  # the host's log line about an ignored cancel


@dataclass(frozen=True, slots=True)
class FailureRule:
    """The effects of a handler's throw and of `ctx.cancel()` under one version of a host."""

    stops_event: bool  # a hook's throw fails the event, and the remaining handlers do not run
    swallowed_log: ThrowLog  # log line of a throw in a channel or resolver, the only effect
    hook_log: ThrowLog | None = None  # log line of a throw in a hook
    events_after_throw: Callable[[Event, Failure], tuple[Event, ...]] = lambda event, failure: ()
    events_after_cancel: Callable[[Event], tuple[Event, ...]] = lambda event: ()
    ignored_cancel_log: IgnoredCancelLog | None = None  # None: there is no `ctx.cancel()`


@dataclass(frozen=True, slots=True)
class SharedStreamEvent:
    """The event that all handlers share. Handlers of a channel get only its data."""

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
    """The policy of one event: return values are ignored, and changes are visible to later handlers.

    Source: Eve's guide, "Execution order" and "What happens when a hook throws".
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
