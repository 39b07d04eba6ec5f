"""Too few open files: every command says so, and nothing else."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope.runtime.executors import NoNode, ask_node, find_node

MakeHook = Callable[..., Path]
NEW = "{openclaw: {events: ['command:new']}}"
GUARD = 120
REASON = "limit of open files is reached"
UNTRUE = (
    "bug in Hookscope", "Traceback", "--sandbox:", "config.yaml", "not installed", "is broken",
    "does not say", "No Node", "no Node",
)  # fmt: skip


def ran(most: int, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    argv = [sys.executable, "-m", "hookscope", *words, "--bundled", str(cwd)]
    return subprocess.run(
        argv, cwd=cwd, capture_output=True, text=True, timeout=GUARD, check=False, preexec_fn=limit
    )


@pytest.fixture
def hooks(workspace: Path, make_hook: MakeHook) -> Path:
    make_hook(workspace / "hooks", "one", NEW, "def handler(event): print('ran')\n")
    return workspace


@pytest.mark.parametrize("most", [20, 16, 12])
@pytest.mark.parametrize(
    "words",
    [("fire", "command:new", "--trust"), ("load", "--trust"), ("fire", "command:new", "--trust", "--json")],
)
def test_a_worker_that_lacks_open_files_says_so(hooks: Path, most: int, words: tuple[str, ...]) -> None:
    done = ran(most, hooks, *words)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert REASON in said
    assert "ulimit -n 1024" in said
    assert not [text for text in UNTRUE if text in said]
    if "--json" in words:
        json.loads(done.stdout)


def test_enough_open_files_cause_no_warning(hooks: Path) -> None:
    done = ran(64, hooks, "fire", "command:new", "--trust")
    assert (done.returncode, "ran" in done.stdout) == (0, True)


def test_a_node_that_could_not_start_is_not_called_missing() -> None:
    def asked(program: str) -> None:
        raise OSError(24, "Too many open files", program)

    found = find_node(sys.executable, sys.executable, asked)
    assert isinstance(found, NoNode)
    assert REASON in found.missing_reason
    assert "ulimit -n 1024" in found.missing_reason
    assert "name another" not in found.missing_reason


def test_a_failed_version_query_is_repeated_later(tmp_path: Path) -> None:
    """In a process that may open no more files, and then again."""
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho '[\"v24.1.0\", true]'\n")
    node.chmod(0o755)
    code = (
        "import resource, sys\n"
        "from hookscope.runtime.executors import ask_node\n"
        "import subprocess, json, re\n"
        "soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (4, hard))\n"
        "try: print(ask_node(sys.argv[1]))\n"
        "except OSError as error: print(error.errno)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))\n"
        "print(ask_node(sys.argv[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(node)], capture_output=True, text=True, timeout=GUARD, check=True
    )
    assert done.stdout.splitlines() == ["24", str(ask_node(str(node)))]
