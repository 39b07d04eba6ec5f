"""A user who does not wait: what was asked for is answered when its dialog has long been left."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, USUAL, Open, Story
from tests.console.test_reachable_actions import dialogs, gone
from textual.widgets import Button, Input

from hookscope.app.options import Options
from hookscope.app.pack_manager import PackManager
from hookscope.app.workbench import Workbench
from hookscope.authoring.scaffold import scaffold_writer
from hookscope.authoring.testing import replay
from hookscope.console.dialogs.base_dialogs import Overlay
from hookscope.console.dialogs.edit_preview import EditScreen


async def form(story: Story) -> None:
    await story.press("n", "a")


async def packs(story: Story) -> None:
    await story.press("I")


async def bar(story: Story) -> None:
    await story.press("W")
    await story.shows("What if   empty fields keep real values")
    story.app.screen.query_one("#whatif-platform", Input).value = "darwin"
    await story.press("enter")


async def beside(story: Story) -> None:
    await story.press("f", "ctrl+r")
    await story.shows("Run 1")
    await story.until(lambda: not story.screen.state.job, "the run is over")
    await story.press("r")
    await story.shows("Run 2")
    await story.until(lambda: not story.screen.state.job, "the run is over")
    await story.press("d")


@pytest.mark.parametrize(
    ("ask", "owner", "name"),
    [
        (form, scaffold_writer, "plan_new"),
        (packs, PackManager, "statuses"),
        (bar, Workbench, "scan"),
        (beside, replay, "differences_between"),
    ],
    ids=["form", "packs", "bar", "beside"],
)
async def test_an_answer_for_a_closed_dialog_is_ignored(
    console: Open,
    workspace: Path,
    make_hook: MakeHook,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[Story], object],
    owner: object,
    name: str,
) -> None:
    make_hook(workspace / "hooks", "greet", READY, "def handler(event):\n    pass\n")
    Workbench(Options(workspace=workspace)).trust(workspace)
    reached, let_go = threading.Event(), threading.Event()
    work = getattr(owner, name)

    def slowly(*arguments: object, **named: object) -> object:
        reached.set()
        assert let_go.wait(600)
        return work(*arguments, **named)

    async with console(USUAL) as story:
        monkeypatch.setattr(owner, name, slowly)
        await ask(story)  # type: ignore[misc]
        await story.until(reached.is_set, "it is being worked out")
        left = story.app.screen
        assert isinstance(left, Overlay)
        await story.press("escape")
        await story.until(lambda: not left.is_attached, "the dialog is gone")
        let_go.set()
        await story.until(lambda: all(one.is_finished for one in story.screen.workers), "it is answered")
        await story.press("1", "slash", *"gre")
        await story.until(lambda: story.screen.state.filter == "gre", "the console goes on")


async def test_a_dialog_closes_once_for_several_answers(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console(USUAL) as story:
        for others in range(2):
            await story.press("space")
            await story.until(lambda: isinstance(story.app.screen, EditScreen), "the question is there")
            asked, cancel = story.app.screen, story.app.screen.query_one("#cancel", Button)
            cancel.press()
            if others:  # it is asked for help before the answer is heard
                story.app.action_help()
            else:  # a second click comes before the first one is heard
                cancel.press()
            await story.until(lambda: story.app.screen is story.screen, "what it was asked over is there")
            await story.until(partial(gone, story, asked), "it is gone")
        await story.press("slash", *"gre")
        await story.until(lambda: story.screen.state.filter == "gre", "the console goes on")


@pytest.mark.parametrize("turns", [0, 3, 20])
async def test_a_dialog_can_be_closed_before_it_is_shown(console: Open, turns: int) -> None:
    async with console(USUAL) as story:
        for dialog, _ in dialogs(story):
            story.app.push_screen(dialog)
            for _ in range(turns):  # of the event loop: so far it has come
                await asyncio.sleep(0)
            dialog.dismiss(None)
            await story.until(partial(gone, story, dialog), "it is left")
            await story.until(lambda: not story.app._exception, "nothing went wrong")


async def test_actions_after_a_paint_are_dropped_for_a_closed_dialog(console: Open) -> None:
    async with console(USUAL) as story:
        dialog = next(dialog for dialog, rooms in dialogs(story) if "trust" in rooms)
        await story.app.push_screen(dialog)
        painted, go_on = asyncio.Event(), asyncio.Event()
        story.screen.call_next(go_on.wait)  # the screen below is busy
        dialog.call_after_refresh(dialog.query_one, Button)
        dialog.dismiss(None)
        while dialog.is_running:  # noqa: ASYNC110  (a pilot would wait for the busy one)
            await asyncio.sleep(0.01)
        story.screen.call_after_refresh(painted.set)
        go_on.set()
        await story.until(painted.is_set, "the screen below is painted")
        await story.until(lambda: not story.app._exception, "nothing went wrong")
