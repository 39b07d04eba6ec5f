"""Saved events under this and that environment, from the command line; and what of it reaches the disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.app.doctor import SetupFinding
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

ECHO = """
def handler(event):
    event.messages.append(f"{event.context['who']} at {event.timestamp.year}")
"""
KEY = "plain words 17"  # nothing about it looks like a secret but the name of its variable


@pytest.fixture
def scope(hookscope: Program, bundled: Path, workspace: Path, make_hook: MakeHook) -> Program:
    """The program with one hook, two environments and a saved event."""
    make_hook(workspace / "hooks", "echo", '{openclaw: {events: ["command:new"]}}', ECHO)
    own = workspace / ".hookscope"
    (own / "environments").mkdir(parents=True)
    (own / "environments/dev.yaml").write_text("variables: {WHO: Ada}\n")
    (own / "environments/ci.yaml").write_text(f"variables: {{WHO: Robot, API_KEY: {KEY}}}\n")
    (own / "events").mkdir()
    (own / "events/hello.yaml").write_text(
        "event: command:new\nat: 2020-02-02T02:02:02Z\ncontext: {who: '${WHO}'}\n"
    )

    def run(command: str, *arguments: str, env: dict[str, str] | None = None) -> Done:
        more = ("--trust",) if command in ("fire", "test", "replay") else ()
        return hookscope("--bundled", str(bundled), command, *more, *arguments, env=env)

    return run


def test_the_environment_is_chosen_by_option_or_by_the_project(scope: Program, workspace: Path) -> None:
    hello = ".hookscope/events/hello.yaml"
    unset = scope("fire", hello)
    assert unset.code == 2
    assert "hello.yaml uses ${WHO}, which is not set." in unset.err
    (workspace / ".hookscope/config.yaml").write_text("environment: ci\n")
    assert scope("fire", hello, "--json").json["messages"] == ["Robot at 2020"]
    given = scope("fire", hello, "--environment", "dev", "--env", "WHO=Eve", "--json").json
    assert given["messages"] == ["Eve at 2020"]
    unknown = scope("test", "--environment", "deb", "--json")
    assert (unknown.code, unknown.json["next"]) == (2, "Did you mean dev?")


def test_saved_events_are_tested_under_the_chosen_environment(scope: Program, workspace: Path) -> None:
    with (workspace / ".hookscope/events/hello.yaml").open("a") as file:
        file.write("expect: {messages: ['Ada at *']}\n")
    assert scope("test", "--environment", "dev").code == 0
    missed = scope("test", "--environment", "ci")
    assert missed.code == 1
    assert "+ Robot at 2020" in missed.out


@pytest.mark.usefixtures("scope")
def test_doctor_names_the_environment_in_force(workspace: Path) -> None:
    def found() -> dict[str, SetupFinding]:
        bench = Workbench(Options(workspace=workspace))
        return {item.name: item for item in bench.doctor(bench.scan())}

    assert found()["environment"].found == "none of ci, dev; `--environment NAME` chooses one"
    (workspace / ".env").write_text("A=1\nB=2\n")
    (workspace / ".hookscope/config.yaml").write_text("environment: ci\n")
    assert found()["environment"].found == "ci, named in .hookscope/config.yaml: 2 variables"
    assert found()["variables"].found == f"2 variables in {workspace / '.env'}"
    (workspace / ".hookscope/config.yaml").write_text("environment: cii\n")
    assert (found()["environment"].ok, found()["environment"].next_step) == (False, "Did you mean ci?")


def test_the_value_of_a_variable_named_as_a_secret_reaches_no_disk(
    scope: Program, workspace: Path, tmp_path: Path
) -> None:
    """Under whatever key it lands, and whatever a handler does with it."""
    (workspace / ".hookscope/events/key.yaml").write_text(
        "event: command:new\nsession: chat ${API_KEY}\n"
        "context: {who: '${API_KEY}', all: ['x ${API_KEY} y']}\n"
    )
    fired = scope("fire", ".hookscope/events/key.yaml", "--environment", "ci", "--save", "kept", "--json")
    assert fired.json["messages"][0].startswith(KEY)  # the handler had it
    assert "Set its secrets as environment variables: API_KEY." in fired.err
    kept = (workspace / ".hookscope/events/kept.yaml").read_text()
    assert '\n  who: "${API_KEY}"\n' in kept
    assert KEY not in kept
    journal = [file for file in (tmp_path / "state").rglob("*") if file.is_file()]
    assert journal
    assert not [file for file in journal if KEY.encode() in file.read_bytes()]
    assert "API_KEY" in scope("replay", "1").err  # it is not had without the environment
    again = scope("replay", "1", "--environment", "ci", "--json").json[0]
    assert (again["same"], again["run"]["messages"]) == (True, fired.json["messages"])
    assert again["run"]["event"]["sessionKey"] == f"chat {KEY}"
    assert not [file for file in journal if KEY.encode() in file.read_bytes()]
