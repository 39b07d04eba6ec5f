"""When answers are heard and output is read: at once where a handler takes long, together where none does."""

import os
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.conftest import SHORT

from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Registration, Result, Started, Step
from hookscope.runtime import worker_calls
from hookscope.runtime.handler_code import MAX_KNOWN_REQUESTS, ContentNames, RequestCache, RequestNumbers
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, code_of, python_executor

WriteHook = Callable[..., Registration]
OutcomeOf = Callable[..., Awaitable[Any]]

GOOD = "def handler(event): event.messages.append('fine')"
NEVER = 60.0  # seconds


@pytest.fixture
def seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by himself for a minute, but for the first moment."""
    monkeypatch.setattr(worker_calls, "POLL_INTERVAL", NEVER)


def patient(folder: Path) -> ProcessExecutor:
    limits = Limits(spawn=60.0, load=60.0, run=120.0, warn=None)
    return python_executor(env=dict(os.environ), cwd=folder, limits=limits)


async def test_what_is_printed_is_read_once_a_handler_takes_long(
    hook: WriteHook, tmp_path: Path, seldom: None
) -> None:
    """Else one that prints more than a pipe holds would wait for its limit."""
    lane, steps = patient(tmp_path), list[Step]()
    prints = "def handler(event):\n    for _ in range(64): print('x' * 16_384)"
    try:
        await lane.run([hook("prints", prints)], HookEvent("command", "new"), steps.append)
        (result,) = (step for step in steps if isinstance(step, Result))
        assert result.status == "ok"
        assert any("bytes of standard output were omitted" in note for note in result.notes)
    finally:
        await lane.close()


async def test_answers_that_wait_are_heard_while_a_handler_takes_long(
    hook: WriteHook, tmp_path: Path, seldom: None
) -> None:
    """It goes on only when somebody has heard of those before it, and that it has begun."""
    lane, heard = patient(tmp_path), tmp_path / "heard"
    waits = f"""
        import os, time
        def handler(event):
            while not os.path.exists({str(heard)!r}): time.sleep(0.001)
    """
    calls = [*(hook(name, GOOD) for name in "abc"), hook("waits", textwrap.dedent(waits))]
    steps: list[Step] = []

    def step(news: Step) -> None:
        steps.append(news)
        if isinstance(news, Started) and news.call is calls[-1]:
            heard.touch()

    try:
        heard.touch()
        await lane.run(calls, HookEvent("command", "new"), step)  # all are loaded then
        heard.unlink()
        steps.clear()
        await lane.run(calls, HookEvent("command", "new"), step)
        results = [one for one in steps if isinstance(one, Result)]
        assert [(one.call.name, one.status) for one in results] == [(call.name, "ok") for call in calls]
        assert results[-1].took < 55, "it was not its limit that let somebody look"
    finally:
        await lane.close()


@pytest.mark.parametrize("ends", ["os._exit(3)", "os.abort()", "os.closerange(3, 4096)", "time.sleep(60)"])
async def test_the_one_that_ends_the_worker_is_blamed_and_not_those_whose_answers_wait(
    ends: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    good = [hook(name, GOOD) for name in "abcde"]
    bad = hook("bad", f"import os, time\ndef handler(event):\n    if event.context: {ends}")
    calls = [*good[:3], bad, *good[3:]]
    before = await outcome_of(*calls)
    assert set(before.statuses.values()) == {"ok"}
    bad_one = "crashed"
    if ends == "time.sleep(60)":
        bad_one, calls[3] = "timeout", replace(bad, limit=SHORT)
    outcome = await outcome_of(*calls, event=HookEvent("command", "new", "s", {"do": "it"}))
    assert outcome.statuses == dict.fromkeys("abcde", "ok") | {"bad": bad_one}
    assert [result.messages for result in outcome.results if result.call.name != "bad"] == [("fine",)] * 5


async def test_answers_larger_than_a_pipe_arrive(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    lines = ("event.context[str(len(event.context))] = 'x' * 200_000", "return 'y' * 90_000")
    grows = "\n    ".join(("def handler(event):", *lines))
    outcome = await outcome_of(*(hook(f"grows{number}", grows) for number in range(6)))
    assert [(len(result.returned), len(result.patch)) for result in outcome.results] == [(90_000, 1)] * 6


async def test_each_is_charged_with_its_own_output_however_it_prints(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    """Also where those before it have printed nothing, and after the moment from which output is read."""
    ways = {
        "quiet": "pass",
        "prints": "print('prints')",
        "writes": "os.write(1, b'writes\\n')",
        "forks": "os.waitpid(os.fork() or [os.write(1, b'forks\\n'), os._exit(0)], 0)",
        "sleeps": "time.sleep(0.02)",
        "complains": "os.write(2, b'complains\\n')",
    }
    made = {
        name: hook(name, f"import os, time\ndef handler(event):\n    {source}")
        for name, source in ways.items()
    }
    for order in (
        ("quiet", "prints", "quiet", "writes", "quiet"),
        ("quiet", "quiet", "forks", "quiet", "prints"),
        ("sleeps", "writes", "quiet", "complains", "prints"),
        ("quiet", "sleeps", "quiet", "forks", "quiet", "complains"),
    ):
        outcome = await outcome_of(*(made[name] for name in dict.fromkeys(order)))
        for result in outcome.results:
            name = result.call.name
            out = f"{name}\n" if name in ("prints", "writes", "forks") else ""
            err = f"{name}\n" if name == "complains" else ""
            assert (result.stdout, result.stderr) == (out, err), name


def test_a_worker_is_told_each_call_once_and_anew_where_its_numbers_begin_anew(tmp_path: Path) -> None:
    def call(number: int) -> Registration:
        return Registration("e", f"h{number}", Code(tmp_path / "h.py", "default", tmp_path, "python", "0"))

    calls = [call(number) for number in range(MAX_KNOWN_REQUESTS)]
    orders, numbers = RequestCache(ContentNames(), code_of), RequestNumbers()
    all_orders = [orders.request_for(one, "") for one in calls]
    first, second = all_orders[:2]
    assert [orders.request_for(one, "") for one in calls[:2]] == [first, second]
    told, new = numbers.numbers_for([first, second, first])
    assert told == "0,1,0"
    assert new == f"[0,{first.packed}],[1,{second.packed}]"
    assert numbers.numbers_for([second]) == ("1", "")
    numbers.numbers_for(all_orders[2:])
    assert numbers.numbers_for([second]) == ("0", f"[0,{second.packed}]")
