"""I in the list: packs are seen, installed, compared, updated and removed; what takes time can be stopped."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.console.conftest import EXTREMES, Open, Story
from tests.packs.conftest import SETTINGS, make_pack, on_disk
from tests.packs.hostile import entry, tar_of
from textual.widgets import Input

from hookscope.app.options import Options
from hookscope.app.pack_manager import LOST_NOTE, PackManager, pack_changes
from hookscope.app.workbench import Workbench
from hookscope.console.panes.log_pane import LogPane
from hookscope.console.screens.packs_screen import PackLines, PackPlanScreen, PacksScreen


@pytest.fixture
def settings(home: Path) -> Path:
    file = home / ".openclaw" / "openclaw.json"
    file.parent.mkdir()
    file.write_text(SETTINGS)
    return file


async def install(story: Story, spec: str, key: str = "n") -> None:
    """Ask for it, up to the question or the refusal."""
    await story.press(key)
    await story.shows("enter preview")
    story.app.screen.query_one(Input).value = spec  # typing a long path takes a test a second
    await story.press("enter")


async def agree(story: Story) -> None:
    """Say yes to what is shown, once it has been seen: a second enter in haste says nothing."""
    sheet = story.app.screen
    assert isinstance(sheet, PackPlanScreen)
    await story.press("enter")
    assert story.app.screen is sheet or sheet.seen
    await story.until(lambda: sheet.seen, "it was seen")
    if story.app.screen is sheet:
        await story.press("enter")


@pytest.mark.parametrize("size", EXTREMES, ids=str)
async def test_a_pack_is_installed_updated_and_removed(
    console: Open, size: tuple[int, int], home: Path, settings: Path, tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", "hello", "bye")
    handler = home / ".openclaw/hooks/hello/handler.py"
    before = on_disk(home)
    async with console(size) as story:
        await story.press("I")
        await story.shows("No pack is installed for OpenClaw here.", "n installs", "esc")
        await story.until(lambda: "Remove" not in story.lines()[-1], "there is none to remove")
        await install(story, str(pack))
        await story.shows(
            "Install greetings 1.0.0?", "from       folder", "receives command:new", "enter install"
        )
        await story.press("escape")
        await story.shows("Nothing was written for greetings.")
        assert on_disk(home) == before
        await story.press("n", "enter")  # what was asked for last still stands there
        await story.shows("Install greetings 1.0.0?")
        await story.press("end")
        await story.shows("openclaw.json", "+ ")
        await agree(story)
        await story.shows("greetings 1.0.0 installed.", "✓ as installed", "newest", "◇ untrusted")
        await story.shows("N Update")

        handler.write_text(handler.read_text() + "# [b]mine[/b]\x1b[2J\n")
        await story.press("R")
        await story.shows("✗ changed", "~ changed  ./.openclaw/hooks/hello/handler.py")
        await story.press("d")
        await story.shows("changed on disk since", "+# [b]mine[/b]␛[2J", "enter esc close")
        assert "Yes" not in story.lines()[-1]
        await story.press("escape")
        if size == EXTREMES[0]:
            make_pack(pack, "hello", "welcome", version="2.0.0")
            await story.press("asterisk")
            await story.shows("Newer: greetings. N shows it.", "→ 2.0.0")
            await story.press("N")
            await story.shows("Update greetings 2.0.0?", "changed since the install, a copy is kept")
            await agree(story)
            await story.shows(
                "The integrity check failed. Update greetings 2.0.0?",
                "changed  ./.openclaw/hooks/hello/handler.py",
                "enter update anyway",
            )
            await story.press("escape")
            await story.shows("Nothing was written for greetings.")
            assert "2.0.0" not in handler.read_text()
            await story.press("N")
            await story.shows("Update greetings 2.0.0?", "changed since the install, a copy is kept")
            await agree(story)
            await story.shows("The integrity check failed.")
            await agree(story)
            await story.shows("greetings 2.0.0 updated. 1 changed file was kept in")
            assert "2.0.0" in handler.read_text()
            names = {"hello", "welcome"}
            await story.until(
                lambda: names <= {row.name for row in story.screen.state.rows}, "they are listed"
            )
        await story.press("delete")
        await story.shows("Remove greetings")
        await agree(story)
        await story.shows("removed.", "No pack is installed")
        await story.until(lambda: "Update" not in story.lines()[-1], "there is none to update")
        assert on_disk(home) == before
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "the list is back")
        await story.until(lambda: not story.screen.state.rows, "their hooks are gone from it")
        log = story.screen.query_one(LogPane).ring.numbered(0)
        told = [one.text for _, one in log if one.kind == "pack"]
        did = [text.partition(":")[0] for text in told]
        assert did == ["install", *(["update"] if size == EXTREMES[0] else []), "remove"]


async def test_a_hostile_archive_and_a_cancelled_download_leave_no_files(
    console: Open, home: Path, settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = tmp_path / "evil.tar"
    evil.write_bytes(tar_of(entry("../../escaped")))
    told = tmp_path / "pid"
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f"#!/bin/sh\necho $$ > {told}.new && mv {told}.new {told}\nexec sleep 600\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:{os.environ['PATH']}")
    before = on_disk(home, tmp_path / "bin")
    async with console((80, 24)) as story:
        await story.press("I")
        await install(story, str(evil))
        await story.shows("✗ The entry ../../escaped leads out of the package with `..`.")
        assert isinstance(story.app.screen, PacksScreen)
        assert on_disk(home, tmp_path / "bin") == before

        await install(story, "slow-pack")
        await story.shows("… fetching slow-pack with npm", "esc stops it")
        await story.until(told.exists, "npm runs")
        await story.press("n")
        await story.press("escape", "I")
        await story.shows("Cancelled; nothing was installed.")
        with pytest.raises(ProcessLookupError):
            os.kill(int(told.read_text()), 0)
        assert isinstance(story.app.screen, PacksScreen), "esc stopped it, and closed nothing"
        assert not list((tmp_path / "state").rglob("work/*"))
        await story.press("escape", "W")
        await story.until(lambda: len(story.app.screen_stack) == 2, "the console is alive")
    assert on_disk(home, tmp_path / "bin") == before


async def test_a_linked_pack_is_listed_as_linked_and_offers_no_update(
    console: Open, settings: Path, tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", "hello")
    async with console((80, 24)) as story:
        await story.press("I")
        await story.shows("No pack is installed")
        await install(story, str(pack), "plus")
        await story.shows("Install greetings 1.0.0?", "linked: nothing is copied")
        await agree(story)
        await story.shows("greetings 1.0.0 installed.", "linked: always current")
        (listed,) = (line for line in story.lines() if "1 hook " in line)
        assert " ".join(listed.split()) == "│ ▸ greetings 1.0.0 linked 1 hook ✓ as installed │"
        package = make_pack(tmp_path / "other", "bye") / "package.json"
        package.write_text(package.read_text().replace("greetings", "others"))
        await install(story, str(package.parent))
        await story.shows("Install others 1.0.0?")
        await agree(story)
        await story.shows("others 1.0.0 installed.", "▸ others")
        lines = story.app.screen.query_one(PackLines)
        await story.pilot.click(lines, offset=(4, 0))
        await story.shows("▸ greetings", "linked: always current")
        assert lines.has_focus
        await story.pilot.click(lines, offset=(4, 0))
        await story.until(lambda: not lines.has_focus, "a click on the selected pack opens its details")


async def test_packs_cannot_be_installed_under_a_what_if(console: Open, home: Path, settings: Path) -> None:
    async with console((80, 24), os="darwin") as story:
        await story.press("I", "n")
        await story.shows("Packs cannot change under a what-if (os")
        assert not isinstance(story.app.screen, PackPlanScreen)


def test_a_pack_diff_compares_the_installed_bytes(
    workspace: Path, home: Path, settings: Path, tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", "hello", "bye")
    bench = Workbench(Options(workspace=workspace, bundled=tmp_path / "none"))
    fire = PackManager(bench)
    fire.apply(fire.plan_install(str(pack)))
    hooks = home / ".openclaw" / "hooks"
    (hooks / "hello" / "handler.py").unlink()
    (hooks / "bye" / "handler.py").write_bytes(b"\0")
    os.mkfifo(hooks / "bye" / "pipe")
    (pack / "hooks" / "hello" / "handler.py").write_text("def handler(event): pass\n")
    files = {one.path.relative_to(hooks).as_posix(): one for one in pack_changes(fire, "greetings").files}
    assert {name: one.state for name, one in files.items()} == {
        "hello/handler.py": "missing",
        "bye/handler.py": "changed",
        "bye/pipe": "added",
    }
    assert (files["hello/handler.py"].why, files["hello/handler.py"].change) == (LOST_NOTE, None)
    assert files["bye/handler.py"].why == "it is not text"
    assert files["bye/pipe"].why == "it is no longer a regular file"
    (pack / "package.json").unlink()
    assert pack_changes(fire, "greetings").problem
    asyncio.run(bench.close())
