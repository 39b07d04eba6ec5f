"""From an event to a test, by hand: saved, compared with what it expects, accepted, loaded again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story, small
from tests.console.test_reload import saved

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.saved_events import read_draft
from hookscope.cli.main import exit_code
from hookscope.console.dialogs.saved_events import file_name_problem
from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.run_pane import RunPane
from hookscope.console.panes.fire.waterfall import Waterfall

GREETS = "def handler(event):\n    event.messages.append('Hello ' + event.context['who'])\n"
BROKEN = GREETS.replace("'who'", "'whom'")
SHOUTS = GREETS.replace("Hello", "HELLO")


async def composed(story: Story, text: str = '{"who": "Ada"}') -> None:
    """An event of command:new with this context, the focus out of its editor."""
    await story.press("f")
    await story.focus_in("fire")
    editor = story.screen.query_one(JsonEditor)
    editor.rewrite(text)
    await story.until(
        lambda: story.screen.state.draft.event and "who" in story.screen.state.draft.event.context,
        "it is read",
    )


async def kept(story: Story, name: str) -> None:
    """Saved under this name."""
    await story.press("ctrl+s")
    await story.shows("Save event as")
    await story.press(*["backspace"] * 20, *name, "enter")
    await story.shows(f"Event   {name}.yaml")


async def command_line(workspace: Path) -> int:
    """The exit code of `hookscope test`."""
    arguments = ["--workspace", str(workspace), "--bundled", str(workspace / "none"), "test"]
    return await asyncio.to_thread(exit_code, arguments)


@small
async def test_a_failing_fire_becomes_a_test_of_the_handler(
    console: Open,
    size: tuple[int, int],
    workspace: Path,
    make_hook: MakeHook,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (workspace / "none").mkdir()
    handler = make_hook(workspace / "hooks", "greet", READY, BROKEN) / "handler.py"
    Workbench(Options(workspace=workspace)).trust(workspace)
    file = workspace / ".hookscope/events/hello.yaml"
    async with console(size, watches=True) as story:
        await composed(story)
        await kept(story, "hello")
        story.screen.query_one(JsonEditor).focus()
        await story.until(lambda: isinstance(story.screen.focused, JsonEditor), "letters are typed")
        await story.press("ctrl+r")  # fire, see it fail: the editor makes room for that
        await story.shows("1 of 1 failed", "KeyError: 'whom'", "❱ 2 │")
        story.screen.query_one("#fire-run Waterfall").focus()
        await story.press("f6")
        await story.shows("↻ on save: command:new")
        await saved(story, handler, GREETS, lambda: "greet ✗ → ✓" in story.text())  # fix it: green
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.shows("hello.yaml has no expectations yet")
        await story.press("A")  # accept as expectation
        await story.shows("Accept these results?", '+  messages: ["Hello Ada"]')
        await story.press("w")
        await story.shows("✓ matches hello.yaml")
        title = str(story.screen.query_one(RunPane).border_title)
        assert "✓ matches hello.yaml" in title
        assert 'messages: ["Hello Ada"]' in file.read_text()
        assert await command_line(workspace) == 0
        await saved(story, handler, SHOUTS, lambda: " from hello.yaml" in story.text())
        await story.shows("✗ 1 differs from hello.yaml", "- Hello Ada", "+ HELLO Ada")
    capsys.readouterr()
    assert await command_line(workspace) == 1
    told = capsys.readouterr().out
    assert "- Hello Ada" in told
    assert "+ HELLO Ada" in told


async def test_saving_a_changed_event_keeps_its_expectations(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((120, 36)) as story:
        await composed(story)
        await kept(story, "hello")
        file = workspace / ".hookscope/events/hello.yaml"
        file.write_text(file.read_text() + "expect: {messages: 1}  # mine\n")
        story.screen.query_one(JsonEditor).rewrite('{"who": "Bob", "n": [1, null], "cfg": "${cfg}"}')
        await story.shows("hello.yaml • changed")
        await story.press("ctrl+s")
        await story.until(lambda: "• changed" not in story.text(), "it is saved")
        assert read_draft(file).context == {"who": "Bob", "n": [1, None], "cfg": "${cfg}"}
        assert file.read_text().endswith("expect: {messages: 1}  # mine\n")
        await story.press("ctrl+r")
        await story.shows("✓ matches hello.yaml")
        await story.press("ctrl+s")
        await story.shows("is up to date")


async def test_accepting_saves_the_event_first(console: Open, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((80, 24)) as story:
        await composed(story)
        await story.press("A")
        await story.shows("Nothing was fired yet")
        await story.press("ctrl+r")
        await story.shows("1 handler ran")
        await story.press("A")
        await story.shows("Save event as")
        await story.press(*["backspace"] * 20, *"hello", "enter")
        await story.shows("Accept these results?", '+  messages: ["Hello Ada"]')
        await story.press("w")
        await story.shows("✓ matches hello.yaml")
        story.screen.query_one(JsonEditor).rewrite('{"who": "Bob"}')
        await story.shows("hello.yaml • changed")
        await story.press("ctrl+r")
        await story.shows("Run 2", "Hello Bob")
        story.screen.query_one(JsonEditor).rewrite('{"who": "Eve"}')
        await story.press("A")
        await story.shows("Run 2 has no saved event. Press ^r to fire this event, then A.")


async def test_all_saved_events_are_tested_from_their_list_and_one_is_loaded(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    folder = workspace / ".hookscope/events"
    folder.mkdir(parents=True)
    (folder / "good.yaml").write_text("event: command:new\ncontext: {who: Ada}\nexpect: {messages: 1}\n")
    (folder / "missed.yaml").write_text(
        "event: command:new\ncontext: {who: Ada}\nexpect: {messages: [Bye*]}\n"
    )
    (folder / "no[b]thing.yaml").write_text("- 1\n")
    async with console((80, 24)) as story:
        await story.press("2")
        await story.focus_in("fire")
        composer = story.screen.query_one(Composer)
        composer.sheet.rewrite('{"who": "written by hand"}')
        composer.read()
        await story.press("f2")
        await story.shows("Saved events", "good", "missed", "no[b]thing", "✗ cannot be read")
        await story.press("f5")
        await story.shows("✓ as expected", "✗ 1 failed")
        await story.press("down")
        await story.shows("- Bye*", "+ Hello Ada")
        await story.press(*"goo", "enter")
        await story.shows("Event   good.yaml")
        assert story.screen.panes.fire_pane.event_view.loaded == folder / "good.yaml"
        event = story.screen.state.draft.event
        assert event is not None
        assert event.context == {"who": "Ada"}
        await story.shows("Your text for command:new is kept")
        await story.press("ctrl+@", *"command:new", "enter")
        await story.until(lambda: "written by hand" in composer.draft.text, "it is there again")
        await story.shows("Your text was restored")
        await story.press("ctrl+@", *"command:reset", "enter")
        await story.until(lambda: composer.draft.key == "command:reset", "another event")
        assert "written by hand" in composer.draft.text, "as before: what is written goes on to another event"


async def test_a_run_can_be_accepted_although_a_hook_could_not_run(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    make_hook(workspace / "hooks", "half-done", READY, "def handler(event):\n    return event[\n")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((120, 36)) as story:
        await composed(story)
        await kept(story, "hello")
        await story.press("ctrl+r")
        await story.shows("hello.yaml has no expectations yet")
        await story.press("A")
        await story.shows("Accept as is? Not every hook could run", '+  messages: ["Hello Ada"]')
        await story.press("w")
        await story.shows("✗ 1 hook could not run; the rest matches hello.yaml")
        await story.press("A")
        await story.shows("already expects these results. It still fails: half-done")


async def test_undo_reverts_saved_events_and_accepted_expectations(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    file = workspace / ".hookscope/events/hello.yaml"
    async with console((120, 36)) as story:
        await composed(story)
        await kept(story, "hello")
        made = file.read_text()
        await story.press("ctrl+r")
        await story.shows("hello.yaml has no expectations yet")
        await story.until(lambda: "Older" not in story.lines()[-1], "there is one run alone")
        await story.until(lambda: "Newer" not in story.lines()[-1], "line -1 is without it")
        await story.press("A")
        await story.shows("Accept these results?")
        await story.press("w")
        await story.shows("✓ matches hello.yaml")
        story.screen.query_one("#fire-run Waterfall").focus()
        await story.press("u")
        await story.shows(
            "Undone: accept the results of the run in hello.yaml", "hello.yaml has no expectations yet"
        )
        assert file.read_text() == made
        story.screen.query_one(JsonEditor).rewrite('{"who": "Bob"}')
        await story.shows("hello.yaml • changed")
        await story.press("ctrl+s")
        await story.until(lambda: "• changed" not in story.text(), "it is saved")
        await story.press("u")
        await story.shows("hello.yaml • changed")
        assert file.read_text() == made
        await story.press("u")
        await story.until(lambda: "hello.yaml" not in story.lines()[3], "it is of no file")
        await story.until(lambda: not file.exists(), "the file is gone")
        await story.until(lambda: "hello.yaml expects" not in story.text(), "the run is of no file")
        await story.press("A")
        await story.shows("has no saved event")
        await story.press("u")
        await story.shows("There is nothing to undo.")


@pytest.mark.parametrize("name", ["", "../out", "/etc/x", ".hidden", "~me", "a\\b", "a\nb"])
def test_file_names_that_leave_the_folder_are_refused(name: str) -> None:
    assert file_name_problem(name)


@pytest.mark.parametrize("name", ["hello", "new-session", "team/hello", "grüße"])
def test_other_file_names_are_accepted(name: str) -> None:
    assert file_name_problem(name) == ""


async def test_two_runs_are_compared_side_by_side(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    handler = make_hook(workspace / "hooks", "greet", READY, GREETS) / "handler.py"
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((120, 36)) as story:
        await composed(story)
        await story.press("ctrl+r")
        await story.shows("Run 1")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.press("d")
        await story.shows("is the only run of command:new")
        handler.write_text(SHOUTS + "    event.context['[/seen]'] = 1\n")
        await story.press("r")
        await story.shows("Run 2")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.press("d")
        await story.shows(
            "Compare runs   command:new", "run 1", "run 2", "Hello Ada", "HELLO Ada", "context [/seen]"
        )
        await story.hides("handler greet")
        await story.press("escape")
        await story.press("r")
        await story.shows("Run 3")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.press("d")
        await story.shows("The runs are equal.")
        await story.press("left_square_bracket")
        await story.shows("context [/seen]")
        await story.press("left_square_bracket")
        await story.shows("There is no older run")


async def test_a_run_can_be_replayed_from_a_handler(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    first = make_hook(workspace / "hooks", "a-first", READY, "def handler(event): event.context['n'] = 1\n")
    second = "def handler(event): event.messages.append(f\"n is {event.context.get('n')}, {REST}\")\n"
    make_hook(
        workspace / "hooks", "b-second", READY, second.replace("{REST}", "{'replayed' in event.context}")
    )
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((120, 36)) as story:
        await composed(story)
        await story.press("ctrl+r")
        await story.shows("Run 1")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        (first / "handler.py").write_text("def handler(event): event.context['n'] = 2\n")
        story.screen.query_one("#fire-run Waterfall").focus()
        await story.press("down", "J")
        await story.shows("Compare runs", "run 1", "run 2", "n is 1, False", "n is 1, True")
        await story.hides("handler a-first")
        await story.press("escape", "Y")
        await story.shows("run 3", "n is 2, True")


async def test_a_replay_from_a_handler_does_not_count_skipped_ones(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    for name in ("a-first", "b-second", "c-third"):
        source = f"def handler(event): event.messages.append('{name}, ' + str('replayed' in event.context))\n"
        make_hook(workspace / "hooks", name, READY, source)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((120, 36)) as story:
        await composed(story)
        await story.press("b")
        await story.shows("waits before a-first")
        await story.press("minus")
        await story.shows("waits before b-second")
        await story.press("C")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        waterfall = story.screen.query_one("#fire-run Waterfall", Waterfall)
        waterfall.focus()
        await story.shows("✓ 2 handlers ran")
        await story.press("home")
        await story.until(lambda: waterfall.cursor == 0, "the cursor is on the first")
        await story.press("J")
        await story.shows("a-first did not run")
        await story.press("down", "J")
        await story.shows("Compare runs", "run 1", "run 2", "b-second, False", "b-second, True")


def sequence(workspace: Path, name: str, text: str) -> None:
    """A sequence of a workspace whose hooks may run."""
    Workbench(Options(workspace=workspace)).trust(workspace)
    folder = workspace / ".hookscope/sequences"
    folder.mkdir(parents=True)
    (folder / f"{name}.yaml").write_text(text)


async def fired_sequence(story: Story, name: str, *listed: str) -> None:
    """Choose it in the list of the Fire mode."""
    await story.press("2")
    await story.focus_in("fire")
    await story.press("s")
    await story.shows(*listed)
    await story.press(*name, "enter")


async def test_a_sequence_is_fired_step_after_step(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    sequence(
        workspace,
        "twice",
        "steps:\n"
        "  - {event: command:new, context: {who: Ada}, expect: {messages: [Hello Ada]}}\n"
        "  - {after: 10ms, event: command:new, context: {who: Bob}, expect: {messages: [Bye*]}}\n",
    )
    async with console((120, 36)) as story:
        listed = ("Saved events and sequences", "twice", "2 steps", "shipped")
        await fired_sequence(story, "twice", *listed)
        await story.shows("Run 2", "✗ 1 differs from twice.yaml", "- Bye*", "+ Hello Bob")
        await story.shows("The sequence twice has ended, with failed expectations.")
        await story.press("left_square_bracket")
        await story.shows("Run 1", "✓ matches twice.yaml")
        await story.press("s")
        await story.press(*"twice", "f5")
        await story.shows("✗ ")


async def test_a_sequence_ending_without_subscribers_shows_the_previous_run(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    steps = "steps:\n  - {event: command:new, context: {who: Ada}}\n  - {event: command:reset}\n"
    sequence(workspace, "quiet", steps)
    async with console((120, 36)) as story:
        await fired_sequence(story, "quiet", "quiet")
        await story.shows("The sequence quiet has ended.", "✓ 1 handler ran", "Hello Ada")
