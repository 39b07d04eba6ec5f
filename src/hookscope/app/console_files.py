"""Files that the console writes: its state for the next start, and exports. Secrets are masked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.app.event_templates import BadContext, parse_context
from hookscope.app.options import WORKSPACE_SIGNS, Options
from hookscope.app.variables import with_secret_names
from hookscope.model.failure import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason
from hookscope.storage.edits.change import Change, write_user_file
from hookscope.storage.journal.redaction import Redaction
from hookscope.storage.journal.secrets import secrets_in
from hookscope.storage.state_files import state_folder, write_state_file
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

MOST_READ = 2_000  # entries of a folder that are read
MOST_LISTED = 50  # folders that are listed


def matching_folders(typed: str, base: Path) -> tuple[Path, ...]:
    """Return the folders whose path begins with the typed text, workspaces first. Reads one folder."""
    path = typed_path(typed, base)
    inside = not typed.strip() or typed.rstrip().endswith(("/", os.sep, "~"))
    searched, prefix = (path, "") if inside else (path.parent, path.name)
    try:
        with os.scandir(searched) as entries:
            names = [entry.name for entry in islice(entries, MOST_READ) if _fits(entry, prefix)]
    except (OSError, ValueError):  # ValueError: a null byte
        return ()
    found = [searched / name for name in sorted(names)]
    found.sort(key=lambda folder: not is_workspace(folder))
    return tuple(found[:MOST_LISTED])


def typed_path(typed: str, base: Path) -> Path:
    """Return the typed path; a relative one starts at `base`."""
    return Path(os.path.normpath(base / os.path.expanduser(typed.strip())))


def _fits(entry: os.DirEntry[str], prefix: str) -> bool:
    hidden = entry.name.startswith(".") and not prefix.startswith(".")
    try:
        return entry.name.startswith(prefix) and not hidden and entry.is_dir()
    except OSError:
        return False


def is_workspace(folder: Path) -> bool:
    """Return whether a folder contains a folder of hooks or `.hookscope`."""
    return any(os.path.isdir(folder / sign) for sign in WORKSPACE_SIGNS)


def workbench_in(bench: Workbench, first_options: Options, workspace: Path) -> Workbench:
    """Return a workbench as if the program had started in that workspace. Raises Refusal.

    The new workbench has no what-if, since a what-if applies to one workspace.
    """
    options = Options(
        dialect=first_options.dialect if "host" not in first_options.supposed else None,
        workspace=workspace,
        home=first_options.home,
        bundled=first_options.bundled,
        config=first_options.config,
        environment=None,
    )
    return bench.with_options(options)


VERSION = 1
MOST_WORKSPACES = 100  # workspaces; the least recently used is removed first
LARGEST = 262_144  # characters of a stored text
PATIENCE = 2  # seconds for another console's write


@dataclass(frozen=True, slots=True)
class StoredConsole:
    """`console.json`: workspace → when it was last used, and what its console showed.

    Merged by key under a lock, replaced atomically, readable by its owner alone.
    """

    file: Path

    def read(self, workspace: Path) -> Mapping[str, Any] | None:
        """Return the stored console state of this workspace; None if there is none.

        Raises Refusal if the file is damaged or written by another version of Hookscope.
        """
        entry = self._read().get(str(workspace))
        shown = entry.get("console") if isinstance(entry, dict) else None
        return shown if isinstance(shown, dict) else None

    def recent(self) -> tuple[Path, ...]:
        """Return the existing workspaces, last used first; none if the file cannot be read."""
        try:
            known = _newest_first(self._read())
        except Refusal:
            return ()
        return tuple(Path(name) for name in known if os.path.isdir(name))

    def write(self, workspace: Path, console_state: Mapping[str, Any] | None) -> None:
        """Store the console state for the next start; None: only that the workspace was used now.

        A damaged file is replaced; one of a newer version is kept. Raises Refusal, with nothing written.
        """
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            from filelock import FileLock  # a scan locks nothing, and filelock loads asyncio

            with FileLock(str(self.file) + ".lock", timeout=PATIENCE):
                known = dict(self._mergeable())
                before = known.get(str(workspace))
                entry = dict(before) if isinstance(before, dict) else {}
                now = datetime.now(UTC).isoformat(timespec="milliseconds")
                # the clock may have been set back
                entry["at"] = max(now, *map(_last_used, known.values()), "")
                if console_state is not None:
                    entry["console"] = dict(console_state)
                others = {name: one for name, one in known.items() if name != str(workspace)}
                known = {str(workspace): entry, **others}  # first among equal times
                kept = {name: known[name] for name in _newest_first(known)[:MOST_WORKSPACES]}
                document = {"version": VERSION, "workspaces": kept}
                write_state_file(self.file, json.dumps(document, indent=1).encode("utf-8", "replace") + b"\n")
        except (OSError, TimeoutError) as error:
            raise Refusal(
                f"Cannot store the console state in {self.file}: {error_reason(error)}.",
                "Set HOOKSCOPE_STATE_DIR to another folder.",
            ) from None

    def _mergeable(self) -> Mapping[str, Any]:
        try:
            return self._read()
        except _NewerVersion:
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
            raise _NewerVersion(
                f"{self.file} was written by a newer Hookscope.", "No state is restored or stored."
            )
        if version != VERSION or not isinstance(known, dict):
            raise Refusal(f"{self.file} is from another Hookscope version.", "Nothing is restored from it.")
        return known


class _NewerVersion(Refusal):
    """The file was written by a newer version."""


def stored_console() -> StoredConsole:
    """Return the console file in the state folder. Reads nothing yet."""
    return StoredConsole(state_folder() / "console.json")


def masked_draft(text: str, redaction: Redaction) -> str | None:
    """Return a text with each secret as `${NAME}`; None if it is too long to be stored.

    `redaction` knows secrets that neither their names nor their form reveal.
    """
    if len(text) > LARGEST:
        return None
    try:
        found = secrets_in(parse_context(text), keys=redaction.keys)
    except BadContext:  # incomplete JSON: search the raw text
        found = secrets_in(text)
    kept: str = with_secret_names(redaction.masker(text, secrets=found).masked_text(text))
    return kept


def _last_used(entry: object) -> str:
    """Return the time of last use as sortable text."""
    return str(entry.get("at", "")) if isinstance(entry, dict) else ""


def _newest_first(known: Mapping[str, Any]) -> list[str]:
    return sorted(known, key=lambda name: _last_used(known[name]), reverse=True)


TEXT, JSON, SVG = ".txt", ".json", ".svg"
KINDS = (TEXT, JSON, SVG)
MOST_PAGES = 100  # pages of one run number in a folder


def masked_export(text: str, document: Any, redaction: Redaction) -> tuple[str, Any]:
    """Return text and document with `${SECRET:NAME}` for known secrets and for what looks like one."""
    masker = redaction.masker(document, text)
    return masker.masked_text(text), masker.masked_value(document)


def json_file_text(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def export_problem(file: Path) -> str:
    """Return why this file cannot be an export, whatever it contains now; empty if it can."""
    if file.suffix not in KINDS:
        return f"The name must end in one of {', '.join(KINDS)}."
    if not os.path.isdir(file.parent):
        return f"There is no folder {file.parent}."
    if os.path.exists(file) and not os.path.isfile(file):
        return f"{file} is not a file."
    return ""


def write_export(file: Path, content: str, *, replace: bool) -> Path:
    """Write an export. Raises Refusal if that fails, or the file exists and must not be replaced."""
    problem = export_problem(file)
    if problem:
        raise Refusal(problem)
    try:
        before = read_regular(file) if os.path.exists(file) else None
        if before is not None and not replace:
            raise Refusal(f"There is {file} already.", "Export under another name.")
    except OSError as error:
        raise Refusal(
            f"{file} cannot be read: {error_reason(error)}.", "Export under another name."
        ) from None
    write_user_file(Change(file, f"export {file.name}", before, content.encode("utf-8", "replace")))
    return file


def write_run_page(bench: Workbench, view: Snapshot, number: int) -> Path:
    """Write a run as one HTML file without secrets and settings into the current folder; return it.

    No other file is replaced: the name then ends in a number. Raises Refusal; OSError.
    """
    from hookscope.app.runs.past_runs import masked_run, runs_numbered
    from hookscope.app.runs.run_page import run_html

    (stored,) = runs_numbered(bench.run_record.journal(view.host), [number])
    content = run_html(*masked_run(stored, None, bench.redaction_of(view.host))).encode("utf-8", "replace")
    names = (
        f"run-{number}{ending}.html" for ending in ("", *(f"-{other}" for other in range(2, MOST_PAGES)))
    )
    for name in names:
        file = view.host.machine.cwd / name
        before = read_regular(file) if os.path.lexists(file) else None
        if before is None:
            write_user_file(Change(file, f"share {name}", None, content))
        if before in (None, content):
            return file
    raise Refusal(f"There are {MOST_PAGES - 1} pages of run {number} already.", "Delete some of them.")
