"""What the reports of OpenClaw 2026.9 make of a hook: from the gates that they show."""

from collections.abc import Mapping

from hookscope.core.bystanders import kind_of
from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Inventory
from hookscope.core.standing import Gate, Standing
from hookscope.values import dataclass

REQUIREMENTS = ("bins", "anyBins", "env", "config", "os")  # in the order of the documents


@dataclass(frozen=True, slots=True)
class Report:
    """One hook as the program's reports have it: from the gates that they show."""

    row: Standing
    unknown: tuple[str, ...]

    @property
    def hook(self) -> Hook:
        return self.row.hook

    @property
    def gates(self) -> Mapping[str, Gate]:
        return {gate.name: gate for gate in self.row.verdict.gates if gate.reported}

    @property
    def missing(self) -> dict[str, list[str]]:
        return {name: list(self.gates[name].missing) for name in REQUIREMENTS}

    @property
    def enabled(self) -> bool:
        return self.gates["enabled"].passed is not False

    @property
    def satisfied(self) -> bool:
        return all(self.gates[name].passed is not False for name in REQUIREMENTS)

    @property
    def loadable(self) -> bool:
        return self.blocked is None

    @property
    def blocked(self) -> str | None:
        """The first reason that applies (req-08)."""
        if not self.enabled:
            return self.gates["enabled"].reason
        if not self.satisfied:
            return "missing requirements"
        return None if self.hook.meta.events else self.gates["events"].reason

    @property
    def lacks(self) -> list[str]:
        """Each kind of requirement that is not met, in words."""
        return [f"{name}: {', '.join(names)}" for name, names in self.missing.items() if names]


def reports(host: Host, inventory: Inventory) -> list[Report]:
    """The hooks that the program itself sees, in its order."""
    known = host.dialect.catalogue().keys_of("folder")
    return [
        Report(inventory.standing(hook), tuple(key for key in hook.meta.events or () if key not in known))
        for hook in inventory.report_order
        if not hook.beyond_host and kind_of(hook) == "folder"
    ]
