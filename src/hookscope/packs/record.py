"""What was installed, from where, and what it changed: enough to take exactly that back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from hookscope.changes.files import real_path, replace_file
from hookscope.core.event import from_iso, iso
from hookscope.core.surroundings import RealFiles
from hookscope.core.text import why_of
from hookscope.packs.bytes_in_json import as_bytes, as_text
from hookscope.packs.edits import Setting, setting_from
from hookscope.packs.errors import PackError
from hookscope.packs.specs import without_login
from hookscope.values import dataclass

Digests = Mapping[str, str]  # path below a folder → SHA-256


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A settings file as it was before an install, and as that has left it. None: there was none."""

    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Record:
    """One installed pack."""

    id: str
    source: str  # folder, archive, npm, git, python
    spec: str
    resolved: str
    version: str
    integrity: str
    at: datetime
    dialect: str
    hooks: tuple[str, ...]
    folders: Mapping[Path, Digests]  # what was put in place, by where
    settings_file: Path
    settings: tuple[Setting, ...] = ()
    snapshot: Snapshot | None = None  # None: somebody else changed the file in between
    made: tuple[Path, ...] = ()  # folders above, that were not there before
    linked: Path | None = None  # nothing was copied: this folder is looked into
    pinned: bool = False
    dependencies: bool = False

    @property
    def origin(self) -> str:
        """Where it came from, for people."""
        return without_login(self.spec)

    def document(self) -> dict[str, Any]:
        """As it is kept."""
        snapshot = self.snapshot
        return {
            "source": self.source,
            "spec": self.spec,
            "resolved": self.resolved,
            "version": self.version,
            "integrity": self.integrity,
            "at": iso(self.at),
            "dialect": self.dialect,
            "hooks": list(self.hooks),
            "folders": {str(folder): dict(files) for folder, files in self.folders.items()},
            "settings_file": str(self.settings_file),
            "settings": [setting.document() for setting in self.settings],
            "snapshot": None if snapshot is None else [as_text(snapshot.before), as_text(snapshot.after)],
            "made": [str(folder) for folder in self.made],
            "linked": str(self.linked) if self.linked is not None else None,
            "pinned": self.pinned,
            "dependencies": self.dependencies,
        }


def record_from(name: str, document: Any) -> Record | None:
    """None for what `document` has not made."""
    try:
        snapshot = document["snapshot"]
        linked = document["linked"]
        return Record(
            id=name,
            source=str(document["source"]),
            spec=str(document["spec"]),
            resolved=str(document["resolved"]),
            version=str(document["version"]),
            integrity=str(document["integrity"]),
            at=from_iso(document["at"]),
            dialect=str(document["dialect"]),
            hooks=tuple(map(str, document["hooks"])),
            folders={Path(folder): dict(files) for folder, files in document["folders"].items()},
            settings_file=Path(document["settings_file"]),
            settings=tuple(map(setting_from, document["settings"])),
            snapshot=None if snapshot is None else Snapshot(*map(as_bytes, snapshot)),
            made=tuple(map(Path, document["made"])),
            linked=None if linked is None else Path(linked),
            pinned=bool(document["pinned"]),
            dependencies=bool(document["dependencies"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # written by somebody else


Entries = Mapping[str, Mapping[str, Any] | None]
"""Records to be written, by id; None: it is gone."""


@dataclass(frozen=True, slots=True)
class Book:
    """`installed.json`: of each host its packs. Written under the lock of the transaction only.

    It holds whole settings files, so only its user may read it.
    """

    file: Path

    def all(self, host: Path) -> Mapping[str, Record]:
        """The packs of the host with this state folder, oldest first. A damaged file holds none.

        Raises PackError where the file is there and cannot be read.
        """
        try:
            told = (self._said() or {}).get(str(host))
        except OSError as error:
            raise PackError(
                f"Cannot read {self.file}: {why_of(error)}.", "It says what is installed: make it readable."
            ) from None
        found = (record_from(name, one) for name, one in told.items()) if isinstance(told, dict) else ()
        known = sorted((record for record in found if record is not None), key=lambda record: record.at)
        return {record.id: record for record in known}

    def put(self, host: Path, entries: Entries) -> None:
        """Write these, and leave all others as they are. A damaged file is kept as `NAME.damaged`.

        Raises OSError, also where it cannot be read now: all that it holds would be lost.
        """
        hosts = self._to_merge()
        mine = hosts.get(str(host))
        mine = dict(mine) if isinstance(mine, dict) else {}
        for name, entry in entries.items():
            mine.pop(name, None)
            if entry is not None:
                mine[name] = dict(entry)
        hosts = {**hosts, str(host): mine}
        kept = {name: packs for name, packs in hosts.items() if packs}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(real_path(self.file), json.dumps({"packs": kept}, indent=2).encode() + b"\n")

    def _to_merge(self) -> dict[str, Any]:
        packs = self._said()
        if packs is None:
            os.replace(self.file, self.file.with_name(f"{self.file.name}.damaged"))
        return packs or {}

    def _said(self) -> dict[str, Any] | None:
        """Of each host its packs; None where that is not what the file says. Raises OSError."""
        files = RealFiles()
        try:
            packs = json.loads(files.read(self.file))["packs"]
        except FileNotFoundError:
            if (trouble := files.trouble(self.file)) is not None:
                raise trouble from None
            return {}
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return packs if isinstance(packs, dict) else None
