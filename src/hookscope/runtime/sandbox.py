"""Guarded firing: handlers get bounded copies of folders, and what they did to these is told and thrown away.

Where bubblewrap (`bwrap`) is usable, a worker that is started through `Sandbox.argv` has no network, sees
the rest of the disk read-only with an empty /tmp, sees and reaches no process but its own, and nothing that
it starts outlives it. What that does not hold:

- Reading. A handler reads whatever its user may read: keys, mail, the originals.
- Sockets in the file system. A service that listens on one, such as Docker's, does what it is asked,
  read-only disk or not; those below /run/user and /tmp are out of sight.
- Amounts. Memory, processor time and the space that copies and /tmp take are not limited here.

Without bubblewrap there are the copies, and nothing else: a handler that follows its HOME, its host's state
folder and its working folder stays inside of them. One that names another path, follows a link out of the
copies, opens a connection or signals a process of its user is not held; `touched` then tells which of the
copied originals have changed, and no more. Writes through `node_modules` reach the original.

In both cases a handler may notice where it is: paths differ, and what was left out is missing. If this
process is killed, the copies stay in the folder for temporary files, where only their user can read them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType

from hookscope.helpers import answer_of
from hookscope.runtime.bounded_copy import USUAL, Bounds, Copier, Places, within
from hookscope.runtime.file_changes import Changes, changes_of, make_readable
from hookscope.values import dataclass

__all__ = ["Bounds", "Changes", "Sandbox", "Walls", "find_bwrap"]

PATIENCE = 5.0  # seconds for bwrap to show that it works, which takes some milliseconds
ROUNDS = 3  # of removing: something may still be writing there
HIDDEN = "/tmp"  # other programs' sockets and files lie there, and handlers write to it by name
SESSION = "/run/user"  # the sockets of a desktop session: its service manager starts whatever it is asked to


@dataclass(frozen=True, slots=True)
class Walls:
    """What stood between handlers and the machine."""

    network: bool  # there was none
    disk: bool  # outside of the copies it was read-only
    copied: tuple[Path, ...]  # the folders, as they were named
    left_out: tuple[str, ...]  # sentences: what was not copied, and why

    @property
    def text(self) -> str:
        """Which walls stood, for people."""
        names = ", ".join(map(str, self.copied)) or "no folder"
        if self.network and self.disk:
            return f"Handlers ran on copies of {names}. They had no network, and could write nowhere else."
        return (
            f"Handlers ran on copies of {names}. Nothing else held them: without a usable bubblewrap (bwrap) "
            "they have the network, and can write wherever you can, by an absolute path."
        )


class Sandbox:
    """Copies of folders in a private folder for temporary files, which `close` removes.

    Making one copies, which takes up to some seconds: not in an event loop. The first folders are the
    most important: where bounds are reached, it is in the last. Those that do not exist are not made, but
    what handlers make of them is found. The originals are only read.

    Args:
        folders: they may lie inside of each other.
        bwrap: the program, from `find_bwrap`; None: no walls.
        apart: folders that are never copied.

    Raises OSError where there is no folder for temporary files, or no space for a single one in it.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        bwrap: str | None,
        apart: Sequence[Path] = (),
        bounds: Bounds = USUAL,
    ) -> None:
        self._root = os.path.realpath(mkdtemp(prefix="hookscope-sandbox-"))
        self._bwrap = bwrap
        try:
            self.temporary = Path(self._root, "tmp")  # for handlers' own temporary files: not listed
            self.temporary.mkdir()
            self._places = Places(folders, self._root)
            self._copier = Copier(self._places, bounds, {self._root, *map(os.path.realpath, apart)})
            self._copier.copy()
        except BaseException:
            self.close()
            raise
        there = (folder.absolute() for folder in folders if os.path.isdir(folder))
        wall = bwrap is not None
        self.walls = Walls(wall, wall, tuple(dict.fromkeys(there)), self._copier.left_out())

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def copy_of(self, path: Path) -> Path:
        """Where an original path lies in here, copied or left out; unchanged outside of all folders."""
        copy = self._places.copy_of(os.fspath(path))
        return path if copy == os.path.abspath(path) else Path(copy)

    def original_of(self, text: str) -> str:
        """Any text with the copies' paths put back: of a frame, a message, a diff."""
        return self._places.original_of(text)

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """The variables with each value that is a path into a folder leading to its copy.

        Values that hold more than one path stay: what PATH names is not copied with its programs.
        """
        mapped = {
            name: str(self.copy_of(Path(value)))
            if os.path.isabs(value) and os.pathsep not in value
            else value
            for name, value in env.items()
        }
        return mapped | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.temporary))

    def argv(self, argv: Sequence[str], needs: Sequence[Path] = ()) -> tuple[str, ...]:
        """The command inside of the walls; unchanged where there are none.

        The caller makes the session, as always: its group is the command's, and a kill of it ends all.
        Inherited descriptors pass through. A command that dies of signal n exits with status 128+n, and it
        finds PWD in its environment.

        Args:
            needs: what else the command reads, for what lies below /tmp. Its own words are seen to.
        """
        if self._bwrap is None:
            return tuple(argv)
        folders = [place.folder for place in self._places.all]
        shown = _hidden([*argv, *map(os.fspath, needs), *folders], self._root)
        binds = (word for path in shown for word in ("--ro-bind", path, path))
        return (self._bwrap, *_walls(), *binds, "--bind", self._root, self._root, "--", *argv)

    def changes(self) -> Changes:
        """What handlers did to the copies, so far."""
        return changes_of(self._places.areas, self._copier.prints, self.original_of)

    def touched(self) -> tuple[Path, ...]:
        """Originals of copied files that have changed since: by handlers past the copies, or by others."""
        changed = (path for path, then in self._copier.sources.items() if _state_of(path) != then)
        return tuple(sorted(Path(self.original_of(self._places.copy_of(path))) for path in changed))

    def close(self) -> bool:
        """Remove all copies, whatever was done to them. False where the system kept something of them."""
        return any(_remove(self._root) for _ in range(ROUNDS))


