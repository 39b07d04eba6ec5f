"""Gates that a shipped host adds for plugins, and its refusal of settings that do not fit a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache, partial

from hookscope.formats.positions import KeyPath, dotted_path
from hookscope.hosts.folders.shipped_gates import SETTINGS
from hookscope.hosts.gates.enabled import ENABLED
from hookscope.hosts.gates.rules import rules_of
from hookscope.hosts.plugins import plugin_gates
from hookscope.hosts.plugins.plugin_discovery import PATHS, SCRIPT_SUFFIXES, configured_paths, rank_plugins
from hookscope.hosts.plugins.plugin_gates import ENTRIES, PLUGINS_PATH, listed_ids
from hookscope.hosts.plugins.plugin_manifest import (
    SCHEMA,
    SchemaIssue,
    is_installed,
    is_single_file,
    kinds_of,
    packages_of,
    read_document,
    schema_of,
    value_errors,
)
from hookscope.hosts.settings.closed_schema import UNKNOWN_KEY, Shape, issues_in
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
from hookscope.model.payload import mapping_or_empty, strings_in_list
from hookscope.values import dataclass

HOST_REFUSES = "the host refuses its settings"
NO_SCHEMA = f"plugin manifest requires {SCHEMA}"
ENTRY_FAULT = "extension entry"  # how the program's errors about an entry file begin
SEARCH: KeyPath = ("tools", "web", "search", "provider")
MEMORY_SLOT, CHANNELS = (*PLUGINS_PATH, "slots", "memory"), ("channels",)
PACKAGES_FOLDER = "npm"  # of plugins that only a database of the host lists


def setting_errors(hook: Hook, host: Host) -> tuple[SchemaIssue, ...]:
    """Return where and why a plugin's settings do not fit its schema: pairs of path and message."""
    schema = schema_of(hook, host)
    return value_errors(schema, dict(hook.meta.config)) if schema is not None else ()


@dataclass(frozen=True, slots=True)
class BundledParts:
    """What ships with a host version: the ids of its plugins, and its channels with their settings."""

    plugins: Collection[str]
    channels: Mapping[str, Shape]
    absent: Collection[str] = ()  # those of `plugins` that it does not ship, but only warns about
    targets: Collection[str] = ()  # of heartbeats, beside the channels
    search: Collection[str] = ()  # its providers of web searches; none: the host accepts any
    absent_search: str = ""  # its error for a provider of an absent plugin, with {name} and {plugin}
    installable_search: Mapping[str, str] = field(default_factory=dict)  # other providers, with their plugin

    @property
    def shipped(self) -> frozenset[str]:
        return frozenset(self.plugins) - frozenset(self.absent)


