"""What the first paint does without is there for the first key that wants it."""

from pathlib import Path
from threading import Event

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story, at_every_size, at_extremes

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.app import Console
from hookscope.console.keymap.active_keys import DEFAULT_KEYMAP, use_keymap
from hookscope.console.panes.hooks_pane import KeysPane


@at_extremes
async def test_a_filter_typed_before_the_scan_ends_applies(
    size: tuple[int, int],
    workspace: Path,
    tmp_path: Path,
    make_hook: MakeHook,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    for name in ("greet", "guard"):
        make_hook(workspace / "hooks", name, READY)
    bench, may_open = Workbench(Options(workspace=workspace, bundled=tmp_path / "none")), Event()

    def opens() -> Workbench:
        may_open.wait()
        return bench

    app = Console(opens, watches=False)
    try:
        async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            story = Story(app, pilot)
            await story.shows("hookscope   scanning …", "Hooks 0", "Scanning …")
            assert not story.screen.query("#filter")
            await story.press("slash", *"gre")
            await story.until(lambda: story.screen.state.filter == "gre", "it is the filter")
            may_open.set()
            await story.shows("gre", "Hooks 1/2", "greet")
    finally:
        may_open.set()
        await bench.close()
        use_keymap(DEFAULT_KEYMAP)


@at_every_size
async def test_the_registry_pane_opens_and_closes_with_its_key(
    size: tuple[int, int], console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        assert not story.screen.query(KeysPane)
        await story.press("K")
        await story.shows("Registry   generation 1", "command:new")
        await story.press("K")
        await story.until(lambda: not story.screen.query_one(KeysPane).display, "Why is there again")
        await story.press("K")
        await story.shows("Registry   generation 1", "command:new")


@at_every_size
async def test_letters_typed_right_after_the_log_filter_key_reach_the_filter(
    size: tuple[int, int], console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        await story.press("3", "slash", *"kind:nothing")
        await story.shows("Log 0 of", "kind:nothing")
        await story.press("escape")
        await story.until(lambda: "kind:nothing" not in story.text(), "it is cleared")
