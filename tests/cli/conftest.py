"""The program as a script sees it: its own process, its exit code, its two streams."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


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
def hookscope(workspace: Path, tmp_path: Path) -> Program:
    """hookscope("list", "--json") in a workspace of its own, without a terminal."""

    def run(
        *arguments: str, cwd: Path = workspace, env: dict[str, str] | None = None, text: str = ""
    ) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "hookscope", *arguments],
            capture_output=True,
            text=True,
            input=text,
            cwd=cwd,
            env={**os.environ, "PYTHONWARNINGS": "error", **(env or {})},
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def bundled(tmp_path: Path) -> Path:
    """An empty folder of bundled hooks."""
    folder = tmp_path / "bundled"
    folder.mkdir()
    return folder
