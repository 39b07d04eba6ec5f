"""Another workspace in the same console, and back to where one was."""

from pathlib import Path
from shutil import rmtree

from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open

from hookscope.app.console_files import matching_folders
from hookscope.console.dialogs.choosers import WorkspaceScreen, recent_workspaces
from hookscope.console.panes.hook_list import HookList


@given(st.text(max_size=12))
def test_the_workspace_dialog_lists_folders_only(typed: str) -> None:
    assert all(folder.is_absolute() and folder.is_dir() for folder in matching_folders(typed, Path("/")))


def test_the_workspace_dialog_lists_workspaces_first(tmp_path: Path) -> None:
    for name in ("alpha", "alps/hooks", ".alpine", "beta"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "alp.txt").write_text("")
    assert matching_folders("al", tmp_path) == (tmp_path / "alps", tmp_path / "alpha")
    assert matching_folders(f"{tmp_path}/.al", Path("/")) == (tmp_path / ".alpine",)
    assert len(matching_folders(f"{tmp_path}/", Path("/"))) == 4  # the home of the test, too
    assert recent_workspaces([Path("/a/One"), Path("/b/two")], "one") == (Path("/a/One"),)


async def test_switching_workspaces_keeps_each_ones_view(
    console: Open, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    other = tmp_path / "other-one"
    make_hook(workspace / "hooks", "here", READY)
    make_hook(other / "hooks", "there", READY)
    async with console((120, 36)) as story:
        try:
            await story.press("slash", *"he", "enter")
            await story.until(lambda: isinstance(story.screen.focused, HookList), "the list has the focus")
            await story.press("O")
            await story.until(lambda: isinstance(story.app.screen, WorkspaceScreen), "a folder is asked for")
            await story.press(*str(tmp_path / "oth"))
            await story.shows("other-one  has hooks")
            await story.press("enter")
            await story.until(lambda: story.app.bench.options.workspace == other, "the other one is open")
            await story.shows("there", "Hooks 1")
            assert story.screen.state.filter == ""
            await story.until(lambda: isinstance(story.screen.focused, HookList), "the list has the focus")
            await story.press("O")
            await story.shows("/workspace  recent")
            await story.press("enter")
            await story.until(lambda: story.app.bench.options.workspace == workspace, "the first one is back")
            await story.shows("Hooks 1/1", "here")
            assert story.screen.state.filter == "he"
            rmtree(other)
            await story.press("escape", "O")
            await story.shows("No other workspace is known: type a path.")
        finally:
            await story.app.bench.close()


async def test_other_hosts_are_named_in_a_line_that_stays_until_a_host_is_chosen(
    console: Open, workspace: Path, home: Path
) -> None:
    (workspace / "agent/hooks").mkdir(parents=True)
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{}")
    line = "≠ Found OpenClaw and Eve: using openclaw; D picks another."
    async with console((80, 24)) as story:
        await story.shows(line)
        for mode in "2341":
            await story.press(mode)
        await story.until(lambda: line in story.lines()[2], "the line is below the tabs in every mode")
        await story.press("D")
        await story.hides(line)
