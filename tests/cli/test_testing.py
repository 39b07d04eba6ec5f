"""Saved events as tests, from the command line."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from tests.cli.report_formats import junit_faults

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

Save = Callable[..., Path]
GREET = """
def handler(event):
    event.messages.append(f"Hello {event.context['who']}")
    event.context["seen"] = [{"who": event.context["who"]}]
    event.context["one"] = 1
"""


@pytest.fixture
def save(workspace: Path) -> Save:
    """save("hello", "expect: {…}") → an event of the workspace with that behind it."""

    def saved(name: str, more: str = "", *, event: str = "event: command:new\ncontext: {who: Ada}\n") -> Path:
        file = workspace / ".hookscope/events" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(event + more)
        return file

    return saved


@pytest.fixture(autouse=True)
def greet(workspace: Path, make_hook: MakeHook, bundled: Path) -> None:
    make_hook(workspace / "hooks", "greet", '{openclaw: {events: ["command:new"]}}', GREET)


@pytest.fixture
def test(hookscope: Program, bundled: Path) -> Program:
    """test(*arguments) with nothing but the hooks of the workspace."""

    def run(*arguments: str, trust: bool = True) -> object:
        more = ("--trust",) if trust else ()
        return hookscope("--bundled", str(bundled), "test", *more, *arguments)

    return run  # type: ignore[return-value]


def test_events_of_one_name_are_listed_with_their_folders(
    test: Program, save: Save, hookscope: Program
) -> None:
    _, deep, _ = (save(name, "expect: {ran: [greet]}\n") for name in ("a/same", "b/deep/same", "other"))
    lines = test().out.splitlines()
    assert [line.split()[1] for line in lines[:3]] == ["a/same.yaml", "b/deep/same.yaml", "other"]
    lines = test(".hookscope/events/a", str(deep)).out.splitlines()  # one as it lies here, one from the root
    assert [line.split()[1] for line in lines[:2]] == ["a/same.yaml", "b/deep/same.yaml"]
    listed = hookscope("events", "--saved").out.splitlines()
    assert [line.split()[0] for line in listed] == ["a/same.yaml", "b/deep/same.yaml", "other"]


def test_met_expectations_pass(test: Program, save: Save) -> None:
    save(
        "hello",
        "expect:\n"
        "  errors: 0\n"
        "  messages: ['Hello *']\n"
        "  ran: [greet]\n"
        "  context: {'seen[0].who': Ada, who: Ada}\n"
        "  max_ms: 20000\n",
    )
    save("silent", "expect: {messages: 1}")
    done = test()
    assert done.code == 0
    assert done.out.splitlines()[-1] == "2 saved events, all as expected"


@pytest.mark.parametrize(
    ("expect", "lines"),
    [
        ("{messages: ['Bye *']}", ["messages: not as expected", "- Bye *", "+ Hello Ada"]),
        ("{messages: ['Hello *', more]}", ["messages: expected 2, got 1", "Hello Ada", "- more"]),
        ("{messages: 0}", ["messages: expected 0, got 1", "+ Hello Ada"]),
        ("{ran: []}", ["ran: expected 0, got 1", "+ greet"]),
        ("{errors: 1}", ["errors: expected 1, got 0"]),
        ("{context: {'seen[0].who': Bob}}", ['context.seen[0].who: expected "Bob", got "Ada"']),
        ("{context: {seen: [1]}}", ['context.seen: expected [1], got [{"who": "Ada"}]']),
        ("{context: {'seen[1]': 1}}", ["context.seen[1]: expected 1, got nothing"]),
        ("{context: {absent: nothing}}", ['context.absent: expected "nothing", got nothing']),
        ("{context: {one: true}}", ["context.one: expected true, got 1"]),
        ("{blocked: true}", ["blocked: expected true, got false", "+ no verdict"]),
        ("{max_ms: 0}", ["max_ms: expected 0, got"]),
    ],
)
def test_a_failed_expectation_is_shown_line_by_line(
    test: Program, save: Save, expect: str, lines: list[str]
) -> None:
    save("hello", f"expect: {expect}")
    done = test()
    assert done.code == 1
    assert "✗ hello" in done.out
    found = [line.strip() for line in done.out.splitlines()]
    assert all(any(one.startswith(line) for one in found) for line in lines), done.out


@pytest.mark.parametrize(
    ("expect", "sentence"),
    [
        ("{mesages: 1}", "`expect:` has the unknown key 'mesages'; did you mean messages?"),
        ("{errors: many}", "`errors` in `expect:` must be a number, not 'many'."),
        ("{messages: [1]}", "`messages` in `expect:` must be a list of strings, not [1]."),
        ("{max_ms: true}", "`max_ms` in `expect:` must be a number, not True."),
        ("{max_ms: .nan}", "`max_ms` in `expect:` must be a number, not nan."),
        ("{blocked: 1}", "`blocked` in `expect:` must be true or false, not 1."),
        ("[errors]", "`expect` needs a mapping."),
    ],
)
def test_an_expectation_that_checks_nothing_fails(
    test: Program, save: Save, expect: str, sentence: str
) -> None:
    save("hello", f"expect: {expect}")
    save("other")
    done = test()
    assert done.code == 1
    assert sentence in done.out
    assert "✓ other" in done.out


def test_without_expectations_no_handler_may_fail(
    test: Program, save: Save, workspace: Path, make_hook: MakeHook
) -> None:
    save("hello")
    make_hook(workspace / "hooks", "bad", "{openclaw: {events: [command]}}", "def handler(event): 1 / 0\n")
    done = test()
    assert done.code == 1
    assert "errors: expected 0, got 1" in done.out
    assert "+ bad: ZeroDivisionError: division by zero (handler.py:1)" in done.out


def test_a_hook_that_cannot_run_fails_the_test(test: Program, save: Save) -> None:
    save("hello", "expect: {messages: 0}")
    done = test(trust=False)
    assert done.code == 1
    assert "./hooks is not trusted: `hookscope trust ./hooks` allows it to run" in done.out


def test_a_plugins_block_can_be_expected(test: Program, save: Save, workspace: Path) -> None:
    plugin = workspace / "plugins/guard/plugin.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(
        "def register(api):\n"
        "    api.on('before_tool_call', lambda event: {'block': True, 'blockReason': 'no'})\n"
    )
    event = "event: before_tool_call\ncontext: {toolName: exec, params: {}}\n"
    save("call", "expect: {blocked: true, ran: [guard], result: {blockReason: 'no'}}", event=event)
    assert test().code == 0
    save("call", "expect: {blocked: false}", event=event)
    assert "+ blocked by guard: no" in test().out


def test_test_runs_named_files_and_writes_json_and_junit(test: Program, save: Save, tmp_path: Path) -> None:
    good, bad = save("good"), save("bad", "expect: {messages: 2}")
    assert [item["file"] for item in test(str(good), "--json").json] == [str(good)]
    report = tmp_path / "junit.xml"
    items = test("--json", "--junit", str(report)).json
    assert [(item["passed"], len(item["misses"])) for item in items] == [(False, 1), (True, 0)]
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failure = suite.find(f"./testcase[@name='{bad.stem}']/failure")
    assert failure is not None
    assert failure.get("message") == "messages: expected 2, got 1"
    assert {case.get("classname") for case in suite} == {".hookscope/events"}
    assert float(suite.get("time", "")) == pytest.approx(
        sum(float(case.get("time", "")) for case in suite), abs=1e-5
    )
    assert datetime.fromisoformat(suite.get("timestamp", "")).tzinfo is not None


def test_an_unreadable_file_is_an_error_in_the_junit_report(
    test: Program, save: Save, tmp_path: Path
) -> None:
    save("broken", event="event: [\n")
    save("bad", "expect: {messages: [no]}\n")
    report = tmp_path / "junit.xml"
    assert test("--junit", str(report)).code == 1
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    assert [*junit_faults(suite)] == []
    error = suite.find("./testcase[@name='broken']/error")
    assert error is not None
    assert "broken.yaml" in (error.text or "")


def test_a_sequence_that_cannot_run_counts_as_one_failure(test: Program, save: Save, workspace: Path) -> None:
    save("hello", "expect: {messages: [Hello Ada]}\n")
    folder = workspace / ".hookscope/sequences"
    folder.mkdir()
    (folder / "later.yaml").write_text("steps: [{file: ../events/gone.yaml}]\n")
    done = test()
    assert (done.code, done.out.splitlines()[-1]) == (1, "1 saved event and 1 sequence, 1 failed")


def test_the_junit_report_is_valid_xml_for_any_output(test: Program, save: Save, tmp_path: Path) -> None:
    save("odd", "expect: {messages: []}", event='event: command:new\ncontext: {who: "\\uFFFE\\u0000"}\n')
    report = tmp_path / "junit.xml"
    assert test("--junit", str(report)).code == 1
    failure = ElementTree.parse(report).getroot().find("./testcase/failure")
    assert failure is not None
    assert "\\ufffe" in (failure.text or "")


def test_an_unwritable_junit_report_is_refused_before_anything_is_fired(
    test: Program, save: Save, hookscope: Program, tmp_path: Path
) -> None:
    save("good")
    for report, why in (("no/such/junit.xml", "no such file or directory"), (".", "is a directory")):
        done = test("--junit", report)
        assert (done.code, done.err) == (2, f"hookscope: Cannot write {report}: {why}. Name another file.\n")
    assert hookscope("log").out == "Nothing was fired in this workspace yet.\n"
    kept = tmp_path / "junit.xml"
    kept.write_text("of before")
    assert test("nothing.yaml", "--junit", str(kept)).code == 2
    assert kept.read_text() == "of before"


def test_an_impossible_file_name_is_reported(test: Program, hookscope: Program, bundled: Path) -> None:
    name = "a" * 300
    assert "There is no file or folder aaa" in test(name).err
    done = hookscope("--bundled", str(bundled), "fire", "command:new", "--trust", "--save", name)
    assert done.code == 1
    assert "file name too long" in done.err


def test_a_workspace_without_saved_events_says_what_they_are(test: Program) -> None:
    done = test()
    assert (done.code, done.out) == (1, "")
    assert "There are no saved events in" in done.err


def test_a_fired_event_becomes_a_test_that_shows_what_broke(
    test: Program, hookscope: Program, bundled: Path, workspace: Path
) -> None:
    """Fire, keep, see it fail, mend it, accept, pass, break it, read what is different."""
    handler = workspace / "hooks/greet/handler.py"
    handler.write_text(GREET.replace("['who']", "['whom']"))
    own = ("--bundled", str(bundled), "fire", "--trust")
    fired = hookscope(*own, "command:new", "--context", '{"who": "Ada"}', "--save", "hello")
    assert fired.code == 1
    file = workspace / ".hookscope/events/hello.yaml"
    assert "Saved as ./.hookscope/events/hello.yaml." in fired.err
    assert file.read_text() == 'event: command:new\ncontext:\n  who: "Ada"\n'
    assert "KeyError" in fired.out
    handler.write_text(GREET)
    accepted = test("--accept")
    assert accepted.code == 0
    assert accepted.out.splitlines()[-1] == "1 saved event, all as expected, 1 accepted"
    assert file.read_text().endswith('expect:\n  errors: 0\n  messages: ["Hello Ada"]\n  ran: ["greet"]\n')
    assert test().code == 0
    handler.write_text(GREET.replace("Hello", "Bye"))
    broken = test()
    assert broken.code == 1
    lines = [line.strip() for line in broken.out.splitlines()]
    assert lines[1:4] == ["messages: not as expected", "- Hello Ada", "+ Bye Ada"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "expect:\n  messages:  # in order\n    - Bye *\n  max_ms: 20000  # plenty\n",
            'expect:\n  messages:  # in order\n    ["Hello Ada"]\n  max_ms: 20000  # plenty\n',
        ),
        ("expect: {messages: 7, ran: [greet]}  # all\n", "expect: {messages: 1, ran: [greet]}  # all\n"),
        (
            "expect:\n  context: {'seen[0].who': Bob, who: Ada}\n",
            "expect:\n  context: {'seen[0].who': \"Ada\", who: Ada}\n",
        ),
        ("expect: {blocked: true}\n", "expect: {blocked: false}\n"),
        ("expect:\n", 'expect: {"errors": 0, "messages": ["Hello Ada"], "ran": ["greet"]}\n'),
    ],
)
def test_accept_replaces_only_failed_expectations_in_place(
    test: Program, save: Save, before: str, after: str
) -> None:
    file = save("hello", before)
    start = file.read_text().removesuffix(before)
    done = test("--accept", "--json")
    assert done.code == 0, done.err
    assert [item["accepted"] for item in done.json] == [True]
    assert file.read_text() == start + after
    assert test().code == 0


def test_a_failure_can_be_expected(test: Program, save: Save, workspace: Path) -> None:
    (workspace / "hooks/greet/handler.py").write_text("def handler(event): 1 / 0\n")
    block = save("block", "expect:\n  ran: [greet]\n")
    flow = save("flow", "expect: {ran: [greet]}\n")
    done = test("--accept")
    assert done.code == 0
    note = "note: greet fails, and that is now expected; `hookscope undo` reverts this."
    assert done.out.count(note) == 2, "nobody accepts a mistake unawares"
    assert block.read_text().endswith("expect:\n  errors: 1\n  ran: [greet]\n")
    assert flow.read_text().endswith("expect: {errors: 1, ran: [greet]}\n")
    assert test().code == 0
    assert note not in test("--accept").out, "it was told when it was news"


@pytest.mark.parametrize(
    ("more", "trust", "sentence"),
    [
        ("expect: {messages: 0}", False, "did not run completely"),
        ("expect: {context: {'seen[3]': 1}}", True, "context.seen[3] no longer exists"),
        ("expects: 1", True, "did not run completely"),
        ("expect: {messages: &all [x]}", True, "did not run completely"),
    ],
)
def test_accept_explains_what_it_cannot_record_and_keeps_the_file(
    test: Program, save: Save, more: str, trust: bool, sentence: str
) -> None:
    file = save("hello", more)
    before = file.read_bytes()
    done = test("--accept", trust=trust)
    assert done.code == 1
    assert sentence in done.err
    assert file.read_bytes() == before


def test_accept_does_not_edit_a_file_of_one_line(test: Program, save: Save) -> None:
    file = save("hello", event="{event: command:new, context: {who: Ada}}")
    done = test("--accept")
    assert "cannot be edited safely" in done.err
    assert file.read_text() == "{event: command:new, context: {who: Ada}}"


DIARY = """
from datetime import datetime
from pathlib import Path
def handler(event):
    (Path.home() / "diary").write_text("dear diary\\n")
    event.messages.append("wrote")
