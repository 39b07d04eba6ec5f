"""What the folder hooks of all three guides have in common."""

from collections.abc import Mapping

from hookscope.hosts.folders import Places, gates, requirement_gates
from hookscope.hosts.folders.gates import GateRule
from hookscope.hosts.folders.legacy_handlers import LegacyRule, legacy_path_gate
from hookscope.hosts.folders.search_paths import (
    MANAGED,
    WORKSPACE,
    accept_below,
    bundled_folder,
    extra_folders,
    hooks_folder,
)
from hookscope.model.hook import Folder, Problem
from hookscope.model.host import Host

REQUIREMENTS = frozenset({"bins", "anyBins", "env", "config"})


def guide_gates(path: GateRule, legacy: LegacyRule) -> Mapping[str, GateRule]:
    """The checks of a guide dialect in the order of showing: the hook's files, the world, the user."""
    return {
        "handler": gates.handler_gate,
        "fields": gates.fields_gate,
        "events": gates.events_gate,
        "path": legacy_path_gate(legacy, path),
        "os": requirement_gates.os_gate,
        "bins": requirement_gates.bins_gate,
        "anyBins": requirement_gates.any_bins_gate,
        "env": requirement_gates.env_gate,
        "config": requirement_gates.config_gate,
        "switch": gates.switch_gate,
        "enabled": gates.enabled_gate,
        "trusted": gates.trusted_gate,
        "sent": gates.sent_gate,
    }


def lowest_first_places(state: str) -> Places:
    """Extra, bundled, managed, workspace: each overrides those before it.

    Extra folders of the settings must lie below the state folder; managed hooks are in it. Source:
    guides 000 and 001, "Hook Discovery".
    """
    allowed = accept_below(state, f'[hooks] Rejected config extraDir "{{written}}": must be under {state}/')

    def places(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        extra, problems = extra_folders(host, 10, allowed)
        managed = hooks_folder(host, MANAGED, host.surroundings.absolute(state) / "hooks", 30)
        workspace = hooks_folder(host, WORKSPACE, host.workspace / "hooks", 40)
        return (*extra, *bundled_folder(host, 20), managed, workspace), problems

    return places
