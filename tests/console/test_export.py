"""Everything on the screen can be copied, and written to a file that is never overwritten unasked."""

import json
from html import escape
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story, at_fire
from textual.widgets import Input

from hookscope.app.console_files import masked_export, write_export
from hookscope.app.workbench import Workbench
from hookscope.console.controllers.export_controller import without_secrets
from hookscope.console.panes.fire.plan_view import PlanView
from hookscope.console.panes.fire.waterfall import Waterfall
from hookscope.model.failure import Refusal
from hookscope.storage.journal.redaction import Redaction
from hookscope.storage.journal.secrets import Secret


def test_secrets_are_masked_in_exported_text_and_json() -> None:
    document = {"context": {"apiKey": "hunter2-hunter2", "note": "with tea-time-99 in it"}}
    text, hidden = masked_export(
        "hunter2-hunter2 and tea-time-99\n", document, Redaction((Secret("TEA", "tea-time-99"),))
    )
    assert "hunter2" not in text + json.dumps(hidden)
    assert text == "${SECRET:CONTEXT_API_KEY} and ${SECRET:TEA}\n"
    assert hidden["context"]["note"] == "with ${SECRET:TEA} in it"


PICTURE = (
    "<svg><text x='1'>key&#160;</text><text x='2' class='b'>{}</text>"
    "<text>&#160;and&#160;{}&#160;&lt;</text></svg>"
)


@pytest.mark.parametrize(
    "value",
    ["correct-horse-battery-77", 'pa"ss <w>ord & it', "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"],
)
def test_secrets_cut_by_the_screen_edge_are_masked_in_pictures(value: str) -> None:
    redaction = Redaction((Secret("KEY", value),))
    first, second = (escape(part, quote=False).replace(" ", "&#160;") for part in (value, value[:12] + "…"))
    picture = without_secrets(PICTURE.format(first, second), redaction)
    dots = "•" * len(value)
    assert f"class='b'>{dots}</text>" in picture
    assert picture.endswith(f"{'•' * 12}…&#160;&lt;</text></svg>")
    assert "key&#160;</text>" in picture
    untouched = PICTURE.format("ordinary", "words")
    assert without_secrets(untouched, redaction) == untouched


