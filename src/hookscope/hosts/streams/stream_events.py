"""Stream events: checked and stamped before they fire, and those that follow a throw or a cancel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hookscope.hosts.streams.module_folders import stem_of_module
from hookscope.hosts.streams.stream_policy import DEFAULT_CHANNEL, OUTSIDE, node_of
from hookscope.model.event_catalogue import Catalogue
from hookscope.model.hook_event import iso
from hookscope.model.host import Host
from hookscope.model.run import Event
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
    """Return the event with a new envelope, and with the missing members of `ctx`.

    `entropy` is 16 random bytes. Source: eve 17, rules note 3.4 and 3.5.
    """
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
    members = ctx.get(name)
    return members if isinstance(members, Mapping) else {}


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
    """Return 26 letters that sort by time: 48 bits of milliseconds, then 80 of the random bytes."""
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
    """Return the `session.failed` event.

    `outside`: written outside any turn, so that no hook receives it.
    """
    data = {"sessionId": _id_of_session(event), "code": code, "message": message}
    return following_event(event, "session.failed", data, **({OUTSIDE: True} if outside else {}))


def session_waiting(event: Event, *, token: bool) -> Event:
    """Return the `session.waiting` event.

    `token`: with its continuation token, unlike older versions.
    """
    data = {"wait": "next-user-message"}
    if token:
        channel = event.ctx.get("channel")
        channel_token = channel.get("continuationToken") if isinstance(channel, Mapping) else None
        data["continuationToken"] = channel_token if isinstance(channel_token, str) else _id_of_session(event)
    return following_event(event, "session.waiting", data)


def _turn(event: Event) -> dict[str, Any]:
    turn = turn_of(event)
    return {"turnId": turn["id"], "sequence": turn["sequence"]}


def _id_of_session(event: Event) -> str:
    session = event.ctx.get("session")
    known = session.get("id") if isinstance(session, Mapping) else None
    return known if isinstance(known, str) else event.session_key


def event_problems(event: Event, catalogue: Catalogue) -> tuple[str, ...]:
    """Return a sentence for an unknown type, and one for each missing required field of the data."""
    event_type = catalogue.by_key.get(event.type)
    if event_type is None or event_type.kind != "stream":
        closest = catalogue.nearest(event.type)
        return (
            f"{event.type} is no event of this stream" + (f"; did you mean {closest}?" if closest else ""),
        )
    return tuple(
        f"{event.type} has no `{name}` in its data"
        + (f": {event_type.fields[name].text}" if name in event_type.fields else "")
        for name in event_type.required
        if name not in event.context
    )
