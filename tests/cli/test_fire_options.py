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


def test_a_forced_call_is_marked_and_a_replay_forces_it_again(
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


def test_an_injected_fault_is_reported_with_the_hosts_reaction(
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


def test_excluded_hooks_do_not_run(scope: Program, workspace: Path, make_hook: MakeHook) -> None:
    for name in "abc":
        source = f"def handler(event): event.messages.append('{name}')"
        make_hook(workspace / "hooks", name, COMMAND, source)
    done = scope("fire", "command:new", "--except", "a", "--except", "c", "--json")
    assert (done.code, done.json["messages"]) == (0, ["b"])
    left = {item["hook"]: item["reason"] for item in done.json["not_run"]}
    assert left == {"a": "skipped: this hook was excluded", "c": "skipped: this hook was excluded"}
    assert "skipped: this hook was excluded" in scope("fire", "command:new", "--except", "a").out
    both = scope("fire", "command:new", "--except", "a", "--only", "b")
    assert (both.code, both.err) == (
        2,
        "hookscope: --only already excludes all other hooks. Use --only or --except.\n",
    )
    unknown = scope("fire", "command:new", "--except", "aa")
    assert (unknown.code, "No hook is named 'aa'" in unknown.err) == (1, True)


def test_excluded_hooks_do_not_run_for_follow_up_events(
    hookscope: Program, tmp_path: Path, bundled: Path
) -> None:
    hooks = tmp_path / "project" / "agent" / "hooks"
    hooks.mkdir(parents=True)
    (tmp_path / "project" / "package.json").write_text('{"dependencies": {"eve": "0.11.0"}}')
    for name in "ab":
        (hooks / f"{name}.py").write_text(
            "from hookscope import define_hook\n\n"
            "async def begins(event, ctx):\n    raise ValueError('no')\n\n"
            "async def heard(event, ctx):\n    pass\n\n"
            "default = define_hook(events={'turn.started': begins, 'turn.failed': heard})\n"
        )
    where = ("--bundled", str(bundled), "--dialect", "eve", "--workspace", str(tmp_path / "project"))
    done = hookscope(*where, "fire", "turn.started", "--trust", "--except", "a", "--json").json
    caused = [run for run in done["caused"] if run["event"]["type"] == "turn.failed"]
    ran = [[result["hook"] for result in run["results"]] for run in (done, *caused)]
    assert ran == [["b"], ["b"]]


def test_an_injected_fault_also_applies_to_follow_up_events(
    hookscope: Program, tmp_path: Path, bundled: Path
) -> None:
    hooks = tmp_path / "project" / "agent" / "hooks"
    hooks.mkdir(parents=True)
    (tmp_path / "project" / "package.json").write_text('{"dependencies": {"eve": "0.11.0"}}')
    (hooks / "a.py").write_text(
        "from hookscope import define_hook\n\n"
        "async def heard(event, ctx):\n    pass\n\n"
        "default = define_hook(events={'turn.started': heard, 'turn.failed': heard})\n"
    )
    where = ("--bundled", str(bundled), "--dialect", "eve", "--workspace", str(tmp_path / "project"))
    done = hookscope(*where, "fire", "turn.started", "--trust", "--break", "a=exception", "--json").json
    (caused,) = (run for run in done["caused"] if run["event"]["type"] == "turn.failed")
    ended = [[(result["hook"], result["status"]) for result in run["results"]] for run in (done, caused)]
    assert ended == [[("a", "error")], [("a", "error")]]


def test_a_repeated_fire_reports_repeated_side_effects(
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
        "does the same",
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
