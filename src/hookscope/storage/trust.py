"""The trust store: the folders whose code the user allows to run, with the digests of their handlers."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hookscope.model.failure import Refusal
from hookscope.model.host import Trust
from hookscope.model.machine import path_from_text, path_to_text, user_homes
from hookscope.model.text import error_reason
from hookscope.storage.state_files import state_members, state_members_to_merge, write_state_file
from hookscope.values import dataclass

FOLDERS_MEMBER = "folders"  # the member of its file
EVERYTHING = "everything_below"  # of a folder: trusted even if it is too wide


@dataclass(frozen=True, slots=True)
class TrustStore:
    """`trust.json`: folder → when it was trusted, and its handlers' digests.

    Merged by key under a lock, replaced atomically.
    """

    file: Path

    def trust(self) -> Trust:
        """Return the trusted folders. An unreadable file trusts nothing."""
        entries = state_members(self.file, FOLDERS_MEMBER)
        everything_flags = {
            path_from_text(path): entry.get(EVERYTHING) if isinstance(entry, dict) else None
            for path, entry in entries.items()
        }
        digests = {
            path_from_text(path): digest
            for entry in entries.values()
            if isinstance(entry, dict) and isinstance(entry.get("handlers"), dict)
            for path, digest in entry["handlers"].items()
        }
        return Trust(
            folders=frozenset(everything_flags),
            digests=digests,
            homes=user_homes(),
            everything_below=frozenset(
                path for path, everything in everything_flags.items() if everything is True
            ),
            unchecked=frozenset(
                path for path, everything in everything_flags.items() if not isinstance(everything, bool)
            ),
        )

    def add(self, folder: Path, handlers: Mapping[Path, str], *, everything_below: bool = False) -> None:
        """Trust a folder and everything below it; `handlers` are the digests of the current handlers.

        `everything_below`: even if the folder is too wide. Raises Refusal if that cannot be recorded.
        """
        with self._locked_entries() as folders:
            folders[path_to_text(folder)] = {
                "since": datetime.now(UTC).isoformat(timespec="seconds"),
                EVERYTHING: everything_below,
                "handlers": {path_to_text(path): digest for path, digest in handlers.items()},
            }

    def remove(self, folders: Iterable[Path]) -> None:
        """Remove trust from these folders and those below; a trusted folder above still covers them.

        Raises Refusal if that cannot be recorded.
        """
        dropped = tuple(folders)
        known = state_members(self.file, FOLDERS_MEMBER)
        gone = [
            name for name in known if any(path_from_text(name).is_relative_to(folder) for folder in dropped)
        ]
        if gone:
            with self._locked_entries() as folders_now:
                for folder in gone:
                    folders_now.pop(folder, None)

    @contextmanager
    def _locked_entries(self) -> Iterator[dict[str, Any]]:
        """Yield the entries under a lock, to be changed and then written. Raises Refusal."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            from filelock import FileLock  # loads asyncio; a scan locks nothing

            with FileLock(str(self.file) + ".lock", timeout=10):
                folders = state_members_to_merge(self.file, FOLDERS_MEMBER)
                yield folders
                write_state_file(self.file, json.dumps({FOLDERS_MEMBER: folders}, indent=2).encode() + b"\n")
        except (OSError, TimeoutError) as error:
            raise Refusal(
                f"Cannot record the trust in {self.file}: {error_reason(error)}.",
                "Set HOOKSCOPE_STATE_DIR to another folder.",
            ) from None
