"""Gates that a shipped host adds for plugins, and its refusal of settings that do not fit a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from hookscope.formats.positions import KeyPath
from hookscope.hosts.folders.shipped_gates import SETTINGS
from hookscope.hosts.gates.enabled import ENABLED
from hookscope.hosts.gates.rules import rules_of
from hookscope.hosts.plugins import plugin_gates
from hookscope.hosts.plugins.plugin_discovery import PATHS, configured_paths, rank_plugins
from hookscope.hosts.plugins.plugin_gates import ENTRIES
from hookscope.hosts.plugins.plugin_manifest import (
    SCHEMA,
    SchemaIssue,
    is_installed,
    kinds_of,
    packages_of,
    read_document,
    schema_of,
    value_errors,
)
from hookscope.model.hook import MAPPED_ROLE, Edit, FilePosition, Hook, Problem
from hookscope.model.hook_status import (
    KNOWN_AFTER_LOAD,
    FixKind,
    FoundHooks,
    Gate,
    GateKind,
    GateRule,
    State,
    register_gate,
)
from hookscope.model.host import Host
from hookscope.values import dataclass

HOST_REFUSES = "the host refuses its settings"
NO_SCHEMA = f"plugin manifest requires {SCHEMA}"


def setting_errors(hook: Hook, host: Host) -> tuple[SchemaIssue, ...]:
    """Return the errors of a plugin's settings under its schema: a path in them and a message each."""
    schema = schema_of(hook, host)
    return value_errors(schema, dict(hook.meta.config)) if schema is not None else ()


@dataclass(frozen=True, slots=True)
class CheckedPlugins:
    """The plugins whose settings the host checks before it accepts its own settings.

    These are the plugins that pass the gates `on`, and those that have settings, enabled or not.
    """

    on: tuple[GateRule, ...]
    is_old: bool = False  # before 2026.8: any plugin without a schema counts, and absent paths too
    is_oldest: bool = False  # 2026.3: also while all plugins are off

    def issues(self, found: FoundHooks, host: Host) -> tuple[SchemaIssue, ...]:
        """Return the issues that make the host refuse its settings: a path and a message each.

        It looks at plugins only if the settings have a section for them.
        """
        if not {*plugin_gates.PLUGINS_PATH} <= host.settings.value.keys():
            return ()
        winners = rank_plugins(found).load_order
        by_schema = (issue for hook in winners for issue in self._of_one(hook, host))
        return (*self._of_manifests(found, host), *by_schema)

    def _of_manifests(self, found: FoundHooks, host: Host) -> Iterator[SchemaIssue]:
        """Yield the issues of plugins without a schema, and of configured paths that do not exist."""
        section = host.settings.get(plugin_gates.PLUGINS_PATH)
        if not isinstance(section, Mapping) or (section == {"enabled": False} and not self.is_oldest):
            return
        for hook in found.hooks:
            if hook.manifest is None or hook.beyond_host or schema_of(hook, host) is not None:
                continue
            where = plugin_gates.PLUGINS_PATH if self.is_old else _named_at(hook.name, section, host)
            if where is not None:
                name = "plugin" if self.is_old else f"plugin {hook.name}"
                yield where, f"{name}: {NO_SCHEMA}"
        for path in configured_paths(host) if self.is_old else ():
            if host.machine.files.facts(path) is None:
                yield PATHS, f"plugin: plugin path not found: {path}"

    def _of_one(self, hook: Hook, host: Host) -> Iterator[SchemaIssue]:
        where = (*ENTRIES, hook.name, "config")
        wrong = setting_errors(hook, host)
        has_settings = isinstance(host.settings.get(where), Mapping)
        if wrong and (has_settings or all(rule(hook, host).passed for rule in self.on)):
            yield from (((*where, *at), f"invalid config: {text}") for at, text in wrong)


