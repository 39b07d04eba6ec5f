"""Rules that the folder hooks of all three guides share."""

from collections.abc import Mapping
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules

from hookscope.hosts import gates
from hookscope.hosts.folders import Places
from hookscope.hosts.folders.legacy_handlers import LegacyRule, legacy_path_gate
from hookscope.hosts.folders.manifest import REQUIREMENT_FIELDS
from hookscope.hosts.folders.search_paths import (
    MANAGED,
    WORKSPACE,
    accept_below,
    bundled_folder,
    extra_folders,
    hooks_folder,
)
from hookscope.hosts.gates.rules import rules_of
from hookscope.model.hook import Folder, Problem
from hookscope.model.hook_status import GATE_KINDS, GateRule
from hookscope.model.host import Host

REQUIREMENT_GATES = frozenset(REQUIREMENT_FIELDS)


def guide_gates(path: GateRule, legacy: LegacyRule) -> Mapping[str, GateRule]:
    """Return the gate rules of a guide in display order: about files, the machine, then user settings."""
    for module in iter_modules(gates.__path__):
        import_module(f"{gates.__name__}.{module.name}")
    kinds = (kind for kind in GATE_KINDS.values() if kind.guide_order is not None)
    in_order = sorted(kinds, key=attrgetter("guide_order"))
    checked_path = legacy_path_gate(legacy, path)
    return rules_of(*((kind, checked_path) if kind.name == "path" else kind for kind in in_order))


def lowest_first_places(state: str) -> Places:
    """Return the search paths: extra, bundled, managed, workspace; each overrides those before it.

    Extra folders of the settings must be below the state folder, which contains managed hooks.
    Source: the guides of Eliza and Milady, "Hook Discovery".
    """
    allowed = accept_below(state, f'[hooks] Rejected config extraDir "{{written}}": must be under {state}/')

    def places(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        extra, problems = extra_folders(host, 10, allowed)
        managed = hooks_folder(host, MANAGED, host.machine.absolute(state) / "hooks", 30)
        workspace = hooks_folder(host, WORKSPACE, host.workspace / "hooks", 40)
        return (*extra, *bundled_folder(host, 20), managed, workspace), problems

    return places
