"""What a user sees and does, at three sizes, over real hooks."""

import os
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import (
    READY,
    Open,
    Story,
    at_every_size,
    at_extremes,
    at_fire,
    large,
    medium,
    small,
)
from textual.widgets import Input

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.panes.fire.composer import KeyField
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.run_pane import RunPane
from hookscope.console.panes.fire.waterfall import Waterfall
from hookscope.console.widgets.header import ModeTab

NEEDS = "{openclaw: {events: [command:new], requires: {bins: [no-such-program], env: [NO_SUCH_VARIABLE]}}}"


def settings(home: Path, text: str) -> None:
    (home / ".openclaw").mkdir(exist_ok=True)
    (home / ".openclaw" / "openclaw.json").write_text(text)


def trusted(workspace: Path) -> None:
    Workbench().trust(workspace / "hooks")


@at_every_size
async def test_a_first_start_says_that_nothing_has_happened(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        await story.shows("no config yet", "Start here", "written or run", "workspace", "absent", "greet")
        await story.press("escape")
        await story.until(lambda: "Start here" not in story.text(), "the strip is gone")
        await story.press("i")
        await story.shows("Start here")


@at_every_size
async def test_a_blocked_hook_says_what_is_missing(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    trusted(workspace)
    make_hook(workspace / "hooks", "needy", NEEDS)
    async with console(size) as story:
        await story.shows("▲ blocked")
        if size[0] < 100:
            await story.press("enter")
        await story.shows("2 checks fail", "no-such-program", "not on PATH", "NO_SUCH_VARIABLE unset")
        await story.shows("e fix")
        await story.shows("Binary missing: no-such-program", "will not run")


@small
async def test_passing_checks_are_folded_until_enter(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    trusted(workspace)
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        await story.press("enter")
        await story.shows("would run on command:new", "✓ requirements", "checks pass")
        await story.hides("e fix")  # there is nothing to fix
        await story.press("enter")
        await story.shows("✓ events", "✓ enabled")
        await story.press("escape")
        await story.until(lambda: not story.screen.state.reading, "back at the list")


@medium
async def test_a_gate_decided_by_settings_names_the_line(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, '{"hooks": {"internal": {"entries": {\n  "greet": {\n    "enabled": false}}}}}')
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        await story.press("enter")
        await story.shows("○ off", "openclaw.json:3")


@at_every_size
async def test_a_first_event_is_fired_within_three_keys(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    trusted(workspace)
    make_hook(
        workspace / "hooks", "greet", READY, "def handler(event):\n    event.messages.append('hello you')\n"
    )
    make_hook(workspace / "hooks", "before", READY)
    async with console(size) as story:
        await story.press("down")
        await story.until(
            lambda: story.screen.state.row and story.screen.state.row.name == "greet",
            "the second one is selected",
        )
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.until(lambda: "Run 1" in story.text() and "hello you" in story.text(), "the run is shown")
        await story.press("3")
        await story.shows("command:new")
        await story.until(lambda: not story.screen.state.job, "the run is over")


@at_extremes
async def test_the_first_fire_asks_for_trust_with_cancel_as_default(
    console: Open, size: tuple[int, int], workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(
        workspace / "hooks",
        "writer",
        READY,
        f"open({str(tmp_path / 'ran')!r}, 'w')\ndef handler(event): pass\n",
    )
    async with console(size) as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.shows("Allow this folder to run?", "writer", "handler.py", "Cancel", "Fire without them")
        await story.press("enter")
        await story.until(lambda: len(story.app.screen_stack) == 1, "the question is answered")
        assert not (tmp_path / "ran").exists()
        assert not (tmp_path / "state" / "trust.json").exists()
        await story.press("ctrl+r")
        await story.shows("Allow this folder to run?")
        await story.press("t")
        await story.until((tmp_path / "ran").exists, "the handler was loaded")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.shows("Run 1")


@small
async def test_a_folder_is_trusted_from_the_list(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        await story.shows("◇ untrusted", "t trusts it")
        await story.hides("hookscope trust")  # here a key does
        await story.press("t")
        await story.shows("Allow this folder to run?", "greet")
        await story.press("t")
        await story.shows("● ready")
        await story.press("t")
        await story.shows("greet does not need trust: it is ready.")
        for key in ("1", "escape", "e", "t", "t", "e"):
            await story.press(key)
        last = ("greet does not need trust", "greet is ready: nothing to fix")
        await story.until(
            lambda: all(map(str.startswith, [one.message for one in story.app._notifications], last)),
            "each is said once, the last comes last",
        )
        assert len(story.app._notifications) == len(last)
        story.app.notify("two lines " * 10)
        await story.until(
            lambda: [len(one.message) for one in story.app._notifications] == [100],
            "more than two lines would cover a pane",
        )


@large
async def test_scanning_in_the_console_imports_no_user_code(
    console: Open, size: tuple[int, int], workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    trusted(workspace)
    make_hook(
        workspace / "hooks",
        "writer",
        READY,
        f"open({str(tmp_path / 'ran')!r}, 'w')\ndef handler(event): pass\n",
    )
    async with console(size) as story:
        await story.press("enter", "R", "K", "y")
        await story.until(lambda: story.screen.state.generation == 2, "the second look is there")
    assert not (tmp_path / "ran").exists()


@small
async def test_a_filter_shows_matches_and_esc_clears_it(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    for name in ("notify", "greet", "audit"):
        make_hook(workspace / "hooks", name, READY)
    async with console(size) as story:
        await story.press("slash", *"greet")
        await story.shows("Hooks 1/3")
        await story.press("enter")
        await story.until(lambda: not isinstance(story.screen.focused, Input), "the list has the focus")
        await story.until(
            lambda: story.screen.state.row and story.screen.state.row.name == "greet", "greet is selected"
        )
        await story.press("escape")
        await story.shows("Hooks 3")
        assert story.screen.state.row is not None
        assert story.screen.state.row.name == "greet"
        await story.press("slash")
        await story.shows("↑ greet")
        await story.press("up")
        await story.shows("Hooks 1/3")


@medium
async def test_a_filter_without_matches_keeps_the_selection(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    for name in ("alpha", "beta"):
        make_hook(workspace / "hooks", name, READY)
    async with console(size) as story:
        await story.press("down", "slash", *"zzz")
        await story.shows("Hooks 0/2", "No hook matches the filter")
        await story.press("enter", "space")
        await story.shows("does not match the filter: esc")
        await story.press("escape")
        await story.shows("Hooks 2", "▸ beta")


@at_extremes
async def test_the_list_is_grouped_by_source_state_or_event(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command:new, gateway:startup]}}")
    async with console(size) as story:
        await story.shows("WORKSPACE", "BUNDLED", "MANAGED")
        text = story.text()
        assert text.index("WORKSPACE") < text.index("MANAGED") < text.index("BUNDLED")
        await story.press("v")
        await story.shows("by state")
        await story.press("v")
        await story.shows("by event")
        assert sum("greet" in line and "◇" in line for line in story.lines()) >= 2


@small
async def test_a_folder_that_is_not_a_hook_is_listed_with_the_reason(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    folder = make_hook(workspace / "hooks", "odd", READY)
    (folder / "HOOK.md").write_text("---\nname: odd\nmetadata: {openclaw: [}\n---\n")
    async with console(size) as story:
        await story.shows("✗ no hook")
        await story.press("enter")
        await story.shows("This looks like a hook but is not", "HOOK.md:3", "metadata: {openclaw: [}")
        await story.press("f")
        await story.shows("odd is not a hook and receives no events.")


@large
async def test_all_copies_of_a_name_are_listed_and_one_wins(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    make_hook(workspace / "hooks", "greet", READY)
    make_hook(home / ".openclaw" / "hooks", "greet", READY)
    async with console(size) as story:
        await story.shows("◌ shadowed")
        await story.press("enter", *["down"] * 4)
        await story.shows("takes precedence")
        await story.shows("shadowed: workspace comes first", "┆ no hook of this name")
        await story.press("escape", "down")  # for a copy that loses, this is the reason: before its checks
        await story.shows("✗ precedence", "▸ 2 managed", "✗ trusted ")


@small
async def test_the_registry_lists_handlers_in_call_order(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    trusted(workspace)
    make_hook(workspace / "hooks", "special", READY)
    make_hook(workspace / "hooks", "general", "{openclaw: {events: [command]}}")
    make_hook(workspace / "hooks", "specialist", READY)
    async with console(size) as story:
        await story.press("K")
        await story.shows("Registry", "command:new", "via command", "a conversation starts over")
        text = story.text()
        assert text.index("general      workspace · via") < text.index("special      workspace")
        await story.press("K")
        await story.until(lambda: story.screen.state.side == "why", "why is back")


@medium
async def test_settings_that_do_not_parse_are_shown_at_the_top(
    console: Open, size: tuple[int, int], home: Path
) -> None:
    settings(home, '{"hooks": [}')
    async with console(size) as story:
        await story.shows("✗")
        assert any("openclaw.json" in line for line in story.lines()[2:4]), story.text()


@small
async def test_a_what_if_is_marked(console: Open, size: tuple[int, int], workspace: Path) -> None:
    async with console(size, os="darwin", env={"A": "b"}) as story:
        await story.shows("≈ what if: os darwin, A set")


@large
async def test_a_new_scan_keeps_the_selection(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    for name in ("beta", "delta", "omega"):
        make_hook(workspace / "hooks", name, READY)
    async with console(size) as story:
        await story.press("down")
        await story.until(lambda: story.screen.state.row and story.screen.state.row.name == "delta", "delta")
        make_hook(workspace / "hooks", "alpha", READY)
        await story.press("R")
        await story.shows("alpha")
        assert story.screen.state.row is not None
        assert story.screen.state.row.name == "delta"
        assert any("▸" in line and "delta" in line for line in story.lines())


@small
async def test_without_an_editor_the_file_and_line_are_shown(
    console: Open,
    size: tuple[int, int],
    workspace: Path,
    home: Path,
    make_hook: MakeHook,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    settings(home, "{}")
    make_hook(workspace / "hooks", "greet", READY, "def handler(event:\n")
    async with console(size) as story:
        await story.press("E")
        await story.shows("No editor is set")


@medium
async def test_the_report_of_a_hook_can_be_copied(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    make_hook(workspace / "hooks", "needy", NEEDS)
    async with console(size) as story:
        await story.press("y")
        await story.shows("Copied the report on needy.")
        assert "Binary missing: no-such-program" in story.app.clipboard
        assert "✓ events" in story.app.clipboard


@at_extremes
async def test_modes_can_be_clicked(console: Open, size: tuple[int, int], workspace: Path) -> None:
    async with console(size) as story:
        await story.pilot.click("#mode-log")
        await story.until(lambda: story.screen.state.mode == "log", "the log")
        assert story.screen.query_one("#mode-log", ModeTab).has_class("-current")
        await story.press("1")
        await story.until(lambda: story.screen.state.mode == "hooks", "the hooks")


@small
async def test_keys_in_the_footer_can_be_clicked(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        line = story.lines()[-1]
        await story.pilot.click("#keybar", offset=(line.index("Fire") + 1, 0))
        await story.until(lambda: story.screen.state.mode == "fire", "the composer is open")


@large
async def test_a_screen_that_is_too_small_says_so_in_one_line(
    console: Open, size: tuple[int, int], workspace: Path
) -> None:
    async with console(size) as story:
        await story.pilot.resize_terminal(52, 14)
        await story.shows("needs 60x16; now 52x14")
        await story.pilot.resize_terminal(*size)
        await story.shows("1 Hooks")


@small
async def test_a_failed_scan_leaves_the_console_running(
    console: Open, size: tuple[int, int], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(size) as story:

        def broken() -> None:
            raise RuntimeError("[/foo] disk on fire")

        monkeypatch.setattr(story.app.bench, "scan", broken)
        await story.press("R")
        await story.shows("[/foo] disk on fire")
        monkeypatch.undo()
        await story.press("R")
        await story.until(lambda: story.screen.state.generation >= 2, "looking works again")


@at_extremes
async def test_help_lists_the_keys_of_the_pane(console: Open, size: tuple[int, int], workspace: Path) -> None:
    async with console(size) as story:
        await story.press("question_mark")
        await story.shows("Help", "Every hook by folder", "Compose a test event")
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "help is closed")


@at_every_size
async def test_zoom_shows_one_pane_and_returns(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        for mode, pane in (("1", "list"), ("enter", "why"), ("3", "log")):
            await story.press(mode)
            await story.focus_in(pane)
            before, place = story.screen.panes.shown, story.screen.query_one(f"#{pane}")
            await story.press("z")
            await story.until(lambda: place.region.width == size[0], f"{pane} has all the room")  # noqa: B023
            assert story.screen.panes.shown == (pane,)
            await story.press("z")
            await story.until(lambda: story.screen.panes.shown == before, "all is as it was")  # noqa: B023


@medium
async def test_the_palette_goes_to_a_hook(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    for name in ("alpha", "zulu"):
        make_hook(workspace / "hooks", name, READY)
    async with console(size) as story:
        await story.press("ctrl+p", *"zulu")
        await story.shows("hook   zulu")
        await story.press("enter")
        await story.until(lambda: _selected(story) == "zulu", "zulu is selected")
        await story.press("escape")
        await story.shows("▸ zulu")


def _selected(story: Story) -> str:
    row = story.screen.state.row
    return row.name if row is not None else ""


@small
async def test_a_folder_that_is_not_a_hook_lists_no_gates(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    folder = make_hook(workspace / "hooks", "odd", READY)
    (folder / "HOOK.md").write_text("nothing of use")
    async with console(size) as story:
        await story.press("enter")
        await story.shows("This looks like a hook but is not")
        await story.press("enter")
        await story.shows("odd is not a hook: it has no checks.")


@at_every_size
async def test_switching_modes_moves_and_restores_the_focus(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    settings(home, "{}")
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        for key, pane in (("3", "log"), ("1", "list"), ("2", "fire"), ("1", "list")):
            await story.press(key)
            await story.focus_in(pane)


@large
async def test_an_event_can_be_fired_in_a_sandbox(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    writes = "def handler(event): open(event.context['workspaceDir'] + '/new.txt', 'w').write('one\\ntwo')"
    make_hook(workspace / "hooks", "greet", READY, writes)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f7")
        await story.shows("on copies", "1 file written")
        story.screen.query_one("#fire-run Waterfall").focus()
        await story.press("down")
        await story.shows("written", "– → 7 bytes", "+one")
    assert "new.txt" not in os.listdir(workspace)


@small
async def test_one_key_changes_the_dialect_shown_in_the_header(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, file="handler.ts")
    async with console(size) as story:
        await story.shows("host openclaw")
        await story.press("D")
        for version in ("2026.9", "2026.7", "2026.6", "2026.3"):
            await story.shows(f"host openclaw@{version}", "✗ broken")
            await story.press("D")
        await story.shows("host milady")
    async with console(size) as story:
        await story.shows("host milady")
        await story.press("0")
        await story.until(lambda: dialect_of(story) == "openclaw", "the detected dialect")
        await story.press("0")
        await story.shows("No assumptions")
    async with console(size) as story:
        await story.shows("host openclaw")


def dialect_of(story: Story) -> str:
    view = story.screen.state.view
    return view.host.dialect.name if view is not None else ""


async def test_the_first_esc_never_leaves_a_mode(console: Open) -> None:
    async with console() as story:
        for mode in ("3", "2"):
            await story.press(mode, "escape")
            await story.shows("Press esc again to go back to Hooks.")
            assert story.screen.state.mode != "hooks"
            await story.press("escape")
            await story.until(lambda: story.screen.state.mode == "hooks", "the list again")
        await story.press("2")
        await story.until(lambda: bool(story.screen.query(JsonEditor)), "the composer is there")
        story.screen.query_one(JsonEditor).focus()
        await story.press("escape")
        assert isinstance(story.screen.focused, KeyField)
        assert story.screen.state.mode == "fire"
        await story.press("escape")
        await story.until(lambda: story.screen.state.mode == "hooks", "the list again")


@at_every_size
async def test_one_key_fires_at_the_selected_hook_alone_and_shows_its_result(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    for name in ("greet", "other"):
        make_hook(
            workspace / "hooks", name, READY, f"def handler(event): event.messages.append('{name} ran')"
        )
    trusted(workspace)
    async with console(size) as story:
        await story.shows("● ready")
        await story.press("ctrl+r")
        await story.shows("Run 1", "1 handler ran", "greet ran")
        assert "other ran" not in story.text()
        await story.until(lambda: isinstance(story.screen.focused, Waterfall), "the run has the focus")
        await story.press("escape")
        await story.until(lambda: isinstance(story.screen.focused, KeyField), "the event has it again")


async def test_the_composed_event_fires_from_the_log(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    trusted(workspace)
    async with console() as story:
        await at_fire(story)
        await story.press("3")
        await story.focus_in("log")
        await story.press("ctrl+r")
        await story.shows("[2 Fire]", "Run 1", "1 handler ran")


async def test_the_event_has_the_room_of_the_run_until_something_is_fired(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    trusted(workspace)
    async with console((120, 36)) as story:
        await at_fire(story)
        run = story.screen.query_one(RunPane)
        await story.until(lambda: run.size.height <= 2, "the empty run is small")
        await story.press("ctrl+r")
        await story.shows("Run 1", "1 handler ran")
        await story.until(lambda: run.size.height > 8, "the run has room")


@at_every_size
async def test_the_why_pane_begins_with_the_answer_and_the_steps_to_it(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    trusted(workspace)
    make_hook(workspace / "hooks", "needy", NEEDS)
    async with console(size) as story:
        await story.press("enter")
        await story.shows(
            "needy does not run on command:new: no-such-program is", "✓ precedence", "✗ requirements"
        )
        await story.shows("· message shown")
