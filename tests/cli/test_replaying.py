"""Runs of the journal fired again, from the command line: what is different, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

GREET = """
def handler(event):
    event.messages.append("Hello")
    event.messages.append(event.context.get("who", "?"))
    event.context["again"] = event.context.get("replayed", {}).get("run", 0)
"""
CHANGED = GREET.replace('"Hello"', '"Good day"') + '    event.context["extra"] = [1, 2]\n'
FIRE = ("fire", "command:new", "--context", '{"who": "Ada"}')


@pytest.fixture
def scope(hookscope: Program, bundled: Path) -> Program:
    """The program with nothing but the hooks of the workspace, all of them trusted."""

    def run(command: str, *arguments: str, trust: bool = True, env: dict[str, str] | None = None) -> Done:
        more = ("--trust",) if trust else ()
        return hookscope("--bundled", str(bundled), command, *more, *arguments, env=env)

    return run


@pytest.fixture
def greet(workspace: Path, make_hook: MakeHook) -> Path:
    """The handler of a hook that says what it was told."""
    folder = make_hook(workspace / "hooks", "greet", '{openclaw: {events: ["command:new"]}}', GREET)
    return folder / "handler.py"


def test_the_last_run_is_fired_again_and_is_as_before(scope: Program, greet: Path) -> None:
    greet.write_text("def handler(event):\n    event.messages.append('Hello')\n")
    assert scope(*FIRE).code == 0
    done = scope("replay")
    assert done.code == 0
    assert done.out.startswith("command:new  run 1 → run 2  as before  ")
    document = scope("replay", "2", "--json").json[0]
    assert (document["replayed"], document["same"], document["different"]) == (2, True, [])
    assert document["run"]["messages"] == ["Hello"]


def test_handlers_see_that_and_what_is_replayed(scope: Program, greet: Path) -> None:
    scope(*FIRE)
    done = scope("replay", "1", "--json")
    assert done.code == 1
    (document,) = done.json
    assert document["different"] == [{"kind": "context", "what": "again", "before": 0, "after": 1}]
    assert document["run"]["event"]["context"]["replayed"]["run"] == 1


def test_what_a_change_did_is_told_line_by_line(scope: Program, greet: Path) -> None:
    scope(*FIRE)
    greet.write_text(CHANGED)
    done = scope("replay", "1")
    assert done.code == 1
    assert [line.strip() for line in done.out.splitlines()[1:]] == [
        "- Hello",
        "+ Good day",
        "context.again: 0 → 1",
        "context.extra: nothing → [1, 2]",
    ]


def test_handlers_that_fail_come_and_go(
    scope: Program, greet: Path, workspace: Path, make_hook: MakeHook
) -> None:
    scope(*FIRE)
    greet.write_text("def handler(event):\n    raise ValueError('no')\n")
    make_hook(workspace / "hooks", "more", '{openclaw: {events: ["command"]}}')
    lines = [line.strip() for line in scope("replay", "1").out.splitlines()[1:]]
    assert "greet: ok → error: ValueError: no" in lines
    assert "more: did not run → ok" in lines
    (document,) = scope("replay", "1", "--only", "more", "--json").json
    assert {"kind": "handler", "what": "greet", "before": "ok", "after": None} in document["different"]


QUIET = "def handler(event):\n    event.messages.append('{}')\n"


@pytest.fixture
def three(workspace: Path, make_hook: MakeHook) -> Path:
    """The folder of three hooks of one event, each with its word."""
    for name in ("a", "b", "c"):
        make_hook(workspace / "hooks", name, '{openclaw: {events: ["command:new"]}}', QUIET.format(name))
    return workspace / "hooks"


@pytest.mark.parametrize(
    ("asked", "called"),
    [
        (("--only", "b"), ["b"]),
        (("--only", "b", "--force"), ["b"]),
        (("--except", "b"), ["a", "c"]),
        ((), ["a", "b", "c"]),
    ],
)
def test_a_run_goes_to_those_again_at_whom_it_was_fired(
    scope: Program, three: Path, asked: tuple[str, ...], called: list[str]
) -> None:
    scope("fire", "command:new", *asked)
    done = scope("replay", "1", "--json")
    (document,) = done.json
    assert [result["hook"] for result in document["run"]["results"]] == called
    assert (done.code, document["different"]) == (0, [])
    again = scope("replay", "2", "--json")
    assert [result["hook"] for result in again.json[0]["run"]["results"]] == called, "of a replay, too"
    (plan,) = scope("replay", "1", "--dry", "--json").json
    assert [call["hook"] for group in plan["groups"] for call in group["calls"]] == called


def test_a_run_of_one_hook_goes_to_another_where_that_is_asked_for(scope: Program, three: Path) -> None:
    scope("fire", "command:new", "--only", "b")
    (document,) = scope("replay", "1", "--only", "c", "--json").json
    assert [result["hook"] for result in document["run"]["results"]] == ["c"]
    assert scope("replay", "1", "--from", "b").out.startswith("command:new  run 1 → run 3  as before"), (
        "nor does one from it on go to those behind it that were left out"
    )


def test_a_run_of_one_hook_that_is_gone_goes_to_nobody_else(scope: Program, three: Path) -> None:
    scope("fire", "command:new", "--only", "b")
    (three / "b/HOOK.md").unlink()
    done = scope("replay", "1")
    assert done.code == 1
    assert [line.strip() for line in done.out.splitlines()[1:]] == ["b: ok → did not run", "- b"]


def test_the_last_ones_are_those_that_were_no_replays(scope: Program, greet: Path) -> None:
    greet.write_text("def handler(event):\n    event.messages.append(str(1 / event.context['by']))\n")
    for by in (1, 0, 2):
        scope("fire", "command:new", "--context", json.dumps({"by": by}))
    assert [item["replayed"] for item in scope("replay", "--last", "2", "--json").json] == [2, 3]
    assert [item["replayed"] for item in scope("replay", "--last", "9", "--json").json] == [1, 2, 3]
    greet.write_text("def handler(event):\n    event.messages.append('mended')\n")
    done = scope("replay", "--failed")
    assert done.code == 1
    assert "command:new  run 2 → run 9  2 different" in done.out
    assert "greet: error: ZeroDivisionError: division by zero → ok" in done.out


def test_a_window_or_an_event_is_replayed_as_a_whole(scope: Program, greet: Path) -> None:
    for key in ("command:new", "command:new", "gateway:startup"):
        scope("fire", key, "--context", '{"who": "Ada"}')
    numbers = [item["replayed"] for item in scope("replay", "--event", "command:new", "--json").json]
    assert numbers == [1, 2]
    assert [item["replayed"] for item in scope("replay", "--since", "1h", "--json").json] == [1, 2, 3]
    assert len(scope("replay", "--all", "--dry", "--json").json) == 3
    assert "No run fits" in scope("replay", "--event", "command:stop").err
    refused = scope("replay", "1", "--since", "1h")
    assert refused.code == 2
    assert "by number, or looked for" in refused.err


def test_one_that_cannot_be_fired_keeps_no_other_from_it(scope: Program, greet: Path) -> None:
    greet.write_text("def handler(event): pass\n")
    secret = "sk" + "-0123456789abcdefghijklmnop"
    scope("fire", "command:new", "--context", json.dumps({"apiKey": secret}))
    scope(*FIRE)
    done = scope("replay", "--last", "2")
    assert (done.code, done.out.count("as before")) == (1, 1)
    assert "Run 1: The event had a secret that was not kept: API_KEY" in done.err


def test_dry_says_who_would_run_and_runs_nothing(scope: Program, greet: Path) -> None:
    scope(*FIRE)
    done = scope("replay", "--dry", "--json")
    assert done.code == 0
    assert [call["hook"] for group in done.json[0]["groups"] for call in group["calls"]] == ["greet"]
    assert len(scope("log", "--json", trust=False).json["runs"]) == 1


def test_what_was_not_trusted_then_and_now_is_said(scope: Program, greet: Path) -> None:
    scope(*FIRE)
    done = scope("replay", trust=False)
    assert done.code == 1
    assert "is not trusted" in done.err
    assert "greet: ok → did not run" in done.out


def test_on_copies_files_are_compared(scope: Program, greet: Path, workspace: Path) -> None:
    greet.write_text("def handler(event):\n    open('out.txt', 'w').write('one')\n")
    scope(*FIRE, "--sandbox")
    assert scope("replay").code == 0  # on copies again, as it was fired
    greet.write_text("def handler(event):\n    open('out.txt', 'w').write('other')\n")
    (document,) = scope("replay", "1", "--json").json
    (one,) = document["different"]
    assert one["kind"] == "file"
    assert (one["before"]["bytes"], one["after"]["bytes"]) == (3, 5)
    assert not (workspace / "out.txt").exists()


def test_secrets_of_an_event_come_back_and_are_no_difference(scope: Program, greet: Path) -> None:
    greet.write_text("def handler(event):\n    event.context['length'] = len(event.context['apiKey'])\n")
    secret = "sk" + "-0123456789abcdefghijklmnop"
    scope("fire", "command:new", "--context", json.dumps({"apiKey": secret}))
    refused = scope("replay")
    assert refused.code == 1
    assert "Set API_KEY in the environment" in refused.err
    done = scope("replay", env={"API_KEY": secret})
    assert (done.code, done.err) == (0, ""), done.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Nothing was fired in this workspace yet"),
        (("7",), "There is no run 7 in this workspace"),
        (("--failed",), "Nothing was fired in this workspace yet"),
    ],
)
def test_a_run_that_is_not_there_is_refused(
    scope: Program, greet: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = scope("replay", *arguments)
    assert done.code == 1
    assert sentence in done.err


def test_plugins_and_streams_see_the_mark_beside_the_event(
    hookscope: Program, bundled: Path, workspace: Path
) -> None:
    plugin = workspace / "plugins/guard/plugin.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(
        "def register(api):\n"
        "    api.on('before_tool_call', lambda event, ctx: {'block': 'replayed' in ctx})\n"
    )
    call = ("--bundled", str(bundled))
    hookscope(*call, "fire", "before_tool_call", "--trust")
    (document,) = hookscope(*call, "replay", "--trust", "--json").json
    assert document["run"]["event"]["ctx"]["replayed"]["run"] == 1
    assert "verdict" in [one["kind"] for one in document["different"]]


def test_a_stream_event_is_stamped_anew(hookscope: Program, tmp_path: Path) -> None:
    agent = tmp_path / "agent-project"
    hook = agent / "agent/hooks/watch.py"
    hook.parent.mkdir(parents=True)
    hook.write_text(
        "from hookscope import define_hook\n"
        "def said(event, ctx):\n"
        "    print(event.meta['replayed']['run'] if 'replayed' in event.meta else 'first')\n"
        "default = define_hook(events={'turn.started': said})\n"
    )
    call = ("--dialect", "eve")
    first = hookscope(*call, "fire", "turn.started", "--trust", "--json", cwd=agent)
    done = hookscope(*call, "replay", "--trust", "--json", cwd=agent)
    (document,) = done.json
    then, now = first.json["event"]["meta"], document["run"]["event"]["meta"]
    assert now["replayed"]["run"] == 1
    assert now["at"] != then["at"]
    assert first.json["results"][0]["stdout"] == "first\n"
    assert document["run"]["results"][0]["stdout"] == "1\n"


def test_a_replay_from_a_handler_on_fires_no_other(
    scope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    for name in ("a", "b"):
        source = f"def handler(event): event.messages.append({name!r} + str(len(event.messages)))"
        make_hook(workspace / "hooks", name, "{openclaw: {events: [command]}}", source)
    assert scope("fire", "command:new").code == 0
    done = scope("replay", "1", "--from", "b", "--json")
    assert done.code == 0
    run = done.json[0]["run"]
    assert [result["hook"] for result in run["results"]] == ["b"]
    assert run["messages"] == ["a0", "b1"]
    assert run["not_run"] == [{"hook": "a", "reason": "replayed as recorded"}]
    dry = scope("replay", "1", "--from", "2", "--dry", "--json")
    assert [call["hook"] for group in dry.json[0]["groups"] for call in group["calls"]] == ["b"]
    assert scope("replay", "1", "--from", "c").code == 1
    assert scope("replay", "1", "--from", "b", "--only", "b").code == 2


def test_a_plugin_event_has_no_place_to_go_on_from(scope: Program, workspace: Path) -> None:
    plugin = workspace / "plugins/guard/plugin.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("def register(api):\n    api.on('before_tool_call', lambda event, ctx: None)\n")
    assert scope("fire", "before_tool_call").code == 0
    done = scope("replay", "1", "--from", "1")
    assert (done.code, "whose handlers share no event to go on with" in done.err) == (1, True)
