"""Milady 2.0.0-alpha.76, as recorded."""

from dataclasses import replace
from functools import partial

from hookscope.hosts.dialects import milady_eliza_gates
from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.milady import MILADY, STATE
from hookscope.hosts.dialects.milady_eliza_rules import (
    CATALOGUE,
    LEGACY_REGISTERED,
    LOAD_RULES,
    REFUSED_MODULE,
    lowest_first_labelled,
    shipped_folder_system,
    unresolved_roots,
)
from hookscope.hosts.folders import folder_system_of
from hookscope.hosts.folders.legacy_handlers import LegacyRule

LEGACY = LegacyRule(roots=unresolved_roots, links_resolved=False, refusal=REFUSED_MODULE, literal=True)
GUIDE = folder_system_of(MILADY)

MILADY_ALPHA_76 = replace(
    MILADY,
    name="milady@2.0.0-alpha.76",
    title="Milady 2.0.0-alpha.76, as shipped",
    version="2.0.0-alpha.76",
    until="2.0.0-alpha.77",
    layout=replace(MILADY.layout, hooks=(("hooks", "internal"),), looks_for_bundled_hooks=False),
    systems=(
        shipped_folder_system(
            GUIDE,
            LEGACY,
            lowest_first_labelled(STATE, "milady"),
            milady_eliza_gates.find_on_path,
            ("config",),
        ),
    ),
    loader_messages=replace(
        MILADY.loader_messages,
        legacy_registered=LEGACY_REGISTERED,
        not_loaded="[hooks] Failed to load handler {file}: {plain}",
    ),
    load_rules=LOAD_RULES,
    entry_env=False,
    catalogue=partial(catalogue, CATALOGUE),
)
