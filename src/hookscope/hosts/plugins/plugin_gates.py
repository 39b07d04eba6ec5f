"""The gates of a plugin's handlers as the guides describe them: one pure function each."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

from hookscope.formats.json5 import locate_json5
from hookscope.formats.positions import KeyPath, dotted_path
from hookscope.hosts.gates.enabled import ENABLED, SWITCH, not_false_gate
from hookscope.hosts.gates.evidence import similar_to_no_hook
from hookscope.hosts.gates.fields import FIELDS, fields_gate
from hookscope.hosts.gates.handler import HANDLER
from hookscope.hosts.gates.path import PATH, PATH_PASSED
from hookscope.hosts.gates.rules import rules_of
from hookscope.hosts.gates.sent import SENT
from hookscope.hosts.gates.trusted import TRUSTED
from hookscope.model.hook import MAPPED_ROLE, Folder, Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host
from hookscope.model.payload import mapping_or_empty, strings_in_list
from hookscope.values import dataclass

ENTRIES: KeyPath = ("plugins", "entries")
# The events that OpenClaw's documentation calls conversation hooks.
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


@dataclass(frozen=True, slots=True)
class PluginAccess:
    """A plugin's time limits, and why it does not receive some events, in the form of Metadata."""

    limits: Mapping[str, float] = field(default_factory=dict)  # seconds by event; `run`: all others
    excluded_events: Mapping[str, str] = field(default_factory=dict)
    removed_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of its answers


def access_of(
    plugin: str,
    folder: Folder,
    host: Host,
    conversations: Sequence[str] = CONVERSATION_EVENTS,
    prompts: Sequence[str] = PROMPT_INJECTION_EVENTS,
    prompt_fields: Mapping[str, tuple[str, ...]] | None = None,
) -> PluginAccess:
    """Return the access in the plugin's entry: `hooks.timeouts`, `hooks.timeoutMs`, `allow…`.

    A plugin that does not ship with the host receives conversation events only if its entry allows
    this. Any plugin may change prompts unless its entry forbids this: then it does not receive `prompts`,
    and the host removes `prompt_fields` from its answers.
    """
    where = (*ENTRIES, plugin, "hooks")
    hook_settings = mapping_or_empty(host.settings.get(where))
    allowed, name = hook_settings.get("allowConversationAccess"), dotted_path(where)
    excluded_events: dict[str, str] = {}
    if allowed is False or (allowed is not True and folder.source != "bundled"):
        why = f"the plugin needs {name}.allowConversationAccess to be true"
        excluded_events |= dict.fromkeys(conversations, why)
    may_prompt = hook_settings.get("allowPromptInjection") is not False
    if not may_prompt:
        excluded_events |= dict.fromkeys(prompts, f"{name}.allowPromptInjection is false")
    return PluginAccess(_limits(hook_settings), excluded_events, {} if may_prompt else prompt_fields or {})


def _limits(hook_settings: Mapping[str, Any]) -> dict[str, float]:
    timeouts, default_limit = hook_settings.get("timeouts"), _seconds(hook_settings.get("timeoutMs"))
    by_event = mapping_or_empty(timeouts).items()
    limits = {str(name): limit for name, value in by_event if (limit := _seconds(value)) is not None}
    return limits if default_limit is None else {"run": default_limit, **limits}


def _seconds(milliseconds: object) -> float | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not milliseconds > 0:
        return None  # NaN is not a limit either
    return milliseconds / 1000  # the host refuses settings with more than ten minutes


PLUGINS_PATH: KeyPath = ("plugins",)


def path_gate(hook: Hook, host: Host) -> Gate:
    """Check that the real path of the code is allowed.

    A plugin's code must be in its own folder, a mapped handler in the workspace or the state folder.
    """
    files, code = host.machine.files, hook.handler
    assert code is not None
    real = files.real(code)
    if hook.role == MAPPED_ROLE:
        roots = tuple(files.real(root) for root in (host.workspace, host.state))
        where = "the workspace and the state folder"
    else:
        roots, where = ((hook.real,) if hook.real is not None else ()), "the plugin's folder"
    if any(real.is_relative_to(root) for root in roots):
        return PATH_PASSED
    needed = tuple(map(str, roots))
    return Gate("path", False, needed, (str(real),), "outside", f"Handler path escapes {where}: {real}")


def switch_gate(hook: Hook, host: Host) -> Gate:
    """Check that plugins are enabled at all: `plugins.enabled` is not false."""
    reason = "all plugins are switched off in the settings"
    return not_false_gate("switch", reason, (*PLUGINS_PATH, "enabled"), host)


def enabled_gate(hook: Hook, host: Host) -> Gate:
    """Check that `enabled` in the plugin's entry is not false. A mapped handler has no entry."""
    if hook.role == MAPPED_ROLE:
        return Gate("enabled", True, found="listed in the settings")
    return not_false_gate("enabled", "disabled in config", (*ENTRIES, hook.name, "enabled"), host)


def allow_gate(hook: Hook, host: Host) -> Gate:
    """Check that the plugin is in `plugins.allow`, if that list is not empty."""
    names = listed_ids(host, "allow")
    if not names or hook.role == MAPPED_ROLE or hook.name in names:
        found = f"{hook.name} is in plugins.allow" if hook.name in names else "no list"
        return Gate("allow", True, found=found, setting=(*PLUGINS_PATH, "allow"))
    reason = "not in plugins.allow"
    return Gate(
        "allow", False, names, (hook.name,), ", ".join(names), reason, setting=(*PLUGINS_PATH, "allow")
    )


def _listed(gate: Gate, hook: Hook, host: Host) -> Evidence:
    similar = similar_to_no_hook(hook.name, gate.needed, host)
    return (), tuple(f"{like} is in the list; this plugin is {hook.name}" for like in similar)


ALLOW = register_gate(
    GateKind("allow", state=State.OFF, check=allow_gate, evidence=_listed, fix=FixKind.ADD_TO_LIST)
)


def deny_gate(hook: Hook, host: Host) -> Gate:
    """Check that the plugin is not in `plugins.deny`."""
    if hook.role == MAPPED_ROLE or hook.name not in listed_ids(host, "deny"):
        return Gate("deny", True, found="not in plugins.deny", setting=(*PLUGINS_PATH, "deny"))
    found, reason = f"{hook.name} is in plugins.deny", "denied by plugins.deny"
    return Gate(
        "deny", False, missing=(hook.name,), found=found, reason=reason, setting=(*PLUGINS_PATH, "deny")
    )


DENY = register_gate(GateKind("deny", state=State.OFF, check=deny_gate, fix=FixKind.TAKE_FROM_LIST))


def listed_ids(host: Host, key: str) -> tuple[str, ...]:
    """Return the plugin ids in one of the lists of the settings."""
    path = (*PLUGINS_PATH, key)
    return host.cached((listed_ids, key), lambda: tuple(strings_in_list(host.settings.get(path))))


PLUGIN_GATES = rules_of(
    HANDLER,
    (FIELDS, partial(fields_gate, locate=locate_json5)),
    (PATH, path_gate),
    (SWITCH, switch_gate),
    (ENABLED, enabled_gate),
    ALLOW,
    DENY,
    TRUSTED,
    SENT,
)
