"""Hooks that do their worst are fired from the console: it stays alive and says what happened."""

import os
import sys
from pathlib import Path

from tests.conftest import MakeHook
from tests.console.conftest import READY, USUAL, Open

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench

FAULTS = {
    "a-loops": ("def handler(event):\n    while True: pass\n", "timeout"),
    "b-leaves": ("import os\ndef handler(event): os._exit(1)\n", "crashed"),
    "c-floods": ("def handler(event):\n    for _ in range(200): print('x' * 100_000)\n", "ok"),
    "[/x]": ("def handler(event): event.messages.append('[/x] [@click=app.quit]x[/]')\n", "ok"),
    "d-raises": ("def handler(event): raise ValueError('[/boom] \\x1b[2J')\n", "error"),
}


async def test_the_console_survives_faulty_hooks_and_reports_them(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    for number, (name, (source, _)) in enumerate(FAULTS.items()):
        limits = ", hookscope: {limits: {run: 1}}" if name == "a-loops" else ""
        metadata = f"{{openclaw: {{events: ['command:new']}}{limits}}}"
        folder = make_hook(workspace / "hooks", f"hook-{number}", metadata, source)
        manifest = folder / "HOOK.md"
        manifest.write_text(manifest.read_text().replace(f"name: hook-{number}", f"name: '{name}'"))
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(USUAL) as story:
        await story.shows("[/x]")
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("Run 1")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.shows("3 of 5 failed")
        screen = story.text()
        assert "\x1b" not in screen
        await story.press("3", "right")
        for name, (_, outcome) in FAULTS.items():
            await story.shows(name[:6], outcome)
        await story.press("1")
        await story.shows("● ready")


async def test_a_run_can_be_cancelled(console: Open, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "loops", "{openclaw: {events: ['command:new']}}", FAULTS["a-loops"][0])
    make_hook(workspace / "hooks", "next", "{openclaw: {events: ['command:new']}}")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console() as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("» running")
        await story.press("escape")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.shows("⊘ cancelled", "the run was cancelled")


async def test_the_console_process_runs_no_handler(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    source = (
        "import os\nimport a_helper_of_mine\ndef handler(event): event.messages.append(f'pid {os.getpid()}')"
    )
    folder = make_hook(workspace / "hooks", "who", "{openclaw: {events: ['command:new']}}", source)
    (folder / "a_helper_of_mine.py").write_text("")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console() as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("pid ")
        await story.hides(f"pid {os.getpid()}")
    assert not [name for name in sys.modules if "a_helper_of_mine" in name]


async def test_a_quarantined_hook_is_shown_skipped_on_save_and_released_by_a_key(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "bad", READY, "import os\ndef handler(event): os._exit(3)")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(USUAL) as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        for number in (1, 2, 3):
            await story.press("f5")
            await story.shows(f"Run {number}", "1 of 1 failed")
        await story.shows("three faults within five minutes")
        view, event = story.screen.state.view, story.screen.state.draft.event
        assert view is not None
        assert event is not None
        automatic = story.app.bench.plan(view, event, automatic=True)
        assert automatic.groups == ()
        assert automatic.not_run[0].reason.startswith("in quarantine after three faults")
        await story.press("f5")
        await story.shows("Run 4", "1 of 1 failed")
        await story.pilot.click("#mode-hooks")
        await story.shows("in quarantine")
        await story.focus_in("list")
        await story.press("L")
        await story.until(lambda: "in quarantine" not in story.text(), "it is lifted")
        assert story.app.bench.plan(view, event, automatic=True).groups


async def test_late_output_is_logged_with_the_hooks_name(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    source = "export default () => { setTimeout(() => { throw new TypeError('far too late'); }, 500); };"
    make_hook(workspace / "hooks", "tardy", READY, source, file="handler.js")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(USUAL) as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("✓ ok")
        await story.pilot.click("#mode-log")  # a key could go to an editor
        await story.shows("! warn   late", "failed after it had returned")


async def test_the_workers_dialog_lists_worker_processes(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(USUAL) as story:
        await story.press("P")
        await story.shows("Worker processes", "No worker is running")
        await story.press("escape", "f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("✓ ok")
        await story.pilot.click("#mode-hooks")
        await story.focus_in("list")
        await story.press("P")
        await story.shows("python", "shared", "MiB")
