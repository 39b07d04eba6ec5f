"""A hook whose checks are open, and whose file is known not to load, is not told of as one that will run."""

import asyncio
import json
import math
import os
from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

from hookscope.app.load_record import MOST, LoadAttempt, LoadRecord
from hookscope.model.failure import Failure
from hookscope.model.run import Code

NEW = '{openclaw: {events: ["command:new"]}}'
IMPORTS = "import helper_of_it\n\n\ndef handler(event): event.messages.append(helper_of_it.TEXT)\n"
WHY = "does not load: ModuleNotFoundError: No module named 'helper_of_it' (handler.py:1{run}); "
AGAIN = "`hookscope load lame` tries again"


@pytest.fixture
def lame(workspace: Path, make_hook: MakeHook, hookscope: Program) -> Path:
    """A trusted hook that lacks a module; it has not been loaded yet."""
    folder = workspace / "hooks" / "lame"
    make_hook(workspace / "hooks", "lame", NEW, handler=IMPORTS)
    make_hook(workspace / "hooks", "well", NEW)
    assert hookscope("trust", "hooks").code == 0
    return folder


def row_of(name: str, listed: str) -> str:
    (row,) = (line for line in listed.splitlines() if f" {name} " in line)
    return row


@pytest.mark.parametrize("tried", [("fire", "command:new"), ("load",), ("load", "lame")], ids=str)
def test_a_hook_that_did_not_load_is_listed_as_broken_until_it_loads(
    hookscope: Program, lame: Path, tried: tuple[str, ...]
) -> None:
    assert "● ready" in row_of("lame", hookscope("list").out), "nobody has tried it yet"
    assert hookscope(*tried).code == 1
    why = WHY.format(run=", run 1" if tried[0] == "fire" else "") + AGAIN
    row = row_of("lame", hookscope("list").out)
    assert row.lstrip().startswith("✗ broken"), row
    assert row.endswith(why)
    assert "● ready" in row_of("well", hookscope("list").out)
    checked = hookscope("check").out
    assert f"  lame: {why}" in checked
    assert "✗ broken       1" in checked
    assert hookscope("info", "lame").out.startswith("✗ broken  lame  – its checks pass, but it does not")
    assert "does not load" in row_of("lame", hookscope("plan", "command:new").out), "it would be tried again"
    assert why.removesuffix(AGAIN)[:-2] in hookscope("fix", "lame").out
    (lame / "helper_of_it.py").write_text("TEXT = 'mended'\n")
    assert "● ready" in row_of("lame", hookscope("list").out), "nobody knows of it as it is now"
    told = hookscope("info", "lame").out
    assert told.startswith("● ready  lame\n")
    assert "an older version did not load" in told
    assert "mended" in hookscope("fire", "command:new").out
    assert "● ready" in row_of("lame", hookscope("list").out)


