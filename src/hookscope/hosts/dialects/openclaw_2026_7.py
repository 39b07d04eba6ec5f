"""OpenClaw 2026.6 and 2026.7 as shipped: where they differ from 2026.9. Recorded with 2026.7.35."""

from dataclasses import replace
from functools import partial
from operator import attrgetter

from hookscope.formats.text_header import HeaderRules
from hookscope.hosts.dialects.openclaw import LEGACY
from hookscope.hosts.dialects.openclaw_2026_9 import (
    CATALOGUE,
    CHECKED_PLUGINS,
    COLLECTIONS,
    CONFIG,
    FAILED,
    FOLDERS,
    OPENCLAW_2026_9,
    PACKS,
    PLUGIN_HOOKS,
    gates_of_plugins,
    plugin_failure,
)
from hookscope.hosts.dialects.openclaw_2026_9_command import CommandRules, OpenClawCommand, RefusalFrame
from hookscope.hosts.dialects.openclaw_2026_9_settings import older_loaded_settings, older_settings_issues
from hookscope.hosts.folders import shipped_gates
from hookscope.hosts.folders.hook_collections import find_in_collections
from hookscope.hosts.folders.legacy_handlers import legacy_path_gate
from hookscope.hosts.gates import config
from hookscope.hosts.gates.env import ENV
from hookscope.hosts.gates.path import PATH, own_folder_gate
from hookscope.hosts.gates.rules import cached_by_field, rules_of
from hookscope.hosts.plugins.plugin_gates import CONVERSATION_EVENTS, PROMPT_INJECTION_EVENTS, access_of
from hookscope.hosts.plugins.shipped_merge_rules import CONTEXTS, SYSTEM_CONTEXTS, older_merge_rules
from hookscope.hosts.plugins.shipped_plugin_gates import PluginSwitches
from hookscope.model.hook_status import GateRule
from hookscope.model.host import Dialect

LARGEST = 16 * 1024 * 1024  # bytes of a HOOK.md; the program has no limit
TRUSTED_CODE = (
    "[hooks:loader] Loading {0} hook code into the gateway process. {1} hooks are trusted local code."
)
COLLECTIONS_2026_7 = replace(
    COLLECTIONS, may_be_hook_sources=frozenset(), largest=LARGEST, header=HeaderRules(repairs=False)
)
CONFIG_2026_7 = replace(CONFIG, as_loaded=older_loaded_settings)
RULES: dict[str, GateRule] = {
    **FOLDERS.rules,
    **rules_of(
        (PATH, legacy_path_gate(LEGACY, own_folder_gate)),
        (ENV, shipped_gates.env_gate_with_blanks),
        (config.CONFIG, cached_by_field(attrgetter("meta.requires.config"))(CONFIG_2026_7)),
    ),
    "selected": shipped_gates.selected_before_2026_8,
}
FOLDERS_2026_7 = replace(
    FOLDERS,
    rules=RULES,
    always_skips=FOLDERS.always_skips | {"os"},
    legacy_rule=LEGACY,
    texts=replace(
        FOLDERS.texts,
        no_handler='[hooks/workspace] Hook "{name}" has HOOK.md but no handler file in {folder}',
    ),
    finder=partial(find_in_collections, rules=COLLECTIONS_2026_7),
)
RULES_OF_SWITCHES = PluginSwitches(ignores_case=False, follows_channels=False)
GATES_OF_PLUGINS = dict(gates_of_plugins(switches=RULES_OF_SWITCHES, files_need_manifest=True))
del GATES_OF_PLUGINS["packages"]  # a plugin without its packages is imported, and fails if it needs them
PLUGINS_2026_7 = replace(
    PLUGIN_HOOKS,
    shape=replace(
        PLUGIN_HOOKS.shape,
        splits_packages=False,
        access=partial(
            access_of,
            prompt_fields={"before_agent_start": ("systemPrompt", *CONTEXTS, *SYSTEM_CONTEXTS)},
            conversations=tuple(name for name in CONVERSATION_EVENTS if name not in PROMPT_INJECTION_EVENTS),
        ),
    ),
    gate_rules=GATES_OF_PLUGINS,
    check_settings=CHECKED_PLUGINS(GATES_OF_PLUGINS, is_old=True).issues,
    commands_check_settings=True,
    merge_rules={**PLUGIN_HOOKS.merge_rules, **older_merge_rules(*CONTEXTS, *SYSTEM_CONTEXTS)},
    run_id_events=PLUGIN_HOOKS.run_id_events | {"before_agent_start"},
    isolated_events=frozenset(),
    frozen_events=frozenset(),
    ignored_options=frozenset(
        {"matcher", "eligibleTriggers", "eligibleDispatchKinds", "requiresToolAuthority"}
    ),
)
NO_FUNCTION = "Handler '{export}' from {name} is not a function"
REFUSAL = RefusalFrame(
    "OpenClaw config is invalid",
    (
        "Fix: openclaw doctor --fix",
        "Inspect: openclaw config validate",
        "Audit, status, health, logs, tasks list/audit, and doctor commands still run with invalid config.",
    ),
    detailed=False,
)
RULES_OF_COMMAND = CommandRules(needs_events=False, refusal=REFUSAL, by_key=False, has_agents=False)

OPENCLAW_2026_7: Dialect = replace(
    OPENCLAW_2026_9,
    name="openclaw@2026.7",
    title="OpenClaw 2026.7, as shipped",
    version="2026.7",
    since="2026.7.0-alpha.0",
    until="2026.8.0-alpha.0",
    systems=(FOLDERS_2026_7, PLUGINS_2026_7),
    loader_messages=replace(
        OPENCLAW_2026_9.loader_messages,
        not_loaded=FAILED + "{error}",
        no_function="[hooks:loader] " + NO_FUNCTION,
        no_events="[hooks:loader] Hook '{name}' has no events defined in metadata",
        loading={
            source: TRUSTED_CODE.format(word, word.capitalize())
            for source, word in {"extra": "managed", "managed": "managed", "workspace": "workspace"}.items()
        },
    ),
    switch_rules=replace(OPENCLAW_2026_9.switch_rules, by_name=True),
    pack_rules=replace(PACKS, records_installs=True),  # later ones: in a database
    settings_rules=replace(
        OPENCLAW_2026_9.settings_rules,
        check=partial(older_settings_issues, "2026_7"),
        advice_for=None,
        path_text=None,
        refusal_starts=(REFUSAL.title,),
    ),
    load_rules=replace(
        OPENCLAW_2026_9.load_rules,
        off_stops_dispatch=False,
        imports_hooks_without_events=True,
        no_events=None,
        no_function=NO_FUNCTION,
        strict_check=None,
        has_strict_loads=False,
        refusal_of_module=partial(plugin_failure, tools=None),
    ),
    command=OpenClawCommand(CONFIG_2026_7, rules=RULES_OF_COMMAND),
    catalogue=partial(CATALOGUE, version="2026.7"),
)
OPENCLAW_2026_6 = replace(
    OPENCLAW_2026_7,
    name="openclaw@2026.6",
    title="OpenClaw 2026.6, as shipped",
    version="2026.6",
    since="2026.6.0-alpha.0",
    until="2026.7.0-alpha.0",
    loader_messages=replace(OPENCLAW_2026_7.loader_messages, never_sent=None),
    settings_rules=replace(OPENCLAW_2026_7.settings_rules, check=partial(older_settings_issues, "2026_6")),
    command=OpenClawCommand(CONFIG_2026_7, rules=replace(RULES_OF_COMMAND, shows_unknown_events=False)),
    catalogue=partial(CATALOGUE, version="2026.6"),
)
