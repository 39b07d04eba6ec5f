"""Runs other programs (git, npm, Python) without a shell and with a time limit, for all of `packs`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from hookscope.helpers import find_program, user_path
from hookscope.packs.errors import PackError
from hookscope.packs.file_tree import entries_below
from hookscope.packs.package_checks import MIB, size_in_words
from hookscope.packs.specs import FetchOptions
from hookscope.values import dataclass

POLL = 0.05  # seconds between two checks for cancellation
MOST_OUTPUT = 4 * MIB  # bytes of output that are read
MOST_DISK = 256 * MIB  # bytes that a program may put on disk


@dataclass(frozen=True, slots=True)
class ProgramExit:
    """The exit of a program."""

    code: int
    stdout: str
    stderr: str


def run_program(
    words: Sequence[str], options: FetchOptions, *, cwd: Path, env: Mapping[str, str]
) -> ProgramExit:
    """Run a program to its end, in its own process group and without a terminal.

    The program and its children are found on the user's `PATH` only. Raises PackError if it is not installed,
    takes too long or fills the disk below the work folder; PackCancelled.
    """
    search_path = env.get("PATH", os.defpath)
    path = os.pathsep.join(user_path(options.project_folders, search_path))
    program = (
        words[0] if os.path.isabs(words[0]) else find_program(words[0], options.project_folders, search_path)
    )
    if program is None:
        elsewhere = shutil.which(words[0], path=search_path)
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
            code = _wait(child, words[0], options)
        finally:
            _end_group(child)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(MOST_OUTPUT).decode("utf-8", "replace"))
    return ProgramExit(code, *texts)


def _wait(child: subprocess.Popen[bytes], name: str, options: FetchOptions) -> int:
    left = options.seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(POLL)
        left -= POLL
        options.progress.check()
        if left <= 0:
            raise PackError(
                f"{name} took longer than {options.seconds:g} s and was stopped.", "Try again later."
            )
        if int(left / POLL) % 10 == 0 and _folder_size(options.work_folder) > MOST_DISK:
            what = f"{name} wrote more than {size_in_words(MOST_DISK)} and was stopped."
            raise PackError(what, "The package is too large for a pack; choose another one.")


def _folder_size(folder: Path) -> int:
    total = 0
    for entry, is_folder in entries_below(folder):
        with suppress(OSError):
            total += 0 if is_folder else entry.stat(follow_symlinks=False).st_size
    return total


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the whole group, so that no child survives."""
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
