"""Every action is reached by mouse and in the palette wherever its key acts: in panes, and over dialogs."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story
from tests.drawing import drawn
from textual.content import Content
from textual.geometry import Offset
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Button

from hookscope.analysis.fuzzing import FuzzResult
from hookscope.analysis.tap_report import tap_report_of
from hookscope.analysis.verification_result import Verification
from hookscope.app.runs.session_log import SessionLog
from hookscope.app.trust_requests import TrustRequest
from hookscope.app.variables import VariableSources
from hookscope.console.dialogs.base_dialogs import Question
from hookscope.console.dialogs.choosers import EnvironmentScreen, EventPicker, HostChooser, WorkspaceScreen
from hookscope.console.dialogs.completion_list import CompletionScreen
from hookscope.console.dialogs.edit_preview import EditScreen, FixAllScreen, ForgetScreen
from hookscope.console.dialogs.fire_options import FireOptionsScreen
from hookscope.console.dialogs.fire_reports import FuzzScreen, RepeatScreen
from hookscope.console.dialogs.help import (
    ACTION_META,
    HelpScreen,
    HelpSheet,
    ManualScreen,
    MenuScreen,
    help_sheet,
)
from hookscope.console.dialogs.jump import JumpScreen
from hookscope.console.dialogs.key_editor import KeyEditor, KeyQuestion
from hookscope.console.dialogs.new_hook_form import NewHookForm
from hookscope.console.dialogs.palette import PaletteScreen, expand_entries, listed_entries
from hookscope.console.dialogs.run_comparison import RunComparisonScreen
from hookscope.console.dialogs.saved_events import SavedScreen
from hookscope.console.dialogs.session_screen import SessionScreen
from hookscope.console.dialogs.tap_and_workers import TapScreen, WorkersScreen
from hookscope.console.dialogs.trust_question import TrustScreen
from hookscope.console.dialogs.verification import VerificationScreen, VerifyQuestion
from hookscope.console.dialogs.what_if_form import WhatIfFields, WhatIfForm
from hookscope.console.keymap.active_keys import KEY_SCOPES, KeyScope, all_actions, bindings_of, owner_of
from hookscope.console.keymap.available_actions import all_nodes, own_bindings, run_action
from hookscope.console.keymap.key_listing import COMMANDS_OF_ACTIONS, NoCommandReason
from hookscope.console.panes.fire.context_fields import Completion
from hookscope.console.panes.fire.context_form import ValueInput
from hookscope.console.screens.debugger import DebugScreen, SourceLines
from hookscope.console.screens.packs_screen import PackPlanScreen, PackSpecScreen, PacksScreen
from hookscope.console.state.fire_requests import FireOptions
from hookscope.console.widgets.focus_targets import jump_targets_of
from hookscope.model.run import Event
from hookscope.model.run_comparison import Repetition
from hookscope.model.trust import TrustTarget
from hookscope.runtime.debugger import Debugger, StackFrame, Stop

LEAST = (60, 16)  # the smallest screen that is drawn
LEAVE = ("escape", "q")
HELP = ("app.help", "packs.help")
# Over a dialog: what is clicked, where neither frame nor button says it.
CLICKED_THERE = {"jump.leave": "anything"}
PRESSED = re.compile(r"app\.simulate_key\('(.+)'\)")


def done_by(lines: Content) -> set[str]:
    """The actions that a click on these lines of help does."""
    styles = (span.style for span in lines.spans)
    return {
        style.meta[ACTION_META] for style in styles if isinstance(style, Style) and ACTION_META in style.meta
    }


def listed(screen: Screen[Any]) -> set[str]:
    """The actions that the palette lists over this screen."""
    runs = (entry.run for entry in expand_entries(listed_entries(screen)))
    return {run.args[1].id for run in runs if isinstance(run, partial) and run.func is run_action}


def of_room(room: KeyScope) -> set[str]:
    return {binding.id or "" for binding in bindings_of(owner_of(room))}


def clicks(story: Story) -> dict[str, tuple[int, int]]:
    """The keys that a click on something of the uppermost screen presses, and where that stands."""
    screen, found = story.app.screen, dict[str, tuple[int, int]]()
    for y, strip in enumerate(drawn(story.app)):
        x = 0
        for segment in strip:
            meta = segment.style.meta if segment.style else {}
            pressed = PRESSED.search(str(meta.get("@click", "")))
            if pressed and screen.get_widget_at(x, y)[0] is not screen:
                found.setdefault(pressed[1], (x, y))
            x += segment.cell_length
    return found


async def click_help(story: Story, name: str, done: Callable[[], object]) -> None:
    """Ask for help where one is, click the line of an action, and wait for what it does."""
    await story.press("f1")
    await story.until(lambda: isinstance(story.app.screen, HelpScreen), "help is open")
    sheet = story.app.screen.query_one(HelpSheet)
    await story.until(lambda: sheet.size, "help is laid out")
    middle, height = story.app.size.width // 2, story.app.size.height
    for _ in range(40):  # down to it, page by page
        styles = (story.app.screen.get_style_at(middle, y) for y in range(height))
        at = [(middle, y) for y, style in enumerate(styles) if style.meta.get(ACTION_META) == name]
        if at:
            break
        await story.press("pagedown")
    assert await story.pilot.click(offset=at[0])
    await story.until(lambda: not isinstance(story.app.screen, HelpScreen), "help is closed")
    await story.until(done, f"a click on the line of {name} does it")


async def test_help_palette_and_clicks_reach_every_action_of_a_pane(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console((80, 24)) as story:
        screen, app = story.screen, story.app
        await screen.panes.fire_pane.with_its_parts()
        await screen.panes.hosts_pane.with_its_parts()
        told, palette = set[str](), set[str]()
        # The panes, then a field of each: fields have keys of their own.
        for where in ("", "1 slash", "escape 2 v", "escape 3 slash"):
            await story.press(*where.split())
            await story.pilot.pause()
            if where.endswith("v"):
                screen.query(ValueInput).first().focus()
                await story.pilot.pause()
            for node in all_nodes(screen):
                own = {binding.id or "" for binding in own_bindings(node)} - told
                if own:
                    assert own <= done_by(help_sheet("", node.ancestors_with_self, 76)), node
                told |= own
            palette |= listed(screen)
        assert told >= set().union(*(of_room(room) for room in KEY_SCOPES if room.name in PANES))
        assert palette >= {name for name in told if not name.startswith("app.")}
        await story.press("escape", "1")
        await story.focus_in("list")
        before = screen.state.grouping
        await click_help(story, "hooks.group", lambda: screen.state.grouping != before)
        await story.press("2")
        await story.focus_in("fire")
        screen.query_one(ValueInput).focus()  # the letters are its own there
        await click_help(story, "fire.form", lambda: "[JSON]" in story.text())
        await click_help(story, "fire.cancel", lambda: "Nothing is running" in story.text())
        await click_help(story, "app.quit", lambda: app._exit)


PANES = {
    "app", "console", "hooks", "list", "filter", "sheet", "why", "fire", "composer", "editor", "form",
    "run", "waterfall", "plan", "log", "log filter", "hosts", "lines",
}  # fmt: skip


def dialogs(story: Story) -> Iterator[tuple[Screen[Any], set[str]]]:
    """Each dialog, and the rooms whose keys act in it."""
    screen, view, bench = story.screen, story.screen.state.view, story.screen.bridge.bench
    assert view is not None
    event = Event("command", "new")
    choices = (Completion("one", "the first", "1"),)
    yield HostChooser((view.host.dialect,), ()), {"chooser", "lines"}
    yield TrustScreen((TrustRequest(TrustTarget(Path("/a")), 1),), view, firing=True), {"trust"}
    yield EditScreen("Write?", Content("what")), {"edit"}
    yield ForgetScreen("Give up?", Content("what")), {"forget"}
    yield Question("A name", "of it", enter="saves", why_not=lambda _: ""), {"question"}
    yield WhatIfForm(WhatIfFields(), WhatIfFields(), {}, print, print, print), {"whatif"}
    yield NewHookForm(view, lambda wish, answer: None), {"new", "choice"}
    yield EventPicker(view), {"keys"}
    yield CompletionScreen("What", choices, "", Offset(0, 0)), {"completion"}
    yield EnvironmentScreen(VariableSources()), {"environment"}
    yield SavedScreen((), {}, bool, bool), {"saved"}
    yield FireOptionsScreen("command:new", FireOptions(), (), ()), {"otherwise", "lines"}
    stop = Stop(
        "step", "greet", (StackFrame("/a/handler.py", 1, "handler"),), 0, ((1, "pass"),), (("a", "1"),)
    )
    yield DebugScreen(Debugger(), stop, str, print), {"debug", "lines", "sheet"}
    yield RunComparisonScreen("command:new", print), {"beside", "sheet"}
    yield RepeatScreen("command:new", Repetition(2, (), None)), {"repeated", "sheet"}
    yield FuzzScreen(FuzzResult(event, 0, 0, ())), {"fuzzed", "lines"}
    yield PacksScreen(screen.controllers.packs), {"packs"}
    yield PackSpecScreen(), {"spec", "choice"}
    yield PackPlanScreen("Install", lambda width: Content("files"), "install"), {"plan of a pack"}
    yield TapScreen(tap_report_of(bench, view), view), {"tap", "sheet"}
    yield WorkersScreen(bench), {"workers"}
    yield VerifyQuestion("Start it?"), {"verify"}
    verification = Verification("OpenClaw", "2026.9.6", "openclaw@2026.9", "openclaw", "/a", isolated=True)
    yield VerificationScreen(verification), {"verification", "sheet"}
    yield HelpScreen(screen), {"help", "sheet"}
    yield MenuScreen(screen, screen.state), {"menu"}
    yield ManualScreen("why"), {"manual", "sheet"}
    yield KeyEditor(), {"actions"}
    yield KeyQuestion(all_actions()["hooks.fix"]), {"newkey"}
    yield (
        SessionScreen(SessionLog("main", (), sessions=("main",)), lambda _: SessionLog("main", ())),
        {"session"},
    )
    yield FixAllScreen([Content("one")], [Content("diff")], lambda numbers: ""), {"fixes"}
    yield WorkspaceScreen((), view.host.workspace, view.host.workspace), {"workspaces"}
    yield PaletteScreen(screen, screen.palette_source()), {"find"}
    yield JumpScreen(jump_targets_of(screen)), {"jump"}


def rests_in(screen: Screen[Any], part: type[Widget]) -> bool:
    return isinstance(screen.focused, part)


async def test_frames_and_palette_reach_every_action_of_a_dialog(console: Open) -> None:
    """On the smallest screen, where frames have the least room to name keys."""
    async with console(LEAST) as story:
        met = set(PANES)
        for screen, rooms in dialogs(story):
            await story.app.push_screen(screen)
            for _ in range(2):  # some find their size out of what the first painting has come to
                await screen.wait_for_refresh()
            await story.pilot.pause()
            found = clicks(story)
            for part in screen.focus_chain if len(screen.focus_chain) > 1 else ():
                part.focus()  # what has keys of its own names them while they act
                await story.pilot.pause()
                found |= clicks(story)
            keys = {one.id: one.key.split(",") for node in all_nodes(screen) for one in own_bindings(node)}
            buttons = {button.id for button in screen.query(Button)}
            helps = any(found.keys() & set(keys.get(name, ())) for name in HELP)
            wanted = set().union(*(of_room(room) for room in KEY_SCOPES if room.name in rooms))
            assert wanted <= listed(screen), screen
            for name in wanted:
                there = found.keys() & set(keys[name]) or name.rpartition(".")[2] in buttons
                elsewhere = (
                    helps or COMMANDS_OF_ACTIONS[name] is NoCommandReason.MOVES or name in CLICKED_THERE
                )
                assert there or elsewhere, f"{screen}: {name}"
            leave = next((found[key] for key in LEAVE if key in found), (1, 1))
            await story.pilot.click(offset=leave)
            if isinstance(screen, DebugScreen):  # it left the field first
                await story.until(partial(rests_in, screen, SourceLines), "the field is left")
                await story.pilot.click(offset=clicks(story)["escape"])
            await story.until(partial(gone, story, screen), f"a click leaves {screen}")
            met |= rooms
        assert met == {room.name for room in KEY_SCOPES}
        story.app.push_screen(next(dialog for dialog, rooms in dialogs(story) if "trust" in rooms))
        await story.shows("Fire without them")
        await story.press("ctrl+p", *"without")
        await story.shows("-      Without")
        await story.press("enter")
        await story.until(
            lambda: len(story.app.screen_stack) == 1, "the palette does what is over the dialog"
        )


def gone(story: Story, screen: Screen[Any]) -> bool:
    return screen not in story.app.screen_stack
