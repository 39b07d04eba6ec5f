"""Eliza, npm package @elizaos/agent 2.0.0-beta.2, as it was recorded."""

from dataclasses import replace
from functools import partial

from hookscope.dialects.catalogues import catalogue
from hookscope.dialects.eliza import ELIZA, STATE
from hookscope.dialects.shipped import (
    CATALOGUE,
    LEGACY_REGISTERED,
    LOAD_RULES,
    REFUSED_MODULE,
    as_shipped,
    four_roots,
    roots_resolved,
)
from hookscope.systems.folders import folder_system_of, unchecked
from hookscope.systems.folders.legacy import LegacyRule

LEGACY = LegacyRule(roots=roots_resolved, links_resolved=True, refusal=REFUSED_MODULE, literal=True)
OF_ITS_RUNTIME = ("node",)  # it looks in the folder of the program that runs it
GUIDE = folder_system_of(ELIZA)

ELIZA_BETA_2 = replace(
    ELIZA,
    name="eliza@2.0.0-beta.2",
    title="Eliza 2.0.0-beta.2, as shipped",
    version="2.0.0-beta.2",
    layout=replace(ELIZA.layout, bundles=False),
    systems=(
        as_shipped(
            GUIDE,
            LEGACY,
            four_roots(STATE, "eliza"),
            unchecked.on_path_or_known(OF_ITS_RUNTIME),
            ("bins", "anyBins", "config"),
            error="Error: {error}",
        ),
    ),
    texts=replace(
        ELIZA.texts,
        legacy_registered=LEGACY_REGISTERED,
        not_loaded="[hooks] Failed to load handler {file}: {type}: {plain}",
    ),
    clears_when_off=False,  # it returns before clearing, whatever its guide shows
    load_rules=LOAD_RULES,
    entry_env=False,
    catalogue=partial(catalogue, CATALOGUE),
)
