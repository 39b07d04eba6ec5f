"""OpenClaw's internal hooks and those of its plugins, as its guides describe them (seeds 003 and 004)."""

from functools import partial
from pathlib import Path

from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.guide_rules import REQUIREMENT_GATES, guide_gates
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.hook_discovery import FolderShape
from hookscope.hosts.folders.legacy_handlers import LegacyRule
from hookscope.hosts.folders.search_paths import (
    MANAGED,
    WORKSPACE,
    accept_any_folder,
    bundled_folder,
    extra_folders,
    hooks_folder,
)
from hookscope.hosts.gates.path import own_folder_gate
from hookscope.hosts.plugins import PluginSystem
from hookscope.hosts.plugins.mapped_handlers import MappingRules
from hookscope.hosts.plugins.merge_rules import GUIDE_MERGE_RULES
from hookscope.hosts.plugins.plugin_discovery import PluginShape, guide_folders, plugin_places
from hookscope.hosts.plugins.plugin_gates import PLUGIN_GATES
from hookscope.model.hook import Folder, Problem
from hookscope.model.host import Dialect, Host, HostLayout, LoaderMessages, PackRules, SwitchRules


def places(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Return the hooks folders, highest first: workspace, managed, bundled, extra.

    This is also the order of registration. Source: guide 004 section 6, which names the first
    three; extra folders come after them.
    """
    extra, problems = extra_folders(host, 10, accept_any_folder)
    managed = hooks_folder(host, MANAGED, host.state / "hooks", 30)
    workspace = hooks_folder(host, WORKSPACE, host.workspace / "hooks", 40)
    return (workspace, managed, *bundled_folder(host, 20), *extra), problems


def legacy_roots(host: Host) -> tuple[Path, ...]:
    """Return the workspace and the hooks folders: the guide requires "path safety", and names no roots."""
    folders = [folder.real for folder in host.folders_of("folder") if folder.real is not None]
    return (host.machine.files.real(host.workspace), *folders)


LEGACY = LegacyRule(
    roots=legacy_roots,
    links_resolved=True,
    refusal='Handler module "{module}" is outside the workspace and the hooks folders',
)

MANIFEST = "openclaw.plugin.json"  # of a plugin


def extensions_folders(host: Host) -> tuple[tuple[str, Path], ...]:
    """Return the folders in which the program finds plugins, each with its source."""
    return (
        ("workspace", host.workspace / ".openclaw" / "extensions"),
        ("managed", host.config_folder / "extensions"),
    )


def places_of_plugins(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Return the guide's plugin folders, and those of the program: users have plugins there."""
    own = zip(("workspace", "managed"), guide_folders(host), strict=True)
    return plugin_places(host, *own, *extensions_folders(host), manifest=MANIFEST)


PLUGINS = PluginSystem(
    shape=PluginShape(
        manifest=MANIFEST,
        package_key="openclaw",
        other_manifests=(".codex-plugin/plugin.json", ".claude-plugin/plugin.json"),
    ),
    search_paths=places_of_plugins,
    mappings=MappingRules(setting=("plugins", "hooks")),
    gate_rules=PLUGIN_GATES,
    order="lower first",  # guide 003, "Execution Model"
    merge_rules=GUIDE_MERGE_RULES,
    merges_ctx=True,  # guide 003 calls handlers with one object that has sessionKey, channel, direction
)

OPENCLAW = Dialect(
    name="openclaw",
    title="OpenClaw, as its guide says",
    product="OpenClaw",
    layout=HostLayout(
        state="~/.openclaw",
        settings="openclaw.json",
        state_variable="OPENCLAW_STATE_DIR",
        settings_variable="OPENCLAW_CONFIG_PATH",
        workspace_variable="OPENCLAW_WORKSPACE_DIR",
        program="openclaw",
        packages=("openclaw",),
        version_path=("meta", "lastTouchedVersion"),
        own_bundled="dist/bundled",
    ),
    systems=(
        FolderSystem(
            shape=FolderShape("openclaw", ("handler.ts", "handler.js", "index.ts", "index.js")),
            search_paths=places,
            rules=guide_gates(own_folder_gate, LEGACY),
            always_skips=REQUIREMENT_GATES | {"os"},  # "Bypass eligibility checks"
            error_text="Hook error [{event}]: {message}",  # guide 004 section 4, "Execution Engine"
            legacy_rule=LEGACY,
            type_first=True,
        ),
        PLUGINS,
    ),
    loader_messages=LoaderMessages(
        not_loaded="Failed to load hook {name}: {error}",
        no_function="Handler '{export}' from {name} is not a function",
        no_events="Hook '{name}' has no events defined in metadata",
    ),
    switch_rules=SwitchRules(
        also_true=(("hooks", "internal", "enabled"),),
        refuses_blocked=True,
        when_noticed="OpenClaw notices the change when its gateway restarts.",
    ),
    pack_rules=PackRules("openclaw"),
    catalogue=partial(catalogue, "openclaw", "openclaw_plugins"),
    sequences=("openclaw_sequences",),
)
