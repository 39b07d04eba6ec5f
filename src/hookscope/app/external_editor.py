"""The user's editor: the command that opens a file at a line, and running it in this terminal."""

from __future__ import annotations

import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath

from hookscope.helpers import user_command
from hookscope.model.hook import FilePosition
from hookscope.model.text import error_reason

PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "view", "joe", "micro", "kak", "ne"}
)
COLON_LINE = frozenset({"hx", "helix", "subl", "zed"})
GOTO = frozenset({"code", "code-insiders", "codium", "cursor"})


def editor_of(env: Mapping[str, str]) -> str:
    """Return the user's editor: VISUAL, else EDITOR; empty if neither is set."""
    return env.get("VISUAL", "").strip() or env.get("EDITOR", "").strip()


def editor_command(editor: str, place: FilePosition) -> list[str]:
    """Return the command that opens this position. Unknown editors get the file alone.

    Raises ValueError if the variable is not a command.
    """
    words = shlex.split(editor)
    if not words:
        raise ValueError("it is empty")
    name = PurePath(words[0]).name.removesuffix(".exe")
    file = str(place.file)
    if name in PLUS_LINE:
        return [*words, f"+{place.line}", file]
    if name in COLON_LINE:
        return [*words, f"{file}:{place.line}"]
    if name in GOTO:
        return [*words, "--goto", f"{file}:{place.line}"]
    return [*words, file]


def run_editor(words: Sequence[str], workspace: Path) -> str:
    """Run an editor in this terminal until it exits. Return why it failed, as a sentence; never raises.

    A program that the workspace provides is not used.
    """
    try:
        with _signals_held():
            code = subprocess.run(user_command(words, [workspace]), check=False).returncode
    except (OSError, ValueError) as error:  # ValueError: a null byte in the command
        return f"{words[0]} does not start: {error_reason(error)}. Set VISUAL or EDITOR to another editor."
    if code < 0:
        return f"{words[0]} was killed by {signal_name(-code)}."
    return "" if code == 0 else f"{words[0]} ended with exit code {code}."


def signal_name(number: int) -> str:
    """Return `SIGKILL` for 9; the number where the system has no name for it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let Ctrl-C reach only the editor; delay other termination signals until it has exited."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda got, _: held.append(got)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        for number in held:
            if number != signal.SIGINT:
                signal.raise_signal(number)
