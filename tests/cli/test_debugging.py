"""`fire --debug`: a handler gone through line by line, in both languages with the same words."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

COMMAND = '{openclaw: {events: ["command:new"]}}'


@dataclass(frozen=True)
class Written:
    """One handler, in one language: the same lines under the same numbers."""

    file: str
    helper: str
    handler: str
    helping: str
    assignment: str


PYTHON = Written(
    "handler.py",
    "helper.py",
    """\
    from helper import shout
    async def handler(event):
        count = len(event.messages)
        text = shout("hello")
        breakpoint()
        event.messages.append(f"{text} {count}")
        raise ValueError(f"no {count}")
    """,
    """\
    def shout(text):
        louder = text.upper()
        return louder
    """,
    "count = 41",
)
TYPESCRIPT = Written(
    "handler.ts",
    "helper.ts",
    """\
    import { shout } from "./helper.ts";
    export default async function handler(event: { messages: string[] }) {
      let count: number = event.messages.length;
      const text = shout("hello");
      debugger;
      event.messages.push(`${text} ${count}`);
      throw new RangeError(`no ${count}`);
    }
    """,
    """\
    export function shout(text: string): string {
      const louder = text.toUpperCase();
      return louder;
    } export enum Mood { Loud = 1 }
    """,
    "count = 41",
)


@pytest.fixture(params=[PYTHON, TYPESCRIPT], ids=["python", "typescript"])
def written(request: pytest.FixtureRequest, workspace: Path, make_hook: MakeHook) -> Written:
    """A trusted hook `shouts` of that language."""
    one: Written = request.param
    folder = make_hook(workspace / "hooks", "shouts", COMMAND, textwrap.dedent(one.handler), file=one.file)
    (folder / one.helper).write_text(textwrap.dedent(one.helping))
    return one


@pytest.fixture
def debug(hookscope: Program, bundled: Path) -> Program:
    """debug("n", "c"): fire, and type these lines."""

    def run(*typed: str, more: tuple[str, ...] = ()) -> Done:
        return hookscope(
            "--bundled", str(bundled), "fire", "command:new", "--trust", "--debug", *more,
            text="".join(f"{line}\n" for line in typed),
        )  # fmt: skip

    return run


def places(done: Done) -> list[str]:
    """Where it stood, as `handler:3 why`."""
    found = re.findall(r"^▸ (\S+)  \S*?/?(\w+)\.(?:py|ts):(\d+)(?: in \w+)?(.*)$", done.err, re.MULTILINE)
    assert found, done
    return [f"{who} {file}:{line}{why}" for who, file, line, why in found]


def test_stepping_visits_only_lines_of_the_author(debug: Program, written: Written) -> None:
    done = debug("n", "s", "n", "o", "c", "c", "c")
    stood = places(done)
    if written is PYTHON:  # it stood at the line with the call, which has not been made yet
        assert stood.pop(5) == "shouts handler:5  at a breakpoint in its code"
    assert stood == [
        "shouts handler:3  at its first line",
        "shouts handler:4",
        "shouts helper:2",
        "shouts helper:3",
        "shouts handler:5",
        f"shouts handler:7  {'ValueError' if written is PYTHON else 'RangeError'}: no 0",
    ]
    assert done.code == 1


def test_typed_expression_is_evaluated_in_the_current_frame(debug: Program, written: Written) -> None:
    done = debug("c", "text", written.assignment, "p count", "v", "c", "c")
    assert re.search(r"debug> ['\"]HELLO['\"]$", done.err, re.MULTILINE)
    assert re.search(r"debug> 41$", done.err, re.MULTILINE)
    assert re.search(r"count = 41$", done.err, re.MULTILINE)
    assert "HELLO 41" in done.out  # the handler goes on with it
    assert "no 41" in done.out


def test_naming_a_line_again_removes_its_breakpoint(debug: Program, written: Written) -> None:
    at = f"hooks/shouts/{written.helper}:2"
    done = debug(f"b {at}", "c", "u", "v", "d", f"b {at}", "b 999", "b what", "r")
    assert f"stops at {written.helper}:2 too" in done.err
    assert f"no longer stops at {written.helper}:2" in done.err
    assert f"cannot stop at {written.helper}:999: there is no such line" in done.err
    assert "b LINE or b FILE:LINE" in done.err
    assert "shouts helper:2  at your breakpoint" in places(done)
    assert places(done)[2] == "shouts handler:4  call 1 of 2"  # the caller, one up
    assert "count = 0" in done.err
    assert not [place for place in places(done) if "in its code" in place]  # `r` runs all


def test_variables_may_be_named_like_debugger_commands(
    debug: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = "def handler(event):\n    b = p = 1\n    event.messages.append(f'{b} {p}')\n"
    make_hook(workspace / "hooks", "short", COMMAND, source)
    assert "7 8" in debug("n", "b = 7", "p = 8", "c").out


def test_a_debugged_run_notes_that_its_times_include_pauses(
    debug: Program, written: Written, hookscope: Program
) -> None:
    told = "debugged: its times include the pauses"
    assert told in debug("r", more=("--json",)).json["notes"]
    assert told in hookscope("log", "1").out


def test_end_of_input_cancels_the_debugged_run(debug: Program, written: Written) -> None:
    done = debug(more=("--json",))
    (result,) = done.json["results"]
    assert (done.code, result["status"]) == (1, "cancelled")


def test_a_closed_output_ends_the_debugged_run(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "waits", COMMAND, "def handler(event):\n    pass\n")
    argv = [sys.executable, "-m", "hookscope", "fire", "command:new", "--trust", "--debug"]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as gone:
        done = subprocess.run(argv, cwd=workspace, input=b"v\n", stdout=PIPE, stderr=gone, timeout=60)
    assert done.returncode == 1


def test_mistyped_debugger_commands_change_nothing(debug: Program, written: Written) -> None:
    done = debug("nowhere", "1 +", "?", "", "w", "l", "b", "p", "c", "c", "c")
    assert "debug>   Type b LINE or b FILE:LINE" in done.err
    assert "debug>   Type p EXPRESSION, or the expression alone." in done.err
    assert re.search(r"debug> (Name|Reference)Error: .*nowhere", done.err)
    assert "SyntaxError" in done.err
    assert "HELLO 0" in done.out


def test_debugging_in_a_sandbox_shows_original_file_names(debug: Program, written: Written) -> None:
    done = debug("event.messages", f"b {written.helper}:2", "c", "c", "c", "c", more=("--sandbox",))
    assert "hookscope-sandbox" not in done.err
    assert places(done)[0] == "shouts handler:3  at its first line"
    assert "HELLO 0" in done.out


def test_every_debugged_handler_stops_and_has_no_timeout(
    debug: Program, workspace: Path, make_hook: MakeHook
) -> None:
    for name in ("a", "b"):
        make_hook(workspace / "hooks", name, COMMAND, "def handler(event):\n    pass\n")
    done = debug("event", "c", "c", more=("--timeout", "0.001"))
    assert places(done) == ["a handler:2  at its first line", "b handler:2  at its first line"]
    assert done.code == 0


def test_the_debugger_escapes_control_characters(
    debug: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = 'def handler(event):\n    evil = "\\x1b[31m"  # \x1b[32m\n    raise KeyError("\\x1b]0;t\\x07")\n'
    make_hook(workspace / "hooks", "evil", COMMAND, source)
    done = debug("n", "v", "p print(evil)", "c", "l", "c")
    assert done.err.count("▸ evil") >= 3
    assert "\x1b" not in done.err + done.out


def test_a_handler_that_dies_at_a_breakpoint_ends_as_crashed(
    debug: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "dies", COMMAND, "import os\ndef handler(event):\n    os._exit(3)\n")
    done = debug("os._exit(4)", more=("--json",))
    (result,) = done.json["results"]
    assert result["status"] == "crashed"
    assert "exited with status 4" in result["error"]["message"]


def test_breakpoint_without_a_debugger_is_skipped(
    hookscope: Program, bundled: Path, written: Written
) -> None:
    done = hookscope("--bundled", str(bundled), "fire", "command:new", "--trust")
    assert "HELLO 0" in done.out
    if written is PYTHON:
        assert "breakpoint() was skipped (handler.py:5): `fire --debug` stops there" in done.out


@pytest.mark.parametrize("more", [("--step",), ("--repeat", "2"), ("--json-lines",), ("--context", "@-")])
def test_debug_refuses_incompatible_options(debug: Program, more: tuple[str, ...]) -> None:
    done = debug(more=more)
    assert done.code == 2
    assert "--debug" in done.err


def test_stop_at_runs_to_the_named_line_without_stopping_first(debug: Program, written: Written) -> None:
    ends = f"shouts/{written.helper}:3"
    done = debug("c", "c", more=("--stop-at", f"{written.file}:6 if count == 0", "--stop-at", ends))
    named = [place for place in places(done) if "in its code" not in place]
    assert named[:2] == [
        "shouts helper:3  at your breakpoint", "shouts handler:6  at your breakpoint",
    ]  # fmt: skip
    assert "Nothing stopped" not in done.err


def test_a_stop_at_line_that_was_never_reached_is_reported(debug: Program, written: Written) -> None:
    done = debug("r", more=("--stop-at", f"{written.file}:6 if count == 9"))
    told = f"Nothing stopped at ./hooks/shouts/{written.file}:6 if count == 9: no handler ran this line"
    assert told in done.err


def test_a_line_without_code_stops_at_the_next_line_with_code(
    debug: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = "def handler(event):\n    # nothing\n    event.messages.append('x')\n\n# the end\n"
    make_hook(workspace / "hooks", "says", COMMAND, source)
    done = debug("c", more=("--stop-at", "handler.py:2", "--stop-at", "handler.py:5"))
    assert "./hooks/says/handler.py:2 has no code: the breakpoint moved to line 3." in done.err
    assert "/says/handler.py:5 has no effect: there is no code at or below this line." in done.err
    assert places(done) == ["says handler:3  at your breakpoint"]
    assert "Nothing stopped" not in done.err


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("handler.py", "`handler.py` has no line number. Write handler.py:12"),
        ("12", "`12` has no line number."),
        ("handler.py:0", "./hooks/a/handler.py has 2 lines, but no line 0."),
        ("hooks/a/handler.py:3", "./hooks/a/handler.py has 2 lines, but no line 3."),
        ("handlr.py:2", "No handler of this run has a file `handlr.py`. Did you mean handler.py:2?"),
        ("other.rb:2", "No handler of this run has a file `other.rb`. Files: ./hooks/a/handler.py."),
    ],
)
def test_stop_at_refuses_a_line_that_no_handler_has(
    debug: Program, workspace: Path, make_hook: MakeHook, line: str, why: str
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, "def handler(event):\n    open('ran', 'w')\n")
    done = debug(more=("--stop-at", line.replace("handler.py:0", "a/handler.py:0")))
    assert why in done.err
    assert (done.code, list(workspace.rglob("ran"))) == (1, [])


def test_stop_at_refuses_an_ambiguous_file_name(debug: Program, workspace: Path, make_hook: MakeHook) -> None:
    for name in ("a", "b"):
        make_hook(workspace / "hooks", name, COMMAND, "def handler(event):\n    pass\n")
    done = debug(more=("--stop-at", "handler.py:2"))
    both = "./hooks/a/handler.py, ./hooks/b/handler.py"
    assert f"`handler.py` matches several files of this run: {both}. Add more of the path." in done.err
    done = debug("c", more=("--stop-at", "b/handler.py:2"))
    assert places(done) == ["b handler:2  at your breakpoint"]


def test_stop_at_prefers_user_files_to_bundled_files(
    debug: Program, bundled: Path, workspace: Path, make_hook: MakeHook
) -> None:
    for folder in (bundled, workspace / "hooks"):
        make_hook(folder, f"of-{folder.name}", COMMAND, "def handler(event):\n    pass\n")
    done = debug("c", more=("--stop-at", "handler.py:2"))
    assert places(done) == ["of-hooks handler:2  at your breakpoint"]


def test_breakpoints_apply_to_handlers_of_their_language_only(
    debug: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, "def handler(event):\n    pass\n")
    source = "export default (event: any) => {\n  event.messages.push('b');\n};\n"
    make_hook(workspace / "hooks", "b", COMMAND, source, file="handler.ts")
    done = debug("c", "c", more=("--stop-at", "handler.ts:2", "--stop-at", "handler.py:2"))
    assert not [word for word in ("Nothing stop", "no effect") if word in done.err]
    assert places(done)[:2] == [
        "a handler:2  at your breakpoint", "b handler:2  at your breakpoint",
    ]  # fmt: skip


def test_stop_at_requires_debug(hookscope: Program, written: Written) -> None:
    done = hookscope("fire", "command:new", "--stop-at", f"{written.file}:3")
    assert (done.code, "Add --debug." in done.err) == (2, True)


def test_a_conditional_breakpoint_stops_only_if_its_condition_holds(debug: Program, written: Written) -> None:
    wrong, raises = f"b {written.helper}:3 if ((", f"b {written.helper}:3 if nowhere"
    done = debug(f"b {written.helper}:3 if louder == 'no'", "b 6 if count == 0", wrong, raises, "c", "c", "c")
    assert f"stops at {written.helper}:3 where louder == 'no'" in done.err
    assert f"cannot stop at {written.helper}:3: `((` is not an expression of" in done.err
    stood = places(done)[1:]
    assert stood[0].startswith("shouts helper:3  at your breakpoint: its condition `nowhere` raises")
    assert "shouts handler:6  at your breakpoint" in stood


PLUGIN = """
async def first(event, ctx):
    mine = "python"