def test_an_export_replaces_a_file_only_on_request(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write_export(file, "one", replace=False)
    with pytest.raises(Refusal, match="already"):
        write_export(file, "two", replace=False)
    assert file.read_text() == "one"
    write_export(file, "two", replace=True)
    assert file.read_text() == "two"
    for wrong in ("a", "a.exe", "no/such/folder.txt"):
        with pytest.raises(Refusal):
            write_export(tmp_path / wrong, "x", replace=True)


async def export(story: Story, name: str = "") -> None:
    """Press x, perhaps type another name, and enter."""
    await story.press("x")
    await story.until(lambda: len(story.app.screen_stack) == 2, "a file is asked for")
    await story.until(lambda: isinstance(story.app.focused, Input), "it can be typed")
    await story.press(*name, "enter")


async def test_a_run_is_shared_as_one_page_without_secrets(
    console: Open, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    handler = (
        "def handler(event):\n    event.context['apiKey'] = 'tea-time-99-tea'\n    raise ValueError('late')\n"
    )
    make_hook(workspace / "hooks", "greet", READY, handler)
    Workbench().trust(workspace / "hooks")
    async with console((120, 36)) as story:
        await story.press("at")
        await story.shows("Select a run first")
        await at_fire(story)
        await story.press("ctrl+r")
        fire = story.screen.panes.fire_pane
        await story.until(lambda: fire.run_view.runs.sheets and not story.screen.state.job, "the run is over")
        await story.press("escape", "at")
        await story.shows("Wrote run 1 as a web page, without secrets: ~/run-1.html")
        page = (home / "run-1.html").read_text()
        assert all(text in page for text in ("ValueError", "greet", "width=device-width"))
        assert not any(text in page for text in ("tea-time", "http://", "<script"))
        (home / "run-1.html").write_text("mine")
        await story.press("3", "end", "up", "at")
        await story.until((home / "run-1-2.html").exists, "the page has another name")
        assert ((home / "run-1.html").read_text(), (home / "run-1-2.html").read_text()) == ("mine", page)


async def test_an_export_contains_the_focused_pane(
    console: Open, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    Workbench().trust(workspace / "hooks")
    for name, metadata in (("greet", READY), ("other", "{openclaw: {events: [command]}}")):
        make_hook(
            workspace / "hooks",
            name,
            metadata,
            "def handler(event):\n    event.messages.append('hello you')\n",
        )
    async with console((120, 36)) as story:
        await story.press("slash", *"greet", "enter")
        await story.shows("Hooks 1/2")
        await export(story)
        await story.until((home / "hooks.json").exists, "the list is written")
        await story.shows("Exported the list of hooks to", "hooks.json")
        assert [hook["name"] for hook in json.loads((home / "hooks.json").read_text())["hooks"]] == ["greet"]
        await export(story)
        await story.shows("Press enter again to replace it")
        before = (home / "hooks.json").read_bytes()
        await story.press(*"h.txt", "enter")
        await story.until((home / "h.txt").exists, "the text is written")
        assert (home / "hooks.json").read_bytes() == before
        text = (home / "h.txt").read_text()
        assert "● ready" in text
        assert "other" not in text
        await story.press("enter")
        await story.focus_in("why")
        await export(story, "s.svg")
        await story.until((home / "s.svg").exists, "the picture is written")
        picture = (home / "s.svg").read_text()
        assert picture.startswith("<svg")
        assert picture.count("<text ") == picture.count('<text xml:space="preserve" ') > 0
        await story.press("2")
        fire = story.screen.panes.fire_pane
        await story.until(lambda: fire.event_view.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.until(lambda: story.text().count("/handler.py") == 2, "the plan is on the screen")
        files = [line.index("/handler.py") for line in story.lines() if "/handler.py" in line]
        assert len(set(files)) == 1, "whatever the hooks listen to, their files stand in one column"
        await story.press("ctrl+r")
        await story.until(lambda: fire.run_view.runs.sheets and not story.screen.state.job, "the run is over")
        await story.press("escape")  # from the run back to the event
        await story.until(
            lambda: not story.screen.query_one("#fire-run").has_focus_within, "the event has the focus"
        )
        await story.press("y")
        await story.shows("Copied the event")
        assert json.loads(story.app.clipboard)["senderId"] == "dev"
        await export(story)
        await story.until((home / "command-new.json").exists, "the event is written")
        assert json.loads((home / "command-new.json").read_text())["context"]["senderId"] == "dev"
        fire.query_one(Waterfall).focus()
        await story.until(lambda: fire.part_in_focus == "run", "the run has the focus")
        await export(story)
        await story.until((home / "run-1.json").exists, "the run is written")
        await story.shows("Exported run 1 to")
        run = json.loads((home / "run-1.json").read_text())
        assert {result["hook"] for result in run["results"]} == {"greet", "other"}
        fire.query_one(PlanView).focus()
        await story.until(lambda: fire.part_in_focus == "plan", "the plan has the focus")
        await story.press("y")
        await story.shows("Copied the plan.")
        assert "greet" in story.app.clipboard
        await story.press("3")
        await story.focus_in("log")
        await export(story, "l.txt")
        await story.until((home / "l.txt").exists, "the log is written")
        assert "run-1.json" in (home / "l.txt").read_text()
        await story.press("slash", *"nobody says this", "enter")
        await export(story, "none.txt")
        await story.until((home / "none.txt").exists, "the log is written as it is filtered")
        assert (home / "none.txt").read_text() == ""
        await story.press("escape")
        await story.press("4")
        await story.shows("openclaw", "milady")
        await story.focus_in("hosts")
        await export(story)
        await story.until((home / "hosts.json").exists, "the comparison is written")
        assert "openclaw" in json.loads((home / "hosts.json").read_text())["dialects"]
