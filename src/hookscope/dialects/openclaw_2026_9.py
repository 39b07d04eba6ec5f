"""OpenClaw 2026.9 as shipped, in the way that version 2026.9.6 was recorded to behave."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter

from hookscope.core.dialect import Dialect, Host
from hookscope.core.failure import Failure
from hookscope.core.hooks import Folder, Hook, Problem
from hookscope.core.rules import LoaderTexts, LoadRules, PackRules, SettingsRules, Switching
from hookscope.core.runs import MISNAMED, PROMISE, UNNAMED, Module
from hookscope.core.standing import Gate
from hookscope.dialects.catalogues import catalogue
from hookscope.dialects.guides import REQUIREMENTS
from hookscope.dialects.openclaw import MANIFEST, OPENCLAW, PLUGINS
from hookscope.dialects.openclaw_2026_9_command import Command
from hookscope.dialects.openclaw_2026_9_settings import agents_in, as_loaded, issues
from hookscope.dialects.openclaw_2026_9_tools import TOOLS
from hookscope.dialects.openclaw_2026_9_unknown import advice
from hookscope.systems.folders import FolderSystem, gates, shipped_gates
from hookscope.systems.folders.closed_settings import path_text
from hookscope.systems.folders.collections import Collections, find_in_collections
from hookscope.systems.folders.places import (
    BUNDLED,
    EXTRA,
    MANAGED,
    WORKSPACE,
    any_extra,
    bundled_folder,
    extra_folders,
    hooks_folder,
)
from hookscope.systems.folders.plugin_bundles import Bundles, bundle_folders
from hookscope.systems.folders.policy import bare_chain
from hookscope.systems.folders.shapes import FolderShape, FolderTexts
from hookscope.systems.folders.source_policy import SourcePolicy, ranking_by_source
from hookscope.systems.folders.strict import StrictFolders
from hookscope.systems.plugins.access import access_of
from hookscope.systems.plugins.mapping import Mappings
from hookscope.systems.plugins.places import plugin_places
from hookscope.systems.plugins.policy import Words
from hookscope.systems.plugins.shipped_gates import as_shipped, asked_plugins
from hookscope.systems.plugins.shipped_merges import APART, FAIL_CLOSED, FROZEN, SHIPPED, prompt_build

FROM_BUNDLED, FROM_PLUGIN = "openclaw-bundled", "openclaw-plugin"
FROM_MANAGED, FROM_WORKSPACE = "openclaw-managed", "openclaw-workspace"

# rules-openclaw section 1: what a newcomer of one source may take the name of
POLICY = SourcePolicy(
    replaces={
        FROM_PLUGIN: frozenset({FROM_BUNDLED}),
        FROM_MANAGED: frozenset({FROM_BUNDLED, FROM_PLUGIN, FROM_MANAGED}),
        FROM_WORKSPACE: frozenset({FROM_WORKSPACE}),
    },
    refusal='[hooks/workspace] Ignoring {source} hook "{name}" because it cannot override {other} hook code',
)
BUNDLES = Bundles(manifest=".codex-plugin/plugin.json")
COLLECTIONS = Collections(
    namespaces=("openclaw", "clawdbot"),
    package_key="openclaw",
    install_labels={
        "bundled": "Bundled with OpenClaw",
        "npm": "Install {package} (npm)",
        "git": "Install from {repository}",
        "": "Run installer",
    },
    may_be_hooks=frozenset({EXTRA}),
)
CONFIG = shipped_gates.Config(
    true_when_absent=frozenset({"workspace.dir", "browser.enabled", "browser.evaluateEnabled"}),
    as_loaded=as_loaded,
)


def settings(hook: Hook, host: Host) -> Gate:
    """Does the program take its settings: its own schema, and those of the plugins."""
    gate, rules = shipped_gates.settings(hook, host), host.dialect.settings_rules
    issues = PLUGIN_HOOKS.refused(host) if gate.passed else ()
    if not issues:
        return gate
    lines = (rules.issue.format(path=path_text(path), text=text) for path, text in issues)
    reason = " ".join(rules.refusal.format(file=host.settings.file, issues=" ".join(lines)).split())
    return replace(
        gate, passed=False, missing=("valid settings",), found="refused", reason=reason, setting=issues[0][0]
    )


# Requirements as the lists show them, the events, then what only the loader asks.
RULES: Mapping[str, gates.GateRule] = {
    "settings": settings,
    "handler": gates.handler,
    "os": gates.asked_once(attrgetter("meta.os"))(shipped_gates.ReportedOs(aliases={"macos": "darwin"})),
    "bins": shipped_gates.bins,
    "anyBins": shipped_gates.any_bins,
    "env": shipped_gates.env,
    "config": gates.asked_once(attrgetter("meta.requires.config"))(CONFIG),
    "enabled": shipped_gates.Enabled("workspace hook (disabled by default)"),
    "events": shipped_gates.events,
    "osOfLoader": shipped_gates.os_of_loader,
    "switch": shipped_gates.switch_of_loader,
    "selected": shipped_gates.selected,
    "trusted": gates.trusted,
    "sent": gates.sent,
}


def places(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Lowest first, in the order of merging: bundled, plugins, extra, managed, workspace (disc-01).

    Extra folders count as managed, and relative ones from the current folder (disc-16).
    """
    extra, problems = extra_folders(host, 30, any_extra, label=FROM_MANAGED, base=host.surroundings.cwd)
    return (
        *bundled_folder(host, 10, label=FROM_BUNDLED),
        *bundle_folders(host, 20, FROM_PLUGIN, BUNDLES),
        *extra,
        hooks_folder(host, MANAGED, host.state / "hooks", 30, label=FROM_MANAGED),
        hooks_folder(host, WORKSPACE, host.workspace / "hooks", 40, label=FROM_WORKSPACE),
    ), problems


