"""What is installed, for whoever wants the names alone."""

from hookscope.core.dialect import Host
from hookscope.packs.record import Record
from hookscope.packs.transaction import Store
from hookscope.workbench.packs.refusals import refusing
from hookscope.workbench.state_files import state_folder


def installed_here(host: Host) -> tuple[Record, ...]:
    """The packs of this host, oldest first. Reads one file; raises Refusal where it cannot be read."""
    with refusing():
        return tuple(Store(state_folder() / "packs").book.all(host.state).values())
