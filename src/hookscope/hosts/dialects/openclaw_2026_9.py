"""OpenClaw 2026.9 as shipped, as recorded with version 2026.9.6."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter

from hookscope.hosts.dialects.catalogues import DATA_FOLDER, catalogue
from hookscope.hosts.dialects.guide_rules import REQUIREMENT_GATES
from hookscope.hosts.dialects.openclaw import MANIFEST, OPENCLAW, PLUGINS, extensions_folders
from hookscope.hosts.dialects.openclaw_2026_9_command import OpenClawCommand
from hookscope.hosts.dialects.openclaw_2026_9_settings import (
    agents_in,
    bundled_parts,
    loaded_settings,
    settings_issues,
    unknown_key_advice,
)
from hookscope.hosts.folders import FolderSystem, shipped_gates
from hookscope.hosts.folders.folder_policy import error_chain_text
from hookscope.hosts.folders.hook_collections import CollectionRules, find_in_collections
from hookscope.hosts.folders.hook_discovery import FolderShape, FolderTexts
from hookscope.hosts.folders.search_paths import (
    BUNDLED,
    EXTRA,
    MANAGED,
    WORKSPACE,
    BundleRules,
    SourcePolicy,
    accept_any_folder,
    bundle_folders,
    bundle_ids,
    bundled_folder,
    extra_folders,
    hooks_folder,
    rank_by_source,
)
from hookscope.hosts.folders.strict_reload import StrictFolders
from hookscope.hosts.gates import config
from hookscope.hosts.gates.bins import ANY_BINS, BINS
from hookscope.hosts.gates.enabled import ENABLED, SWITCH
from hookscope.hosts.gates.env import ENV
from hookscope.hosts.gates.events import EVENTS
from hookscope.hosts.gates.handler import HANDLER
from hookscope.hosts.gates.os import OS
from hookscope.hosts.gates.rules import cached_by_field, rules_of
from hookscope.hosts.gates.sent import SENT
from hookscope.hosts.gates.trusted import TRUSTED
from hookscope.hosts.plugins import plugin_setting_issues, settings_refusal
from hookscope.hosts.plugins.mapped_handlers import MappingRules
from hookscope.hosts.plugins.plugin_discovery import plugin_places
from hookscope.hosts.plugins.plugin_gates import access_of
from hookscope.hosts.plugins.plugin_policy import PluginTexts
from hookscope.hosts.plugins.shipped_merge_rules import (
    FAIL_CLOSED_EVENTS,
    FROZEN_EVENTS,
    SEPARATE_COPY_EVENTS,
    SHIPPED_MERGE_RULES,
    merge_prompt_build,
)
from hookscope.hosts.plugins.shipped_plugin_gates import PluginSwitches, checked_plugins, shipped_plugin_gates
from hookscope.hosts.plugins.tool_names import ToolNames
from hookscope.hosts.program_answers import command_answers, listed_items
from hookscope.hosts.settings.closed_schema import path_text
from hookscope.model.failure import Failure
from hookscope.model.hook import Folder, Hook, Problem
from hookscope.model.hook_status import Gate
from hookscope.model.host import (
    Dialect,
    Host,
    LoaderMessages,
    LoadRules,
    PackRules,
    SettingsRules,
    SwitchRules,
)
from hookscope.model.program_report import ProgramReport
from hookscope.model.run import ASYNC_REGISTER, MISNAMED, UNNAMED, Module

_GROUPS: dict[str, str] = json.loads((DATA_FOLDER / "openclaw_2026_9_tool_groups.json").read_bytes())
TOOLS = ToolNames(
    {name: tuple(tools.split()) for name, tools in _GROUPS.items()},
    {"bash": "exec", "apply-patch": "apply_patch", "cron": "automations"},
    foreign_names=frozenset({"bash", "exec_command", "apply-patch", "Write", "Edit", "agent"}),
    foreign_name_error="entries must use canonical OpenClaw tool ids",
)


FROM_BUNDLED, FROM_PLUGIN = "openclaw-bundled", "openclaw-plugin"
FROM_MANAGED, FROM_WORKSPACE = "openclaw-managed", "openclaw-workspace"

# rules-openclaw section 1: which sources a hook of one source may replace
POLICY = SourcePolicy(
    replaces={
        FROM_PLUGIN: frozenset({FROM_BUNDLED}),
        FROM_MANAGED: frozenset({FROM_BUNDLED, FROM_PLUGIN, FROM_MANAGED}),
        FROM_WORKSPACE: frozenset({FROM_WORKSPACE}),
    },
    refusal='[hooks/workspace] Ignoring {source} hook "{name}" because it cannot override {other} hook code',
)
BUNDLES = BundleRules(
    manifests={
        ".codex-plugin/plugin.json": "hooks",
        ".cursor-plugin/plugin.json": None,
        ".claude-plugin/plugin.json": "",
    },
    extensions="extensions",
)
COLLECTIONS = CollectionRules(
    namespaces=("openclaw", "clawdbot"),
    package_key="openclaw",
    install_labels={
        "bundled": "Bundled with OpenClaw",
        "npm": "Install {package} (npm)",
        "git": "Install from {repository}",
        "": "Run installer",
    },
    may_be_hook_sources=frozenset({EXTRA}),
)
CONFIG = shipped_gates.ConfigGate(
    true_when_absent=frozenset({"workspace.dir", "browser.enabled", "browser.evaluateEnabled"}),
    as_loaded=loaded_settings,
)


def settings_gate(hook: Hook, host: Host) -> Gate:
    """Check that the program accepts its settings: under its own schema, and those of the plugins."""
    gate = shipped_gates.settings_gate(hook, host)
    issues = plugin_setting_issues(host) if gate.passed else ()
    if not issues:
        return gate
    reason = " ".join(settings_refusal(host).split())
    return replace(
        gate, passed=False, missing=("valid settings",), found="refused", reason=reason, setting=issues[0][0]
    )


# Requirements as the lists show them, the events, then the loader's own gates.
RULES = rules_of(
    (shipped_gates.SETTINGS, settings_gate),
    HANDLER,
    (OS, cached_by_field(attrgetter("meta.os"))(shipped_gates.ReportedOsGate(aliases={"macos": "darwin"}))),
    (BINS, shipped_gates.bins_gate),
    (ANY_BINS, shipped_gates.any_bins_gate),
    (ENV, shipped_gates.env_gate),
    (config.CONFIG, cached_by_field(attrgetter("meta.requires.config"))(CONFIG)),
    (ENABLED, shipped_gates.EnabledGate("workspace hook (disabled by default)")),
    (EVENTS, shipped_gates.events_gate),
    shipped_gates.OS_OF_LOADER,
    (SWITCH, shipped_gates.loader_switch_gate),
    shipped_gates.SELECTED,
    TRUSTED,
    SENT,
)


def places(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Return the hooks folders in merge order: bundled, plugins, extra, managed, workspace (disc-01).

    The lowest rank is first. Extra folders count as managed; relative ones are resolved against the
    current folder (disc-16).
    """
    extra, problems = extra_folders(host, 30, accept_any_folder, label=FROM_MANAGED, base=host.machine.cwd)
    return (
        *bundled_folder(host, 10, label=FROM_BUNDLED),
        *bundle_folders(host, 20, FROM_PLUGIN, BUNDLES),
        *extra,
        hooks_folder(host, MANAGED, host.config_folder / "hooks", 30, label=FROM_MANAGED),
        hooks_folder(host, WORKSPACE, host.workspace / "hooks", 40, label=FROM_WORKSPACE),
    ), problems