def places_of_plugins(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """The guide's folders, and the program's own beside them: `extensions`."""
    return plugin_places(
        host,
        ("workspace", host.workspace / ".openclaw" / "extensions"),
        ("managed", host.state / "extensions"),
        manifest=MANIFEST,
    )


def error_text(key: str, event: str, message: str) -> str:
    """The event, not the key that matched (disp-02)."""
    return f"[internal-hooks] Hook error [{event}]: {message}"


def refused(module: Module) -> Failure | None:
    """Why the program fails a plugin that registers this, in its words. The first that it comes to."""
    for asked in module.asked:
        if asked.startswith(MISNAMED):
            manifest, _, own = asked.removeprefix(MISNAMED).partition("\n")
            text = f'plugin id mismatch (config uses "{manifest}", export uses "{own}")'
            return Failure("Error", text, phase="load")
    if UNNAMED in module.asked:
        return Failure("Error", "hook registration missing name", phase="load")
    if (failure := TOOLS.refused(module)) is not None:
        return failure
    waits = PROMISE in module.asked
    return Failure("Error", "plugin register must be synchronous", phase="load") if waits else None


CATALOGUE = partial(catalogue, "openclaw_2026_9", "openclaw_2026_9_plugins", hyphens=False)
NO_EVENTS = "Hook has no events defined in metadata"
FAILED = "[hooks:loader] Failed to load hook {name}: "
TRUSTED_CODE = "[hooks:loader] Loading {} hook code into the gateway process. Hooks are trusted local code."

FOLDERS = FolderSystem(
    shape=FolderShape(
        "openclaw",
        ("handler.ts", "handler.js", "index.ts", "index.js"),
        older_namespaces=COLLECTIONS.namespaces[1:],
        follows_links=False,
        handler_must_stay=True,
        reports_real_handler=True,
        marks_python=True,
    ),
    places=places,
    rules=RULES,
    always_skips=REQUIREMENTS,  # not the platform, not the switch (req-05)
    error_text=error_text,
    texts=FolderTexts(
        no_handler='[hooks/workspace] Hook "{name}" has HOOK.md but no readable handler in {folder}',
        oversized="[hooks/workspace] Ignoring oversized hook metadata {file}: "
        "file exceeds the {limit}-byte limit",
        out_of_package='[hooks/workspace] Ignoring out-of-package hook path "{entry}" in {folder} '
        "(must be within package directory)",
    ),
    type_first=True,
    words=bare_chain,
    finder=partial(find_in_collections, rules=COLLECTIONS),
    ranker=partial(ranking_by_source, policy=POLICY),
)

GATES_OF_PLUGINS = as_shipped(
    MANIFEST, frozenset({"openclaw", "@openclaw/plugin-sdk"}), memory="memory-core", settings=settings
)
PLUGIN_HOOKS = replace(
    PLUGINS,
    shape=replace(PLUGINS.shape, access=access_of, marks_python=True),
    places=places_of_plugins,
    gate_rules=GATES_OF_PLUGINS,
    refuses=asked_plugins(GATES_OF_PLUGINS).issues,
    mappings=Mappings(setting=None),  # its closed schema knows no such key
    order="higher first",  # plug-01
    rules={
        **SHIPPED,
        "before_prompt_build": replace(SHIPPED["before_prompt_build"], merge=prompt_build(TOOLS)),
    },
    words=Words(longest=500),
    catalogue=CATALOGUE,
    apart=APART,
    frozen=FROZEN,
    fails_closed=FAIL_CLOSED,
    one_object=False,
)

OPENCLAW_2026_9 = Dialect(
    name="openclaw@2026.9",
    title="OpenClaw 2026.9, as shipped",
    product="OpenClaw",
    version="2026.9",
    layout=replace(OPENCLAW.layout, bundled_variable="OPENCLAW_BUNDLED_HOOKS_DIR", agents=agents_in),
    systems=(
        FOLDERS,
        PLUGIN_HOOKS,
    ),
    texts=LoaderTexts(
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
    ships=frozenset(
        {"boot-md", "bootstrap-extra-files", "command-logger", "compaction-notifier", "session-memory"}
    ),
    switching=Switching(
        also_true=(("hooks", "internal", "enabled"),),
        refuses_blocked=True,
        notices="OpenClaw notices at once if its gateway reloads settings, else when it is restarted.",
    ),
    entry_env=False,
    settings_rules=SettingsRules(
        include="$include",
        variables=True,
        dotenv=".env",
        env_path=("env", "vars"),
        check=issues,
        advice=advice,
        refusal="Invalid config at {file}:\n{issues}",
        issue="- {path}: {text}",
        path_text=path_text,
    ),
    load_rules=LoadRules(
        plain=True,
        keeps_code=True,
        off_closes=True,
        takes_classes=True,
        no_events=NO_EVENTS,
        refuses=refused,
        imports_once=frozenset({BUNDLED}),
        crosses=True,
        failed="Failed to load hook {name}: {error}",
        no_function="Handler '{export}' is not a function",
        strict_look=StrictFolders(
            FOLDERS,
            shipped_gates.named_by_entries,
            shipped_gates.configures,
            lost_manifest='Hook "{name}" has missing or invalid metadata at {file}',
            lost_handler='Hook "{name}" has no readable handler in {folder}',
        ),
    ),
    command=Command(CONFIG),
    packs=PackRules(COLLECTIONS.package_key, whole=True),
    catalogue=CATALOGUE,
    sequences=("openclaw_2026_9_sequences",),
)
