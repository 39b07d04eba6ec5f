"""What is saved beside the console shows in it, and nothing moves under the user's fingers."""

import asyncio
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story, at_extremes, medium, small
from tests.forking import Forks

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.panes.fire.composer import KeyField
from hookscope.console.panes.fire.context_editor import JsonEditor


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def counted(story: Story, text: str) -> bool:
    """Does the header count it so."""
    return text in story.lines()[1]


async def again_until(story: Story, act: Callable[[int], object], seen: Callable[[], object]) -> None:
    """Do it until it shows: the watch starts in a thread of its own, at a time of its own."""
    for number in count():
        await asyncio.to_thread(act, number)
        for _ in range(100):
            if seen():
                return
            await story.pilot.pause(0.01)
        assert number < 20, f"it was never noticed:\n{story.text()}"


async def saved(story: Story, file: Path, text: str, seen: Callable[[], object]) -> None:
    """Save until it shows."""
    await again_until(story, lambda number: write(file, text + "\n" * number), seen)


@at_extremes
async def test_a_saved_handler_changes_its_row_and_keeps_the_selection(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    for name in ("a-first", "b-second", "c-third"):
        make_hook(workspace / "hooks", name, READY)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size, watches=True) as story:
        await story.press("down")
        await story.until(
            lambda: story.screen.state.row and story.screen.state.row.name == "b-second", "it is selected"
        )
        handler = workspace / "hooks" / "b-second" / "handler.py"
        await saved(story, handler, "def handler(:", lambda: "✗ broken" in story.text())
        assert story.screen.state.row is not None
        assert story.screen.state.row.name == "b-second"
        await saved(story, handler, "def handler(event): pass", lambda: counted(story, "● 3 ready"))
        await story.press("3")
        await story.shows("b-second/h", "✗ broken")  # the wide screen's log is narrow


@small
async def test_an_armed_event_fires_on_save_and_says_what_changed(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, "def handler(event): return event.context['nobody']")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size, watches=True) as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("1 of 1 failed")
        await story.press("f6")
        await story.shows("↻ on save: command:new")
        handler = workspace / "hooks" / "greet" / "handler.py"
        fixed = "def handler(event): event.messages.append('mended')"
        await saved(story, handler, fixed, lambda: "greet ✗ → ✓" in story.text())
        await story.shows("+1 message")
        await story.press("f6")
        await story.until(lambda: story.screen.state.armed is None, "it is disarmed")


@medium
async def test_function_keys_work_inside_the_editor_too(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size, watches=True) as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.until(lambda: isinstance(story.screen.focused, KeyField), "letters are commands")
        await story.press("tab", "tab")
        await story.until(lambda: isinstance(story.screen.focused, JsonEditor), "the editor has the focus")
        text = story.screen.query_one(JsonEditor).text
        await story.press("f6")
        await story.shows("↻ on save: command:new")
        await story.press("f7")
        await story.until(
            lambda: story.screen.panes.fire_pane.run_view.runs.current, "a run on copies has begun"
        )
        await story.press("shift+end", "x")  # and the editor's own keys do what they did
        assert story.screen.query_one(JsonEditor).text != text


@small
@pytest.mark.parametrize("fault", ["def handler(:", "import no_such_module"])
async def test_the_last_good_version_stays_in_use_and_is_labelled(
    console: Open, size: tuple[int, int], fault: str, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, "def handler(event): event.messages.append('good')")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size, watches=True) as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("✓ ok")
        await story.press("f6")
        await story.shows("↻ on save: command:new")
        handler = workspace / "hooks" / "greet" / "handler.py"
        await saved(story, handler, fault, lambda: "✓ ok (previous)" in story.text())
        await story.shows("The previous version ran.", "Error", "handler.py:1")
        await story.press("1")
        if fault.startswith("def"):  # what an import needs is known only when it runs
            await story.shows("✗ broken", "previous version runs")
        better = "def handler(event): event.messages.append('better')"
        await story.press("2")
        await saved(story, handler, better, lambda: "✓ ok (previous)" not in story.text())
        await story.shows("✓ ok")


@medium
async def test_saved_settings_and_new_hooks_are_noticed(
    console: Open, size: tuple[int, int], home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size, watches=True) as story:
        off = "{hooks: {internal: {entries: {greet: {enabled: false}}}}}"
        await saved(story, home / ".openclaw" / "openclaw.json", off, lambda: "○ off" in story.text())
        manifest = home / ".openclaw" / "hooks" / "newcomer" / "HOOK.md"
        await saved(story, manifest, "---\nname: newcomer\n---", lambda: "newcomer" in story.text())


@small
async def test_trust_and_runs_of_another_terminal_appear(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook, forks: Forks
) -> None:
    make_hook(workspace / "hooks", "lame", READY, "import no_such_module_at_all\ndef handler(event): pass")

    def there(*arguments: str) -> None:
        forks.run(arguments, cwd=workspace, env=dict(os.environ), text="")

    async with console(size, watches=True) as story:
        await story.shows("◇ untrusted")
        await again_until(story, lambda _: there("trust", "."), lambda: counted(story, "● 1 ready"))
        fired = ("fire", "command:new", "--only", "lame")
        await again_until(story, lambda _: there(*fired), lambda: counted(story, "✗ 1 broken"))
        await story.press("3")
        await story.shows("◇ untrusted → ● ready", "● ready → ✗ broken")


@small
async def test_a_failed_load_of_an_armed_fire_does_not_count_as_a_save(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "lame", READY, "import no_such_module_at_all\ndef handler(event): pass")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size, watches=True) as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f6", "f5")
        await story.shows("1 of 1 failed")
        await story.until(lambda: counted(story, "✗ 1 broken"), "it is known not to load")
        handler = workspace / "hooks" / "lame" / "handler.py"
        await saved(story, handler, "def handler(event): pass", lambda: "✗ → ✓" in story.text())
        await story.press("3", "slash", *"kind:file", "enter")
        await story.shows("handler.py saved")
        await story.hides("failed-loads")
