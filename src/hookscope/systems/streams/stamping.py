"""An event as it is fired: its envelope, and the plain members of the context that handlers get."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.event import iso
from hookscope.core.runs import Event
from hookscope.systems.streams.arranging import DEFAULT_CHANNEL, node_of
from hookscope.systems.streams.sources import stem_of
from hookscope.values import dataclass

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
FIRST_TURN = "turn_0"
LARGEST = 1_048_576  # bytes of a package.json that are read


@dataclass(frozen=True, slots=True)
class ContextRule:
    """What of an event and of its session a version of the host hands to its handlers."""

    ids: bool = True  # is an event stamped with an id
    shows_envelope: bool = True  # do handlers find `meta` on the event, or only readers of the record
    dataless: frozenset[str] = frozenset()  # events that reach hooks without `data`, where there is none
    session: tuple[str, ...] = ("id",)  # members of ctx.session
    methods: tuple[str, ...] = ()  # functions that ctx has


def prepared(event: Event, host: Host, entropy: bytes, rule: ContextRule) -> Event:
    """The event with a fresh envelope, and its `ctx` filled in where the event says nothing itself.

    `entropy` is 16 random bytes. Source: eve 17, rules note 3.4 and 3.5.
    """
    stamp: dict[str, Any] = {"id": "evt_" + ulid(event.timestamp, entropy)} if rule.ids else {}
    stamp["at"] = iso(event.timestamp)
    context = {
        "agent": _agent(event, host),
        "channel": {"kind": DEFAULT_CHANNEL, "continuationToken": _session_id(event)},
        "session": _session(event, rule),
    }
    given = event.ctx
    ctx = {**given, **{name: {**made, **_members(given, name)} for name, made in context.items()}}
    return replace(event, meta={**event.meta, **stamp}, ctx=ctx)


def _members(ctx: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    members = ctx.get(name)
    return members if isinstance(members, Mapping) else {}


def _agent(event: Event, host: Host) -> dict[str, Any]:
    node = node_of(event)
    if node:
        last = node.rpartition("/")[2]
        return {"name": stem_of(last) or last, "nodeId": node}
    return {"name": project_name(host)}


def project_name(host: Host) -> str:
    """The name in the project's package.json without its scope, else that of its folder."""
    try:
        told = json.loads(host.surroundings.files.read(host.workspace / "package.json", LARGEST))
    except (OSError, ValueError, RecursionError):
        told = None
    name = told.get("name") if isinstance(told, dict) else None
    return name.rpartition("/")[2] if isinstance(name, str) and name else host.workspace.name


def _session(event: Event, rule: ContextRule) -> dict[str, Any]:
    known: dict[str, Any] = {
        "id": _session_id(event),
        "auth": {"current": None, "initiator": None},
        "turn": turn_of(event),
    }
    return {name: known.get(name) for name in rule.session}


def _session_id(event: Event) -> str:
    session = _members(event.ctx, "session").get("id")
    return session if isinstance(session, str) else event.session_key


def turn_of(event: Event) -> dict[str, Any]:
    """The turn that an event belongs to: the one it names, else the first."""
    turn, sequence = event.context.get("turnId"), event.context.get("sequence")
    return {"id": FIRST_TURN if turn is None else turn, "sequence": 0 if sequence is None else sequence}


def ulid(moment: datetime, entropy: bytes) -> str:
    """26 letters that sort by time: 48 bits of milliseconds, then 80 of the random bytes."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    milliseconds = max(0, int(aware.timestamp() * 1000)) % (1 << 48)
    number = (milliseconds << 80) | int.from_bytes(entropy[:10], "big")
    return "".join(CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))
