"""A home for one program, and its own command as a script would call it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookscope.cli.main import exit_code
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.host import Host, Trust
from hookscope.model.machine import Machine

VERSION = "openclaw@2026.9"
HANDLER = "export default () => {};\n"


class Program:
    """OpenClaw in a home of its own: 2026.9, unless a test names another version."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.managed = home / ".openclaw/hooks"
        self.workspace = home / ".openclaw/workspace/hooks"
        self.bundled = home / "bundled"
        self.version = VERSION
        self._capsys = capsys

    def write(self, path: str | Path, text: str | bytes) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def settings(self, internal: Mapping[str, Any] | None = None, **others: Any) -> Path:
        """`hooks.internal` and other settings."""
        hooks = {} if internal is None else {"hooks": {"internal": internal}}
        return self.write(".openclaw/openclaw.json", json.dumps({**others, **hooks}))

    def hook(
        self,
        folder: str | Path,
        metadata: Mapping[str, Any] | None = None,
        *,
        header: str | None = None,
        handler: str = HANDLER,
        file: str = "handler.js",
    ) -> Path:
        """A hook that subscribes to command:new, unless its metadata or whole header says otherwise."""
        if header is None:
            told = {"openclaw": {"events": ["command:new"], **(metadata or {})}}
            name = Path(folder).name
            header = f"name: {name}\ndescription: Test {name}\nmetadata: {json.dumps(told)}"
        self.write(Path(folder) / "HOOK.md", f"---\n{header}\n---\n")
        self.write(Path(folder) / file, handler)
        return self.home / folder

    def plugin(self, manifest: Mapping[str, Any], **package: Any) -> None:
        """The plugin `p`, with these members of its manifest and of its package.json."""
        folder = Path(".openclaw/extensions/p")
        entry = {"name": "p", "type": "module", "openclaw": {"extensions": ["./index.js"]}}
        self.write(folder / "openclaw.plugin.json", json.dumps({"id": "p", **manifest}))
        self.write(folder / "package.json", json.dumps({**entry, **package}))
        self.write(folder / "index.js", 'export default (api) => api.on("session_start", () => {});\n')

    def says(self, *arguments: str) -> tuple[int, str, list[str]]:
        """Exit code, standard output, lines of standard error."""
        code = exit_code(["--dialect", self.version, *arguments, "--format", "host"])
        out, err = self._capsys.readouterr()
        return code, out, err.splitlines()

    def document(self, *arguments: str) -> Any:
        return json.loads(self.says(*arguments, "--json")[1])

    def listed(self) -> dict[str, Any]:
        """The hooks of its list by name, in its order."""
        return {hook["name"]: hook for hook in self.document("list")["hooks"]}

    def host(self, platform: str = "linux") -> Host:
        here = Machine(platform, dict(os.environ), cwd=self.home, home=self.home)
        return open_host(DIALECTS[self.version], here, trust=Trust(everything=True))


@pytest.fixture
def program(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    (home / "bundled").mkdir()
    monkeypatch.setenv("OPENCLAW_BUNDLED_HOOKS_DIR", str(home / "bundled"))
    return Program(home, capsys)
