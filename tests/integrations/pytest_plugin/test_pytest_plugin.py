"""Hooks tested with pytest, in a project of its own: what its author writes, and what pytest says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import MakeHook

Project = Callable[..., subprocess.CompletedProcess[str]]
OTHERS = ("cacheprovider", "asyncio", "hypothesispytest")  # no plugins but our own
PLAIN = ("--color=no", *(f"-pno:{name}" for name in OTHERS))
GREET = """
import os
from pathlib import Path

count = 0

def handler(event):
    global count
    count += 1
    if event.context.get("fail"):
        raise ValueError("asked to")
    event.messages.append(f"Hello {event.context.get('who', 'you')}, {count}")
    (Path(os.environ["HOME"]) / "greeted").write_text("yes")
"""


@pytest.fixture
def project(tmp_path: Path, make_hook: MakeHook) -> Project:
    """project(tests, "-k", "x") runs pytest there. It has one hook, and no bundled ones."""
    root = tmp_path / "project"
    (root / "none").mkdir(parents=True)
    make_hook(root / "hooks", "greet", '{openclaw: {events: ["command:new"]}}', GREET)
    (root / "pytest.ini").write_text("[pytest]\nhookscope_bundled = none\n")

    def run(tests: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (root / "test_hooks.py").write_text(dedent(tests))
        return subprocess.run(
            [sys.executable, "-m", "pytest", *PLAIN, "-q", f"--basetemp={tmp_path / 'inner'}", *arguments],
            capture_output=True,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONWARNINGS": "error"},
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, str], Path]:
    """save("hello", "event: …") → a saved event of the project."""

    def saved(name: str, text: str) -> Path:
        file = tmp_path / "project/.hookscope/events" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return saved


def test_fixtures_fire_and_inspect_hooks(project: Project, home: Path) -> None:
    done = project(
        """
        import pytest

        def test_greets(fire):
            run = fire("command:new", {"who": "Ada"})
            assert run.messages == ("Hello Ada, 1",)
            assert fire("command:new", {"who": "Bob"}).messages == ("Hello Bob, 2",)

        def test_every_test_has_workers_of_its_own(fire):
            assert fire("command:new", {}, session="s:1").messages == ("Hello you, 1",)

        def test_its_folder_is_its_own(fire, tmp_path):
            fire("command:new", {})
            assert list(tmp_path.iterdir()) == []

        def test_a_failure_is_a_result(fire):
            (result,) = fire("command:new", {"fail": True}).results
            assert (result.status, result.error.message) == ("error", "asked to")

        def test_what_stands_there(hook_host):
            assert hook_host.dialect == "openclaw"
            assert hook_host.hook("greet").state.value == "ready"

        def test_an_event_that_is_none(fire):
            with pytest.raises(Exception, match="comand:new"):
                fire("comand:new")
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
    assert not (home / "greeted").exists()


