"""Python, TypeScript and JavaScript handlers beside each other, from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

COMMAND = '{openclaw: {events: ["command:new"]}}'
FIRST = """
def handler(event):
    event.messages.append("python was here")
    event.context["history"] = ["a-python"]
"""
SECOND = """
import type { HookHandler } from "../../src/hooks/hooks.js";

interface History { history: string[] }

const handler: HookHandler = async (event) => {
  const { history } = event.context as History;
  history.push("b-typescript");
  event.messages.push(`typescript saw ${event.messages.length} message, of ${event.timestamp.getFullYear()}`);
  event.context.replaced = { by: "typescript" };
};

export default handler;
"""
THIRD = """
module.exports = (event) => {
  event.context.history = [...event.context.history, "c-javascript"];
  event.messages.push(`javascript saw ${event.messages.length} messages`);
};
"""
LAST = """
async def handler(event):
    event.messages.append(f"python saw {len(event.messages)} messages")
    event.context["history"].append("d-python")
    return event.context["replaced"]["by"]
"""
# As guide 004 prints its minimal handler and its pack.
GUIDE = """
import type { HookHandler } from "../../src/hooks/hooks.js";

const myHandler: HookHandler = async (event) => {
  // Only trigger on 'new' command
  if (event.type !== "command" || event.action !== "new") {
    return;
  }

  console.log(`[my-hook] New command triggered`);
  console.log(`  Session: ${event.sessionKey}`);
  console.log(`  Timestamp: ${event.timestamp.toISOString()}`);

  // Your custom logic here

  // Optionally send message to user
  event.messages.push("✨ My hook executed!");
};

