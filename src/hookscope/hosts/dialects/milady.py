"""Milady as its guide describes it."""

from functools import partial
from pathlib import Path

from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.eliza import ERROR_TEXT, FOLDER_TEXTS, TEXTS
from hookscope.hosts.dialects.guide_rules import REQUIREMENT_GATES, guide_gates, lowest_first_places
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.hook_discovery import FolderShape
from hookscope.hosts.folders.legacy_handlers import LegacyRule
from hookscope.hosts.gates.path import allowed_roots_gate
from hookscope.model.host import Dialect, Host, HostLayout, PackRules, SwitchRules

STATE = "~/.milady"


def legacy_roots(host: Host) -> tuple[Path, ...]:
    """Return the hooks folders, with accepted extra ones. Source: Milady's guide, "Path Safety"."""
    return tuple(folder.path for folder in host.folders)


LEGACY = LegacyRule(
    roots=legacy_roots,
    links_resolved=False,
    refusal='[hooks] Rejected legacy handler: module path "{module}" is outside allowed hook directories',
)

MILADY = Dialect(
    name="milady",
    title="Milady, as its guide says",
    product="Milady",
    layout=HostLayout(
        state=STATE,
        settings="milady.json",
        state_variable="MILADY_STATE_DIR",
        settings_variable="MILADY_CONFIG_PATH",
        program="milady",
        packages=("milady", "miladyai"),
        hooks=(("hooks", "internal"), ("hooks",)),  # the guide writes `hooks.entries`, `hooks.load`
    ),
    systems=(
        FolderSystem(
            shape=FolderShape("milady", ("handler.ts", "handler", "index.ts", "index")),
            search_paths=lowest_first_places(STATE),
            rules=guide_gates(allowed_roots_gate, LEGACY),
            always_skips=REQUIREMENT_GATES,  # "bypasses all eligibility checks except OS"
            error_text=ERROR_TEXT,
            texts=FOLDER_TEXTS,
            legacy_rule=LEGACY,
        ),
    ),
    loader_messages=TEXTS,
    switch_rules=SwitchRules(when_noticed="Milady notices the change when it loads its hooks again."),
    clears_when_off=False,  # if hooks are disabled, it returns before it clears them
    pack_rules=PackRules("milady"),
    catalogue=partial(catalogue, "milady"),
)
