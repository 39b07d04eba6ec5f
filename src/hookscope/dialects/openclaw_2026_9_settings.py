"""What OpenClaw 2026.9 makes of its settings: what it refuses, and what it fills in.

Source: openclaw 2026.9.6, asked with settings of every kind; rules-openclaw section 8 (cfg-02 to cfg-04).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookscope.core.rules import Agents
from hookscope.systems.folders.closed_settings import (
    Issue,
    hooks_settings_issues,
    unknown_keys,
    wrong_type,
)

SECTIONS: Final = frozenset({
    "$schema", "accessGroups", "acp", "agents", "approvals", "attachments", "auth", "bindings", "broadcast",
    "browser", "channels", "cloudWorkers", "commands", "cron", "desktop", "diagnostics", "discovery", "env",
    "gateway", "hooks", "logging", "mcp", "memory", "messages", "meta", "models", "nodeHost", "plugins",
    "proxy", "secrets", "security", "session", "skills", "surfaces", "talk", "telemetry", "tools",
    "transcripts", "tts", "ui", "update", "wizard", "worktreeAcceleration", "worktreeRoot",
})  # fmt: skip
"""All keys that may stand at the top; one more, and nothing of the file is read."""
_OF_HOOKS: Final = (
    "allowRequestSessionKey", "allowedAgentIds", "allowedSessionKeyPrefixes", "defaultSessionKey", "enabled",
    "gmail", "internal", "mappings", "path", "presets", "token", "transformsDir",
)  # fmt: skip
_OF_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "agents": ("ownership", "defaults", "entries"),
    "commands": (
        "allowFrom", "bash", "bashForegroundMs", "config", "debug", "mcp", "native", "nativeSkills",
        "ownerAllowFrom", "plugins", "restart", "text",
    ),
    "env": ("shellEnv", "vars"),
    "hooks": _OF_HOOKS,
    "plugins": ("allow", "deny", "enabled", "entries", "load", "slots"),
    "skills": ("allowBundled", "entries", "install", "limits", "load", "workshop"),
}  # fmt: skip
"""Those sections that a hook's author writes in, with all their keys."""
_OWNERS: Final = (
    'multi-agent rosters require agents.ownership="explicit" or one legacy default=true marker; '
    'add agents.ownership="explicit" or run openclaw doctor'
)


def issues(settings: Mapping[str, Any]) -> tuple[Issue, ...]:
    """What makes the program refuse its settings: a path and a sentence for each."""
    return (
        *_issues_of_agents(settings.get("agents")),
        *hooks_settings_issues(settings, ("hooks", "internal")),
        *(
            issue
            for name, known in _OF_SECTIONS.items()
            if isinstance(section := settings.get(name), Mapping)
            for issue in unknown_keys(_without_list(section) if name == "agents" else section, known, (name,))
        ),
        *unknown_keys(settings, SECTIONS, ()),
    )


def _issues_of_agents(agents: Any) -> Iterator[Issue]:
    if not isinstance(agents, Mapping):
        if agents is not None:
            yield wrong_type("object", agents, ("agents",))
        return
    if "entries" in agents and not isinstance(agents["entries"], Mapping):
        yield wrong_type("record", agents["entries"], ("agents", "entries"))
        return
    entries = entries_of(agents)
    marked = sum(entry.get("default") is True for entry in entries.values())
    if len(entries) > 1 and marked != 1 and agents.get("ownership") != "explicit":
        yield ("agents", "ownership"), _OWNERS


def _without_list(agents: Mapping[str, Any]) -> Mapping[str, Any]:
    """An older file's list of agents is taken, where there is nothing newer beside it."""
    older = "entries" not in agents and isinstance(agents.get("list"), list)
    return {key: value for key, value in agents.items() if key != "list"} if older else agents


def entries_of(agents: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The agents by their names, from `entries` or from an older file's `list`."""
    if isinstance(agents.get("entries"), Mapping):
        named = agents["entries"].items()
    else:
        listed = agents.get("list")
        rows = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []
        named = [(row.get("id"), row) for row in rows]
    return {name: entry for name, entry in named if isinstance(name, str) and isinstance(entry, Mapping)}


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
        {_agent_id(name): path if isinstance(path, str) else None for name, path in workspaces.items()},
        chosen=_agent_id(chosen or next(iter(entries), "")) or None,  # of several, none: the first
        owner=owner and _agent_id(owner),
    )


def _agent_id(name: str) -> str:
    """As folders are named by it: small letters, and dashes for all else."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.strip().lower()).strip("-")[:64]


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
