"""Panes and the menu offer no key that would have no effect."""

import threading
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story

from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.console.app import Console
from hookscope.console.dialogs.what_if_form import WhatIfForm

NEED_A_SCAN = ("fix", "edit", "registry", "group", "Group", "Packs", "Why", "Registry")


async def test_no_key_needs_a_hook_while_the_first_scan_runs(
    workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    ends, scan = threading.Event(), Workbench.scan

    def scan_later(bench: Workbench) -> Snapshot:
        ends.wait(60)
        return scan(bench)

    monkeypatch.setattr(Workbench, "scan", scan_later)
    bench = Workbench(Options(workspace=workspace, bundled=workspace / "none"))
    app = Console(bench, watches=False)
    try:
        async with app.run_test(size=(120, 36)) as pilot:
            story = Story(app, pilot)
            await story.shows("Scanning …", "m Menu")
            words = story.text().replace("/", " ").split()
            assert not set(NEED_A_SCAN).intersection(words)
            await story.press("m")
            await story.shows("press a key, or click", "Manual")
            assert "What if" not in story.text()
            assert "Dialect" not in story.text()
            await story.press("escape")
            ends.set()
            await story.shows("greet", "E edit", "enter why", "v Group")
    finally:
        ends.set()
        await bench.close()


async def test_the_menu_drops_assumptions_only_if_there_are_some(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console() as story:
        await story.press("m")
        await story.shows("press a key, or click", "What if")
        assert "Drop what-if" not in story.text()
        await story.press("escape", "W")
        await story.until(lambda: isinstance(story.app.screen, WhatIfForm), "the form is open")
        await story.press(*"win32", "enter")
        await story.shows("what if: os win32")
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "the form is closed")
        await story.press("m")
        await story.shows("0  Drop what-if")
        await story.press("0")
        await story.hides("what if: os win32")


async def test_an_empty_workspace_offers_what_can_be_done(console: Open, workspace: Path) -> None:
    async with console() as story:
        await story.shows("No hook was found.", "create your own hook")
        assert "fire a test event" not in story.text()
        assert "v Group" not in story.text()
        await story.press("3")
        await story.shows("[3 Log]", "0 hooks")
        assert "Zoom" not in story.text()  # the only pane
        assert story.text().count("none found") == 1  # there are no details to show
        await story.press("question_mark")
        await story.shows("✗ error, ! warning", "≈ real event")  # the signs of the levels
