"""The program as a script sees it: its own process, its exit code, its two streams."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.done import Done
from tests.forking import Forks

Program = Callable[..., Done]


@pytest.fixture
def hookscope(workspace: Path, forks: Forks) -> Program:
    """hookscope("list", "--json") in a workspace of its own, without a terminal."""

    def run(
        *arguments: str, cwd: Path = workspace, env: dict[str, str] | None = None, text: str = ""
    ) -> Done:
        done = forks.run(arguments, cwd=cwd, env={**os.environ, **(env or {})}, text=text)
        return Done(done.code, done.out, done.err)

    return run


@pytest.fixture
def bundled(tmp_path: Path) -> Path:
    """An empty folder of bundled hooks."""
    folder = tmp_path / "bundled"
    folder.mkdir()
    return folder
