"""What the folder hooks of all three guides have in common."""

from collections.abc import Mapping

from hookscope.core.dialect import Host
from hookscope.core.hooks import Folder, Problem
from hookscope.systems.folders import Places, gates, requirements
from hookscope.systems.folders.gates import GateRule
from hookscope.systems.folders.legacy import LegacyRule, legacy_path
from hookscope.systems.folders.places import (
    MANAGED,
    WORKSPACE,
    bundled_folder,
    extra_below,
    extra_folders,
    hooks_folder,
)

REQUIREMENTS = frozenset({"bins", "anyBins", "env", "config"})


def guide_gates(path: GateRule, legacy: LegacyRule) -> Mapping[str, GateRule]:
    """The checks of a guide dialect in the order of showing: the hook's files, the world, the user."""
    return {
        "handler": gates.handler,
        "fields": gates.fields,
        "events": gates.events,
        "path": legacy_path(legacy, path),
        "os": requirements.os,
        "bins": requirements.bins,
        "anyBins": requirements.any_bins,
        "env": requirements.env,
        "config": requirements.config,
        "switch": gates.switch,
        "enabled": gates.enabled,
        "trusted": gates.trusted,
        "sent": gates.sent,
    }


def lowest_first(state: str) -> Places:
    """Extra, bundled, managed, workspace: each overrides those before it.

    Extra folders of the settings must lie below the state folder; managed hooks are in it. Source:
    guides 000 and 001, "Hook Discovery".
    """
    allowed = extra_below(state, f'[hooks] Rejected config extraDir "{{written}}": must be under {state}/')

    def places(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        extra, problems = extra_folders(host, 10, allowed)
        managed = hooks_folder(host, MANAGED, host.surroundings.absolute(state) / "hooks", 30)
        workspace = hooks_folder(host, WORKSPACE, host.workspace / "hooks", 40)
        return (*extra, *bundled_folder(host, 20), managed, workspace), problems

    return places
