"""Handlers gone through from an editor: a session of the Debug Adapter Protocol with the program itself."""

from __future__ import annotations

import os
import select
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.integrations.dap.conftest import Open
from tests.integrations.dap.editor import Editor

COMMAND = '{openclaw: {events: ["command:new"]}}'


@dataclass(frozen=True)
class Written:
    """One handler, in one language: the same lines under the same numbers."""

    file: str
    helper: str
    handler: str
    helping: str
    error: str


PYTHON = Written(
    "handler.py",
    "helper.py",
    """\
    from helper import shout

    async def handler(event):
        held = {"inner": {"deep": [1, 2]}}
        print("begins", flush=True)
        text = shout("hello")
        # no code stands here
        event.messages.append(text)
        raise ValueError(f"no {text}")
    """,
    """\
    def shout(text):
        louder = text.upper()
        return louder
    """,
    "ValueError: no HELLO",
)
TYPESCRIPT = Written(
    "handler.ts",
    "helper.ts",
    """\
    import { shout } from "./helper.ts";

    export default async function handler(event: { messages: string[] }) {
      const held: object = { inner: { deep: [1, 2] } };
      console.log("begins");
      const text = shout("hello");
      // no code stands here
      event.messages.push(text);
      throw new RangeError(`no ${text}`);
    }
    """,
    """\
    export function shout(text: string): string {
      const louder = text.toUpperCase();
      return louder;
    } export enum Mood { Loud = 1 }
    """,
    "RangeError: no HELLO",
)


@pytest.fixture(params=[PYTHON, TYPESCRIPT], ids=["python", "typescript"])
def written(request: pytest.FixtureRequest) -> Written:
    one: Written = request.param
    return one


@pytest.fixture
def folder(written: Written, workspace: Path, make_hook: MakeHook) -> Path:
    """Of the hook `shouts`."""
    made = make_hook(
        workspace / "hooks", "shouts", COMMAND, textwrap.dedent(written.handler), file=written.file
    )
    (made / written.helper).write_text(textwrap.dedent(written.helping))
    return made


def test_a_handler_is_gone_through(editor: Editor, written: Written, folder: Path) -> None:
    handler, helper = folder / written.file, folder / written.helper
    asked = editor.begin({handler: [6], helper: [3]}, event="command:new")
    assert [(one["verified"], one["line"]) for one in asked] == [(False, 6), (False, 3)]
    stopped = editor.stopped("breakpoint")
    assert stopped["hitBreakpointIds"] == [asked[0]["id"]]
    assert [one["name"] for one in editor.do("threads")["threads"]] == ["shouts"]
    assert editor.place(stopped) == f"{written.file}:6"

    held = editor.variables(editor.stack(stopped)[0])["held"]
    inner = editor.members(editor.members(held)["'inner'" if written is PYTHON else "inner"])
    deep = editor.members(inner["'deep'" if written is PYTHON else "deep"])
    assert [deep[name]["value"] for name in ("0", "1")] == ["1", "2"]
    assert all(one["variablesReference"] == 0 for one in deep.values())

    editor.do("stepIn", threadId=stopped["threadId"])
    stopped = editor.stopped("step")
    assert editor.place(stopped) == f"{written.helper}:2"
    caller = editor.stack(stopped)[1]
    assert "held" in editor.variables(caller)
    assert editor.value("text + '!'", stopped).strip("'\"") == "hello!"

    editor.do("next", threadId=stopped["threadId"])
    assert editor.place(editor.stopped("breakpoint")) == f"{written.helper}:3"
    editor.do("stepOut", threadId=stopped["threadId"])
    stopped = editor.stopped("step")
    assert editor.place(stopped).startswith(written.file)

    editor.do("continue", threadId=stopped["threadId"])
    stopped = editor.stopped("exception")
    assert stopped["text"] == written.error
    assert (
        editor.do("exceptionInfo", threadId=stopped["threadId"])["exceptionId"] == written.error.split(":")[0]
    )
    editor.do("continue", threadId=stopped["threadId"])
    assert editor.event("exited")["exitCode"] == 1
    editor.event("terminated")
    assert editor.leave() == 0


