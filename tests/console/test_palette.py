"""The command palette finds hooks, events, saved events and runs, among very many too."""

import re
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open
from textual import events

from hookscope.app.workbench import Workbench
from hookscope.console.dialogs.base_dialogs import best_matches, filtered

NAMES = st.text("ab c-:", max_size=8)


@given(NAMES, st.lists(st.tuples(NAMES, NAMES), max_size=12), st.integers(1, 5))
def test_the_palette_finds_matches_best_first(typed: str, named: list[tuple[str, str]], most: int) -> None:
    candidates = [(name, more, number) for number, (name, more) in enumerate(named)]
    found = best_matches(typed, candidates, most)
    scores = [score for score, _ in found]
    assert scores == sorted(scores, reverse=True)
    assert len(found) <= most
    words = typed.split()
    fitting = {number for name, more, number in candidates if all(word in f"{name} {more}" for word in words)}
    if len(candidates) <= most:
        assert fitting <= {number for _, number in found}
    for _, number in found:
        assert number in fitting or set("".join(words)) <= set(named[number][0])


def test_the_palette_ranks_names_before_descriptions() -> None:
    named = [
        ("greet", "says alpha", 1),
        ("my-alpha", "", 2),
        ("alphabet", "", 3),
        ("alpha", "", 4),
        ("a-l-p-h-a", "", 5),
    ]
    assert [number for _, number in best_matches("alpha", named)] == [4, 3, 2, 1, 5]


def test_the_palette_searches_ten_thousand_names() -> None:
    named = [(f"hook-{number:05}", "ready, workspace", number) for number in range(10_000)]
    for typed in ("h", "hook", "ready", "hk9"):
        assert best_matches(typed, named)
    assert best_matches("hook-09999", named)[0][1] == 9_999


async def test_the_palette_finds_saved_events_and_runs(
    console: Open, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    Workbench().trust(workspace / "hooks")
    make_hook(
        workspace / "hooks", "greet", READY, "def handler(event):\n    event.messages.append('hello')\n"
    )
    events = workspace / ".hookscope" / "events"
    events.mkdir(parents=True)
    (events / "monday.yaml").write_text("event: command:new\ncontext: {senderId: monday-ada}\n")
    async with console((120, 36)) as story:
        fire = story.screen.panes.fire_pane
        await story.press("ctrl+p", *"monday")
        await story.shows("saved  monday")
        await story.press("enter")
        await story.until(lambda: fire.event_view.loaded == events / "monday.yaml", "the event is loaded")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.until(lambda: fire.run_view.runs.sheets and not story.screen.state.job, "run 1 is over")
        await story.press("ctrl+r")
        await story.until(
            lambda: len(fire.run_view.runs.sheets) == 2 and not story.screen.state.job, "run 2 is over"
        )
        await story.press("1", "ctrl+p", *"edit")
        await story.until(
            lambda: re.search(r"E +Edit .* Hooks ", story.text()), "three parts have such an action"
        )
        await story.until(
            lambda: re.search(r"E +Edit .* a run ", story.text()), "its place is at the end of the line"
        )
        await story.press("escape", "ctrl+p", *"run 1")
        await story.shows("run    1  command:new")
        await story.press("enter")
        await story.until(
            lambda: fire.run_view.runs.shown == 1 and story.screen.state.mode == "fire", "run 1 is shown"
        )
        del fire.run_view.runs._sheets[1]  # as after fifty more: the journal has it
        fire.run_view.runs.shown = 2
        await story.press("ctrl+p", *"run 1")
        await story.shows("run    1  command:new")
        await story.press("enter")
        await story.until(lambda: fire.run_view.runs.shown == 1, "run 1 is called back")
        assert [sheet.number for sheet in fire.run_view.runs.sheets] == [1, 2]
        assert fire.run_view.runs.sheets[0].at < datetime.now(UTC)
        await story.shows("hello")


async def test_an_empty_palette_lists_actions_of_the_pane_first(console: Open) -> None:
    async with console((80, 24)) as story:
        await story.press("ctrl+p")
        await story.shows("Why the selected hook has its status · hookscope info NAME")  # whole, below
        await story.press("down")
        await story.shows("Hooks · Compose a test event for the selected hook · hookscope fire")
        await story.press("up")
        await story.shows("Find", "enter run", "esc back", "Trust the f")
        listed = re.findall(r"(enter|\b[a-z]+) +(Why|Fire|On/off|Fix|Undo|Trust)\b   ", story.text())
        assert listed == [
            ("enter", "Why"),
            ("f", "Fire"),
            ("space", "On/off"),
            ("e", "Fix"),
            ("u", "Undo"),
            ("t", "Trust"),
        ]


async def test_letters_typed_quickly_into_the_palette_are_all_searched(console: Open) -> None:
    """Each cancels the search for the one before, while the entries are still collected."""
    async with console() as story:
        await story.until(lambda: story.screen.state.view is not None, "the first look is there")
        for key in ("ctrl+p", *"screensh"):
            story.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await story.shows("the screen as an SVG picture")


async def test_enter_right_after_typing_runs_the_typed_command(console: Open) -> None:
    async with console() as story:
        await story.until(lambda: story.screen.state.view is not None, "the first look is there")
        for key in ("ctrl+p", *"screens", *["backspace"] * 7, *"log everything since", "enter"):
            key = "space" if key == " " else key
            story.app.post_message(events.Key(key, " " if key == "space" else key if len(key) == 1 else None))
        await story.until(lambda: story.screen.state.mode == "log", "what fits what was typed last is done")
        await story.press("ctrl+p", *"nobody knows this")
        await story.shows("No matches.")
        await story.press("enter", *["backspace"] * 17, *"all hooks", "pagedown", "up", "up", "down", "f1")
        await story.shows("Help", "A page down")
        await story.press("escape")
        line = next(y for y, line in enumerate(story.lines()) if "1      Hooks" in line)
        await story.pilot.click(offset=(20, line))
        await story.until(lambda: story.screen.state.mode == "hooks", "click to run")
        assert len(story.app.screen_stack) == 1


def test_lists_filter_by_letters_and_exclude_with_an_exclamation_mark() -> None:
    named = [("deploy-note", "ready", 1), ("deploy-old", "off", 2), ("greet", "ready", 3)]
    assert filtered("dpn", named) == (1,)
    assert filtered("deploy !off", named) == (1,)
    assert filtered("!ready", named) == (2,)
    assert filtered("", named) == (1, 2, 3)


async def test_the_palette_previews_a_theme_and_keeps_only_a_chosen_one(console: Open) -> None:
    async with console((80, 24)) as story:
        before = story.app.theme
        await story.press("ctrl+p", *"hookscope", "minus", *"light")
        await story.until(lambda: story.app.theme == "hookscope-light", "it is previewed")
        await story.press("escape")
        await story.until(lambda: story.app.theme == before, "it was only looked at")
        await story.press("ctrl+p", *"hookscope", "minus", *"light")
        await story.until(lambda: story.app.theme == "hookscope-light", "it is previewed")
        await story.press("enter")
        await story.until(lambda: len(story.app.screen_stack) == 1, "it is chosen")
        assert story.app.theme == "hookscope-light"


async def test_themes_are_listed_from_our_own_with_their_brightness(console: Open) -> None:
    async with console((80, 24)) as story:
        await story.press("ctrl+p", *"theme")
        await story.until(
            lambda: re.search(r"▸ theme  hookscope  +dark, current", story.text()), "ours first"
        )
        await story.shows("hookscope-light")
        assert re.search(r"hookscope-light +light ", story.text())
