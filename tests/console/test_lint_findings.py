"""What a lint finds stands beside the hook, below what stops it."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench

READS = "import os\n\ndef handler(event):\n    os.environ['TIDY_KEY']\n"
FOUR = "import os\n\ndef handler(event):\n" + "".join(f"    os.environ['KEY_{n}']\n" for n in range(5))


@pytest.mark.parametrize("size", SIZES)
async def test_a_lint_finding_shows_its_line_and_fix(
    size: tuple[int, int], console: Open, make_hook: MakeHook, workspace: Path
) -> None:
    make_hook(workspace / "hooks", "tidy", READY, READS)
    async with console(size, dialect="openclaw") as story:
        await story.press("enter" if size == SIZES[0] else "escape")  # or hide Start here
        await story.shows("Mistakes", "handler.py:4")
        assert "TIDY_KEY" in story.text()


async def test_a_hook_without_findings_has_no_lint_heading(
    console: Open, make_hook: MakeHook, workspace: Path
) -> None:
    make_hook(workspace / "hooks", "tidy", READY)
    async with console(dialect="openclaw") as story:
        await story.until(lambda: story.screen.state.checked is not None, "the lint has an answer")
        await story.hides("Mistakes")


async def test_a_folded_sheet_gives_each_reason_once(
    console: Open, make_hook: MakeHook, workspace: Path
) -> None:
    make_hook(workspace / "hooks", "export", READY, "def handle(event):\n    pass\n")
    make_hook(workspace / "hooks", "typo", READY.replace("command", "comand"))
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((120, 50), dialect="openclaw") as story:
        await story.shows("export does not run on command:new", "needs  handler")
        await story.hides("reason")
        await story.hides("Mistakes")
        await story.press("down")
        await story.shows("typo does not run on comand:new", "Mistakes", "Write `command:new`")
        await story.hides("reason")
        await story.press("enter", "end")
        await story.hides("Notes")
        await story.press("enter")
        await story.shows("reason OpenClaw never sends comand:new")
        await story.press("end")
        await story.shows("Notes")


async def test_many_lint_findings_are_folded(console: Open, make_hook: MakeHook, workspace: Path) -> None:
    make_hook(workspace / "hooks", "tidy", READY, FOUR)
    async with console((120, 50), dialect="openclaw") as story:
        await story.shows("▸ tidy")
        await story.press("enter", "end")
        await story.shows("2 more   enter lists them")
        await story.hides("KEY_4")
        await story.press("enter", "end")
        await story.until(lambda: "2 more" not in story.text(), "all of them are listed")
        await story.shows("KEY_4")


async def test_findings_of_other_hooks_are_not_shown(
    console: Open, make_hook: MakeHook, workspace: Path
) -> None:
    make_hook(workspace / "hooks", "a-tidy", READY)
    make_hook(workspace / "hooks", "b-tidy", READY, READS)
    async with console((120, 50), dialect="openclaw") as story:
        await story.press("down")
        await story.shows("TIDY_KEY")
        await story.press("up")
        await story.until(lambda: "TIDY_KEY" not in story.text(), "the other hook's mistakes are gone")


async def test_a_ready_hook_that_did_not_load_is_not_shown_as_running(
    console: Open, make_hook: MakeHook, workspace: Path
) -> None:
    make_hook(workspace / "hooks", "tidy", READY, "import no_such_thing\n\n\ndef handler(event): ...\n")
    Workbench().trust(workspace / "hooks")
    async with console((200, 50), dialect="openclaw") as story:
        await story.shows("ready – will run", "tidy would run on command:new")
        await story.press("f", "ctrl+r")
        await story.shows("no_such_thing is neither beside the handler")
        await story.press("1")
        await story.shows("broken – does not load", "tidy does not run on command:new")
