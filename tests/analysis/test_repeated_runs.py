"""One event fired several times: what is done again, what grows, and what is done once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.app.options import Options
from hookscope.app.runs.active_runs import repeated_firings
from hookscope.app.workbench import Workbench
from hookscope.model.run import Ending, Event, FileChange, Registration, Result, Run, SandboxResult, Status
from hookscope.model.run_comparison import RepeatOutcome, Repetition, summarize_repetition

if TYPE_CHECKING:
    from tests.conftest import MakeHook

EVENT = Event("command", "new")
CALL = Registration("command:new", "a", print)


def run_of(*messages: str, status: Status = "ok", patch: Sequence[Any] = (), **more: Any) -> Run:
    result = Result(CALL, status, took=0.001, messages=messages, patch=tuple(patch))
    return Run(1, EVENT, (result,), (), Ending(), messages, **more)


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def again(*runs: Run) -> RepeatOutcome:
    (hook,) = summarize_repetition(runs).hooks
    return hook.outcome


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ([run_of(), run_of()], RepeatOutcome.NOTHING),
        ([run_of("first", patch=[add("/context/a", 1)]), run_of(), run_of()], RepeatOutcome.NOTHING),
        ([run_of("hi"), run_of("hi")], RepeatOutcome.SAME),
        ([run_of(patch=[add("/context/a", 1)])] * 3, RepeatOutcome.SAME),
        ([run_of(status="error")] * 3, RepeatOutcome.SAME),
        ([run_of("a"), run_of("a", "a"), run_of("a", "a", "a")], RepeatOutcome.GROWS),
        ([run_of("a"), run_of("a\nb")], RepeatOutcome.GROWS),
        ([run_of("a"), run_of("cd"), run_of("efg")], RepeatOutcome.GROWS),
        ([run_of("9 ms"), run_of("10 ms")], RepeatOutcome.OTHER),
        ([run_of("a"), run_of("b"), run_of("c")], RepeatOutcome.OTHER),
        ([run_of("a"), run_of("a", "a"), run_of("a", "a", status="error")], RepeatOutcome.OTHER),
        ([run_of(patch=[add("/context/a", "x" * n)]) for n in range(1, 4)], RepeatOutcome.GROWS),
        ([run_of("hi"), run_of("hi"), run_of(status="cancelled", cancelled=True)], RepeatOutcome.SAME),
        ([run_of("hi"), run_of(status="cancelled", cancelled=True)], RepeatOutcome.ONCE),
        ([run_of(status="cancelled", cancelled=True)], RepeatOutcome.ONCE),
    ],
)
def test_the_verdict_of_a_handler(runs: Sequence[Run], verdict: RepeatOutcome) -> None:
    assert again(*runs) is verdict


def test_results_common_to_all_runs_are_listed() -> None:
    pushed = add("/messages/0", "hi")
    runs = [
        run_of("hi", str(n), patch=[pushed, add("/context/at", n), add("/context/a", 1)]) for n in range(3)
    ]
    (hook,) = summarize_repetition(runs).hooks
    assert (hook.same_messages, hook.same_changes) == (("hi",), ("/context/at", "/context/a"))
    assert (hook.messages, hook.changes, hook.statuses) == ((2, 2, 2), (2, 2, 2), ("ok", "ok", "ok"))


def on_copies(*sizes: int | None, digest: str = "") -> list[Run]:
    """A run for each size of one file: None where it is as it was."""
    changes = [
        () if size is None else (FileChange(Path("/w/log"), "written", None, size, "", digest or str(size)),)
        for size in sizes
    ]
    return [
        run_of(guarded=SandboxResult("", no_network=True, read_only_disk=True, changes=one))
        for one in changes
    ]


@pytest.mark.parametrize(
    ("runs", "verdict", "of_hook"),
    [
        (on_copies(10, 20, 30), RepeatOutcome.GROWS, RepeatOutcome.GROWS),
        (on_copies(10, 10), RepeatOutcome.NOTHING, RepeatOutcome.NOTHING),
        (on_copies(10, 20, 20), RepeatOutcome.OTHER, RepeatOutcome.OTHER),
        (on_copies(None, 20), RepeatOutcome.GROWS, RepeatOutcome.GROWS),
        (on_copies(10, digest="a") + on_copies(10, digest="b"), RepeatOutcome.OTHER, RepeatOutcome.OTHER),
    ],
)
def test_file_changes_count_for_a_single_handler(
    runs: Sequence[Run], verdict: RepeatOutcome, of_hook: RepeatOutcome
) -> None:
    found = summarize_repetition(runs)
    assert found.files is not None
    assert [file.outcome for file in found.files] == [verdict]
    assert found.hooks[0].outcome is of_hook


@given(
    st.lists(
        st.tuples(st.lists(st.text(max_size=3), max_size=3), st.sampled_from(["ok", "error"])),
        min_size=1,
        max_size=5,
    )
)
def test_equal_runs_never_count_as_growing(done: list[tuple[list[str], Status]]) -> None:
    found = summarize_repetition([run_of(*messages, status=status) for messages, status in done])
    (hook,) = found.hooks
    assert len(hook.statuses) == len(hook.messages) == found.times == len(done)
    if len({repr(one) for one in done}) == 1:
        assert hook.outcome in (
            (RepeatOutcome.ONCE,) if len(done) == 1 else (RepeatOutcome.SAME, RepeatOutcome.NOTHING)
        )


HANDLERS = {
    "greets": "def handler(event): event.messages.append('hello')",
    "once": """
