import asyncio
import json
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import Popen

import pytest

from hookscope.model.failure import Failure, Frame, InjectedFault
from hookscope.model.hook import LogLine
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import CallGroup, Ending, Event, Fold, Next, NotRun, Plan, Registration, Result, Run
from hookscope.runtime.firing import Firing
from hookscope.runtime.in_process_executor import InProcessExecutor
from hookscope.storage.journal.database import JournalError
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.records import run_of
from hookscope.storage.journal.run_environment import RunOwner, process_start, process_start_by_ps

RunOfId = Callable[..., Run]
StartChild = Callable[[str], "Popen[str]"]


async def test_a_run_id_is_given_only_after_the_event_is_on_disk(journal: Journal, path: Path) -> None:
    run_id = await journal.begin(Event("command", "new"))
    with closing(sqlite3.connect(path)) as other:  # sees what is committed, not what is pending
        assert other.execute("select key from runs where id = ?", (run_id,)).fetchone() == ("command:new",)


async def test_a_changed_context_is_read_back(journal: Journal) -> None:
    before, after = {"on": 1, "list": [0, 1.0]}, {"on": True, "list": [False, 1]}
    event = Event("command", "new", context=before)
    number = await journal.begin(event)
    await journal.end(Run(number, event, (), (), Ending(), context=after))
    (stored,) = journal.recent()
    assert json.dumps(stored.document["context"]) == json.dumps(after)
    assert json.dumps(stored.event.context) == json.dumps(before)


async def test_every_field_of_a_run_is_read_back(journal: Journal) -> None:
    event = Event("command", "new", "agent:main", {"senderId": "dev"}, ("before",), meta={"turn": 1})
    call = Registration("command", "greet", print, injected_fault=InjectedFault("slow", 2.5))
    error = Failure("KeyError", "'x'", (Frame("/h/greet/handler.py", 3, "handler", "event.x"),), "load")
    result = Result(
        call,
        "error",
        started=0.001,
        took=0.25,
        loaded=0.125,
        messages=("hello",),
        returned={"a": [1, None]},
        stdout="out",
        stderr="err",
        error=error,
        patch=({"op": "add", "path": "/context/seen", "value": True},),
        notes=("output was cut",),
        forced=True,
    )
    run = Run(
        await journal.begin(event),
        event,
        (result,),
        (NotRun("other", "needs jq", subscribed=False),),
        Ending({"ok": 1}, "greet failed", (Event("turn.failed"),), (LogLine("warn", "hm"),)),
        messages=("before", "hello"),
        context={"senderId": "dev", "seen": True},
        caused=(Run(0, Event("again"), (), (), Ending()),),
        took=0.5,
        delivers=True,
        notes=("said",),
        assumed=frozenset({"platform"}),
    )
    await journal.end(run)
    stored = journal.run(run.id)
    assert stored is not None
    assert (stored.id, stored.key, stored.outcome, stored.took) == (run.id, "command:new", "failed", 0.5)
    assert (stored.workspace, stored.dialect, stored.owner) == (
        "/agents/agent",
        "a-dialect",
        RunOwner.current(),
    )
    again = run_of(stored.document)
    assert replace(again.results[0], call=call) == result
    assert (again.results[0].call.key, again.results[0].call.name) == ("command", "greet")
    assert again.results[0].call.injected_fault == InjectedFault("slow", 2.5)
    whole_milliseconds = [
        replace(item, timestamp=again.event.timestamp) for item in (event, run.event)
    ]  # as the hosts print it
    assert again.event == stored.event == whole_milliseconds[0]
    for name in ("not_run", "messages", "context", "took", "delivers", "notes", "assumed", "cancelled"):
        assert getattr(again, name) == getattr(run, name)
    assert (again.ending.answer, again.ending.failure, again.ending.log) == (
        {"ok": 1},
        "greet failed",
        (LogLine("warn", "hm"),),
    )
    assert [item.key for item in again.ending.follow_ups] == ["turn.failed"]
    assert [item.event.key for item in again.caused] == ["again"]


async def test_a_run_without_an_end_is_running_while_its_owner_lives(journal: Journal) -> None:
    run_id = await journal.begin(Event("command", "new", context={"a": 1}))
    stored = journal.run(run_id)
    assert stored is not None
    assert (stored.outcome, stored.took, stored.owner.pid) == ("running", None, os.getpid())
    assert run_of(stored.document).event.context == {"a": 1}
    assert stored.document["results"] == []


