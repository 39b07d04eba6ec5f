"""Milady 2.0.0-alpha.76, as it was recorded."""

from dataclasses import replace
from functools import partial

from hookscope.dialects.catalogues import catalogue
from hookscope.dialects.guides import REQUIREMENTS
from hookscope.dialects.milady import MILADY, STATE
from hookscope.dialects.shipped import (
    CATALOGUE,
    FAILED,
    LEGACY_REGISTERED,
    LOAD_RULES,
    REFUSED_MODULE,
    four_roots,
    roots_as_text,
    shipped_gates,
)
from hookscope.systems.folders import folder_system_of, unchecked
from hookscope.systems.folders.legacy import LegacyRule
from hookscope.systems.folders.line_header import read_line_header
from hookscope.systems.folders.policy import own_text

LEGACY = LegacyRule(roots=roots_as_text, links_resolved=False, refusal=REFUSED_MODULE, literal=True)
GUIDE = folder_system_of(MILADY)

MILADY_ALPHA_76 = replace(
    MILADY,
    name="milady@2.0.0-alpha.76",
    title="Milady 2.0.0-alpha.76, as shipped",
    version="2.0.0-alpha.76",
    layout=replace(MILADY.layout, hooks=(("hooks", "internal"),), bundles=False),
    systems=(
        replace(
            GUIDE,
            shape=replace(
                GUIDE.shape,
                read=read_line_header,
                handler_first=True,
                marks_python=True,
                longest_header=None,
            ),
            places=four_roots(STATE, "milady"),
            rules=shipped_gates(LEGACY, unchecked.on_path),
            always_skips=REQUIREMENTS,
            legacy=LEGACY,
            words=own_text,
            failed_text=FAILED,
        ),
    ),
    texts=replace(
        MILADY.texts,
        legacy_registered=LEGACY_REGISTERED,
        not_loaded="[hooks] Failed to load handler {file}: {plain}",
    ),
    load_rules=LOAD_RULES,
    entry_env=False,
    catalogue=partial(catalogue, CATALOGUE),
)
