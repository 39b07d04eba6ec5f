"""Firing otherwise: forced, with a fault in a handler's place, several times, on copies."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story, at_fire, small

from hookscope.analysis.order_search import FEWEST_RUNS
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.dialogs.fire_options import change_option, option_lines
from hookscope.console.state.fire_requests import FireOptions

GREETS = "def handler(event):\n    event.messages.append('hello')\n"
GROWS = """
from pathlib import Path


def handler(event):
    with (Path(__file__).parent / "notes.txt").open("a") as notes:
        notes.write("once more\\n")
"""


async def over(story: Story, number: int) -> None:
    await story.shows(f"Run {number}")
    await story.until(lambda: not story.screen.state.job, "the run is over")


@small
async def test_an_injected_fault_shows_how_other_handlers_react(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "audit", READY, GREETS)
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await at_fire(story)
        await story.press("o")
        await story.shows("Fire options   command:new", "a fault instead of its handler")
        await story.press("down", "down", "right", "down", "left")  # break audit with exit
        await story.shows("its process exits")
        await story.press("enter")
        await over(story, 1)
        await story.shows("1 of 2 failed", "broken on purpose: exit")
        await story.press("ctrl+r")
        await over(story, 2)
        await story.shows("2 handlers ran")


async def test_run_anyway_runs_a_disabled_hook(console: Open, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    make_hook(workspace / "hooks", "other", "{openclaw: {events: [gateway:startup]}}", GREETS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((80, 24)) as story:
        await at_fire(story)
        await story.press("f3", "left")  # at the last one
        await story.shows("◂ other ▸", "only if ready")
        y, line = next((y, line) for y, line in enumerate(story.lines()) if "◂ other" in line)
        await story.pilot.click(offset=(line.index("◂"), y))
        await story.shows("◂ greet ▸")
        await story.pilot.click(offset=(line.index("◂") + 4, y))
        await story.shows("◂ other ▸")
        await story.press("down", "space", "f5")
        await over(story, 1)
        await story.shows("1 handler ran", "forced")


async def test_repeated_fires_report_growing_files(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(workspace / "hooks", "notes", READY, GROWS)
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((80, 24)) as story:
        await at_fire(story)
        await story.press(
            "o", "down", "down", "down", "down", "right", "right", "down", "down", "right", "enter"
        )
        await story.shows("command:new   3 times", "greet", "= does the same", "notes.txt", "↑ grows")
        assert not (folder / "notes.txt").exists()
        await story.press("escape")
        await story.shows("Run 3")


NEEDS = "def handler(event):\n    event.messages.append(event.context['user'])\n"
SETS = "def handler(event):\n    event.context['user'] = 'ada'\n"


@small
async def test_shuffled_orders_report_interfering_handlers(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "auth", READY, SETS)
    make_hook(workspace / "hooks", "greet", READY, NEEDS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await at_fire(story)
        await story.press("o", "down", "down", "down", "down", "down", "right")
        await story.shows("◂ 25 ▸", "◂ shuffled ▸", "finds handlers that interfere")
        await story.press("enter")
        await story.shows("command:new   4 times", "The order matters: 1 finding in all 2 orders")
        await story.shows("greet fails (KeyError: 'user') unless auth runs before it.")
        await story.press("escape")
        await story.shows("Run 4")
        await story.press("3")
        await story.shows("greet fails (KeyError")  # it is in the log when the report is closed


async def test_one_handler_cannot_be_shuffled(console: Open, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((80, 24)) as story:
        await at_fire(story)
        await story.press("o", "down", "down", "down", "down", "down", "right", "enter")
        await story.shows("There is nothing to shuffle: only greet runs")


async def test_a_fault_for_a_hook_that_is_not_called_is_refused(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREETS)
    async with console((80, 24)) as story:  # untrusted: nobody would be called
        await at_fire(story)
        await story.press("o", "down", "down", "right", "right")
        await story.shows("◂ none ▸")


async def test_fuzzing_finds_the_smallest_failing_event_and_loads_it(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    source = "def handler(event):\n    event.context['senderId'].upper()\n"
    make_hook(workspace / "hooks", "greet", READY, source)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((80, 24)) as story:
        await at_fire(story)
        await story.press("Z")
        await story.shows("Fuzz   command:new", "KeyError: 'senderId'", "the smallest event: {}")
        await story.press("enter")
        await story.shows("Event   fuzz-command-new-greet.yaml")
        await story.press("ctrl+r")
        await story.shows("1 of 1 failed", "differs from fuzz-command-new-greet.yaml")


WAYS = st.lists(st.tuples(st.integers(0, 8), st.sampled_from([1, -1])), max_size=30)


@given(WAYS, st.lists(st.text(max_size=5), unique=True, max_size=3))
def test_every_combination_of_fire_options_can_be_fired(
    turns: list[tuple[int, int]], hooks: list[str]
) -> None:
    chosen = FireOptions()
    for line, by in turns:
        chosen = change_option(chosen, line, by, hooks, hooks)
        assert len(option_lines(chosen)) == 9
        assert chosen.only in (None, *hooks)
        assert chosen.broken in (None, *hooks)
        assert chosen.only is not None or not chosen.forced
        assert chosen.times >= 1
        assert chosen.times == 1 or not (chosen.stepped or chosen.debugged)
        assert not (chosen.stepped and chosen.debugged)
        assert not chosen.shuffled or (chosen.times >= FEWEST_RUNS and chosen.only is None)
