"""A line end in the name of a folder makes no line of its own in what a command prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

NAME = "a\nFAKE LINE"
HEADER = "---\ndescription: x\nmetadata: {openclaw: {events: ['command:nwe']}}\n---\n"
COMMANDS = [
    *(("list",), ("check",), ("lint",), ("test",), ("events", "--saved"), ("plan", "command:nwe")),
    *(("doctor",), ("fix",), ("compare",), ("why", NAME), ("info", NAME), ("load", "--trust"), ("log",)),
    *(("fire", "command:nwe", "--trust"), ("trust", "hooks"), ("lint", "hooks"), ("packs",)),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_line_end_in_a_name_makes_no_line(
    command: tuple[str, ...], hookscope: Program, workspace: Path
) -> None:
    for name in (NAME, "plain"):
        folder = workspace / "hooks" / name
        folder.mkdir(parents=True)
        (folder / "HOOK.md").write_text(HEADER)
        (folder / "handler.py").write_text("def handler(event, ctx): return {'block': 1}\n")
    (workspace / "hooks" / f"{NAME}2").mkdir()
    (workspace / "hooks" / f"{NAME}2" / "handler.py").write_text("x")
    (workspace / ".hookscope" / "events").mkdir(parents=True)
    (workspace / ".hookscope" / "events" / f"{NAME}.yaml").write_text("event: command:new\nexpect: {}\n")
    done = hookscope(*command)
    assert done.out + done.err
    assert not [line for line in (done.out + done.err).splitlines() if line.startswith("FAKE LINE")]
