"""The user's own editor at a line of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

from hookscope.core.hooks import Place
from hookscope.workbench.external_editor import command, editor_of, run_editor


def open_editor(app: App[object], place: Place, env: Mapping[str, str], workspace: Path) -> str:
    """Hand the terminal to the editor until it ends. Returns why that did not work, else nothing.

    The editor is none that the workspace brings.
    """
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
        with app.suspend():  # an exception inside would leave the terminal to nobody
            problem = run_editor(words, workspace)
    except SuspendNotSupported:
        return f"This terminal cannot be handed to an editor. The place is {where}"
    return f"{problem} The place is {where}" if problem else ""
