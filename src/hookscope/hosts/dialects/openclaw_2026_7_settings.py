"""Settings of OpenClaw 2026.7 and 2026.3: what makes these programs refuse them.

Source: `openclaw config schema` of 2026.7.35 and 2026.3.31. Other sections are known by name alone.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from hookscope.hosts.dialects.openclaw_2026_9_settings import HOOKS, SECTIONS
from hookscope.hosts.settings.closed_schema import (
    EACH_KEY,
    OTHER_KEYS,
    REQUIRED_KEYS,
    Issue,
    issues_in,
    unknown_keys,
)

_TEXTS: Final = ["string"]
_INTERNAL: Final = {
    "enabled": "boolean",
    "entries": {EACH_KEY: {"enabled": "boolean", "env": {EACH_KEY: "string"}, OTHER_KEYS: ""}},
    "load": {"extraDirs": _TEXTS},
    "handlers": [
        {"event": "string", "module": "string", "export": "string", REQUIRED_KEYS: ("event", "module")}
    ],
    "installs": {EACH_KEY: {OTHER_KEYS: ""}},
}
_PLUGIN_ENTRY: Final = {
    "enabled": "boolean",
    "hooks": {"allowPromptInjection": "boolean"},
    "subagent": {"allowModelOverride": "boolean", "allowedModels": _TEXTS},
    "config": {EACH_KEY: ""},
}
_PLUGINS: Final = {
    "enabled": "boolean", "allow": _TEXTS, "deny": _TEXTS, "load": {"paths": _TEXTS},
    "slots": {"memory": "string", "contextEngine": "string"}, "entries": {EACH_KEY: _PLUGIN_ENTRY},
    "installs": "",
}  # fmt: skip
SCHEMA_2026_3: Final[Mapping[str, Any]] = {
    "$schema": "string",
    "env": {"shellEnv": {OTHER_KEYS: ""}, "vars": {EACH_KEY: "string"}, OTHER_KEYS: "string"},
    "browser": {"enabled": "boolean", "evaluateEnabled": "boolean", OTHER_KEYS: ""},
    "agents": {
        "defaults": {OTHER_KEYS: ""},
        "list": [{"id": "string", OTHER_KEYS: "", REQUIRED_KEYS: ("id",)}],
    },
    "hooks": {**HOOKS, "maxBodyBytes": "number", "internal": _INTERNAL},
    "plugins": _PLUGINS,
}
SCHEMA_2026_7: Final[Mapping[str, Any]] = {
    **SCHEMA_2026_3,
    "plugins": {
        **_PLUGINS,
        "bundledDiscovery": ("compat", "allowlist"),
        "entries": {
            EACH_KEY: {
                **_PLUGIN_ENTRY,
                "hooks": {
                    "allowPromptInjection": "boolean", "allowConversationAccess": "boolean",
                    "timeoutMs": "number", "timeouts": {EACH_KEY: "number"},
                },
                "llm": {
                    "allowModelOverride": "boolean", "allowedModels": _TEXTS,
                    "allowAgentIdOverride": "boolean",
                },
            }
        },
    },
}  # fmt: skip
_LATER: Final = {
    "attachments", "cloudWorkers", "desktop", "telemetry", "tts", "worktreeAcceleration", "worktreeRoot",
}  # fmt: skip
SECTIONS_2026_7: Final = (SECTIONS - _LATER) | {
    "audio", "audit", "cli", "commitments", "crestodian", "marketplaces", "media", "tui", "web",
}  # fmt: skip
SECTIONS_2026_3: Final = (
    SECTIONS - _LATER - {"accessGroups", "proxy", "security", "surfaces", "transcripts"}
) | {"audio", "canvasHost", "cli", "media", "web"}


def issues_2026_7(settings: Mapping[str, Any]) -> tuple[Issue, ...]:
    """Return what makes 2026.7 refuse its settings: a path and a sentence for each."""
    return tuple(_issues(settings, SCHEMA_2026_7, SECTIONS_2026_7))


def issues_2026_3(settings: Mapping[str, Any]) -> tuple[Issue, ...]:
    """As `issues_2026_7`, of 2026.3."""
    return tuple(_issues(settings, SCHEMA_2026_3, SECTIONS_2026_3))


def _issues(
    settings: Mapping[str, Any], schema: Mapping[str, Any], sections: Collection[str]
) -> Iterator[Issue]:
    named = (issues_in(settings[name], schema[name], (name,)) for name in schema if name in settings)
    return chain(chain.from_iterable(named), unknown_keys(settings, sections, ()))
