"""Sandboxed firing: handlers get bounded copies of folders; their changes are reported and discarded.

If bubblewrap (`bwrap`) is usable, a worker started through `Sandbox.argv` and `Sandbox.filter` has no network
and no Unix sockets except socket pairs of its own. It sees the rest of the disk and /proc read-only, with an
empty /tmp and /run, has no capabilities, and reaches only its own processes. None of them outlives it. Not
covered:

- Reading. A handler can read everything that its user can read: keys, mail, the originals.
- Named pipes. A handler can write to a pipe at a visible path, from which a service may read.
- Amounts. Memory, processor time and the space of copies and /tmp are not limited here.
- Unix sockets on processors that `socket_filter` does not know; `Isolation.level` is "bubblewrap" there.

Without bubblewrap there are only the copies. They are self-contained: HOME, the host's state folder, the
working folder, links and packages lead to copies, or nowhere. A handler that uses another path, opens a
connection or signals another process of its user is not stopped. `check_originals` reports which of the
originals that were seen while copying have changed.

In both cases a handler may notice the sandbox: paths differ, and skipped files are missing. If this process
is killed, the copies stay in the temporary folder, readable only by their user.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from types import TracebackType
from typing import Literal, TypeAlias

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
STREAMS = (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET. A datagram socket could send to another address
TYPE_MASK = 0xF  # a socket type without its flags
X32_BIT = 0x40000000  # x32 calls of a 64-bit kernel carry this bit

# From linux/bpf_common.h and linux/seccomp.h
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, FIRST, SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data, little-endian
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000


@dataclass(frozen=True, slots=True)
class SystemCalls:
    """The numbers of an architecture and of its system calls."""

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
    """Return the filter for a machine (default: this one) in the format of `bwrap --seccomp`.

    Empty if the machine's system call numbers are unknown.
    """
    calls = MACHINES.get(machine or os.uname().machine)
    if calls is None or sys.byteorder != "little":
        return b""
    return b"".join(_filter_program(calls))


def _filter_program(calls: SystemCalls) -> Iterator[bytes]:
    yield _instruction(LOAD, ARCHITECTURE)
    yield _instruction(JUMP_EQUAL, calls.architecture, 1, 0)
    yield _instruction(RETURN, KILL)  # another architecture has other numbers
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
    """Yield a filter that allows a call with these values, and makes it fail with EACCES otherwise."""
    yield _instruction(JUMP_EQUAL, call, 0, len(load) + len(allowed) + 2)
    yield from load
    for number, value in enumerate(allowed):
        yield _instruction(JUMP_EQUAL, value, len(allowed) - number, 0)
    yield _instruction(RETURN, FAIL | errno.EACCES)
    yield _instruction(RETURN, ALLOW)


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Return one struct sock_filter."""
    return struct.pack("<HBBI", code, yes, no, value)


START_TIMEOUT = 5.0  # seconds for a test run of bwrap, which takes some milliseconds
MOST_LINKS = 40  # that Linux follows
PREFIX = "hookscope-sandbox-"  # of folders in the temporary folder
UNLOCKED_FOR = 60  # seconds; a sandbox is locked much earlier
REMOVE_ROUNDS = 3  # of removing: a process may still write there
HIDDEN_FOLDER = "/tmp"  # has other programs' sockets and files; handlers write to it by name
SERVICE_FOLDERS = ("/run", "/var/run")  # have sockets and pipes through which services can be controlled
SESSION_FOLDER = "/run/user"


# "copies": nothing else is restricted. "bubblewrap": also no network, and a disk that is read-only outside
# the copies. With the socket filter: also no Unix sockets.
IsolationLevel: TypeAlias = Literal["copies", "bubblewrap", "bubblewrap with socket filter"]


