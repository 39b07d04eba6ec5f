"""The file of keys: several for an action, presets, mistakes told with their line, in force once saved."""

import os
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open
from textual.keys import _character_to_key
from textual.widget import Widget

import hookscope.console
from hookscope.app.preferences import KeyPreference, KeysFile, read_keys
from hookscope.console.dialogs.help import help_sheet
from hookscope.console.dialogs.palette import expand_entries, listed_entries
from hookscope.console.keymap.active_keys import (
    EQUAL_KEYS,
    KEY_SCOPES,
    PRESETS,
    SIGNS,
    BadKey,
    Keymap,
    active_together,
    all_actions,
    bindings_of,
    enclosing_scopes,
    key_label,
    key_labels,
    parse_key_name,
    resolve_keymap,
    shared_keys,
    writes_text,
)
from hookscope.console.keymap.available_actions import own_bindings
from hookscope.model.hook import FilePosition
from hookscope.storage.state_files import config_folder


def keys(text: str) -> Keymap:
    """The keys of a file that says this."""
    file = config_folder() / "keys.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return resolve_keymap(read_keys())


def test_key_names_of_people_and_terminals_are_accepted() -> None:
    assert {name: _character_to_key(sign) for name, sign in SIGNS.items()} == {name: name for name in SIGNS}
    names = ("?", "^r", "Ctrl+R", "shift+a", "ESC", "pgdn", "ctrl++", "é", "[", "ctrl+shift+f5", "slash")
    assert [parse_key_name(name) for name in names] == [
        "question_mark", "ctrl+r", "ctrl+r", "A", "escape", "pagedown", "ctrl+plus", "é",
        "left_square_bracket", "ctrl+shift+f5", "slash",
    ]  # fmt: skip
    for name in (*EQUAL_KEYS, "f55", "hyper+x", "", "\x1b", "ctrl+"):
        with pytest.raises(BadKey):
            parse_key_name(name)


@settings(max_examples=40)
@given(st.text(max_size=12))
def test_an_unknown_key_name_is_explained(text: str) -> None:
    try:
        key = parse_key_name(text)
    except BadKey as error:
        said = str(error)
        if not said.endswith((".", "?")) or len(said) > 200:
            pytest.fail(f"no sentence: {said}")
    else:
        assert parse_key_name(key_label(key)) == key


def test_the_keymap_accepts_several_keys_presets_and_empty_entries() -> None:
    force = keys("preset: vim\nfire.fire: [ctrl+x, f5]\nhooks.group: b, f8\nhooks.new:\nconsole.log: 9\n")
    assert not force.problems
    ours = {"fire.fire": ("ctrl+x", "f5"), "hooks.group": ("b", "f8"), "hooks.new": (), "console.log": ("9",)}
    wanted = {**PRESETS["vim"], **ours}
    assert {name: force.keys.get(name, all_actions()[name].keys) for name in wanted} == wanted
    assert set(force.keys) <= set(wanted)
    # Two actions that change places are not clash.
    assert not keys("hooks.fire: n\nhooks.new: f\n").problems
    # One way out of every place stays.
    assert keys("app.quit: ctrl+x\n").keys["app.quit"] == ("ctrl+q", "ctrl+x")


MISTAKEN = """# mine
hooks.fire: n
hook.togle: x
fire.fire: [ctrl+x, f55]
filter.keep: l
hooks.trust: ctrl+i
hooks.copy: {y: z}
preset: vmi
hooks.group: b
"""


def test_mistakes_in_the_keymap_are_reported_by_line_and_the_rest_applies() -> None:
    force = keys(MISTAKEN)
    told = (
        "hooks.fire keeps f: n already belongs to hooks.new.",
        "Did you mean hooks.toggle?",
        "Did you mean f5?",
        "it works while typing",
        "Terminals send ^i as tab",
        "list of keys",
        "Did you mean vim?",
    )
    for line, (problem, text) in enumerate(zip(force.problems, told, strict=True), 2):
        assert text in problem.text
        assert problem.place == FilePosition(config_folder() / "keys.yaml", line)
    assert dict(force.keys) == {"fire.fire": ("ctrl+x",), "hooks.group": ("b",)}


@pytest.mark.parametrize("key", ["ctrl+nothing", "optoin", "contrl"])
def test_a_modifier_is_never_suggested_as_a_key(key: str) -> None:
    (problem,) = keys(f"hooks.fix: {key}\n").problems
    assert "is not a known key." in problem.text
    assert "Did you mean alt?" not in problem.text
    assert "Did you mean ctrl?" not in problem.text


@pytest.mark.parametrize(
    "text", ["{", "- a\n- b\n", "a: 1\na: 2\n", "\ttab", "&a x: *a\n", "\xff\xfe", "x" * 300_000]
)
def test_an_unreadable_keymap_changes_no_key(text: str) -> None:
    force = keys(text)
    assert force.keys == {}
    assert ["keys.yaml" in problem.text for problem in force.problems] == [True]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_no_conflicts_and_keep_the_common_letters(name: str) -> None:
    wishes = [
        KeyPreference(action, keys, FilePosition(Path("preset"))) for action, keys in PRESETS[name].items()
    ]
    force = resolve_keymap(KeysFile(Path("preset"), preferences=tuple(wishes)))
    assert not force.problems
    for action in ("hooks.edit", "hooks.copy", "hooks.filter", "console.zoom", "hooks.fire", "fire.again"):
        assert action not in force.keys


