"""Options as a text, for a process that is to begin as this one did."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from hookscope.workbench.options import Options

FOLDERS = ("workspace", "home", "bundled", "config")


def handed_over(options: Options) -> str:
    """The text: ASCII, whatever a path holds."""
    return json.dumps({one.name: getattr(options, one.name) for one in fields(options)}, default=_plain)


def taken_over(text: str) -> Options:
    """The options of such a text."""
    said = json.loads(text)
    folders = {name: Path(said[name]) for name in FOLDERS if said[name] is not None}
    return Options(**{**said, **folders, "supposed": frozenset(said["supposed"])})


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be handed over")
