"""boot-md: BOOT.md of every workspace reaches the command, and each obstacle is said."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.bundled_hooks.conftest import Fire, FireHere, settings

HOOK = "boot-md"
ECHO = [sys.executable, "-c", "import os, sys; print(os.getcwd(), sys.argv[1:], sys.stdin.read())", "a b"]
Agent = Callable[..., Path]


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    """agent("main", "text of its BOOT.md") → its workspace."""

    def make(name: str, boot: str | None = None) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        if boot is not None:
            (folder / "BOOT.md").write_text(boot)
        return folder

    return make


def booting(*workspaces: Path | None, **entry: Any) -> dict[str, Any]:
    """The settings with an agent for each workspace."""
    agents = [{"id": "x"} if path is None else {"id": "x", "workspace": str(path)} for path in workspaces]
    return {**settings(HOOK, **entry), "agents": {"list": agents}}


@pytest.mark.parametrize("dialect", ["openclaw", "milady", "eliza"])
def test_each_agents_workspace_is_booted_once(
    fire: Fire, agent: Agent, workspace: Path, dialect: str
) -> None:
    one, two = agent("one", "wake up"), agent("two", "go on")
    (workspace / "BOOT.md").write_text("the default")
    context = {"workspaceDir": str(workspace), "cfg": booting(one, two, None, one, command=ECHO)}
    run = fire(HOOK, "gateway:startup", context, dialect=dialect)
    lines = run["result"]["stdout"].splitlines()
    assert [line for line in lines if "['a b']" in line] == [
        f"{one} ['a b'] wake up", f"{two} ['a b'] go on", f"{workspace} ['a b'] the default",
    ]  # fmt: skip
    assert lines[0] == f"{one / 'BOOT.md'} goes to {sys.executable}."


def test_agents_stand_under_their_names_too(fire: Fire, agent: Agent, workspace: Path) -> None:
    one, two = agent("one", "wake up"), agent("two", "go on")
    entries = {"a": {"workspace": str(one)}, "b": {"workspace": str(two)}, "c": {}}
    cfg = {**settings(HOOK, command=ECHO), "agents": {"entries": entries}}
    run = fire(HOOK, "gateway:startup", {"workspaceDir": str(workspace), "cfg": cfg})
    assert run["result"]["stdout"].splitlines()[1::2] == [f"{one} ['a b'] wake up", f"{two} ['a b'] go on"]


def test_the_hosts_settings_have_the_command(fire: Fire, home: Path, agent: Agent) -> None:
    folder = agent("only", "wake up")
    cfg = {**settings(HOOK, command=ECHO), "agents": {"defaults": {"workspace": str(folder)}}}
    (home / ".milady").mkdir()
    (home / ".milady/milady.json").write_text(json.dumps(cfg))
    run = fire(HOOK, "gateway:startup", dialect="milady")
    assert f"{folder} ['a b'] wake up" in run["result"]["stdout"]


@pytest.mark.parametrize("command", [None, []])
def test_without_a_command_nothing_runs_and_it_says_so(
    fire: Fire, agent: Agent, command: list[str] | None
) -> None:
    folder = agent("only", "wake up")
    context = {"workspaceDir": str(folder), "cfg": settings(HOOK, command=command)}
    run = fire(HOOK, "gateway:startup", context)
    assert run["result"]["stdout"] == (
        f"{folder}/BOOT.md was not run: no command is configured (hooks.internal.entries.boot-md.command).\n"
    )


async def test_an_absent_or_empty_boot_md_is_said(
    fire_here: FireHere, agent: Agent, capfd: pytest.CaptureFixture[str]
) -> None:
    absent, empty = agent("absent"), agent("empty", " \n")
    result = await fire_here(HOOK, "gateway:startup", {"cfg": booting(absent, empty, command=ECHO)})
    assert result.status == "ok"
    assert capfd.readouterr().out == f"There is no {absent}/BOOT.md.\n{empty}/BOOT.md is empty.\n"


async def test_failing_agent_does_not_stop_others_and_every_failure_is_named(
    fire_here: FireHere, agent: Agent, capfd: pytest.CaptureFixture[str]
) -> None:
    bad, good, worse = agent("bad", "3"), agent("good", "0"), agent("worse", "4")
    command = [sys.executable, "-c", "import sys; code = int(input()); print('code', code); sys.exit(code)"]
    result = await fire_here(HOOK, "gateway:startup", {"cfg": booting(bad, good, worse, command=command)})
    assert result.error is not None
    for words in (f"BOOT.md of {bad}", "status 3", f"BOOT.md of {worse}", "status 4"):
        assert words in result.error.message
    assert str(good) not in result.error.message
    assert "code 0" in capfd.readouterr().out


async def test_a_command_that_takes_too_long_is_ended(fire_here: FireHere, agent: Agent) -> None:
    folder = agent("only", "wake up")
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    cfg = booting(folder, command=command, timeoutSeconds=0.2)
    result = await fire_here(HOOK, "gateway:startup", {"cfg": cfg})
    assert result.error is not None
    assert "took longer than 0.2 s" in result.error.message
    assert result.took < 60


def test_a_command_that_is_not_there_is_a_failure(fire: Fire, agent: Agent) -> None:
    cfg = booting(agent("only", "wake up"), command=["no-such-program"])
    run = fire(HOOK, "gateway:startup", {"cfg": cfg}, code=1)
    assert "No such file or directory: 'no-such-program'" in run["result"]["error"]["message"]


@pytest.mark.parametrize("command", ["echo hi", ["echo", 1], {"a": 1}])
async def test_invalid_command_fails(fire_here: FireHere, agent: Agent, command: Any) -> None:
    cfg = booting(agent("only", "wake up"), command=command)
    result = await fire_here(HOOK, "gateway:startup", {"cfg": cfg})
    assert result.error is not None
    assert result.error.message.startswith("`command` must be a list of strings")


async def test_a_command_that_reads_nothing_is_fine(fire_here: FireHere, agent: Agent) -> None:
    cfg = booting(agent("only", "x" * 1_000_000), command=["true"])
    assert (await fire_here(HOOK, "gateway:startup", {"cfg": cfg})).status == "ok"
