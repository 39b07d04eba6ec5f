"""Dead hooks of every sort, and somebody who is new to the console: one key at most to the reason.

With room for two panes no key at all: the cursor stands on the hook, as it does when it is the only one.
"""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.state.state_changes import RowJumpedTo

SETTINGS = '{"hooks": {"internal": {"enabled": true, "entries": {"switched-off": {"enabled": false}}}}}'
HEARS = "{{openclaw: {{events: [{}]}}}}"

# name → the words of the reason, as the screen at 80x24 has room for them
REASONS = {
    "typo": ("command:nwe", "command:new"),
    "claude-name": ("PreToolUse",),
    "no-events": ("no events",),
    "no-program": ("no-such-program", "not on PATH"),
    "no-variable": ("NO_SUCH_VARIABLE", "unset"),
    "no-setting": ("workspace.nowhere",),
    "other-system": ("win32",),
    "no-function": ("has no `handler`",),
    "syntax": ("handler.py", "line 1"),
    "switched-off": ("openclaw.json:1",),
    "wrong-namespace": ("metadata.milady",),
    "no-handler": ("no handler",),
    "prose": ("no frontmatter",),
    "open-header": ("no closing",),
}


@pytest.fixture
def dead_hooks(workspace: Path, home: Path, make_hook: MakeHook) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text(SETTINGS)
    hooks = workspace / "hooks"
    make_hook(hooks, "typo", HEARS.format("'command:nwe'"))
    make_hook(hooks, "claude-name", HEARS.format("PreToolUse"))
    make_hook(hooks, "no-events", "{openclaw: {emoji: x}}")
    needs = "{{openclaw: {{events: [command:new], {}}}}}"
    make_hook(hooks, "no-program", needs.format("requires: {bins: [no-such-program]}"))
    make_hook(hooks, "no-variable", needs.format("requires: {env: [NO_SUCH_VARIABLE]}"))
    make_hook(hooks, "no-setting", needs.format("requires: {config: [workspace.nowhere]}"))
    make_hook(hooks, "other-system", needs.format("os: [win32]"))
    make_hook(hooks, "no-function", READY, "answer = 42\n")
    make_hook(hooks, "syntax", READY, "def handler(event:\n")
    make_hook(hooks, "switched-off", READY)
    make_hook(hooks, "wrong-namespace", "{milady: {events: [command:new]}}")
    (make_hook(hooks, "no-handler", READY) / "handler.py").unlink()
    (make_hook(hooks, "prose", READY) / "HOOK.md").write_text("Hooks should be small.\n")
    (make_hook(hooks, "open-header", READY) / "HOOK.md").write_text("---\nname: open-header\n")
    Workbench(Options(workspace=workspace)).trust(hooks)


@pytest.mark.usefixtures("dead_hooks")
@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_one_key_shows_why_a_hook_does_not_run(console: Open, size: tuple[int, int]) -> None:
    async with console(size) as story:
        names = {row.name: row.id for row in story.screen.state.rows}
        assert set(names) == set(REASONS)
        for name, words in REASONS.items():
            story.screen.store.change(
                RowJumpedTo(names[name])
            )  # where the cursor is when the hook is the only one
            if size[0] < 100:
                await story.press("enter")
            await story.shows(name, *words)
            if size[0] < 100:
                await story.press("escape")


@pytest.mark.parametrize("size", SIZES)
async def test_enter_on_a_line_of_the_plan_answers_for_that_hook_and_event(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    """The composed event counts, not the first one that the hook subscribes to."""
    events = "{openclaw: {events: [command:stop, command:new], requires: {env: [NO_SUCH_VARIABLE]}}}"
    make_hook(workspace / "hooks", "aaa", READY)
    make_hook(workspace / "hooks", "late", events)
    make_hook(workspace / "hooks", "other", "{openclaw: {events: [message:sent]}}")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await story.press("2")
        story.screen.query_one("#fire-plan").focus()
        await story.press("down", "enter")
        assert story.screen.state.mode == "hooks"
        await story.shows("late does not run on command:new")
        names = {row.name: row.id for row in story.screen.state.rows}
        for name in ("aaa", "late"):  # selected in the list
            story.screen.context.change(RowJumpedTo(names[name]))
        await story.shows("late does not run on command:stop")
        await story.press("2")
        story.screen.query_one("#fire-plan").focus()
        await story.press("full_stop", "down", "enter")
        await story.shows("other", "does not run on command:new")
