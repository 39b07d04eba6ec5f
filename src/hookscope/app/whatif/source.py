"""Environment sources: what was read where, and which user an environment belongs to."""

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
    """An environment other than this shell's."""

    kind: SourceKind
    description: str  # in a sentence: "unit gateway.service"
    env: Mapping[str, str] = field(repr=False)  # values may be secrets
    replaces_all: bool = True  # False: it is merged into this shell's
    home: Path | None = None  # home of the user it runs as, if known
    files: tuple[Path, ...] = ()  # what it was read from, the main one first
    notes: tuple[str, ...] = ()  # unknown facts, as sentences
    is_user_unit: bool = True  # of a unit: run by the user's manager, not the system's


@dataclass(frozen=True, slots=True)
class ServiceUser:
    """A user of this machine, as far as known."""

    name: str
    home: str = ""
    shell: str = ""
    number: int = -1

    def variables(self) -> dict[str, str]:
        """Return the variables that service managers set for the user of a service."""
        found = {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell}
        return {name: value for name, value in found.items() if value}


def user_named(name: str) -> ServiceUser | None:
    """Return the user with this name or number; None if there is none."""
    try:
        import pwd
    except ImportError:  # Windows
        return None
    try:
        found = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
    except (KeyError, OverflowError, ValueError):
        return None
    return ServiceUser(found.pw_name, found.pw_dir, found.pw_shell, found.pw_uid)


def current_user(machine: Machine) -> ServiceUser:
    """Return the current user; the home is that of the machine."""
    number = os.getuid() if hasattr(os, "getuid") else -1
    found = user_named(str(number)) if number >= 0 else None
    name = found.name if found is not None else machine.env.get("USER", "")
    return ServiceUser(name, str(machine.home), found.shell if found is not None else "", number)