"""
SHOWN = [
    "files (in copies, discarded)",
    "  written  ~/diary  – → 11 bytes",
    "      @@ -0,0 +1 @@",
    "      +dear diary",
]


@pytest.fixture
def writing(save: Save, workspace: Path, make_hook: MakeHook) -> Path:
    """A hook that writes into HOME, a saved event and a sequence that call it; the event's file."""
    make_hook(workspace / "hooks", "writes", '{openclaw: {events: ["command:stop"]}}', DIARY)
    sequences = workspace / ".hookscope/sequences"
    sequences.mkdir(parents=True)
    (sequences / "twice.yaml").write_text("steps: [{event: command:stop}, {event: command:stop}]\n")
    return save("diary", event="event: command:stop\n")


def test_tests_in_a_sandbox_show_changed_files_and_touch_no_original(
    test: Program, writing: Path, home: Path, tmp_path: Path
) -> None:
    before = writing.read_bytes()
    report = tmp_path / "junit.xml"
    done = test("--sandbox", "--junit", str(report))
    assert done.code == 0, done.err
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert [line[4:] for line in lines[1:5]] == SHOWN
    assert lines[6] == "    step 1 command:stop:"
    assert [line[6:] for line in lines[7:11]] == SHOWN  # the first step's file is not there at the second
    assert lines[11] == "    step 2 command:stop:"
    assert [line[6:] for line in lines[12:16]] == SHOWN
    (walls,) = [line for line in lines if line.startswith("Handlers ran on copies of ")]
    suite = ElementTree.parse(report).getroot()
    assert [*junit_faults(suite)] == []
    first, _ = suite.iter("testcase")
    assert (first.findtext("system-out") or "").splitlines() == SHOWN
    event, sequence = test("--sandbox", "--json").json
    told = [one["run"]["sandbox"] for one in (event, *sequence["steps"])]
    assert {one["walls"] for one in told} == {walls}
    files = [[(change["path"], change["kind"]) for change in one["changes"]] for one in told]
    assert files == [[(str(home / "diary"), "written")]] * 3
    assert not (home / "diary").exists()
    assert writing.read_bytes() == before


