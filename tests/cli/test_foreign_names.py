"""Names of files, folders and words that somebody else chose: shown as they are, and typed as they are."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from hookscope.model.hook import FilePosition, Problem
from hookscope.model.text import shell_path

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

BELL = "a\x07b"
COMMAND = '{openclaw: {events: ["command:new"]}}'


def test_control_characters_in_names_never_reach_the_terminal(
    hookscope: Program, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    (workspace / f"{BELL}.json").write_text("{}")
    (workspace / f"{BELL}.env").write_text("A=1\n")
    config = {"HOOKSCOPE_CONFIG_DIR": str(tmp_path / BELL)}
    for arguments in (
        ("list", "--config", f"{BELL}.json"),
        ("check", "--config", f"{BELL}.json"),
        ("info", "greet", "--config", f"{BELL}.json"),
        ("doctor", "--config", f"{BELL}.json"),
        ("compare", "--surroundings", f"here,{BELL}.env"),
        ("keys",),
        ("keys", "--preset", BELL),
        ("events", "--saved"),
        ("fire", "command:new", "--save", BELL),
        ("new", "other", "--in", BELL, "--dry-run"),
        ("trust", BELL),
        (f"li{BELL}st",),
        ("list", f"--{BELL}"),
        ("tap", BELL),
        ("help", BELL),
        ("lint", "--rule", BELL),
    ):
        done = hookscope(*arguments, env=config)
        assert "\x07" not in done.out + done.err, arguments
        assert "bug in Hookscope" not in done.err


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_a_path_in_a_suggested_command_is_quoted_as_one_word(name: str) -> None:
    assert shlex.split(f"hookscope trust {shell_path(f'/x/{name}')}") == ["hookscope", "trust", f"/x/{name}"]
    assert shell_path(f"~/{name}").startswith("~/")  # else no shell takes it for home
    assert shlex.split(shell_path(f"~/{name}")) == [f"~/{name}"]


def test_the_suggested_trust_command_can_be_pasted(
    hookscope: Program, tmp_path: Path, make_hook: MakeHook
) -> None:
    workspace = tmp_path / "my work's"
    make_hook(workspace / "hooks", "greet", COMMAND)
    said = hookscope("fire", "command:new", cwd=workspace).err
    (command,) = re.findall(r"`(hookscope trust .*?)` allows it from now on", said)
    assert hookscope(*shlex.split(command)[1:], cwd=workspace).code == 0
    assert hookscope("fire", "command:new", "--only", "greet", cwd=workspace).code == 0


def test_every_problem_names_its_place_once() -> None:
    file = Path("/x/settings.json")
    for text, place, said in (
        (
            "it needs 12 things",
            FilePosition(file, 1, 5),
            "settings.json, line 1, column 5: it needs 12 things",
        ),
        (
            "line 12, column 3: no",
            FilePosition(file, 1, 2),
            "settings.json, line 1, column 2: line 12, column 3: no",
        ),
        (
            "settings.json, line 4, column 1: no",
            FilePosition(file, 4, 1),
            "settings.json, line 4, column 1: no",
        ),
        ("/x/settings.json is not a file", FilePosition(file), "/x/settings.json is not a file"),
        ("cannot be read", None, "cannot be read"),
    ):
        assert Problem(text, place).sentence == said


def test_unknown_keys_of_the_project_configuration_are_reported(hookscope: Program, workspace: Path) -> None:
    config = workspace / ".hookscope" / "config.yaml"
    config.parent.mkdir()
    config.write_text("limit: {run: 3}\n")
    done = hookscope("list")
    assert done.code == 0
    assert "config.yaml has `limit:`, which has no effect; did you mean `limits:`?" in done.err
    for written, has in (("python: 3.11", "3.11"), ("node: [node]", "['node']")):
        config.write_text(written)
        done = hookscope("list")
        assert done.code == 2
        assert f"must be the path of a program, not {has}." in done.err


def test_endless_files_are_not_read(hookscope: Program, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    os.mkfifo(tmp_path / "config" / "keys.yaml")
    keys = hookscope("keys", "--json")
    problems = [one["text"] for one in keys.json["problems"]]
    assert (keys.code, problems) == (1, ["keys.yaml cannot be read: not a regular file."])
    script = hookscope("play", "--dialect", "eve", "--script", "/dev/zero")
    assert (script.code, "Cannot read the script /dev/zero: not a regular file" in script.err) == (2, True)
