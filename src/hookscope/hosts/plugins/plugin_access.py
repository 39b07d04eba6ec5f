"""What a user allows a plugin's hooks: their time limits, and the events that they may receive."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hookscope.formats.positions import KeyPath
from hookscope.model.hook import Folder
from hookscope.model.host import Host
from hookscope.values import dataclass

ENTRIES: KeyPath = ("plugins", "entries")
# Source: rules-openclaw section 6, "Nine conversation hooks"; the list follows its documentation.
CONVERSATION_EVENTS = (
    "before_model_resolve",
    "agent_turn_prepare",
    "before_prompt_build",
    "before_agent_reply",
    "before_agent_run",
    "llm_input",
    "llm_output",
    "before_agent_finalize",
    "agent_end",
)
PROMPT_INJECTION_EVENTS = ("agent_turn_prepare", "before_prompt_build", "heartbeat_prompt_contribution")
MAX_TIMEOUT_MS = 600_000  # milliseconds


@dataclass(frozen=True, slots=True)
class PluginAccess:
    """A plugin's limits, as Metadata has them, and why it does not receive an event."""

    limits: Mapping[str, float] = field(default_factory=dict)  # seconds by event; `run`: all others
    excluded_events: Mapping[str, str] = field(default_factory=dict)


def access_of(plugin: str, folder: Folder, host: Host) -> PluginAccess:
    """Return the access in the plugin's entry: `hooks.timeouts`, `hooks.timeoutMs`, `allow…`.

    Conversation events reach a plugin that does not ship with the host only if that is explicitly
    allowed; prompts may be changed unless that is forbidden.
    """
    where = (*ENTRIES, plugin, "hooks")
    hooks = host.settings.get(where)
    hook_settings: Mapping[str, Any] = hooks if isinstance(hooks, Mapping) else {}
    return PluginAccess(
        _limits(hook_settings),
        _denied_events(hook_settings, ".".join(map(str, where)), is_bundled=folder.source == "bundled"),
    )


def _limits(hook_settings: Mapping[str, Any]) -> dict[str, float]:
    timeouts, default_limit = hook_settings.get("timeouts"), _seconds(hook_settings.get("timeoutMs"))
    by_event = timeouts.items() if isinstance(timeouts, Mapping) else ()
    limits = {str(name): limit for name, value in by_event if (limit := _seconds(value)) is not None}
    return limits if default_limit is None else {"run": default_limit, **limits}


def _seconds(milliseconds: object) -> float | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not milliseconds > 0:
        return None  # NaN is not a limit either
    return min(milliseconds, MAX_TIMEOUT_MS) / 1000


def _denied_events(hook_settings: Mapping[str, Any], where: str, *, is_bundled: bool) -> dict[str, str]:
    excluded_events: dict[str, str] = {}
    conversations, prompts = (
        hook_settings.get("allowConversationAccess"),
        hook_settings.get("allowPromptInjection"),
    )
    if conversations is False or (conversations is not True and not is_bundled):
        excluded_events |= dict.fromkeys(
            CONVERSATION_EVENTS, f"it wants {where}.allowConversationAccess to be true"
        )
    if prompts is False:
        excluded_events |= dict.fromkeys(PROMPT_INJECTION_EVENTS, f"{where}.allowPromptInjection is false")
    return excluded_events