def test_accept_in_a_sandbox_records_files_too(test: Program, writing: Path, home: Path) -> None:
    assert test("--sandbox", "--accept", str(writing)).code == 0
    assert "files: [" in writing.read_text()
    assert "diary" in writing.read_text().partition("files:")[2]
    assert test(str(writing)).code == 0  # on copies from now on, since it expects files
    assert not (home / "diary").exists()


@pytest.fixture
def watching(workspace: Path, bundled: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """`hookscope test --watch --json`, with an output that can be waited for; its errors go to a file."""
    program = [sys.executable, "-m", "hookscope", "--bundled", str(bundled), "test", "--trust"]
    with (tmp_path / "errors").open("wb") as errors:
        running = subprocess.Popen(
            [*program, "--watch", "--json"],
            cwd=workspace,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ,
        )
    yield running
    running.terminate()
    running.communicate(timeout=60)


def wait_for(watching: subprocess.Popen[str], said: str, change: Callable[[], object]) -> None:
    """Read rounds until one says it. The change is made anew meanwhile: the watch may not stand yet."""
    assert watching.stdout is not None
    with selectors.DefaultSelector() as ready:
        ready.register(watching.stdout, selectors.EVENT_READ)
        for _ in range(60):
            change()
            if ready.select(timeout=2) and said in watching.stdout.readline():
                return
    raise AssertionError(f"no round said {said}")


def test_watch_runs_tests_again_on_every_save(
    save: Save, workspace: Path, tmp_path: Path, watching: subprocess.Popen[str]
) -> None:
    handler = workspace / "hooks/greet/handler.py"
    file = workspace / ".hookscope/events/hello.yaml"
    wait_for(watching, "[]", lambda: None)  # there are no saved events, nor a folder for them
    wait_for(watching, '"passed": true', lambda: save("hello", "expect: {messages: ['Hello *']}"))
    wait_for(watching, '"passed": false', lambda: handler.write_text("def handler(event): 1 / 0\n"))
    expected = "event: command:new\nexpect: {errors: 1}\n"
    wait_for(watching, '"passed": true', lambda: file.write_text(expected))
    assert "waiting until hooks, settings or saved events change" in (tmp_path / "errors").read_text()


HANGS = """
def handler(event):
    if event.context["senderId"] == "Ada":
        with open("PIPE", "w") as pipe:
            pipe.write("begun")
        while True:
            pass
"""


def test_ctrl_c_ends_the_running_test_and_reports_finished_ones(
    save: Save, workspace: Path, bundled: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (workspace / "hooks/greet/handler.py").write_text(HANGS.replace("PIPE", str(pipe)))
    for name, sender in (("a-quick", "Bob"), ("b-hangs", "Ada"), ("c-never", "Bob")):
        save(name, event=f"event: command:new\ncontext: {{senderId: {sender}}}\n")
    program = [sys.executable, "-m", "hookscope", "--bundled", str(bundled), "test", "--trust", "--json"]
    running = subprocess.Popen(
        program, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    begun = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with selectors.DefaultSelector() as ready:
        ready.register(begun, selectors.EVENT_READ)
        assert ready.select(timeout=120)
    os.close(begun)
    running.send_signal(signal.SIGINT)
    out, told = running.communicate(timeout=120)
    assert running.returncode == 1
    assert [(Path(one["file"]).stem, one["passed"]) for one in json.loads(out)] == [
        ("a-quick", True),
        ("b-hangs", False),
    ]
    assert "Stopped: 2 of 3 were fired." in told


def test_watch_and_accept_exclude_each_other(test: Program, save: Save) -> None:
    save("hello")
    done = test("--watch", "--accept")
    assert done.code == 2
    assert "accept every mistake" in done.err


WRITES = """
from datetime import datetime
from pathlib import Path


def handler(event):
    folder = Path(event.context["workspaceDir"])
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory/today.md").write_text("x")
    (folder / "old.txt").unlink()
    (Path.home() / "seen").write_text("x")
"""


@pytest.fixture
def writer(workspace: Path, make_hook: MakeHook) -> Path:
    make_hook(workspace / "hooks", "writer", '{openclaw: {events: ["command:stop"]}}', WRITES)
    (workspace / "old.txt").write_text("old")
    return workspace


STOP = "event: command:stop\ncontext: {workspaceDir: WORKSPACE}\n"


def test_expected_files_are_checked_on_copies(test: Program, save: Save, writer: Path) -> None:
    files = '["memory/*.md", "old.txt (deleted)", "~/seen"]'
    save("stop", f"expect: {{files: {files}}}\n", event=STOP.replace("WORKSPACE", str(writer)))
    answer = test("--json")
    assert answer.code == 0, answer.out
    assert not (writer / "memory").exists()
    assert (writer / "old.txt").read_text() == "old"


def test_an_unexpected_file_fails_and_can_be_accepted(test: Program, save: Save, writer: Path) -> None:
    file = save("stop", "expect: {files: [notes.md]}\n", event=STOP.replace("WORKSPACE", str(writer)))
    answer = test()
    assert answer.code == 1
    for line in ("- notes.md", "+ memory/today.md", "+ old.txt (deleted)", "+ ~/seen"):
        assert line in answer.out
    assert test("--accept").code == 0
    assert 'files: ["memory/today.md", "old.txt (deleted)", "~/seen"]' in file.read_text()
    assert test().code == 0


def test_expectations_fill_in_variables_like_events(
    test: Program, save: Save, workspace: Path, make_hook: MakeHook
) -> None:
    said = "def handler(event):\n    event.messages.append('[{who}] {at}'.format(**event.context))\n"
    make_hook(workspace / "hooks", "greet", '{openclaw: {events: ["command:new"]}}', said)
    event = "event: command:new\nat: 2026-01-30T09:00:00Z\ncontext: {who: '${WHO}', at: '${now-1h}'}\n"
    save("hello", "expect: {messages: ['[[]${WHO}] ${now-1h}'], context: {who: '${WHO}'}}", event=event)
    assert test("--env", "WHO=a*").code == 0
    save("hello", "expect: {messages: ['${WHO}'], context: {who: '${NOBODY}'}}", event=event)
    done = test("--env", "WHO=a*")
    assert done.code == 1
    assert "hello.yaml uses ${NOBODY}, which is not set." in done.out
