"""Guarded firing: handlers get bounded copies of folders, and what they did to these is told and thrown away.

Where bubblewrap (`bwrap`) is usable, a worker that is started through `Sandbox.argv` and `Sandbox.filter`
has no network and no Unix sockets but pairs of its own. It sees the rest of the disk and all of /proc
read-only, with an empty /tmp and /run, has no capabilities, and reaches no process but its own. Nothing that
it starts outlives it. What that does not hold:

- Reading. A handler reads whatever its user may read: keys, mail, the originals.
- Named pipes. A service that reads one at a visible path reads what a handler writes to it.
- Amounts. Memory, processor time and the space that copies and /tmp take are not limited here.
- Unix sockets, on a processor whose system calls socket_filter.py does not know. `Walls.sockets` says so.

Without bubblewrap there are the copies, and nothing else. They are whole: HOME, the host's state folder, the
working folder, links and packages lead to copies, or nowhere. A handler that names another path, opens a
connection or signals a process of its user is not held. `originals` then reports which originals have
changed, of those that were seen while they were copied, and no more.

In both cases a handler may notice where it is: paths differ, and what was left out is missing. If this
process is killed, the copies stay in the folder for temporary files, where only their user can read them.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType

from hookscope.helpers import helper_output
from hookscope.model.regular_file import reraise_file_limit
from hookscope.model.run import OriginalsCheck
from hookscope.runtime.bounded_copy import (
    DEFAULT_BOUNDS,
    PACKAGE_BOUNDS,
    CopyBounds,
    CopyPaths,
    FolderCopier,
    is_within,
)
from hookscope.runtime.file_changes import CopyChanges, changes_since, make_readable
from hookscope.values import dataclass

FAMILIES = (2, 10, 16)  # of Linux: IPv4, IPv6, and netlink, which lists a namespace's own interfaces
STREAMS = (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET. A datagram socket of a pair could be sent elsewhere
TYPE_MASK = 0xF  # of a type, without its flags
X32_BIT = 0x40000000  # x32 calls of a 64-bit kernel carry this bit

# Of linux/bpf_common.h and linux/seccomp.h
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, FIRST, SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data, little-endian
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000


@dataclass(frozen=True, slots=True)
class SystemCalls:
    """An architecture's number, and the numbers of its system calls."""

    architecture: int
    socket: int
    socketpair: int
    absent: tuple[int, ...]  # add_key, request_key, keyctl, io_uring_setup


MACHINES = {
    "x86_64": SystemCalls(0xC000003E, 41, 53, (248, 249, 250, 425)),
    "aarch64": SystemCalls(0xC00000B7, 198, 199, (217, 218, 219, 425)),
    "riscv64": SystemCalls(0xC00000F3, 198, 199, (217, 218, 219, 425)),
}


def socket_filter(machine: str = "") -> bytes:
    """Return the filter for a machine, this one by default, as `bwrap --seccomp` reads it.

    It is empty where the numbers of its system calls are not known here.
    """
    calls = MACHINES.get(machine or os.uname().machine)
    if calls is None or sys.byteorder != "little":
        return b""
    return b"".join(_filter_program(calls))


def _filter_program(calls: SystemCalls) -> Iterator[bytes]:
    yield _instruction(LOAD, ARCHITECTURE)
    yield _instruction(JUMP_EQUAL, calls.architecture, 1, 0)
    yield _instruction(RETURN, KILL)  # a program for another architecture has other numbers
    yield _instruction(LOAD, NUMBER)
    yield _instruction(JUMP_AT_LEAST, X32_BIT, 0, 1)
    yield _instruction(RETURN, FAIL | errno.ENOSYS)
    for number in calls.absent:
        yield _instruction(JUMP_EQUAL, number, 0, 1)
        yield _instruction(RETURN, FAIL | errno.ENOSYS)
    yield from _allow_only(calls.socket, [_instruction(LOAD, FIRST)], FAMILIES)
    yield from _allow_only(
        calls.socketpair, [_instruction(LOAD, SECOND), _instruction(AND, TYPE_MASK)], STREAMS
    )
    yield _instruction(RETURN, ALLOW)


def _allow_only(call: int, load: Sequence[bytes], allowed: Sequence[int]) -> Iterator[bytes]:
    """The call passes with these values, and fails with EACCES otherwise."""
    yield _instruction(JUMP_EQUAL, call, 0, len(load) + len(allowed) + 2)
    yield from load
    for number, value in enumerate(allowed):
        yield _instruction(JUMP_EQUAL, value, len(allowed) - number, 0)
    yield _instruction(RETURN, FAIL | errno.EACCES)
    yield _instruction(RETURN, ALLOW)


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """One struct sock_filter."""
    return struct.pack("<HBBI", code, yes, no, value)


__all__ = ["CopyBounds", "CopyChanges", "Isolation", "Sandbox", "find_bwrap"]

START_TIMEOUT = 5.0  # seconds for bwrap to show that it works, which takes some milliseconds
REMOVE_ROUNDS = 3  # of removing: something may still be writing there
HIDDEN_FOLDER = "/tmp"  # other programs' sockets and files lie there, and handlers write to it by name
SERVICE_FOLDERS = ("/run", "/var/run")  # the sockets and pipes of services, which do what they are asked
SESSION_FOLDER = "/run/user"


