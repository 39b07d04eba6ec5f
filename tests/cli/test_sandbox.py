"""fire --sandbox: handlers run on copies, and what they did to those is told."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

COMMAND = '{openclaw: {events: ["command:new"]}}'
PYTHON = """
import os
from pathlib import Path
def handler(event):
    root = Path(event.context["workspaceDir"])
    (root / "notes.md").write_text("hello\\nworld\\n")
    (root / "old.txt").unlink()
    (Path.home() / "mine.txt").write_text("mine")
    (Path(os.environ["HOOKSCOPE_HOST_STATE"]) / "log").write_text("logged")
    event.messages.append(f"wrote {root}/notes.md")
    event.context["written"] = str(root / "notes.md")
    raise RuntimeError(f"cannot go on in {root}")
"""
NODE = """
import fs from "node:fs";
import path from "node:path";
export default async (event) => {
  const notes = path.join(event.context.workspaceDir, "notes.md");
  event.messages.push(`${notes} has ${fs.readFileSync(notes, "utf8").length} characters`);
  fs.writeFileSync(path.join(import.meta.dirname, "beside.txt"), "written beside the handler");
};
"""


@pytest.fixture
def files(workspace: Path, home: Path) -> dict[Path, str]:
    """The files that handlers would harm."""
    (home / ".openclaw").mkdir()
    contents = {workspace / "notes.md": "hello\n", workspace / "old.txt": "old\n"}
    for path, text in contents.items():
        path.write_text(text)
    return contents


def test_sandboxed_handlers_change_only_copies(
    hookscope: Program,
    workspace: Path,
    home: Path,
    files: dict[Path, str],
    make_hook: MakeHook,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    make_hook(workspace / "hooks", "a-python", COMMAND, PYTHON)
    make_hook(workspace / "hooks", "b-node", COMMAND, NODE, file="handler.ts")
    done = hookscope("fire", "command:new", "--trust", "--sandbox", "--json", "--bundled", str(tmp_path))
    python, node = done.json["results"]
    assert (python["status"], node["status"]) == ("error", "ok"), done.err + str(node["error"])
    notes = str(workspace / "notes.md")
    assert python["messages"] == [f"wrote {notes}"]
    assert python["error"]["message"] == f"cannot go on in {workspace}"
    assert python["error"]["frames"][-1]["file"] == str(workspace / "hooks/a-python/handler.py")
    assert node["messages"] == [f"{notes} has 12 characters"]
    assert done.json["context"]["written"] == notes
    told = {change["path"]: change["kind"] for change in done.json["sandbox"]["changes"]}
    assert told == {
        str(workspace / "hooks/b-node/beside.txt"): "written",
        notes: "changed",
        str(workspace / "old.txt"): "deleted",
        str(home / "mine.txt"): "written",
        str(home / ".openclaw/log"): "written",
    }
    diffs = {change["path"]: change["diff"] for change in done.json["sandbox"]["changes"]}
    assert diffs[notes].endswith(" hello\n+world\n")
    assert {path: path.read_text() for path in files} == files
    assert not (home / "mine.txt").exists()
    assert not list(temporary.iterdir())


def test_a_sandboxed_run_says_what_was_protected(
    hookscope: Program, workspace: Path, files: dict[Path, str], make_hook: MakeHook, tmp_path: Path
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, "def handler(event): open('new.txt', 'w').write('new')")
    words = ("fire", "command:new", "--trust", "--sandbox", "--bundled", str(tmp_path))
    done = hookscope(*words, env={"PATH": ""})  # of the user: a what-if chooses no wall
    assert done.code == 0
    assert "written  ./new.txt  – → 3 bytes" in done.out
    assert "Nothing else restricted them: without a usable bubblewrap" in done.out
    plain = hookscope("fire", "command:new", "--trust", "--json", "--bundled", str(tmp_path))
    assert plain.json["sandbox"] is None


def test_the_log_marks_a_sandboxed_run(
    hookscope: Program, workspace: Path, files: dict[Path, str], make_hook: MakeHook, tmp_path: Path
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, "def handler(event): open('new.txt', 'w').write('new')")
    fired = hookscope(
        "fire", "command:new", "--trust", "--sandbox", "--json", "--bundled", str(tmp_path)
    ).json
    (logged,) = hookscope("log", "--json").json["runs"]
    told = {name: value for name, value in logged["run"].items() if name in fired}
    told["event"] = {name: value for name, value in told["event"].items() if name in fired["event"]}
    told["not_run"] = [{name: left[name] for name in ("hook", "reason")} for left in told["not_run"]]
    told["results"] = [{name: one[name] for name in fired["results"][0]} for one in told["results"]]
    assert told == fired  # whatever reads the one reads the other
    bench = Workbench(Options(workspace=workspace))
    (past,) = bench.run_record.runs(bench.scan())
    bench.close_now()
    under = Workbench(Options(workspace=workspace, dialect="eve"))
    assert under.run_record.runs(under.scan()) == ()
    assert under.run_record.hidden_run_dialects(under.scan()) == ("openclaw",), (
        "nobody thinks that nothing was fired"
    )
    under.close_now()
    assert past.run is not None
    assert past.run.guarded is not None
    assert [(change.path, change.kind) for change in past.run.guarded.changes] == [
        (workspace / "new.txt", "written")
    ]