def test_what_a_handler_prints_comes_before_it_ends(editor: Editor, written: Written, folder: Path) -> None:
    editor.begin({folder / written.file: [6]}, event="command:new")
    stopped = editor.event("output", lambda body: body["category"] == "stdout")
    assert stopped["output"] == "begins\n"
    editor.do("continue", threadId=editor.stopped("breakpoint")["threadId"])
    editor.do("continue", threadId=editor.stopped("exception")["threadId"])
    editor.do("threads")
    while not any(one["event"] == "terminated" for one in editor.events):
        editor.do("threads")
    assert "begins" not in editor.printed("stdout")  # once is enough
    told = editor.printed("console")
    assert "✗ shouts" in told
    assert "messages (delivered to the user)\n  HELLO" in told


def test_a_line_without_code_stops_at_the_next_one(editor: Editor, written: Written, folder: Path) -> None:
    editor.begin({folder / written.file: [7, 99]}, event="command:new")
    moved = editor.event("breakpoint")["breakpoint"]
    assert (moved["verified"], moved["line"]) == (True, 8)
    lost = editor.event("breakpoint")["breakpoint"]
    assert not lost["verified"]
    assert "no code at or below" in lost["message"]
    assert editor.place(editor.stopped("breakpoint")) == f"{written.file}:8"


def test_a_line_can_be_named_and_forgotten_while_it_runs(
    editor: Editor, written: Written, folder: Path
) -> None:
    handler = folder / written.file
    editor.begin({handler: [5, 8]}, event="command:new")
    stopped = editor.stopped("breakpoint")
    editor.do("setBreakpoints", source={"path": str(handler)}, breakpoints=[{"line": 6}])
    editor.do("continue", threadId=stopped["threadId"])
    assert editor.place(editor.stopped("breakpoint")) == f"{written.file}:6"
    editor.do("continue", threadId=stopped["threadId"])
    editor.stopped("exception")


def test_it_stands_at_its_first_line_where_that_is_wanted(
    editor: Editor, written: Written, folder: Path
) -> None:
    editor.begin(event="command:new", stopOnEntry=True, filters=())
    stopped = editor.stopped("entry")
    assert editor.place(stopped) == f"{written.file}:4"
    editor.do("continue", threadId=stopped["threadId"])
    editor.event("terminated")  # no error stops it either


CATCHES = {
    "handler.py": """\
def handler(event):
    try:
        [][0]
    except IndexError:
        pass
    event.messages.append("well")
""",
    "handler.ts": """\
export default async (event: any) => {
  try {
    event.no.thing;
  } catch {
  }
  event.messages.push("well");
};
""",
}


@pytest.mark.parametrize("file", CATCHES)
def test_errors_that_a_handler_catches_stop_it_where_that_is_wanted(
    file: str, editor: Editor, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "catches", COMMAND, CATCHES[file], file=file)
    editor.begin(event="command:new", filters=("raised", "leaving"))
    stopped = editor.stopped("exception")
    assert editor.place(stopped) == f"{file}:3"
    editor.do("continue", threadId=stopped["threadId"])
    assert editor.event("exited")["exitCode"] == 0


ENDLESS = {
    "handler.py": """\
import time
def handler(event):
    count = 0
    while True:
        count += 1
        time.sleep(0.001)
""",
    "handler.ts": """\
export default async (event: any) => {
  let count = 0;
  while (true) {
    await new Promise((done) => setTimeout(done, 1));
    count += 1;
  }
};
""",
}


@pytest.fixture(params=ENDLESS)
def endless(request: pytest.FixtureRequest, workspace: Path, make_hook: MakeHook) -> Path:
    """The file of a handler that never ends."""
    name: str = request.param
    return make_hook(workspace / "hooks", "endless", COMMAND, ENDLESS[name], file=name) / name


