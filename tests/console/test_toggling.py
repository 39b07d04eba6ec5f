"""A hook is switched from the list: the edit is shown once, written whole, and taken back."""

import asyncio
import re
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, at_extremes, medium, small

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console import app
from hookscope.console.dialogs.edit_preview import EditScreen
from hookscope.storage.edits.change import Change
from hookscope.storage.state_files import state_folder

SETTINGS = "{\n  // mine\n  hooks: { internal: { entries: { other: { enabled: true } } } },\n}\n"


@pytest.fixture
def settings(home: Path) -> Path:
    file = home / ".openclaw" / "openclaw.json"
    file.parent.mkdir()
    file.write_text(SETTINGS)
    return file


def written(file: Path) -> str:
    return file.read_text()


def extend(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


@at_extremes
async def test_space_shows_and_writes_the_edit_and_u_undoes_it(
    console: Open, size: tuple[int, int], workspace: Path, settings: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await story.press("space")
        await story.shows("Switch off greet?", "enabled", "greet will be off.", "gateway restarts")
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "the question is answered")
        assert written(settings) == SETTINGS
        await story.press("space")
        await story.shows("Switch off greet?")
        await story.press("w")
        await story.until(lambda: "○ off" in story.text(), "it is off")
        assert "// mine" in written(settings)
        await story.press("u")
        await story.until(lambda: "● ready" in story.text(), "it is on again")
        assert written(settings) == SETTINGS
        await story.press("space")
        await story.until(lambda: "○ off" in story.text(), "it is off, and nothing was asked")
        await story.press("u")
        await story.until(lambda: written(settings) == SETTINGS, "it is taken back")
        await story.press("u")
        await story.shows("There is nothing to undo.")


@small
async def test_u_offers_to_undo_one_edit_of_a_file_that_changed_since(
    console: Open, size: tuple[int, int], workspace: Path, settings: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await story.press("space", "w")
        await story.until(lambda: "○ off" in story.text(), "it is off")
        extend(settings, "// later\n")
        await story.press("u")
        await story.shows("Undo this edit?", "Only the edit is")
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "nothing was agreed to")
        assert "greet" in written(settings)
        await story.press("u")
        await story.shows("Undo this edit?")
        await story.press("w")
        await story.until(lambda: "● ready" in story.text(), "it is on again")
        assert written(settings) == SETTINGS + "// later\n"


@small
async def test_undo_of_another_programs_edit_asks_first(
    console: Open, size: tuple[int, int], workspace: Path, settings: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    other = Workbench(Options(workspace=workspace))
    other.trust(workspace)
    async with console(size) as story:
        await story.press("space", "w")
        await story.until(lambda: "○ off" in story.text(), "it is off")
        await story.press("u")
        await story.until(lambda: "● ready" in story.text(), "what was done here is taken back")
        off = other.edits.toggle(other.scan(), "greet", on=False)
        await asyncio.to_thread(other.edits.apply, off)
        await story.press("R")
        await story.until(lambda: "○ off" in story.text(), "another terminal has switched it off")
        switched = written(settings)
        await story.press("u")
        await story.shows("Undo this edit?", "another terminal", "enabled")
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "nothing was agreed to")
        assert written(settings) == switched
        await story.press("u")
        await story.shows("Undo this edit?")
        await story.press("w")
        await story.until(lambda: "● ready" in story.text(), "it is on again")
        assert written(settings) == SETTINGS


@at_extremes
async def test_an_edit_that_cannot_be_undone_stays_until_dropped(
    console: Open, size: tuple[int, int], home: Path, workspace: Path, settings: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    bench = Workbench(Options(workspace=workspace))
    bench.trust(workspace)
    mine = home / "mine.md"
    mine.write_text("before\n")
    change = Change(mine, "write mine", b"before\n", b"after\n")
    await asyncio.to_thread(bench.edits.write, "greet", change)
    async with console(size) as story:
        mine.unlink()
        for answer in ("escape", "escape", "delete"):
            await story.press("u")
            await story.shows("Forget this edit?", "./mine.md does not exist", "write mine", "Forget")
            await story.press(answer)
            await story.until(lambda: len(story.app.screen_stack) == 1, "the question is answered")
        await story.shows("orgotten: write mine")
        await story.press("u")
        await story.shows("There is nothing to undo.")
        assert not mine.exists()


@small
async def test_an_undo_reports_its_success_before_the_edits_that_it_skipped(
    console: Open,
    size: tuple[int, int],
    workspace: Path,
    settings: Path,
    make_hook: MakeHook,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "TOAST_LINES", 20)  # paths of any length fit
    make_hook(workspace / "hooks", "greet", READY)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await story.press("space", "w")
        await story.until(lambda: "○ off" in story.text(), "it is off")
        (state_folder() / "undo" / "99.json").write_text("{")
        await story.press("u")
        await story.shows("cannot be read, so its edit cannot be undone")
        toasts = " ".join(toast.message for toast in story.app._notifications)
        assert re.search("Undone: .*99.json cannot be read", toasts)


@medium
async def test_a_blocked_hook_can_be_enabled_and_stays_blocked(
    console: Open, size: tuple[int, int], home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    needs = "{openclaw: {events: ['command:new'], requires: {bins: [no-such]}}}"
    make_hook(workspace / "hooks", "needy", needs)
    (home / ".openclaw").mkdir()
    off = "{hooks: {internal: {entries: {needy: {enabled: false}}}}}"
    (home / ".openclaw" / "openclaw.json").write_text(off)
    async with console(size) as story:
        await story.press("space")
        await story.shows("Switch on needy?", "on, but still blocked: Binary missing: no-such")
        await story.press("w")
        await story.shows("needy: on, but still blocked")


@small
async def test_settings_that_cannot_be_edited_are_reported_and_unchanged(
    console: Open, size: tuple[int, int], home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{hooks: [/]")
    async with console(size) as story:
        await story.press("space")
        await story.shows("openclaw.json cannot be edited")
        assert not any(isinstance(screen, EditScreen) for screen in story.app.screen_stack)
    assert (home / ".openclaw" / "openclaw.json").read_text() == "{hooks: [/]"


@medium
async def test_a_hostile_name_is_quoted_in_the_edit(
    console: Open, size: tuple[int, int], workspace: Path, settings: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(workspace / "hooks", "x", READY)
    header = (folder / "HOOK.md").read_text().replace("name: x", 'name: "[/x][@click=app.quit]y[/] \\e[2J"')
    (folder / "HOOK.md").write_text(header)
    async with console(size) as story:
        await story.press("space")
        await story.shows("Switch off ", "[/x][@click=app.quit]y[/]")
        await story.hides("\x1b")
        await story.press("w")
        await story.until(lambda: "○ off" in story.text(), "it is off")