export default myHandler;
"""


@pytest.fixture
def fire(hookscope: Program, tmp_path: Path) -> Program:
    def run(*words: str, **more: object) -> object:
        return hookscope("fire", "command:new", "--trust", "--bundled", str(tmp_path), *words, **more)

    return run  # type: ignore[return-value]


def test_changes_by_handlers_of_several_languages_form_one_history(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a-python", COMMAND, FIRST)
    make_hook(workspace / "hooks", "b-typescript", COMMAND, SECOND, file="handler.ts")
    make_hook(workspace / "hooks", "c-javascript", COMMAND, THIRD, file="handler.js")
    make_hook(workspace / "hooks", "d-python", COMMAND, LAST)
    done = fire("--json")
    assert done.code == 0, done.json["results"]
    assert done.json["context"]["history"] == ["a-python", "b-typescript", "c-javascript", "d-python"]
    year = done.json["event"]["timestamp"][:4]
    assert done.json["messages"] == [
        "python was here",
        f"typescript saw 1 message, of {year}",
        "javascript saw 2 messages",
        "python saw 3 messages",
    ]
    assert done.json["results"][-1]["returned"] == "typescript"
    changed = [[change["path"] for change in result["patch"]] for result in done.json["results"]]
    assert "/context/replaced" in changed[1]
    assert not any("replaced" in path for path in changed[3])


def test_the_handler_printed_in_the_guide_runs(fire: Program, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "my-hook", COMMAND, GUIDE, file="handler.ts")
    done = fire("--json", "--session", "s:1")
    (result,) = done.json["results"]
    assert (result["status"], result["messages"]) == ("ok", ["✨ My hook executed!"])
    assert result["stdout"].startswith("[my-hook] New command triggered\n  Session: s:1\n  Timestamp: 20")


def test_hooks_of_a_pack_share_their_library(fire: Program, workspace: Path, make_hook: MakeHook) -> None:
    library = workspace / "hooks" / "lib"
    library.mkdir(parents=True)
    (library / "count.ts").write_text("let n = 0;\nexport const next = (): number => (n += 1);\n")
    source = """
        import { next } from "../lib/count.js";
        export default (event: any) => { event.messages.push(`${next()}`); };
    """
    for name in ("a", "b"):
        make_hook(workspace / "hooks", name, COMMAND, source, file="handler.ts")
    assert fire("--json").json["messages"] == ["1", "2"]


def test_an_error_in_typescript_has_line_column_and_source(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = (
        "interface A { b: string }\n\nexport default (event: { context: A }) => {\n  throw new Error();\n};"
    )
    make_hook(workspace / "hooks", "bad", COMMAND, source, file="handler.ts")
    done = fire("--json")
    (result,) = done.json["results"]
    frame = result["error"]["frames"][-1]
    assert (Path(frame["file"]).name, frame["line"], frame["column"]) == ("handler.ts", 4, 9)
    assert frame["source"] == "throw new Error();"
    assert "handler.ts:4:9" in fire().out


def test_a_missing_sdk_is_stubbed_and_reported(fire: Program, workspace: Path, make_hook: MakeHook) -> None:
    source = """
        import { createLogger } from "openclaw/plugin-sdk";
        export default (event) => { event.messages.push("ran"); };
    """
    make_hook(workspace / "hooks", "sdk", COMMAND, source, file="handler.js")
    (result,) = fire("--json").json["results"]
    assert (result["status"], result["messages"]) == ("ok", ["ran"])
    assert any("openclaw/plugin-sdk is not installed here: createLogger" in note for note in result["notes"])


def test_load_reports_handlers_of_every_language(
    hookscope: Program, workspace: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    make_hook(workspace / "hooks", "good", COMMAND, "export default () => {};", file="handler.ts")
    make_hook(workspace / "hooks", "class", COMMAND, "export default class Handler {}", file="handler.ts")
    make_hook(
        workspace / "hooks", "enum", COMMAND, "enum A { B }\nexport default () => A.B;", file="handler.ts"
    )
    hookscope("trust", "hooks")
    done = hookscope("load", "--json", "--bundled", str(tmp_path))
    assert (done.json["registered"], done.json["failed"]) == (2, ["class"])
    assert "is a class" in done.json["failures"]["class"]["message"]


def test_doctor_names_the_node_that_runs_them(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "ts", COMMAND, "export default () => {};", file="handler.ts")
    findings = {item["name"]: item for item in hookscope("doctor", "--json").json["findings"]}
    assert findings["node"]["well"]
    assert "1 hook needs it: ts" in findings["node"]["found"]


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("22.18.0", "`require.cache` is missing"),
        ("22.23.3", ""),
        ("23.11.1", "`require.cache` is missing"),
        ("24.0.0", "`require.cache` is missing"),
        ("24.11.1", ""),
        ("25.9.0", ""),
        ("26.10.0", "only removes types"),
    ],
)
def test_doctor_says_what_a_node_cannot_do(
    hookscope: Program, workspace: Path, version: str, says: str
) -> None:
    program = workspace / "node"
    program.write_text(f"""#!/bin/sh\necho '["v{version}",true]'\n""")
    program.chmod(0o755)
    (workspace / ".hookscope").mkdir(exist_ok=True)
    (workspace / ".hookscope" / "config.yaml").write_text(f"node: {program}\n")
    assert hookscope("trust", str(workspace)).code == 0
    findings = {item["name"]: item for item in hookscope("doctor", "--json").json["findings"]}
    assert (findings["node"]["well"], bool(findings["node"]["next"])) == (True, bool(says))
    assert says in findings["node"]["next"]


# Looks for a worker of Node that its own host has started.
LOOKS = """
import os, time
from pathlib import Path

def is_beside(folder):
    try:
        parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        return parent == os.getppid() and b"worker.mjs" in (folder / "cmdline").read_bytes()
    except OSError:
        return False

def handler(event):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if any(map(is_beside, Path("/proc").glob("[0-9]*"))):
            event.messages.append("Node is there")
            return
        time.sleep(0.01)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_workers_of_all_languages_start_before_the_first_handler_has_ended(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "first", COMMAND, LOOKS)
    make_hook(workspace / "hooks", "second", COMMAND, "export default () => {};", file="handler.ts")
    run = hookscope("fire", "command:new", "--trust", "--json").json
    done = {result["hook"]: (result["status"], result["messages"]) for result in run["results"]}
    assert done["first"] == ("ok", ["Node is there"])
    assert done["second"] == ("ok", [])
