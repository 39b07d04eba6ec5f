"""The index of installed packs: files, origin, and changed settings, enough to revert exactly those."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from hookscope.formats.positions import KeyPath
from hookscope.model.hook_event import from_iso, iso
from hookscope.model.machine import RealFiles
from hookscope.model.regular_file import open_regular
from hookscope.model.text import error_reason
from hookscope.packs.errors import PackError
from hookscope.packs.file_tree import EXCLUDED_NAMES, entries_below
from hookscope.packs.specs import without_login
from hookscope.storage.edits.atomic_files import real_path, replace_file
from hookscope.storage.edits.document_values import MISSING, depth_reached, is_identical, value_at
from hookscope.storage.edits.json5_edit import dotted_path, parse_settings, with_setting, without_setting
from hookscope.storage.state_files import state_members_to_merge
from hookscope.values import dataclass

CHUNK = 1_048_576
SPECIAL_FILE = "no file"  # in place of the digest of a pipe, a socket or a device


@dataclass(frozen=True, slots=True)
class PackIntegrity:
    """The differences from the installed files."""

    changed: tuple[Path, ...] = ()
    missing: tuple[Path, ...] = ()
    added: tuple[Path, ...] = ()
    is_gone: bool = False  # none of its folders exists
    special: tuple[Path, ...] = ()  # those that are pipes, sockets or devices, which cannot be copied

    @property
    def state(self) -> str:
        """The state: gone, changed, as installed."""
        if self.is_gone:
            return "gone"
        return "changed" if self.changed or self.missing or self.added else "as installed"

    @property
    def files_to_keep(self) -> tuple[Path, ...]:
        """The files that exist only here and would be lost."""
        return tuple(path for path in self.changed + self.added if path not in self.special)


def integrity_of_pack(record: InstalledPack) -> PackIntegrity:
    """Return how the pack's files differ from the record. The `__pycache__` that runs leave is ignored."""
    if record.linked is not None:
        return PackIntegrity(is_gone=not os.path.isdir(record.linked))
    changed, missing, added, special = [], [], [], []
    for folder, files in record.folders.items():
        found = dict(digests_below(folder))
        changed += [folder / path for path, known in files.items() if path in found and found[path] != known]
        missing += [folder / path for path in files if path not in found]
        added += [folder / path for path in found if path not in files]
        special += [folder / path for path, digest in found.items() if digest == SPECIAL_FILE]
    gone = not any(os.path.lexists(folder) for folder in record.folders)
    return PackIntegrity(tuple(changed), tuple(missing), tuple(added), gone, tuple(special))


