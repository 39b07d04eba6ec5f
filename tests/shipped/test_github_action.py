"""The action for code hosts: its annotations name the file and line of each finding."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parents[2]
MakeHook = Callable[..., Path]
EVENT = "event: command:new\nexpect: {messages: ['one: two']}\n"


def annotate(what: str, workspace: Path) -> subprocess.CompletedProcess[str]:
    script = PROJECT / ".github" / "annotate.py"
    return subprocess.run(
        [sys.executable, script, what],
        capture_output=True,
        text=True,
        cwd=workspace,
        env={**os.environ, "DIALECT": "openclaw"},
        timeout=300,
        check=False,
    )


def test_findings_become_annotations(workspace: Path, make_hook: MakeHook, home: Path) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
    (workspace / "hooks/greet/handler.py").unlink()
    done = annotate("lint", workspace)
    (first, *_) = done.stdout.splitlines()
    assert done.returncode == 1
    assert first.startswith("::error file=hooks/greet/HOOK.md,line=1,col=1,title=handler-missing::greet: ")


@pytest.mark.parametrize(("event", "code"), [(None, 0), (EVENT, 1)], ids=["none", "one that misses"])
def test_saved_events_that_miss_become_annotations(
    workspace: Path, make_hook: MakeHook, home: Path, event: str | None, code: int
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
    if event is not None:
        file = workspace / ".hookscope/events/hello.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(event)
    done = annotate("test", workspace)
    assert done.returncode == code, done.stderr
    annotations = [line for line in done.stdout.splitlines() if line.startswith("::")]
    place = "::error file=.hookscope/events/hello.yaml,line=1,col=1,title=saved event hello::"
    assert annotations == [f"{place}messages: expected ['one: two'], got []"] * code


def test_the_action_starts_what_is_there() -> None:
    folder = PROJECT / ".github"
    action = yaml.safe_load((folder / "action.yml").read_text())
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert all((folder / "annotate.py").is_file() for script in scripts if "annotate.py" in script)
    assert [script.rpartition(" ")[2] for script in scripts[1:]] == ["lint", "test"]
    assert (PROJECT / ".github/workflows/release.yml").is_file()
