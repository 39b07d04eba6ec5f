"""What is styled, and how often: it comes to what Textual's own style sheet, read anew, makes of all."""

from collections import Counter
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input

from hookscope.console.dialogs.new_hook_form import NewHookForm
from hookscope.console.dialogs.trust_question import TrustScreen
from hookscope.console.dialogs.what_if_form import WhatIfForm
from hookscope.console.theme.theme_manager import BUILTIN_THEMES

Looks = dict[DOMNode, tuple[str, dict[str, str]]]


def looks(screen: Screen[object]) -> Looks:
    """How each part looks, and each detail that it draws in a style of its own."""
    return {
        node: (
            node.styles.css,
            {name: node.get_component_styles(name).css for name in node._get_component_classes()},
        )
        for node in (screen, *screen.walk_children(Widget))
    }


async def styled_as_by_textual(story: Story, doing: str) -> None:
    """Read all style sheets anew, and have all parts styled by Textual: nothing looks any different."""
    await story.pilot.pause()
    screen = story.app.screen
    ours = looks(screen)
    textual = story.app.stylesheet.copy()
    textual.parse()
    assert type(textual) is Stylesheet
    textual.update(screen)
    assert looks(screen) == ours, f"{doing}: not all is styled as it should"


async def test_whatever_is_shown_all_parts_look_as_textual_has_them(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console((80, 24)) as story:
        for key in ("down", "enter", "escape", "2", "tab", "3", "slash", "x", "escape", "4", "1", "z", "z"):
            await story.press(key)
            await styled_as_by_textual(story, key)
        for key in ("W", "n", "question_mark", "ctrl+p", "x", "t"):
            await story.press(key)
            await story.until(lambda: story.app.screen is not story.screen, f"{key} has opened a dialog")
            await styled_as_by_textual(story, key)
            await story.press("tab")
            await styled_as_by_textual(story, f"{key}, and on to what is next in it")
            await story.press("escape")
            await story.until(lambda: story.app.screen is story.screen, f"{key}: the dialog is closed")
        other = next(theme.name for theme in BUILTIN_THEMES if theme.name != story.app.theme)
        story.app.theme = other
        await styled_as_by_textual(story, other)
        await story.pilot.resize_terminal(200, 50)
        await styled_as_by_textual(story, "a wide terminal")


async def test_what_is_styled_anew_and_looks_the_same_is_not_painted(console: Open) -> None:
    async with console((80, 24)) as story:
        await story.press("2", "1")
        await story.pilot.pause()
        story.app.stylesheet.update(story.screen)
        parts = (story.screen, *story.screen.walk_children(Widget))
        assert [part for part in parts if part._repaint_required or part._layout_required] == []


async def test_rules_are_looked_up_once_for_what_looks_alike_and_for_no_button_before_it_is_there(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    looked_up: list[DOMNode] = []
    looks_up = Stylesheet.apply

    def apply(sheet: Stylesheet, node: DOMNode, **how: object) -> None:
        looked_up.append(node)
        looks_up(sheet, node, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Stylesheet, "apply", apply)
    async with console((80, 24)) as story:
        for key, dialog in (("W", WhatIfForm), ("n", NewHookForm), ("t", TrustScreen)):
            looked_up.clear()
            await story.press(key)
            await story.until(lambda: story.app.screen is not story.screen, f"{key} has opened a dialog")
            assert isinstance(story.app.screen, dialog)
            await story.pilot.pause()
            fields = [node for node in story.app.screen.query(Input) if node.styles.display != "none"]
            details = [node for node in looked_up if isinstance(node.parent, Input) and type(node) is DOMNode]
            asked = Counter(detail.classes for detail in details)
            if fields:
                assert len(fields) > 2, "a form of several fields"
                assert max(asked.values()) == 2, "once for all of them, and once for the one with the focus"
            buttons = Counter(node for node in looked_up if isinstance(node, Button))
            assert all(times <= 2 for times in buttons.values()), "as it is there, and as it gets the focus"
            await story.press("escape")
            await story.until(lambda: story.app.screen is story.screen, f"{key}: it is closed")
