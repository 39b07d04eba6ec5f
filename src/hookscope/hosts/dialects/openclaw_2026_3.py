"""OpenClaw 2026.3 as shipped: where it differs from 2026.7. Recorded with 2026.3.31."""

from dataclasses import replace
from functools import partial
from operator import attrgetter

from hookscope.formats.text_header import HeaderRules
from hookscope.hosts.dialects.openclaw_2026_7 import (
    COLLECTIONS_2026_7,
    FOLDERS_2026_7,
    OPENCLAW_2026_6,
    PLUGINS_2026_7,
    RULES_OF_COMMAND,
    RULES_OF_SWITCHES,
)
from hookscope.hosts.dialects.openclaw_2026_9 import (
    CATALOGUE,
    CHECKED_PLUGINS,
    CONFIG,
    gates_of_plugins,
    plugin_failure,
)
from hookscope.hosts.dialects.openclaw_2026_9_command import OpenClawCommand, RefusalFrame
from hookscope.hosts.dialects.openclaw_2026_9_settings import older_loaded_settings, older_settings_issues
from hookscope.hosts.folders import shipped_gates
from hookscope.hosts.folders.hook_collections import find_in_collections
from hookscope.hosts.gates import config
from hookscope.hosts.gates.os import OS
from hookscope.hosts.gates.rules import cached_by_field, rules_of
from hookscope.hosts.plugins.merge_rules import MergeRule, last_answer_wins
from hookscope.hosts.plugins.plugin_gates import access_of
from hookscope.hosts.plugins.plugin_policy import PluginTexts
from hookscope.hosts.plugins.shipped_merge_rules import CONTEXTS, SYSTEM_CONTEXTS, older_merge_rules
from hookscope.model.run import NOT_TEXT

CONFIG_2026_3 = replace(CONFIG, as_loaded=partial(older_loaded_settings, is_oldest=True))
RULES = {
    **FOLDERS_2026_7.rules,
    **rules_of(
        (OS, shipped_gates.ReportedOsGate({}, exact=True)),
        (config.CONFIG, cached_by_field(attrgetter("meta.requires.config"))(CONFIG_2026_3)),
    ),
}
del RULES["selected"]  # everything that is eligible loads
SWITCHES = replace(RULES_OF_SWITCHES, slots=("memory",))
GATES_OF_PLUGINS = dict(gates_of_plugins(switches=SWITCHES, files_need_manifest=True))
del GATES_OF_PLUGINS["packages"]
REFUSALS = {NOT_TEXT: "event.trim is not a function"}  # its `registerHook` reads every event as a text
REFUSAL = RefusalFrame("Config invalid", ("Run: openclaw doctor --fix",), detailed=True)

OPENCLAW_2026_3 = replace(
    OPENCLAW_2026_6,
    name="openclaw@2026.3",
    title="OpenClaw 2026.3, as shipped",
    version="2026.3",
    since="2026.3.0-alpha.0",
    layout=replace(OPENCLAW_2026_6.layout, workspace_variable=None),
    until="2026.4.0-alpha.0",
    systems=(
        replace(
            FOLDERS_2026_7,
            rules=RULES,
            shape=replace(FOLDERS_2026_7.shape, older_namespaces=()),
            finder=partial(
                find_in_collections,
                rules=replace(
                    COLLECTIONS_2026_7,
                    namespaces=COLLECTIONS_2026_7.namespaces[:1],
                    header=HeaderRules(repairs=False, exact_marks=False),
                ),
            ),
        ),
        replace(
            PLUGINS_2026_7,
            shape=replace(
                PLUGINS_2026_7.shape,
                reads_json5=False,
                checks_packages=False,
                access=partial(
                    access_of,
                    conversations=(),
                    prompts=("before_prompt_build",),
                    prompt_fields={"before_agent_start": ("systemPrompt", CONTEXTS[0], *SYSTEM_CONTEXTS)},
                ),
            ),
            gate_rules=GATES_OF_PLUGINS,
            check_settings=CHECKED_PLUGINS(GATES_OF_PLUGINS, is_old=True, is_oldest=True).issues,
            merge_rules={
                **PLUGINS_2026_7.merge_rules,
                **older_merge_rules(CONTEXTS[0], *SYSTEM_CONTEXTS, has_origin=False),
                "message_sending": MergeRule(
                    last_answer_wins("content", sticky="cancel"), answer_members=("content", "cancel")
                ),
            },
            run_id_events=frozenset(),
            fail_closed_events=PLUGINS_2026_7.fail_closed_events - {"before_tool_call"},
            ignored_options=PLUGINS_2026_7.ignored_options | {"timeoutMs"},
            texts=PluginTexts(names_type=True),
        ),
    ),
    bundled_names=frozenset({"boot-md", "bootstrap-extra-files", "command-logger", "session-memory"}),
    load_rules=replace(
        OPENCLAW_2026_6.load_rules,
        adds_to_earlier_loads=True,
        refusal_of_module=partial(plugin_failure, refusals=REFUSALS, tools=None),
    ),
    settings_rules=replace(
        OPENCLAW_2026_6.settings_rules,
        check=partial(older_settings_issues, "2026_3"),
        refusal_starts=(REFUSAL.title,),
    ),
    command=OpenClawCommand(
        CONFIG_2026_3, rules=replace(RULES_OF_COMMAND, shows_unknown_events=False, refusal=REFUSAL)
    ),
    catalogue=partial(CATALOGUE, version="2026.3"),
)
