"""Replaces, renames or removes one file atomically: readers see the complete old or new file."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from hookscope.model.text import error_reason
from hookscope.storage.state_files import state_folder


class ChangeError(Exception):
    """The base class of all refusals to edit a file."""


class CannotEdit(ChangeError):
    """The text cannot be edited safely. `line`: what the user can write by hand, if anything."""

    def __init__(self, problem: str, line: str = "") -> None:
        super().__init__(problem, line)  # both, so that a copy or a pickle can be made from `args`
        self.problem = problem
        self.line = line

    def __str__(self) -> str:
        return f"{self.problem}. By hand: `{self.line}`" if self.line else f"{self.problem}."


class Stale(ChangeError):
    """The file has changed since the change was made. Plan the change again."""


class CannotWrite(ChangeError):
    """The system refuses the write: which file, why, and the next step."""


UNSUPPORTED_ERRNOS = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
AT_FDCWD = -100  # AT_FDCWD of Linux: relative paths count from the current folder
LINUX_FREE, LINUX_EXCHANGE = 1, 2  # RENAME_NOREPLACE, RENAME_EXCHANGE
MACOS_EXCHANGE, MACOS_FREE = 2, 4  # RENAME_SWAP, RENAME_EXCL


class RenameUnsupported(OSError):
    """The system or the file system has no call for this kind of rename."""


def exchange_files(one: Path, other: Path) -> None:
    """Exchange two files in one step, so that both names always lead to a whole file.

    Raises RenameUnsupported, or OSError if the system refuses.
    """
    _rename_with_flags(one, other, LINUX_EXCHANGE, MACOS_EXCHANGE)


def rename_without_overwrite(one: Path, to: Path) -> None:
    """Rename a file to an unused name. Raises FileExistsError if it is used, else OSError."""
    try:
        _rename_with_flags(one, to, LINUX_FREE, MACOS_FREE)
    except RenameUnsupported:
        if os.path.lexists(to):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(to)) from None
        os.rename(one, to)


def _rename_with_flags(one: Path, other: Path, linux: int, macos: int) -> None:
    source, target = os.fsencode(one), os.fsencode(other)
    library = _libc()
    if hasattr(library, "renameat2"):
        failed = library.renameat2(AT_FDCWD, source, AT_FDCWD, target, linux)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(source, target, macos)
    else:
        raise RenameUnsupported(errno.ENOSYS, os.strerror(errno.ENOSYS), str(other))
    if failed:
        number = ctypes.get_errno()
        error = RenameUnsupported if number in UNSUPPORTED_ERRNOS else OSError
        raise error(number, os.strerror(number), str(other))


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


WriteStep = Callable[[str], None]
"""Called with the name of each step of a write, before the step; tests inject failures there."""

BeforeReplace = Callable[[Path], None]
"""Raises if the file at this path is not the one that the change was computed from."""

STEPS = ("create", "write", "own", "sync", "replace", "exchange", "sync folder", "done")
NEW_MODE = 0o600  # a new file may hold secrets
OPEN_MODE = 0o666  # a new file without secrets: the umask decides
POLL = 0.005  # seconds between two checks of a lock: an edit takes about as long


def no_step(_: str) -> None:
    """Do nothing between the steps of a write; tests replace it."""


def real_path(path: Path) -> Path:
    """Return the path with links resolved; the file need not exist."""
    return Path(os.path.realpath(path))  # unlike Path.resolve, never raises on a loop


@contextmanager
def locked(real: Path, timeout: float) -> Iterator[None]:
    """Lock the folder of `real`, without a lock file. Raises CannotWrite after `timeout` seconds."""
    with ExitStack() as held:
        try:
            _lock_folder(real.parent, timeout, held)
        except TimeoutError:
            raise CannotWrite(
                f"{real} has been locked by another process for {timeout:g} s; nothing was written. "
                "Close the other one, or try again."
            ) from None
        yield


def _lock_folder(folder: Path, timeout: float, held: ExitStack) -> None:
    """Lock a folder until `held` is closed. Raises TimeoutError."""
    end = time.monotonic() + timeout
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        held.callback(os.close, handle)
        while True:
            try:
                return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError from None
                time.sleep(POLL)
    except TimeoutError:
        raise
    except (ImportError, OSError):  # Windows, and some network file systems, cannot lock a folder
        from filelock import FileLock  # loads asyncio

        held.enter_context(FileLock(state_folder() / "files.lock", timeout=timeout, poll_interval=POLL))


def replace_file(
    real: Path,
    content: bytes,
    *,
    mode: int = NEW_MODE,
    check: BeforeReplace | None = None,
    step: WriteStep = no_step,
) -> bool:
    """Replace a whole file under the lock of `locked`. Mode, owner and extended attributes stay; a new file
    gets this mode, as far as the umask allows.

    `check` raises to stop the write. It is called right before the replacement, and again with the replaced
    file: if another program has changed that, the exchange is reverted. Return True if the file could only be
    written in place, which is not atomic: a file that is a mount point (EBUSY, EXDEV).
    """
    fresh = _temporary_beside(real, "new")
    fresh.unlink(missing_ok=True)  # of a write that was killed; we hold the lock
    step("create")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            step("write")
            file.write(content)
            file.flush()
            step("own")
            _keep_owner_and_mode(file.fileno(), real)
            step("sync")
            os.fsync(file.fileno())
        step("replace")
        is_new = not os.path.lexists(real)
        if check is not None:
            check(real)
        step("exchange")
        in_place = not _put_in_place(fresh, real, is_new, check)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    if in_place:
        _write_in_place(real, content, fresh)
    fresh.unlink(missing_ok=True)
    step("sync folder")
    sync_folder(real.parent)
    step("done")
    return in_place


def remove_file(real: Path, *, check: BeforeReplace, step: WriteStep = no_step) -> None:
    """Remove a file under the lock of `locked`. `check` raises to stop it, as in `replace_file`."""
    step("replace")
    check(real)
    step("exchange")
    aside = _temporary_beside(real, "old")
    aside.unlink(missing_ok=True)  # of a removal that was killed
    rename_without_overwrite(real, aside)
    try:
        check(aside)
    except BaseException:
        _put_back_removed(aside, real)
        raise
    aside.unlink()
    step("sync folder")
    sync_folder(real.parent)
    step("done")


def rename_file(real: Path, to: Path, *, check: BeforeReplace, step: WriteStep = no_step) -> None:
    """Rename a file in its folder, under the lock of `locked`. `check` raises to stop it."""
    step("replace")
    check(real)
    step("exchange")
    rename_without_overwrite(real, to)
    step("sync folder")
    sync_folder(to.parent)
    step("done")


def change_mode(real: Path, mode: int, *, check: BeforeReplace, step: WriteStep = no_step) -> None:
    """Set a file's permission bits, under the lock of `locked`. `check` raises to stop it."""
    step("replace")
    check(real)
    step("exchange")
    os.chmod(real, mode)
    step("done")


