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


def test_replay_repeats_the_last_run_and_finds_no_difference(scope: Program, greet: Path) -> None:
    greet.write_text("def handler(event):\n    event.messages.append('Hello')\n")
    assert scope(*FIRE).code == 0
    done = scope("replay")
    assert done.code == 0
    assert done.out.startswith("command:new  run 1 → run 2  as before  ")
    document = scope("replay", "2", "--json").json[0]
    assert (document["replayed"], document["same"], document["different"]) == (2, True, [])
    assert document["run"]["messages"] == ["Hello"]


def test_handlers_can_see_that_a_run_is_a_replay(scope: Program, greet: Path) -> None:
    scope(*FIRE)
    done = scope("replay", "1", "--json")
    assert done.code == 1
    (document,) = done.json
    assert document["different"] == [{"kind": "context", "what": "again", "before": 0, "after": 1}]
    assert document["run"]["event"]["context"]["replayed"]["run"] == 1


def test_replay_shows_the_effect_of_a_change_line_by_line(scope: Program, greet: Path) -> None:
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


def test_replay_reports_new_missing_and_failing_handlers(
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
def test_a_replay_calls_the_handlers_of_the_original_fire(
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


def test_a_replay_can_be_fired_at_another_hook(scope: Program, three: Path) -> None:
    scope("fire", "command:new", "--only", "b")
    (document,) = scope("replay", "1", "--only", "c", "--json").json
    assert [result["hook"] for result in document["run"]["results"]] == ["c"]
    assert scope("replay", "1", "--from", "b").out.startswith("command:new  run 1 → run 3  as before"), (
        "nor does one from it on go to those behind it that were left out"
    )


def test_a_replay_of_a_deleted_hook_calls_no_other_hook(scope: Program, three: Path) -> None:
    scope("fire", "command:new", "--only", "b")
    (three / "b/HOOK.md").unlink()
    done = scope("replay", "1")
    assert done.code == 1
    assert [line.strip() for line in done.out.splitlines()[1:]] == ["b: ok → did not run", "- b"]


def test_last_counts_only_runs_that_are_not_replays(scope: Program, greet: Path) -> None:
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


def test_replay_accepts_a_time_range_or_an_event(scope: Program, greet: Path) -> None:
    for key in ("command:new", "command:new", "gateway:startup"):
        scope("fire", key, "--context", '{"who": "Ada"}')
    numbers = [item["replayed"] for item in scope("replay", "--event", "command:new", "--json").json]
    assert numbers == [1, 2]
    assert [item["replayed"] for item in scope("replay", "--since", "1h", "--json").json] == [1, 2, 3]
    assert len(scope("replay", "--all", "--dry", "--json").json) == 3
    assert "No run matches" in scope("replay", "--event", "command:stop").err
    refused = scope("replay", "1", "--since", "1h")
    assert refused.code == 2
    assert "replay takes run numbers or filters, not both" in refused.err


def test_a_run_that_cannot_be_fired_does_not_stop_the_others(scope: Program, greet: Path) -> None:
    greet.write_text("def handler(event): pass\n")
    secret = "sk" + "-0123456789abcdefghijklmnop"
    scope("fire", "command:new", "--context", json.dumps({"apiKey": secret}))
    scope(*FIRE)
    done = scope("replay", "--last", "2")
    assert (done.code, done.out.count("as before")) == (1, 1)
    assert "Run 1: The secret API_KEY of the event was not stored" in done.err


def test_replay_dry_shows_the_plan_and_runs_nothing(scope: Program, greet: Path) -> None:
    scope(*FIRE)
    done = scope("replay", "--dry", "--json")
    assert done.code == 0
    assert [call["hook"] for group in done.json[0]["groups"] for call in group["calls"]] == ["greet"]
    assert len(scope("log", "--json", trust=False).json["runs"]) == 1


def test_replay_reports_untrusted_hooks(scope: Program, greet: Path) -> None:
    scope(*FIRE)
    done = scope("replay", trust=False)
    assert done.code == 1
    assert "is not trusted" in done.err
    assert "greet: ok → did not run" in done.out


def test_replay_in_a_sandbox_compares_files(scope: Program, greet: Path, workspace: Path) -> None:
    greet.write_text("def handler(event):\n    open('out.txt', 'w').write('one')\n")
    scope(*FIRE, "--sandbox")
    assert scope("replay").code == 0  # on copies again, as it was fired
    greet.write_text("def handler(event):\n    open('out.txt', 'w').write('other')\n")
    (document,) = scope("replay", "1", "--json").json
    (one,) = document["different"]
    assert one["kind"] == "file"
    assert (one["before"]["bytes"], one["after"]["bytes"]) == (3, 5)
    assert not (workspace / "out.txt").exists()


def test_replay_takes_secrets_again_and_does_not_count_them_as_differences(
    scope: Program, greet: Path
) -> None:
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
def test_replay_refuses_an_unknown_run(
    scope: Program, greet: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = scope("replay", *arguments)
    assert done.code == 1
    assert sentence in done.err


def test_plugins_and_stream_modules_see_the_replay_mark_in_ctx(
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


def test_a_replayed_stream_event_gets_a_new_timestamp(hookscope: Program, tmp_path: Path) -> None:
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


def test_replay_from_a_handler_skips_the_earlier_ones(
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


def test_replay_from_refuses_plugin_events(scope: Program, workspace: Path) -> None:
    plugin = workspace / "plugins/guard/plugin.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("def register(api):\n    api.on('before_tool_call', lambda event, ctx: None)\n")
    assert scope("fire", "before_tool_call").code == 0
    done = scope("replay", "1", "--from", "1")
    assert (done.code, "handlers do not share it" in done.err) == (1, True)
