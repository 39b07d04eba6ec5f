"""Fires other than the host's own, from outside: forced, broken on purpose, repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

COMMAND = "{openclaw: {events: [command]}}"


@pytest.fixture
def scope(hookscope: Program, bundled: Path) -> Program:
    """The program with nothing but the hooks of the workspace, all of them trusted."""

    def run(command: str, *arguments: str, **more: Any) -> Done:
        return hookscope("--bundled", str(bundled), command, "--trust", *arguments, **more)

    return run


def test_a_forced_call_is_marked_everywhere_and_forced_again_by_a_replay(
    scope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "later", "{openclaw: {events: ['gateway:startup']}}")
    assert scope("fire", "command:new", "--force").code == 2
    shown = scope("fire", "command:new", "--only", "later", "--force")
    assert (shown.code, "ms  forced" in shown.out) == (0, True)
    done = scope("fire", "command:new", "--only", "later", "--force", "--json")
    assert [result["forced"] for result in done.json["results"]] == [True]
    again = scope("replay", "1", "--json")
    assert (again.code, again.json[0]["different"]) == (0, [])
    assert [result["forced"] for result in again.json[0]["run"]["results"]] == [True]


def test_what_is_broken_on_purpose_is_said_with_what_the_host_makes_of_it(
    scope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND)
    make_hook(workspace / "hooks", "b", COMMAND, "export default () => {}", file="handler.ts")
    done = scope("fire", "command:new", "--break", "a=exit:3", "--break", "b=exception", "--json")
    assert done.code == 1
    assert [(result["broken"], result["status"]) for result in done.json["results"]] == [
        ("exit:3", "crashed"),
        ("exception", "error"),
    ]
    assert done.json["notes"] == ["a was broken on purpose: exit:3", "b was broken on purpose: exception"]
    shown = scope("fire", "command:new", "--break", "a=exit:3", "--break", "b=exception").out
    assert "note: broken on purpose: exit:3" in shown
    assert "error: Hook error [command:new]: broken on purpose" in shown
    hung = scope("fire", "command:new", "--break", "a=hang", "--timeout", "0.2", "--json").json["results"][0]
    assert hung["error"]["message"] == "did not answer within 0.2 s (the limit in --timeout) and was stopped"
    again = scope("replay", "1", "--json").json[0]["run"]["results"]
    assert [result["broken"] for result in again] == [None, None]
    assert scope("fire", "command:new", "--break", "a=hang:1").code == 2


def test_a_repeated_fire_says_what_was_done_again(
    scope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(
        workspace / "hooks",
        "a",
        COMMAND,
        "n = []\ndef handler(event): n.append(0); event.messages.extend('x' * len(n))",
    )
    make_hook(workspace / "hooks", "b", COMMAND, "def handler(event): event.context['b'] = 1")
    done = scope("fire", "command:new", "--repeat", "3", "--json")
    assert done.code == 0
    assert [len(run["messages"]) for run in done.json["runs"]] == [1, 2, 3]
    repeated = done.json["repeated"]
    assert (repeated["times"], repeated["done"], repeated["files"]) == (3, 3, None)
    growing, same = repeated["hooks"]
    assert (growing["hook"], growing["verdict"], growing["messages"]) == ("a", "grows", [1, 2, 3])
    assert (same["verdict"], same["changes"], same["again"]["changes"]) == (
        "does the same again",
        [1, 1, 1],
        ["/context/b"],
    )
    shown = scope("fire", "command:new", "--repeat", "3").out
    assert "grows                ok ×3" in shown
    assert "messages 1 → 2 → 3" in shown
    assert "--sandbox" in shown
    assert scope("fire", "command:new", "command:reset", "--repeat", "2").code == 2
    lines = scope("fire", "command:new", "--repeat", "2", "--json-lines").out.splitlines()
    assert [json.loads(line)["step"] for line in lines][-3:] == ["run", "run", "repeated"]
