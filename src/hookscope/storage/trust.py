"""The trust store: the folders whose code the user allows to run, with the digests of their handlers."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hookscope.model.failure import Refusal
from hookscope.model.host import Trust
from hookscope.model.machine import path_from_text, path_to_text, user_homes
from hookscope.model.text import error_reason
from hookscope.storage.state_files import merged_state, state_members
from hookscope.values import dataclass

FOLDERS_MEMBER = "folders"  # the member of its file
EVERYTHING = "everything_below"  # of a folder: trusted even if it is too broad
PATIENCE = 10  # seconds to wait for another of our processes


@dataclass(frozen=True, slots=True)
class TrustStore:
    """`trust.json`: folder → time and handler digests. Merged by key under a lock, replaced atomically."""

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

        `everything_below`: even if the folder is too broad. Raises Refusal if that cannot be recorded.
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
            with merged_state(self.file, FOLDERS_MEMBER, patience=PATIENCE) as members:
                yield members[FOLDERS_MEMBER]
        except OSError as error:
            raise Refusal(
                f"Cannot record the trust in {self.file}: {error_reason(error)}.",
                "Set HOOKSCOPE_STATE_DIR to another folder.",
            ) from None