@dataclass(frozen=True, slots=True)
class Isolation:
    """What stood between handlers and the machine."""

    network: bool  # there was none
    disk: bool  # outside of the copies it was read-only
    copied_folders: tuple[Path, ...]  # the folders, as they were named
    skipped_notes: tuple[str, ...]  # sentences: what was not copied, and why
    sockets: bool = False  # no Unix socket could be opened

    @property
    def text(self) -> str:
        """Which walls stood, for people."""
        if not (self.network and self.disk):
            return (
                f"Handlers ran on copies of {self._names}. Nothing else held them: without a usable "
                "bubblewrap (bwrap) they have the network, and can write wherever you can, by an absolute "
                "path."
            )
        if self.sockets:
            had = "no network and no Unix sockets"
        else:
            had = "no network, but services that listen on a Unix socket in the file system answered them"
        return f"Handlers ran on copies of {self._names}. They had {had}, and could change no file elsewhere."

    @property
    def warning(self) -> str:
        """What is not protected, to be said before handlers run; empty where nothing is to be said."""
        if not (self.network and self.disk):
            return (
                f"Without a usable bubblewrap (bwrap), the originals of {self._names} are not protected: "
                "handlers can write wherever you can, by an absolute path, and they have the network."
            )
        if not self.sockets:
            return "Services that listen on a Unix socket in the file system answer handlers here."
        return ""

    @property
    def _names(self) -> str:
        outermost = (
            one
            for one in self.copied_folders
            if not any(one != two and one.is_relative_to(two) for two in self.copied_folders)
        )
        return ", ".join(map(str, outermost)) or "no folder"


class Sandbox:
    """Copies of folders in a private folder for temporary files, which `close` removes.

    Making one copies, which takes up to some seconds: not in an event loop. The first folders are the
    most important: where bounds are reached, it is in the last. Those that do not exist are not made, but
    what handlers make of them is found. The originals are only read.

    Args:
        folders: they may lie inside of each other.
        bwrap: the program, from `find_bwrap`; None: no walls.
        apart: folders that are never copied.
        packages: bounds of all `node_modules` together, which are copied where there are no walls.
        also: folders that handlers start in. Without walls they are copied too; `started_in` says where.

    Raises OSError where there is no folder for temporary files, or no space for a single one in it.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        bwrap: str | None,
        excluded: Sequence[Path] = (),
        start_folders: Sequence[Path] = (),
        bounds: CopyBounds = DEFAULT_BOUNDS,
        packages: CopyBounds = PACKAGE_BOUNDS,
    ) -> None:
        self._root = os.path.realpath(mkdtemp(prefix="hookscope-sandbox-"))
        self._bwrap = bwrap
        self._bwrap_options, self.filter = _strongest_isolation(bwrap) if bwrap is not None else ((), b"")
        try:
            self.temporary = Path(self._root, "tmp")  # for handlers' own temporary files: not listed
            self.temporary.mkdir()
            self._paths = CopyPaths(folders, self._root)
            never_copied = {self._root, *map(os.path.realpath, excluded)}
            copied_starts = () if bwrap is not None else tuple(map(os.fspath, start_folders))
            self._copier = FolderCopier(
                self._paths,
                bounds,
                never_copied,
                packages,
                self_contained=bwrap is None,
                start_folders=copied_starts,
            )
            self._copier.copy()
        except BaseException:
            self.close()
            raise
        existing = (folder.absolute() for folder in folders if os.path.isdir(folder))
        is_isolated = bwrap is not None
        skipped, sockets = self._copier.skipped_notes(), bool(self.filter)
        self.isolation = Isolation(is_isolated, is_isolated, tuple(dict.fromkeys(existing)), skipped, sockets)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def copy_of(self, path: Path) -> Path:
        """Where an original path lies in here, copied or left out; unchanged outside of all folders."""
        copy = self._paths.copy_of(os.fspath(path))
        return path if copy == os.path.abspath(path) else Path(copy)

    def mirrored(self, path: Path) -> Path:
        """Where any absolute path lies among the copies, whether it was copied or not."""
        return Path(self._paths.mirrored(os.path.realpath(path)))

    def start_folder_of(self, folder: Path) -> Path:
        """Where a process starts that is to start in this folder."""
        real = os.path.realpath(folder)
        copy = self._paths.copy_of_reached(real)
        return folder if copy == real else Path(copy)

    def original_of(self, text: str) -> str:
        """Any text with the copies' paths put back: of a frame, a message, a diff."""
        return self._paths.original_of(text)

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
        if "PWD" in env:
            mapped["PWD"] = str(self.start_folder_of(Path(env["PWD"])))
        return mapped | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.temporary))

    def argv(self, argv: Sequence[str], readable_paths: Sequence[Path] = ()) -> tuple[str, ...]:
        """The command inside of the walls; unchanged where there are none.

        Whoever starts it also hands `filter` to bwrap, with `--seccomp` (see `WorkerProgram.filter`).
        The caller makes the session, as always: its group is the command's, and a kill of it ends all.
        Inherited descriptors pass through. A command that dies of signal n exits with status 128+n, and it
        finds PWD in its environment.

        Args:
            readable_paths: what else the command reads below /tmp or /run, beside its own arguments.
        """
        if self._bwrap is None:
            return tuple(argv)
        folders = [place.folder for place in self._paths.copied]
        shown = _entries_to_show([*argv, *map(os.fspath, readable_paths), *folders], self._root)
        binds = (word for path in shown for word in ("--ro-bind", path, path))
        return (self._bwrap, *self._bwrap_options, *binds, "--bind", self._root, self._root, "--", *argv)

    def changes(self) -> CopyChanges:
        """What handlers did to the copies, so far."""
        return changes_since(self._paths.areas, self._copier.fingerprints, self.original_of)

    def check_originals(self) -> OriginalsCheck:
        """Originals that are not as they were: by handlers past the copies, or by others."""
        return self._copier.originals.compare(
            lambda path: self.original_of(self._paths.copy_of_reached(path))  # as its folder was named
        )

    def close(self) -> bool:
        """Remove all copies, whatever was done to them. False where the system kept something of them."""
        return any(_remove_tree(self._root) for _ in range(REMOVE_ROUNDS))


