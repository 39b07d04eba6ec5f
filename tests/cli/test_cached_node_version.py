"""Node is asked for its version once: what it said is known to every command until its file is another."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from hookscope.runtime.executors import NoNode, find_node

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

FOUND = find_node(shutil.which("node"))
EVENTS = '{openclaw: {events: ["command:new"]}}'
FIRE = ("fire", "command:new", "--only", "greet", "--trust")

pytestmark = pytest.mark.skipif(isinstance(FOUND, NoNode), reason="runs TypeScript handlers")


@pytest.fixture
def kept(hookscope: Program, workspace: Path, make_hook: MakeHook, tmp_path: Path) -> Path:
    """The file of what is known, in a trusted workspace whose hook needs the Node that the project names."""
    assert not isinstance(FOUND, NoNode)
    make_hook(workspace / "hooks", "greet", EVENTS, "export default () => {};\n", file="handler.ts")
    name(workspace, FOUND.path)
    assert hookscope("trust", str(workspace)).code == 0
    return tmp_path / "state" / "programs.json"


def name(workspace: Path, program: Path | str) -> None:
    (workspace / ".hookscope").mkdir(exist_ok=True)
    (workspace / ".hookscope" / "config.yaml").write_text(f"node: {program}\n")


def told(hookscope: Program) -> str:
    """What `doctor` says of Node."""
    findings = hookscope("doctor", "--json").json["findings"]
    return str(next(finding["found"] for finding in findings if finding["name"] == "node"))


def change(kept: Path, **members: Any) -> None:
    document = json.loads(kept.read_text())
    for entry in document["versions"].values():
        entry |= members
    kept.write_text(json.dumps(document))


@pytest.mark.parametrize("first", [("list",), ("doctor",), FIRE])
def test_the_first_command_that_needs_nodes_version_caches_it(
    hookscope: Program, kept: Path, first: tuple[str, ...]
) -> None:
    assert hookscope(*first).code == 0
    change(kept, version=[99, 8, 7])
    assert "99.8.7" in told(hookscope)
    assert hookscope(*FIRE).code == 0  # which keeps what it knew


def test_a_changed_node_binary_is_asked_for_its_version_again(hookscope: Program, kept: Path) -> None:
    hookscope(*FIRE)
    (entry,) = json.loads(kept.read_text())["versions"].values()
    real, size, changed, number = entry["of"]
    change(kept, version=[99, 8, 7], of=[real, size, changed + 1, number])
    assert "99.8.7" not in told(hookscope)
    assert hookscope(*FIRE).code == 0
    assert list(json.loads(kept.read_text())["versions"].values()) == [entry]


@pytest.mark.parametrize("version", [[99, 8], ["99", "8", "7"], "99.8.7", None, [True, 8, 7]])
def test_a_damaged_cache_entry_is_ignored(hookscope: Program, kept: Path, version: object) -> None:
    hookscope(*FIRE)
    change(kept, version=version)
    assert "99" not in told(hookscope)


@pytest.mark.parametrize("text", ["", "[]", '{"versions": 7}', '{"versions": {"a": 1}}', "{" * 5000])
def test_a_damaged_cache_file_is_replaced(hookscope: Program, kept: Path, text: str) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)
    assert hookscope(*FIRE).code == 0
    assert any(entry != 1 for entry in json.loads(kept.read_text())["versions"].values())


def test_version_manager_shims_are_never_cached(
    hookscope: Program, kept: Path, workspace: Path, tmp_path: Path
) -> None:
    assert not isinstance(FOUND, NoNode)
    kept.unlink()  # what the fixtures learned of the real one
    script, link = tmp_path / "node", tmp_path / "shim"
    script.write_text(f'#!/bin/sh\nexec {FOUND.path} "$@"\n')
    script.chmod(0o755)
    link.symlink_to(FOUND.path)
    for program in (script, link):
        name(workspace, program)
        assert hookscope(*FIRE).code == 0
    assert not kept.exists()


def test_a_read_only_cache_folder_does_not_stop_a_fire(hookscope: Program, kept: Path) -> None:
    kept.unlink()
    kept.mkdir()
    done = hookscope(*FIRE)
    assert (done.code, "Traceback" in done.err) == (0, False)
