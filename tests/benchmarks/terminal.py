"""A terminal that reads what a program paints, and is asked when a text stands on it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter

SIZE = (36, 120)  # rows, columns
PATIENCE = 60.0  # seconds
CONTROL = re.compile(rb"\x1b\[[0-9;?=<>$:]*[ -/]*[@-~]|\x1b[@-_]")


class Painted:
    """A program in a terminal of its own, from its start. Use it in a `with`; leaving kills it."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        env = {**os.environ, "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"}
        self._seen = b""
        self.began = perf_counter()
        self.process = subprocess.Popen(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
        )
        os.close(theirs)

    def __enter__(self) -> "Painted":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def seconds_until(self, text: str) -> float:
        """From the start of the program until this has been painted. Raises TimeoutError."""
        wanted = text.encode()
        while wanted not in CONTROL.sub(b"", self._seen):
            left = self.began + PATIENCE - perf_counter()
            ready, _, _ = select.select([self._ours], [], [], max(0.0, left))
            chunk = b""
            with suppress(OSError):  # Linux: the program has ended
                chunk = os.read(self._ours, 65536) if ready else b""
            if not chunk:
                raise TimeoutError(
                    f"{text!r} was not painted:\n{CONTROL.sub(b'', self._seen).decode()[-2000:]}"
                )
            self._seen += chunk
        return perf_counter() - self.began


def console(workspace: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "hookscope", "--workspace", workspace)


TRIVIAL = (
    sys.executable,
    "-c",
    """
from textual.app import App
from textual.widgets import Static

class Trivial(App[None]):
    def compose(self):
        yield Static("trivial")

Trivial().run()
""",
)
