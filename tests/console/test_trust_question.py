"""The question of trust in the console: real folders, counted handlers, and what is refused."""

from pathlib import Path

from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, large


@large
async def test_the_trust_dialog_names_the_real_folder_and_counts_handlers(
    console: Open, size: tuple[int, int], workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    for name in ("one", "two"):
        make_hook(tmp_path / "elsewhere/shared", name, READY)
    (workspace / "hooks").rmdir()
    (workspace / "hooks").symlink_to(tmp_path / "elsewhere/shared")
    async with console(size) as story:
        await story.shows("◇ untrusted")
        await story.press("t")
        await story.shows("Allow this folder to run?", "2 handlers so far", "/shared")
        await story.press("t")
        await story.shows("● ready")
    assert "elsewhere/shared" in (tmp_path / "state/trust.json").read_text()


@large
async def test_the_trust_dialog_refuses_a_folder_that_is_too_wide(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(home.parent, "home", READY, f"open({str(tmp_path / 'ran')!r}, 'w')\ndef handler(e): pass\n")
    (workspace / "hooks/away").symlink_to(home)
    async with console(size) as story:
        await story.shows("◇ untrusted")
        await story.press("t")
        await story.shows("is too broad to trust", "--everything-below", "move the hook into a hooks folder")
        await story.hides("t trusts it")
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.shows("Run 1")
        assert len(story.app.screen_stack) == 1
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "state/trust.json").exists()