def _named_at(plugin: str, section: Mapping[str, object], host: Host) -> KeyPath | None:
    """Return where the settings name the plugin; None if nowhere."""
    entries = section.get("entries")
    if isinstance(entries, Mapping) and plugin in entries:
        return (*ENTRIES, plugin)
    lists = (name for name in ("allow", "deny") if plugin in plugin_gates.listed_ids(host, name))
    return next(((*plugin_gates.PLUGINS_PATH, name) for name in lists), None)


def setting_problems(issues: tuple[SchemaIssue, ...], host: Host) -> tuple[Problem, ...]:
    """Return a problem for each issue, with the position of the setting or of the closest one above it."""
    return tuple(
        Problem(f"{'.'.join(map(str, path))}: {text}; {HOST_REFUSES}", _place(path, host))
        for path, text in issues
    )


def _place(path: KeyPath, host: Host) -> FilePosition:
    above = (path[:length] for length in range(len(path), 0, -1))
    return next(filter(None, map(host.settings.locate, above)), FilePosition(host.settings.file))


SWITCH_GATES = ("manifest", "switch", "enabled", "allow", "deny", "slot")  # they decide if it is on


def manifest_gate(hook: Hook, host: Host, *, name: str) -> Gate:
    """Check for a manifest with a settings schema: without one the program does not treat it as a plugin."""
    if hook.role == MAPPED_ROLE or hook.path is None or hook.beyond_host:
        return Gate("manifest", True)
    if hook.manifest is None:
        reason = f"plugin manifest not found: {hook.path / name}"
        return Gate("manifest", False, (name,), (name,), "none", reason)
    if schema_of(hook, host) is None:
        return Gate("manifest", False, (SCHEMA,), (SCHEMA,), "none", NO_SCHEMA)
    return Gate("manifest", True, found=hook.manifest.name)


MANIFEST = register_gate(
    GateKind("manifest", state=State.BROKEN, why_no_fix="only its author can write what belongs there")
)


def packages_gate(hook: Hook, host: Host, *, brought: frozenset[str]) -> Gate:
    """Check that the dependencies in the plugin's package.json are installed, except those in `brought`."""
    needed = tuple(name for name in packages_of(hook, host) if name not in brought)
    folder = hook.path
    missing = tuple(name for name in needed if folder is not None and not is_installed(name, folder, host))
    if not missing:
        return Gate("packages", True, needed, found=", ".join(needed) or "none needed")
    reason = f"Plugin dependency {missing[0]} is missing from {folder}; install its dependencies and reload."
    return Gate("packages", False, needed, missing, "not installed", reason)


PACKAGES = register_gate(GateKind("packages", fix=FixKind.PACKAGES))


def enabled_gate(hook: Hook, host: Host) -> Gate:
    """Check that the plugin is enabled. A workspace plugin is disabled until the settings name it."""
    gate = plugin_gates.enabled_gate(hook, host)
    where: KeyPath = (*ENTRIES, hook.name, "enabled")
    is_local = hook.folder.source == "workspace"
    is_named = host.settings.get(where) is not None or hook.name in plugin_gates.listed_ids(host, "allow")
    if not gate.passed or not is_local or is_named or hook.folder.declared or hook.beyond_host:
        return gate
    fix = Edit(host.settings.file, where, True, f"{'.'.join(map(str, where))}: not set → true")
    reason = "workspace plugin (disabled by default)"
    return Gate("enabled", False, ("true",), ("true",), "not set", reason, fix=fix, setting=where)


def configured_gate(hook: Hook, host: Host) -> Gate:
    """Check that the plugin's settings fit its schema.

    If those of one plugin do not, the host refuses all its settings.
    """
    where = (*ENTRIES, hook.name, "config")
    wrong = tuple(
        ": ".join(filter(None, (".".join(map(str, at)), text))) for at, text in setting_errors(hook, host)
    )
    if not wrong:
        return Gate("schema", True, setting=where)
    reason = f"invalid config: {wrong[0]}"
    return Gate("schema", False, missing=wrong, found="does not fit", reason=reason, setting=where)


