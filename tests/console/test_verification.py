"""The answers of an installed host, asked for in the console; the host is a small program on PATH."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import Open, Story

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench

EVENTS = '{"openclaw": {"events": ["command:new"]}}'
SCRIPT = """#!/bin/sh
case "$2" in
  info) cat "$(dirname "$0")/info.json" ;;
  *) cat "$(dirname "$0")/$2.json" ;;
esac
"""
Install = Callable[..., None]


@pytest.fixture
def install(
    tmp_path: Path, home: Path, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> Install:
    """Install a host that agrees about two hooks, with changes of its answers, or with another script."""
    for name in ("greet", "wave"):
        make_hook(home / ".openclaw" / "hooks", name, EVENTS, "export default () => {};\n", file="handler.js")
    package = tmp_path / "package"
    package.mkdir()
    (package / "package.json").write_text('{"name": "openclaw", "version": "2026.9.6"}')
    monkeypatch.setenv("PATH", f"{package}{os.pathsep}{os.environ['PATH']}")

    def installed(script: str = SCRIPT, **of_greet: Any) -> None:
        program = package / "openclaw"
        program.write_text(script)
        program.chmod(0o755)
        bench = Workbench(Options(dialect="openclaw@2026.9", workspace=workspace, as_host=True))
        view = bench.scan()
        assert bench.dialect.program_report is not None
        answers = bench.dialect.program_report.own_answers(view.host, view.inventory, ())
        for name, document in json.loads(json.dumps(answers)).items():
            for hook in document.get("hooks", ()) if name == "list" else ():
                hook.update(of_greet if hook["name"] == "greet" else {})
            (package / f"{name}.json").write_text(json.dumps(document))
        (package / "info.json").write_text("{}")

    return installed


async def asked(story: Story) -> None:
    await story.press("H")
    await story.shows("Start OpenClaw 2026.9.6", "no credentials and no sessions")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=str)
async def test_an_agreeing_host_is_in_the_header_until_files_change(
    console: Open, install: Install, size: tuple[int, int], home: Path
) -> None:
    install()
    async with console(size, watches=True, dialect="openclaw@2026.9") as story:
        await asked(story)
        await story.press("ctrl+r")
        await story.shows("The installed host", "✓ 2 of 2 agree: OpenClaw 2026.9.6 and openclaw@2026.9")
        await story.press("escape")
        await story.shows("✓ 2 of 2 agree with OpenClaw")
        manifest = home / ".openclaw/hooks/greet/HOOK.md"
        manifest.write_text(manifest.read_text() + "more\n")
        await story.hides("agree with OpenClaw")


async def test_a_differing_host_is_shown_with_both_answers_and_reported(
    console: Open, install: Install, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(loadable=False, enabledByConfig=False, eligible=False, blockedReason="tired")
    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    async with console((120, 36), dialect="openclaw@2026.9") as story:
        await asked(story)
        await story.press("ctrl+r")
        await story.shows("1 of 2 agree", "✗ greet: It does not run in the program")
        await story.press("X")
        bundle = tmp_path / "current" / "hookscope-report.zip"
        await story.shows("Read it before you send it", "≠ 1 of 2 agree with OpenClaw")
        with zipfile.ZipFile(bundle) as files:
            assert json.loads(files.read("verify.json"))["agreed"] == 1
        await story.press("X")
        await story.until((tmp_path / "current" / "hookscope-report-2.zip").exists, "no report is replaced")


async def test_nothing_is_started_without_a_yes(console: Open, install: Install, tmp_path: Path) -> None:
    install(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    async with console((80, 24), dialect="openclaw@2026.9") as story:
        await asked(story)
        await story.press("enter")
        await story.shows("Nothing was started")
    assert not (tmp_path / "started").exists()


async def test_a_host_that_cannot_be_asked_says_why(console: Open, workspace: Path) -> None:
    async with console((120, 36), dialect="openclaw@2026.9") as story:
        await story.press("H")
        await story.shows("There is no program 'openclaw' on PATH")


async def test_leaving_the_console_ends_the_program(
    console: Open, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    install("#!/bin/sh\nsleep 600\n")
    async with console((80, 24), dialect="openclaw@2026.9") as story:
        await asked(story)
        await story.press("ctrl+r")
        await story.until(lambda: bool(list((tmp_path / "temporary").iterdir())), "its copy is made")
    assert list((tmp_path / "temporary").iterdir()) == []
