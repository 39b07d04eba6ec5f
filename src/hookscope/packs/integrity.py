"""The integrity of an installed pack: its files on disk compared with what was installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from hookscope.model.regular_file import open_regular
from hookscope.packs.file_tree import EXCLUDED_NAMES, entries_below
from hookscope.packs.index import InstalledPack
from hookscope.values import dataclass

CHUNK = 1_048_576
SPECIAL_FILE = "no file"  # in place of the digest of a pipe, a socket or a device


@dataclass(frozen=True, slots=True)
class PackIntegrity:
    """What is not as it was installed."""

    changed: tuple[Path, ...] = ()
    missing: tuple[Path, ...] = ()
    added: tuple[Path, ...] = ()
    is_gone: bool = False  # nothing of it is there
    special: tuple[Path, ...] = ()  # of them pipes, sockets and devices: there is nothing to copy

    @property
    def state(self) -> str:
        """How it stands: gone, changed, as installed."""
        if self.is_gone:
            return "gone"
        return "changed" if self.changed or self.missing or self.added else "as installed"

    @property
    def files_to_keep(self) -> tuple[Path, ...]:
        """What only stands here: it is lost where nobody keeps it."""
        return tuple(path for path in self.changed + self.added if path not in self.special)


def integrity_of_pack(record: InstalledPack) -> PackIntegrity:
    """Reads every file of the pack. What a run leaves beside them (`__pycache__`) does not count."""
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
    """Every file below a folder; a link's is that of where it points."""
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
