"""Real worker processes: what handlers do to them stays there."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.conftest import SHORT

import hookscope
from hookscope.model.failure import Failure
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Event, Registration, Result, Step
from hookscope.runtime.background_work import GATHER_TIME
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, code_of, python_executor

WriteHook = Callable[..., Registration]
OutcomeOf = Callable[..., Awaitable[Any]]

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

FINE = "def handler(event): event.messages.append('fine')"


def body(*lines: str, top: str = "", is_async: bool = False) -> str:
    """A handler of these lines."""
    inside = textwrap.indent("\n".join(lines), "    ")
    return f"{top}\n{'async ' * is_async}def handler(event):\n{inside}\n"


async def test_output_is_charged_to_the_handler_that_printed_it(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = body(
        "print(os.path.basename(sys.argv[0]))",
        "print({0!r})",
        "print({0!r}, file=sys.stderr)",
        top="import sys, os",
    )
    outcome = await outcome_of(*(hook(name, text.format(name)) for name in "abc"))
    assert [(result.stdout, result.stderr) for result in outcome.results] == [
        (f"handler.py\n{name}\n", f"{name}\n") for name in "abc"
    ]


async def test_what_was_printed_before_a_crash_is_kept(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    outcome = await outcome_of(hook("bad", body("print('before')", "import os; os.abort()")))
    assert outcome["bad"].stdout == "before\n"
    assert "Fatal Python error: Aborted" in outcome["bad"].stderr
    assert "handler.py" in outcome["bad"].stderr


async def test_a_message_that_is_no_text_is_shown_as_text(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    outcome = await outcome_of(hook("a", body("event.messages += [1, None, object()]")))
    assert outcome["a"].messages == ("1", "", "<object>")


async def test_handlers_share_the_event_and_each_has_its_own_patch(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    event = HookEvent("command", "new", "s", {})
    outcome = await outcome_of(
        hook("a", body("event.context['n'] = 1", "event.messages.append('a')")),
        hook("b", body("event.context['n'] += 1", "event.messages = ['b']", "return event.key")),
        event=event,
    )
    assert event.context == {"n": 2}
    assert [result.messages for result in outcome.results] == [("a",), ("b",)]
    assert outcome["b"].returned == "command:new"
    assert outcome["b"].patch == (
        {"op": "replace", "path": "/messages/0", "value": "b"},
        {"op": "replace", "path": "/context/n", "value": 2},
    ) or {change["path"] for change in outcome["b"].patch} == {"/messages/0", "/context/n"}


async def test_after_a_crash_the_event_is_as_far_as_it_was_known(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    event = HookEvent("command", "new", "s", {})
    outcome = await outcome_of(
        hook("a", body("event.context['a'] = 1")),
        hook("b", body("event.context['b'] = 1", "import os; os._exit(1)")),
        hook("c", body("return dict(event.context)")),
        event=event,
    )
    assert outcome["c"].returned == {"a": 1}
    assert event.context == {"a": 1}


@pytest.mark.parametrize("view", [Event("command", "new", context={"a": 1}), {"a": 1}, [1]])
async def test_other_views_reach_the_handler_too(view: Any, hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = body("return event.context if hasattr(event, 'context') else event")
    outcome = await outcome_of(hook("a", text), event=view)
    assert outcome["a"].returned == ([1] if view == [1] else {"a": 1})


async def test_an_error_has_the_lines_of_the_handler_only(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = body("import util", "await util.fails()", is_async=True)
    outcome = await outcome_of(hook("a", text, util="async def fails():\n    raise KeyError('x')\n"))
    assert [
        (Path(frame.file).name, frame.line, frame.function, frame.source)
        for frame in outcome["a"].error.frames
    ] == [("handler.py", 4, "handler", "await util.fails()"), ("util.py", 2, "fails", "raise KeyError('x')")]


async def test_two_hooks_may_both_have_a_util(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = "import util\ndef handler(event): return util.X"
    outcome = await outcome_of(hook("a", text, util="X = 'a'"), hook("b", text, util="X = 'b'"))
    assert [result.returned for result in outcome.results] == ["a", "b"]


async def test_an_edited_helper_is_loaded_anew_by_the_same_worker(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = "import os, util\ndef handler(event): return [os.getpid(), util.X]"
    first = await outcome_of(hook("a", text, util="X = 1"))
    again = await outcome_of(hook("a", text, util="X = 1"))
    edited = await outcome_of(hook("a", text, util="X = 22"))
    pid, _ = first["a"].returned
    assert [outcome["a"].returned for outcome in (first, again, edited)] == [[pid, 1], [pid, 1], [pid, 22]]


async def test_a_worker_is_kept_between_runs_and_replaced_after_a_crash(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    pid = hook("pid", body("import os; event.messages.append(str(os.getpid()))"))
    pids = [(await outcome_of(pid))["pid"].messages[0] for _ in range(3)]
    assert len(set(pids)) == 1
    await outcome_of(hook("bad", body("import os; os._exit(1)")))
    assert (await outcome_of(pid))["pid"].messages[0] not in pids


async def test_a_worker_killed_between_two_runs_is_replaced_and_nobody_is_blamed(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    pid = hook("pid", body("import os; return os.getpid()"))
    os.kill((await outcome_of(pid))["pid"].returned, signal.SIGKILL)
    outcome = await outcome_of(pid)
    assert outcome.statuses == {"pid": "ok"}
    assert outcome["pid"].notes == ("the worker was killed by signal 9 (SIGKILL) after pid",)


async def test_late_output_is_said_with_the_next_result(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = (
        "import os, threading\nleft = []\ngo = threading.Event()\n"
        "def later():\n    go.wait(); os.write(1, b'late')\n"
        "def handler(event):\n    if left: go.set(); left[0].join(); return\n"
        "    left.append(threading.Thread(target=later)); left[0].start()\n"
    )
    call = hook("late", text)
    first, second = (await outcome_of(call, call)).results
    assert first.stdout == ""
    assert second.stdout == "late"


async def test_a_finalizer_of_an_object_in_the_event_runs_in_the_call_that_put_it_there(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = """
        class Left:
            def __del__(self):
                print("finalized")
        def handler(event):
            event.context["left"] = Left()
        """
    outcome = await outcome_of(hook("leaves", textwrap.dedent(text)))
    assert outcome["leaves"].stdout == "finalized\n"
    assert (await outcome_of(hook("next", "def handler(event): pass")))["next"].stdout == ""


async def test_what_the_next_handler_prints_while_it_runs_is_its_own_and_not_late(
    hook: WriteHook, tmp_path: Path
) -> None:
    told: list[tuple[str, str]] = []
    lane = python_executor(env=dict(os.environ), cwd=tmp_path, on_late=lambda *news: told.append(news))
    first = hook("first", body("print('one')"))
    second = hook(
        "second",
        body("print('two')", f"go.wait({GATHER_TIME})", "print('three')", f"go.wait({GATHER_TIME})",
             top="import threading\ngo = threading.Event()"),
    )  # fmt: skip
    outputs = []
    for call in (first, second):
        steps: list[Step] = []
        await lane.run([call], HookEvent("command", "new"), steps.append)
        outputs += [step.stdout for step in steps if isinstance(step, Result)]
    await lane.close()
    assert outputs == ["one\n", "two\nthree\n"]
    assert told == []


async def test_the_environment_is_the_lanes_with_the_hooks_own_on_top(
    hook: WriteHook, tmp_path: Path
) -> None:
    text = "import os\nAT_IMPORT = dict(os.environ)\nos.environ['SET_BY_IMPORT'] = '1'\n" + body(
        "now = os.environ.get", "return [AT_IMPORT.get('OWN'), now('OWN'), now('SET_BY_IMPORT'), now('HOME')]"
    )
    call = hook("a", text)
    assert isinstance(call.target, Code)
    code = Code(call.target.path, "default", call.target.root, "python", env={"OWN": "mine"})
    own = Registration("command:new", "own", code)
    other = hook("b", text.replace("os.environ['SET_BY_IMPORT'] = '1'", ""))
    lane = python_executor(env={"HOME": "/assumed"}, cwd=tmp_path)
    steps: list[Step] = []
    await lane.run([own, other], HookEvent("command", "new"), steps.append)
    await lane.close()
    assert [step.returned for step in steps if isinstance(step, Result)] == [
        ["mine", "mine", "1", "/assumed"],
        [None, None, None, "/assumed"],
    ]


async def test_load_says_what_is_wrong_and_runs_nothing(
    hook: WriteHook, lane: ProcessExecutor, tmp_path: Path
) -> None:
    texts = {
        "fine": body("raise KeyError"),
        "broken": "import util\n",
        "dies": "import os; os._exit(3)",
        "missing": "x = 1",
    }
    said: dict[str, object] = {}
    for name, text in texts.items():
        loaded = await lane.load(code_of(hook(name, text)))
        said[name] = (
            (loaded.message, loaded.phase)
            if isinstance(loaded, Failure)
            else isinstance(loaded, Code) and bool(loaded.digest)
        )
    assert said == {
        "fine": True,
        "broken": ("No module named 'util'", "load"),
        "dies": ("exited with status 3 while it was loaded", "load"),
        "missing": ("handler.py has no `handler`; it defines no functions", "load"),
    }
    hasty = python_executor(env=dict(os.environ), cwd=tmp_path, limits=Limits(spawn=20.0, load=SHORT))
    hangs = await hasty.load(code_of(hook("hangs", "while True: pass")))
    await hasty.close()
    assert isinstance(hangs, Failure)
    assert (hangs.message, hangs.phase) == ("did not load within 0.6 s and was stopped", "load")


async def test_nothing_is_written_beside_the_handler(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    call = hook("a", "import util\ndef handler(event): ...", util="")
    await outcome_of(call)
    assert isinstance(call.target, Code)
    assert sorted(path.name for path in call.target.root.iterdir()) == ["handler.py", "util.py"]


@pytest.mark.parametrize("python", ["/no/such/python", "/dev/null"])
async def test_a_python_that_is_not_there_is_said_with_the_next_step(
    python: str, hook: WriteHook, tmp_path: Path
) -> None:
    lane = python_executor(env={}, cwd=tmp_path, python=python)
    steps: list[Step] = []
    await lane.run([hook("a", FINE), hook("b", FINE)], HookEvent("command", "new"), steps.append)
    await lane.close()
    for step in steps:
        assert isinstance(step, Result)
        assert step.error is not None
        assert (step.status, step.error.phase) == ("crashed", "spawn")
        assert step.error.message.startswith(f"{python} cannot be started: ")
        assert step.error.message.endswith("to an interpreter, 3.9 or newer.")


async def test_a_folder_that_is_not_there_is_said(hook: WriteHook, tmp_path: Path) -> None:
    lane = python_executor(env={}, cwd=tmp_path / "missing")
    steps: list[Step] = []
    await lane.run([hook("a", FINE)], HookEvent("command", "new"), steps.append)
    await lane.close()
    assert isinstance(steps[0], Result)
    assert steps[0].error is not None
    assert steps[0].error.message.endswith("missing: there is no such folder.")


async def test_a_program_that_is_no_worker_is_quoted(hook: WriteHook, tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho no such option -I >&2\nexit 2\n")
    program.chmod(0o755)
    lane = python_executor(env={}, cwd=tmp_path, python=str(program))
    steps: list[Step] = []
    await lane.run([hook("a", FINE)], HookEvent("command", "new"), steps.append)
    await lane.close()
    assert isinstance(steps[0], Result)
    assert steps[0].error is not None
    assert steps[0].error.message == "exited with status 2 before it was ready: no such option -I"


async def test_cancelling_ends_the_worker_and_keeps_what_was_printed(
    hook: WriteHook, lane: ProcessExecutor, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    text = body(
        "import os",
        f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))",
        "print('begun')",
        "while True: pass",
    )
    steps: list[Step] = []
    calls = [hook("bad", text), hook("good", FINE)]
    task = asyncio.create_task(lane.run(calls, HookEvent("command", "new"), steps.append))
    await until(lambda: steps and pid_file.exists() and pid_file.read_text())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (result,) = (step for step in steps if isinstance(step, Result))
    assert (result.call.name, result.status) == ("bad", "cancelled")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_a_lane_may_be_used_from_one_loop_after_another(hook: WriteHook, tmp_path: Path) -> None:
    lane = python_executor(env={}, cwd=tmp_path)
    pid = hook("pid", body("import os; return os.getpid()"))
    steps: list[Step] = []
    for _ in range(2):
        asyncio.run(lane.run([pid], HookEvent("command", "new"), steps.append))
    asyncio.run(lane.close())
    first, second = (step.returned for step in steps if isinstance(step, Result))
    assert first == second


async def test_a_large_event_goes_there_and_back(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    event = HookEvent("command", "new", "s", {"large": "x" * 3_000_000})
    outcome = await outcome_of(hook("a", body("event.context['large'] += 'y'")), event=event)
    assert outcome.statuses == {"a": "ok"}
    assert event.context["large"] == "x" * 3_000_000 + "y"


async def until(holds: Callable[[], object]) -> None:
    """Wait for a condition that nobody tells us of."""
    while not holds():  # noqa: ASYNC110  (other processes set no Event)
        await asyncio.sleep(0.001)


def alive(pid: int) -> bool:
    """Is there such a process, and is it more than a zombie?"""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@LINUX
async def test_close_leaves_no_process_behind(
    hook: WriteHook, outcome_of: OutcomeOf, lane: ProcessExecutor
) -> None:
    text = body("import os, subprocess", "return [os.getpid(), subprocess.Popen(['sleep', '60']).pid]")
    pids = (await outcome_of(hook("a", text)))["a"].returned
    assert all(map(alive, pids))
    await lane.close()
    await until(lambda: not any(map(alive, pids)))  # init reaps the child in its own time


@LINUX
@pytest.mark.parametrize(
    "what", ["import time; time.sleep(60)", "import re; re.match('(a+)+$', 'a' * 60 + 'b')"]
)
async def test_a_host_that_is_killed_leaves_no_worker_behind(
    what: str, hook: WriteHook, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    call = hook("a", body("import os", f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))", what))
    assert isinstance(call.target, Code)
    program = f"""