@dataclass(frozen=True, slots=True)
class Isolation:
    """How handlers were isolated from the machine."""

    level: IsolationLevel
    copied_folders: tuple[Path, ...]  # as given
    skipped_notes: tuple[str, ...]  # sentences on what was not copied, and why

    @property
    def text(self) -> str:
        """The isolation in words."""
        if self.level == "copies":
            return (
                f"Handlers ran on copies of {self._names}. Nothing else restricted them: without a usable "
                "bubblewrap (bwrap), they have network access and can write wherever you can write."
            )
        if self.level == "bubblewrap":
            had = "no network, but could reach services that listen on a Unix socket in the file system"
        else:
            had = "no network and no Unix sockets"
        return f"Handlers ran on copies of {self._names}. They had {had}, and could not change other files."

    @property
    def warning(self) -> str:
        """What is not protected, to show before handlers run; empty if everything is."""
        if self.level == "copies":
            return (
                f"Without a usable bubblewrap (bwrap), the originals of {self._names} are not protected. "
                "Handlers have network access and can write to any absolute path that you can write to."
            )
        if self.level == "bubblewrap":
            return "Handlers can reach services that listen on a Unix socket in the file system."
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
    """Copies of folders in a private temporary folder, which `close` removes.

    Creating a Sandbox copies files and may block for some seconds, so do it in a thread. Put the most
    important folders first: if the bounds are reached, the last ones are incomplete. Missing folders are not
    created, but files that handlers write there are found. The originals are only read.

    Args:
        folders: may be nested.
        bwrap: the program, from `find_bwrap`; None: no isolation.
        excluded: folders that are never copied.
        start_folders: folders in which handlers start. Without isolation they are copied too; see
            `start_folder_of`.
        bounds: how much is copied.
        packages: bounds of all `node_modules` together, which are copied without isolation.

    Raises OSError if there is no temporary folder, or no space in it.
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
        self._root = os.path.realpath(mkdtemp(prefix=PREFIX))
        self._claim = _claimed(self._root)
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
        level: IsolationLevel = "copies" if bwrap is None else "bubblewrap"
        if self.filter:
            level = "bubblewrap with socket filter"
        self.isolation = Isolation(level, tuple(dict.fromkeys(existing)), self._copier.skipped_notes())

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def copy_of(self, path: Path) -> Path:
        """Return the path's place in the copies, existing or not; outside the copied folders, the path."""
        copy = self._paths.copy_of(os.fspath(path))
        return path if copy == os.path.abspath(path) else Path(copy)

    def mirrored(self, path: Path) -> Path:
        """Return the place of any absolute path in the folder of all copies, existing or not."""
        return Path(self._paths.mirrored(os.path.realpath(path)))

    def start_folder_of(self, folder: Path) -> Path:
        """Return the folder in which to start a process instead of `folder`."""
        real = os.path.realpath(folder)
        copy = self._paths.copy_of_reached(real)
        return folder if copy == real else Path(copy)

    def original_of(self, text: str) -> str:
        """Return the text (of a frame, a message, a diff) with paths of copies replaced by the originals'."""
        return self._paths.original_of(text)

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the variables with paths into copied folders replaced by the paths of their copies.

        Values with several paths are kept, because the programs on PATH are not copied.
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
        """Return the command inside the sandbox; unchanged without isolation.

        The caller must pass `filter` to bwrap with `--seccomp` (see `WorkerProgram.filter`). It must start
        the command in a new session, so that killing its group ends everything. The command inherits
        descriptors and gets PWD in its environment. If signal n kills it, bwrap exits with status 128+n.

        Args:
            readable_paths: other paths below /tmp or /run that the command reads.
        """
        if self._bwrap is None:
            return tuple(argv)
        folders = [place.folder for place in self._paths.copied]
        shown = _entries_to_show([*argv, *map(os.fspath, readable_paths), *folders], self._root)
        binds = (word for path in shown for word in ("--ro-bind", path, path))
        return (self._bwrap, *self._bwrap_options, *binds, "--bind", self._root, self._root, "--", *argv)

    def changes(self) -> CopyChanges:
        """Return the changes that handlers have made to the copies so far."""
        return changes_since(self._paths.areas, self._copier.fingerprints, self.original_of)

    def check_originals(self) -> OriginalsCheck:
        """Return the originals that have changed, through a handler or another program."""
        return self._copier.originals.compare(
            lambda path: self.original_of(self._paths.copy_of_reached(path))  # as its folder was named
        )

    def close(self) -> bool:
        """Remove all copies, whatever handlers did to them. Return False if something remains.

        Also remove the copies that killed processes have left behind.
        """
        removed = any(_remove_tree(self._root) for _ in range(REMOVE_ROUNDS))
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None
        _remove_abandoned()
        return removed


def find_bwrap(path: Sequence[str] | str) -> str | None:
    """Return the bwrap in an absolute folder of PATH; None if there is none or its isolation is forbidden."""
    folders = path.split(os.pathsep) if isinstance(path, str) else path
    found = shutil.which("bwrap", path=os.pathsep.join(filter(os.path.isabs, folders)))
    if found is None:
        return None
    return found if _can_start(found, _isolation_options()) else None


