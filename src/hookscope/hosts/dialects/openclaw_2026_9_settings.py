"""Settings of OpenClaw 2026.9: schema, refusals, defaults, advice (rules-openclaw 8; cfg-02 to cfg-04)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from hookscope.hosts.dialects.catalogues import DATA_FOLDER
from hookscope.hosts.plugins.shipped_plugin_gates import BundledParts
from hookscope.hosts.settings.closed_schema import (
    EACH_KEY,
    SPECIAL_KEYS,
    UNKNOWN_KEY,
    Issue,
    issues_in,
    unknown_keys,
)
from hookscope.model.host import AgentWorkspaces
from hookscope.model.payload import mapping_or_empty
from hookscope.model.text import nearest_word

VERSION: Final = "2026_9"


@cache
def settings_shape(version: str) -> Mapping[str, Any]:
    """Return the shape of the settings of a version, as its own `config schema` prints it.

    It has only the keys that all channels share; `bundled_parts` has the others. A file with `from` holds
    only the differences from that version, as a JSON Merge Patch (RFC 7396).
    """
    shape: dict[str, Any] = json.loads((DATA_FOLDER / f"openclaw_{version}_settings.json").read_bytes())
    base = shape.pop("from", None)
    return shape if base is None else _merge_patched(settings_shape(base), shape)


def _merge_patched(base: Any, patch: Any) -> Any:
    """Return the value with the JSON Merge Patch applied. Changes neither."""
    if not isinstance(patch, dict):
        return patch
    merged = {**base} if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge_patched(merged.get(key), value)
    return merged


@cache
def bundled_parts(version: str) -> BundledParts:
    """Return the channels that a version knows, and the plugins that it has or only warns about."""
    name = f"openclaw_{version.replace('.', '_')}_bundled.json"
    return BundledParts(**json.loads((DATA_FOLDER / name).read_bytes()))


_MARKED: Final = "agents.ownership=explicit cannot be combined with a legacy default=true marker"
_TWINS: Final = (
    'agents.entries keys "{}" and "{}" resolve to the same agent id "{}"; '
    "rename one key so each agent has a unique id"
)
_OWNERS: Final = (
    'multi-agent rosters require agents.ownership="explicit" or one legacy default=true marker; '
    'add agents.ownership="explicit" or run openclaw doctor'
)


def settings_issues(settings: Mapping[str, Any]) -> tuple[Issue, ...]:
    """Return what makes the program refuse its settings: a path and a sentence for each."""
    found: list[Issue] = []
    shapes = settings_shape(VERSION)
    for name, shape in shapes.items():
        if name == "agents":
            found += _issues_of_agents(settings, shape)
        elif name in settings:
            found += issues_in(settings[name], shape, (name,))
    return (*found, *unknown_keys(settings, shapes, ()))


def older_settings_issues(version: str, settings: Mapping[str, Any]) -> tuple[Issue, ...]:
    """Return the issues of the settings under the schema of an older version."""
    return tuple(issues_in(settings, settings_shape(version), ()))


def _issues_of_agents(settings: Mapping[str, Any], shape: Mapping[str, Any]) -> Iterator[Issue]:
    """Yield the issues of the schema; if every type is right, also those of all agents together."""
    if "agents" not in settings:
        return
    agents = settings["agents"]
    found = list(issues_in(_with_entries(agents), shape, ("agents",)))
    yield from found
    if isinstance(agents, Mapping) and all(text.startswith(UNKNOWN_KEY) for _, text in found):
        yield from _issues_of_the_roster(agents)


def _issues_of_the_roster(agents: Mapping[str, Any]) -> Iterator[Issue]:
    entries = agent_entries(agents)
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
    """Convert an older file's list of agents to entries, if it is valid and there are no entries."""
    if not isinstance(agents, Mapping) or "entries" in agents or "list" not in agents:
        return agents
    listed = _listed_agents(agents["list"])
    if listed is None:
        return agents
    return {**{key: value for key, value in agents.items() if key != "list"}, "entries": listed}


def _listed_agents(rows: Any) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the agents of an older file's list by id; None if any agent in it is invalid."""
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


