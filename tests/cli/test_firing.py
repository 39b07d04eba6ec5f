"""fire and load, from outside."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

RUN_FIELDS = {
    "event", "dialect", "results", "not_run", "messages", "context", "result", "failure", "log", "caused",
    "ms",
}  # fmt: skip
RESULT_FIELDS = {
    "hook", "key", "handler", "status", "started_ms", "ms", "messages", "delivered", "returned",
    "stdout", "stderr", "error", "patch", "forced",
}  # fmt: skip
COMMAND = "{openclaw: {events: [command]}}"


@pytest.fixture
def fire(hookscope: Program, bundled: Path) -> Program:
    def fire(*arguments: str, **more: Any) -> Done:
        return hookscope("fire", *arguments, "--bundled", str(bundled), **more)

    return fire


def test_fire_prints_runs_for_people_and_json(fire: Program, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(
        workspace / "hooks", "greet", COMMAND,
        """
        import sys
        def handler(event):
            print("to the log"); print("beware", file=sys.stderr)
            event.messages.append("hello " + event.context["senderId"])
            event.context["greeted"] = True
            return {"seen": event.session_key}
        """,
    )  # fmt: skip
    make_hook(workspace / "hooks", "later", "{openclaw: {events: ['gateway:startup']}}")
    done = fire("command:new", "--json", "--trust", "--session", "s1", "--context", '{"senderId": "you"}')
    assert (done.code, done.err) == (0, "")
    run = done.json
    assert run.keys() >= RUN_FIELDS
    (result,) = run["results"]
    assert result.keys() >= RESULT_FIELDS
    assert (result["hook"], result["key"], result["status"]) == ("greet", "command", "ok")
    assert result["messages"] == run["messages"] == ["hello you"]
    assert result["delivered"] is True
    assert result["returned"] == {"seen": "s1"}
    assert (result["stdout"], result["stderr"]) == ("to the log\n", "beware\n")
    assert {"op": "add", "path": "/context/greeted", "value": True} in result["patch"]
    assert run["context"] == {"senderId": "you", "greeted": True}
    assert run["event"]["sessionKey"] == "s1"
    assert run["event"]["timestamp"].endswith("Z")
    assert run["event"]["messages"] == []
    assert run["not_run"] == [{"hook": "later", "reason": "subscribes to gateway:startup"}]
    assert run["ms"] >= result["ms"] >= 0


def test_an_error_has_its_file_line_and_source(fire: Program, workspace: Path, make_hook: MakeHook) -> None:
    folder = make_hook(
        workspace / "hooks", "bad", COMMAND,
        "from helper import root\ndef handler(event):\n    return root(event.context)\n",
    )  # fmt: skip
    (folder / "helper.py").write_text("def root(context):\n    return context['workspace_dir']\n")
    done = fire("command:new", "--json", "--trust")
    assert done.code == 1
    (result,) = done.json["results"]
    assert (result["status"], result["error"]["type"], result["error"]["message"]) == (
        "error", "KeyError", "'workspace_dir'",
    )  # fmt: skip
    frames = result["error"]["frames"]
    assert [(Path(frame["file"]).name, frame["line"], frame["function"]) for frame in frames] == [
        ("handler.py", 3, "handler"),
        ("helper.py", 2, "root"),
    ]  # fmt: skip
    assert result["error"]["frames"][-1]["source"].strip() == "return context['workspace_dir']"
    assert done.json["log"] == [{"level": "error", "text": "Hook error [command:new]: 'workspace_dir'"}]
    shown = fire("command:new", "--trust").out
    assert re.search(r"helper\.py:2:\d+ in root", shown)
    assert "return context['workspace_dir']" in shown


def test_without_trust_and_terminal_nothing_runs_and_the_next_step_is_named(
    fire: Program, hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    sign = workspace / "it-ran"
    make_hook(
        workspace / "hooks", "eager", COMMAND,
        f"open({str(sign)!r}, 'w').close()\ndef handler(event): pass\n",
    )  # fmt: skip
    done = fire("command:new", "--json")
    assert done.code == 1
    assert "`--trust`" in done.err
    assert done.json["results"] == []
    assert [item["hook"] for item in done.json["not_run"]] == ["eager"]
    assert not sign.exists()
    assert fire("command:new", "--trust").code == 0
    assert sign.exists()
    assert fire("command:new").code == 1  # --trust was for once
    hookscope("trust", "hooks")
    assert fire("command:new").code == 0


BRIEF = "{openclaw: {events: [command]}, hookscope: {limits: {run: 0.5}}}"
FAULTS = {
    "loops": ("def handler(event):\n    while True: pass\n", "timeout"),
    "hangs": ("import asyncio\nasync def handler(event): await asyncio.Event().wait()\n", "timeout"),
    "leaves": ("import os\ndef handler(event): os._exit(1)\n", "crashed"),
    "crashes": ("import ctypes\ndef handler(event): ctypes.string_at(0)\n", "crashed"),
    "exits": ("import sys\ndef handler(event): sys.exit(3)\n", "error"),
    "torn": ("raise RuntimeError('torn')\ndef handler(event): pass\n", "error"),
    "floods": ("def handler(event):\n    for _ in range(1000): print('x' * 100_000)\n", "ok"),
    "[/x]": ("def handler(event): event.messages.append('[/x]')\n", "ok"),
}


def test_every_fault_is_a_result_and_the_next_handler_runs(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    for name, (source, _) in FAULTS.items():
        metadata = BRIEF if name in ("loops", "hangs") else COMMAND
        folder = make_hook(workspace / "hooks", name.replace("/", "-"), metadata, source)
        header = folder / "HOOK.md"
        header.write_text(header.read_text().replace(f"name: {name.replace('/', '-')}", f"name: '{name}'"))
    make_hook(workspace / "hooks", "zz-healthy", COMMAND, "def handler(event): event.messages.append('fine')")
    done = fire("command:new", "--json", "--trust")
    assert done.code == 1
    statuses = {result["hook"]: result["status"] for result in done.json["results"]}
    errors = {result["hook"]: result["error"] for result in done.json["results"]}
    expected = {**{name: status for name, (_, status) in FAULTS.items()}, "zz-healthy": "ok"}
    assert statuses == expected, errors
    assert done.json["messages"] == ["[/x]", "fine"]
    (flood,) = [result for result in done.json["results"] if result["hook"] == "floods"]
    assert len(flood["stdout"]) < 100_000
    assert flood["notes"]


SLIPS = {
    "handler.py": "def handler(event):\n    return event.context['senderID'].upper()\n",
    "handler.ts": "export default (event: any) => event.context.senderID.trim();\n",
}


@pytest.mark.parametrize("file", SLIPS)
def test_a_missing_field_error_names_the_fields_that_exist(
    fire: Program, hookscope: Program, workspace: Path, make_hook: MakeHook, file: str
) -> None:
    adds = "def handler(event):\n    event.context['added'] = 1\n    del event.context['cfg']\n"
    make_hook(workspace / "hooks", "adds", COMMAND, adds)
    make_hook(workspace / "hooks", "slips", COMMAND, SLIPS[file], file=file)
    done = fire("command:new", "--trust")
    (had,) = re.findall(r"^ +context had  (.*)$", done.out, re.MULTILINE)
    keys = had.split(", ")
    assert keys == sorted(keys)
    assert {"added", "senderId"} <= set(keys)
    assert "cfg" not in keys
    assert "Did you mean senderId?" in done.out
    assert f"context had  {had}\n      Did you mean senderId?" in hookscope("log", "1").out


@pytest.mark.parametrize(
    ("put", "had"), [("{'room': 1, 'added': 2}", "added, room"), ("None", "no keys at all")]
)
def test_a_missing_field_error_names_the_keys_of_a_replaced_context(
    fire: Program, workspace: Path, make_hook: MakeHook, put: str, had: str
) -> None:
    make_hook(workspace / "hooks", "a-puts", COMMAND, f"def handler(event):\n    event.context = {put}\n")
    make_hook(workspace / "hooks", "b-slips", COMMAND, SLIPS["handler.ts"], file="handler.ts")
    done = fire("command:new", "--trust")
    assert re.findall(r"^ +context had  (.*)$", done.out, re.MULTILINE) == [had]


def test_other_errors_do_not_list_fields(fire: Program, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(
        workspace / "hooks", "wrong", COMMAND, "def handler(event):\n    raise ValueError('senderID')\n"
    )
    done = fire("command:new", "--trust")
    assert "ValueError: senderID" in done.out
    assert "context had" not in done.out


def test_only_fires_at_one_hook(fire: Program, workspace: Path, make_hook: MakeHook) -> None:
    for name in ("one", "two"):
        make_hook(workspace / "hooks", name, COMMAND, f"def handler(event): event.messages.append({name!r})")
    done = fire("command:new", "--json", "--trust", "--only", "two")
    assert done.code == 0
    assert done.json["messages"] == ["two"]
    assert done.json["not_run"] == [{"hook": "one", "reason": "skipped: only two was requested"}]
    unknown = fire("command:new", "--trust", "--only", "tow")
    assert (unknown.code, "Did you mean two?" in unknown.err) == (1, True)


def test_only_requests_no_trust_for_other_folders(
    hookscope: Program, fire: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "one", COMMAND)
    make_hook(home / ".openclaw" / "hooks", "two", COMMAND)
    hookscope("trust", "hooks")
    done = fire("command:new", "--only", "one")
    assert (done.code, done.err) == (0, "")
    assert fire("command:new", "--only", "two").code == 1


def test_without_node_its_handlers_are_named_with_the_way_to_install_it(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "ts", COMMAND, "export default () => {}", file="handler.ts")
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope/config.yaml").write_text("node: /no/such/node")
    done = fire("command:new", "--json", "--trust")
    assert done.code == 1
    reason = done.json["not_run"][0]["reason"]
    assert reason.startswith(
        "handler.ts needs Node 22.18 or newer (/no/such/node is named and cannot be read"
    )
    assert reason.endswith("; name another under `node:` in .hookscope/config.yaml")
    assert "ts did not run: handler.ts needs Node" in done.err


def test_without_a_context_the_event_has_the_settings_in_force(
    fire: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{hooks: {internal: {entries: {memory: {messages: 25}}}}}")
    make_hook(
        workspace / "hooks", "memory", COMMAND,
        """
        def handler(event):
            own = event.context["cfg"]["hooks"]["internal"]["entries"]["memory"]
            event.messages.append(str(own["messages"]))
        """,
    )  # fmt: skip
    done = fire("command:new", "--json", "--trust")
    assert done.json["messages"] == ["25"]


def test_an_entrys_env_reaches_only_its_own_handler(
    fire: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text(
        '{hooks: {internal: {entries: {a: {env: {TOKEN: "secret"}}}}}}'
    )
    say = "import os\ndef handler(event): event.messages.append(os.environ.get('TOKEN', 'none'))\n"
    for name in ("a", "b"):
        make_hook(workspace / "hooks", name, COMMAND, say)
    assert fire("command:new", "--json", "--trust").json["messages"] == ["secret", "none"]


def test_a_context_comes_from_a_file_or_standard_input(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(
        workspace / "hooks",
        "echo",
        COMMAND,
        "def handler(event): event.messages.append(event.context['who'])",
    )
    (workspace / "context.json").write_text('{"who": "a file"}')
    assert fire("command:new", "--json", "--trust", "--context", "@context.json").json["messages"] == [
        "a file"
    ]
    piped = fire("command:new", "--json", "--trust", "--context", "@-", text='{"who": "a pipe"}')
    assert piped.json["messages"] == ["a pipe"]
    several = ("command:new", "command:reset", "--json", "--trust", "--context")
    make_hook(
        workspace / "hooks", "echo", "{openclaw: {events: [command]}}",
        "def handler(event): event.messages.append(event.context['who'])",
    )  # fmt: skip
    for run in fire(*several, "@-", text='{"who": "a pipe"}').json:
        assert run["messages"] == ["a pipe"]
    twice = fire("command:new", "--context", "@-", "--ctx", "@-", text="{}")
    assert (twice.code, "both read standard input" in twice.err) == (2, True)
    endless = fire("command:new", "--context", "@/dev/zero")
    assert (endless.code, "/dev/zero: not a regular file" in endless.err) == (2, True)


def test_a_number_replaced_by_a_boolean_counts_as_a_change(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    sets = "def handler(event):\n    event.context['on'] = True\n    event.context['list'][0] = False"
    make_hook(workspace / "hooks", "a-sets", COMMAND, sets)
    sees = "def handler(event): event.messages.append(repr(event.context))"
    make_hook(workspace / "hooks", "b-sees", COMMAND, sees)
    run = fire("command:new", "--json", "--trust", "--context", '{"on": 1, "list": [0]}').json
    assert run["messages"] == ["{'on': True, 'list': [False]}"]
    assert json.dumps(run["context"]) == '{"on": true, "list": [false]}'
    assert [change["path"] for change in run["results"][0]["patch"]] == ["/context/on", "/context/list/0"]


def test_saved_events_are_fired_one_after_another(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(
        workspace / "hooks", "echo", COMMAND,
        "def handler(event): event.messages.append(f'{event.action} {event.session_key} {event.context}')",
    )  # fmt: skip
    events = workspace / ".hookscope/events"
    events.mkdir(parents=True)
    (events / "new.yaml").write_text("event: command:new\nsession: s1\ncontext: {who: '${WHO}'}\n")
    one = fire(str(events / "new.yaml"), "--json", "--trust", env={"WHO": "me"})
    assert one.json["messages"] == ["new s1 {'who': 'me'}"]
    two = fire(
        str(events / "new.yaml"), "command:reset", "--json", "--trust", "--context", "{}", env={"WHO": "x"}
    )
    assert [run["event"]["action"] for run in two.json] == ["new", "reset"]
    unset = fire(str(events / "new.yaml"), "--trust", env={"WHO": ""})
    assert unset.code == 0
    (events / "bad.yaml").write_text("evnt: command:new\n")
    assert fire(str(events / "bad.yaml")).code == 2


def test_a_saved_event_equals_the_fired_one_without_its_secrets(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "keys", COMMAND, "def handler(event): print(sorted(event.context))")
    token = "sk" + "-0123456789abcdefghijklmn"
    context = json.dumps({"apiKey": token, "list": [1, {"a": None}], "true": "yes: no # it"})
    kept = fire("command:new", "--trust", "--context", context, "--session", "s:1", "--save", "mine.yaml")
    file = workspace / "mine.yaml"
    assert (kept.code, token in file.read_text()) == (0, False)
    assert "Set its secrets as environment variables: API_KEY." in kept.err
    assert file.read_text().startswith("event: command:new\nsession: s:1\ncontext:\n")
    again = fire(str(file), "--trust", "--json", env={"API_KEY": token})
    assert again.json["event"]["context"] == json.loads(context)
    assert again.json["event"]["sessionKey"] == "s:1"
    refused = fire("command:new", "--trust", "--save", "mine.yaml")
    assert refused.code == 1
    assert f"{file} already exists" in refused.err
    assert fire("command:new", "command:new", "--save", "x").code == 2


def test_json_lines_streams_each_step(fire: Program, workspace: Path, make_hook: MakeHook) -> None:
    for name in ("one", "two"):
        make_hook(workspace / "hooks", name, COMMAND)
    done = fire("command:new", "--json-lines", "--trust")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [(line["step"], line.get("hook")) for line in lines] == [
        ("started", "one"),
        ("result", "one"),
        ("started", "two"),
        ("result", "two"),
        ("run", None),
    ]
    assert lines[-1].keys() >= RUN_FIELDS


def test_an_event_missing_from_the_catalogue_is_fired_with_a_warning(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "any", COMMAND)
    done = fire("command:nwe", "--trust", "--json")
    assert done.code == 0
    assert len(done.json["results"]) == 1
    assert "does not list command:nwe" in done.err
    assert "Did you mean command:new?" in done.err


def test_ctrl_c_cancels_prints_what_is_known_and_leaves_nothing(
    workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    say_who = "import os\ndef handler(event): event.messages.append(str(os.getpid()))"
    make_hook(workspace / "hooks", "a-first", COMMAND, say_who)
    make_hook(workspace / "hooks", "b-hangs", COMMAND, "def handler(event):\n    while True: pass")
    make_hook(workspace / "hooks", "c-never", COMMAND)
    program = [sys.executable, "-m", "hookscope", "fire", "command:new", "--trust", "--bundled", str(bundled)]
    running = subprocess.Popen(
        [*program, "--json-lines"], cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    for text in running.stdout:
        line = json.loads(text)
        if (line["step"], line.get("hook")) == ("started", "b-hangs"):
            break
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    run = json.loads(out.splitlines()[-1])
    assert running.returncode == 1
    assert [(result["hook"], result["status"]) for result in run["results"]] == [
        ("a-first", "ok"),
        ("b-hangs", "cancelled"),
    ]
    assert [item["hook"] for item in run["not_run"]] == ["c-never"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(run["messages"][0]), 0)


@pytest.mark.parametrize(
    ("at", "says"),
    [(3, "does the same        ok ×2, cancelled ×1"), (1, "ran once             cancelled ×1")],
)
def test_ctrl_c_is_not_counted_as_a_different_result_of_a_repeat(
    workspace: Path, bundled: Path, make_hook: MakeHook, at: int, says: str
) -> None:
    source = f"""
        import os, signal
        fired = []
        def handler(event):
            event.messages.append("hi")
            fired.append(1)
            if len(fired) == {at}:
                os.kill(os.getppid(), signal.SIGINT)
                while True: pass
    """
    make_hook(workspace / "hooks", "greet", COMMAND, source)
    program = [sys.executable, "-m", "hookscope", "fire", "command:new", "--trust", "--bundled", str(bundled)]
    done = subprocess.run(
        [*program, "--repeat", "5"], cwd=workspace, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert f"greet  {says}" in done.stdout
    assert ("fired once" if at == 1 else f"fired {at} times") in done.stdout


def test_an_unused_second_argument_is_noted(fire: Program, workspace: Path) -> None:
    note = "ctx.agentId reaches no handler: handlers of this event get only the event; put it in the context"
    assert note in fire("command:new", "--ctx", '{"agentId": "main"}').err
    saved = workspace / ".hookscope/events/new.yaml"
    saved.parent.mkdir(parents=True)
    saved.write_text("event: command:new\nctx: {agentId: main}\n")
    assert note in fire(str(saved)).err
    assert "reaches no handler" not in fire("before_tool_call", "--ctx", '{"agentId": "main"}').err


def test_fire_asks_for_trust_at_a_terminal(workspace: Path, bundled: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND, "def handler(event): event.messages.append('hello')")
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as terminal:
        program = [sys.executable, "-m", "hookscope", "fire", "command:new", "--bundled", str(bundled)]
        running = subprocess.Popen(
            program, cwd=workspace, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True
        )
        terminal.write(b"y\n")
        out, _ = running.communicate(timeout=60)
        os.close(theirs)
    assert running.returncode == 0
    assert "hello" in out


def test_load_reports_loaded_and_failed_handlers(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "good", COMMAND)
    make_hook(workspace / "hooks", "torn", COMMAND, "raise RuntimeError('torn')")
    make_hook(workspace / "hooks", "mute", "{openclaw: {}}")
    untrusted = hookscope("load", "--json", "--bundled", str(bundled))
    assert untrusted.json["registered"] == 0
    done = hookscope("load", "--json", "--trust", "--bundled", str(bundled))
    assert done.code == 1
    assert done.json.keys() >= {"discovered", "eligible", "registered", "skipped", "failed", "log"}
    assert (done.json["discovered"], done.json["eligible"], done.json["registered"]) == (3, 3, 1)
    assert done.json["skipped"] == ["mute: no events"]
    assert done.json["failed"] == ["torn"]
    frame = done.json["failures"]["torn"]["frames"][-1]
    assert (Path(frame["file"]).name, frame["line"]) == ("handler.py", 1)


def test_the_bundled_command_logger_writes_whole_lines(hookscope: Program, home: Path) -> None:
    for action in ("new", "reset"):
        done = hookscope("fire", f"command:{action}", "--session", "s1")
        assert done.code == 0, done.err
    lines = [json.loads(line) for line in (home / ".openclaw/logs/commands.log").read_text().splitlines()]
    assert [(line["action"], line["sessionKey"], line["senderId"]) for line in lines] == [
        ("new", "s1", "dev"),
        ("reset", "s1", "dev"),
    ]
    assert lines[0].keys() == {"timestamp", "action", "sessionKey", "senderId", "source"}
    hookscope("--dialect", "milady", "fire", "command:new")
    assert (home / ".milady/logs/commands.log").exists()


@pytest.mark.parametrize("only", [[], ["--only", "torn"]])
def test_fire_exits_with_1_if_a_subscribed_handler_is_broken(
    only: list[str], fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "torn", COMMAND, "def handler(event:\n")
    done = fire("command:new", "--trust", *only)
    assert done.code == 1
    assert "torn did not run: broken: handler.py, line 1" in done.err
    assert fire("gateway:startup", "--trust").code == 0


def test_a_blocked_hook_fails_a_fire_only_if_it_was_named(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "needy", "{openclaw: {events: [command], requires: {bins: [no-such]}}}")
    assert fire("command:new", "--trust").code == 0
    done = fire("command:new", "--trust", "--only", "needy")
    assert done.code == 1
    assert "needy did not run: blocked: Binary missing: no-such." in done.err


def test_an_error_is_logged_under_the_event_that_was_fired(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a-bad", COMMAND, "def handler(event): 1 / 0")
    make_hook(workspace / "hooks", "b-renames", COMMAND, "def handler(event): event.type = 'hacked'")
    done = fire("command:new", "--trust", "--json")
    assert done.json["log"] == [{"level": "error", "text": "Hook error [command:new]: division by zero"}]


@pytest.mark.parametrize(
    "source",
    [
        "globals()['handler'] = lambda event: event.messages.append('ran')\n",
        "(handler := lambda event: event.messages.append('ran'))\n",
        "def __getattr__(name):\n    if name == 'handler':\n"
        "        return lambda event: event.messages.append('ran')\n    raise AttributeError(name)\n",
    ],
    ids=["globals", "walrus", "getattr"],
)
def test_undecidable_handler_is_not_reported_as_broken(
    source: str, fire: Program, hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "odd", COMMAND, source)
    assert fire("command:new", "--trust", "--json").json["messages"] == ["ran"]


def test_load_without_trust_names_the_next_step(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    done = hookscope("load", "--json", "--bundled", str(bundled))
    assert done.code == 1
    assert "`--trust` this once" in done.err
    assert hookscope("load", "--trust", "--bundled", str(bundled)).code == 0


def at_terminal(program: list[str], cwd: Path, answers: bytes) -> tuple[int, str, str]:
    """Its exit code, what it printed, and what stood on the terminal where this was typed."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as terminal:
        running = subprocess.Popen(
            program, cwd=cwd, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True
        )
        terminal.write(answers)
        out, _ = running.communicate(timeout=60)
        shown = b""
        while select.select([terminal], [], [], 0)[0]:
            shown += os.read(terminal.fileno(), 65536)
        os.close(theirs)
    return running.returncode, out, shown.decode()


