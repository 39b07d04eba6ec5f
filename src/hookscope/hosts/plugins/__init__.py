"""Hooks that the code of plugins registers. `PluginSystem` combines the rules of a dialect."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hookscope.hosts.plugins.mapped_handlers import MappingRules, mapped_hooks
from hookscope.hosts.plugins.merge_rules import MergeRule
from hookscope.hosts.plugins.plugin_discovery import (
    PluginShape,
    events_registered_in,
    find_plugins,
    rank_plugins,
)
from hookscope.hosts.plugins.plugin_manifest import SchemaIssue
from hookscope.hosts.plugins.plugin_policy import (
    OBSERVE,
    Order,
    PluginPolicy,
    PluginTexts,
    filter_values,
    isolated_payload,
    plugin_call_groups,
)
from hookscope.hosts.plugins.shipped_plugin_gates import setting_problems
from hookscope.hosts.settings.settings_reader import refusal_text
from hookscope.model.event_catalogue import Catalogue, EventType
from hookscope.model.hook import Folder, Hook, Metadata, Problem
from hookscope.model.hook_status import FoundHooks, Gate, GateRule, Ranking
from hookscope.model.host import Arrangement, Host, InstalledPlugin
from hookscope.model.run import Event, EventKind, Policy, Registration
from hookscope.values import dataclass

Places = Callable[[Host], tuple[tuple[Folder, ...], tuple[Problem, ...]]]
SettingsCheck = Callable[[FoundHooks, Host], tuple[SchemaIssue, ...]]


@dataclass(frozen=True, slots=True)
class PluginSystem:
    """Plugin hooks under the rules of one dialect. Implements `HookSystem`."""

    shape: PluginShape
    search_paths: Places
    mappings: MappingRules
    gate_rules: Mapping[str, GateRule]  # name → rule, in display order
    order: Order
    merge_rules: Mapping[str, MergeRule]  # hook → how its answers are merged; without one they are ignored
    isolated_events: frozenset[str] = frozenset()  # hooks whose handlers each get their own copy of the event
    frozen_events: frozenset[str] = frozenset()  # of those, hooks whose copies are read-only
    fail_closed_events: frozenset[str] = frozenset()
    ignored_options: frozenset[str] = frozenset()  # of registrations, which only other versions read
    merges_ctx: bool = False  # see PluginPolicy
    run_id_events: frozenset[str] = frozenset()  # hooks whose event has the `runId` of `ctx`
    texts: PluginTexts = PluginTexts()
    check_settings: SettingsCheck | None = None  # refusals because of plugins
    commands_check_settings: bool = False  # whether the host's commands refuse such settings too
    catalogue: Callable[[], Catalogue] = Catalogue  # set by the dialect

    @property
    def kind(self) -> EventKind:
        return "plugin"

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        return self.search_paths(host)

    def find(self, host: Host) -> FoundHooks:
        plugins = self._plugins(host)
        mapped = mapped_hooks(host, self.mappings)
        return FoundHooks(
            hooks=plugins.hooks + installed_hooks(host) + mapped.hooks,
            rejected=plugins.rejected + mapped.rejected,
            problems=plugins.problems + mapped.problems + setting_problems(self.settings_issues(host), host),
        )

    def _plugins(self, host: Host) -> FoundHooks:
        """Return the plugins, found once per host: hooks of other kinds need them too."""
        return host.cached(find_plugins, lambda: find_plugins(host, self.shape))

    def settings_issues(self, host: Host) -> tuple[SchemaIssue, ...]:
        """Return why the host refuses its settings because of a plugin's schema; empty if it accepts them."""
        check = self.check_settings
        if check is None or host.settings.refusal:
            return ()
        return host.cached(check, lambda: check(self._plugins(host), host))

    def rank(self, found: FoundHooks) -> Ranking:
        return rank_plugins(found)

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        return tuple(rule(hook, host) for rule in self.gate_rules.values())

    def keys(self, event: Event) -> tuple[str, ...]:
        return (self._canonical_name(event),)

    def arrange(self, event: Event, registrations: Sequence[Registration]) -> Arrangement:
        event = self._with_canonical_name(event)
        if event.type in self.isolated_events and isolated_payload(event.context) is None:
            return Arrangement(())  # the policy reports the failure
        event_type = self._event_type(event)
        return plugin_call_groups(event, registrations, event_type, self.order, self.ignored_options)

    def plan_key(self, event: Event) -> tuple[object, ...]:
        """Return the parts of the event that `arrange` depends on, and the event's name as written."""
        canonical = self._with_canonical_name(event)
        is_copied = canonical.type not in self.isolated_events or isolated_payload(event.context) is not None
        return event.type, event.action, is_copied, *filter_values(canonical)

    def prepare(self, event: Event, host: Host, entropy: bytes) -> Event:
        """Return the event in the host's spelling, with the known members of `ctx` filled in.

        Known values replace the catalogue's examples; any other values are kept.
        """
        event = self._with_canonical_name(event)
        event_type = self._event_type(event)
        example = event_type.ctx if event_type is not None else {}
        facts = _known_context(event, host, example)
        own = {
            name: value for name, value in event.ctx.items() if name not in facts or value != example[name]
        }
        return replace(event, ctx={**event.ctx, **facts, **own})

    def policy(self, event: Event) -> Policy:
        name, event_type = self._canonical_name(event), self._event_type(event)
        return PluginPolicy(
            hook=name,
            mode=event_type.policy if event_type is not None else OBSERVE,
            payload=event.context,
            merge_rule=self.merge_rules.get(name),
            isolated=name in self.isolated_events,
            frozen=name in self.frozen_events,
            fails_closed=name in self.fail_closed_events,
            merges_ctx=self.merges_ctx,
            copies_run_id=name in self.run_id_events,
            texts=self.texts,
        )

    def _canonical_name(self, event: Event) -> str:
        return self.catalogue().canonical(event.type)

    def _with_canonical_name(self, event: Event) -> Event:
        name = self._canonical_name(event)
        return event if name == event.type else replace(event, type=name)

    def _event_type(self, event: Event) -> EventType | None:
        return self.catalogue().by_key.get(self._canonical_name(event))