KEYS = ["a", "b", "f", "n", "j", "k", "f5", "ctrl+x", "ctrl+r", "escape", "enter", "slash", "q", "up"]
WISHES = st.dictionaries(
    st.sampled_from(sorted(all_actions())),
    st.lists(st.sampled_from(KEYS), max_size=3).map(tuple),
    max_size=12,
)


@settings(max_examples=40)
@given(WISHES, st.sampled_from(sorted(PRESETS)))
def test_no_keymap_gives_a_key_two_actions_in_one_place(
    wishes: dict[str, tuple[str, ...]], preset: str
) -> None:
    place = FilePosition(Path("keys.yaml"))
    asked = KeysFile(
        place.file,
        preset,
        preferences=tuple(KeyPreference(name, keys, place) for name, keys in wishes.items()),
    )
    force = resolve_keymap(asked)
    held = {action.id: force.keys.get(action.id, action.keys) for action in all_actions().values()}
    for one in all_actions().values():
        assert held[one.id] or not wishes.get(one.id, one.keys), "an action lost its keys to a mistake"
        if one.typing and one.id in force.keys:
            assert not any(writes_text(key) for key in set(held[one.id]) - set(one.keys))
        for other in all_actions().values():
            if one.id < other.id and set(held[one.id]) & set(held[other.id]):
                assert frozenset({one.id, other.id}) in shared_keys() or not active_together(
                    one.scopes, other.scopes
                )


def test_every_class_with_keys_is_in_the_key_scopes() -> None:
    """Whoever writes a pane or a screen with keys puts it into `ROOMS`."""
    places = {room.place for room in KEY_SCOPES}
    for found in pkgutil.walk_packages(hookscope.console.__path__, "hookscope.console."):
        for name, owner in vars(import_module(found.name)).items():
            if isinstance(owner, type) and owner.__module__ == found.name and bindings_of(owner):
                place = f"{found.name.removeprefix('hookscope.console.')}:{name}"
                assert place in places, f"{place} is not in ROOMS (console/keymap/actions.py)"


async def test_the_key_scopes_match_the_open_console(console: Open) -> None:
    """Every pane with keys is in the table, within the panes that it really lies in."""
    async with console((200, 50)) as story:
        for node in story.screen.walk_children(Widget, with_self=True):
            own = {binding.id for binding in own_bindings(node)}
            above = {binding.id for outer in node.ancestors for binding in own_bindings(outer)}
            for inner in own:
                for outer_id in above - own:
                    assert active_together(
                        all_actions()[inner or ""].scopes, all_actions()[outer_id or ""].scopes
                    ), (inner, outer_id)
    known = {room.name for room in KEY_SCOPES}
    assert all(enclosing_scopes(room.name) <= known for room in KEY_SCOPES)


async def test_a_new_keymap_file_applies_at_once(console: Open, make_hook: MakeHook, workspace: Path) -> None:
    """Its folder was not there when the console began, and stands empty for a moment."""
    make_hook(workspace / "hooks", "one", READY)
    folder = config_folder()

    def listens() -> bool:  # what listens begins in a thread: touched again and again
        os.utime(folder)
        watch = story.screen.controllers.preferences._watch
        return watch is not None and watch._watched is not None and folder in watch._watched.names_by_folder

    def in_force() -> bool:
        (folder / "keys.yaml").write_text("hooks.group: b\n")
        return bool(story.app.keymap.keys)

    async with console((60, 16), watches=True) as story:
        folder.mkdir()
        await story.until(listens, "the new folder is listened to")
        await story.until(in_force, "the keys are in force")


@pytest.mark.parametrize("size", SIZES[:2])
async def test_a_saved_keymap_changes_keys_help_and_palette(
    console: Open, make_hook: MakeHook, workspace: Path, size: tuple[int, int]
) -> None:
    for name in ("one", "two"):
        make_hook(workspace / "hooks", name, READY)
    file = config_folder() / "keys.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("preset: vim\nhooks.folders: nokey\n")
    async with console(size, watches=True) as story:
        await story.shows("nokey is not a known key", "keys.yaml:2")
        first = story.screen.state.selected
        await story.press("j")
        await story.until(lambda: story.screen.state.selected != first, "j goes down")
        await story.press("g")
        await story.until(lambda: story.screen.state.selected == first, "g goes to the first")
        file.write_text("console.help: [f11, ctrl+x]\nhooks.group: b\n")
        await story.shows("f11 Help")
        await story.until(lambda: "nokey" not in story.text(), "the mistake is gone")
        palette = {
            entry.text: entry.kind
            for entry in expand_entries(listed_entries(story.screen, story.screen.palette_source()))
        }
        assert (palette["Help"], palette["Group"], palette["Filter   Hooks"]) == ("f11", "b", "/")
        await story.press("ctrl+x", *"f11")
        await story.shows("f11  ^x")
        await story.press("escape", "escape")
        file.write_text("{")
        await story.shows("is not valid YAML", "f11 Help")
        file.unlink()
        await story.shows("? Help")


async def test_help_never_cuts_a_key(console: Open, workspace: Path) -> None:
    async with console((120, 36)) as story:
        nodes = [*story.screen.query("#hooks, #fire, #log, #rows, #hosts"), story.screen]
        for width in (50, 68, 80, 86):
            sheet = help_sheet("", nodes, width).plain
            shown = {line.strip() for line in sheet.splitlines()}
            for binding in (binding for node in nodes for binding in own_bindings(node)):
                keys = "  ".join(key_labels(binding.key))
                assert any(line.startswith(keys + "  ") for line in shown), (binding.id, width)
            assert max(len(line) for line in sheet.splitlines()) <= width
