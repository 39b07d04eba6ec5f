"""The shipped versions by name on the command line."""

import json
from pathlib import Path

import pytest
from tests.shipped.conftest import NAMES, Write

from hookscope.cli.main import exit_code


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, object]]:
    code = exit_code([*words, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return code, document


def test_list_shows_no_bundled_hooks_for_a_program_that_has_none(
    write: Write, product: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("a")
    code, listed = answer(capsys, "list", "--dialect", NAMES[product])
    assert code == 0
    hooks = listed["hooks"]
    assert isinstance(hooks, list)
    assert [hook["name"] for hook in hooks] == ["a"]


def test_a_load_that_ends_early_is_no_success(
    write: Write, product: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("a", {"requires": {"bins": 5}})
    write("b")
    code, loaded = answer(capsys, "load", "--trust", "--dialect", NAMES[product])
    assert code == 1
    assert loaded["registered"] == 0
    assert str(loaded["stopped"]).startswith("a: the whole load fails")


def test_without_a_name_the_guide_of_the_host_that_is_found_is_followed(
    managed: Path, product: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, listed = answer(capsys, "list")
    assert listed["dialect"] == product
