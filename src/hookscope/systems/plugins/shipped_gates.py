"""The checks that a shipped host makes of a plugin, and no guide tells of. The words are the host's."""

from collections.abc import Mapping
from functools import partial

from hookscope.core.dialect import Host
from hookscope.core.hooks import Edit, Hook
from hookscope.core.plan import MAPPED
from hookscope.core.standing import Gate
from hookscope.formats.places import KeyPath
from hookscope.systems.folders.gates import GateRule
from hookscope.systems.plugins import gates
from hookscope.systems.plugins.access import ENTRIES
from hookscope.systems.plugins.manifests import (
    SCHEMA,
    document,
    is_installed,
    kinds_of,
    packages_of,
    schema_of,
)
from hookscope.systems.plugins.places import is_of_guides
from hookscope.systems.plugins.refused_settings import AskedPlugins, misfits_of

ON = ("manifest", "switch", "enabled", "allow", "deny", "slot")  # the checks of what is on


def manifest(hook: Hook, host: Host, *, name: str) -> Gate:
    """Is there a manifest, with a schema of its settings: without one the program takes it for no plugin."""
    if hook.role == MAPPED or hook.path is None or hook.beyond_host or is_of_guides(hook.folder, host):
        return Gate("manifest", True)
    if hook.manifest is None:
        reason = f"plugin manifest not found: {hook.path / name}"
        return Gate("manifest", False, (name,), (name,), "none", reason)
    if schema_of(hook, host) is None:
        return Gate("manifest", False, (SCHEMA,), (SCHEMA,), "none", f"plugin manifest requires {SCHEMA}")
    return Gate("manifest", True, found=hook.manifest.name)


def packages(hook: Hook, host: Host, *, brought: frozenset[str]) -> Gate:
    """Is all installed that its package.json depends on: the program asks before it loads anything."""
    needed = tuple(name for name in packages_of(hook, host) if name not in brought)
    folder = hook.path
    missing = tuple(name for name in needed if folder is not None and not is_installed(name, folder, host))
    if not missing:
        return Gate("packages", True, needed, found=", ".join(needed) or "it needs none")
    reason = f"Plugin dependency {missing[0]} is missing from {folder}; install its dependencies and reload."
    return Gate("packages", False, needed, missing, "not installed", reason)


def enabled(hook: Hook, host: Host) -> Gate:
    """Is it on. One that lies in the workspace is off until the settings name it."""
    gate = gates.enabled(hook, host)
    where: KeyPath = (*ENTRIES, hook.name, "enabled")
    is_local = hook.folder.source == "workspace" and not is_of_guides(hook.folder, host)
    said = host.settings.get(where) is not None or hook.name in gates.named(host, "allow")
    if not gate.passed or not is_local or said or hook.folder.declared or hook.beyond_host:
        return gate
    fix = Edit(host.settings.file, where, True, f"{'.'.join(map(str, where))}: not set → true")
    reason = "workspace plugin (disabled by default)"
    return Gate("enabled", False, ("true",), ("true",), "not set", reason, fix=fix, setting=where)


def configured(hook: Hook, host: Host) -> Gate:
    """Does what the settings say to it fit its schema. Where an entry does not, the program refuses all."""
    where = (*ENTRIES, hook.name, "config")
    wrong = tuple(
        ": ".join(filter(None, (".".join(map(str, at)), text))) for at, text in misfits_of(hook, host)
    )
    if not wrong:
        return Gate("schema", True, setting=where)
    reason = f"invalid config: {wrong[0]}"
    return Gate("schema", False, missing=wrong, found="does not fit", reason=reason, setting=where)


def slot(hook: Hook, host: Host, *, kind: str, default: str) -> Gate:
    """Is it the one of its kind that the settings choose: `plugins.slots` has a place for one."""
    where: KeyPath = (*gates.PLUGINS, "slots", kind)
    kinds = kinds_of(document(hook.manifest, host)) if hook.manifest is not None else ()
    said = host.settings.get(where)
    chosen = (said.strip() if isinstance(said, str) else "") or default
    chosen = "none" if chosen.lower() == "none" else chosen
    if kind not in kinds or (
        len(kinds) > 1 and chosen != hook.name
    ):  # one of several kinds lives on its others
        return Gate("slot", True)
    if chosen == hook.name:
        return Gate("slot", True, (hook.name,), found=f"selected {kind} slot", setting=where)
    reason = f"{kind} slot disabled" if chosen == "none" else f'{kind} slot set to "{chosen}"'
    fix = Edit(host.settings.file, where, hook.name, f"{'.'.join(map(str, where))}: {chosen} → {hook.name}")
    return Gate("slot", False, (hook.name,), (hook.name,), chosen, reason, fix=fix, setting=where)


def access(hook: Hook, host: Host) -> Gate:
    """Does any of its events reach it: conversations do where that is allowed in so many words."""
    keys, barred = hook.meta.events, hook.meta.barred
    if keys is None:
        return Gate("access", None, found=gates.KNOWN_AFTER_LOAD)
    kept = tuple(key for key in keys if key in barred and key not in hook.meta.of_folders)
    if len(kept) < len(keys) or not kept:
        found = "; ".join(f"not {key}: {barred[key]}" for key in kept)
        return Gate("access", True, found=found)
    reason = barred[kept[0]]
    name = "allowPromptInjection" if reason.endswith("false") else "allowConversationAccess"
    where: KeyPath = (*ENTRIES, hook.name, "hooks", name)
    fix = Edit(host.settings.file, where, True, f"{'.'.join(map(str, where))}: → true")
    return Gate("access", False, (name,), kept, "not allowed", reason, fix=fix, setting=where)


def asked_plugins(gate_rules: Mapping[str, GateRule]) -> AskedPlugins:
    """Whose settings are checked, by these of all checks."""
    return AskedPlugins(tuple(gate_rules[name] for name in ON))


def as_shipped(
    manifest_name: str, brought: frozenset[str], memory: str, settings: GateRule
) -> Mapping[str, GateRule]:
    """All checks in the order of showing. `brought` are the packages that the program brings itself, `memory`
    is the plugin that keeps its memory where the settings choose none, `settings` says whether the program
    takes its settings at all.
    """
    known = dict(gates.PLUGIN_GATES)
    handler, trusted, sent = known.pop("handler"), known.pop("trusted"), known.pop("sent")
    return {
        "handler": handler,
        "manifest": partial(manifest, name=manifest_name),
        **known,
        "enabled": enabled,
        "slot": partial(slot, kind="memory", default=memory),
        "schema": configured,
        "settings": settings,
        "packages": partial(packages, brought=brought),
        "trusted": trusted,
        "access": access,
        "sent": sent,
    }
