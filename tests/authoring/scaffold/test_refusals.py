"""What is not made, and that nothing of it is there then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.authoring.scaffold.conftest import Bench, new, tree
from tests.conftest import MakeHook
from tests.console.conftest import READY

from hookscope.app.edits import UndoBlocked
from hookscope.authoring.scaffold.scaffold_plan import hook_md_text
from hookscope.formats.text_header import read_text_header
from hookscope.hosts.folders.manifest import read_yaml_header
from hookscope.hosts.folders.shipped_headers import read_line_header
from hookscope.model.failure import Refusal
from hookscope.model.text import one_line


@pytest.mark.parametrize(
    ("name", "wish", "said"),
    [
        ("a/b", {}, "cannot be a hook's name"),
        ("..", {}, "cannot be a hook's name"),
        ("two words", {}, "cannot be a hook's name"),
        ("é", {}, "cannot be a hook's name"),
        ("a" * 65, {}, "cannot be a hook's name"),
        ("node_modules", {}, "is a reserved name"),
        ("x", {"description": "two\nlines"}, "needs one line"),
        ("x", {"events": ("gateway:startpu",)}, "Did you mean gateway:startup?"),
        ("x", {"events": ("command:new\x1b[31m",)}, "is not an event"),
        ("x", {"events": ("before_tool_call",)}, "a plugin (`--plugin`) can receive"),
        ("x", {"events": ("*",)}, "is not an event"),
        ("x", {"dialects": ("milady",), "language": "javascript"}, "handler would not load in milady"),
        (
            "x",
            {"dialects": ("milady@2.0.0-alpha.76",), "events": ("command:new",)},
            "never sends command:new",
        ),
        ("x", {"dialects": ("eve",), "kind": "plugin"}, "eve has no plugins. Use openclaw."),
        ("x", {"dialects": ("opnclaw",)}, "did you mean openclaw?"),
        ("x", {"where": "HOOK.txt"}, "is a file"),
        ("taken", {}, "./hooks/taken already exists."),
        ("greets", {}, "A hook greets already exists: the new one would shadow"),
        ("saved", {}, "./.hookscope/events/saved.yaml already exists."),
    ],
)
def test_a_refused_new_hook_prints_one_sentence_and_writes_nothing(
    name: str, wish: dict[str, Any], said: str, bench: Bench, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace.parent / "bundled", "greets", READY)
    (workspace / "hooks/taken").mkdir()
    (workspace / "HOOK.txt").touch()
    (workspace / ".hookscope/events").mkdir(parents=True)
    (workspace / ".hookscope/events/saved.yaml").write_text("event: command:new\n")
    before = tree(workspace)
    with pytest.raises(Refusal) as refused:
        new(bench(), name, **wish)
    assert said in str(refused.value)
    assert tree(workspace) == before


def test_a_failed_write_removes_the_files_already_written(bench: Bench, workspace: Path) -> None:
    here = bench()
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope/events").mkdir(mode=0o555)  # the saved event cannot be written
    before = tree(workspace)
    with pytest.raises(Refusal, match=r"greet\.yaml was not written"):
        new(here, "greet")
    assert tree(workspace) == before
    with pytest.raises(Refusal, match="nothing to undo"):
        here.edits.pending_undo()


def test_undo_of_a_new_hook_keeps_edited_files(bench: Bench, workspace: Path) -> None:
    here = bench()
    first, second = new(here, "first"), new(here, "second")
    second.plan.main_file.write_text("def handler(event): pass\n")
    for _ in range(2):
        with pytest.raises(UndoBlocked, match=r"handler.py has changed since that edit.*--forget") as stuck:
            here.edits.pending_undo()
    here.edits.forget(stuck.value.change)
    here.edits.undo(here.edits.pending_undo())
    assert second.plan.main_file.exists()
    assert not first.plan.root.exists()
    assert here.open().trust.folders == {second.plan.root.resolve()}


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=60))
def test_every_reader_accepts_any_description(text: str) -> None:
    text = one_line(text, 300).replace("`", "") or "x"
    metadata = {"one": ["command:new"], "two": ["gateway:startup"]}
    source = hook_md_text("greet", text, metadata, (), "handler.py").encode()
    yaml, lines = (read(source, "greet", "two") for read in (read_yaml_header, read_line_header))
    assert yaml is not None
    assert lines is not None
    assert (yaml.name, yaml.description, yaml.meta.events) == ("greet", text, ("gateway:startup",))
    assert (lines.name, lines.meta.events) == ("greet", ("gateway:startup",))
    assert read_text_header(source)["name"] == "greet"


def test_new_turns_a_folder_into_a_workspace(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    monkeypatch.chdir(fresh)
    here = bench(workspace=None)
    before = here.run_record.journal(here.open()).workspace
    made = new(here, "greet")
    assert made.plan.root == fresh / "hooks/greet"
    assert made.statuses[0].row is not None
    assert (
        here.run_record.journal(here.open()).workspace == str(fresh) != before
    )  # what is fired now is on its record


@pytest.mark.parametrize(("where", "runs"), [("managed", True), ("elsewhere/hooks", False)])
def test_new_can_write_to_another_folder(
    where: str, runs: bool, bench: Bench, workspace: Path, home: Path
) -> None:
    made = new(bench(), "greet", where=where)
    place = home / ".openclaw/hooks" if where == "managed" else workspace / where
    assert made.plan.root == place / "greet"
    assert (made.statuses[0].row is not None) is runs
    assert any("No host scans" in note for note in made.notes) is not runs
