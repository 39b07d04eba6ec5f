"""`hookscope compare`: hosts side by side on the command line."""

import json
from pathlib import Path

from tests.cli.conftest import Program
from tests.conftest import MakeHook, newest_shipped

OWN = '{"openclaw": {"events": ["command:new"]}}'
ALL = ", ".join(f'"{name}": {{"events": ["command:new"]}}' for name in ("openclaw", "milady", "eliza"))


def test_compare_shows_each_difference_and_the_change_that_removes_it(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "one", OWN, file="handler.ts")
    make_hook(workspace / "hooks", "all", f"{{{ALL}}}", file="handler.ts")
    done = hookscope("compare", "--bundled", str(bundled))
    assert done.code == 1
    assert "→ add `milady` and `eliza` beside `openclaw` under `metadata`" in done.out
    assert "1 alike, 1 different" in done.out
    short = hookscope("compare", "all", "--different", "--bundled", str(bundled))
    assert short.code == 0
    assert not any(line.strip().startswith("all ") for line in short.out.splitlines())


def test_compare_json_prints_one_document(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "one", OWN, file="handler.ts")
    done = hookscope("compare", "--dialects", "openclaw,milady", "--json", "--bundled", str(bundled))
    answer = done.json
    assert answer["dialects"] == ["openclaw", "milady"]
    (hook,) = answer["hooks"]
    assert {name: cell["state"] for name, cell in hook["by"].items()} == {
        "openclaw": "ready",
        "milady": "broken",
    }
    assert [one["what"] for one in hook["differs"]] == ["metadata"]
    assert hook["change"] == ["add `milady` beside `openclaw` under `metadata`"]
    assert answer["summary"] == {
        "alike": 0,
        "differ": 1,
        "by": {
            "openclaw": {"found": 1, "metadata": 1, "registered": 1, "called": 1},
            "milady": {"found": 1, "metadata": 0, "registered": 0, "called": 0},
        },
    }


def test_compare_refuses_unknown_dialects_and_conflicting_options(
    workspace: Path, hookscope: Program
) -> None:
    unknown = hookscope("compare", "--dialects", "openclaw,milaby")
    assert unknown.code == 2
    assert "did you mean milady?" in unknown.err
    assert hookscope("compare", "--shipped", "--dialects", "openclaw,milady").code == 2
    nobody = hookscope("compare", "nobody", "--json")
    assert nobody.code == 1
    assert "error" in json.loads(nobody.out)


def test_compare_escapes_control_characters_in_names(
    workspace: Path, bundled: Path, hookscope: Program
) -> None:
    folder = workspace / "hooks/\x1b[31mred"
    folder.mkdir()
    (folder / "HOOK.md").write_text('---\nname: "a\\e[2Jb"\ndescription: d\n---\n')
    (folder / "handler.\x1b[1mjs").write_text("x")
    done = hookscope("compare", "--bundled", str(bundled))
    assert done.code in (0, 1)
    assert "\x1b" not in done.out + done.err


def test_compare_shipped_uses_the_shipped_versions(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "all", f"{{{ALL}}}", file="handler.ts")
    answer = hookscope("compare", "--shipped", "--json", "--bundled", str(bundled)).json
    assert answer["dialects"] == [newest_shipped(host).name for host in ("OpenClaw", "Milady", "Eliza")]
    states = {name: cell["state"] for name, cell in answer["hooks"][0]["by"].items()}
    assert set(states.values()) == {"off", "silent"}


PUSHES = "def handler(event):\n    event.messages.append('hi')\n    event.context['seen'] = 1\n"


def test_compare_fires_an_event_under_each_host(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "all", f"{{{ALL}}}", PUSHES)
    make_hook(workspace / "hooks", "one", OWN, PUSHES)
    asked = ("compare", "--bundled", str(bundled), "--fire", "command:new", "--trust")
    answer = hookscope(*asked, "--json").json
    first, *others = answer["runs"]
    assert [len(run["run"]["results"]) for run in answer["runs"]] == [2, 1, 1]
    assert first["different"] == []
    for other in others:
        kinds = {one["kind"] for one in other["different"]}
        assert kinds == {"handler", "message"}, "the hosts' own events may differ, that is not a difference"


def test_compare_fires_at_one_hook_and_finds_no_difference(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "all", f"{{{ALL}}}", PUSHES)
    asked = ("compare", "all", "--bundled", str(bundled), "--fire", "command:new")
    assert hookscope(*asked, "--trust").code == 0
    left = hookscope(*asked)
    assert left.code == 1
    assert "  outcome" in left.out
    assert "the folder is not trusted" in left.err


def test_compare_reports_hosts_that_do_not_know_the_event(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    own = '{"openclaw": {"events": ["agent:bootstrap"]}}'
    make_hook(workspace / "hooks", "boot", own, "def handler(event): pass\n")
    asked = ("compare", "--dialects", "openclaw,eve", "--bundled", str(bundled), "--trust", "--json")
    answer = hookscope(*asked, "--fire", "agent:bootstrap").json
    assert answer["runs"][0]["run"]["results"]
    assert "is not an event of Eve" in answer["runs"][1]["problem"]
    nowhere = hookscope(*asked, "--fire", "no:such")
    assert nowhere.code == 1
    assert "was not fired at any host" in nowhere.json["error"]
    assert hookscope("compare", "a", "b", "--fire", "command:new").code == 2


def test_compare_in_a_sandbox_uses_separate_copies_for_each_host(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    writes = "from pathlib import Path\ndef handler(event): Path('made').write_text('x')\n"
    make_hook(workspace / "hooks", "all", f"{{{ALL}}}", writes)
    asked = ("compare", "all", "--bundled", str(bundled), "--fire", "command:new", "--trust", "--sandbox")
    answer = hookscope(*asked, "--json").json
    assert all(run["run"]["sandbox"] is not None for run in answer["runs"])
    assert not (workspace / "made").exists()
