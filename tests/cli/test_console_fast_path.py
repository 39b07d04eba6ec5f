"""A line that asks for the console and nothing else: read at a glance, as click would read it."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookscope.cli import main, startup
from hookscope.cli.startup import console_only_options, exit_code, options_from
from hookscope.model.failure import Refusal


@pytest.mark.parametrize(
    "line", [[], ["--workspace", "."], ["--workspace", "a b"], ["--workspace", "a/../a b/"]]
)
def test_the_fast_path_reads_options_as_click_does(
    line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    read: list[Mapping[str, Any]] = []
    monkeypatch.setattr(main, "open_console", read.append)
    assert main.exit_code(line) == 0
    glanced = console_only_options(line)
    assert glanced is not None
    assert [options_from(glanced)] == [options_from(given) for given in read]


@pytest.mark.parametrize(
    "line",
    [
        ["list"],
        ["--help"],
        ["--workspace"],
        ["--workspace=."],
        ["--workspace", "gone"],
        ["--workspace", "--help"],
        ["--workspace", ".", "list"],
        ["--workspace", ".", "--os", "linux"],
    ],
)
def test_other_command_lines_go_to_click(line: list[str]) -> None:
    assert console_only_options(line) is None


def test_opening_the_console_loads_no_click(tmp_path: Path) -> None:
    work = (
        "import sys; from hookscope.cli import startup; startup.open_console = lambda given: None;"
        "startup.exit_code([]); import hookscope.console.app; print('click' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", work], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Refusal("It cannot.", "Try."), "hookscope: It cannot. Try."),
        (RuntimeError("not foreseen"), "a bug in Hookscope"),
        (KeyboardInterrupt(), "hookscope: stopped."),
    ],
)
def test_errors_at_the_consoles_end_are_reported_as_for_commands(
    error: BaseException, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: Mapping[str, Any]) -> None:
        raise error

    monkeypatch.setattr(startup, "open_console", fails)
    assert exit_code([]) == 1
    assert told in capsys.readouterr().err
