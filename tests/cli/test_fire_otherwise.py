"""Fires other than the host's own, from outside: forced, broken on purpose, repeated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Done, Program
    from tests.conftest import MakeHook

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
    refused = scope("fire", "session:start", "--only", "nobody", "--force")
    assert (refused.code, refused.out) == (1, "")
