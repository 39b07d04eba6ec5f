"""Milady 2.0.0-alpha.76, as it was recorded."""

from dataclasses import replace
from functools import partial

from hookscope.dialects.catalogues import catalogue
from hookscope.dialects.milady import MILADY, STATE
from hookscope.dialects.shipped import (
    CATALOGUE,
    LEGACY_REGISTERED,
    LOAD_RULES,
    REFUSED_MODULE,
    as_shipped,
    four_roots,
    roots_as_text,
)
from hookscope.systems.folders import folder_system_of, unchecked
from hookscope.systems.folders.legacy import LegacyRule

LEGACY = LegacyRule(roots=roots_as_text, links_resolved=False, refusal=REFUSED_MODULE, literal=True)
GUIDE = folder_system_of(MILADY)

MILADY_ALPHA_76 = replace(
    MILADY,
    name="milady@2.0.0-alpha.76",
    title="Milady 2.0.0-alpha.76, as shipped",
    version="2.0.0-alpha.76",
    layout=replace(MILADY.layout, hooks=(("hooks", "internal"),), bundles=False),
    systems=(as_shipped(GUIDE, LEGACY, four_roots(STATE, "milady"), unchecked.on_path, ("config",)),),
    texts=replace(
        MILADY.texts,
        legacy_registered=LEGACY_REGISTERED,
        not_loaded="[hooks] Failed to load handler {file}: {plain}",
    ),
    load_rules=LOAD_RULES,
    entry_env=False,
    catalogue=partial(catalogue, CATALOGUE),
)
