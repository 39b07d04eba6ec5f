"""Hookscope's state folder: reading its JSON files and replacing them atomically."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.formats.positions import FormatError, KeyPath
from hookscope.model.hook import FilePosition, Problem
from hookscope.model.machine import RealFiles
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason, nearest_word, one_line
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.model.host import Host

LARGEST = 256 * 1024  # bytes: more than the YAML reader accepts


def config_folder() -> Path:
    """Return Hookscope's config folder; `HOOKSCOPE_CONFIG_DIR` overrides it."""
    moved = os.environ.get("HOOKSCOPE_CONFIG_DIR", "").strip()
    if moved:
        return Path(moved).expanduser().absolute()
    from platformdirs import user_config_path

    return user_config_path("hookscope")


@dataclass(frozen=True, slots=True)
class ConfigDocument:
    """The contents of a preferences file. `is_readable`: it is a mapping, or absent."""

    file: Path
    source: bytes = field(default=b"", repr=False)
    value: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    is_readable: bool = True

    def line_of(self, *path: str | int) -> int:
        """Return the line of the name at the end of a path; 1 if it is not found."""
        from hookscope.formats.yaml12 import locate_yaml  # here and below: the file rarely exists

        span = locate_yaml(self.source, path)
        if span is None:
            return 1
        lines = self.source.decode().split("\n")[: span.line]  # a list may begin below its name
        named = (at for at in range(len(lines), 0, -1) if str(path[-1]) in lines[at - 1])
        return next(named, span.line)

    def problem_at(self, text: str, *path: str | int) -> Problem:
        """Return a problem of the value at a path."""
        return Problem(text, FilePosition(self.file, self.line_of(*path)))

    def unknown_name_problem(self, name: str, known: Iterable[str], kind: str, path: KeyPath) -> Problem:
        """Return a problem for an unknown `name`, with the closest match."""
        match = nearest_word(name, known)
        hint = f" Did you mean {match}?" if match else ""
        return self.problem_at(f"{one_line(name, 60)} is not a {kind}.{hint}", *path)


def read_config_document(file: Path) -> ConfigDocument:
    """Read a file that should hold a mapping. Never raises; a missing file is an empty mapping."""

    def unreadable(what: str, line: int = 1, source: bytes = b"") -> ConfigDocument:
        problem = Problem(f"{file.name} {what}.", FilePosition(file, line))
        return ConfigDocument(file, source, problems=(problem,), is_readable=False)

    try:
        source = read_regular(file, LARGEST)
    except FileNotFoundError:
        return ConfigDocument(file)
    except (OSError, ValueError) as error:  # the latter: a null byte in the folder's name
        return unreadable(f"cannot be read: {error_reason(error)}")
    from hookscope.formats.yaml12 import read_yaml

    try:
        value = read_yaml(source)
    except FormatError as error:
        return unreadable(f"is not valid YAML: {error.problem}", error.span.line)
    if value is None:
        return ConfigDocument(file, source)
    if not isinstance(value, dict):
        return unreadable("needs a mapping: lines of `name: value`", source=source)
    return ConfigDocument(file, source, value)


CONFIG_FILE = "config.yaml"  # in the config folder
MASK_KEY = "mask"


def masked_names_in(value: object) -> tuple[str, ...]:
    """Return the names in a list, or one name; none for any other value."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        return ()
    return tuple(name.strip() for name in names)


JOURNAL = "journal.db"  # below the state folder
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Retention:
    """How much of each workspace the journal keeps. Failed runs have separate limits of the same size, so
    that ordinary runs cannot displace them. Pinned runs are always kept.

    The newest run is kept whatever its size. All workspaces together may use eight times as much; the least
    recently used lose their runs first.
    """

    runs: int = 1_000_000
    size: int = 128 * MIB  # bytes of documents; the file is about a third larger
    entries: int = 10_000  # of all workspaces


DEFAULT_RETENTION = Retention()


def state_folder() -> Path:
    """Return Hookscope's state folder; `HOOKSCOPE_STATE_DIR` overrides it."""
    moved = os.environ.get("HOOKSCOPE_STATE_DIR", "").strip()
    if moved:
        return Path(moved).expanduser().absolute()
    from platformdirs import user_state_path

    return user_state_path("hookscope")


