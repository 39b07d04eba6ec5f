"""bootstrap-extra-files: what the patterns find, and never a file from elsewhere."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.bundled_hooks.conftest import Fire, FireHere, settings

from hookscope.model.run import Result

HOOK = "bootstrap-extra-files"
Add = Callable[..., Any]


@pytest.fixture
def add(fire_here: FireHere, workspace: Path) -> Add:
    """add(patterns, *files that are there already) → the names that were added."""

    async def add(paths: Any, *known: Any) -> list[str]:
        files = list(known)
        context = {
            "workspaceDir": str(workspace),
            "bootstrapFiles": files,
            "cfg": settings(HOOK, paths=paths),
        }
        result: Result = await fire_here(HOOK, "agent:bootstrap", context)
        assert result.status == "ok", result.error
        assert context["bootstrapFiles"] is files  # changed in place
        return [file["name"] for file in files[len(known) :]]

    return add


def put(workspace: Path, *names: str, text: str | bytes = "text") -> None:
    for name in names:
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize("dialect", ["openclaw", "milady", "eliza"])
def test_files_are_added_to_those_of_the_event(fire: Fire, workspace: Path, dialect: str) -> None:
    put(workspace, "docs/style.md", "docs/deep/more.md", text="Be short.")
    soul = {"name": "SOUL.md", "content": "kind", "type": "workspace"}
    cfg = settings(HOOK, paths="docs/**/*.md")
    context = {"workspaceDir": str(workspace), "bootstrapFiles": [soul], "cfg": cfg}
    run = fire(HOOK, "agent:bootstrap", context, dialect=dialect)
    more, style = (
        {"name": name, "path": str(workspace / name), "content": "Be short.", "type": "extra"}
        for name in ("docs/deep/more.md", "docs/style.md")
    )
    assert run["context"]["bootstrapFiles"] == [soul, more, style]
    assert run["result"]["stdout"] == "Added 2 of 2 matching files.\n"
    assert run["result"]["stderr"] == ""
    assert [step["op"] for step in run["result"]["patch"]] == ["add", "add"]


def test_as_shipped_only_the_programs_own_names_are_added(fire: Fire, workspace: Path) -> None:
    """openclaw 2026.9.6: `unsupported bootstrap basename`, which it tells a debug log alone."""
    put(workspace, "pkg/AGENTS.md", "pkg/agents.md", "docs/style.md", "TOOLS.md")
    cfg = settings(HOOK, paths=["pkg/*.md", "docs/*.md", "TOOLS.md"])
    cfg["hooks"]["internal"]["enabled"] = True
    (workspace.parent / "openclaw.json").write_text(json.dumps(cfg))
    context = {"workspaceDir": str(workspace), "bootstrapFiles": [], "cfg": cfg}
    run = fire(HOOK, "agent:bootstrap", context, dialect="openclaw@2026.9")
    path = str(workspace / "pkg/AGENTS.md")
    assert run["context"]["bootstrapFiles"] == [
        {"name": "AGENTS.md", "missing": False, "path": path, "content": "text"}
    ]
    assert run["result"]["stdout"] == "Added 1 of 4 matching files.\n"
    for name in ("pkg/agents.md", "docs/style.md", "TOOLS.md"):
        assert (
            f"{workspace / name}: OpenClaw adds only files of these names: AGENTS.md,"
            in run["result"]["stderr"]
        )


def test_the_hosts_settings_have_the_patterns(fire: Fire, home: Path, workspace: Path) -> None:
    put(workspace, "a.md", "b.md", "c.md", "d.txt")
    (home / ".openclaw/openclaw.json").write_text(
        "{hooks: {internal: {entries: {'bootstrap-extra-files':"
        " {paths: ['a.md'], patterns: 'b.*', files: ['c.md', 'a.md']}}}}}"
    )
    run = fire(HOOK, "agent:bootstrap")
    names = [file["name"] for file in run["context"]["bootstrapFiles"]]
    assert names == ["SOUL.md", "AGENTS.md", "a.md", "b.md", "c.md"]


def test_without_patterns_it_says_so(fire: Fire, workspace: Path) -> None:
    put(workspace, "a.md")
    run = fire(HOOK, "agent:bootstrap")
    assert run["result"]["stdout"].startswith("No patterns are configured")
    assert run["result"]["patch"] == []


async def test_files_outside_of_the_workspace_are_refused(
    add: Add, workspace: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "secret.md", "secrets/key.md")
    put(workspace.parent, "workspace-2/other.md")  # a folder whose name only begins the same
    (workspace / "link.md").symlink_to(tmp_path / "secret.md")
    (workspace / "folder").symlink_to(tmp_path / "secrets")
    (workspace / "sibling.md").symlink_to(workspace.parent / "workspace-2/other.md")
    put(workspace, "fine.md")
    patterns = [
        "../*.md",
        "docs/../../*.md",
        f"{tmp_path}/*.md",
        "~/*.md",
        "*.md",
        "folder/*.md",
        "**/key.md",
    ]
    assert await add(patterns) == ["fine.md"]
    err = capfd.readouterr().err.splitlines()
    assert [line for line in err if "is not a pattern" in line] == [
        f"{HOOK}: {pattern}: is not a pattern for files below the workspace" for pattern in patterns[:3]
    ]
    for name in ("link.md", "sibling.md", "folder/key.md"):
        assert f"{HOOK}: {workspace / name}: leads out of the workspace" in err


async def test_a_link_inside_is_the_file_that_it_leads_to(add: Add, workspace: Path) -> None:
    put(workspace, "docs/real.md")
    (workspace / "one.md").symlink_to("docs/real.md")
    (workspace / "two.md").symlink_to("one.md")
    (workspace / "circle.md").symlink_to("circle.md")
    (workspace / "nowhere.md").symlink_to("gone")
    assert await add(["*.md", "docs/*"]) == ["docs/real.md"]


async def test_only_regular_readable_text_of_bounded_size(
    add: Add, workspace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(workspace, "a-full.md", text=b"x" * 65536)
    put(workspace, "b-large.md", text=b"x" * 65537)
    put(workspace, "c-binary.md", text=b"\xff\xfe\x00")
    put(workspace, "d-empty.md", text="")
    (workspace / "e-folder.md").mkdir()
    os.mkfifo(workspace / "f-pipe.md")
    assert await add("*.md") == ["a-full.md", "d-empty.md"]
    err = capfd.readouterr().err
    assert "b-large.md: is larger than 64 KiB" in err
    assert "c-binary.md: is not UTF-8 text" in err


async def test_twenty_are_added_in_order_and_the_rest_is_said(
    add: Add, workspace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = [f"n{number:02}.md" for number in range(25)]
    put(workspace, *reversed(names))
    assert await add(["n2*.md", "*.md"]) == names[:20]
    assert "n20.md: this file and the following ones are not added" in capfd.readouterr().err


async def test_present_files_are_not_added_again(add: Add, workspace: Path) -> None:
    put(workspace, "AGENTS.md", "docs/AGENTS.md", "docs/a.md", "docs/b.md")
    (workspace / "link").symlink_to("docs")
    known = [
        {"name": "AGENTS.md"},
        {"path": str(workspace / "docs/a.md")},
        {"path": "link/b.md", "name": 5},
        "odd",
        None,
    ]
    assert await add("**/*.md", *known) == ["docs/AGENTS.md"]


@pytest.mark.parametrize("pattern", ["a**b/[", "***", "\0", "x" * 5000, "[", "."])
async def test_invalid_pattern_matches_nothing(add: Add, workspace: Path, pattern: str) -> None:
    put(workspace, "a.md")
    assert await add([pattern, "a.md"]) == ["a.md"]


async def test_wrong_settings_are_said(add: Add, capfd: pytest.CaptureFixture[str]) -> None:
    assert await add([5, None, " "]) == []
    assert capfd.readouterr().err.count("paths: must contain strings, not ") == 3


def test_bootstrap_files_that_are_missing_are_begun_and_others_refused(fire: Fire, workspace: Path) -> None:
    put(workspace, "a.md")
    context = {"workspaceDir": str(workspace), "cfg": settings(HOOK, files=["a.md"])}
    run = fire(HOOK, "agent:bootstrap", context)
    assert [file["name"] for file in run["context"]["bootstrapFiles"]] == ["a.md"]
    run = fire(HOOK, "agent:bootstrap", {**context, "bootstrapFiles": "all"}, code=1)
    assert run["result"]["error"]["message"] == "`bootstrapFiles` of the context is a str, not a list"
