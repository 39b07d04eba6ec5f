"""Eliza as its guide describes it."""

from functools import partial
from pathlib import Path

from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.guide_rules import REQUIREMENT_GATES, guide_gates, lowest_first_places
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.hook_discovery import FolderShape, FolderTexts
from hookscope.hosts.folders.legacy_handlers import LegacyRule
from hookscope.hosts.gates.path import any_path_gate
from hookscope.model.host import Dialect, Host, HostLayout, LoaderMessages, PackRules, SwitchRules

STATE = "~/.eliza"


def legacy_roots(host: Host) -> tuple[Path, ...]:
    """Return the roots of legacy modules: ~/.eliza/. Source: Eliza's guide, "Legacy Handler Config"."""
    return (host.machine.files.real(host.machine.absolute(STATE)),)


ERROR_TEXT = '[hooks] Handler error for "{key}": {message}'  # Eliza's guide, "Error Handling"
LEGACY = LegacyRule(
    roots=legacy_roots,
    links_resolved=True,
    refusal='[hooks] Rejected legacy handler: module path "{module}" is outside ~/.eliza/',
)
TEXTS = LoaderMessages(
    discovered="[hooks] Discovered {count} hooks",
    registered="[hooks] {emoji} Registered: {name} -> {events}",
    complete="[hooks] Load complete: {registered}/{discovered} registered, {skipped} skipped, "
    "{failed} failed",
    not_loaded="[hooks] Failed to load handler {file}: {error}",
    no_function='[hooks] Handler at {file} does not export a function as "{export}"',
    no_events='[hooks] Hook "{name}" has no events configured',
    switched_off="[hooks] Internal hooks disabled",
)

FOLDER_TEXTS = FolderTexts(
    no_handler="[hooks] Hook at {folder} has HOOK.md but no handler",
    bad_header="[hooks] Invalid frontmatter in {file}",
)

ELIZA = Dialect(
    name="eliza",
    title="Eliza, as its guide says",
    product="Eliza",
    layout=HostLayout(
        state=STATE,
        settings="eliza.json",
        state_variable="ELIZA_STATE_DIR",
        settings_variable="ELIZA_CONFIG_PATH",
        program="elizaos",
        packages=("@elizaos/cli", "elizaos"),
    ),
    systems=(
        FolderSystem(
            shape=FolderShape(
                "eliza", ("handler.ts", "handler.mjs", "handler", "index.ts", "index.mjs", "index")
            ),
            search_paths=lowest_first_places(STATE),
            rules=guide_gates(any_path_gate, LEGACY),
            always_skips=REQUIREMENT_GATES | {"os"},  # "Bypass eligibility checks entirely"
            error_text=ERROR_TEXT,
            texts=FOLDER_TEXTS,
            legacy_rule=LEGACY,
        ),
    ),
    loader_messages=TEXTS,
    switch_rules=SwitchRules(when_noticed="Eliza notices the change when it loads its hooks again."),
    pack_rules=PackRules("eliza"),
    catalogue=partial(catalogue, "eliza"),
)
