"""Keys are data: each has an id, a sentence, a place in help and palette, and no two clash."""

from pathlib import Path

from tests.conftest import MakeHook
from tests.console.conftest import Open
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import Input, TextArea

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.dialogs.help import HelpScreen, help_sheet
from hookscope.console.dialogs.palette import expand_entries, listed_entries
from hookscope.console.dialogs.trust_question import TrustScreen
from hookscope.console.keymap.active_keys import all_actions, key_label
from hookscope.console.keymap.available_actions import (
    ShownKey,
    key_line,
    keys_of_bindings,
    own_bindings,
    why_unavailable,
)
from hookscope.console.keymap.key_listing import SHARED_KEYS, key_meanings
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.state.console_state import ConsoleState
from hookscope.console.state.hook_rows import listing_of
from hookscope.model.hook_status import State


def test_key_labels_read_as_people_write_keys() -> None:
    assert [key_label(key) for key in ("ctrl+p", "slash", "question_mark", "escape", "E", "ctrl+r,f5")] == [
        "^p",
        "/",
        "?",
        "esc",
        "E",
        "^r",
    ]


def test_the_footer_drops_whole_keys_and_keeps_help_and_quit() -> None:
    keys = [ShownKey(str(n), str(n), "Something", False) for n in range(20)]
    keys += [ShownKey("question_mark", "?", "Help", True), ShownKey("q", "q", "Quit", True)]
    for width in (30, 60, 80, 120, 200):
        line = key_line(keys, width)
        assert line.cell_length <= width
        assert line.plain.endswith("? Help  q Quit")
        assert line.plain.count("Something") == line.plain.replace("Something", "S").count("S")


def test_an_unavailable_key_has_a_reason_and_is_not_in_the_footer() -> None:
    state = ConsoleState()
    assert why_unavailable("trust", state)
    shown = keys_of_bindings([Binding("t", "trust", "Trust"), Binding("s", "group", "Group")], state)
    assert [key.what for key in shown] == ["Group"]


def test_an_untrusted_hook_with_other_failed_gates_can_be_fixed(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "slips", "{openclaw: {events: ['comand:new']}}")
    make_hook(workspace / "hooks", "waits", "{openclaw: {events: ['command:new']}}")
    listing = listing_of(Workbench(Options(workspace=workspace)).scan())
    rows = {row.name: row for row in listing.rows}
    assert {rows[name].state for name in ("slips", "waits")} == {State.UNTRUSTED}
    said = [
        why_unavailable("fix", ConsoleState(listing=listing, selected=rows[name].id))
        for name in ("slips", "waits")
    ]
    assert said == ["", "waits needs only trust: t trusts its folder."]


async def test_every_binding_is_named_once_in_help_and_palette(console: Open, workspace: Path) -> None:
    async with console((120, 36)) as story:
        screen = story.screen
        await screen.panes.fire_pane.with_its_parts()
        await screen.panes.hosts_pane.with_its_parts()
        palette = {
            entry.text.partition("   ")[0]
            for entry in expand_entries(listed_entries(screen, screen.palette_source()))
        }  # of one name: and where
        nodes: list[DOMNode] = [story.app, screen, *screen.walk_children(Widget)]
        nodes += [TrustScreen((), screen.state.view, firing=True), HelpScreen(screen)]  # type: ignore[arg-type]
        owners: dict[str, set[tuple[str, str, str]]] = {}
        for node in nodes:
            for binding in own_bindings(node):
                assert binding.id is not None
                assert binding.id.count(".") == 1, binding.id
                assert binding.tooltip, f"{binding.id} does not say what it does"
                owners.setdefault(binding.id, set()).add((binding.key, binding.action, binding.description))
                assert binding.tooltip[:20] in help_sheet("", [node], 120).plain
                if (
                    not isinstance(node, Input | TextArea | TrustScreen | HelpScreen)
                    and node is not story.app
                ):
                    assert binding.description in palette, binding.id
        twice = {name: found for name, found in owners.items() if len(found) > 1}
        assert not twice


OUTER_OF = {"hooks.fire_only": {"console.fire_composed"}}  # fires too, at one hook


async def test_keys_of_one_pane_and_of_the_screen_do_not_clash(console: Open, workspace: Path) -> None:
    async with console((120, 36)) as story:
        everywhere = {key: b.id for b in own_bindings(story.screen) for key in b.key.split(",")}
        for node in story.screen.query_one("#hooks").walk_children(Widget, with_self=True):
            if isinstance(node, Input):
                continue
            for binding in own_bindings(node):
                clashing = set(binding.key.split(",")) & set(everywhere)
                assert not clashing or {everywhere[key] for key in clashing} == OUTER_OF.get(
                    binding.id or ""
                ), binding.id


def test_a_key_means_the_same_everywhere() -> None:
    meanings = key_meanings()
    assert meanings["n"] == "add a new one"
    assert set(meanings) >= {key for action in all_actions().values() for key in action.keys}
    assert "f" not in {key for keys in SHARED_KEYS for key in keys.split()}


async def test_the_menu_lists_the_keys_that_work_here_and_presses_them(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "one", "{openclaw: {events: [command:new]}}")
    async with console((80, 24)) as story:
        footer = story.lines()[-1]
        assert footer.rstrip().endswith("m Menu  ? Help  q Quit")
        await story.press("m")
        await story.shows("Menu", "K  Registry", "W  What if")
        assert "Lift" not in story.text()  # nothing is in quarantine
        await story.press("K")
        await story.shows("Registry   generation")
        await story.press("2")
        await story.until(lambda: bool(story.screen.query(JsonEditor)), "the composer is there")
        story.screen.query_one(JsonEditor).focus()
        await story.press("f9")
        await story.shows("Menu", "v  Form")
        await story.press("v")
        await story.shows("[form]")


async def test_help_is_searched_by_typing(console: Open) -> None:
    async with console((80, 24)) as story:
        await story.press("question_mark", *"registry")
        await story.shows("Registry")
        await story.hides("Recheck")
        await story.press("escape")
        await story.shows("Help", "Fire it")
        await story.press(*"regis", "enter")
        await story.shows("Registry   generation")


async def test_the_key_that_fires_says_in_a_dialog_why_it_does_not(console: Open) -> None:
    async with console() as story:
        for opens in ("I", "P"):
            for key, label in (("ctrl+r", "^r"), ("f5", "f5")):
                await story.press(opens, key)
                await story.shows(f"{label} fires an event only in the panes: close this dialog first.")
                await story.press("escape")
        story.app.clear_notifications()
        await story.press("W", "ctrl+r")  # compares there
        await story.shows("No assumptions: there is nothing to compare.")
        assert "only in the panes" not in story.text()


async def test_keys_that_need_a_run_are_shown_once_there_is_one(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(
        workspace / "hooks", "greet", "{openclaw: {events: [command:new]}}", "def handler(event): pass\n"
    )
    Workbench(Options(workspace=workspace)).trust(workspace / "hooks")
    async with console((120, 36)) as story:
        await story.press("2")
        await story.shows("1 would run", "^r Fire")
        assert "r Re-fire" not in story.text()
        await story.press("ctrl+r")
        await story.shows("1 handler ran", "r Re-fire")
        assert ". Others" not in story.text(), "no hook was skipped"
