"""`log --follow`: what is fired elsewhere, as it comes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.cli.main import exit_code_of

if TYPE_CHECKING:
    from tests.cli.conftest import Program


def test_follow_continues_with_a_journal_that_was_recreated(
    hookscope: Program, workspace: Path, bundled: Path, tmp_path: Path
) -> None:
    here = ("--bundled", str(bundled))
    for key in ("command:first", "command:second"):
        assert hookscope("fire", key, *here).code == 0
    program = [sys.executable, "-m", "hookscope", *here, "log", "--follow"]
    following = subprocess.Popen(program, cwd=workspace, stdout=subprocess.PIPE, text=True, env=os.environ)
    late = threading.Timer(60, following.kill)  # then a line is empty
    late.start()
    try:
        assert following.stdout is not None
        lines = [following.stdout.readline() for _ in range(2)]
        for file in (tmp_path / "state").glob("journal.db*"):
            file.unlink()
        assert hookscope("fire", "command:third", *here).code == 0
        lines.append(following.stdout.readline())
    finally:
        late.cancel()
        following.kill()
        following.communicate()
    for line, key in zip(lines, ("first", "second", "third"), strict=True):
        assert f"command:{key}" in line


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_ctrl_c_ends_follow_and_prints_to_standard_error_only(
    hookscope: Program, workspace: Path, bundled: Path, form: tuple[str, ...]
) -> None:
    here = ("--bundled", str(bundled))
    assert hookscope("fire", "command:first", *here).code == 0
    program = [sys.executable, "-m", "hookscope", *here, "log", "--follow", *form]
    following = subprocess.Popen(
        program, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    late = threading.Timer(60, following.kill)  # then a line is empty
    late.start()
    try:
        assert following.stdout is not None
        line = following.stdout.readline()
        following.send_signal(signal.SIGINT)
        out, err = following.communicate()
    finally:
        late.cancel()
        following.kill()
    assert "first" in line
    assert (out, err.strip(), following.returncode) == ("", "hookscope: stopped.", 1)
    if form:
        assert json.loads(line)["event"] == "command:first"


def test_ctrl_c_of_a_json_command_prints_a_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    def stopped() -> object:
        raise KeyboardInterrupt

    assert exit_code_of(stopped, ["list", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out) == {"error": "stopped", "next": ""}
    assert said.err == "hookscope: stopped.\n"
    for stream in ("--json-lines", "--follow", "--watch"):
        assert exit_code_of(stopped, ["log", stream, "--json"]) == 1
        assert capsys.readouterr().out == ""