@dataclass(frozen=True, slots=True)
class CheckedPlugins:
    """The plugins and channels whose settings the host checks before it accepts its own settings.

    These are the plugins that pass the gates `on`, and those that have settings, enabled or not.
    `bundle_ids` returns the ids of plugins in another program's format.
    """

    on: tuple[GateRule, ...]
    bundled: Callable[[str], BundledParts]
    bundle_ids: Callable[[Host], Collection[str]]
    is_old: bool = False  # before 2026.8: any plugin without a schema counts, and absent paths too
    is_oldest: bool = False  # 2026.3: also while all plugins are off

    def issues(self, found: FoundHooks, host: Host) -> tuple[SchemaIssue, ...]:
        """Return the issues that make the host refuse its settings: pairs of path and message.

        It looks at plugins only if the settings have a section for them, or name a channel.
        """
        names = [key for key in mapping_or_empty(host.settings.get(CHANNELS)) if key.strip()]
        has_section = {*PLUGINS_PATH} <= host.settings.value.keys()
        named = (*self._of_heartbeats(found, host), *self._of_search(found, host))
        named = () if self._may_hold_more(host) else named
        if not names and not has_section:
            return named
        faults = dict.fromkeys(self._of_manifests(found, host))
        general = (*faults, *self._of_channels(names, found, host), *named)
        if not has_section:
            return general
        winners = rank_plugins(found).load_order
        by_schema = (issue for hook in winners for issue in self._of_one(hook, host))
        return (*general, *self._of_absent(found, host), *by_schema)

    def _of_channels(self, names: list[str], found: FoundHooks, host: Host) -> Iterator[SchemaIssue]:
        """Yield the issues of unknown channels, and of the settings of channels with a known schema."""
        if self._may_hold_more(host):
            return
        known = self.bundled(host.dialect.version).channels
        declared = {name: item for name, *item in self._declared_channels(found, host)}
        for name in names:
            where, channel, shape = (*CHANNELS, name), name.strip(), known.get(name.strip())
            schema, plugin = declared.get(channel, (None, ""))
            if schema is not None:
                start = "invalid config" if self.is_oldest else f"invalid config for plugin {plugin}"
                wrong = value_errors(schema, host.settings.get(where))
                yield from (((*where, *at), f"{start}: {text}") for at, text in wrong)
            elif shape:
                issues = issues_in(host.settings.get(where), shape, where)
                yield from ((at, text if self.is_oldest else _schema_words(text)) for at, text in issues)
            elif shape is None and channel not in declared and not self._is_named(channel, host):
                yield where, f"unknown channel id: {channel}"

    def _declared_channels(self, found: FoundHooks, host: Host) -> Iterator[tuple[str, object, str]]:
        sound = (hook for hook in found.hooks if self.on[0](hook, host).passed)
        return (channel for hook in sound for channel in _channels_of(hook, host))

    def _of_heartbeats(self, found: FoundHooks, host: Host) -> Iterator[SchemaIssue]:
        """Yield an issue for each heartbeat whose target is no channel."""
        known = self.bundled(host.dialect.version)
        for where, target in _heartbeat_targets(host, by_id=not self.is_old):
            name = target.strip().lower()
            if not name:
                yield where, "heartbeat target must not be empty"
            elif name not in {*known.targets, *known.channels} - {"defaults", "modelByChannel"} and (
                name not in {channel.lower() for channel, *_ in self._declared_channels(found, host)}
            ):
                yield where, f"unknown heartbeat target: {target}"

    def _of_search(self, found: FoundHooks, host: Host) -> Iterator[SchemaIssue]:
        """Yield an issue if the provider of web searches is unknown, or a plugin that is not installed."""
        known, written = self.bundled(host.dialect.version), host.settings.get(SEARCH)
        if not isinstance(written, str) or not known.search:
            return
        name = written.strip()
        plugin = known.installable_search.get(name)
        if not name:
            yield SEARCH, "web_search provider must not be empty"
            return
        declared = (name in _search_providers(hook, host) for hook in found.hooks)
        named = (self._is_named(one, host) for one in (name, plugin or name))
        if name in known.search or any(declared) or any(named):
            return
        if plugin is None:
            yield SEARCH, f"unknown web_search provider: {name}"
        else:
            yield SEARCH, known.absent_search.format(name=name, plugin=plugin)

    def _is_named(self, channel: str, host: Host) -> bool:
        """Return whether the settings name a plugin with the channel's id: the host then only warns."""
        blocks = (host.settings.get((*PLUGINS_PATH, name)) for name in ("entries", "installs"))
        named = [key for block in blocks for key in mapping_or_empty(block)]
        named += listed_ids(host, "allow")
        return not self.is_oldest and channel.lower() in {name.strip().lower() for name in named}

    def _may_hold_more(self, host: Host) -> bool:
        """Return whether there may be more plugins than those that a scan finds."""
        facts = host.machine.files.facts
        has_absent = not self.is_old and any(facts(path) is None for path in configured_paths(host))
        return has_absent or facts(host.config_folder / PACKAGES_FOLDER) is not None

    def _of_absent(self, found: FoundHooks, host: Host) -> Iterator[SchemaIssue]:
        """Yield an issue for each setting that must name an existing plugin and names an unknown one."""
        slot = host.settings.get(MEMORY_SLOT)
        named = [(MEMORY_SLOT, slot.strip())] if isinstance(slot, str) else []
        if self.is_oldest:
            named += [((*PLUGINS_PATH, "deny"), name) for name in listed_ids(host, "deny")]
        if not named or self._may_hold_more(host):
            return
        known = {*self.bundled(host.dialect.version).plugins, *self.bundle_ids(host)}
        known |= {hook.name for hook in found.hooks} | {str(one.name) for one in found.rejected}
        for where, name in named:
            if name.strip() and name not in known and name.lower() != "none":
                yield where, f"plugin not found: {name}"

    def _of_manifests(self, found: FoundHooks, host: Host) -> Iterator[SchemaIssue]:
        """Yield the issues of plugins without a schema, and of configured paths that do not exist."""
        section = mapping_or_empty(host.settings.get(PLUGINS_PATH))
        if section == {"enabled": False} and not self.is_oldest:
            return
        for plugin, text in dict.fromkeys(self._faults(found, host)):
            is_entry = text.startswith(ENTRY_FAULT)
            has_name = is_entry or not self.is_old
            where = _named_at(plugin, section, host) if has_name else PLUGINS_PATH
            if where is not None:
                yield where, f"{f'plugin {plugin}' if has_name else 'plugin'}: {text}"
        for path in configured_paths(host):
            facts = host.machine.files.facts(path)
            if facts is None and self.is_old:
                yield PATHS, f"plugin: plugin path not found: {path}"
            elif facts is not None and facts.file and path.suffix not in SCRIPT_SUFFIXES:
                yield PLUGINS_PATH, f"plugin: plugin path is not a supported file: {path}"

    def _faults(self, found: FoundHooks, host: Host) -> Iterator[tuple[str, str]]:
        """Yield the id of each faulty plugin, and the program's error."""
        yield from ((one.name, one.host_error) for one in found.rejected if one.host_error)
        manifest = self.on[0]
        for hook in found.hooks:
            gate, entry = manifest(hook, host), hook.handler
            if hook.beyond_host or hook.path is None or entry is None:
                continue
            if host.machine.files.facts(entry) is None and not is_single_file(hook):
                yield hook.name, f"{ENTRY_FAULT} not found: {entry.relative_to(hook.path)}"
            elif not gate.passed:
                yield hook.name, gate.reason

    def _of_one(self, hook: Hook, host: Host) -> Iterator[SchemaIssue]:
        where = (*ENTRIES, hook.name, "config")
        wrong = setting_errors(hook, host)
        has_settings = isinstance(host.settings.get(where), Mapping)
        if wrong and (has_settings or all(rule(hook, host).passed for rule in self.on)):
            yield from (((*where, *at), f"invalid config: {text}") for at, text in wrong)