def digests_below(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every file below a folder with its digest; for a link, the text `link to TARGET`."""
    for entry, is_folder in entries_below(folder, EXCLUDED_NAMES):
        if not is_folder:
            path = Path(entry.path)
            yield path.relative_to(folder).as_posix(), _file_digest(path)


def _file_digest(path: Path) -> str:
    try:
        if path.is_symlink():
            return f"link to {os.readlink(path)}"
        if not os.path.isfile(path):
            return SPECIAL_FILE
        counted = sha256()
        with open_regular(path) as file:
            while chunk := file.read(CHUNK):
                counted.update(chunk)
        return counted.hexdigest()
    except OSError:
        return "cannot be read"


def bytes_to_json(side: bytes | None) -> str | None:
    """Return bytes as base64 for JSON."""
    return None if side is None else b64encode(side).decode()


def bytes_from_json(side: str | None) -> bytes | None:
    """Return the bytes of a `bytes_to_json` result. Raises ValueError for anything else."""
    return None if side is None else b64decode(side)


@dataclass(frozen=True, slots=True)
class PackSetting:
    """A required value at a path; with `is_list_item`, in the list at that path."""

    path: KeyPath
    value: object
    is_list_item: bool = False

    @property
    def meaning(self) -> str:
        """The setting for display: `path: value`, or `path + item` for a list."""
        sign = " + " if self.is_list_item else ": "
        return f"{dotted_path(self.path)}{sign}{json.dumps(self.value, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class AppliedSetting:
    """A value that was set, and the previous one."""

    setting: PackSetting
    previous: object  # MISSING: none; for a list item, the whole list
    existing_depth: int  # number of steps of the path that existed

    def document(self) -> dict[str, Any]:
        """Return the setting as JSON values for the index."""
        document: dict[str, Any] = {
            "path": list(self.setting.path),
            "value": self.setting.value,
            "item": self.setting.is_list_item,
            "stood": self.existing_depth,
        }
        return document if self.previous is MISSING else {**document, "before": self.previous}


def applied_setting_from(document: Any) -> AppliedSetting:
    """Return the setting of a `document` result. Raises KeyError, TypeError or ValueError."""
    path = tuple(step if isinstance(step, int) else str(step) for step in document["path"])
    wanted = PackSetting(path, document["value"], bool(document["item"]))
    return AppliedSetting(wanted, document.get("before", MISSING), int(document["stood"]))


def apply_settings(
    source: bytes | None, required: Iterable[PackSetting]
) -> tuple[bytes | None, tuple[AppliedSetting, ...]]:
    """Return the document with all required settings, and what was set for them. Raises CannotEdit."""
    settings = []
    for setting in required:
        now = parse_settings(source or b"", setting.meaning)
        found = value_at(now, setting.path)
        value = setting.value
        if setting.is_list_item:
            listed = found if isinstance(found, list) else []
            if any(is_identical(one, value) for one in listed):
                continue
            value = [*listed, value]
        elif is_identical(found, value):
            continue
        source = with_setting(source, setting.path, value)
        settings.append(AppliedSetting(setting, found, depth_reached(now, setting.path)))
    return source, tuple(settings)


def revert_settings(
    source: bytes | None, settings: Sequence[AppliedSetting]
) -> tuple[bytes | None, tuple[AppliedSetting, ...]]:
    """Return the document without the settings, and those that changed since and stay. Raises CannotEdit."""
    changed_since = []
    for setting in reversed(settings):
        if source is None:
            break
        path, line = setting.setting.path, f"remove {dotted_path(setting.setting.path)}"
        found = value_at(parse_settings(source, line), path)
        if found is MISSING:
            continue
        restored = _value_before(setting, found)
        if restored is None:
            changed_since.append(setting)
        elif restored[0] is MISSING:
            source = _without_empty_parents(without_setting(source, path), path, setting.existing_depth)
        else:
            source = with_setting(source, path, restored[0])
    return source, tuple(reversed(changed_since))


def _value_before(setting: AppliedSetting, found: object) -> tuple[object] | None:
    """Return the value to restore; None if it was changed since."""
    if not setting.setting.is_list_item:
        return (setting.previous,) if is_identical(found, setting.setting.value) else None
    if not isinstance(found, list):
        return None
    rest = [one for one in found if not is_identical(one, setting.setting.value)]
    return (MISSING,) if not rest and setting.previous is MISSING else (rest,)


def _without_empty_parents(source: bytes, path: KeyPath, existing_depth: int) -> bytes:
    """Remove objects that were created for this path and are empty now."""
    for length in range(len(path) - 1, existing_depth, -1):
        line = f"remove {dotted_path(path[:length])}"
        if value_at(parse_settings(source, line), path[:length]) != {}:
            break
        source = without_setting(source, path[:length])
    return source


FileDigestsByPath = Mapping[str, str]  # path below a folder → SHA-256


@dataclass(frozen=True, slots=True)
class SettingsSnapshot:
    """A settings file before and after an install. None: there was none."""

    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class InstalledPack:
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
    folders: Mapping[Path, FileDigestsByPath]  # the installed files, by target folder
    settings_file: Path
    settings: tuple[AppliedSetting, ...] = ()
    snapshot: SettingsSnapshot | None = None  # None: another program changed the file in between
    created_folders: tuple[Path, ...] = ()  # parent folders that the install created
    linked: Path | None = None  # the linked folder: nothing was copied
    pinned: bool = False
    dependencies: bool = False
    package: str = ""  # its own name, with its scope

    @property
    def origin(self) -> str:
        """The source for display."""
        return without_login(self.spec)

    def document(self) -> dict[str, Any]:
        """Return the pack as JSON values."""
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
            "snapshot": None
            if snapshot is None
            else [bytes_to_json(snapshot.before), bytes_to_json(snapshot.after)],
            "made": [str(folder) for folder in self.created_folders],
            "linked": str(self.linked) if self.linked is not None else None,
            "pinned": self.pinned,
            "dependencies": self.dependencies,
            "package": self.package,
        }


def installed_pack_from(name: str, document: Any) -> InstalledPack | None:
    """Return the pack of a `document` result; None if it is invalid."""
    try:
        snapshot = document["snapshot"]
        linked = document["linked"]
        return InstalledPack(
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
            settings=tuple(map(applied_setting_from, document["settings"])),
            snapshot=None if snapshot is None else SettingsSnapshot(*map(bytes_from_json, snapshot)),
            created_folders=tuple(map(Path, document["made"])),
            linked=None if linked is None else Path(linked),
            pinned=bool(document["pinned"]),
            dependencies=bool(document["dependencies"]),
            package=str(document.get("package", "")),  # missing in older files
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # written by another program


IndexChanges = Mapping[str, Mapping[str, Any] | None]
"""Records to write, by id; None removes the record."""


@dataclass(frozen=True, slots=True)
class PackIndex:
    """`installed.json`: the packs of each host. Written only under the lock of the transaction.

    It contains whole settings files, so only its user may read it.
    """

    file: Path

    def all(self, host: Path) -> Mapping[str, InstalledPack]:
        """Return the packs of the host with this state folder, oldest first; none if the file is damaged.

        Raises PackError if the file exists and cannot be read.
        """
        try:
            packs = self._read().get(str(host))
        except OSError as error:
            raise PackError(
                f"Cannot read {self.file}: {error_reason(error)}.",
                "Make it readable: it lists the installed packs.",
            ) from None
        found = (
            (installed_pack_from(name, one) for name, one in packs.items()) if isinstance(packs, dict) else ()
        )
        known = sorted((record for record in found if record is not None), key=lambda record: record.at)
        return {record.id: record for record in known}

    def put(self, host: Path, entries: IndexChanges) -> None:
        """Replace these packs, and leave all others. A damaged file is kept as `NAME.damaged`.

        Raises OSError, also if it cannot be read now, because its content would be lost.
        """
        hosts = state_members_to_merge(self.file, "packs")
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

    def _read(self) -> dict[str, Any]:
        """Return the packs of each host; none if the file is invalid. Raises OSError."""
        files = RealFiles()
        try:
            packs = json.loads(files.read(self.file))["packs"]
        except FileNotFoundError:
            if (trouble := files.access_error(self.file)) is not None:
                raise trouble from None
            return {}
        except (ValueError, KeyError, TypeError, RecursionError):
            return {}
        return packs if isinstance(packs, dict) else {}