def is_writable(folder: Path) -> bool:
    """Return True if the folder can be written or created. Writes nothing."""
    existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    return os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK)


def unreadable_reason(path: Path, *, folder: bool = False) -> str:
    """Return why an existing file or folder cannot be read; empty if it can, or does not exist."""
    trouble = RealFiles().access_error(path)
    try:
        if trouble is not None:
            raise trouble
        if folder and os.path.lexists(path):
            os.scandir(path).close()
        elif os.path.lexists(path):
            RealFiles().read(path, 1)
    except OSError as error:
        return f"cannot read {path}: {error_reason(error)}"
    return ""


DOTENV = ".env"  # of a workspace
STATE_FILES = {
    "trust.json": "no folder counts as trusted",
    "packs/installed.json": "installed packs are unknown",
    "tap/installed.json": "installed taps are unknown",
}


def unreadable_files(host: Host) -> tuple[Problem, ...]:
    """Return a problem for each unreadable file, with its consequence."""
    return tuple(
        Problem(f"{why}; {meaning}", FilePosition(file)) for file, why, meaning in _unreadable(host) if why
    )


def _unreadable(host: Host) -> Iterator[tuple[Path, str, str]]:
    for name, meaning in STATE_FILES.items():
        file = state_folder() / name
        yield file, unreadable_reason(file), meaning
    undo = state_folder() / "undo"
    yield undo, unreadable_reason(undo, folder=True), "nothing can be undone"
    rules, files = host.dialect.settings_rules, RealFiles()
    dotenv = [host.workspace / name for name in (*rules.project_dotenv, DOTENV)]
    if rules.dotenv is not None:
        dotenv.append(host.state / rules.dotenv)
    for file in dict.fromkeys(dotenv):
        trouble = files.access_error(file)
        why = f"cannot read {file}: {error_reason(trouble)}" if trouble is not None else ""
        yield file, why, "its variables are not set"


def read_state_file(path: Path) -> Any:
    """Return the JSON of a state file; None if there is none, or it cannot be read."""
    try:
        return json.loads(RealFiles().read(path))  # refuses a pipe, which would never end
    except (OSError, ValueError, RecursionError):  # RecursionError: deeply nested brackets
        return None


def state_members(path: Path, name: str) -> dict[str, Any]:
    """Return the members under `name` in a state file; empty if there are none, or it cannot be read."""
    document = read_state_file(path)
    members = document.get(name) if isinstance(document, dict) else None
    return members if isinstance(members, dict) else {}


def state_members_to_merge(path: Path, name: str) -> dict[str, Any]:
    """Return what `state_members` returns, before a rewrite. A damaged file is renamed to `NAME.damaged`.

    Raises OSError if it cannot be read now, because its content would be lost.
    """
    files = RealFiles()
    try:
        members = json.loads(files.read(path))[name]
    except FileNotFoundError:
        if (trouble := files.access_error(path)) is not None:
            raise trouble from None
        return {}
    except (ValueError, LookupError, TypeError, RecursionError):
        members = None
    if isinstance(members, dict):
        return members
    os.replace(path, path.with_name(f"{path.name}.damaged"))
    return {}


@contextmanager
def merged_state(path: Path, *names: str, patience: float) -> Iterator[dict[str, dict[str, Any]]]:
    """Yield the members under each of these names to be changed, then write them. Holds a lock meanwhile.

    Raises OSError if that fails, and after `patience` seconds of waiting for another process.
    """
    from filelock import FileLock  # loads asyncio; a scan locks nothing

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(f"{path}.lock", timeout=patience):
        members = {name: state_members_to_merge(path, name) for name in names}
        yield members
        write_state_file(path, json.dumps(members, indent=2).encode() + b"\n")


def write_state_file(path: Path, content: bytes) -> None:
    """Write a state file atomically."""
    import tempfile  # a scan writes nothing

    path = Path(os.path.realpath(path))  # a link stays a link
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