def _named_at(plugin: str, section: Mapping[str, object], host: Host) -> KeyPath | None:
    """Return where the settings name the plugin, in any case; None if nowhere."""
    name = plugin.strip().lower()
    if name in {key.strip().lower() for key in mapping_or_empty(section.get("entries"))}:
        return (*ENTRIES, name)
    for key in ("allow", "deny"):
        if name in {listed.strip().lower() for listed in listed_ids(host, key)}:
            return (*PLUGINS_PATH, key)
    slots = mapping_or_empty(section.get("slots")).items()
    chosen = (slot for slot, value in slots if isinstance(value, str) and value.strip().lower() == name)
    return next(((*PLUGINS_PATH, "slots", slot) for slot in chosen), None)


def _search_providers(hook: Hook, host: Host) -> list[str]:
    manifest = read_document(hook.manifest, host) if hook.manifest is not None else {}
    return strings_in_list(mapping_or_empty(manifest.get("contracts")).get("webSearchProviders"))


def _heartbeat_targets(host: Host, *, by_id: bool) -> Iterator[tuple[KeyPath, str]]:
    """Yield the target of each heartbeat; agents in an older file's list by their id, or by their index."""
    agents = mapping_or_empty(host.settings.get(("agents",)))
    listed = agents.get("list")
    rows = listed if isinstance(listed, list) else []
    blocks: list[tuple[KeyPath, object]] = [(("agents", "defaults"), agents.get("defaults"))]
    blocks += [
        (("agents", "entries", key), row) for key, row in mapping_or_empty(agents.get("entries")).items()
    ]
    for number, row in enumerate(rows):
        key = mapping_or_empty(row).get("id")
        place = ("agents", "entries", key) if by_id and isinstance(key, str) else ("agents", "list", number)
        blocks.append((place, row))
    for where, block in blocks:
        target = mapping_or_empty(mapping_or_empty(block).get("heartbeat")).get("target")
        if isinstance(target, str):
            yield (*where, "heartbeat", "target"), target


def _schema_words(text: str) -> str:
    """Return an issue in the words of the validator that checks channels and plugins."""
    text = re.sub(rf"^{UNKNOWN_KEY}s?:", "must not have additional properties:", text)
    return "invalid config: " + re.sub(r"^Invalid input: expected (\w+).*", r"must be \1", text)


def _channels_of(hook: Hook, host: Host) -> Iterator[tuple[str, object, str]]:
    """Yield the channels that a plugin declares, each with the schema of its settings, and the plugin."""
    manifest = read_document(hook.manifest, host) if hook.manifest is not None else {}
    names, configs = manifest.get("channels"), manifest.get("channelConfigs")
    for name in names if isinstance(names, list) else ():
        config = mapping_or_empty(configs).get(name) if isinstance(name, str) else None
        yield str(name).strip(), mapping_or_empty(config).get("schema"), hook.name


