"""What the folder hooks of all three guides have in common."""

from collections.abc import Mapping

from hookscope.systems.folders import gates
from hookscope.systems.folders.gates import GateRule
from hookscope.systems.folders.legacy import LegacyRule, legacy_path

REQUIREMENTS = frozenset({"bins", "anyBins", "env", "config"})


def guide_gates(path: GateRule, legacy: LegacyRule) -> Mapping[str, GateRule]:
    """The checks of a guide dialect in the order of showing: the hook's files, the world, the user."""
    return {
        "handler": gates.handler,
        "fields": gates.fields,
        "events": gates.events,
        "path": legacy_path(legacy, path),
        "os": gates.os,
        "bins": gates.bins,
        "anyBins": gates.any_bins,
        "env": gates.env,
        "config": gates.config,
        "switch": gates.switch,
        "enabled": gates.enabled,
        "trusted": gates.trusted,
        "sent": gates.sent,
    }