def test_a_test_with_a_loop_of_its_own_fires_too(project: Project) -> None:
    done = project(
        """
        import asyncio

        def test_greets(fire):
            async def inside():
                return fire("command:new", {})
            assert asyncio.run(inside()).messages == ("Hello you, 1",)
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_handler_that_cannot_run_fails_the_test(project: Project, tmp_path: Path) -> None:
    (tmp_path / "project/hooks/greet/handler.py").write_text("def handler(event:\n")
    done = project("def test_greets(fire):\n    fire('command:new')\n")
    assert done.returncode == 1
    assert "greet did not run: broken" in done.stdout


def test_wrong_arguments_fail_at_the_line_of_the_test(project: Project) -> None:
    done = project(
        "def test_event(fire):\n    fire('nope')\n"
        "def test_only(fire):\n    fire('command:new', only='gret')\n"
        "def test_context(fire):\n    fire('command:new', [1])\n"
        "def test_hook(hook_host):\n    hook_host.hook('gret')\n"
    )
    assert done.returncode == 1
    assert done.stdout.count("No hook is named 'gret'. Did you mean greet?") >= 2
    assert "the context of an event must be a mapping, such as a dict, or None, not a list" in done.stdout
    shown = [line for line in done.stdout.splitlines() if line.startswith(">")]
    assert len([line for line in shown if "fire(" in line or "hook(" in line]) == 4, "the lines of the tests"
    assert "def check_key" not in done.stdout, "where Hookscope found it tells the author of a test nothing"


def test_one_test_can_use_another_workspace(project: Project, tmp_path: Path) -> None:
    done = project(
        """
        import dataclasses
        import pytest

        @pytest.fixture
        def hook_options(hook_options, tmp_path):
            empty = tmp_path / "empty"
            empty.mkdir()
            return dataclasses.replace(hook_options, workspace=empty)

        def test_nobody_is_there(hook_host):
            assert hook_host.look().inventory.hooks == ()
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_home_is_copied_for_every_test(project: Project, tmp_path: Path) -> None:
    settings = tmp_path / "project/home/.openclaw/openclaw.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{hooks: {internal: {entries: {greet: {enabled: false}}}}}")
    (tmp_path / "project/pytest.ini").write_text(
        "[pytest]\nhookscope_bundled = none\nhookscope_home = home\nhookscope_dialect = openclaw\n"
    )
    done = project("def test_off(fire):\n    assert fire('command:new').results == ()\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in settings.parents[1].iterdir()) == [".openclaw"]


def test_saved_events_are_tests(project: Project, save: Callable[[str, str], Path]) -> None:
    save("hello", "event: command:new\ncontext: {who: Ada}\nexpect: {messages: ['Hello Ada, *']}\n")
    save("bye", "event: command:new\ncontext: {who: Ada}\nexpect: {messages: ['Bye *']}\n")
    done = project("def test_nothing(): pass\n")
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    lines = done.stdout.splitlines()
    start = lines.index("messages: not as expected")
    assert lines[start : start + 3] == ["messages: not as expected", "  - Bye *", "  + Hello Ada, 1"]
    assert "Traceback" not in done.stdout


def test_saved_events_are_collected_beside_the_paths_of_the_configuration(
    project: Project, save: Callable[[str, str], Path], tmp_path: Path
) -> None:
    save("hello", "event: command:new\ncontext: {who: Ada}\nexpect: {messages: ['Hello Ada, 1']}\n")
    root = tmp_path / "project"
    (root / "tests").mkdir()
    (root / "tests/test_own.py").write_text("def test_own(): pass\n")
    (root / "odd").mkdir()
    (root / "odd/other.yaml").write_text("event: command:new\nexpect: {messages: []}\n")
    settings = "[pytest]\nhookscope_bundled = none\ntestpaths = tests\n"
    (root / "pytest.ini").write_text(settings)
    done = project("", "-v")
    assert done.returncode == 0, done.stdout
    assert " 2 passed in " in done.stdout.splitlines()[-1]
    assert "hookscope: saved events of .hookscope/events\n" in done.stdout
    assert "1 passed" in project("", "tests").stdout
    (root / "pytest.ini").write_text(f"{settings}hookscope_events = odd\n")
    done = project("")
    assert "messages: expected 0, got 1" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    (root / "pytest.ini").write_text(f"{settings}hookscope_events =\n")
    assert "1 passed" in project("").stdout


def test_saved_events_can_be_selected_or_disabled(project: Project, save: Callable[[str, str], Path]) -> None:
    file = save("hello", "event: command:new\n")
    save("broken", "evnt: command:new\n")
    assert "1 passed" in project("", str(file)).stdout
    done = project("def test_nothing(): pass\n", "--ignore=.hookscope")
    assert "1 passed" in done.stdout
    broken = project("", "-k", "broken").stdout
    assert "`evnt` is not part of an event" in broken


def test_saved_events_are_filled_from_the_environment_of_the_configuration(
    project: Project, save: Callable[[str, str], Path], tmp_path: Path
) -> None:
    save("hello", "event: command:new\ncontext: {who: '${WHO}'}\nexpect: {messages: ['Hello Ada, 1']}\n")
    root = tmp_path / "project"
    (root / ".hookscope/sequences").mkdir()
    (root / ".hookscope/sequences/twice.yaml").write_text(
        "steps:\n  - {event: command:new}\n"
        "  - {event: command:new, context: {who: '${WHO}'}, expect: {messages: ['Hello Ada, 2']}}\n"
    )
    (root / ".hookscope/environments").mkdir()
    (root / ".hookscope/environments/ci.yaml").write_text("variables: {WHO: Ada}\n")
    with (root / "pytest.ini").open("a") as settings:
        settings.write("hookscope_environment = ci\n")
    assert "2 passed" in project("").stdout


@pytest.mark.parametrize(
    "value", ["correct-horse-battery-77", 'pa"ss <w>ord & it', "line one of it\nline two of it"]
)
def test_a_report_of_a_saved_event_has_no_secret(
    project: Project,
    save: Callable[[str, str], Path],
    tmp_path: Path,
    make_hook: MakeHook,
    monkeypatch: pytest.MonkeyPatch,
    value: str,
) -> None:
    monkeypatch.setenv("MY_API_KEY", value)
    says = "import os\ndef handler(event): event.messages.append('using ' + os.environ['MY_API_KEY'])\n"
    make_hook(tmp_path / "project/hooks", "says", '{openclaw: {events: ["command:stop"]}}', says)
    save("said", "event: command:stop\ncontext: {}\nexpect: {messages: [nothing]}\n")
    report = tmp_path / "report.xml"
    done = project("", f"--junitxml={report}", ".")
    assert "using ${SECRET:MY_API_KEY}" in report.read_text()
    assert "using ${SECRET:MY_API_KEY}" in done.stdout
    assert all(line not in report.read_text() for line in value.splitlines())
