"""Where helper programs are found, what they are started with, and who else may start a program."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hookscope
from hookscope import helpers

SOURCE = Path(hookscope.__file__).parent
# Who starts programs, beside `helpers.py`, and for which command that was asked to run something.
MAY_START = {
    "runtime/worker_process.py": "workers of handlers",
    "runtime/python_worker/worker_guard.py": "ends workers when their program is gone",
    "packs/programs.py": "npm, git and Python, for `install` and `update`",
    "analysis/verification.py": "the installed host, for `verify`, after a question",
    "cli/commands/help_command.py": "the user's pager, for `help` on a terminal",
    "app/preferences.py": "the user's editor, for a key and for --edit",
    "integrations/serve/routes.py": "the console of a page that was let in",
    "integrations/serve/server.py": "the user's browser, for --open",
}
STARTING = {"subprocess", "webbrowser", "multiprocessing", "pty", "asyncio.subprocess", "platform"}
CALLS = {"system", "popen", "fork", "forkpty", "create_subprocess_exec", "create_subprocess_shell"}
CALL_PREFIXES = ("exec", "spawn", "posix_spawn")
NO_STARTS = {"exec_module", "spawned", "exec_"}  # names that begin so and start nothing


def starts_programs(path: Path) -> bool:
    """Does a module import what starts programs, or call it of `os` or `asyncio`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import) and any(alias.name in STARTING for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and node.module in STARTING:
            return True
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of_system = node.value.id in ("os", "asyncio", "click") and node.attr not in NO_STARTS
            if of_system and (node.attr in {*CALLS, "edit", "launch"} or node.attr.startswith(CALL_PREFIXES)):
                return True
    return False


def test_no_other_module_starts_a_program() -> None:
    files = (path for path in SOURCE.rglob("*.py") if "bundled_hooks" not in path.parts)
    found = {path.relative_to(SOURCE).as_posix() for path in files if starts_programs(path)}
    assert found == {*MAY_START, "helpers.py"}


@pytest.mark.parametrize(
    "line",
    ["import subprocess", "from subprocess import run", "import os; os.execv('a', [])", "import platform",
     "import os; os.system('a')", "import asyncio; asyncio.create_subprocess_exec('a')",
     "import os; os.posix_spawnp('a', [], {})",
     "import click; click.edit()", "def f():\n    import webbrowser"],
)  # fmt: skip
def test_a_module_that_starts_a_program_is_seen(line: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(line)
    assert starts_programs(tmp_path / "module.py")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, which is the current folder, with a program `tool`; another `tool` lies outside of it."""
    workspace = tmp_path / "work"
    for place in (workspace / "bin", tmp_path / "outside"):
        place.mkdir(parents=True)
        (place / "tool").write_text("#!/bin/sh\n")
        (place / "tool").chmod(0o755)
    monkeypatch.chdir(workspace)
    return workspace


CHOICES = {
    "a relative entry": ["bin"],
    "a relative entry upwards": ["../work/bin"],
    "an empty entry": [""],
    "the current folder": ["."],
    "an absolute entry": ["{work}/bin"],
    "an entry with dots": ["{work}/../work/./bin"],
    "a link to a folder": ["{tmp}/linked"],
    "a link to a program": ["{tmp}/links"],
    "a link within a link": ["{tmp}/linked/../bin"],
    "a null byte": ["{work}/bin", "\0"],
}


@pytest.mark.parametrize("entries", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("beside", [True, False])
def test_what_the_workspace_chooses_is_never_found(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: list[str], beside: bool
) -> None:
    (tmp_path / "linked").symlink_to(folder / "bin")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/tool").symlink_to(folder / "bin/tool")
    (folder / "tool").symlink_to("bin/tool")
    path = [entry.format(work=folder, tmp=tmp_path) for entry in entries if "\0" not in entry]
    outside = tmp_path / "outside"
    monkeypatch.setenv("PATH", os.pathsep.join([*path, str(outside)] if beside else path))
    assert helpers.find_program("tool", [folder]) == (str(outside / "tool") if beside else None)
    assert str(folder) not in helpers.user_environment([folder])["PATH"]


def test_a_workspace_that_is_not_the_current_folder_counts_too(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "outside")
    monkeypatch.setenv("PATH", f"{folder}/bin")
    assert helpers.find_program("tool") == f"{folder}/bin/tool"
    assert helpers.find_program("tool", [folder]) is None


def test_the_whole_checkout_is_the_workspaces(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".git").mkdir()
    (folder / "agent").mkdir()
    monkeypatch.chdir(folder / "agent")
    monkeypatch.setenv("PATH", f"{folder}/bin")
    assert helpers.find_program("tool") is None


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_so_is_every_checkout_around_that(
    folder: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    """As around a submodule; an archive may bring a `.git` anywhere."""
    (folder / ".git").mkdir()
    inner = folder / "vendor/agent"
    inner.mkdir(parents=True)
    make(inner / ".git")
    make(inner.parent / ".git")
    monkeypatch.chdir(inner)
    monkeypatch.setenv("PATH", f"{folder}/bin")
    assert helpers.find_program("tool") is None


def test_a_folder_that_holds_home_is_the_users_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{folder}/bin")
    monkeypatch.setenv("HOME", str(folder))
    assert helpers.find_program("tool", [folder, tmp_path, "/"]) == f"{folder}/bin/tool"


@pytest.mark.parametrize("home", ["home", ".", "./home", "../work/home"])
def test_a_home_that_the_current_folder_chooses_is_not_the_users_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("PATH", f"{folder}/bin")
    monkeypatch.setenv("HOME", home)
    assert helpers.find_program("tool") is None


def test_programs_get_no_folder_of_the_workspace_to_import_from(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = os.pathsep.join([str(folder), "bin", "", str(tmp_path / "outside")])
    for name in ("PYTHONPATH", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX"):
        monkeypatch.setenv(name, theirs)
    monkeypatch.setenv("PYTHONHOME", str(folder))
    monkeypatch.setenv("NODE_OPTIONS", "--require ./x.js")
    env = helpers.user_environment([folder])
    assert {env[name] for name in ("PYTHONPATH", "PYTHONUSERBASE")} == {str(tmp_path / "outside")}
    assert not {"PYTHONHOME", "NODE_OPTIONS"} & env.keys()
    assert env["PYTHONSAFEPATH"] == "1"


@pytest.mark.parametrize("entry", ["", ".", "bin", "{work}", "{work}/bin", "{work}/../work", "{tmp}/linked"])
def test_a_python_of_ours_imports_nothing_from_the_workspace(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    (tmp_path / "linked").symlink_to(folder)
    before = list(sys.path)
    theirs = entry.format(work=folder, tmp=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [theirs, *before])
        found = helpers.import_path([folder])
    assert theirs not in found
    assert found == [path for path in before if os.path.isabs(path)]


def test_what_the_running_python_brings_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A virtual environment in the workspace: its user has started it. But not all below a wide prefix."""
    packages, program = tmp_path / "work/.venv/lib/site-packages", tmp_path / "work/libs"
    for place in (packages, program):
        place.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(program), str(packages)])
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "work/.venv"))
    assert helpers.import_path([tmp_path / "work"]) == [str(packages)]
    monkeypatch.setattr(sys, "prefix", str(tmp_path))  # as Python in /usr, and a workspace in /usr/src/app
    assert helpers.import_path([tmp_path / "work"]) == []


