"""Who is called for one event, in which order, and who heard it and is not called.

Channel, record, typed hooks, `*` hooks, dynamic resolvers (rules note 3.4; recorded in eve 03 and 20).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from hookscope.core.dialect import Arranged
from hookscope.core.event_types import EVERY
from hookscope.core.runs import Event, Group, NotRun, Registration

# In an event's `meta`: it was written from outside a turn. Never part of what handlers get.
OUTSIDE = "outside"
TERMINAL = ("session.failed", "session.completed")
ROOT_NODE = "__root__"  # how a host may call its root agent
CHANNEL, DYNAMIC = "channel", "dynamic"
ROLES = (CHANNEL, DYNAMIC)
CHANNELS = "channels/"  # heads the name of a channel's module
DEFAULT_CHANNEL = "http"  # the kind of the built-in one, which events fired by hand have


def arranged(event: Event, heard: Sequence[Registration], unheard: Mapping[str, str]) -> Arranged:
    """Those that heard the event in their groups. `unheard`: event types that reach no hook, and why."""
    left_out = {call: reason for call in heard if (reason := _why_left_out(call, event, unheard))}
    called = [call for call in heard if call not in left_out]
    return Arranged(
        tuple(_groups(called)),
        tuple(NotRun(call.name, reason, call.hook) for call, reason in left_out.items()),
    )


def _groups(called: Sequence[Registration]) -> Iterator[Group]:
    of: Mapping[str, Callable[[Registration], bool]] = {
        CHANNEL: lambda call: role_of(call) == CHANNEL,
        "typed": lambda call: role_of(call) not in ROLES and call.key != EVERY,
        EVERY: lambda call: role_of(call) not in ROLES and call.key == EVERY,
        DYNAMIC: lambda call: role_of(call) == DYNAMIC,
    }
    for label, belongs in of.items():
        calls = tuple(call for call in called if belongs(call))
        if calls:
            yield Group(calls, after_record=label != CHANNEL, label=label)


def role_of(call: Registration) -> str:
    """Empty for a plain hook and for what was registered by code."""
    return call.hook.role if call.hook is not None else ""


def _why_left_out(call: Registration, event: Event, unheard: Mapping[str, str]) -> str:
    role, node = role_of(call), node_of(event)
    if call.hook is not None and call.hook.scope != node:
        return f"it hears {_stream_of(call.hook.scope)}; this is {_stream_of(node)} (ctx.agent.nodeId)"
    if role in ROLES and call.key == EVERY:
        return f"`{EVERY}` is no event to a {role} module"
    if role == CHANNEL:
        return _why_another_channel(call.name, event)
    if event.meta.get(OUTSIDE) and event.type in TERMINAL:
        return f"{event.type} written from outside a turn reaches the channel and the stream, and no hook"
    return unheard.get(event.type, "")


def node_of(event: Event) -> str:
    """The node id of the agent whose event it is; empty for the root agent."""
    agent = event.ctx.get("agent")
    node = agent.get("nodeId") if isinstance(agent, Mapping) else None
    return node if isinstance(node, str) and node != ROOT_NODE else ""


def _stream_of(scope: str) -> str:
    return f"the stream of {scope}" if scope else "the root agent's stream"


def _why_another_channel(name: str, event: Event) -> str:
    """A session has one channel. An event of the built-in one is tried on all: so are those fired by hand."""
    channel = event.ctx.get("channel")
    kind = channel.get("kind") if isinstance(channel, Mapping) else None
    if not isinstance(kind, str) or kind == DEFAULT_CHANNEL or name.removeprefix(CHANNELS) == kind:
        return ""
    return f"the session's channel is {kind}"