def find_bwrap(path: Sequence[str] | str) -> str | None:
    """The bwrap of a search path, if it works here: it may be installed where the system forbids its walls.

    Folders that are not absolute are passed over.
    """
    folders = path.split(os.pathsep) if isinstance(path, str) else path
    found = shutil.which("bwrap", path=os.pathsep.join(filter(os.path.isabs, folders)))
    if found is None:
        return None
    return found if _can_start(found, _isolation_options()) else None


def _strongest_isolation(bwrap: str) -> tuple[tuple[str, ...], bytes]:
    """The most walls that this bwrap can put up here, and the filter of system calls that goes with them.

    Root may have to do without a user namespace: in one, a container's /proc cannot be mounted. Anybody
    else is always in one.
    """
    sockets = socket_filter()
    for filtered in dict.fromkeys((sockets, b"")):
        for user_namespace in (True, False):
            if _can_start(bwrap, _isolation_options(user_namespace=user_namespace), filtered):
                return _isolation_options(user_namespace=user_namespace), filtered
    return _isolation_options(), b""


def _can_start(bwrap: str, options: Sequence[str], filtered: bytes = b"") -> bool:
    """True if bwrap runs a program behind these walls."""
    shown = (word for path in _entries_to_show([bwrap], "") for word in ("--ro-bind", path, path))
    into, out = os.pipe()
    try:
        os.write(out, filtered)  # far less than a pipe holds
        os.close(out)
        seccomp = ("--seccomp", str(into)) if filtered else ()
        command = (bwrap, *seccomp, *options, *shown, "--", bwrap, "--version")
        return helper_output(command, seconds=START_TIMEOUT, pass_fds=(into,)).code == 0
    except OSError as error:
        reraise_file_limit(error)
        return False
    finally:
        os.close(into)


def _isolation_options(*, user_namespace: bool = False) -> tuple[str, ...]:
    """Namespaces and mounts. Capabilities are dropped for root, who could take the walls down with them.

    Root writes the kernel's settings without any capability, as their owner: all of /proc is read-only.
    """
    hidden = (word for folder in _existing_service_folders() for word in ("--tmpfs", folder))
    return (
        *("--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", *(("--unshare-user-try",) if user_namespace else ()), "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"),
        *("--tmpfs", HIDDEN_FOLDER, *hidden),
    )


def _existing_service_folders() -> list[str]:
    """The folders of `SERVICES` that are there, and no links to each other."""
    return [folder for folder in SERVICE_FOLDERS if os.path.isdir(folder) and not os.path.islink(folder)]


def _entries_to_show(paths: Sequence[str], own: str) -> list[str]:
    """What of the hidden folders must be shown again, so that these paths lead on: entries, as a whole."""
    real = {os.path.realpath(path) for path in paths if os.path.isabs(path)}
    below = {path for path in {*paths, *real} if not (own and is_within(path, own))}
    entries = {entry for path in below if (entry := _hidden_entry(path))}
    return sorted(entry for entry in entries if os.path.exists(entry))


def _hidden_entry(path: str) -> str:
    """The entry of a hidden folder that holds this path, of a session the path; empty where none does."""
    for folder in (HIDDEN_FOLDER, *_existing_service_folders()):
        if path.startswith(f"{folder}/"):
            first = path[len(folder) + 1 :].split("/")[0]
            return path if is_within(path, SESSION_FOLDER) else f"{folder}/{first}"
    return ""


def _remove_tree(root: str) -> bool:
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
                waiting += _empty_folder(descriptor, names)
            finally:
                os.close(descriptor)
            if folder != root:
                os.rmdir(folder)
    with suppress(OSError):
        os.rmdir(root)
    return not os.path.lexists(root)


def _empty_folder(folder: int, names: Iterator[str]) -> list[str]:
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
