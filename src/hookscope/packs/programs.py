"""Other programs, started without a shell and ended in time. The only place of this room that starts any."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from hookscope.packs.below import entries_below
from hookscope.packs.errors import PackError
from hookscope.packs.fetched import Fetching
from hookscope.packs.limits import MIB, size_in_words
from hookscope.values import dataclass

POLL = 0.05  # seconds between two looks at whether to stop
OUTPUT = 4 * MIB  # bytes of output that are read
ROOM = 256 * MIB  # bytes that a program may put on disk


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended."""

    code: int
    out: str
    err: str


def run(words: Sequence[str], how: Fetching, *, cwd: Path, env: Mapping[str, str], room: int = ROOM) -> Ran:
    """Run a program to its end, in a process group of its own and without a terminal.

    It and all that it starts are looked for on the user's `PATH` alone. Raises PackError where it is not
    installed, takes too long or fills the disk below `how.work`; Cancelled.
    """
    given = env.get("PATH", os.defpath)
    path = users_path(given, how.project)
    program = words[0] if os.path.isabs(words[0]) else _found(words[0], path, how.project)
    if program is None:
        elsewhere = shutil.which(words[0], path=given)
        raise PackError(
            f"{words[0]} is not installed.",
            f"It must be on PATH to fetch this{', outside of the workspace' if elsewhere else ''}.",
        )
    with TemporaryFile() as out, TemporaryFile() as err:
        child = subprocess.Popen(
            [program, *words[1:]],
            cwd=cwd,
            env={**env, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            code = _wait(child, words[0], how, room)
        finally:
            _end(child)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(OUTPUT).decode("utf-8", "replace"))
    return Ran(code, *texts)


def users_path(path: str, project: Sequence[Path]) -> str:
    """Return `PATH` without entries that a project chooses: relative ones, and those inside of it."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if is_users(entry, project))


def _found(name: str, path: str, project: Sequence[Path]) -> str | None:
    """Return the first program of that name in these folders that is no link into the project."""
    everywhere = (shutil.which(name, path=folder) for folder in path.split(os.pathsep) if folder)
    return next((program for program in everywhere if program and is_users(program, project)), None)


def is_users(path: str, project: Sequence[Path]) -> bool:
    """Return whether a path is absolute and, with links resolved, outside of the project's folders."""
    return os.path.isabs(path) and not any(
        Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)) for folder in project
    )


def _wait(child: subprocess.Popen[bytes], name: str, how: Fetching, room: int) -> int:
    left = how.seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(POLL)
        left -= POLL
        how.progress.check()
        if left <= 0:
            raise PackError(f"{name} took longer than {how.seconds:g} s and was ended.", "Try again later.")
        if int(left / POLL) % 10 == 0 and _size(how.work) > room:
            what = f"{name} wrote more than {size_in_words(room)} and was ended."
            raise PackError(what, "What it fetches is too large for a pack; name another one.")


def _size(folder: Path) -> int:
    total = 0
    for entry, is_folder in entries_below(folder):
        with suppress(OSError):
            total += 0 if is_folder else entry.stat(follow_symlinks=False).st_size
    return total


def _end(child: subprocess.Popen[bytes]) -> None:
    """The whole group, so that nothing that it has started goes on, even where it has ended by itself."""
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