def find_bwrap(path: Sequence[str] | str) -> str | None:
    """The bwrap of a search path, if it works here: it may be installed where the system forbids its walls.

    Folders that are not absolute are passed over.
    """
    folders = path.split(os.pathsep) if isinstance(path, str) else path
    found = shutil.which("bwrap", path=os.pathsep.join(filter(os.path.isabs, folders)))
    if found is None:
        return None
    shown = (word for path in _hidden([found], "") for word in ("--ro-bind", path, path))
    try:
        answer = answer_of((found, *_walls(), *shown, "--", found, "--version"), seconds=PATIENCE)
    except OSError:
        return None
    return found if answer.code == 0 else None


def _walls() -> tuple[str, ...]:
    """Namespaces and mounts. Capabilities are dropped for root, who could take the walls down with them."""
    session = ("--tmpfs", SESSION) if os.path.isdir(SESSION) else ()
    return (
        *("--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", HIDDEN, *session),
    )


def _hidden(paths: Sequence[str], own: str) -> list[str]:
    """What of /tmp must be shown again, so that these paths lead on: its own entries, as a whole."""
    real = {os.path.realpath(path) for path in paths if os.path.isabs(path)}
    below = {
        path for path in {*paths, *real} if path.startswith(f"{HIDDEN}/") and not (own and within(path, own))
    }
    entries = {"/".join(path.split("/")[:3]) for path in below}
    return sorted(entry for entry in entries if os.path.exists(entry))


def _state_of(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _remove(root: str) -> bool:
    """Remove a folder with all that is in it; True once it is gone. Links are not followed.

    Each folder is moved to the top before it is emptied: so no path gets too long, however deep it lay.
    """
    mark = os.urandom(8).hex()
    names = (os.path.join(root, f"{mark}-{number}") for number in count())
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        with suppress(OSError):
            make_readable(folder)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                waiting += _empty(descriptor, names)
            finally:
                os.close(descriptor)
            if folder != root:
                os.rmdir(folder)
    with suppress(OSError):
        os.rmdir(root)
    return not os.path.lexists(root)


def _empty(folder: int, names: Iterator[str]) -> list[str]:
    """Unlink the files of an open folder, and move its folders to these names; those that were moved."""
    moved = []
    with os.scandir(folder) as listing:
        entries = list(listing)
    for entry in entries:
        with suppress(OSError):  # the others go all the same
            if entry.is_dir(follow_symlinks=False):
                make_readable(entry.name, dir_fd=folder)
                name = next(names)
                os.rename(entry.name, name, src_dir_fd=folder)
                moved.append(name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return moved