def setting_problems(issues: tuple[SchemaIssue, ...], host: Host) -> tuple[Problem, ...]:
    """Return a problem for each issue, with the position of the setting or of the closest one above it."""
    return tuple(
        Problem(f"{dotted_path(path)}: {text}; {HOST_REFUSES}", _place(path, host)) for path, text in issues
    )


def _place(path: KeyPath, host: Host) -> FilePosition:
    above = (path[:length] for length in range(len(path), 0, -1))
    return next(filter(None, map(host.settings.locate, above)), FilePosition(host.settings.file))


SWITCH_GATES = ("manifest", "switch", "enabled", "allow", "deny", "slot")  # decide if it is enabled


def manifest_gate(hook: Hook, host: Host, *, name: str, needed_for_files: bool = False) -> Gate:
    """Check for a manifest with a settings schema: without one the program does not treat it as a plugin.

    A single file that the settings name needs none, unless `needed_for_files`.
    """
    if hook.role == MAPPED_ROLE or hook.path is None or hook.beyond_host:
        return Gate("manifest", True)
    if hook.manifest is None and (needed_for_files or not is_single_file(hook)):
        reason = f"plugin manifest not found: {hook.path / name}"
        return Gate("manifest", False, (name,), (name,), "none", reason)
    if schema_of(hook, host) is None:
        return Gate("manifest", False, (SCHEMA,), (SCHEMA,), "none", NO_SCHEMA)
    return Gate("manifest", True, found=hook.manifest.name if hook.manifest else "none needed")