def _strongest_isolation(bwrap: str) -> tuple[tuple[str, ...], bytes]:
    """Return the options of the strongest isolation that bwrap can provide here, and its filter.

    In some containers, root cannot mount /proc in a user namespace, and must do without one. Other users
    always need a user namespace.
    """
    sockets = socket_filter()
    for filtered in dict.fromkeys((sockets, b"")):
        for user_namespace in (True, False):
            if _can_start(bwrap, _isolation_options(user_namespace=user_namespace), filtered):
                return _isolation_options(user_namespace=user_namespace), filtered
    return _isolation_options(), b""


def _can_start(bwrap: str, options: Sequence[str], filtered: bytes = b"") -> bool:
    """Return True if bwrap can run a program with these options."""
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
    """Return the options for namespaces and mounts.

    Root loses its capabilities, with which it could undo the isolation. /proc is read-only, because root owns
    the kernel settings in it and can write them without a capability.
    """
    hidden = (word for folder in _existing_service_folders() for word in ("--tmpfs", folder))
    return (
        *("--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", *(("--unshare-user-try",) if user_namespace else ()), "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"),
        *("--tmpfs", HIDDEN_FOLDER, *hidden),
    )


def _existing_service_folders() -> list[str]:
    """Return the existing folders of SERVICE_FOLDERS that are not links to each other."""
    return [folder for folder in SERVICE_FOLDERS if os.path.isdir(folder) and not os.path.islink(folder)]


def _entries_to_show(paths: Sequence[str], own: str) -> list[str]:
    """Return the entries of hidden folders that must be visible to reach these paths, except below `own`."""
    steps = {step for path in paths if os.path.isabs(path) for step in _link_steps(path)}
    below = {path for path in {*paths, *steps} if not (own and is_within(path, own))}
    entries = {entry for path in below if (entry := _hidden_entry(path))}
    return sorted(entry for entry in entries if os.path.exists(entry))


def _link_steps(path: str) -> Iterator[str]:
    """Yield the real path, and each target if the path is a link, a link to a link, and so on."""
    yield os.path.realpath(path)
    with suppress(OSError):  # not a link
        for _ in range(MOST_LINKS):
            path = os.path.join(os.path.dirname(path), os.readlink(path))
            yield os.path.normpath(path)


def _hidden_entry(path: str) -> str:
    """Return the entry of a hidden folder that contains the path, or "". In /run/user, return the path."""
    for folder in (HIDDEN_FOLDER, *_existing_service_folders()):
        if path.startswith(f"{folder}/"):
            first = path[len(folder) + 1 :].split("/")[0]
            return path if is_within(path, SESSION_FOLDER) else f"{folder}/{first}"
    return ""


def _claimed(folder: str) -> int | None:
    """Lock a folder until this process ends. Return the descriptor; None if the folder cannot be locked."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        reraise_file_limit(error)
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_abandoned() -> None:
    """Remove the sandboxes of killed processes, which are no longer locked."""
    with suppress(OSError), os.scandir(gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and _may_be_abandoned(entry):
                claim = _claimed(entry.path)
                if claim is not None:
                    _remove_tree(entry.path)
                    os.close(claim)


def _may_be_abandoned(entry: os.DirEntry[str]) -> bool:
    """Return whether a sandbox is this user's, and so old that its owner, if any, has locked it by now."""
    with suppress(OSError):
        found = entry.stat(follow_symlinks=False)
        return found.st_uid == os.getuid() and time.time() - found.st_mtime > UNLOCKED_FOR
    return False


def _remove_tree(root: str) -> bool:
    """Remove a folder with its content; return True once it is gone. Links are not followed.

    Each folder is moved to the top before it is emptied, so that no path gets too long.
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
    """Delete the files of an open folder, and move its subfolders to `names`. Return the used names."""
    moved = []
    with os.scandir(folder) as listing:
        entries = list(listing)
    for entry in entries:
        with suppress(OSError):  # continue with the other entries
            if entry.is_dir(follow_symlinks=False):
                make_readable(entry.name, dir_fd=folder)
                name = next(names)
                os.rename(entry.name, name, src_dir_fd=folder)
                moved.append(name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return moved