@pytest.fixture
def three(workspace: Path, bundled: Path, make_hook: MakeHook) -> list[str]:
    """The program that steps through three hooks."""
    for name in ("a-first", "b-second", "c-third"):
        make_hook(
            workspace / "hooks", name, COMMAND, f"def handler(event): event.messages.append('{name} ran')"
        )
    fire = [sys.executable, "-m", "hookscope", "fire", "command:new", "--trust", "--step"]
    return [*fire, "--bundled", str(bundled)]


def test_step_asks_before_each_handler(three: list[str], workspace: Path) -> None:
    code, out, shown = at_terminal(three, workspace, b"\ne\ns\n\n")
    assert code == 0
    assert "b-second  not run: skipped by the user" in out
    assert re.findall(r"\w-\w+ ran", out) == ["a-first ran", "c-third ran"]
    assert [line[2:].split()[:4] for line in shown.splitlines() if line.startswith("▸")] == [
        [str(number), "of", "3", name] for number, name in enumerate(("a-first", "b-second", "c-third"), 1)
    ]
    assert '"a-first ran"' in shown, "the event as the second would get it"
    assert shown.count("enter runs it, s skips it") == 1


@pytest.mark.parametrize("ends", [b"\nq\n", b"\n\x04"])
def test_a_stepped_run_can_be_cancelled(ends: bytes, three: list[str], workspace: Path) -> None:
    code, out, _ = at_terminal(three, workspace, ends)
    assert code == 1
    assert re.findall(r"\w-\w+ ran", out) == ["a-first ran"]
    assert "c-third  not run: the run was cancelled" in out