def running(editor: Editor) -> int:
    """The thread of the handler that runs."""
    return int(editor.event("thread", lambda body: body["reason"] == "started")["threadId"])


def test_running_handler_can_be_paused_and_continued(editor: Editor, endless: Path) -> None:
    editor.begin(event="command:new")
    thread = running(editor)
    editor.do("pause", threadId=thread)
    stopped = editor.stopped("pause")
    assert editor.value("40 + 2", stopped) == "42"
    editor.do("pause", threadId=thread)  # it stands already
    editor.do("setBreakpoints", source={"path": str(endless)}, breakpoints=[{"line": 5}])
    counts = []
    for _ in range(2):
        editor.do("continue", threadId=thread)
        counts.append(int(editor.value("count", editor.stopped("breakpoint"))))
    assert counts[1] == counts[0] + 1


def test_breakpoint_set_during_a_run_stops_the_handler(editor: Editor, endless: Path) -> None:
    editor.begin(event="command:new")
    running(editor)
    editor.do("setBreakpoints", source={"path": str(endless)}, breakpoints=[{"line": 5}])
    editor.stopped("breakpoint")


def children(pid: int) -> list[int]:
    """All processes below one."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            child = int(stat.parent.name)
            found += [child, *children(child)]
    return found


@pytest.mark.parametrize("way", ["disconnect", "terminate", "end of input", "signal"])
def test_disconnect_during_a_run_leaves_no_process(way: str, editor: Editor, endless: Path) -> None:
    editor.begin(event="command:new")
    running(editor)
    below = [os.pidfd_open(pid) for pid in children(editor.process.pid)]
    assert below
    if way == "terminate":
        editor.do("terminate")
        assert editor.event("exited")["exitCode"] == 1
        editor.event("terminated")
    if way in ("disconnect", "terminate"):
        editor.do("disconnect")
    elif way == "signal":
        editor.process.terminate()
    else:
        assert editor.process.stdin is not None
        editor.process.stdin.close()
    assert editor.process.wait(60) == 0
    for process in below:
        assert select.select([process], [], [], 60)[0]  # it has ended
        os.close(process)


def test_endless_expression_does_not_block_the_session(
    editor: Editor, written: Written, folder: Path
) -> None:
    editor.begin({folder / written.file: [6]}, event="command:new")
    stopped = editor.stopped("breakpoint")
    frame = editor.stack(stopped)[0]["id"]
    endless = "while True: pass" if written is PYTHON else "while (true) {}"
    editor.ask("evaluate", expression=endless, frameId=frame, context="repl")
    assert editor.leave() == 0


def test_a_handler_that_dies_is_told(editor: Editor, workspace: Path, make_hook: MakeHook) -> None:
    source = "import os\ndef handler(event):\n    os._exit(3)\n"
    make_hook(workspace / "hooks", "dies", COMMAND, source)
    editor.begin(event="command:new", stopOnEntry=True)
    stopped = editor.stopped("entry")
    frame = editor.stack(stopped)[0]["id"]
    assert "has ended" in editor.refused("evaluate", expression="os._exit(4)", frameId=frame)
    assert editor.event("exited")["exitCode"] == 1
    assert "not stopped" in editor.refused("next", threadId=99)
    assert "No handler is stopped" in editor.refused("scopes", frameId=frame)


def test_untrusted_folder_is_refused(opened: Open, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND, "def handler(event):\n    open('ran', 'w')\n")
    editor = opened(trusts=False)
    editor.do("initialize", adapterID="hookscope")
    said = editor.refused("launch", event="command:new")
    assert "the folder is not trusted" in said
    assert "`hookscope trust ./hooks`" in said
    assert "launch.json" in opened(trusts=False).refused("launch", event="command:new", trust=True)
    assert not (workspace / "ran").exists()


@pytest.mark.parametrize(
    ("launch", "told"),
    [
        ({}, "name no `event`"),
        ({"event": 3}, "`event` needs a string or an object"),
        ({"event": "command:new", "only": "gret"}, "greet"),
        ({"event": "command:new", "workspace": "/nowhere"}, "There is no folder /nowhere."),
        ({"event": "comand:new"}, "command:new"),
        ({"event": "message:sent"}, "No handler runs at message:sent."),
        ({"event": "command:new", "dialect": "opnclaw"}, "openclaw"),
        ({"event": {"events": "command:new"}}, "event"),
    ],
)
def test_a_launch_that_cannot_be_is_refused_in_a_sentence(
    launch: dict[str, object], told: str, editor: Editor, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND, "def handler(event):\n    pass\n")
    assert told in editor.refused("launch", **launch)


def test_editor_arguments_are_ignored_and_typos_are_reported(
    editor: Editor, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND, "def handler(event):\n    pass\n")
    editor.begin(event="command:new", contxt={}, __sessionId="3", preLaunchTask="build")
    told = editor.event("output")["output"]
    assert told == "There is no launch argument `contxt`: did you mean `context`?\n"
    assert editor.event("exited")["exitCode"] == 0


def test_the_words_of_fire_are_those_of_a_launch(
    editor: Editor, workspace: Path, make_hook: MakeHook
) -> None:
    for name in ("a", "b"):
        source = (
            "def handler(event):\n    event.messages.append(event.context['text'])\n    open('ran', 'w')\n"
        )
        make_hook(workspace / "hooks", name, COMMAND, source)
    event = {"event": "command:new", "context": {"text": "given"}}
    editor.begin(event=event, sandbox=True, only="b")
    told = editor.event("output", lambda body: "messages" in body["output"])["output"]
    assert "given" in told
    assert "✓ b" in told
    assert "✓ a" not in told
    assert "in copies, discarded" in told
    assert editor.event("exited")["exitCode"] == 0
    assert not (workspace / "ran").exists()


def test_lines_stop_on_copies_too(editor: Editor, written: Written, folder: Path) -> None:
    editor.begin({folder / written.file: [6]}, event="command:new", sandbox=True)
    stopped = editor.stopped("breakpoint")
    assert editor.stack(stopped)[0]["source"]["path"] == str(folder / written.file)


def test_without_debugging_it_is_fired_and_nothing_stops(
    editor: Editor, written: Written, folder: Path
) -> None:
    editor.begin({folder / written.file: [6]}, event="command:new", noDebug=True)
    assert editor.event("exited")["exitCode"] == 1


def test_frames_that_are_none(editor: Editor, opened: Open) -> None:
    editor.write(b"Content-Length: 5\r\n\r\n{oops")
    assert "could not be read" in editor.event("output")["output"]
    assert "'dance' is not supported" in editor.refused("dance")
    assert "do not follow the protocol" in editor.refused("scopes")
    editor.write(b"GET / HTTP/1.1\r\n\r\n")
    assert editor.process.wait(60) == 1
    assert editor.process.stderr is not None
    assert b"not the Debug Adapter Protocol" in editor.process.stderr.read()


def test_a_module_stops_while_it_is_loaded(editor: Editor, workspace: Path, make_hook: MakeHook) -> None:
    source = "import os\nPLACE = os.getcwd()\n\n\ndef handler(event):\n    return PLACE\n"
    file = make_hook(workspace / "hooks", "loads", COMMAND, source) / "handler.py"
    editor.begin({file: [2, 5]}, event="command:new")
    stopped = editor.stopped("breakpoint")
    assert editor.place(stopped) == "handler.py:2"
    editor.do("continue", threadId=stopped["threadId"])
    assert (
        editor.place(editor.stopped("breakpoint")) == "handler.py:6"
    )  # in the call, not where it is defined
