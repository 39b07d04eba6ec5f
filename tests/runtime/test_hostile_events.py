"""What handlers leave in an event, in their errors and in the process: results, however odd it is."""

import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookscope.model.executor import ExecutorOf
from hookscope.model.failure import Failure
from hookscope.model.handler_arguments import frozen
from hookscope.model.hook_event import HookEvent
from hookscope.model.payload import make_arguments
from hookscope.model.run import Code, Plan, Registration, Result, Step
from hookscope.runtime.batch import Batch, WorkerLost
from hookscope.runtime.dispatch import dispatch
from hookscope.runtime.in_process_executor import InProcessExecutor
from hookscope.runtime.payloads import apply_changes, document_of, patch_of
from hookscope.runtime.process_executor import ProcessExecutor
from hookscope.runtime.python_worker.protocol import MAX_BODY, pack
from hookscope.runtime.python_worker.safe_values import describe_exception, event_to_plain

WriteHook = Callable[..., Registration]
OutcomeOf = Callable[..., Awaitable[Any]]
CallOf = Callable[..., Registration]

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

HI = "def handler(event): event.messages.append('hi')"


def one(line: str, top: str = "") -> str:
    return f"{top}\ndef handler(event):\n    {line}\n"


def with_env(call: Registration, env: dict[str, str]) -> Registration:
    assert isinstance(call.target, Code)
    return replace(call, target=replace(call.target, env=env))


# Large events


@pytest.mark.parametrize(
    "messages",
    [
        ["Z" * 5_000_000],
        ["hi"] * 300_000,
        ["\U0001f40d" * 300_000] * 30,
        None,
        "x" * 9_000_000,
        [[[1] * 300_000]],
    ],
    ids=["long", "many", "both", "none", "text", "nested"],
)
def test_an_events_document_always_has_all_its_keys_and_fits_into_a_frame(messages: Any) -> None:
    event = HookEvent("command", "new", "s" * 900_000, {"big": "\0" * 9_000_000})
    event.messages = messages
    document, notes = document_of(event)
    assert list(document) == ["type", "action", "sessionKey", "timestamp", "messages", "context"]
    assert list(document["context"]) == ["big"]
    assert notes
    assert len(pack({"view": document})) < MAX_BODY - 2 * 1024 * 1024


def test_a_long_message_is_cut_and_the_others_stay() -> None:
    document, notes = event_to_plain({"messages": ["Z" * 5_000_000, "hi"], "context": {"a": 1}})
    assert document["messages"][1:] == ["hi"]
    assert document["messages"][0] == "Z" * 256 * 1024
    assert document["context"] == {"a": 1}
    assert notes == ["messages[0] was cut: 4,737,856 characters omitted"]


def test_of_too_many_messages_the_first_and_the_last_are_kept() -> None:
    document, notes = event_to_plain({"messages": [str(n) for n in range(300_000)], "context": {}})
    kept = [*range(19_000), *range(299_000, 300_000)]
    assert document["messages"] == [str(n) for n in kept]
    assert notes == ["messages is cut short: of 300,000 the first 19,000 and the last 1,000 are kept"]


def test_a_message_that_is_only_shown_cut_stays_whole_in_the_callers_event() -> None:
    event = HookEvent("command", "new", messages=["Z" * 5_000_000])
    before, _ = document_of(event)
    after = {**before, "messages": [*before["messages"], "hi"]}
    apply_changes(event, before, after, patch_of(before, after))
    assert (len(event.messages[0]), event.messages[1]) == (5_000_000, "hi")


@pytest.mark.parametrize(
    "line", ["event.messages.append('Z' * 5_000_000)", "event.messages += ['x'] * 300_000"]
)
async def test_after_a_large_message_the_event_goes_on(
    line: str, hook: WriteHook, lane: ProcessExecutor, plan_of: Callable[..., Plan]
) -> None:
    steps: list[Step] = []
    executor_of: ExecutorOf = lambda _: lane  # noqa: E731
    counts = one("event.context['n'] = [len(event.messages), len(event.messages[0])]")
    await dispatch(plan_of(hook("a", one(line)), hook("b", HI), hook("c", counts)), executor_of, steps.append)
    a, b, c = (step for step in steps if isinstance(step, Result))
    assert [result.status for result in (a, b, c)] == ["ok", "ok", "ok"]
    assert "cut" in a.notes[0]
    assert b.messages == ("hi",) or "cut short: of 300,001 the first" in b.notes[0]
    true = [2, 5_000_000] if "Z" in line else [300_001, 1]
    assert c.patch == ({"op": "add", "path": "/context/n", "value": true},)


