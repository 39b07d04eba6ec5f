"""What OpenClaw 2026.9 makes of its settings: what it refuses, and what it fills in.

Source: openclaw 2026.9.6, asked with settings of every kind; rules-openclaw section 8 (cfg-02 to cfg-04).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookscope.core.rules import Agents
from hookscope.dialects.openclaw_2026_9_schema import AGENTS, SCHEMA, SECTIONS
from hookscope.systems.folders.closed_settings import UNKNOWN, Issue, issues_in, unknown_keys

_MARKED: Final = "agents.ownership=explicit cannot be combined with a legacy default=true marker"
_TWINS: Final = (
    'agents.entries keys "{}" and "{}" resolve to the same agent id "{}"; '
    "rename one key so each agent has a unique id"
)
_OWNERS: Final = (
    'multi-agent rosters require agents.ownership="explicit" or one legacy default=true marker; '
    'add agents.ownership="explicit" or run openclaw doctor'
)


def issues(settings: Mapping[str, Any]) -> tuple[Issue, ...]:
    """What makes the program refuse its settings: a path and a sentence for each."""
    found: list[Issue] = []
    for name, shape in SCHEMA.items():
        if name == "agents":
            found += _issues_of_agents(settings)
        elif name in settings:
            found += issues_in(settings[name], shape, (name,))
    return (*found, *unknown_keys(settings, SECTIONS, ()))


def _issues_of_agents(settings: Mapping[str, Any]) -> Iterator[Issue]:
    """Those of its schema; then, where every type is right, what it says of the agents as a whole."""
    if "agents" not in settings:
        return
    agents = settings["agents"]
    found = list(issues_in(_with_entries(agents), AGENTS, ("agents",)))
    yield from found
    if isinstance(agents, Mapping) and all(text.startswith(UNKNOWN) for _, text in found):
        yield from _issues_of_the_roster(agents)


def _issues_of_the_roster(agents: Mapping[str, Any]) -> Iterator[Issue]:
    entries = entries_of(agents)
    where = ("agents", "entries")
    explicit = agents.get("ownership") == "explicit"
    if not entries and (explicit or ("list" in agents and "entries" not in _with_entries(agents))):
        yield where, "agents.entries must contain at least one configured agent"
    first: dict[str, str] = {}
    for key in entries:
        other = first.setdefault(agent_id(key), key)
        if other != key:
            yield (*where, key), _TWINS.format(other, key, agent_id(key))
    marked = sum(entry.get("default") is True for entry in entries.values())
    if marked > 1:
        yield where, f"agents.entries must contain at most one default=true entry (found {marked})"
    if explicit and marked:
        yield ("agents", "ownership"), _MARKED
    if len(entries) > 1 and not marked and not explicit:
        yield ("agents", "ownership"), _OWNERS


def _with_entries(agents: Any) -> Any:
    """An older file's list of agents is taken where nothing newer is beside it and nothing wrong in it."""
    if not isinstance(agents, Mapping) or "entries" in agents or "list" not in agents:
        return agents
    listed = _listed(agents["list"])
    if listed is None:
        return agents
    return {**{key: value for key, value in agents.items() if key != "list"}, "entries": listed}


def _listed(rows: Any) -> Mapping[str, Mapping[str, Any]] | None:
    """The agents of such a list by their ids; None where one of them is none, and so nobody counts."""
    if not isinstance(rows, list):
        return None
    agents: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        name = row.get("id") if isinstance(row, Mapping) else None
        if not isinstance(name, str) or not name or agent_id(name) != name or name in agents:
            return None
        if not isinstance(row.get("default", False), bool):
            return None
        agents[name] = {key: value for key, value in row.items() if key != "id"}
    return agents


def entries_of(agents: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The agents by their names, from `entries` or from an older file's `list`."""
    entries = _with_entries(agents).get("entries")
    if not isinstance(entries, Mapping):
        return {}
    return {name: entry for name, entry in entries.items() if isinstance(entry, Mapping)}


def agents_in(settings: Mapping[str, Any]) -> Agents:
    """The agents, and whose workspace is the common one: the only one, or the one that is marked."""
    section = _section(settings, "agents")
    entries = entries_of(section)
    marked = [name for name, entry in entries.items() if entry.get("default") is True]
    explicit = section.get("ownership") == "explicit"
    owner = marked[0] if len(marked) == 1 and not explicit else None
    if owner is None and len(entries) == 1:
        (owner,) = entries
    recorded = _section(_section(section, "defaults"), "systemAgent").get("agentId")
    chosen = recorded if explicit and recorded in entries else owner
    workspaces = {name: entry.get("workspace") for name, entry in entries.items()}
    return Agents(
        {agent_id(name): path if isinstance(path, str) else None for name, path in workspaces.items()},
        chosen=agent_id(name)
        if (name := chosen or next(iter(entries), ""))
        else None,  # of several, none: the first
        owner=owner and agent_id(owner),
    )


def agent_id(name: str) -> str:
    """As folders are named by it: small letters, and dashes for all else."""
    plain = name.strip().lower()
    if re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", plain):
        return plain
    return re.sub(r"[^a-z0-9_-]+", "-", plain).strip("-")[:64] or "main"


def as_loaded(settings: Mapping[str, Any], *, exists: bool) -> Mapping[str, Any]:
    """The settings as its requirements see them, with all that the program fills in by itself.

    `exists`: whether there is a file; without one it fills in less.
    """
    agents = _section(settings, "agents")
    loaded = {
        **settings,
        "messages": {"ackReactionScope": "group-mentions", **_section(settings, "messages")},
        "agents": {
            **{key: value for key, value in agents.items() if key != "list"},
            "entries": entries_of(agents) or {"main": {}},
            "defaults": _agent_defaults(_section(agents, "defaults")),
        },
    }
    if exists:
        native = {"native": "auto", "nativeSkills": "auto", "restart": True}
        loaded["commands"] = {**native, **_section(settings, "commands")}
    if "mainKey" in (session := _section(settings, "session")):
        loaded["session"] = {**session, "mainKey": "main"}
    return loaded


def _agent_defaults(given: Mapping[str, Any]) -> Mapping[str, Any]:
    subagents, compaction = _section(given, "subagents"), _section(given, "compaction")
    return {
        **given,
        "maxConcurrent": _number(given.get("maxConcurrent"), 8),
        "subagents": {
            **subagents,
            "maxConcurrent": _number(subagents.get("maxConcurrent"), 8),
            "archiveAfterMinutes": _number(subagents.get("archiveAfterMinutes"), 60),
        },
        "compaction": {**compaction, "mode": compaction.get("mode") or "safeguard"},
    }


def _number(value: Any, otherwise: int) -> Any:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if fits else otherwise


def _section(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = settings.get(name)
    return value if isinstance(value, Mapping) else {}
