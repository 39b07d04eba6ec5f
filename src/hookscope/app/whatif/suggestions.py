"""What-if values to offer: platforms, environments, agents, hosts with versions, units and jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hookscope.app.whatif.assumptions import CLEAN_ENVIRONMENT
from hookscope.app.whatif.source_lookup import JOB_FOLDERS
from hookscope.app.whatif.systemd import SERVICE, SYSTEM_UNITS, user_units
from hookscope.host_options import PLATFORMS
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import agent_names
from hookscope.model.host import Host
from hookscope.model.machine import real_machine


def suggestions(host: Host) -> Mapping[str, Sequence[str]]:
    """Return values to offer: platforms, environments, agents of the settings, hosts with versions."""
    return {
        "platform": PLATFORMS,
        "environment": source_suggestions(),
        "agent": agent_names(host.dialect, host.settings),
        "host": tuple(DIALECTS),
    }


def source_suggestions() -> tuple[str, ...]:
    """Return user-made units and jobs, and the name of the bare environment. Reads folders."""
    machine = real_machine()
    units = (user_units(machine.env, machine.home)[0], SYSTEM_UNITS[0])
    found = [f"unit:{path.stem}" for folder in units for path in _names_in(Path(folder), SERVICE)]
    found += [
        f"launchd:{path.stem}"
        for folder in JOB_FOLDERS
        for path in _names_in(machine.absolute(folder), ".plist")
    ]
    return (*dict.fromkeys(found), CLEAN_ENVIRONMENT)


def _names_in(folder: Path, ending: str) -> Iterator[Path]:
    try:
        yield from sorted(path for path in folder.iterdir() if path.suffix == ending)
    except OSError:
        return