def test_a_hook_that_loads_again_without_edits_is_ready_again(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    code = "import os\n\nTOKEN = os.environ['OF_LAME']\n\n\ndef handler(event): pass\n"
    make_hook(workspace / "hooks", "lame", NEW, handler=code)
    hookscope("trust", "hooks")
    hookscope("fire", "command:new")
    env = {"OF_LAME": "1"}
    assert "✗ broken" in row_of("lame", hookscope("list", env=env).out)
    assert hookscope("load", "lame", env=env).code == 0
    assert "● ready" in row_of("lame", hookscope("list").out)


def test_json_has_both_the_state_of_the_gates_and_the_failed_load(hookscope: Program, lame: Path) -> None:
    hookscope("fire", "command:new")
    document = json.loads(hookscope("list", "--json").out)
    hooks = {hook["name"]: hook for hook in document["hooks"]}
    assert hooks["lame"]["state"] == "ready"
    failed = hooks["lame"]["failed_load"]
    assert (failed["error"], failed["run"]) == ("ModuleNotFoundError: No module named 'helper_of_it'", 1)
    assert hooks["well"]["failed_load"] is None
    checked = json.loads(hookscope("check", "--json").out)
    assert checked["failed_load"] == ["lame"]
    assert "lame" in checked["hooks"]["ready"]


def test_a_module_of_eve_that_did_not_load_is_listed_as_broken(hookscope: Program, workspace: Path) -> None:
    folder = workspace / "agent" / "hooks"
    folder.mkdir(parents=True)
    (folder / "audit.py").write_text("raise ValueError('no key')\n")
    hookscope("trust", "agent/hooks", "--dialect", "eve")
    assert hookscope("fire", "turn.started", "--dialect", "eve").code == 1
    row = row_of("audit", hookscope("list", "--dialect", "eve").out)
    assert row.lstrip().startswith("✗ broken"), row
    assert "does not load: ValueError: no key" in row


def test_failed_load_with_assumed_environment_is_not_recorded(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    code = "import os\n\nassert not os.environ.get('KEY')\n\n\ndef handler(event): pass\n"
    make_hook(workspace / "hooks", "touchy", NEW, handler=code)
    hookscope("trust", "hooks")
    assert hookscope("fire", "command:new", "--env", "KEY=1").code == 1
    assert "● ready" in row_of("touchy", hookscope("list").out)


def test_a_secret_in_a_load_error_is_not_stored(
    hookscope: Program, workspace: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    code = f"def handler(event): pass\n\n\nraise ValueError('bad key {key}')\n"
    make_hook(workspace / "hooks", "leaky", NEW, handler=code)
    hookscope("trust", "hooks")
    assert key in hookscope("fire", "command:new").out
    row = row_of("leaky", hookscope("list").out)
    assert "✗ broken" in row
    assert key not in row
    kept = [file for file in tmp_path.rglob("failed-loads.json") if key in file.read_text()]
    assert not kept


def test_a_damaged_or_read_only_state_folder_does_not_stop_a_scan(
    hookscope: Program, lame: Path, tmp_path: Path
) -> None:
    hookscope("fire", "command:new")
    (kept,) = tmp_path.rglob("failed-loads.json")
    for text in (
        "{",
        '{"handlers": {"x": 1}}',
        json.dumps({"handlers": {str(lame / "handler.py"): {"of": 1}}}),
    ):
        kept.write_text(text)
        assert "● ready" in row_of("lame", hookscope("list").out)
    kept.write_text("{")
    hookscope("fire", "command:new")
    assert "✗ broken" in row_of("lame", hookscope("list").out)
    (entry,) = json.loads(kept.read_text())["handlers"].values()
    for wrong in ({"line": math.inf}, {"at": "0001-01-01T00:00:00+23:59"}, {"at": 5}, {"file": [1]}):
        kept.write_text(json.dumps({"handlers": {str(lame / "handler.py"): {**entry, **wrong}}}))
        assert "● ready" in row_of("lame", hookscope("list").out), wrong
    kept.unlink()
    os.mkfifo(kept)
    assert "● ready" in row_of("lame", hookscope("list").out)


@pytest.mark.parametrize("dialect", ["openclaw", "milady"])
def test_a_script_with_unbalanced_brackets_is_broken_before_any_load(
    hookscope: Program, workspace: Path, make_hook: MakeHook, dialect: str
) -> None:
    header = f'{{"{dialect}": {{"events": ["command:new"]}}}}'
    code = "export default async (event) => {\n  if (event.type === 'command' {\n  }\n};\n"
    make_hook(workspace / "hooks", "torn", header, handler=code, file="handler.ts")
    make_hook(workspace / "hooks", "whole", header, handler="export default () => {};\n", file="handler.ts")
    hookscope("trust", "hooks")
    listed = hookscope("--dialect", dialect, "list").out
    row = row_of("torn", listed)
    assert row.lstrip().startswith("✗ broken"), row
    assert row.endswith("handler.ts, line 2, column 6: `(` is never closed")
    assert "● ready" in row_of("whole", listed)


def test_a_failed_load_is_dropped_if_the_file_changed_meanwhile(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    good = "def handler(event): pass\n"
    code = f"open(__file__, 'w').write({good!r})\nraise ValueError('torn')\n{good}"
    make_hook(workspace / "hooks", "mending", NEW, handler=code)
    hookscope("trust", "hooks")
    assert "torn" in hookscope("fire", "command:new").out
    assert "● ready" in row_of("mending", hookscope("list").out)


def test_an_interpreter_that_does_not_start_marks_no_hook_as_broken(
    hookscope: Program, workspace: Path, lame: Path
) -> None:
    (workspace / ".hookscope").mkdir(exist_ok=True)
    (workspace / "snake").write_text("#!/bin/sh\nexit 3\n")
    (workspace / "snake").chmod(0o755)
    (workspace / ".hookscope/config.yaml").write_text("python: ./snake\n")
    assert hookscope("fire", "command:new").code == 1
    assert "● ready" in row_of("lame", hookscope("list").out)


def test_the_oldest_failed_loads_are_forgotten(tmp_path: Path) -> None:
    known = LoadRecord(tmp_path / "failed-loads.json", "python")
    codes = [
        Code(tmp_path / f"{number}.py", "handler", tmp_path, "python", "x") for number in range(MOST + 2)
    ]
    failure = Failure("ValueError", "torn", phase="load")
    asyncio.run(known.record_attempts([LoadAttempt(code, failure) for code in codes], started=0))
    kept = json.loads(known.file.read_text())["handlers"]
    assert list(kept) == [str(code.path) for code in codes[2:]]