import os
from pathlib import Path

def handler(event):
    mark = Path(os.environ["HOME"], "mark")
    if not mark.exists():
        mark.write_text("done")
        event.messages.append("set up")
""",
    "remembers": """
seen = []

def handler(event):
    seen.append("x")
    event.messages.extend(seen)
""",
    "logs": """
import os
from pathlib import Path

def handler(event):
    with Path(os.environ["HOME"], "log").open("a") as log:
        log.write("line\\n")
""",
}


async def fired(
    workspace: Path, bundled: Path, *, only: str | None = None, sandbox: bool = False
) -> Repetition:
    bench = Workbench(Options(dialect="openclaw", workspace=workspace, bundled=bundled), trust_all=True)
    try:
        view = bench.scan()
        plan = bench.plan(view, bench.template(view, "command:new"), only=only)
        async with aclosing(repeated_firings(bench, view, plan, 3, sandbox=sandbox)) as begun:
            return summarize_repetition([await firing async for firing in begun])
    finally:
        await bench.close()


@pytest.fixture
def bundled(tmp_path: Path, workspace: Path, make_hook: MakeHook) -> Path:
    for name, source in HANDLERS.items():
        make_hook(workspace / "hooks", name, "{openclaw: {events: [command]}}", source)
    (tmp_path / "bundled").mkdir()
    return tmp_path / "bundled"


async def test_repeated_runs_share_one_sandbox(workspace: Path, bundled: Path, home: Path) -> None:
    found = await fired(workspace, bundled, sandbox=True)
    assert {hook.hook: hook.outcome for hook in found.hooks} == {
        "greets": RepeatOutcome.SAME,
        "logs": RepeatOutcome.NOTHING,  # whose file it is, nobody can tell
        "once": RepeatOutcome.NOTHING,
        "remembers": RepeatOutcome.GROWS,
    }
    assert found.files is not None
    assert {Path(file.path).name: (file.outcome, file.sizes) for file in found.files} == {
        "log": (RepeatOutcome.GROWS, (5, 10, 15)),
        "mark": (RepeatOutcome.NOTHING, (4, 4, 4)),
    }
    assert not (home / "log").exists()
    alone = await fired(workspace, bundled, only="logs", sandbox=True)
    assert [hook.outcome for hook in alone.hooks] == [RepeatOutcome.GROWS]


async def test_file_changes_are_unknown_without_a_sandbox(workspace: Path, bundled: Path, home: Path) -> None:
    found = await fired(workspace, bundled)
    assert found.files is None
    assert (home / "log").read_text() == "line\n" * 3
