"""What could be named in a what-if: offered, never required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.surroundings import real_surroundings
from hookscope.dialects import DIALECTS
from hookscope.settings.opening import agents_of
from hookscope.workbench.options import PLATFORMS
from hookscope.workbench.whatif.assuming import CLEAN
from hookscope.workbench.whatif.jobs import FOLDERS
from hookscope.workbench.whatif.units import OF_SYSTEM, SERVICE, of_user


def known(host: Host) -> Mapping[str, Sequence[str]]:
    """By what is assumed: platforms, environments, agents of the settings, hosts with their versions."""
    return {
        "platform": PLATFORMS,
        "environment": sources_known(),
        "agent": agents_of(host.dialect, host.settings),
        "host": tuple(DIALECTS),
    }


def sources_known() -> tuple[str, ...]:
    """Units and jobs that somebody made, and the word for a bare environment. Reads folders."""
    here = real_surroundings()
    units = (of_user(here.env, here.home)[0], OF_SYSTEM[0])
    found = [f"unit:{path.stem}" for folder in units for path in _files(Path(folder), SERVICE)]
    found += [
        f"launchd:{path.stem}" for folder in FOLDERS for path in _files(here.absolute(folder), ".plist")
    ]
    return (*dict.fromkeys(found), CLEAN)


def _files(folder: Path, ending: str) -> Iterator[Path]:
    try:
        yield from sorted(path for path in folder.iterdir() if path.suffix == ending)
    except OSError:
        return
