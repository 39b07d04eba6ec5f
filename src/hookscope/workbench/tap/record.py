"""What was installed where: kept in Hookscope's state folder, so that only that is ever taken away."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from hookscope.core.event import from_iso, iso
from hookscope.core.hooks import Hook
from hookscope.core.runs import EventKind
from hookscope.core.surroundings import lasting, path_of
from hookscope.core.text import why_of
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.state_files import (
    members_of,
    members_to_merge,
    replace_file,
    state_folder,
)

NAME = "event-tap"  # of every tap; that of plugin hooks goes on, since plugins are switched by name too
KINDS: tuple[EventKind, ...] = ("folder", "stream", "plugin")
TAPS = "taps"  # what its file has
PATIENCE = 10  # seconds to wait for another of our processes


@dataclass(frozen=True, slots=True)
class Installed:
    """A tap as it was written."""

    at: datetime  # since when it stands there, in whatever version
    kind: EventKind
    language: str
    name: str  # of the hook or plugin
    events: tuple[str, ...]  # what it asks for
    files: Mapping[Path, str]  # SHA-256 of what was written
    made: tuple[Path, ...]  # the folders that were not there before
    spool: Path


@dataclass(frozen=True, slots=True)
class Record:
    """`installed.json`: root of a tap → what was written. Merged by key under a lock, replaced atomically."""

    file: Path

    @property
    def lock(self) -> Path:
        """The lock for users' files: none may stay in the folders of a host."""
        return self.file.with_name("files.lock")

    def all(self) -> Mapping[Path, Installed]:
        """What is on record. An unreadable file holds nothing."""
        found = {path_of(root): _installed(entry) for root, entry in members_of(self.file, TAPS).items()}
        return {root: entry for root, entry in found.items() if entry is not None}

    def put(self, root: Path, entry: Installed | None) -> None:
        """Record a tap, or that it is gone. Raises Refusal where that cannot be recorded."""
        from filelock import FileLock  # here: a look locks nothing, and this loads asyncio

        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(str(self.file) + ".lock", timeout=PATIENCE):
                taps = {
                    name: known
                    for name, known in members_to_merge(self.file, TAPS).items()
                    if name != lasting(root)
                }
                if entry is not None:
                    taps[lasting(root)] = _document(entry)
                replace_file(self.file, json.dumps({TAPS: taps}, indent=2).encode() + b"\n")
        except (OSError, TimeoutError) as error:
            raise Refusal(
                f"Cannot record the tap in {self.file}: {why_of(error)}.",
                "HOOKSCOPE_STATE_DIR names another folder.",
            ) from None


def is_tap(hook: Hook, modules: Collection[Path]) -> bool:
    """Is this hook the tap of one of these modules. A host may name a file by where links lead to."""
    if hook.handler is None or not hook.name.rpartition("/")[2].startswith(NAME):
        return False
    real = os.path.realpath(hook.handler)
    return hook.handler in modules or any(os.path.realpath(module) == real for module in modules)


def record() -> Record:
    """Where it is kept what was installed."""
    return Record(state_folder() / "tap" / "installed.json")


def _document(entry: Installed) -> Mapping[str, Any]:
    return {
        "at": iso(entry.at),
        "kind": entry.kind,
        "language": entry.language,
        "name": entry.name,
        "events": list(entry.events),
        "files": {lasting(path): digest for path, digest in entry.files.items()},
        "made": [lasting(path) for path in entry.made],
        "spool": lasting(entry.spool),
    }


def _installed(entry: Any) -> Installed | None:
    try:
        return Installed(
            at=from_iso(entry["at"]),
            kind=KINDS[KINDS.index(entry["kind"])],
            language=str(entry["language"]),
            name=str(entry["name"]),
            events=tuple(map(str, entry["events"])),
            files={path_of(path): str(digest) for path, digest in entry["files"].items()},
            made=tuple(map(path_of, entry["made"])),
            spool=path_of(entry["spool"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # written by somebody else