def places_of_plugins(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Return the program's plugin folders."""
    return plugin_places(host, *extensions_folders(host), manifest=MANIFEST, configured_first=True)


REFUSALS = {UNNAMED: "hook registration missing name", ASYNC_REGISTER: "plugin register must be synchronous"}


def plugin_failure(
    module: Module, refusals: Mapping[str, str] = REFUSALS, tools: ToolNames | None = TOOLS
) -> Failure | None:
    """Return the first reason why the program rejects the plugin of this module, in the program's words."""
    for fault in module.findings:
        if fault.startswith(MISNAMED):
            manifest, _, own = fault.removeprefix(MISNAMED).partition("\n")
            text = f'plugin id mismatch (config uses "{manifest}", export uses "{own}")'
            return Failure("Error", text, phase="load")
    if tools is not None and (failure := tools.registration_failure(module)) is not None:
        return failure
    texts = (text for finding, text in refusals.items() if finding in module.findings)
    return next((Failure("Error", text, phase="load") for text in texts), None)


CATALOGUE = partial(catalogue, "openclaw_2026_9", "openclaw_2026_9_plugins", hyphens=False, version="2026.9")
NO_EVENTS = "Hook has no events defined in metadata"
FAILED = "[hooks:loader] Failed to load hook {name}: "
TRUSTED_CODE = "[hooks:loader] Loading {} hook code into the gateway process. Hooks are trusted local code."

FOLDERS = FolderSystem(
    shape=FolderShape(
        "openclaw",
        ("handler.ts", "handler.js", "index.ts", "index.js"),
        older_namespaces=COLLECTIONS.namespaces[1:],
        follows_links=False,
        rejects_outside_handler=True,
        reports_real_handler=True,
        marks_python=True,
    ),
    search_paths=places,
    rules=RULES,
    always_skips=REQUIREMENT_GATES,  # not the platform, not the switch (req-05)
    error_text="[internal-hooks] Hook error [{event}]: {message}",  # disp-02
    texts=FolderTexts(
        no_handler='[hooks/workspace] Hook "{name}" has HOOK.md but no readable handler in {folder}',
        oversized="[hooks/workspace] Ignoring oversized hook metadata {file}: "
        "file exceeds the {limit}-byte limit",
        out_of_package='[hooks/workspace] Ignoring out-of-package hook path "{entry}" in {folder} '
        "(must be within package directory)",
    ),
    type_first=True,
    failure_text=error_chain_text,
    finder=partial(find_in_collections, rules=COLLECTIONS),
    ranker=partial(rank_by_source, policy=POLICY),
)

CHECKED_PLUGINS = partial(
    checked_plugins, bundled=bundled_parts, bundle_ids=partial(bundle_ids, rules=BUNDLES)
)
gates_of_plugins = partial(
    shipped_plugin_gates,
    MANIFEST,
    frozenset({"openclaw", "@openclaw/plugin-sdk"}),
    memory="memory-core",
    settings=settings_gate,
)
GATES_OF_PLUGINS = gates_of_plugins(switches=PluginSwitches())
PLUGIN_HOOKS = replace(
    PLUGINS,
    shape=replace(
        PLUGINS.shape,
        entries=tuple(name for name in PLUGINS.shape.entries if name.startswith("index")),
        access=access_of,
        marks_python=True,
        as_shipped=True,
        splits_packages=True,
        shipped_ids=lambda version: bundled_parts(version).shipped,
    ),
    search_paths=places_of_plugins,
    gate_rules=GATES_OF_PLUGINS,
    check_settings=CHECKED_PLUGINS(GATES_OF_PLUGINS).issues,
    mappings=MappingRules(setting=None),  # its closed schema has no such key
    order="higher first",  # plug-01
    merge_rules={
        **SHIPPED_MERGE_RULES,
        "before_prompt_build": replace(
            SHIPPED_MERGE_RULES["before_prompt_build"], merge=merge_prompt_build(TOOLS)
        ),
    },
    texts=PluginTexts(max_length=500),
    isolated_events=SEPARATE_COPY_EVENTS,
    frozen_events=FROZEN_EVENTS,
    fail_closed_events=FAIL_CLOSED_EVENTS,
    merges_ctx=False,
    run_id_events=frozenset({"before_agent_finalize", "agent_end"}),
)

PACKS = PackRules(COLLECTIONS.package_key, installs_whole_package=True)

OPENCLAW_2026_9 = Dialect(
    name="openclaw@2026.9",
    title="OpenClaw 2026.9, as shipped",
    product="OpenClaw",
    version="2026.9",
    since="2026.8.1-beta.1",
    until="2026.10",
    layout=replace(
        OPENCLAW.layout,
        home_variable="OPENCLAW_HOME",
        profile_variable="OPENCLAW_PROFILE",
        hooks_beside_settings=True,
        older_states=("~/.clawdbot",),
        older_settings=("clawdbot.json",),
        bundled_variable="OPENCLAW_BUNDLED_HOOKS_DIR",
        agents=agents_in,
    ),
    systems=(FOLDERS, PLUGIN_HOOKS),
    loader_messages=LoaderMessages(
        not_loaded=FAILED + "{error}",
        no_function=FAILED + "Handler '{export}' is not a function",
        no_events=FAILED + NO_EVENTS,
        loading={
            EXTRA: TRUSTED_CODE.format("managed"),
            MANAGED: TRUSTED_CODE.format("managed"),
            WORKSPACE: TRUSTED_CODE.format("workspace"),
        },
        never_sent="[hooks:loader] Hook '{name}' subscribes to {what} {events} not emitted by "
        "OpenClaw core — likely a typo; unless a plugin emits it, the hook never fires. "
        "Known events: https://docs.openclaw.ai/automation/hooks",
    ),
    bundled_names=frozenset(
        {"boot-md", "bootstrap-extra-files", "command-logger", "compaction-notifier", "session-memory"}
    ),
    switch_rules=SwitchRules(
        also_true=(("hooks", "internal", "enabled"),),
        refuses_blocked=True,
        when_noticed="OpenClaw notices the change at once if its gateway reloads settings, else on restart.",
    ),
    entry_env=False,
    settings_rules=SettingsRules(
        include="$include",
        variables=True,
        dotenv=".env",
        env_path=("env", "vars"),
        check=settings_issues,
        advice_for=unknown_key_advice,
        refusal="Invalid config at {file}:\n{issues}",
        refusal_starts=("Invalid config at", "Failed to read config at"),
        issue="- {path}: {text}",
        path_text=path_text,
    ),
    load_rules=LoadRules(
        plain=True,
        keeps_code_registrations=True,
        off_stops_dispatch=True,
        accepts_classes=True,
        no_events=NO_EVENTS,
        refusal_of_module=plugin_failure,
        sources_imported_once=frozenset({BUNDLED}),
        plugins_use_folder_events=True,
        failed="Failed to load hook {name}: {error}",
        no_function="Handler '{export}' is not a function",
        strict_check=StrictFolders(
            shipped_gates.names_in_entries,
            shipped_gates.has_hook_settings,
            lost_manifest='Hook "{name}" has missing or invalid metadata at {file}',
            lost_handler='Hook "{name}" has no readable handler in {folder}',
        ),
    ),
    command=OpenClawCommand(CONFIG),
    program_report=ProgramReport(
        listed_items,
        command_answers,
        commands={
            "list": ("hooks", "list", "--json"),
            "check": ("hooks", "check", "--json"),
            "plugins": ("plugins", "list", "--json"),
        },
        info_command=("hooks", "info", "{name}", "--json"),
        agent_flag="--agent",
        state_entries=("hooks", "extensions", "plugins", "npm"),
    ),
    pack_rules=PACKS,
    catalogue=CATALOGUE,
    sequences=("openclaw_2026_9_sequences",),
)
