"""Nothing a hook is named, says or holds can crash, restyle or command the console."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.console.conftest import Open, Story

from hookscope.console.state.messages import NoticeShown

MARKUP = [
    "[/foo]",
    '{"a": [true, false]}',
    "[#ff0]x",
    "[/",
    "[@click=app.quit]X[/]",
    "arr[0]",
    "[b unterminated",
    "[foo=bar",
    "a[b",
    "$text [$accent]x",
]
CONTROLS = ["\x1b[2Jgone", "\u202egnp.exe", "a\rb", "\x07bell", "\x9b31m"]
LONG = ["x" * 1_000_000, "y" * 12_000, "記" * 500]


SIGNS = {"\x1b": "␛", "\u202e": "\\u202e", "\r": "␍", "\x07": "␇", "\x9b": "\\x9b"}


def shown(text: str) -> str:
    """The beginning of a hostile text as it must stand on the screen."""
    return "".join(SIGNS.get(sign, sign) for sign in text[:8])[:8]


def hostile_hook(folder: Path, text: str) -> None:
    """A hook whose name, description, event, needs and handler are all hostile."""
    folder.mkdir(parents=True)
    quoted = json.dumps(text, ensure_ascii=True)
    (folder / "HOOK.md").write_text(
        f"---\nname: {quoted}\ndescription: {quoted}\n"
        f"metadata: {{openclaw: {{events: [{quoted}], "
        f"requires: {{bins: [{quoted}], env: [{quoted}]}}}}}}\n---\n"
    )
    (folder / "handler.py").write_text(f"def handler(event:\n # {quoted}\n")


HOOK_KEYS = ("enter", "enter", "y", "E", "t", "escape", "escape", "down")
KEYS = ("k", "escape", "s", "s", "slash", "x", "escape", "question_mark", "escape", "ctrl+p", "x", "escape")
MODE_KEYS = ("f", "1", "R", "3", "1")


@pytest.mark.parametrize(
    ("texts", "width"), [(MARKUP, 120), (CONTROLS, 120), (LONG, 200)], ids=["markup", "controls", "long"]
)
async def test_hostile_hook_texts_are_shown_literally_everywhere(
    console: Open, workspace: Path, home: Path, texts: list[str], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    for number, text in enumerate(texts):
        hostile_hook(workspace / "hooks" / f"evil-{number}", text)
    async with console((width, 36)) as story:
        for text in texts:
            await story.shows(shown(text) if len(text) < 100_000 else "✗ no hook")
        for key in (*HOOK_KEYS * len(texts), *KEYS, *MODE_KEYS):
            await story.press(key)
            harmless(story)


def harmless(story: Story) -> None:
    """The console lives, and nothing that a terminal obeys is on its screen."""
    assert story.app.is_running
    assert story.app.return_code is None
    everything = story.text()
    assert not any(sign in everything for sign in ("\x1b", "\u202e", "\x07", "\x9b"))


async def test_hostile_text_in_a_toast_is_shown_literally(console: Open, workspace: Path) -> None:
    async with console((120, 50)) as story:
        for text in (*MARKUP, *CONTROLS):
            story.screen.post_message(NoticeShown(f"It says {text}", "error"))
            await story.shows(f"It says {shown(text)}")
            harmless(story)
            story.app.clear_notifications()


@pytest.mark.parametrize(
    "text", ["[/foo]", "[@click=app.quit]X[/]", "\x1b[2J", "x" * 1_000_000], ids=lambda t: ascii(t[:16])
)
async def test_a_problem_in_hostile_settings_is_one_line_at_the_top(
    console: Open, home: Path, text: str
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text('{"a": ' + text + "}")
    async with console((120, 36)) as story:
        await story.until(lambda: any("✗" in line for line in story.lines()[2:4]), "it is told on top")
        assert story.app.is_running


async def test_a_click_on_a_hostile_name_runs_nothing(console: Open, workspace: Path, home: Path) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    hostile_hook(workspace / "hooks" / "evil", "[@click=app.quit]PRESS[/]")
    async with console((120, 36)) as story:
        await story.press("enter")
        for number, line in enumerate(story.lines()):
            if "PRESS" in line:
                await story.pilot.click(offset=(line.index("PRESS") + 1, number))
                assert story.app.is_running
                while len(story.app.screen_stack) > 1:
                    await story.press("escape")
        assert story.app.return_code is None


@pytest.mark.parametrize("name", ["textual-light", "ansi-dark", "nord", "hookscope"])
async def test_hostile_text_is_shown_literally_in_other_themes(
    console: Open, workspace: Path, make_hook: Callable[..., Path], name: str
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command:new]}}")
    async with console((120, 36)) as story:
        story.app.theme = name
        await story.press("enter", "K", "escape")
        await story.shows("greet", "◇ untrusted")


async def test_without_colours_every_state_has_a_symbol_and_a_word(
    console: Open, workspace: Path, make_hook: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command:new]}}")
    monkeypatch.setenv("NO_COLOR", "1")
    async with console((80, 24)) as story:
        await story.shows("◇ untrusted", "[1 Hooks]", "▸ greet")
