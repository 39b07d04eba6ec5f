"""The user's own editor at a line of a file."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import PurePath

from textual.app import App, SuspendNotSupported

from hookscope.core.hooks import Place
from hookscope.core.text import why_of
from hookscope.helpers import user_command

PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "view", "joe", "micro", "kak", "ne"}
)
COLON_LINE = frozenset({"hx", "helix", "subl", "zed"})
GOTO = frozenset({"code", "code-insiders", "codium", "cursor"})


def editor_of(env: Mapping[str, str]) -> str:
    """What the user named: VISUAL, else EDITOR; empty where neither is set."""
    return env.get("VISUAL", "").strip() or env.get("EDITOR", "").strip()


def command(editor: str, place: Place) -> list[str]:
    """The command that opens this place. Editors that are not known get the file alone.

    Raises ValueError where the variable is no command.
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


def open_editor(app: App[object], place: Place, env: Mapping[str, str]) -> str:
    """Hand the terminal to the editor until it ends. Gives why that did not work, else nothing."""
    editor = editor_of(env)
    where = f"{place.file}:{place.line}"
    if app.is_web:
        return f"A page opens no editor. The place is {where}"
    if not editor:
        return f"No editor is named: set VISUAL or EDITOR. The place is {where}"
    try:
        words = command(editor, place)
    except ValueError as error:
        return f"VISUAL or EDITOR is no command: {error}. The place is {where}"
    try:
        with app.suspend():
            done = subprocess.run(user_command(words), check=False)
    except SuspendNotSupported:
        return f"This terminal cannot be handed to an editor. The place is {where}"
    except OSError as error:
        return f"{words[0]} does not start: {why_of(error)}. The place is {where}"
    return "" if done.returncode == 0 else f"{words[0]} ended with exit code {done.returncode}."