def _known_context(event: Event, host: Host, example: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of this event's `ctx` whose values are known here."""
    facts = {
        "sessionKey": event.session_key or None,
        "workspaceDir": str(host.workspace),
        "toolName": event.context.get("toolName"),
        "toolCallId": event.context.get("toolCallId"),
        "runId": event.context.get("runId"),
        "args": event.context.get("params"),
        "result": event.context.get("result"),
        "direction": example.get("direction"),
    }
    return {name: facts[name] for name in example if facts.get(name) is not None}


def settings_refusal(host: Host, *, of_command: bool = False) -> str:
    """Return the host's error if it refuses its settings, including those of plugins; else an empty text.

    `of_command`: return the error of the host's own command, which may accept more settings than the host.
    """
    if host.settings.refusal:
        return host.settings.refusal
    issues = plugin_setting_issues(host, of_command=of_command)
    rules = replace(host.dialect.settings_rules, path_text=None)  # the program quotes no ids in these paths
    return refusal_text(rules, host.settings.file, issues) if issues else ""


def plugin_setting_issues(host: Host, *, of_command: bool = False) -> tuple[SchemaIssue, ...]:
    """Return why the host, or its command, refuses its settings because of plugins and channels."""
    systems = (system for system in host.dialect.systems if isinstance(system, PluginSystem))
    checking = (system for system in systems if system.commands_check_settings or not of_command)
    return tuple(issue for system in checking for issue in system.settings_issues(host))


INSTALLED = "installed"
INSTALLED_RANK = 10  # lowest, so a plugin in a folder wins over an installed one


def installed_hooks(host: Host) -> tuple[Hook, ...]:
    """Return a hook for each installed plugin, by name. Packages are read as text and not imported."""
    return tuple(
        _installed_hook(plugin, host) for plugin in sorted(host.overrides.plugins, key=lambda one: one.name)
    )


def _installed_hook(plugin: InstalledPlugin, host: Host) -> Hook:
    package = plugin.file.parent
    real = host.machine.files.real(package)
    folder = Folder(
        INSTALLED,
        "installed plugins",
        package,
        INSTALLED_RANK,
        "hookscope.plugins",
        real=real,
        hook_kind="plugin",
    )
    registered = events_registered_in(plugin.file, "python", host, package)
    return Hook(
        name=plugin.name,
        kind="plugin",
        folder=folder,
        path=None,
        meta=Metadata(
            events=registered.events,
            priorities=registered.priorities,
            folder_events=registered.folder_events,
            unread_registrations=registered.unread,
            export=plugin.export,
        ),
        description="a Python package's entry point",
        handler=plugin.file,
        language="python",
        real=real,
        beyond_host=True,
        root=package,
    )
