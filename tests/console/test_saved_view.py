"""What the console showed is there again at its next start in the same workspace; nothing else is kept."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import MakeHook
from tests.console.conftest import EXTREMES, READY, Open, Story

from hookscope.app.console_files import StoredConsole
from hookscope.console.controllers.restore_controller import RestoreController
from hookscope.console.panes.fire.composer import Composer
from hookscope.console.state.console_state import MODE_OF, ConsoleState
from hookscope.console.state.hook_rows import GROUPINGS
from hookscope.console.state.state_changes import (
    ComposerDraft,
    SavedView,
    restore_view,
    saved_view_from,
    saved_view_of,
    saved_view_values,
)
from hookscope.model.failure import Refusal

DRAFTS = st.builds(
    ComposerDraft,
    st.text(max_size=6),
    st.none() | st.text(max_size=6),
    st.text(max_size=6),
    st.none() | st.text(max_size=20),
    st.text(max_size=6),
    st.booleans(),
    st.none() | st.text(max_size=6),
)
KEPT = st.builds(
    SavedView,
    st.sampled_from(["hooks", "fire", "log", "hosts"]),
    st.sampled_from(["why", "keys"]),
    st.booleans(),
    st.none() | st.sampled_from(list(MODE_OF)),
    st.text(max_size=6),
    st.text(max_size=6),
    st.sampled_from(GROUPINGS),
    st.booleans(),
    st.none() | st.sampled_from(["composer", "plan", "run"]),
    st.booleans(),
    DRAFTS,
    st.none() | st.text(max_size=6),
    st.none() | st.text(max_size=6),
)


def test_what_an_older_version_kept_is_restored_without_its_log_filter() -> None:
    assert saved_view_from({"mode": "log", "log_filter": "kind:fire"}) == SavedView(mode="log")


@given(KEPT)
def test_a_saved_view_is_restored_unchanged(kept: SavedView) -> None:
    assert saved_view_from(json.loads(json.dumps(saved_view_values(kept)))) == kept
    assert saved_view_of(restore_view(ConsoleState(), kept)) == SavedView(
        **{name: getattr(kept, name) for name in kept.__slots__[:8]}
    )


@given(st.dictionaries(st.sampled_from([*SavedView.__slots__, "odd"]), st.integers() | st.text(max_size=3)))
def test_invalid_saved_values_are_named_and_not_used(values: dict[str, object]) -> None:
    odd = any(isinstance(value, int) for value in values.values()) or "odd" in values
    if odd:
        with pytest.raises(ValueError, match="|".join(values)):
            saved_view_from(values)


def test_restoring_a_view_does_not_override_the_user() -> None:
    state = restore_view(ConsoleState(mode="log"), SavedView(mode="fire", filter="greet"))
    assert (state.mode, state.filter) == ("log", "greet")


def test_saved_workspaces_are_merged_and_damage_is_reported(tmp_path: Path) -> None:
    store = StoredConsole(tmp_path / "state" / "console.json")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    assert store.read(tmp_path / "a") is None
    store.write(tmp_path / "a", {"mode": "log"})
    StoredConsole(store.file).write(tmp_path / "b", {"mode": "fire"})
    store.write(tmp_path / "a", None)
    assert store.read(tmp_path / "a") == {"mode": "log"}
    assert store.recent() == (tmp_path / "a", tmp_path / "b")
    (tmp_path / "a").rmdir()  # a folder that is gone is not offered, and comes again with what was left there
    assert store.recent() == (tmp_path / "b",)
    assert store.file.stat().st_mode & 0o077 == 0
    for damage in ("{", "[]", '{"version": 0, "workspaces": {}}', '{"version": 1, "workspaces": 3}'):
        store.file.write_text(damage)
        with pytest.raises(Refusal, match="restored"):
            store.read(tmp_path / "a")
        assert store.recent() == ()
    store.write(tmp_path / "a", {"mode": "hosts"})
    assert store.read(tmp_path / "a") == {"mode": "hosts"}
    newer = '{"version": 2, "places": {}, "workspaces": {}}'
    store.file.write_text(newer)
    with pytest.raises(Refusal, match="newer"):
        store.write(tmp_path / "a", {})
    assert store.file.read_text() == newer


def test_the_last_used_workspace_comes_first_for_any_clock(tmp_path: Path) -> None:
    store = StoredConsole(tmp_path / "console.json")
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        store.write(tmp_path / name, None)
    document = json.loads(store.file.read_text())
    document["workspaces"][str(tmp_path / "b")]["at"] = "2999-01-01T00:00:00.000+00:00"
    store.file.write_text(json.dumps(document))
    for name in ("a", "c", "a"):
        store.write(tmp_path / name, None)
    assert store.recent() == tuple(tmp_path / name for name in ("a", "c", "b"))


async def compose(story: Story) -> None:
    """Write an event by hand, with a secret in it."""
    composer = story.screen.query_one(Composer)
    composer.sheet.editor.rewrite('{\n  "senderId": "ada",\n  "apiKey": "hunter2-hunter2"\n}')
    composer.read()
    await story.until(lambda: "ada" in composer.draft.text, "the event is written")


@pytest.mark.parametrize("size", EXTREMES, ids=str)
async def test_the_console_restores_the_last_view(
    console: Open, size: tuple[int, int], workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    file = tmp_path / "state" / "console.json"
    for name in ("alpha", "beta", "gamma"):
        make_hook(workspace / "hooks", name, READY)
    async with console(size) as story:
        await story.press("v", "D", "slash", *"ta", "enter")
        await story.shows("Hooks 1/3", "by state", "▸ beta")
        await story.until(lambda: story.screen.state.view.host.dialect.version, "the program as it ships")  # type: ignore[union-attr]
        dialect = story.screen.state.view.host.dialect.name  # type: ignore[union-attr]
        assert story.screen.state.view.dialect_reason == "chosen in the console"  # type: ignore[union-attr]
        await story.press("3", "slash", *"kind:nothing", "enter")
        await story.shows("Log 0 of")
        await story.press("2")
        await compose(story)
        await story.focus_in("fire")
        await story.press("z" if size[0] < 160 else "f4")
        await story.focus_in("fire")  # the form takes it over from the editor
    assert "hunter2" not in file.read_text()
    async with console(size) as story:
        await story.focus_in("fire")
        state = story.screen.state
        assert (state.mode, state.filter, state.grouping) == ("fire", "ta", "state")
        assert state.row is not None
        assert state.row.name == "beta"
        assert state.view is not None
        assert state.view.host.dialect.name == dialect
        assert f"{dialect}, as last time" in "".join(
            str(notice.message) for notice in story.app._notifications
        )
        fire = story.screen.panes.fire_pane
        await story.until(lambda: fire.event_view.kept()[0].text, "the event is composed again")
        draft, part, form = fire.event_view.kept()
        assert draft.text == '{\n  "senderId": "ada",\n  "apiKey": "${API_KEY}"\n}'
        assert (part is not None or form) is True
        await story.focus_in("fire")
        await story.press("1")
        await story.shows("Hooks 1/3", "▸ beta")
        await story.press("3")
        await story.shows("3 hooks")  # an entry of the log, which no filter of before hides


async def test_an_event_is_kept_if_the_console_quits_before_restoring_it(
    console: Open, workspace: Path, tmp_path: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console((80, 24)) as story:
        await story.press("2")
        await compose(story)
    monkeypatch.setattr(RestoreController, "scanned", lambda *_: None)
    async with console((80, 24)) as story:
        await story.press("3")
        await story.until(lambda: story.screen.state.mode == "log", "something is to be kept")
    kept = json.loads((tmp_path / "state" / "console.json").read_text())["workspaces"][str(workspace)][
        "console"
    ]
    assert kept["mode"] == "log"
    assert "ada" in kept["draft"]["text"]


async def test_a_first_start_writes_no_view_and_damage_is_reported(
    console: Open, workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "state" / "console.json"
    async with console((80, 24)) as story:
        await story.press("question_mark", "escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "help is gone")
    assert not file.exists()  # looking at things is not a change
    file.parent.mkdir(exist_ok=True)
    file.write_text("{ damaged")
    async with console((80, 24)) as story:
        await story.shows("is damaged. Nothing is restored from it.")
        await story.press("3")
    assert json.loads(file.read_text())["workspaces"][str(workspace)]["console"]["mode"] == "log"
