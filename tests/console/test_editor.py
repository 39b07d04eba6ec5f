"""The user's editor, at the line."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY
from tests.console.test_killed import terminal, until
from textual.app import SuspendNotSupported

from hookscope.app.preferences import editor_command, editor_of
from hookscope.console.controllers.edit_controller import open_editor
from hookscope.model.hook import FilePosition

PLACE = FilePosition(Path("/w/a b/HOOK.md"), 14)


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
def test_each_editor_opens_at_the_line(editor: str, wanted: list[str]) -> None:
    assert editor_command(editor, PLACE) == wanted


def test_visual_takes_precedence_over_editor() -> None:
    assert editor_of({"VISUAL": "a", "EDITOR": "b"}) == "a"
    assert editor_of({"VISUAL": " ", "EDITOR": "b"}) == "b"
    assert editor_of({}) == ""


class App:
    """As much of an app as an editor needs; like Textual's, it comes back from no exception."""

    def __init__(self, can_suspend: bool = True, is_web: bool = False) -> None:
        self.can_suspend = can_suspend
        self.is_web = is_web
        self.is_back = True

    @contextmanager
    def suspend(self) -> Iterator[None]:
        if not self.can_suspend:
            raise SuspendNotSupported
        self.is_back = False
        yield
        self.is_back = True


@pytest.mark.parametrize(
    ("env", "app", "said"),
    [
        ({}, App(), "define VISUAL or EDITOR"),
        ({"EDITOR": ""}, App(), "define VISUAL or EDITOR"),
        ({"EDITOR": "vi 'open"}, App(), "is not a command"),
        ({"EDITOR": "''"}, App(), "does not start"),
        ({"EDITOR": "no-such-editor-here"}, App(), "does not start"),
        ({"EDITOR": "./no/such/editor -w"}, App(), "does not start: a relative path depends on"),
        ({"EDITOR": "{here}/no/such/editor -w"}, App(), "does not start: no such file"),
        ({"EDITOR": "{here}"}, App(), "does not start: permission denied"),
        ({"EDITOR": "{here}/plain"}, App(), "does not start: permission denied"),
        ({"EDITOR": "'{here}/not a program'"}, App(), "does not start: exec format error"),
        ({"EDITOR": "true"}, App(can_suspend=False), "cannot run an editor"),
        ({}, App(is_web=True), "A browser page cannot open an editor."),
        ({"EDITOR": "false"}, App(), "exit code 1"),
        ({"EDITOR": "sh -c 'kill -9 $$'"}, App(), "sh was killed by SIGKILL"),
        ({"EDITOR": "sh -c 'kill -INT $$ $PPID; exit 3'"}, App(), "sh was killed by SIGINT"),
        ({"EDITOR": "true"}, App(), ""),
        ({"EDITOR": "sh -c 'exit 0' sh"}, App(), ""),
    ],
)
def test_a_failed_editor_is_reported_with_file_and_line(
    env: dict[str, str], app: Any, said: str, tmp_path: Path
) -> None:
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    (tmp_path / "not a program").write_text("")
    (tmp_path / "not a program").chmod(0o755)
    env = {name: value.format(here=tmp_path) for name, value in env.items()}
    problem = open_editor(app, PLACE, env, tmp_path / "workspace")
    assert said in problem
    assert bool(problem) == bool(said)
    assert not problem or str(PLACE.file) in problem
    assert app.is_back


def test_quitting_waits_for_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events_text: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: events_text.append(number))
    try:
        editor = f"sh -c 'kill -TERM {os.getpid()}; kill -HUP {os.getpid()}; exit 0'"
        signal.signal(signal.SIGHUP, lambda number, _: events_text.append(number))
        assert open_editor(cast(Any, App()), PLACE, {"EDITOR": editor}, tmp_path / "workspace") == ""
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    assert sorted(events_text) == [signal.SIGHUP, signal.SIGTERM]  # Python takes what came at once by number


@pytest.mark.parametrize(
    ("editor", "why"),
    [
        ("no-such-editor-here", "does not start"),
        ("/", "does not start"),
        ("sh -c 'kill -9 $$'", "was killed"),
    ],
)
def test_the_console_comes_back_from_an_editor_that_fails(
    editor: str, why: str, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    make_hook(workspace / "hooks", "greet", READY, "def handler(event): pass")
    with terminal(workspace) as console:
        until(lambda: console.shows("greet"), "the hook is listed")
        console.press(b"E")
        until(lambda: console.shows(why), "the failure is shown")
        console.press(b"?")
        until(lambda: console.shows("click to run"), "the console takes keys again")
        console.press(b"\x11")  # ctrl+q
        assert console.process.wait(60) == 0
