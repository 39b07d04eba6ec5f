"""How an installed pack stands on disk, file by file, against what was put there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from hookscope.core.regular_file import open_regular
from hookscope.packs.below import entries_below
from hookscope.packs.record import Record
from hookscope.packs.tree import LEFT_OUT
from hookscope.values import dataclass

CHUNK = 1_048_576
NO_FILE = "no file"  # in place of the digest of a pipe, a socket or a device


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What is not as it was installed."""

    changed: tuple[Path, ...] = ()
    missing: tuple[Path, ...] = ()
    added: tuple[Path, ...] = ()
    gone: bool = False  # nothing of it is there
    special: tuple[Path, ...] = ()  # of them pipes, sockets and devices: there is nothing to copy

    @property
    def word(self) -> str:
        """How it stands: gone, changed, as installed."""
        if self.gone:
            return "gone"
        return "changed" if self.changed or self.missing or self.added else "as installed"

    @property
    def to_keep(self) -> tuple[Path, ...]:
        """What only stands here: it is lost where nobody keeps it."""
        return tuple(path for path in self.changed + self.added if path not in self.special)


def standing_of(record: Record) -> OnDisk:
    """Reads every file of the pack. What a run leaves beside them (`__pycache__`) does not count."""
    if record.linked is not None:
        return OnDisk(gone=not os.path.isdir(record.linked))
    changed, missing, added, special = [], [], [], []
    for folder, files in record.folders.items():
        found = dict(digests_of(folder))
        changed += [folder / path for path, known in files.items() if path in found and found[path] != known]
        missing += [folder / path for path in files if path not in found]
        added += [folder / path for path in found if path not in files]
        special += [folder / path for path, digest in found.items() if digest == NO_FILE]
    gone = not any(os.path.lexists(folder) for folder in record.folders)
    return OnDisk(tuple(changed), tuple(missing), tuple(added), gone, tuple(special))


def digests_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file below a folder; a link's is that of where it points."""
    for entry, is_folder in entries_below(folder, LEFT_OUT):
        if not is_folder:
            path = Path(entry.path)
            yield path.relative_to(folder).as_posix(), _digest(path)


def _digest(path: Path) -> str:
    try:
        if path.is_symlink():
            return f"link to {os.readlink(path)}"
        if not os.path.isfile(path):
            return NO_FILE
        counted = sha256()
        with open_regular(path) as file:
            while chunk := file.read(CHUNK):
                counted.update(chunk)
        return counted.hexdigest()
    except OSError:
        return "cannot be read"