def register(api):
    api.on("message_sent", first)
    api.on("message_sent", first)
"""
TS_PLUGIN = """
export default function register(api) {
  api.on("message_sent", async (event) => {
    const mine = "node";
    return mine;
  });
}
"""


@pytest.fixture
def side_by_side(workspace: Path) -> None:
    """Two plugins that observe the same: each has a worker, and all of their handlers begin at once."""
    for name, file, source in (("a", "plugin.py", PLUGIN), ("b", "index.ts", TS_PLUGIN)):
        folder = workspace / "plugins" / name
        folder.mkdir(parents=True)
        (folder / file).write_text(source)


def observed(hookscope: Program, bundled: Path, *typed: str) -> Done:
    return hookscope(
        "--bundled", str(bundled), "--dialect", "openclaw", "fire", "message_sent", "--trust", "--debug",
        text="".join(f"{line}\n" for line in typed),
    )  # fmt: skip


@pytest.mark.usefixtures("side_by_side")
def test_parallel_handlers_stop_in_the_debugger_one_by_one(hookscope: Program, bundled: Path) -> None:
    done = observed(hookscope, bundled, *["event.channel", "c"] * 3)
    assert sorted(place.partition("  ")[0] for place in places(done)) == [
        "a plugin:3", "a plugin:3", "b index:4",
    ]  # fmt: skip
    assert done.err.count("debug> 'telegram'") + done.err.count('debug> "telegram"') == 3
    assert done.code == 0


@pytest.mark.usefixtures("side_by_side")
def test_debugging_continues_after_a_crashed_handler(hookscope: Program, bundled: Path) -> None:
    done = observed(hookscope, bundled, "process.exit(3)", "__import__('os')._exit(3)", "c", "c", "c")
    assert {place[0] for place in places(done)} == {"a", "b"}
    assert done.code == 1


def test_ctrl_c_at_the_debugger_prompt_starts_a_new_line(
    workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(
        workspace / "hooks", "greet", COMMAND, "def handler(event):\n    event.messages.append('hello')\n"
    )
    argv = [sys.executable, "-m", "hookscope", "--bundled", str(bundled), "fire", "command:new"]
    with subprocess.Popen(
        [*argv, "--trust", "--debug", "--json"], cwd=workspace, stdin=PIPE, stdout=PIPE, stderr=PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stderr is not None
        told = b""
        for prompts in (1, 2, 3):
            while told.count(b"debug> ") < prompts:
                told += os.read(running.stderr.fileno(), 4096)
            if prompts < 3:
                running.send_signal(signal.SIGINT)
        out, _ = running.communicate(b"c\n", timeout=60)
    (result,) = json.loads(out)["results"]
    assert (running.returncode, result["status"]) == (0, "ok")


QUIET_PYTHON = """\
import asyncio
async def later(count):
    await asyncio.sleep(0)
    return count + 1
