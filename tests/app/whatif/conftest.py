"""The command line in this process, and a service of a user's own manager."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.done import Done

from hookscope.cli.main import exit_code

NEEDS = "{openclaw: {events: [command:new], requires: {bins: [zzfind], env: [TOKEN]}}}"
SAYS = "import os\ndef handler(event):\n    event.messages.append(os.environ.get('GREETING', '-'))\n"


Run = Callable[..., Done]


@pytest.fixture
def run(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """run("list", "--json") over `workspace`, without bundled hooks."""
    bundled = tmp_path / "bundled"
    bundled.mkdir()

    def done(*arguments: str) -> Done:
        given = (*arguments, "--workspace", str(workspace), "--bundled", str(bundled))
        code = exit_code([*given, "--dialect", "openclaw"])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return done


@pytest.fixture
def units(home: Path) -> Path:
    """The folder of the user's own units."""
    folder = home / ".config/systemd/user"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def service(
    workspace: Path, home: Path, units: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A hook that runs in this shell, and the unit gateway.service in which it does not."""
    programs = home / ".local/bin"
    programs.mkdir(parents=True)
    (programs / "zzfind").write_text("#!/bin/sh\n")
    (programs / "zzfind").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("TOKEN", "s3cret")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    make_hook(workspace / "hooks", "search", NEEDS)
    make_hook(workspace / "hooks", "say", "{openclaw: {events: [command:new]}}", SAYS)
    unit = units / "gateway.service"
    unit.write_text(
        "[Unit]\nDescription=A gateway\n[Service]\nExecStart=/bin/true\n"
        'Environment=HOME=%h PATH=/usr/bin:/bin "GREETING=from %n"\nEnvironmentFile=-%h/none.env\n'
    )
    return unit
