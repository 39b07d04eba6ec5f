"""The settings of OpenClaw 2026.9 that a hook's author writes in: every key, and what it may hold.

Source: the schema of openclaw 2026.9.6, in its own order. What has several forms stands here as anything.
"""

from typing import Any, Final

from hookscope.systems.folders.closed_settings import EACH, NAMES, OTHERS

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
        NAMES: r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}",
        EACH: {
            **dict.fromkeys(_OF_ONE_AGENT, ""),
            **dict.fromkeys(("name", "description", "workspace", "cwd", "agentDir"), "string"),
            "skills": _TEXTS,
            "default": "boolean",
        },
    },
}
_HOOKS: Final = {
    "enabled": "boolean", "path": "string", "token": "string", "defaultSessionKey": "string",
    "allowRequestSessionKey": "boolean", "allowedSessionKeyPrefixes": _TEXTS, "allowedAgentIds": _TEXTS,
    "presets": _TEXTS, "transformsDir": "string", "mappings": "", "gmail": "",
    "internal": {
        "enabled": "boolean",
        "entries": {EACH: {"enabled": "boolean", "env": {EACH: "string"}, OTHERS: ""}},
        "load": {"extraDirs": _TEXTS},
    },
}  # fmt: skip
_PLUGINS: Final = {
    "enabled": "boolean", "allow": _TEXTS, "deny": _TEXTS, "load": {"paths": _TEXTS},
    "slots": {"memory": "string", "contextEngine": "string"},
    "entries": {
        EACH: {
            "enabled": "boolean",
            "hooks": {
                "allowPromptInjection": "boolean", "allowConversationAccess": "boolean",
                "timeoutMs": "number", "timeouts": {EACH: "number"},
            },
            "subagent": {"allowModelOverride": "boolean", "allowedModels": _TEXTS},
            "llm": {
                "allowModelOverride": "boolean", "allowedModels": _TEXTS, "allowedCompletionModels": _TEXTS,
                "allowAuthProfileOverride": "boolean", "allowAgentIdOverride": "boolean",
            },
            "config": {EACH: ""},
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
        EACH: {"enabled": "boolean", "apiKey": "", "env": {EACH: "string"}, "config": {EACH: ""}}
    },
}  # fmt: skip
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "string",
    "env": {"shellEnv": {"enabled": "boolean", "timeoutMs": "number"}, "vars": {EACH: "string"}},
    "browser": {"enabled": "boolean", "evaluateEnabled": "boolean", OTHERS: ""},
    "agents": AGENTS,
    "commands": _COMMANDS,
    "hooks": _HOOKS,
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
"""All keys that may stand at the top; one more, and nothing of the file is read."""
