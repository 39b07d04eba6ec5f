"""Environment sources: where an environment comes from, what was read there, and which user it is of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from hookscope.model.machine import Machine
from hookscope.values import dataclass

SourceKind = Literal["file", "unit", "launchd", "process"]


@dataclass(frozen=True, slots=True)
class EnvironmentSource:
    """An environment that is not this shell's."""

    kind: SourceKind
    called: str  # in a sentence: "unit gateway.service"
    env: Mapping[str, str] = field(repr=False)  # values may be secrets
    whole: bool = True  # False: it is laid over what is there
    home: Path | None = None  # of the user it runs as, where that is known
    files: tuple[Path, ...] = ()  # what it was read from, the main one first
    notes: tuple[str, ...] = ()  # what could not be known, as sentences
    of_user: bool = True  # of a unit: does the user's own manager run it, not the system's


@dataclass(frozen=True, slots=True)
class ServiceUser:
    """A user of this machine, as far as it is known."""

    name: str
    home: str = ""
    shell: str = ""
    number: int = -1

    def variables(self) -> dict[str, str]:
        """What service managers set for whoever runs a service."""
        found = {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell}
        return {name: value for name, value in found.items() if value}


def user_named(name: str) -> ServiceUser | None:
    """The user of that name or number; None where nobody is called so."""
    try:
        import pwd
    except ImportError:  # Windows
        return None
    try:
        found = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
    except (KeyError, OverflowError, ValueError):
        return None
    return ServiceUser(found.pw_name, found.pw_dir, found.pw_shell, found.pw_uid)


def current_user(here: Machine) -> ServiceUser:
    """Whoever looks; the home is that of these surroundings."""
    number = os.getuid() if hasattr(os, "getuid") else -1
    found = user_named(str(number)) if number >= 0 else None
    name = found.name if found is not None else here.env.get("USER", "")
    return ServiceUser(name, str(here.home), found.shell if found is not None else "", number)