def mode_or_none(path: Path) -> int | None:
    """Return a file's permission bits, or None if it does not exist."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None


def sync_folder(folder: Path) -> None:
    """Make finished renames in a folder survive a power cut, if the file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _temporary_beside(real: Path, what: str) -> Path:
    return real.with_name(f".{real.name}.hookscope-{what}")


def _keep_owner_and_mode(handle: int, real: Path) -> None:
    try:
        old = real.stat()
    except FileNotFoundError:
        return
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))  # after the owner, since a new one takes bits away
    _keep_attributes(handle, real)


def _keep_attributes(handle: int, real: Path) -> None:
    """Copy extended attributes, including access lists. Labels that only the system sets are skipped."""
    if not hasattr(os, "listxattr"):
        return
    try:
        names = os.listxattr(real)
    except OSError:  # the file system has none
        return
    for name in names:
        try:
            os.setxattr(handle, name, os.getxattr(real, name))
        except OSError:
            if not name.startswith(("security.", "trusted.")):
                raise


def _put_in_place(fresh: Path, real: Path, is_new: bool, check: BeforeReplace | None) -> bool:
    """Replace the file by the fresh one. Return False, with nothing changed, if the system cannot.

    After an exchange `fresh` is the former file, which is checked again.
    """
    try:
        if check is None:
            os.replace(fresh, real)
        elif is_new:
            rename_without_overwrite(fresh, real)
        else:
            with open(fresh, "rb") as ours:  # open, so that no other file gets its number
                exchange_files(fresh, real)
                _check_replaced(fresh, real, os.fstat(ours.fileno()), check)
    except RenameUnsupported:
        os.replace(fresh, real)
    except OSError as error:
        if error.errno in (errno.EBUSY, errno.EXDEV):
            return False
        if check is not None and isinstance(error, FileExistsError | FileNotFoundError):
            check(real)  # it came, or went, at this very moment
        raise
    return True


def _check_replaced(replaced: Path, real: Path, ours: os.stat_result, check: BeforeReplace) -> None:
    """Check the replaced file; if another program has written to it, put it back and raise."""
    try:
        check(replaced)
    except BaseException:
        exchange_files(replaced, real)
        if os.path.samestat(os.lstat(replaced), ours):
            raise
        exchange_files(replaced, real)  # a third program has replaced ours meanwhile: its file stays
        raise _keep_foreign_file(replaced, real) from None


def _put_back_removed(aside: Path, real: Path) -> None:
    try:
        rename_without_overwrite(aside, real)
    except FileExistsError:
        raise _keep_foreign_file(aside, real) from None


def _keep_foreign_file(file: Path, real: Path) -> CannotWrite:
    """Move another program's file to a free name, and return the error that names it."""
    kept = next(
        name
        for number in range(1, 1_000_000)
        if not os.path.lexists(name := _temporary_beside(real, f"kept-{number}"))
    )
    os.rename(file, kept)
    return CannotWrite(
        f"Two other programs wrote {real} at the same time. It has the content of the last one; "
        f"the content of the other one is in {kept}."
    )


def _write_in_place(real: Path, content: bytes, fresh: Path) -> None:
    try:
        with real.open("r+b") as file:
            file.write(content)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotWrite(
            f"{real} may be damaged, because writing failed: {error_reason(error)}. "
            f"Its new content is in {fresh}."
        ) from error
