"""The user's editor, at the line."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from textual.app import SuspendNotSupported

from hookscope.console.editor import command, editor_of, open_editor
from hookscope.core.hooks import Place

PLACE = Place(Path("/w/a b/HOOK.md"), 14)


@pytest.mark.parametrize(
    ("editor", "wanted"),
    [
        ("vim", ["vim", "+14", "/w/a b/HOOK.md"]),
        ("/usr/bin/nvim -u NONE", ["/usr/bin/nvim", "-u", "NONE", "+14", "/w/a b/HOOK.md"]),
        ("nano", ["nano", "+14", "/w/a b/HOOK.md"]),
        ("emacs -nw", ["emacs", "-nw", "+14", "/w/a b/HOOK.md"]),
        ("hx", ["hx", "/w/a b/HOOK.md:14"]),
        ("subl -w", ["subl", "-w", "/w/a b/HOOK.md:14"]),
        ("code --wait", ["code", "--wait", "--goto", "/w/a b/HOOK.md:14"]),
        ("ed", ["ed", "/w/a b/HOOK.md"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(editor: str, wanted: list[str]) -> None:
    assert command(editor, PLACE) == wanted


def test_visual_comes_before_editor() -> None:
    assert editor_of({"VISUAL": "a", "EDITOR": "b"}) == "a"
    assert editor_of({"VISUAL": " ", "EDITOR": "b"}) == "b"
    assert editor_of({}) == ""


class Terminal:
    """As much of an app as an editor needs."""

    def __init__(self, can_suspend: bool = True, is_web: bool = False) -> None:
        self.can_suspend = can_suspend
        self.is_web = is_web

    def suspend(self) -> Any:
        if not self.can_suspend:
            raise SuspendNotSupported
        return nullcontext()


@pytest.mark.parametrize(
    ("env", "app", "said"),
    [
        ({}, Terminal(), "set VISUAL or EDITOR"),
        ({"EDITOR": "vi 'open"}, Terminal(), "is no command"),
        ({"EDITOR": "no-such-editor-here"}, Terminal(), "does not start"),
        ({"EDITOR": "true"}, Terminal(can_suspend=False), "cannot be handed"),
        ({}, Terminal(is_web=True), "A page opens no editor."),
        ({"EDITOR": "false"}, Terminal(), "exit code 1"),
        ({"EDITOR": "true"}, Terminal(), ""),
    ],
)
def test_what_goes_wrong_is_said_with_the_place(env: dict[str, str], app: Any, said: str) -> None:
    problem = open_editor(app, PLACE, env)
    assert said in problem
    assert bool(problem) == bool(said)
