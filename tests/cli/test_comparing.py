"""`hookscope compare`: hosts side by side on the command line."""

import json
from pathlib import Path

from tests.cli.conftest import Program
from tests.conftest import MakeHook

OWN = '{"openclaw": {"events": ["command:new"]}}'
ALL = ", ".join(f'"{name}": {{"events": ["command:new"]}}' for name in ("openclaw", "milady", "eliza"))


def test_what_differs_and_what_to_change(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "one", OWN, file="handler.ts")
    make_hook(workspace / "hooks", "all", f"{{{ALL}}}", file="handler.ts")
    done = hookscope("compare", "--bundled", str(bundled))
    assert done.code == 1
    assert "→ add `milady` and `eliza` beside `openclaw` under `metadata`" in done.out
    assert "1 alike, 1 differ" in done.out
    short = hookscope("compare", "--different", "--bundled", str(bundled))
    assert not any(line.strip().startswith("all ") for line in short.out.splitlines())
    assert hookscope("compare", "all", "--bundled", str(bundled)).code == 0


def test_one_document(workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook) -> None:
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


def test_wrong_use(workspace: Path, hookscope: Program) -> None:
    assert hookscope("compare", "--dialects", "openclaw").code == 2
    unknown = hookscope("compare", "--dialects", "openclaw,milaby")
    assert unknown.code == 2
    assert "did you mean milady?" in unknown.err
    assert hookscope("compare", "--shipped", "--dialects", "openclaw,milady").code == 2
    nobody = hookscope("compare", "nobody", "--json")
    assert nobody.code == 1
    assert "error" in json.loads(nobody.out)


def test_names_that_would_restyle_a_terminal(workspace: Path, bundled: Path, hookscope: Program) -> None:
    folder = workspace / "hooks/\x1b[31mred"
    folder.mkdir()
    (folder / "HOOK.md").write_text('---\nname: "a\\e[2Jb"\ndescription: d\n---\n')
    (folder / "handler.\x1b[1mjs").write_text("x")
    done = hookscope("compare", "--bundled", str(bundled))
    assert done.code in (0, 1)
    assert "\x1b" not in done.out + done.err


def test_the_programs_that_ship(
    workspace: Path, bundled: Path, hookscope: Program, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "all", f"{{{ALL}}}", file="handler.ts")
    answer = hookscope("compare", "--shipped", "--json", "--bundled", str(bundled)).json
    assert answer["dialects"] == ["openclaw@2026.9", "milady@2.0.0-alpha.76", "eliza@2.0.0-beta.2"]
    states = {name: cell["state"] for name, cell in answer["hooks"][0]["by"].items()}
    assert set(states.values()) == {"off", "silent"}
