"""A host's own command about hooks: what it prints for an inventory, and with which exit code it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hookscope.core.hooks import Inventory, Standing

if TYPE_CHECKING:
    from hookscope.core.dialect import Host


@dataclass(frozen=True, slots=True)
class Said:
    """An answer in the host's own words and shapes."""

    code: int = 0
    document: object = None  # for `--json`; None: the host has none, and prints its lines
    lines: tuple[str, ...] = ()  # on standard output
    errors: tuple[str, ...] = ()  # on standard error


@dataclass(frozen=True, slots=True)
class Asked:
    """The flags of the host's own command."""

    eligible: bool = False  # only what would load
    verbose: bool = False


class HostCommand(Protocol):
    """The host's own command line. Pure: what it would write is the caller's to write."""

    def refused(self, host: Host) -> Said | None:
        """What every command says where the settings are refused; None where they are not."""
        ...

    def list(self, host: Host, inventory: Inventory, asked: Asked) -> Said: ...

    def check(self, host: Host, inventory: Inventory, asked: Asked) -> Said: ...

    def info(self, host: Host, inventory: Inventory, name: str) -> Said: ...

    def to_switch(self, inventory: Inventory, name: str, on: bool) -> Standing | Said:
        """The hook to switch, or why it is not switched."""
        ...

    def switched(self, row: Standing, on: bool) -> Said:
        """What is said when it is done."""
        ...
