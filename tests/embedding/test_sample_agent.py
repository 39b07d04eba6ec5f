"""The agent of the manual: it passes the strictest type check, and does what its reader expects."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hookscope

PROJECT = Path(__file__).parents[2]
MakeHook = Callable[..., Path]


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """The sample as a file of its own."""
    chapters = (PROJECT / "README.md", *sorted((PROJECT / "src" / "hookscope" / "manual").glob("*.md")))
    texts = "\n".join(chapter.read_text() for chapter in chapters)
    (source,) = re.findall(r'```python\n("""A small agent with hooks.*?)```', texts, re.DOTALL)
    assert source.count("\n") <= 60
    file = tmp_path / "agent.py"
    file.write_text(source)
    return file


def check_types(file: Path) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--no-error-summary", str(file)]
    paths = {"MYPYPATH": str(Path(hookscope.__file__).parents[1]), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, cwd=file.parent, env=paths).stdout


def test_the_sample_agent_is_strictly_typed(agent: Path) -> None:
    assert check_types(agent) == ""
    source = agent.read_text()
    agent.write_text(source.replace("event: ToolCallEvent", "event: int"))
    assert 'Value of type variable "ToolCallH"' in check_types(agent)
    agent.write_text(source.replace("event: HookEvent", "event: int"))
    assert 'Value of type variable "H"' in check_types(agent)
    agent.write_text(source.replace('"blockReason": ', '"reason": '))
    assert 'expected "ToolCallAnswer | None"' in check_types(agent)


def test_the_sample_agent_answers_and_refuses(agent: Path, home: Path, make_hook: MakeHook) -> None:
    workspace = home / "agent"
    make_hook(
        workspace / "hooks",
        "counts",
        "{openclaw: {events: [command]}}",
        "def handler(event): event.messages.append(f'{len(event.context)} field')\n",
    )
    make_hook(workspace / "hooks", "breaks", "{openclaw: {events: [command]}}", "def handler(event): 1 / 0\n")
    done = subprocess.run([sys.executable, agent, workspace], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "2 of 2 hooks loaded",
        "1 field",
        "Hello, dev.",
        "exec refused: this agent has no shell",
        "read called with {'command': 'ls'}",
    ]
    assert "breaks failed: division by zero" in done.stderr