def test_a_stepped_run_can_continue_to_the_end(three: list[str], workspace: Path) -> None:
    code, out, shown = at_terminal(three, workspace, b"what?\nc\n")
    assert code == 0
    assert len(re.findall(r"\w-\w+ ran", out)) == 3
    assert shown.count("▸") == 1
    assert shown.count("enter runs it, s skips it") == 2, "said again where a word is unknown"


@pytest.mark.parametrize("more", [[], ["--json"], ["--repeat", "2"]])
def test_step_requires_a_terminal(fire: Program, more: list[str]) -> None:
    done = fire("command:new", "--step", *more)
    assert done.code == 2
    assert "--step" in done.err


def test_a_session_of_an_agent_makes_the_example_that_agents(
    fire: Program, workspace: Path, make_hook: MakeHook
) -> None:
    handler = "def handler(event): print(event.session_key, event.context['sessionFile'])"
    make_hook(workspace / "hooks", "greet", COMMAND, handler)
    (result,) = fire("command:new", "--json", "--trust", "--session", "agent:helper:main").json["results"]
    assert result["stdout"].startswith("agent:helper:main ")
    assert "/agents/helper/sessions/" in result["stdout"]
    (result,) = fire("command:new", "--json", "--trust", "--session", "mine").json["results"]
    assert result["stdout"].startswith("mine ")
    assert "/agents/main/sessions/" in result["stdout"]
