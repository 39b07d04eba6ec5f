"""`log --follow`: what is fired elsewhere, as it comes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Program


def test_what_comes_into_a_journal_that_was_begun_anew_is_followed(
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
