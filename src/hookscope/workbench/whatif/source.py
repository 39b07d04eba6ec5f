"""Where an environment comes from, and what was read there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from hookscope.values import dataclass

Kind = Literal["file", "unit", "launchd", "process"]


@dataclass(frozen=True, slots=True)
class Source:
    """An environment that is not this shell's."""

    kind: Kind
    called: str  # in a sentence: "unit gateway.service"
    env: Mapping[str, str] = field(repr=False)  # values may be secrets
    whole: bool = True  # False: it is laid over what is there
    home: Path | None = None  # of the user it runs as, where that is known
    files: tuple[Path, ...] = ()  # what it was read from, the main one first
    notes: tuple[str, ...] = ()  # what could not be known, as sentences
    of_user: bool = True  # of a unit: does the user's own manager run it, not the system's
