"""Who a service runs as."""

from __future__ import annotations

import os

from hookscope.core.surroundings import Surroundings
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class User:
    """A user of this machine, as far as it is known."""

    name: str
    home: str = ""
    shell: str = ""
    number: int = -1

    def variables(self) -> dict[str, str]:
        """What service managers set for whoever runs a service."""
        found = {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell}
        return {name: value for name, value in found.items() if value}


def user_named(name: str) -> User | None:
    """The user of that name or number; None where nobody is called so."""
    try:
        import pwd
    except ImportError:  # Windows
        return None
    try:
        found = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
    except (KeyError, OverflowError, ValueError):
        return None
    return User(found.pw_name, found.pw_dir, found.pw_shell, found.pw_uid)


def user_here(here: Surroundings) -> User:
    """Whoever looks; the home is that of these surroundings."""
    number = os.getuid() if hasattr(os, "getuid") else -1
    found = user_named(str(number)) if number >= 0 else None
    name = found.name if found is not None else here.env.get("USER", "")
    return User(name, str(here.home), found.shell if found is not None else "", number)