def test_only_the_users_own_loaders_reach_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/lib")
    theirs = {"LD_PRELOAD": "./x.so", "DYLD_INSERT_LIBRARIES": "x", "OPENSSL_CONF": "./x", "GCONV_PATH": "."}
    given = {**theirs, "LD_LIBRARY_PATH": "/opt/lib", "TOKEN": "t"}
    assert helpers.without_foreign_loaders(given) == {"LD_LIBRARY_PATH": "/opt/lib", "TOKEN": "t"}
    assert helpers.without_foreign_loaders({"LD_LIBRARY_PATH": "./lib"}) == {}


@pytest.mark.parametrize("words", [["bin/tool"], ["./bin/tool"], ["../work/bin/tool"], ["no-such-tool"]])
def test_a_users_command_is_no_program_that_the_current_folder_chooses(
    folder: Path, words: list[str]
) -> None:
    with pytest.raises(FileNotFoundError):
        helpers.user_command(words)


def test_a_helper_that_takes_too_long_is_ended_and_says_what_it_has(tmp_path: Path) -> None:
    code = "import os, time; print(os.getcwd(), flush=True); time.sleep(60)"
    answer = helpers.helper_output([sys.executable, "-I", "-c", code], seconds=3)
    assert (answer.code, answer.text.strip()) == (None, os.path.abspath(os.sep))


def test_another_package_that_is_started_by_m_keeps_its_folder(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent/__init__.py").write_text("import hookscope\n")
    (tmp_path / "agent/__main__.py").write_text("import beside\n")
    (tmp_path / "beside.py").write_text("print('found')\n")
    done = subprocess.run([sys.executable, "-m", "agent"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "found\n", done.stderr
