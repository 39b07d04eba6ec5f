"""What is optional is brought by a command for the Python that runs Hookscope, whatever PATH has."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.environment
ASK = """
import sys
for name in {absent!r}:
    sys.modules[name] = None
from hookscope.cli.main import exit_code
sys.exit(exit_code(["serve"]))
"""
BIN = str(Path(sys.executable).parent)


def command_for(path: str, *absent: str) -> list[str]:
    """The command that `serve` names where its package is not there."""
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(absent=["textual_serve", *absent])],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    found = re.search(r"`(.+)` installs it", done.stderr)
    assert found, done.stderr
    return shlex.split(found[1])


def installs_here(command: list[str], path: str) -> bool:
    """Would this Python's packages be added to."""
    python = command[4] if command[0] == "uv" else command[0]
    ran = subprocess.run(
        [os.path.expanduser(python), "-c", "import sys; print(sys.prefix)"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip() == sys.prefix


@pytest.mark.parametrize("path", ["/usr/bin:/bin", f"{BIN}:/usr/bin:/bin"], ids=["aside", "first"])
def test_suggested_command_installs_into_the_running_python(path: str) -> None:
    command = command_for(path)
    assert command[-2:] == ["install", "hookscope[serve]"] or command[0] == "uv"
    assert installs_here(command, path)


def test_suggested_command_uses_uv_without_pip() -> None:
    command = command_for("/usr/bin:/bin", "pip")
    assert command[:4] == ["uv", "pip", "install", "--python"]
    assert installs_here(command, "/usr/bin:/bin")
