"""Mode 4: the same hooks under several hosts, at every size."""

from pathlib import Path

import pytest
from tests.analysis.host_comparison.conftest import for_all
from tests.conftest import MakeHook
from tests.console.hosts.conftest import SIZES, Open

from hookscope.console.dialogs.choosers import HostChooser
from hookscope.console.dialogs.trust_question import TrustScreen
from hookscope.console.panes.hosts_pane import HostsPane, Matrix


@pytest.mark.parametrize("size", SIZES)
async def test_hosts_mode_shows_differences_and_the_change_that_removes_them(
    console: Open, hooks: Path, size: tuple[int, int]
) -> None:
    async with console(size, dialect="openclaw") as story:
        await story.press("4")
        await story.shows("[4 Hosts]", "1 hook equal · 2 differ", "openclaw", "milady", "eliza")
        await story.focus_in("hosts")
        await story.press("=")
        await story.shows("only differences")
        await story.hides("everywhere")
        await story.shows("▸ only-here", "add `milady` and `eliza` beside `openclaw`")
        await story.press("down")
        await story.shows("rename handler.js to handler.ts")
        await story.press("enter", "escape", "=")
        await story.shows("everywhere")
        await story.press("escape")
        await story.shows("again to go back to Hooks")
        await story.press("escape")
        await story.focus_in("list")


async def test_the_compared_hosts_can_be_changed(console: Open, hooks: Path) -> None:
    async with console((120, 36), dialect="openclaw") as story:
        await story.press("4")
        await story.shows("2 differ")
        await story.press("v")
        await story.until(lambda: isinstance(story.app.screen, HostChooser), "the chooser is there")
        await story.press("space", "down", "down", "space", "enter")
        await story.shows("Choose at least two hosts", "✓ milady ", "· openclaw ")
        await story.press(*["down"] * 5, "space", "enter")
        await story.shows("milady@2.0.0-alp")
        pane = story.screen.panes.hosts_pane
        assert pane.comparison is not None
        names = [side.dialect.name for side in pane.comparison.sides]
        assert names == ["milady", "milady@2.0.0-alpha.76"]


async def test_an_event_can_be_fired_under_every_host(console: Open, hooks: Path, workspace: Path) -> None:
    async with console((120, 36), dialect="openclaw") as story:
        story.screen.context.compose_event("command:new", "everywhere")
        await story.press("4")
        await story.shows("2 differ")
        await story.press("ctrl+r")
        await story.until(lambda: isinstance(story.app.screen, TrustScreen), "trust is asked for")
        await story.press("t")
        await story.shows("command:new   fired at 3 hosts, results differ", "outcome", "not run: broken")
        story.app.clear_notifications()  # they cover keys
        await story.shows("d Runs")
        exported = story.screen.controllers.export.shown()
        assert exported is not None
        assert len(exported.document["runs"]) == 3, "what is exported is what is shown"
        assert "not run: broken" in exported.text
        await story.press("d")
        await story.shows("At each host")
        await story.press("d")
        await story.shows("input context")
        assert {one.dialect.name for one in story.screen.panes.hosts_pane.runs} == {
            "openclaw", "milady", "eliza",
        }  # fmt: skip


async def test_an_event_that_no_host_knows_is_explained(console: Open, hooks: Path) -> None:
    async with console((120, 36), dialect="openclaw") as story:
        await story.press("4")
        await story.shows("2 differ")
        story.screen.context.compose_event("before_tool_call")
        await story.press("4", "v")
        await story.until(lambda: isinstance(story.app.screen, HostChooser), "the chooser is there")
        await story.press("space", "enter")
        await story.until(lambda: len(_sides(story.screen.panes.hosts_pane)) == 2, "two hosts are there")
        await story.press("ctrl+r")
        await story.shows("is not an event of Milady")
        assert story.screen.panes.hosts_pane.runs == ()


def _sides(pane: HostsPane) -> list[str]:
    found = pane.comparison
    return [side.dialect.name for side in found.sides] if found is not None else []


async def test_names_with_control_characters_are_shown_literally(console: Open, workspace: Path) -> None:
    for number, name in enumerate(("[bold red]x[/]", "a\x1b[2Jb", "\u202ertl", "宽" * 40)):
        folder = workspace / f"hooks/h{number}"
        folder.mkdir()
        (folder / "HOOK.md").write_text(f"---\nname: {name!r}\ndescription: d\n---\n".replace("'", '"'))
        (folder / "handler.js").write_text("x")
    async with console((80, 24), dialect="openclaw") as story:
        await story.press("4")
        await story.shows("[bold red]x[/]")
        for _ in range(4):
            await story.press("down")
        await story.hides("\x1b")
        assert all(len(line) <= 80 for line in story.lines())


async def test_a_saved_file_is_compared_again(console: Open, hooks: Path) -> None:
    async with console((120, 36), dialect="openclaw") as story:
        await story.press("4")
        await story.shows("1 hook equal · 2 differ")
        (hooks / "script/handler.js").rename(hooks / "script/handler.ts")
        story.screen.bridge.scan()
        await story.shows("2 hooks equal · 1 differ")
        assert story.screen.query_one(Matrix).line is not None


async def test_a_fire_under_all_hosts_can_be_cancelled(
    console: Open, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    begun = tmp_path / "begun"
    source = f"import time\ndef handler(event):\n    open({str(begun)!r}, 'w')\n    time.sleep(60)\n"
    make_hook(workspace / "hooks", "slow", for_all('"command:new"'), source)
    async with console((120, 36), dialect="openclaw") as story:
        story.screen.context.compose_event("command:new")
        await story.press("4")
        await story.shows("1 hook equal")
        await story.press("ctrl+r")
        await story.until(lambda: isinstance(story.app.screen, TrustScreen), "trust is asked for")
        await story.press("t")
        await story.until(begun.exists, "the handler runs")
        await story.until(lambda: "Runs" not in story.lines()[-1], "there are none yet")
        await story.press("d")
        await story.shows("command:new is running")
        await story.press("escape")
        await story.shows("not fired: cancelled")
        await story.press("2")
        await story.shows("[2 Fire]")


async def test_hooks_with_the_same_differences_are_listed_together_and_trust_is_left_out(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    for name, host in (("a", "openclaw"), ("b", "milady"), ("c", "openclaw"), ("d", "milady")):
        make_hook(workspace / "hooks", name, f"{{{host}: {{events: [command:new]}}}}")
    make_hook(workspace / "hooks", "e", "{openclaw: {events: [command:new], os: [win32]}}")
    async with console((200, 50), dialect="openclaw") as story:
        await story.press("4")
        await story.shows("0 hooks equal · 5 differ · trust is not compared")
        rows = [line[1:].strip("▸ ┃") for line in story.lines()[4:9]]
        assert [row.split()[0] for row in rows] == ["a", "c", "b", "d", "e"]
        assert ["same as a" in row for row in rows] == [False, True, False, False, True]
        assert "same as b" in rows[3]
        assert "same as a; OpenClaw: blocked" in rows[4]
        assert all("ready" in row for row in rows[:4]), "although no folder is trusted"