async def handler(event):
    count = await later(1)
    event.messages.append(str(count))
"""
QUIET_TYPESCRIPT = """\
async function later(count: number) {
  await new Promise((done) => setTimeout(done, 1));
  return count + 1;
}
export default async function handler(event: any) {
  const count = await later(1);
  event.messages.push(String(count));
}
"""


@pytest.mark.parametrize(("file", "source"), [("handler.py", QUIET_PYTHON), ("handler.ts", QUIET_TYPESCRIPT)])
@pytest.mark.parametrize("word", ["n", "s"])
def test_stepping_continues_after_an_await_and_ends_with_the_handler(
    word: str, file: str, source: str, debug: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "waits", COMMAND, source, file=file)
    done = debug(*[word] * 12)
    stood = [int(re.findall(r":(\d+)", place)[0]) for place in places(done)]
    assert [line for line in stood if line > 5] == [6, 7] or [line for line in stood if line > 5] == [6, 7, 8]
    assert any(line < 5 for line in stood) is (word == "s")
    assert done.out.splitlines()[-2:] == ["  2", "note: debugged: its times include the pauses"]
    assert done.code == 0


CAUGHT = """\
import { readFile } from "node:fs/promises";
import { EventEmitter } from "node:events";
async function fails(): Promise<number> {
  await null;
  throw new RangeError("caught");
}
export default async function handler(event: any) {
  try { JSON.parse("{"); } catch {}
  try { await fails(); } catch {}
  await Promise.allSettled([fails()]);
  const emitter = new EventEmitter();
  emitter.on("told", (text) => {
    event.messages.push(text);
  });
  emitter.emit("told", "heard");
  await readFile("nowhere");
}
"""


@pytest.fixture
def catches(workspace: Path, make_hook: MakeHook) -> None:
    """A handler in TypeScript that catches its errors but the last, which is Node's own."""
    make_hook(workspace / "hooks", "catches", COMMAND, CAUGHT, file="handler.ts")


