"""What is said of a module's listening before it is loaded."""

from __future__ import annotations

from collections.abc import Iterable

from hookscope.values import dataclass

API = "api"  # what plugins call the object that they register with


@dataclass(frozen=True, slots=True)
class PluginRegistration:
    """One call by which a plugin registers a handler, as its text says."""

    event: str
    priority: int | None  # None: the text does not say it
    line: int  # from 1
    named: bool = False  # is it `registerHook("NAME", …)`, which names the event by itself


def once(keys: Iterable[str]) -> tuple[str, ...]:
    """Each key where it stands first: an object has each once."""
    return tuple(dict.fromkeys(keys))
