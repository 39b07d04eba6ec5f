"""Settings of OpenClaw 2026.9: schema, refusals, defaults, advice (rules-openclaw 8; cfg-02 to cfg-04)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from hookscope.hosts.settings.closed_schema import (
    EACH_KEY,
    KEY_PATTERN,
    OTHER_KEYS,
    UNKNOWN_KEY,
    Issue,
    issues_in,
    unknown_keys,
)
from hookscope.model.host import AgentWorkspaces
from hookscope.model.text import nearest_word

_TEXTS: Final = ["string"]
_ANY_OF_AGENTS: Final = (
    "params", "model", "modelSelectionScope", "utilityModel", "decisionModel", "imageModel", "mediaModels",
    "voiceModel", "pdfModel", "pdfMaxMb", "pdfMaxPages", "models", "modelPolicy", "workspace", "cwd",
    "skills",
    "silentReply", "repoRoot", "skipBootstrap", "skipOptionalBootstrapFiles", "contextInjection",
    "bootstrapMaxChars", "bootstrapTotalMaxChars", "experimental", "userTimezone", "startupContext",
    "contextPruning", "compaction", "embeddedAgent", "thinkingDefault", "fastModeDefault", "verboseDefault",
    "toolProgressDetail", "reasoningDefault", "elevatedDefault", "blockStreamingDefault",
    "blockStreamingBreak",
    "timeoutSeconds", "mediaMaxMb", "imageMaxDimensionPx", "imageQuality", "typingIntervalSeconds",
    "systemAgent", "authInheritance", "sessionStore", "maxConcurrent", "subagents", "contextLimits",
    "blockStreamingChunk", "blockStreamingCoalesce", "humanDelay", "typingMode", "heartbeat", "sandbox",
)  # fmt: skip
_OF_ONE_AGENT: Final = (
    "name", "description", "workspace", "cwd", "agentDir", "model", "utilityModel", "decisionModel", "models",
    "modelPolicy", "thinkingDefault", "verboseDefault", "toolProgressDetail", "reasoningDefault",
    "fastModeDefault", "contextInjection", "bootstrapMaxChars", "bootstrapTotalMaxChars", "experimental",
    "skills", "subagents", "embeddedAgent", "params", "runtime", "memory", "humanDelay", "typingMode", "tts",
    "skillsLimits", "contextLimits", "heartbeat", "identity", "groupChat", "sandbox", "tools", "default",
)  # fmt: skip
AGENTS: Final[dict[str, Any]] = {
    "ownership": ("explicit",),
    "defaults": {
        **dict.fromkeys(_ANY_OF_AGENTS, ""),
        **dict.fromkeys(("workspace", "cwd", "repoRoot", "userTimezone", "utilityModel"), "string"),
        "systemAgent": {"agentId": "string"},
        "authInheritance": {"agentId": "string"},
        "sessionStore": {"agentId": "string"},
        "skills": _TEXTS,
        "skipBootstrap": "boolean",
    },
    "entries": {
        KEY_PATTERN: r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}",
        EACH_KEY: {
            **dict.fromkeys(_OF_ONE_AGENT, ""),
            **dict.fromkeys(("name", "description", "workspace", "cwd", "agentDir"), "string"),
            "skills": _TEXTS,
            "default": "boolean",
        },
    },
}
HOOKS: Final = {
    "enabled": "boolean", "path": "string", "token": "string", "defaultSessionKey": "string",
    "allowRequestSessionKey": "boolean", "allowedSessionKeyPrefixes": _TEXTS, "allowedAgentIds": _TEXTS,
    "presets": _TEXTS, "transformsDir": "string", "mappings": "", "gmail": "",
    "internal": {
        "enabled": "boolean",
        "entries": {EACH_KEY: {"enabled": "boolean", "env": {EACH_KEY: "string"}, OTHER_KEYS: ""}},
        "load": {"extraDirs": _TEXTS},
    },
}  # fmt: skip
_PLUGINS: Final = {
    "enabled": "boolean", "allow": _TEXTS, "deny": _TEXTS, "load": {"paths": _TEXTS},
    "slots": {"memory": "string", "contextEngine": "string"},
    "entries": {
        EACH_KEY: {
            "enabled": "boolean",
            "hooks": {
                "allowPromptInjection": "boolean", "allowConversationAccess": "boolean",
                "timeoutMs": "number", "timeouts": {EACH_KEY: "number"},
            },
            "subagent": {"allowModelOverride": "boolean", "allowedModels": _TEXTS},
            "llm": {
                "allowModelOverride": "boolean", "allowedModels": _TEXTS, "allowedCompletionModels": _TEXTS,
                "allowAuthProfileOverride": "boolean", "allowAgentIdOverride": "boolean",
            },
            "config": {EACH_KEY: ""},
        }
    },
}  # fmt: skip
_COMMANDS: Final = {
    "native": "", "nativeSkills": "", "text": "boolean", "bash": "boolean", "bashForegroundMs": "number",
    "config": "boolean", "mcp": "boolean", "plugins": "boolean", "debug": "boolean", "restart": "boolean",
    "ownerAllowFrom": "", "allowFrom": "",
}  # fmt: skip
_SKILLS: Final = {
    "allowBundled": _TEXTS, "load": "", "install": "", "limits": "", "workshop": "",
    "entries": {
        EACH_KEY: {"enabled": "boolean", "apiKey": "", "env": {EACH_KEY: "string"}, "config": {EACH_KEY: ""}}
    },
}  # fmt: skip
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "string",
    "env": {"shellEnv": {"enabled": "boolean", "timeoutMs": "number"}, "vars": {EACH_KEY: "string"}},
    "browser": {"enabled": "boolean", "evaluateEnabled": "boolean", OTHER_KEYS: ""},
    "agents": AGENTS,
    "commands": _COMMANDS,
    "hooks": HOOKS,
    "skills": _SKILLS,
    "plugins": _PLUGINS,
}
_OTHER_SECTIONS: Final = (
    "accessGroups", "acp", "approvals", "attachments", "auth", "bindings", "broadcast", "channels",
    "cloudWorkers", "cron", "desktop", "diagnostics", "discovery", "gateway", "logging", "mcp", "memory",
    "messages", "meta", "models", "nodeHost", "proxy", "secrets", "security", "session", "surfaces", "talk",
    "telemetry", "tools", "transcripts", "tts", "ui", "update", "wizard", "worktreeAcceleration",
    "worktreeRoot",
)  # fmt: skip
SECTIONS: Final = frozenset((*SCHEMA, *_OTHER_SECTIONS))
"""All keys allowed at the top. With any other key the file is not read."""


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
    for name, shape in SCHEMA.items():
        if name == "agents":
            found += _issues_of_agents(settings)
        elif name in settings:
            found += issues_in(settings[name], shape, (name,))
    return (*found, *unknown_keys(settings, SECTIONS, ()))


def _issues_of_agents(settings: Mapping[str, Any]) -> Iterator[Issue]:
    """Yield the issues of the schema; if every type is right, also those of all agents together."""
    if "agents" not in settings:
        return
    agents = settings["agents"]
    found = list(issues_in(_with_entries(agents), AGENTS, ("agents",)))
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
    """Return the agents of such a list by id; None if one is invalid, which invalidates the list."""
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
    """Return the agents, and the owner of the common workspace: the only or the marked one."""
    section = _section(settings, "agents")
    entries = agent_entries(section)
    marked = [name for name, entry in entries.items() if entry.get("default") is True]
    explicit = section.get("ownership") == "explicit"
    owner = marked[0] if len(marked) == 1 and not explicit else None
    if owner is None and len(entries) == 1:
        (owner,) = entries
    recorded = _section(_section(section, "defaults"), "systemAgent").get("agentId")
    chosen = recorded if explicit and recorded in entries else owner
    workspaces = {name: entry.get("workspace") for name, entry in entries.items()}
    return AgentWorkspaces(
        {agent_id(name): path if isinstance(path, str) else None for name, path in workspaces.items()},
        default=agent_id(name)
        if (name := chosen or next(iter(entries), ""))
        else None,  # of several without a default, the first
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


def _agent_defaults(defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    subagents, compaction = _section(defaults, "subagents"), _section(defaults, "compaction")
    return {
        **defaults,
        "maxConcurrent": _number(defaults.get("maxConcurrent"), 8),
        "subagents": {
            **subagents,
            "maxConcurrent": _number(subagents.get("maxConcurrent"), 8),
            "archiveAfterMinutes": _number(subagents.get("archiveAfterMinutes"), 60),
        },
        "compaction": {**compaction, "mode": compaction.get("mode") or "safeguard"},
    }


def _number(value: Any, default: int) -> Any:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if fits else default


def _section(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = settings.get(name)
    return value if isinstance(value, Mapping) else {}


KeySteps: TypeAlias = tuple[str | int, ...]  # of keys and indexes, as in `Issue`
_KEY: Final = re.compile(r'"([^"]*)"')
_KNOWN_ADVICE: Final[Mapping[tuple[KeySteps, str], str]] = {
    (("hooks", "internal"), "handlers"): (
        "write each of these handlers as a folder with a HOOK.md (`hookscope new NAME`), "
        "and take the list out"
    ),
    (("agents",), "list"): "agents belong in agents.entries, by their ids",
}
_VARIABLES: Final = "variables belong in env.vars"


def unknown_key_advice(path: KeySteps, text: str) -> str:
    """Return what to write instead of the unknown keys in a sentence; empty for other sentences."""
    if not text.startswith(UNKNOWN_KEY):
        return ""
    steps = (_key_advice(path, key) for key in _KEY.findall(text))
    return " and ".join(dict.fromkeys(steps))


def _key_advice(path: KeySteps, key: str) -> str:
    if advice := _KNOWN_ADVICE.get((path, key)):
        return advice
    if path == ("env",) and key.isupper():
        return _VARIABLES
    closest = nearest_word(key, _known_at(path))
    return f'write "{closest}" for "{key}"' if closest else f'take "{key}" out'


def _known_at(path: KeySteps) -> Iterable[str]:
    """Return the keys allowed at a path."""
    if not path:
        return SECTIONS
    shape: Any = SCHEMA
    for step in path:
        if isinstance(step, int):
            shape = shape[0] if isinstance(shape, list) else None
        elif isinstance(shape, Mapping):
            shape = shape.get(step, shape.get(EACH_KEY))
        else:
            shape = None
    return set(shape) - {EACH_KEY, KEY_PATTERN, OTHER_KEYS} if isinstance(shape, Mapping) else ()
