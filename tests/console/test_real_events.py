"""What a running agent sends, in the console: seen as it comes, opened, fired again, saved, summed up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import SIZES, Open, Story, sent
from tests.console.test_runs_of_other_programs import fired_in_a_shell

from hookscope.app.workbench import Workbench
from hookscope.console.panes.fire.waterfall import Waterfall
from hookscope.console.panes.log_view import LogView

GREET = """
def handler(event):
    who, mark = event.context["senderId"], sorted(event.context["replayed"])
    event.messages.append(f"hello {who}, {mark}")
"""


async def at_the_log(story: Story) -> None:
    await story.press("3")
    await story.until(lambda: isinstance(story.screen.focused, LogView), "the log has the focus")


@pytest.mark.parametrize("size", SIZES[:2], ids=str)
async def test_a_recorded_event_is_listed_opened_fired_and_saved(
    console: Open, size: tuple[int, int], workspace: Path, spool: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command:new]}}", GREET)
    Workbench().trust(workspace / "hooks")
    sent(spool, "command:stop", {"senderId": "before"})
    async with console(size, dialect="openclaw") as story:
        await at_the_log(story)
        await story.shows("≈ real", "command:st")
        sent(spool, "command:new", {"senderId": "Ada ${HOME}"}, left_out=["cfg"])
        log = story.screen.query_one(LogView)
        await story.until(lambda: log.entry and log.entry.subject == "command:new", "it is in the log")
        await story.press("ctrl+s")
        await story.shows("Saved as command-new-")
        (file,) = (workspace / ".hookscope" / "events").glob("command-new-*.yaml")
        assert (
            file.read_text() == 'event: command:new\ncontext:\n  senderId: "Ada $${HOME}"\n  cfg: "${cfg}"\n'
        )
        await story.press("end", "up", "enter")
        await story.until(lambda: story.screen.panes.fire_pane.event_view.event, "the composer has it")
        event = story.screen.panes.fire_pane.event_view.event
        assert event is not None
        assert (event.key, event.context["cfg"]) == ("command:new", {})
        assert set(event.context["replayed"]) == {"real", "at"}
        await story.shows("on copies", "hello Ada ${HOME}, ['at', 'real']")
        await story.until(lambda: not story.screen.state.job, "the run is over")


async def test_the_tap_is_installed_from_the_log_and_a_real_event_is_replayed_on_copies(
    console: Open, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    make_hook(
        workspace / "hooks",
        "note",
        "{openclaw: {events: [command:new]}}",
        "from pathlib import Path\n"
        "def handler(event):\n"
        "    (Path(__file__).parents[2] / 'note.txt').write_text('noted')\n"
        "    event.context['noted'] = 'yes'\n",
    )
    Workbench().trust(workspace / "hooks")
    async with console((120, 36), dialect="openclaw") as story:
        await at_the_log(story)
        await story.press("T")
        await story.shows("Install the tap?", "event-tap", "Events go to")
        await story.press("escape")
        await story.hides("Install the tap?")
        assert not (home / ".openclaw" / "hooks" / "event-tap").exists()
        await story.press("T")
        await story.shows("Install the tap?")
        await story.press("w")
        await story.shows("The tap is installed", "new: ◇ untrusted")
        spool = home / ".openclaw" / "hookscope" / "events.jsonl"
        sent(spool, "command:new", {"senderId": "Ada"})
        log = story.screen.query_one(LogView)
        await story.until(lambda: log.entry and log.entry.real, "it streams in")
        await story.shows("enter replays it on copies of your files: note", '"senderId": "Ada"')
        await story.press("enter")
        await story.shows("on copies", "1 file written")
        assert isinstance(story.screen.focused, Waterfall)
        await story.until(lambda: not story.screen.state.job, "the run is over")
        assert not (workspace / "note.txt").exists()
        await story.press("3", "v")
        await story.shows("1 event: 1 real, 0 fired", "command:new · ≈ real · replayed as run 1")
        await story.shows("✓ note", '+ context.noted = "yes"')


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_session_is_shown_as_a_conversation(
    console: Open, size: tuple[int, int], workspace: Path, spool: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command:new]}}", GREET)
    make_hook(
        workspace / "hooks", "guard", "{openclaw: {events: [command:new]}}", "def handler(event): 1 / 0"
    )
    Workbench().trust(workspace / "hooks")
    sent(spool, "message:received", {"from": "Ada", "content": "Please [/deploy] it"})
    sent(spool, "before_tool_call", {"toolName": "exec", "params": {"command": "make"}}, kind="plugin")
    sent(spool, "message:sent", {"content": "Done."}, session="another")
    async with console(size, dialect="openclaw") as story:
        await at_the_log(story)
        log = story.screen.query_one(LogView)
        await story.until(lambda: log.line_count == 4, "the real events are there")
        await story.press("end", "v")
        await story.shows(
            "Session another   2 of 2", "1 event: 1 real", "out", "Done.", "a replay would call no hook"
        )
        await story.press("left_square_bracket")
        await story.shows("Session agent:main:main   1 of 2", "in       Ada: Please [/deploy] it")
        await story.shows("tool     exec: command=make")
        await story.press("escape", "1", "2")
        await story.until(lambda: story.screen.state.draft.event, "an event is composed")
        await story.press("f5")
        runs = story.screen.panes.fire_pane.run_view.runs
        await story.until(lambda: runs.sheets and not story.screen.state.job, "the run is over")
        await story.press("3", "end", "v")
        await story.shows("3 events: 2 real, 1 fired", "2 handlers ran in ", "✗ 2 failed")
        await story.shows("command  ", "✗ greet", "✗ guard", "enter run")
        (selected,) = [line for line in story.lines() if "│ ▸ " in line or "│  ▸ " in line]
        assert "command  " in selected  # the first line of the newest event
        await story.press("home")
        await story.shows("enter replay on copies")
        await story.press("end")
        await story.press("enter")
        await story.shows("Run 1")


async def test_earlier_events_and_runs_are_listed_in_order_of_time(
    console: Open, workspace: Path, spool: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command:new]}}", GREET)
    Workbench().trust(workspace / "hooks")
    sent(spool, "message:received", {"content": "long ago"}, at="2020-01-02T12:00:00.000Z")
    sent(spool, "message:received", {"content": "before the run"})
    fired_in_a_shell(workspace, 1)
    sent(spool, "message:received", {"content": "after the run"})
    async with console((120, 36), dialect="openclaw") as story:
        await at_the_log(story)
        await story.shows("agent:main:main · 2 Jan", "before the run", "run 1 ✗", "after the run", "ready")
        rows = [story.text().find(text) for text in ("before the run", "run 1 ✗", "after the run", "scan  ")]
        assert rows == sorted(rows)


async def test_an_open_session_shows_new_events_and_keeps_its_place(
    console: Open, workspace: Path, spool: Path
) -> None:
    for number in range(12):
        sent(spool, "message:received", {"from": "Ada", "content": f"question {number}"})
    async with console((80, 24), dialect="openclaw") as story:
        await at_the_log(story)
        await story.shows("question 11")
        await story.press("v")
        await story.shows("12 events: 12 real", "question 11")
        sent(spool, "message:sent", {"content": "the first answer"})
        await story.shows("13 events: 13 real", "the first answer")
        await story.press("home", "down", "down", "down")
        await story.shows("▸ ")
        selected = next(line for line in story.lines() if "▸ " in line)
        sent(spool, "message:sent", {"content": "the second answer"})
        await story.shows("14 events: 14 real")
        assert selected in story.lines(), "the line being read stays in place"
        assert "the second answer" not in story.text()


async def test_the_lists_of_recorded_events_can_be_copied(
    console: Open, workspace: Path, spool: Path, make_hook: MakeHook
) -> None:
    for name in ("typo", "twin"):
        make_hook(workspace / "hooks", name, "{openclaw: {events: [command:nwe]}}")
    sent(spool, "message:received")
    sent(spool, "message:received")
    async with console((120, 36), dialect="openclaw") as story:
        await at_the_log(story)
        await story.press("T")
        await story.shows("Live agent", "unchanged", "2 events", "Subscribed, never seen", "command:nwe")
        await story.shows("twin, typo", "Seen, no subscriber", "2 ×")
        await story.press("y", "escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "it is closed")
        assert "command:nwe" in story.app.clipboard


async def test_without_a_tap_the_keys_explain_it(console: Open, workspace: Path) -> None:
    async with console((80, 24)) as story:
        await at_the_log(story)
        await story.press("ctrl+s")
        await story.shows("not a real event")
        await story.press("T")
        await story.shows("hookscope tap install", "Nothing was recorded yet")
        await story.hides("has not loaded it")


async def test_hostile_recorded_events_are_shown_literally(
    console: Open, workspace: Path, spool: Path
) -> None:
    sent(spool, "command:[/x]", {"text": "\x1b[2J[@click=app.quit]x[/]\u202e"}, session="\x1b]0;x\x07[/")
    sent(spool, "message:sent", {"text": "x" * 100_000}, cut=3)
    with spool.open("ab") as file:
        file.write(b"\xff garbage\n")
    async with console((120, 36), dialect="openclaw") as story:
        await at_the_log(story)
        await story.shows("command:[/x]", "shortened")
        sent(spool, "command:new")
        with spool.open("ab") as file:
            file.write(b"\xff more garbage\n")
        await story.shows("1 invalid line")
        await story.press("home", "enter", "y", "T", "escape")
        await story.hides("\x1b")
        await story.hides("\u202e")


async def test_another_dialect_reads_another_spool(
    console: Open, workspace: Path, home: Path, spool: Path
) -> None:
    (home / ".milady" / "hookscope").mkdir(parents=True)
    sent(home / ".milady" / "hookscope" / "events.jsonl", "session:end", host="milady")
    async with console((120, 36), dialect="openclaw") as story:
        await at_the_log(story)
        story.screen.bridge.bench.use_dialect("milady")
        story.screen.bridge.scan()
        await story.shows("session:end")


async def test_an_event_deleted_from_the_spool_is_reported(
    console: Open, workspace: Path, spool: Path
) -> None:
    sent(spool, "command:new")
    async with console((120, 36), dialect="openclaw") as story:
        await at_the_log(story)
        await story.shows("≈ real", "1 hook ")
        os.rename(spool, f"{spool}.gone")
        await story.press("home")
        entry = story.screen.query_one(LogView).entry
        assert entry is not None
        await story.press(*([] if entry.subject == "command:new" else ["down"]), "enter")
        await story.shows("is recorded here")