@pytest.mark.usefixtures("catches")
def test_an_error_that_the_handler_catches_does_not_stop_it(debug: Program) -> None:
    done = debug("c", "emitter", "c")
    first, last = places(done)
    assert first == "catches handler:8  at its first line"
    assert last.startswith("catches handler:16  Error: ENOENT")
    assert "are not available" in done.err  # it waited when that came
    assert "heard" in done.out
    assert "status" not in done.err
    assert "ENOENT" in done.out


@pytest.mark.usefixtures("catches")
def test_step_enters_callbacks_that_node_calls(debug: Program) -> None:
    done = debug("b 15", "c", "s", "text", "r")
    assert places(done)[1:3] == ["catches handler:15  at your breakpoint", "catches handler:13"]
    assert 'debug> "heard"' in done.err


THROWS = [
    (
        "handler.ts",
        "export default (event: any) => {\n  const count = 1;\n  throw new Error(`no ${count}`);\n};\n",
    ),
    ("handler.ts", "export default async (event: any) => {\n  const count = 1;\n  event.no.thing;\n};\n"),
]


@pytest.mark.parametrize(("file", "source"), THROWS, ids=["at once", "of a promise"])
def test_an_uncaught_error_reads_the_same_without_a_debugger(
    file: str, source: str, debug: Program, workspace: Path, make_hook: MakeHook, hookscope: Program
) -> None:
    make_hook(workspace / "hooks", "throws", COMMAND, source, file=file)
    done = debug("c", "count", "c", more=("--json",))
    assert len(places(done)) == 2
    assert "debug> 1" in done.err
    plain = hookscope("--bundled", str(workspace), "fire", "command:new", "--trust", "--json")
    (one,), (other,) = done.json["results"], plain.json["results"]
    assert (one["status"], one["error"]) == (other["status"], other["error"])
    assert one["error"]["type"] in ("Error", "TypeError")


def test_the_prompt_accepts_a_breakpoint_in_a_handler_of_the_other_language(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, "def handler(event):\n    pass\n")
    make_hook(
        workspace / "hooks", "b", COMMAND, "export default () => {\n  return 1;\n};\n", file="handler.ts"
    )
    hookscope("trust", "hooks")
    words = "b handler.ts:2\nc\nb handler.py:2\nc\n"
    done = hookscope("--bundled", str(workspace), "fire", "command:new", "--debug", text=words)
    assert "`handler.ts` runs in another worker" in done.err
    assert "--stop-at handler.ts:2" in done.err
    assert "`handler.py` runs in another worker" in done.err
    assert "there is no such line" not in done.err