import asyncio, pathlib
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Registration
from hookscope.runtime.process_executor import python_executor
root = pathlib.Path({str(call.target.root)!r})
call = Registration("k", "a", Code(root / "handler.py", "default", root, "python"))
lane = python_executor(env={{}}, cwd=root)
asyncio.run(lane.run([call], HookEvent("command", "new"), lambda step: None))
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(  # noqa: ASYNC220  (starting it is all)
        [sys.executable, "-c", program], env=env
    ) as host:
        await until(lambda: host.poll() is not None or (pid_file.exists() and pid_file.read_text()))
        pid = int(pid_file.read_text())
        assert alive(pid)
        host.kill()
    await until(lambda: not alive(pid))


async def test_the_last_good_version_runs_where_the_saved_one_does_not_load(
    hook: WriteHook, outcome_of: OutcomeOf, lane: ProcessExecutor
) -> None:
    call = hook("a", "import util\ndef handler(event): event.messages.append(util.TEXT)", util="TEXT = 'one'")
    assert isinstance(call.target, Code)
    assert not lane.has_loaded(call.target)
    assert (await outcome_of(call))["a"].messages == ("one",)
    assert lane.has_loaded(call.target)
    hook("a", "import util\ndef handler(event): event.messages.append('x' + util.TEXT)", util="TEXT = ")
    old = (await outcome_of(call))["a"]
    assert (old.status, old.messages) == ("ok", ("one",))
    assert old.stale is not None
    assert (old.stale.type, old.stale.phase, old.stale.frames[-1].line) == ("SyntaxError", "load", 1)
    failure = await lane.load(call.target)
    assert isinstance(failure, Failure), "a load tells of the saved version alone"
    hook("a", "import util\ndef handler(event): event.messages.append('x' + util.TEXT)", util="TEXT = 'two'")
    new = (await outcome_of(call))["a"]
    assert (new.messages, new.stale) == (("xtwo",), None)