async def test_a_run_is_interrupted_if_its_owner_was_killed(
    journal: Journal, start_child: StartChild
) -> None:
    child = start_child("print(await journal.begin(Event('command', 'new')), flush=True)\nsys.stdin.read()")
    assert child.stdout is not None
    run_id = int(child.stdout.readline())
    before = journal.run(run_id)
    child.kill()
    child.wait()
    after = journal.run(run_id)
    assert before is not None
    assert after is not None
    assert (before.outcome, after.outcome) == ("running", "interrupted")
    assert after.owner.pid == child.pid


def wait_without_reaping(child: "Popen[str]") -> None:
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


async def test_a_zombie_owner_counts_as_dead(start_child: StartChild) -> None:
    child = start_child("print(1, flush=True)\nsys.stdin.read()")
    assert child.stdout is not None
    child.stdout.readline()
    owner = RunOwner(child.pid, process_start(child.pid) or "")
    assert owner.alive
    child.kill()
    wait_without_reaping(child)
    assert not owner.alive


def test_a_reused_process_id_is_not_the_owner() -> None:
    assert not RunOwner(os.getpid(), "another start").alive


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="there is no ps here")
def test_ps_reports_the_start_of_a_process() -> None:
    assert process_start_by_ps(os.getpid())
    assert process_start_by_ps(os.getpid()) == process_start_by_ps(os.getpid())
    assert process_start_by_ps(2**22 + 1) is None


async def test_two_concurrent_writers_lose_nothing(journal: Journal, start_child: StartChild) -> None:
    body = (
        "for _ in range(40):\n"
        "    events = [Event('from', NAME) for _ in range(5)]\n"
        "    ids = await asyncio.gather(*map(journal.begin, events))\n"
        "    for id, event in zip(ids, events):\n"
        "        await journal.end(Run(id, event, (), (), Ending()))"
    )
    children = [start_child(body.replace("NAME", repr(name))) for name in ("one", "two", "three")]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    runs = journal.recent(1_000)
    assert len({run.id for run in runs}) == 600
    assert {run.outcome for run in runs} == {"ok"}
    assert {run.key: 200 for run in runs} == {"from:one": 200, "from:two": 200, "from:three": 200}


async def test_recent_finds_by_hook_key_failure_time_and_text(journal: Journal, run_of_id: RunOfId) -> None:
    events = [Event("command", "new", context={"who": "Zoë"}), Event("command", "stop"), Event("gateway")]
    ids = [await journal.begin(event) for event in events]
    for run_id, event, hook, status in zip(
        ids, events, ("greet", "tidy", "tidy"), ("ok", "error", "ok"), strict=True
    ):
        await journal.end(run_of_id(run_id, hook, status, event))

    def found(**wanted: object) -> list[int]:
        return [ids.index(run.id) for run in journal.recent(**wanted)]  # type: ignore[arg-type]

    assert found() == [2, 1, 0]
    assert found(limit=1) == [2]
    assert found(hook="tidy") == [2, 1]
    assert found(hook="tidy", failed=True) == [1]
    assert found(failed=False) == [2, 0]
    assert found(key="command:new") == [0]
    assert found(text="zoë") == [0]
    assert found(text="GREET") == [0]
    assert found(text="stdout") == []  # a key of the documents
    assert found(since=datetime.now(UTC) + timedelta(hours=1)) == []
    assert found(since=datetime.now(UTC) - timedelta(hours=1)) == [2, 1, 0]


async def test_following_returns_newer_runs_oldest_first(journal: Journal) -> None:
    first, second, third = [await journal.begin(Event(name)) for name in ("a", "b", "c")]
    assert [run.id for run in journal.newer_than(first)] == [second, third]
    assert [run.id for run in journal.newer_than(first, limit=1)] == [second]
    assert journal.newer_than(third) == ()


async def test_a_workspace_sees_its_own_runs_and_entries(journal: Journal, path: Path) -> None:
    with Journal(path, "/agents/other", "a-dialect") as other:
        run_id = await other.begin(Event("command", "new"))
        await other.note("notice", "here", "only for the other")
    assert (journal.recent(), journal.newer_than(0), journal.entries()) == ((), (), ())
    assert journal.run(run_id) is not None


