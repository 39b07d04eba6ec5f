"""The runner itself: it says where an answer differs, and knows cases by what stands in them."""

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance import milady_eliza, openclaw
from tests.conformance.layouts import Case, StandIns, cases_below, copied, differences, prepare

from hookscope.runtime.executors import NoNode, find_node

CASES = Path(__file__).parent / "cases"
Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda steps: steps[1]["messages"].append("more"), "step 1 (trigger).messages: expected"),
        (lambda steps: steps[1].update(calls=["nobody"]), 'calls[0]: expected "nobody", got "greeter"'),
        (lambda steps: steps[0]["result"].update(eligible=2), "result.eligible: expected 2, got 1"),
        (lambda steps: steps[0]["found"][0].update(source="managed"), "found[0].source: expected"),
        (lambda steps: steps[0]["log"][0].update(level="warn"), "log[0].level: expected"),
        (lambda steps: steps[0].update(importTrace=["x"]), "importTrace: expected"),
        (lambda steps: steps[2].update(threw="x"), "threw: expected true, got false"),
    ],
)
async def test_an_answer_that_differs_is_said_with_its_place(
    change: Change, said: str, tmp_path: Path
) -> None:
    found = find_node(shutil.which("node"))
    if isinstance(found, NoNode):
        pytest.skip(found.missing_reason)
    folder = shutil.copytree(CASES / "milady" / "01-one-managed-hook", tmp_path / "any name")
    file = folder / "expected.json"
    expected = json.loads(file.read_text())
    change(expected["steps"])
    file.write_text(json.dumps(expected))
    (case,) = cases_below(tmp_path)
    lines = await milady_eliza.differences_of(case, tmp_path / "run", found.path)
    assert len(lines) == 1
    assert said in lines[0]


@pytest.mark.parametrize(
    ("expected", "actual", "lines"),
    [
        ({"a": [1, {"b": None}]}, {"a": (1, {"b": None})}, []),
        ({"a": 1}, {}, [".a: 1 is missing"]),
        ({}, {"a": 1}, [".a: 1 is too much"]),
        (["x"], ["x", "y"], [': expected ["x"], got ["x", "y"]']),
        ("xy", ["x", "y"], [': expected "xy", got ["x", "y"]']),
        (1, True, [": expected 1, got true"]),
    ],
)
def test_differences(expected: object, actual: object, lines: list[str]) -> None:
    assert differences(expected, actual) == lines


@pytest.mark.parametrize(
    ("recorded", "answer", "lines"),
    [
        ({"hooks": [{"name": "a", "blockedReason": None}]}, {"hooks": [{"name": "a"}]}, []),
        ({"hooks": [{"name": "a"}]}, {"hooks": [{"name": "a", "blockedReason": "x"}]}, ["is too much"]),
        ({"callsAfterReturn": ["end b", "end a"]}, {"callsAfterReturn": ["end a", "end b", "end c"]}, []),
        ({}, {"callsAfterReturn": ["end c"]}, []),
        ({"callsAfterReturn": ["end a", "end a"]}, {"callsAfterReturn": ["end a"]}, ['"end a" is missing']),
        ({"callsAfterReturn": ["end a"]}, {}, ['"end a" is missing']),
        ({"log": ["theirs"]}, {"log": ["ours"]}, []),
    ],
)
def test_a_step_is_compared_by_what_the_recorder_could_see(
    recorded: dict[str, Any], answer: dict[str, Any], lines: list[str]
) -> None:
    found = openclaw.step_differences(recorded, answer, "step")
    assert len(found) == len(lines)
    assert all(line in one for line, one in zip(lines, found, strict=True))


@pytest.mark.parametrize("words", [["hooks", "--json"], ["hooks", "list", "--json"]])
def test_the_bare_command_of_the_host_lists(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case(CASES / "openclaw/disp-01-order")
    home = openclaw.Home(case, tmp_path / "home", tmp_path / "state")
    copied(case.folder / "home", home.folder)
    assert "hooks" in openclaw.run_command(home, words, monkeypatch)["json"]


def test_cases_are_told_by_what_stands_in_them() -> None:
    hosts = {Case(CASES / name).host for name in ("openclaw/disp-01-order", "milady/02-exact-before-general")}
    assert hosts == {"openclaw", "milady"}
    assert Case(CASES / "eliza/02-exact-before-general").dialect == "eliza@2.0.0-beta.2"
    assert Case(CASES / "eve/20-channel-write-hooks").dialect == "eve"


def test_what_a_tree_cannot_carry_is_made(tmp_path: Path) -> None:
    stand_ins = StandIns({"<HOME>": tmp_path})
    (tmp_path / "file").write_bytes(b"abc")
    prepare(
        tmp_path,
        [
            {"op": "mkdir", "path": "deep/er"},
            {"op": "write", "path": "deep/text", "text": "in <HOME>\r\n"},
            {"op": "symlink", "path": "link", "target": "deep"},
            {"op": "hardlink", "path": "twin", "target": "file"},
            {"op": "pad", "path": "file", "size": 5},
            {"op": "chmod", "path": "file", "mode": "600"},
            {"op": "tgz", "path": "a.tgz", "entries": {"package/x": "1"}, "links": {"package/l": "/etc"}},
            {"op": "remove", "path": "deep/er"},
        ],
        stand_ins,
    )
    assert (tmp_path / "link/text").read_bytes() == f"in {tmp_path}\r\n".encode()
    assert (tmp_path / "twin").read_bytes() == b"abcxx"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "deep/er").exists()
    with tarfile.open(tmp_path / "a.tgz") as archive:
        file = archive.extractfile("package/x")
        assert file is not None
        assert file.read() == b"1"
        assert archive.getmember("package/l").linkname == "/etc"
    with pytest.raises(ValueError, match="melt"):
        prepare(tmp_path, [{"op": "melt", "path": "x"}], stand_ins)
