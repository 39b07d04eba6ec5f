"""Which folders the user allows to run: kept in Hookscope's state folder."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hookscope.core.dialect import Host, Trust
from hookscope.core.examine import digest
from hookscope.core.look import look
from hookscope.core.surroundings import lasting, own_homes, path_of
from hookscope.core.text import why_of
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.state_files import members_of, members_to_merge, replace_file

FOLDERS = "folders"  # what its file has
EVERYTHING = "everything_below"  # of a folder: allowed however wide it is


def digests_below(folder: Path, host: Host) -> dict[Path, str]:
    """The digests of the handlers that trusting a folder, a real path, lets run."""
    files = host.surroundings.files
    handlers = [row.hook.handler for row in look(host).hooks if row.hook.handler is not None]
    inside = [path for path in handlers if files.real(path).is_relative_to(folder)]
    return {path: known for path in inside if (known := digest(path, files)) is not None}


@dataclass(frozen=True, slots=True)
class TrustStore:
    """`trust.json`: folder → since when, and its handlers' digests.

    Merged by key under a lock, replaced atomically.
    """

    file: Path

    def trust(self) -> Trust:
        """What is trusted now. An unreadable file trusts nothing."""
        entries = members_of(self.file, FOLDERS)
        said = {
            path_of(path): entry.get(EVERYTHING) if isinstance(entry, dict) else None
            for path, entry in entries.items()
        }
        digests = {
            path_of(path): digest
            for entry in entries.values()
            if isinstance(entry, dict) and isinstance(entry.get("handlers"), dict)
            for path, digest in entry["handlers"].items()
        }
        return Trust(
            folders=frozenset(said),
            digests=digests,
            homes=own_homes(),
            everything_below=frozenset(path for path, everything in said.items() if everything is True),
            unchecked=frozenset(
                path for path, everything in said.items() if not isinstance(everything, bool)
            ),
        )

    def add(self, folder: Path, handlers: Mapping[Path, str], *, everything_below: bool = False) -> None:
        """Trust a folder and all below it; `handlers` are the digests of those that are there now.

        `everything_below`: however wide the folder is. Raises Refusal where that cannot be recorded.
        """
        with self._merging() as folders:
            folders[lasting(folder)] = {
                "since": datetime.now(UTC).isoformat(timespec="seconds"),
                EVERYTHING: everything_below,
                "handlers": {lasting(path): digest for path, digest in handlers.items()},
            }

    def drop(self, folders: Iterable[Path]) -> None:
        """Trust these no longer, nor what lies below them; a folder above that stays trusted covers them.

        Raises Refusal where that cannot be recorded.
        """
        dropped = tuple(folders)
        known = members_of(self.file, FOLDERS)
        gone = [name for name in known if any(path_of(name).is_relative_to(folder) for folder in dropped)]
        if gone:
            with self._merging() as folders_now:
                for folder in gone:
                    folders_now.pop(folder, None)

    @contextmanager
    def _merging(self) -> Iterator[dict[str, Any]]:
        """The entries, to be changed under a lock, and written afterwards. Raises Refusal."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            from filelock import FileLock  # here: a look locks nothing, and this loads asyncio

            with FileLock(str(self.file) + ".lock", timeout=10):
                folders = members_to_merge(self.file, FOLDERS)
                yield folders
                replace_file(self.file, json.dumps({FOLDERS: folders}, indent=2).encode() + b"\n")
        except (OSError, TimeoutError) as error:
            raise Refusal(
                f"Cannot record the trust in {self.file}: {why_of(error)}.",
                "HOOKSCOPE_STATE_DIR names another folder.",
            ) from None