async def test_entries_are_returned_newest_first(journal: Journal) -> None:
    first = await journal.note("load", "hooks", "2 of 3 were loaded", detail={"failed": ["x"]})
    await journal.note("change", "greet", "switched off", "warn")
    assert [(entry.kind, entry.level, entry.detail) for entry in journal.entries()] == [
        ("change", "warn", None),
        ("load", "info", {"failed": ["x"]}),
    ]
    assert [entry.subject for entry in journal.entries(kind="load")] == ["hooks"]
    assert [entry.subject for entry in journal.entries(newer_than=first)] == ["greet"]


def test_an_unwritten_journal_is_empty_and_creates_no_file(journal: Journal, path: Path) -> None:
    assert (journal.recent(), journal.run(1), journal.entries()) == ((), None, ())
    journal.close()
    assert not path.parent.exists()


async def test_only_the_user_can_read_the_journal(journal: Journal, path: Path) -> None:
    await journal.begin(Event("command"))
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_closed_journal_can_be_read_and_not_written(journal: Journal) -> None:
    await journal.begin(Event("command"))
    journal.close()
    journal.close()
    assert len(journal.recent()) == 1
    with pytest.raises(JournalError, match="is closed in this process"):
        await journal.begin(Event("command"))


async def test_a_cancelled_run_is_not_a_failed_one(journal: Journal, run_of_id: RunOfId) -> None:
    run = run_of_id(await journal.begin(Event("command", "new")), status="cancelled")
    await journal.end(replace(run, cancelled=True))
    assert [item.outcome for item in journal.recent()] == ["cancelled"]
    assert journal.recent(failed=True) == ()


async def test_names_in_broken_utf8_are_recorded(path: Path, run_of_id: RunOfId) -> None:
    event = Event("command", "\udcff", "s", {"\udcff": "\udcfe"})
    with Journal(path, "/agents/\udcff", "d") as journal:
        await journal.end(run_of_id(await journal.begin(event), "hook\udcff", event=event))
        (run,) = journal.recent(hook="hook\udcff", key="command:\udcff")
    assert run.event.context == {"\udcff": "\udcfe"}


async def test_a_value_that_cannot_be_json_is_kept_as_text(journal: Journal) -> None:
    class Rude:
        def __str__(self) -> str:
            raise SystemError("no")

    circle: list[object] = []
    circle.append(circle)
    context = {"rude": Rude(), "circle": circle, "huge": 10**5_000, "nan": float("nan"), "three": {3}}
    run = journal.run(await journal.begin(Event("command", context=context)))
    assert run is not None
    assert {**run.event.context, "circle": 0, "huge": 0} == {
        "rude": "<Rude>",
        "circle": 0,
        "huge": 0,
        "nan": "nan",
        "three": "{3}",
    }


class Plain:
    """A policy: every handler gets the same event, and nothing stops it."""

    batched = True

    def start(self, event: Event) -> Fold:
        return Fold(HookEvent(event.type, event.action, event.session_key, dict(event.context)))

    def view(self, fold: Fold, call: Registration) -> HookEvent:
        event: HookEvent = fold.event
        return event

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        return fold, Next.GO

    def finish(self, fold: Fold) -> Ending:
        return Ending()


async def test_a_run_is_recorded_before_its_first_handler_and_after_its_last(journal: Journal) -> None:
    seen: list[str] = []

    async def looks(event: HookEvent) -> None:
        seen.extend(run.outcome for run in await asyncio.to_thread(journal.recent))
        event.messages.append("looked")

    def breaks(event: HookEvent) -> None:
        raise KeyError("x")

    calls = tuple(Registration("command", handler.__name__, handler) for handler in (looks, breaks))
    plan = Plan(Event("command", "new"), 1, (CallGroup(calls),), (), Plain())
    lane = InProcessExecutor()
    run = await Firing(plan, lambda _: lane, recorder=journal)
    (stored,) = journal.recent()
    assert seen == ["running"]
    assert (stored.id, stored.outcome, stored.document["messages"]) == (run.id, "failed", ["looked"])
    assert [(item["hook"], item["status"]) for item in stored.document["results"]] == [
        ("looks", "ok"),
        ("breaks", "error"),
    ]
