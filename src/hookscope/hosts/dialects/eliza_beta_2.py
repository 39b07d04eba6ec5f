"""Eliza, npm package @elizaos/agent 2.0.0-beta.2, as recorded."""

from dataclasses import replace
from functools import partial

from hookscope.hosts.dialects import milady_eliza_gates
from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.eliza import ELIZA, STATE
from hookscope.hosts.dialects.milady_eliza_rules import (
    CATALOGUE,
    LEGACY_REGISTERED,
    LOAD_RULES,
    REFUSED_MODULE,
    lowest_first_labelled,
    resolved_roots,
    shipped_folder_system,
)
from hookscope.hosts.folders import folder_system_of
from hookscope.hosts.folders.legacy_handlers import LegacyRule

LEGACY = LegacyRule(roots=resolved_roots, links_resolved=True, refusal=REFUSED_MODULE, literal=True)
RUNTIME_PROGRAMS = ("node",)  # programs in the folder of its own runtime, which it also searches
GUIDE = folder_system_of(ELIZA)

ELIZA_BETA_2 = replace(
    ELIZA,
    name="eliza@2.0.0-beta.2",
    title="Eliza 2.0.0-beta.2, as shipped",
    version="2.0.0-beta.2",
    until="2.0.0-beta.3",
    layout=replace(ELIZA.layout, looks_for_bundled_hooks=False),
    systems=(
        shipped_folder_system(
            GUIDE,
            LEGACY,
            lowest_first_labelled(STATE, "eliza"),
            milady_eliza_gates.find_on_path_or_known(RUNTIME_PROGRAMS),
            ("bins", "anyBins", "config"),
            error_format="Error: {error}",
        ),
    ),
    loader_messages=replace(
        ELIZA.loader_messages,
        legacy_registered=LEGACY_REGISTERED,
        not_loaded="[hooks] Failed to load handler {file}: {type}: {plain}",
    ),
    clears_when_off=False,  # unlike in its guide, it returns before it clears its hooks
    load_rules=LOAD_RULES,
    entry_env=False,
    catalogue=partial(catalogue, CATALOGUE),
)
