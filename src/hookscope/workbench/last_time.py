"""What a console leaves in the state folder for its next start, per workspace: plain values by name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hookscope.core.regular_file import read_regular
from hookscope.core.text import why_of
from hookscope.journal.redaction import NOTHING_KNOWN, Redaction
from hookscope.journal.secrets import secrets_in
from hookscope.values import dataclass
from hookscope.workbench.compose import BadContext, parse_context
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saving import named
from hookscope.workbench.state_files import replace_file, state_folder

VERSION = 1
KEPT = 100  # workspaces; the one that was used longest ago goes first
LARGEST = 262_144  # characters of a text that is kept
PATIENCE = 2  # seconds for another console's write


@dataclass(frozen=True, slots=True)
class LastTime:
    """`console.json`: workspace → when it was used, and what its console was showing.

    Merged by key under a lock, replaced atomically, readable by its owner alone.
    """

    file: Path

    def read(self, workspace: Path) -> Mapping[str, Any] | None:
        """What was left for this workspace; None where nothing was.

        Raises Refusal where the file is damaged, or of another version of Hookscope.
        """
        entry = self._read().get(str(workspace))
        shown = entry.get("console") if isinstance(entry, dict) else None
        return shown if isinstance(shown, dict) else None

    def recent(self) -> tuple[Path, ...]:
        """The workspaces that are there, the one used last first. Nothing where the file cannot be read."""
        try:
            known = _newest_first(self._read())
        except Refusal:
            return ()
        return tuple(Path(name) for name in known if os.path.isdir(name))

    def write(self, workspace: Path, shown: Mapping[str, Any] | None) -> None:
        """Leave this for the next time; None: only that the workspace was used now.

        A damaged file is replaced, one of a newer version is let be. Raises Refusal, then nothing is written.
        """
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            from filelock import FileLock  # here: a look locks nothing, and this loads asyncio

            with FileLock(str(self.file) + ".lock", timeout=PATIENCE):
                known = dict(self._mergeable())
                before = known.get(str(workspace))
                entry = dict(before) if isinstance(before, dict) else {}
                now = datetime.now(UTC).isoformat(timespec="milliseconds")
                entry["at"] = max(now, *map(_used, known.values()), "")  # a clock may have been set back
                if shown is not None:
                    entry["console"] = dict(shown)
                others = {name: one for name, one in known.items() if name != str(workspace)}
                known = {str(workspace): entry, **others}  # the first of those of one time
                kept = {name: known[name] for name in _newest_first(known)[:KEPT]}
                document = {"version": VERSION, "workspaces": kept}
                replace_file(self.file, json.dumps(document, indent=1).encode("utf-8", "replace") + b"\n")
        except (OSError, TimeoutError) as error:
            raise Refusal(
                f"Cannot keep in {self.file} what the console shows: {why_of(error)}.",
                "HOOKSCOPE_STATE_DIR names another folder.",
            ) from None

    def _mergeable(self) -> Mapping[str, Any]:
        try:
            return self._read()
        except _Newer:
            raise
        except Refusal:
            return {}

    def _read(self) -> Mapping[str, Any]:
        try:
            document = json.loads(read_regular(self.file))
            version, known = document["version"], document["workspaces"]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise Refusal(f"{self.file} is damaged.", "Nothing is restored from it.") from None
        if isinstance(version, int) and version > VERSION:
            raise _Newer(f"{self.file} is of a newer Hookscope.", "Nothing is restored from it, or kept.")
        if version != VERSION or not isinstance(known, dict):
            raise Refusal(f"{self.file} is of another Hookscope.", "Nothing is restored from it.")
        return known


class _Newer(Refusal):
    """Written by a version that knows more than this one."""


def last_time() -> LastTime:
    """The file in the state folder that keeps what the console showed. Nothing is read yet."""
    return LastTime(state_folder() / "console.json")


def fit_to_keep(text: str, redaction: Redaction = NOTHING_KNOWN) -> str | None:
    """A text as it may be kept: each secret in it stands as `${NAME}`. None: it is too long to be kept.

    `redaction` knows secrets beside those that show by their names or their looks.
    """
    if len(text) > LARGEST:
        return None
    try:
        found = secrets_in(parse_context(text), keys=redaction.keys)
    except BadContext:  # half written: what is seen without reading it
        found = secrets_in(text)
    kept: str = named(redaction.veil(text, secrets=found).text(text))
    return kept


def _used(entry: object) -> str:
    """When, as text that is as great as the time is late."""
    return str(entry.get("at", "")) if isinstance(entry, dict) else ""


def _newest_first(known: Mapping[str, Any]) -> list[str]:
    return sorted(known, key=lambda name: _used(known[name]), reverse=True)