SCHEMA_FITS = register_gate(
    GateKind(
        "schema",
        check=configured_gate,
        why_no_fix="only you know the right values: write them into the entry's `config`",
    )
)


def slot_gate(hook: Hook, host: Host, *, kind: str, default: str) -> Gate:
    """Check that the plugin is the selected one of its kind: `plugins.slots` selects one."""
    where: KeyPath = (*plugin_gates.PLUGINS_PATH, "slots", kind)
    kinds = kinds_of(read_document(hook.manifest, host)) if hook.manifest is not None else ()
    written = host.settings.get(where)
    chosen = (written.strip() if isinstance(written, str) else "") or default
    chosen = "none" if chosen.lower() == "none" else chosen
    if kind not in kinds or (
        len(kinds) > 1 and chosen != hook.name
    ):  # a plugin of several kinds stays active for the others
        return Gate("slot", True)
    if chosen == hook.name:
        return Gate("slot", True, (hook.name,), found=f"selected {kind} slot", setting=where)
    reason = f"{kind} slot disabled" if chosen == "none" else f'{kind} slot set to "{chosen}"'
    fix = Edit(host.settings.file, where, hook.name, f"{'.'.join(map(str, where))}: {chosen} → {hook.name}")
    return Gate("slot", False, (hook.name,), (hook.name,), chosen, reason, fix=fix, setting=where)


SLOT = register_gate(GateKind("slot", state=State.OFF))


def access_gate(hook: Hook, host: Host) -> Gate:
    """Check that the plugin may receive one of its events: conversations only if explicitly allowed."""
    keys, barred = hook.meta.events, hook.meta.excluded_events
    if keys is None:
        return Gate("access", None, found=KNOWN_AFTER_LOAD)
    kept = tuple(key for key in keys if key in barred and key not in hook.meta.folder_events)
    if not kept:
        return Gate("access", True)
    found = "; ".join(f"not {key}: {barred[key]}" for key in kept)
    reason = barred[kept[0]]
    name = "allowPromptInjection" if reason.endswith("false") else "allowConversationAccess"
    where: KeyPath = (*ENTRIES, hook.name, "hooks", name)
    fix = Edit(host.settings.file, where, True, f"{'.'.join(map(str, where))}: → true")
    if len(kept) < len(keys):
        return Gate("access", True, missing=kept, found=found, fix=fix, setting=where)
    if hook.meta.unread_registrations:
        return Gate("access", None, found=f"{found}; others are {KNOWN_AFTER_LOAD}")
    return Gate("access", False, (name,), kept, "not allowed", reason, fix=fix, setting=where)


ACCESS = register_gate(GateKind("access", check=access_gate))


def checked_plugins(
    gate_rules: Mapping[str, GateRule], *, is_old: bool = False, is_oldest: bool = False
) -> CheckedPlugins:
    """Return the plugins whose settings are checked, using these gate rules."""
    return CheckedPlugins(tuple(gate_rules[name] for name in SWITCH_GATES), is_old, is_oldest)


def shipped_plugin_gates(
    manifest_name: str, brought: frozenset[str], memory: str, settings: GateRule
) -> Mapping[str, GateRule]:
    """Return all gate rules in display order.

    `brought` are the packages that the host provides, `memory` is the default plugin of the memory slot,
    and `settings` checks whether the host accepts its settings.
    """
    known = dict(plugin_gates.PLUGIN_GATES)
    handler, trusted, sent = known.pop("handler"), known.pop("trusted"), known.pop("sent")
    return {
        "handler": handler,
        **rules_of((MANIFEST, partial(manifest_gate, name=manifest_name))),
        **known,
        **rules_of(
            (ENABLED, enabled_gate),
            (SLOT, partial(slot_gate, kind="memory", default=memory)),
            SCHEMA_FITS,
            (SETTINGS, settings),
            (PACKAGES, partial(packages_gate, brought=brought)),
        ),
        "trusted": trusted,
        **rules_of(ACCESS),
        "sent": sent,
    }
