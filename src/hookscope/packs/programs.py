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
from hookscope.packs.limits import MIB, size_in_words
from hookscope.packs.progress import Progress
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


def run(
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    progress: Progress,
    room: int = ROOM,
) -> Ran:
    """Run a program to its end, in a process group of its own and without a terminal.

    Raises PackError where it is not installed, takes too long or fills the disk below `cwd`; Cancelled.
    """
    folders = filter(os.path.isabs, env.get("PATH", os.defpath).split(os.pathsep))  # others depend on `cwd`
    program = shutil.which(words[0], path=os.pathsep.join(folders))
    if program is None:
        raise PackError(f"{words[0]} is not installed.", "It must be on PATH to fetch this.")
    with TemporaryFile() as out, TemporaryFile() as err:
        child = subprocess.Popen(
            [program, *words[1:]],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            code = _wait(child, words[0], seconds, progress, cwd, room)
        finally:
            _end(child)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(OUTPUT).decode("utf-8", "replace"))
    return Ran(code, *texts)


def _wait(
    child: subprocess.Popen[bytes], name: str, seconds: float, progress: Progress, folder: Path, room: int
) -> int:
    left = seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(POLL)
        left -= POLL
        progress.check()
        if left <= 0:
            raise PackError(f"{name} took longer than {seconds:g} s and was ended.", "Try again later.")
        if int(left / POLL) % 10 == 0 and _size(folder) > room:
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
