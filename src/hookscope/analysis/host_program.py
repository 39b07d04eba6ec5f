"""Runs an installed host's own program: in a process group of its own, with a limit of time and output."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from hookscope.values import dataclass

MOST_OUTPUT = 16 * 1024 * 1024  # bytes of each stream that are read
FIND_HOOKS = Path(__file__).with_name("find_hooks.mjs")


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """How a program ended; the code is None if it ran too long and was ended."""

    code: int | None
    stdout: str
    stderr: str


def run_host_program(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float, sandbox_filter: bytes = b""
) -> ProgramOutput:
    """Run a command to its end, without a terminal, and end all that it has started.

    `sandbox_filter`: for `bwrap --seccomp`, if the command starts with bwrap. Raises OSError if it cannot
    be started.
    """
    with TemporaryFile() as out, TemporaryFile() as err, TemporaryFile() as filter_file:
        words, descriptors = list(command), []
        if sandbox_filter:
            filter_file.write(sandbox_filter)
            filter_file.seek(0)
            words[1:1] = ["--seccomp", str(filter_file.fileno())]
            descriptors.append(filter_file.fileno())
        child = subprocess.Popen(
            words,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            pass_fds=descriptors,
        )
        code: int | None = None
        try:
            with suppress(subprocess.TimeoutExpired):
                code = child.wait(seconds)
        finally:
            with suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return ProgramOutput(code, *(_text_of(file) for file in (out, err)))


def _text_of(file: object) -> str:
    file.seek(0)  # type: ignore[attr-defined]
    content: bytes = file.read(MOST_OUTPUT)  # type: ignore[attr-defined]
    return content.decode("utf-8", "replace")
