"""What a handler does not wait for is not cut off when a command ends, and what it does is told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.run import Result

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

COMMAND = '{openclaw: {events: ["command:new"]}}'
TYPESCRIPT = """
import { writeFileSync } from "node:fs";
import { join } from "node:path";
const pause = (ms: number) => new Promise((over) => setTimeout(over, ms));
async function work(event: any) {
  await pause(120);
  writeFileSync(join(event.context.workspaceDir, "done.txt"), "done");
  console.log("worked behind it");
  throw new RangeError("nobody waits for me");
}
export default async (event: any) => { void work(event); };
"""
PYTHON = """
import threading, time
from pathlib import Path
def work(folder):
    time.sleep(0.12)
    (Path(folder) / "done.txt").write_text("done")
    print("worked behind it")
    raise OverflowError("nobody waits for me")
def handler(event):
    threading.Thread(target=work, args=(event.context["workspaceDir"],)).start()
"""
FOREVER = 'export default () => { setInterval(() => console.log("tick"), 20); };'
PATIENT = ("--wait", "60")


@pytest.fixture
def scope(hookscope: Program, bundled: Path) -> Program:
    def run(*arguments: str) -> Done:
        return hookscope("--bundled", str(bundled), *arguments)

    return run


@pytest.fixture(params=["handler.ts", "handler.py"])
def behind(request: pytest.FixtureRequest, workspace: Path, make_hook: MakeHook) -> str:
    """A hook whose handler answers before its work is done, and fails behind it: the type of that error."""
    source = PYTHON if request.param == "handler.py" else TYPESCRIPT
    make_hook(workspace / "hooks", "behind", COMMAND, source, file=request.param)
    return "OverflowError" if source is PYTHON else "RangeError"


def test_fire_reports_background_work_of_handlers(scope: Program, workspace: Path, behind: str) -> None:
    run = scope("fire", "command:new", "--trust", "--json", *PATIENT).json
    assert (workspace / "done.txt").read_text() == "done"
    told = " ".join(run["notes"])
    assert "behind printed late: worked behind it" in told
    assert behind in told
    assert run["results"][0]["status"] == "ok", "it had answered"
    assert "behind printed late: worked behind it" in scope("log", "1").out


def test_sandbox_copies_include_files_written_after_the_answer(
    scope: Program, workspace: Path, behind: str
) -> None:
    run = scope("fire", "command:new", "--trust", "--sandbox", "--json", *PATIENT).json
    assert [change["path"].rpartition("/")[2] for change in run["sandbox"]["changes"]] == ["done.txt"]
    assert not (workspace / "done.txt").exists()


@pytest.mark.parametrize("command", [("test",), ("replay", "--last", "1"), ("sequence", "twice")])
def test_other_commands_wait_for_background_work_too(
    scope: Program, workspace: Path, behind: str, command: tuple[str, ...]
) -> None:
    scope("fire", "command:new", "--trust", "--save", "one", "--wait", "0")
    (workspace / ".hookscope/sequences").mkdir(parents=True)
    steps = "steps: [{event: 'command:new'}, {event: 'command:new'}]"
    (workspace / ".hookscope/sequences/twice.yaml").write_text(steps)
    (workspace / "done.txt").unlink(missing_ok=True)
    scope(*command, "--trust", *PATIENT)
    assert (workspace / "done.txt").read_text() == "done"


def test_a_passing_test_notes_background_failures(scope: Program, behind: str) -> None:
    scope("fire", "command:new", "--trust", "--save", "one", "--wait", "0")
    done = scope("test", "--trust", *PATIENT)
    assert done.code == 0, "the handler had answered"
    assert "    note: behind " in done.out
    assert behind in done.out


def test_a_sequence_reports_background_work_of_its_last_step(
    scope: Program, workspace: Path, behind: str
) -> None:
    (workspace / ".hookscope/sequences").mkdir(parents=True)
    (workspace / ".hookscope/sequences/once.yaml").write_text("steps: [{event: 'command:new'}]")
    done = scope("sequence", "once", "--trust", *PATIENT)
    assert "behind printed late: worked behind it" in done.err


def test_background_work_is_reported_and_awaited_once(
    scope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "ticks", COMMAND, FOREVER, file="handler.js")
    once = scope("fire", "command:new", "--trust", "--save", "once", "--wait", "0.3").out
    assert "ticks printed late: tick" in once
    assert "ticks left 1 timer running, still active 0.3 s later: it ends with its worker here" in once
    (workspace / ".hookscope/events/again.yaml").write_bytes(
        (workspace / ".hookscope/events/once.yaml").read_bytes()
    )
    scope("test", "--trust", "--wait", "0.3")
    assert ["still active" in scope("log", run).out for run in ("2", "3")] == [True, False]


def test_wait_zero_does_not_wait_for_background_work(
    scope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "ticks", COMMAND, FOREVER, file="handler.js")
    run = scope("fire", "command:new", "--trust", "--wait", "0", "--json").json
    assert run["notes"] == []
    assert scope("fire", "command:new", "--wait", "-1").code == 2


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("setTimeout(() => process.exit(3), 30)", "exited with status 3"),
        ("setTimeout(() => { for (;;); }, 30)", "stopped answering"),
    ],
)
def test_a_worker_that_dies_or_hangs_after_the_answer_is_named(
    scope: Program, workspace: Path, make_hook: MakeHook, source: str, said: str
) -> None:
    make_hook(
        workspace / "hooks", "harm", COMMAND, f"export default () => {{ {source}; }};", file="handler.js"
    )
    (note,) = scope("fire", "command:new", "--trust", "--json", *PATIENT).json["notes"]
    assert note == f"harm ended its worker after it had returned: the worker {said}"


def test_promise_rejected_after_the_answer_is_reported(
    scope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    later = "const later = async () => { await null; await null; nowhere(); };"
    source = f"{later}\nexport default () => {{ later(); }};"
    make_hook(workspace / "hooks", "floats", COMMAND, source, file="handler.js")
    told = scope("fire", "command:new", "--trust", *PATIENT).out
    assert "ReferenceError: nowhere is not defined" in told


async def test_ctrl_c_while_waiting_for_background_work_keeps_the_run(
    workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "ticks", COMMAND, FOREVER, file="handler.js")
    bench = Workbench(Options(workspace=workspace), trust_all=True, linger_seconds=3600)
    view = bench.scan()
    plan = bench.plan(view, bench.template(view, "command:new"), only="ticks")
    firing = bench.fire(view, plan)
    try:
        async for step in firing:
            if isinstance(step, Result):
                break
        firing.cancel()
        async with asyncio.timeout(60):
            run = await firing
    finally:
        await bench.close()
    assert [result.status for result in run.results] == ["ok"]
