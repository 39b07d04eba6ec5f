"""A host's own command about hooks: what it prints for an inventory, and with which exit code it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hookscope.core.inventory import Inventory
from hookscope.core.standing import Standing
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.core.dialect import Host


@dataclass(frozen=True, slots=True)
class Said:
    """An answer in the host's own words and shapes."""

    code: int = 0
    document: object = None  # for `--json`; None: the host has none
    lines: tuple[str, ...] = ()  # on standard output
    errors: tuple[str, ...] = ()  # on standard error


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of the host's own command."""

    eligible: bool = False  # only what would load
    verbose: bool = False


class PackWords(Protocol):
    """What the host's own command says of packs, and with which exit codes."""

    def deprecated(self, verb: str) -> tuple[str, ...]:
        """Said on standard output before anything else."""
        ...

    def warned(self, spec: str) -> tuple[str, ...]:
        """Said of every source that is no registry."""
        ...

    def unasked(self) -> Said:
        """Said where `--force` is not given."""
        ...

    def absent(self, path: str) -> Said:
        """There is nothing at that path."""
        ...

    def only_registry(self) -> Said:
        """A flag that is for registries alone."""
        ...

    def refused(self, reason: str, *, packaged: bool) -> Said:
        """`packaged`: is there a package.json."""
        ...

    def installed(self, name: str, target: str) -> tuple[str, ...]:
        """Said when a pack is in place at `target`."""
        ...

    def skipped(self, name: str, source: str) -> str:
        """Said of a pack that an update leaves out: its source has no versions."""
        ...

    def unknown(self, name: str) -> Said:
        """No pack of that name is installed."""
        ...

    def nothing_named(self) -> Said:
        """An update of nothing."""
        ...


class HostCommand(Protocol):
    """The host's own command line. Pure: what it would write is the caller's to write."""

    @property
    def packs(self) -> PackWords | None:
        """What it says of packs; None where it has no commands for them."""
        ...

    def refused(self, host: Host) -> Said | None:
        """What every command says where the settings are refused; None where they are not."""
        ...

    def list(self, host: Host, inventory: Inventory, asked: Flags) -> Said:
        """`list`."""
        ...

    def check(self, host: Host, inventory: Inventory, asked: Flags) -> Said:
        """`check`."""
        ...

    def info(self, host: Host, inventory: Inventory, name: str) -> Said:
        """`info NAME`, which may be unknown."""
        ...

    def to_switch(self, inventory: Inventory, name: str, on: bool) -> Standing | Said:
        """The hook to switch, or why it is not switched."""
        ...

    def switched(self, row: Standing, on: bool) -> Said:
        """What is said when it is done."""
        ...