async def test_a_fresh_worker_holds_nothing(
    hook: WriteHook, outcome_of: OutcomeOf, lane: ProcessExecutor
) -> None:
    call = hook("a", FINE)
    await outcome_of(call)
    await outcome_of(hook("bad", body("import os; os._exit(1)")))
    assert isinstance(call.target, Code)
    assert not lane.has_loaded(call.target)
    hook("a", "def handler(")
    assert (await outcome_of(call))["a"].status == "error"


def test_a_second_worker_compiles_nothing_of_ours(tmp_path: Path) -> None:
    parts, model = tmp_path / "runtime" / "python_worker", tmp_path / "model"
    installed = Path(hookscope.__file__).parent
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(installed / "runtime" / "python_worker", parts, ignore=without)
    shutil.copytree(installed / "model", model, ignore=without)

    def loaded() -> list[str]:
        """The files that a worker takes its own code from, up to the end of its line."""
        pipes = [os.pipe() for _ in range(3)]
        theirs = (pipes[0][0], pipes[1][1], pipes[2][0])
        os.close(pipes[0][1])
        program = [
            sys.executable,
            "-I",
            "-B",
            "-v",
            str(parts / "worker.py"),
            str(model / "hook_event.py"),
            "0",
        ]
        ran = subprocess.run(
            [*program, *map(str, theirs)],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=True,  # it ends its whole group
        )
        for descriptor in {end for pipe in pipes for end in pipe} - {pipes[0][1]}:
            os.close(descriptor)
        found = re.findall(r"^# code object from '?(.+?)'?$", ran.stderr, re.MULTILINE)
        return [path for path in found if path.startswith(str(tmp_path))]

    first, second = loaded(), loaded()
    assert {Path(path).suffix for path in first} == {".py"}
    assert {Path(path).suffix for path in second} == {".pyc"}
    assert len(first) == len(second) > 5
