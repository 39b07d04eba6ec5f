"""The command line in this process, a host of its own, and what stands on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from tests.done import Done

from hookscope.cli.main import exit_code

Disk = Mapping[str, bytes | None]
SHIPPED = "openclaw@2026.9"
SETTINGS = """// mine
{
  hooks: { internal: { /* keep */ entries: { 'mine': { enabled: true, }, }, }, },
}
"""


Cli = Callable[..., Done]


def run_cli(workspace: Path, *words: str) -> Done:
    out, err = TextIOWrapper(BytesIO(), "utf-8"), StringIO()
    with chdir(workspace), redirect_stdout(out), redirect_stderr(err):
        code = exit_code([*words])
    out.flush()
    buffer = out.buffer
    assert isinstance(buffer, BytesIO)
    return Done(code, buffer.getvalue().decode(), err.getvalue())


@pytest.fixture
def cli(workspace: Path) -> Cli:
    """cli("install", "./pack", "--yes") in a workspace of its own, without a terminal."""
    return lambda *words: run_cli(workspace, *words)


@pytest.fixture(autouse=True)
def own_bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder of bundled hooks, so that plans name ours alone."""
    (tmp_path / "bundled").mkdir()
    monkeypatch.setenv("OPENCLAW_BUNDLED_HOOKS_DIR", str(tmp_path / "bundled"))


@pytest.fixture
def settings(home: Path) -> Path:
    """Settings with comments, and a folder of hooks with one in it."""
    file = home / ".openclaw" / "openclaw.json"
    (file.parent / "hooks" / "mine").mkdir(parents=True)
    (file.parent / "hooks" / "mine" / "HOOK.md").write_text(manifest("mine"))
    (file.parent / "hooks" / "mine" / "handler.js").write_text("export default () => {}\n")
    file.write_text(SETTINGS)
    return file


def manifest(name: str, more: str = "") -> str:
    """A HOOK.md that every dialect reads."""
    meta = (
        '{"openclaw": {"events": ["command:new"]MORE}, "milady": {"events": ["command:new"]MORE}, '
        '"eliza": {"events": ["command:new"]MORE}}'
    )
    return f"---\nname: {name}\ndescription: Of the tests\nmetadata: {meta.replace('MORE', more)}\n---\n"


def make_pack(folder: Path, *hooks: str, version: str = "1.0.0", handler: str = "") -> Path:
    """A pack with these hooks, and a file that belongs to none of them."""
    for name in hooks:
        below = folder / "hooks" / name
        below.mkdir(parents=True, exist_ok=True)
        (below / "HOOK.md").write_text(manifest(name))
        (below / "handler.py").write_text(
            handler or f"def handler(event):\n    event.messages.append({version!r})\n"
        )
    told = {
        "name": "@acme/greetings",
        "version": version,
        "openclaw": {"hooks": [f"./hooks/{h}" for h in hooks]},
    }
    (folder / "package.json").write_text(json.dumps(told))
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


def on_disk(*roots: Path) -> Disk:
    """Every file with its bytes and whether it may be run; every folder; every link."""
    found: dict[str, bytes | None] = {}
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.is_symlink():
                found[str(path)] = os.readlink(path).encode()
            elif path.is_dir():
                found[str(path)] = None
            else:
                found[str(path)] = (b"x" if path.stat().st_mode & 0o111 else b"-") + path.read_bytes()
    return found
