"""Hookscope's state folder: reading its JSON files and replacing them atomically."""

import os
from pathlib import Path
from typing import Any

from hookscope.model.machine import RealFiles
from hookscope.model.text import error_reason


def state_folder() -> Path:
    """Hookscope's own state folder; `HOOKSCOPE_STATE_DIR` moves it."""
    moved = os.environ.get("HOOKSCOPE_STATE_DIR", "").strip()
    if moved:
        return Path(moved).expanduser().absolute()
    from platformdirs import user_state_path

    return user_state_path("hookscope")


def is_writable(folder: Path) -> bool:
    """May we write there, or make it where it is not there yet. Writes nothing."""
    existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    return os.path.isdir(existing) and os.access(existing, os.W_OK | os.X_OK)


def unreadable_reason(path: Path, *, folder: bool = False) -> str:
    """Why a file or folder cannot be read, though it is there; empty where it can, or does not exist."""
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


def read_state_file(path: Path) -> Any:
    """The JSON of a state file; None where there is none, or it cannot be read as such."""
    try:
        source = RealFiles().read(path)  # a pipe of that name would be read for ever
        import json  # here, and below: a first start has no such file

        return json.loads(source)
    except (OSError, ValueError, RecursionError):  # the latter: brackets without end
        return None


def state_members(path: Path, name: str) -> dict[str, Any]:
    """What stands under `name` in a state file; empty where there is none, or it cannot be read as such."""
    document = read_state_file(path)
    members = document.get(name) if isinstance(document, dict) else None
    return members if isinstance(members, dict) else {}


def state_members_to_merge(path: Path, name: str) -> dict[str, Any]:
    """As `members_of`, for one who will write the file anew: a damaged one is kept as `NAME.damaged`.

    Raises OSError where it cannot be read now, since all that it holds would be lost.
    """
    import json

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


def write_state_file(path: Path, content: bytes) -> None:
    """Write a state file so that every reader sees the old or the new one, whole."""
    import tempfile  # here: a look writes nothing

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