MANIFEST = register_gate(
    GateKind("manifest", state=State.BROKEN, why_no_fix="only the plugin's author can write the manifest")
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


@lru_cache(maxsize=16)
def _spellings(names: tuple[str, ...], ignores_case: bool) -> Mapping[str, str]:
    """Return the first spelling of each plugin id."""
    return {(name.lower() if ignores_case else name).strip(): name for name in reversed(names)}


@dataclass(frozen=True, slots=True)
class PluginSwitches:
    """How a program reads plugin ids in its settings, and how slots and channels switch plugins on or off."""

    ignores_case: bool = True  # before 2026.8: only blanks around an id are ignored
    slots: tuple[str, ...] = ("memory", "contextEngine")  # whose plugin needs no place in `plugins.allow`
    follows_channels: bool = True  # whether a plugin is off if all its channels are disabled

    def as_written(self, hook: Hook, names: Collection[str]) -> Hook:
        """Return the plugin under its id as the settings spell it; unchanged if they do not name it."""
        name = hook.name.lower() if self.ignores_case else hook.name
        written = _spellings(tuple(names), self.ignores_case).get(name, hook.name)
        return hook if written == hook.name else replace(hook, name=written)

    def slot_of(self, hook: Hook, host: Host) -> str:
        """Return the slot that selects the plugin, or an empty text."""
        slots = mapping_or_empty(host.settings.get((*PLUGINS_PATH, "slots")))
        texts = {slot: slots[slot] for slot in self.slots if isinstance(slots.get(slot), str)}
        return next((slot for slot, text in texts.items() if text.strip() == hook.name), "")


def allow_gate(hook: Hook, host: Host, *, switches: PluginSwitches) -> Gate:
    """Check that the plugin is in `plugins.allow`, if that list is not empty, or in a slot."""
    gate = plugin_gates.allow_gate(switches.as_written(hook, listed_ids(host, "allow")), host)
    slot = "" if gate.passed else switches.slot_of(hook, host)
    return Gate("allow", True, found=f"selected by plugins.slots.{slot}") if slot else gate


def deny_gate(hook: Hook, host: Host, *, switches: PluginSwitches) -> Gate:
    """Check that the plugin is not in `plugins.deny`."""
    return plugin_gates.deny_gate(switches.as_written(hook, listed_ids(host, "deny")), host)


def enabled_gate(hook: Hook, host: Host, *, switches: PluginSwitches) -> Gate:
    """Check that the plugin is enabled. A workspace plugin is disabled until the settings name it."""
    hook = switches.as_written(hook, mapping_or_empty(host.settings.get(ENTRIES)))
    gate = plugin_gates.enabled_gate(hook, host)
    if gate.passed and switches.follows_channels and (channel := _disabled_channel(hook, host)):
        where: KeyPath = (*CHANNELS, channel, "enabled")
        reason = "channel disabled in config"
        return Gate("enabled", False, ("true",), ("true",), "false", reason, setting=where)
    where = (*ENTRIES, hook.name, "enabled")
    is_local = hook.folder.source == "workspace"
    allowed = listed_ids(host, "allow")
    is_named = host.settings.get(where) is not None or switches.as_written(hook, allowed).name in allowed
    is_named = is_named or switches.slot_of(hook, host) == "contextEngine"
    if not gate.passed or not is_local or is_named or hook.folder.declared or hook.beyond_host:
        return gate
    fix = Edit(host.settings.file, where, True, f"{dotted_path(where)}: not set → true")
    reason = "workspace plugin (disabled by default)"
    return Gate("enabled", False, ("true",), ("true",), "not set", reason, fix=fix, setting=where)


def _disabled_channel(hook: Hook, host: Host) -> str:
    """Return a channel of the plugin if the settings disable all its channels; else an empty text."""
    names = [name for name, *_ in _channels_of(hook, host)]
    are_off = [host.settings.get((*CHANNELS, name, "enabled")) is False for name in names]
    return names[0] if names and all(are_off) else ""


def configured_gate(hook: Hook, host: Host) -> Gate:
    """Check that the plugin's settings fit its schema; if they do not, the host refuses all settings."""
    where = (*ENTRIES, hook.name, "config")
    wrong = tuple(": ".join(filter(None, (dotted_path(at), text))) for at, text in setting_errors(hook, host))
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
    where: KeyPath = (*PLUGINS_PATH, "slots", kind)
    kinds = kinds_of(read_document(hook.manifest, host)) if hook.manifest is not None else ()
    written = host.settings.get(where)
    chosen = (written.strip() if isinstance(written, str) else "") or default
    chosen = "none" if chosen.lower() == "none" else chosen
    if kind not in kinds or (len(kinds) > 1 and chosen != hook.name):  # it stays active for its other kinds
        return Gate("slot", True)
    if chosen == hook.name:
        return Gate("slot", True, (hook.name,), found=f"selected {kind} slot", setting=where)
    reason = f"{kind} slot disabled" if chosen == "none" else f'{kind} slot set to "{chosen}"'
    fix = Edit(host.settings.file, where, hook.name, f"{dotted_path(where)}: {chosen} → {hook.name}")
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
    fix = Edit(host.settings.file, where, True, f"{dotted_path(where)}: true")
    if len(kept) < len(keys):
        return Gate("access", True, missing=kept, found=found, fix=fix, setting=where)
    if hook.meta.unread_registrations:
        return Gate("access", None, found=f"{found}; others are {KNOWN_AFTER_LOAD}")
    return Gate("access", False, (name,), kept, "not allowed", reason, fix=fix, setting=where)


ACCESS = register_gate(GateKind("access", check=access_gate))


def checked_plugins(
    gate_rules: Mapping[str, GateRule],
    bundled: Callable[[str], BundledParts],
    bundle_ids: Callable[[Host], Collection[str]],
    *,
    is_old: bool = False,
    is_oldest: bool = False,
) -> CheckedPlugins:
    """Return the CheckedPlugins of a program; these gate rules decide which plugins are enabled."""
    on = tuple(gate_rules[name] for name in SWITCH_GATES)
    return CheckedPlugins(on, bundled, bundle_ids, is_old, is_oldest)


def shipped_plugin_gates(
    manifest_name: str,
    brought: frozenset[str],
    memory: str,
    settings: GateRule,
    *,
    switches: PluginSwitches,
    files_need_manifest: bool = False,
) -> Mapping[str, GateRule]:
    """Return all gate rules in display order.

    `brought` are the packages that the host provides, `memory` is the default plugin of the memory slot,
    and `settings` checks whether the host accepts its settings.
    """
    known = dict(plugin_gates.PLUGIN_GATES)
    handler, trusted, sent = known.pop("handler"), known.pop("trusted"), known.pop("sent")
    return {
        "handler": handler,
        **rules_of(
            (MANIFEST, partial(manifest_gate, name=manifest_name, needed_for_files=files_need_manifest))
        ),
        **known,
        **rules_of(
            (ENABLED, partial(enabled_gate, switches=switches)),
            (plugin_gates.ALLOW, partial(allow_gate, switches=switches)),
            (plugin_gates.DENY, partial(deny_gate, switches=switches)),
            (SLOT, partial(slot_gate, kind="memory", default=memory)),
            SCHEMA_FITS,
            (SETTINGS, settings),
            (PACKAGES, partial(packages_gate, brought=brought)),
        ),
        "trusted": trusted,
        **rules_of(ACCESS),
        "sent": sent,
    }
