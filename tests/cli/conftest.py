"""The program as a script sees it: its own process, its exit code, its two streams."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.forking import Forks


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


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