def agent_entries(agents: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the agents by name, from `entries` or from an older file's `list`."""
    entries = _with_entries(agents).get("entries")
    if not isinstance(entries, Mapping):
        return {}
    return {name: entry for name, entry in entries.items() if isinstance(entry, Mapping)}


def agents_in(settings: Mapping[str, Any]) -> AgentWorkspaces:
    """Return the agents. The common workspace belongs to the only agent, or to the marked default."""
    section = _section(settings, "agents")
    entries = agent_entries(section)
    marked = [name for name, entry in entries.items() if entry.get("default") is True]
    explicit = section.get("ownership") == "explicit"
    owner = marked[0] if len(marked) == 1 and not explicit else None
    if owner is None and len(entries) == 1:
        (owner,) = entries
    recorded = _section(_section(section, "defaults"), "systemAgent").get("agentId")
    chosen = recorded if explicit and recorded in entries else owner
    name = chosen or next(iter(entries), "")  # of several without a default, the first
    workspaces = {agent_id(key): entry.get("workspace") for key, entry in entries.items()}
    return AgentWorkspaces(
        {key: path if isinstance(path, str) else None for key, path in workspaces.items()},
        default=agent_id(name) if name else None,
        owner=owner and agent_id(owner),
        id_of=agent_id,
    )


def agent_id(name: str) -> str:
    """Return the agent's id, which names its folder: lower case, and dashes for other characters."""
    plain = name.strip().lower()
    if re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", plain):
        return plain
    return re.sub(r"[^a-z0-9_-]+", "-", plain).strip("-")[:64] or "main"


def loaded_settings(settings: Mapping[str, Any], *, exists: bool) -> Mapping[str, Any]:
    """Return the settings as requirements see them, with the program's defaults.

    `exists`: whether there is a settings file; without one there are fewer defaults.
    """
    agents = _section(settings, "agents")
    loaded = {
        **settings,
        "messages": {"ackReactionScope": "group-mentions", **_section(settings, "messages")},
        "agents": {
            **{key: value for key, value in agents.items() if key != "list"},
            "entries": agent_entries(agents) or {"main": {}},
            "defaults": _agent_defaults(_section(agents, "defaults")),
        },
    }
    if exists:
        native = {"native": "auto", "nativeSkills": "auto", "restart": True}
        loaded["commands"] = {**native, **_section(settings, "commands")}
    if "mainKey" in (session := _section(settings, "session")):
        loaded["session"] = {**session, "mainKey": "main"}
    return loaded


def older_loaded_settings(
    settings: Mapping[str, Any], *, exists: bool, is_oldest: bool = False
) -> Mapping[str, Any]:
    """Return `loaded_settings` as 2026.6 and 2026.7 make them, or as 2026.3 (`is_oldest`)."""
    loaded = dict(loaded_settings(settings, exists=exists))
    agents = _section(settings, "agents")
    defaults, written = dict(loaded["agents"]["defaults"]), _section(agents, "defaults")
    if is_oldest:
        limits = {"maxConcurrent": defaults["subagents"]["maxConcurrent"]}
        defaults["subagents"] = {**_section(written, "subagents"), **limits}
    else:
        defaults.pop("compaction")
        defaults.update({name: written[name] for name in ("compaction",) if name in written})
        loaded["cron"] = _section(settings, "cron")
    loaded["agents"] = {**agents, "defaults": defaults}
    if exists:
        loaded["commands"] = {"ownerDisplay": "raw", **loaded["commands"]}
    if "logging" in settings:
        loaded["logging"] = {"redactSensitive": "tools", **_section(settings, "logging")}
    return loaded


def _agent_defaults(defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    subagents, compaction = _section(defaults, "subagents"), _section(defaults, "compaction")
    return {
        **defaults,
        "maxConcurrent": defaults.get("maxConcurrent", 8),
        "subagents": {"maxConcurrent": 8, "archiveAfterMinutes": 60, **subagents},
        "compaction": {**compaction, "mode": compaction.get("mode") or "safeguard"},
    }


def _section(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return mapping_or_empty(settings.get(name))


KeySteps: TypeAlias = tuple[str | int, ...]  # of keys and indexes, as in `Issue`
_KEY: Final = r'"([^"]*)"'
_KNOWN_ADVICE: Final[Mapping[tuple[KeySteps, str], str]] = {
    (("hooks", "internal"), "handlers"): (
        "write each of these handlers as a folder with a HOOK.md (`hookscope new NAME`), "
        "and take the list out"
    ),
    (("agents",), "list"): "agents belong in agents.entries, by their ids",
}
MOST_ADVICE: Final = 20  # keys of one object
_VARIABLES: Final = "variables belong in env.vars"


def unknown_key_advice(path: KeySteps, text: str) -> str:
    """Return what to write instead of the unknown keys that `text` names; empty if `text` names none."""
    if not text.startswith(UNKNOWN_KEY):
        return ""
    steps = (_key_advice(path, key) for key in re.findall(_KEY, text)[:MOST_ADVICE])  # a search for each
    return " and ".join(dict.fromkeys(steps))


def _key_advice(path: KeySteps, key: str) -> str:
    if advice := _KNOWN_ADVICE.get((path, key)):
        return advice
    if path == ("env",) and key.isupper():
        return _VARIABLES
    closest = nearest_word(key, _known_at(path))
    return f'write "{closest}" for "{key}"' if closest else f'take "{key}" out'


def _known_at(path: KeySteps) -> Iterable[str]:
    shape: Any = settings_shape(VERSION)
    for step in path:
        if isinstance(step, int):
            shape = shape[0] if isinstance(shape, list) else None
        elif isinstance(shape, Mapping):
            shape = shape.get(step, shape.get(EACH_KEY))
        else:
            shape = None
    return set(shape) - SPECIAL_KEYS if isinstance(shape, Mapping) else ()