def test_a_document_with_other_keys_is_no_answer(hook: WriteHook) -> None:
    course = Batch((hook("lies", HI),), HookEvent("command", "new"), lambda step: None)
    course.begin(course.remaining[0])
    answer = {"status": "ok", "notes": [], "took": 0.0, "loaded": 0.0, "error": None}
    with pytest.raises(WorkerLost, match="sent an invalid answer"):
        course.result_from_answer({**answer, "view": {**course.document, "kind": "x"}})
    changed = course.result_from_answer({**answer, "view": {"type": "x"}})
    assert changed.patch == ({"op": "replace", "path": "/type", "value": "x"},)


async def test_a_handler_that_lies_about_the_event_is_not_asked(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    lies = one(
        "sys.modules['_hookscope_worker.safe_values'].event_to_plain = lie; event.messages.append('true')",
        top="import sys\ndef lie(_): return {'type': 'x'}, []",
    )
    outcome = await outcome_of(hook("lies", lies), hook("good", HI))
    assert outcome.statuses == {"lies": "ok", "good": "ok"}
    assert outcome["lies"].messages == ("true",)


async def test_an_event_class_that_a_handler_breaks_is_broken_for_it_alone(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    breaks = one("type(event).context = property(lambda _: 1 / 0)")
    outcome = await outcome_of(hook("breaks", breaks), hook("good", HI))
    assert outcome.statuses == {"breaks": "ok", "good": "ok"}
    (note,) = outcome["breaks"].notes
    assert note.startswith("it changed the worker's own code (HookEvent.context)")
    assert outcome["good"].messages == ("hi",)


# Deleted attributes


def deletes(event: HookEvent) -> None:
    del event.context, event.messages, event.session_key, event.timestamp


def uses(event: HookEvent) -> str:
    event.messages.append("fine")
    return f"{event.context} {event.session_key!r} {event.timestamp.year}"


DELETED = tuple(
    f"the handler deleted event.{name}" for name in ("session_key", "timestamp", "messages", "context")
)


@pytest.mark.parametrize("observe", [False, True])
async def test_what_a_handler_deletes_is_put_back_empty_in_this_process(
    observe: bool, call_of: CallOf
) -> None:
    steps: list[Step] = []
    event = HookEvent("command", "new", "s", {"a": 1})
    await InProcessExecutor(observe=observe).run([call_of(deletes), call_of(uses)], event, steps.append)
    bad, good = (step for step in steps if isinstance(step, Result))
    assert (bad.status, bad.notes) == ("ok", DELETED)
    assert (good.returned, good.notes, good.messages) == ("{} '' 1970", (), ("fine",))


async def test_what_a_handler_deletes_is_put_back_empty_in_the_worker(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    bad = one("del event.context, event.messages, event.session_key, event.timestamp")
    good = one("event.messages.append('fine'); return f'{event.context} {event.session_key!r}'")
    event = HookEvent("command", "new", "s", {"a": 1})
    outcome = await outcome_of(hook("bad", bad), hook("again", bad), hook("good", good), event=event)
    assert outcome.statuses == {"bad": "ok", "again": "ok", "good": "ok"}
    assert outcome["bad"].notes == outcome["again"].notes == DELETED
    assert (outcome["good"].returned, outcome["good"].notes) == ("{} ''", ())
    assert (event.messages, event.context, event.session_key) == (["fine"], {}, "")


def test_an_event_that_lacks_something_has_a_document() -> None:
    event = HookEvent("command", "new", "s", {"a": 1})
    del event.context
    document, notes = document_of(event)
    assert (document["context"], notes) == ({}, ["the handler deleted event.context"])


# Errors that are hard to describe


def raised_by(text: str, file: str) -> BaseException:
    try:
        exec(compile(text, file, "exec"), {})
    except BaseException as error:
        return error
    raise AssertionError


def test_source_lines_come_from_regular_files_only(tmp_path: Path) -> None:
    fifo, large, odd = tmp_path / "fifo", tmp_path / "large.py", tmp_path / "odd.py"
    os.mkfifo(fifo)
    large.write_text("1 / 0\n" + "#" * 1024 * 1024)
    odd.write_text("# -*- coding: rot13 -*-\n1 / 0\n")
    for file in (fifo, large, odd, "/dev/zero", "/proc/kmsg", tmp_path):
        frame = describe_exception(raised_by("1 / 0", os.fspath(file)))["frames"][-1]
        assert (frame["file"], frame["line"], frame["source"]) == (os.fspath(file), 1, "")


def test_a_source_line_is_found_behind_a_form_feed(tmp_path: Path) -> None:
    file = tmp_path / "fed.py"
    file.write_bytes(b"\x0c\r\n1 / 0\r\n")
    frame = describe_exception(raised_by("\n1 / 0", str(file)))["frames"][-1]
    assert frame["source"] == "1 / 0"


HOSTILE = """
class Meta(type):
    @property
    def __name__(cls): raise SystemExit
class Hostile(Exception, metaclass=Meta):
    @property
    def __class__(self): raise SystemExit
    @property
    def __cause__(self): raise SystemExit
    def __str__(self): raise SystemExit
    __repr__ = __str__
class Syntax(SyntaxError):
    filename = lineno = msg = text = property(lambda _: 1 / 0)
"""


@pytest.mark.parametrize("name", ["Hostile", "Syntax"])
async def test_an_error_of_a_hostile_class_is_a_result(
    name: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    calls = [
        hook("bad", one(f"raise {name}", top=HOSTILE)),
        hook("returns", one(f"return {name}()", top=HOSTILE)),
    ]
    outcome = await outcome_of(*calls, hook("good", HI))
    steps: list[Step] = []
    await InProcessExecutor(observe=True).run(calls, HookEvent("command", "new"), steps.append)
    here = next(step for step in steps if isinstance(step, Result))
    assert outcome.statuses == {"bad": "error", "returns": "ok", "good": "ok"}
    for result in (outcome["bad"], here):
        assert result.error is not None
        assert result.error.type == name
        assert result.error.message


@pytest.mark.parametrize(
    "text",
    ["# -*- coding: rot13 -*-\n", "import util\n", HOSTILE + "raise Hostile\n"],
    ids=["rot13", "helper", "hostile"],
)
async def test_loading_never_raises_for_what_a_file_holds(text: str, hook: WriteHook) -> None:
    call = hook("bad", text, util="# -*- coding: rot13 -*-\n1 / 0\n")
    assert isinstance(call.target, Code)
    lane = InProcessExecutor()
    assert isinstance(await lane.load(call.target), Failure)
    await lane.close()


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_handler_that_takes_no_event_is_shown(
    is_async: bool, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    call = hook("bad", f"\n{'async ' * is_async}def handler(): pass\n")
    steps: list[Step] = []
    lane = InProcessExecutor()
    await lane.run([call], HookEvent("command", "new"), steps.append)
    await lane.close()
    (here,) = (step for step in steps if isinstance(step, Result))
    for error in ((await outcome_of(call))["bad"].error, here.error):
        assert error is not None
        (frame,) = error.frames
        assert (Path(frame.file).name, frame.line, frame.function) == ("handler.py", 2, "handler")
        assert frame.source == f"{'async ' * is_async}def handler(): pass"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "ran out of memory"),
        (RecursionError(" "), "recursed too deeply"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (ValueError("x"), "x"),
        (SyntaxError(), "None"),
    ],
    ids=repr,
)
def test_a_message_is_never_empty(error: BaseException, words: str) -> None:
    assert describe_exception(error)["message"] == words


# What stays behind

LATE = """
import os, threading, time
def later():
    while not os.path.exists("go"):
        time.sleep(0.001)
    print("FROM th1", flush=True)
"""
LEAVES = one("threading.Thread(target=later, name='later').start()", top=LATE)
MEETS = (  # what th1 left has printed, and is over, when it goes on
    "open('go', 'w').close(); [one.join() for one in threading.enumerate() if one.name == 'later']"
)
LEFT = "it left 1 thread running: handlers of other hooks run in another worker"


def twice(then: str) -> str:
    """A handler that leaves a thread when it is called first, and does `then` when it is called again."""
    return (
        f"{LATE}\nbegun = []\ndef handler(event):\n    if begun: {then}\n"
        "    else: threading.Thread(target=later, name='later').start()\n    begun.append(1)\n"
    )


async def test_handlers_of_other_hooks_run_in_another_worker_than_a_thread_that_was_left(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    counts = one("print(threading.active_count())", top="import threading")
    outcome = await outcome_of(hook("th1", LEAVES), hook("th2", counts), hook("th3", one("print('own')")))
    assert outcome["th1"].notes == (LEFT,)
    assert outcome["th2"].stdout == "1\n"
    assert outcome["th2"].notes == outcome["th3"].notes == ()


async def test_output_of_a_thread_that_was_left_is_said_with_both(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    call = hook("th1", twice(MEETS))
    first, second, third = (await outcome_of(call, call, hook("th3", one("print('own')")))).results
    assert first.notes == (LEFT,)
    assert second.stdout == "FROM th1\n"
    assert second.notes == ("some of its output may be from th1, which left 1 thread running",)
    assert third.notes == ()


async def test_output_beside_a_crash_is_said_too(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    call = hook("th1", twice(f"{MEETS}; os._exit(1)"))
    _, second, third = (await outcome_of(call, call, hook("th3", one("print('own')")))).results
    assert second.notes == (
        "1 thread of th1 still ran in this worker, and may be the cause",
        "some of its output may be from th1, which left 1 thread running",
    )
    assert third.notes == ()  # in a fresh worker


@LINUX
async def test_a_process_that_was_left_is_said_with_both(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    top = "import subprocess"
    ended = "os.waitid(os.P_PID, subprocess.Popen(['true']).pid, os.WEXITED | os.WNOWAIT)"
    outcome = await outcome_of(
        hook("leaves", one("subprocess.Popen(['sleep', '60']); subprocess.Popen(['sleep', '60'])", top=top)),
        hook("ended", one(ended, top=f"{top}, os")),
        hook("prints", one("print('own')")),
        hook("silent", HI),
    )
    assert "it left 2 processes running" in outcome["leaves"].notes[0]
    assert outcome["ended"].notes == outcome["prints"].notes == outcome["silent"].notes == ()


async def test_asyncios_own_threads_are_no_news(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = "import asyncio\nasync def handler(event): await asyncio.to_thread(print, 'x')\n"
    outcome = await outcome_of(hook("a", text), hook("b", text))
    assert [result.notes for result in outcome.results] == [(), ()]


# Environments


async def test_variables_that_no_environment_can_hold_are_left_out(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    env = {"": "1", "A=B": "1", "NUL": "a\0b", "FINE": "1"}
    good = with_env(hook("good", one("return os.environ['FINE']", top="import os")), env)
    bad = with_env(hook("bad", "1 / 0"), env)
    outcome = await outcome_of(good, good, bad)
    assert [result.status for result in outcome.results] == ["ok", "ok", "error"]
    assert outcome.results[0].returned == "1"
    assert {result.notes for result in outcome.results} == {
        ("omitted from its environment, because they are invalid: '', 'A=B', 'NUL'",)
    }


def test_a_frozen_event_stays_as_it_is_whatever_a_worker_says() -> None:
    view = make_arguments(frozen({"action": "install", "skill": {"name": "a"}}), {}, frozen=True)
    before = {"event": {"action": "install", "skill": {"name": "a"}}, "asked": []}
    apply_changes(view, before, {"event": {"action": 7, "skill": {}}, "asked": ["cancel"]}, ())
    assert view["event"] == {"action": "install", "skill": {"name": "a"}}
    assert view["asked"] == ["cancel"]
