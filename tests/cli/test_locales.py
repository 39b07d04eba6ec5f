"""Folders whose names are not ASCII, or no text at all, in this locale and in another one."""

import json
import os
from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0"}
COMMAND = '{openclaw: {events: ["command:new"]}}'


def placed(workspace: Path, make_hook: MakeHook, name: bytes) -> Path:
    """A workspace of that name, with a hook in it."""
    place = Path(os.fsdecode(os.fsencode(workspace) + b"-" + name))
    place.mkdir()
    make_hook(place / "hooks", "greet", COMMAND)
    return place


def states(done: str) -> dict[str, str]:
    return {hook["name"]: hook["state"] for hook in json.loads(done)["hooks"]}


@pytest.mark.parametrize("before", [{}, ASCII], ids=["utf-8", "ascii"])
@pytest.mark.parametrize("after", [{}, ASCII], ids=["utf-8", "ascii"])
def test_trust_and_switches_hold_in_every_locale(
    hookscope: Program,
    workspace: Path,
    bundled: Path,
    make_hook: MakeHook,
    home: Path,
    before: dict[str, str],
    after: dict[str, str],
) -> None:
    place = placed(workspace, make_hook, "größe".encode())
    here = ("--bundled", str(bundled), "--config", "openclaw.json")
    (place / "openclaw.json").write_text("{}")
    assert hookscope("trust", "hooks", cwd=place, env=before).code == 0
    assert states(hookscope("list", "--json", *here, cwd=place, env=after).out) == {"greet": "ready"}
    assert hookscope("disable", "greet", *here, cwd=place, env=before).code == 0
    assert states(hookscope("list", "--json", *here, cwd=place, env=after).out) == {"greet": "off"}
    undone = hookscope("undo", *here, cwd=place, env=after)
    assert (undone.code, (place / "openclaw.json").read_text()) == (0, "{}")


@pytest.mark.parametrize("name", ["größe".encode(), b"of\xffbytes"])
def test_a_run_is_found_by_number_for_any_workspace_name(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook, name: bytes
) -> None:
    place, here = placed(workspace, make_hook, name), ("--bundled", str(bundled), "--trust")
    assert hookscope("fire", "command:new", *here, cwd=place).code == 0
    assert hookscope("replay", "1", *here, cwd=place).code == 0
    assert hookscope("replay", "1", *here, cwd=place, env=ASCII).code == 0
