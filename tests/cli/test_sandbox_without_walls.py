"""fire --sandbox without bubblewrap: no relative path leads to an original; what was checked is said."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

COMMAND = '{openclaw: {events: ["command:new"]}}'
EVERYWHERE = """
from pathlib import Path
def handler(event):
    for name in %r:
        try:
            with open(name, "a") as file:
                file.write("CHANGED")
        except OSError as error:
            print(name, error)
    (Path(__file__).parent / "beside").write_text("CHANGED")
"""
WRITTEN = (
    "node_modules/dep/index.js",
    "node_modules/@scope/dep/index.js",
    "packages/inner/node_modules/dep/index.js",
    "node_modules/workspace-package/index.js",
    "folder/f",
    "file",
    "chain",
    "absolute",
    "folder/to-another/f",
    "round/outside/f",
    "new-through-a-link",
    "hard",
    "../beside",
    "../outside/f",
)


def without_bwrap(
    hookscope: Program, *arguments: str, cwd: Path | None = None, bundled: Path | None = None
) -> Done:
    """A fire under a PATH that holds no program at all."""
    more = ("--bundled", str(bundled)) if bundled is not None else ()
    where = {} if cwd is None else {"cwd": cwd}
    words = ("fire", "command:new", "--trust", "--sandbox", *arguments, *more)
    return hookscope(*words, env={"PATH": "/nowhere"}, **where)


def held(folder: Path) -> dict[str, tuple[int, str]]:
    """Each file below, with its mode and what it holds; of a link, where it leads."""
    return {
        str(path): (path.lstat().st_mode, os.readlink(path) if path.is_symlink() else path.read_text())
        for path in folder.rglob("*")
        if path.is_symlink() or (path.is_file() and not path.is_relative_to(folder / "state"))
    }


@pytest.fixture
def linked(workspace: Path, tmp_path: Path) -> Path:
    """A workspace full of ways that lead out of it; the folder where they lead."""
    outside = tmp_path / "outside"
    files = (
        outside / "f",
        outside / "hard",
        tmp_path / "another" / "f",
        workspace / "node_modules/dep/index.js",
        workspace / "node_modules/@scope/dep/index.js",
        workspace / "packages/inner/node_modules/dep/index.js",
        tmp_path / "repository/packages/p/index.js",
    )
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("original")
    os.link(outside / "hard", workspace / "hard")
    for name, target in {
        "folder": "../outside",
        "file": "../outside/f",
        "chain": "file",
        "absolute": str(outside / "f"),
        "round": "..",
        "new-through-a-link": "../outside/not-yet",
        "node_modules/workspace-package": "../../repository/packages/p",
    }.items():
        (workspace / name).symlink_to(target)
    (outside / "to-another").symlink_to("../another")
    return outside


def test_no_relative_path_leaves_the_copies(
    hookscope: Program, workspace: Path, home: Path, linked: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    hook = make_hook(workspace / "hooks", "a", COMMAND, EVERYWHERE % (WRITTEN,))
    before = held(tmp_path)
    done = without_bwrap(hookscope, "--json", bundled=tmp_path / "none")
    (result,) = done.json["results"]
    assert (result["status"], result["stdout"]) == ("ok", ""), result
    assert held(tmp_path) == before
    assert {change["path"] for change in done.json["sandbox"]["changes"]} == {
        *(os.path.realpath(workspace / name) for name in WRITTEN),
        str(hook / "beside"),
    }
    found = done.json["sandbox"]["originals"]
    assert (found["changed"], found["more"]) == ([], 0)
    assert found["compared"] >= len(WRITTEN)


@pytest.mark.parametrize("started", ["outside", "home", "workspace/packages"])
def test_a_sandboxed_handler_starts_in_a_copy_for_any_working_folder(
    hookscope: Program,
    workspace: Path,
    linked: Path,
    make_hook: MakeHook,
    tmp_path: Path,
    started: str,
    home: Path,
) -> None:
    folder = tmp_path / started
    (folder / "f").write_text("original")
    make_hook(workspace / "hooks", "a", COMMAND, "def handler(event): open('f', 'a').write('CHANGED')")
    words = ("--json", "--workspace", str(workspace))
    done = without_bwrap(hookscope, *words, cwd=folder, bundled=tmp_path / "none")
    assert done.json["results"][0]["status"] == "ok", done.json["results"][0]
    assert (folder / "f").read_text() == "original"
    assert [change["path"] for change in done.json["sandbox"]["changes"]] == [str(folder / "f")]


def test_a_hook_in_an_extra_folder_writes_beside_its_copy(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    hook = make_hook(tmp_path / "extra", "a", COMMAND, EVERYWHERE % ((),))
    settings = {"hooks": {"internal": {"enabled": True, "load": {"extraDirs": [str(tmp_path / "extra")]}}}}
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    done = without_bwrap(hookscope, "--json", bundled=tmp_path / "none")
    assert done.json["results"][0]["status"] == "ok", done.json
    assert not (hook / "beside").exists()
    assert [change["path"] for change in done.json["sandbox"]["changes"]] == [str(hook / "beside")]


HARM = """
import os
from pathlib import Path
folder = Path({folder!r})
def handler(event):
    status = (folder / "same-size").stat()
    (folder / "same-size").write_text("CHANGED!")
    os.utime(folder / "same-size", ns=(status.st_atime_ns, status.st_mtime_ns))
    (folder / "gone").unlink()
    (folder / "new").write_text("new")
    (folder / "mode").chmod(0o777)
    (folder / "link").unlink()
    (folder / "link").symlink_to("gone")
    (folder / "empty" / "below").mkdir()
"""


def test_originals_that_a_handler_changes_by_an_absolute_path_are_named(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    for name in ("same-size", "gone", "mode", "kept"):
        (workspace / name).write_text("original")
    (workspace / "link").symlink_to("kept")
    (workspace / "empty").mkdir()
    make_hook(workspace / "hooks", "a", COMMAND, HARM.format(folder=str(workspace)))
    done = without_bwrap(hookscope, "--json", bundled=tmp_path / "none")
    assert done.json["results"][0]["status"] == "ok", done.json["results"][0]
    assert {one["path"]: one["kind"] for one in done.json["sandbox"]["originals"]["changed"]} == {
        str(workspace / "same-size"): "changed",
        str(workspace / "gone"): "deleted",
        str(workspace / "new"): "written",
        str(workspace / "mode"): "changed",
        str(workspace / "link"): "changed",
        str(workspace / "empty/below"): "written",
    }
    named = [note for note in done.json["sandbox"]["notes"] if "itself" in note]
    assert len(named) == 6
    logged = hookscope("log", "--json").json["runs"][0]["run"]
    assert logged["sandbox"]["originals"] == done.json["sandbox"]["originals"]


@pytest.mark.parametrize(
    ("body", "missed"),
    [
        ("pass", False),
        ("open({file!r}, 'a').write('CHANGED')", True),
        ("open({file!r} + '-new', 'w')", True),
        ("__import__('os').unlink({file!r})", True),
    ],
)
def test_expectations_about_files_fail_if_originals_changed(
    hookscope: Program,
    workspace: Path,
    home: Path,
    make_hook: MakeHook,
    tmp_path: Path,
    body: str,
    missed: bool,
) -> None:
    file = workspace / "file"
    file.write_text("original")
    make_hook(workspace / "hooks", "a", COMMAND, f"def handler(e): {body.format(file=str(file))}")
    saved = workspace / ".hookscope/events/one.yaml"
    saved.parent.mkdir(parents=True)
    saved.write_text("event: command:new\nexpect: {files: []}\n")
    done = hookscope("test", "--trust", "--bundled", str(tmp_path / "none"), env={"PATH": "/nowhere"})
    assert done.code == missed, done.out
    assert ("files" in done.out.split("saved event")[0]) is missed


@pytest.mark.parametrize(
    "body", ["pass", "open('/dev/null', 'w').write('x')", "open({elsewhere!r}, 'a').write('CHANGED')"]
)
def test_unchecked_files_are_not_claimed_to_be_unchanged(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook, tmp_path: Path, body: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("original")
    make_hook(workspace / "hooks", "a", COMMAND, f"def handler(e): {body.format(elsewhere=str(elsewhere))}")
    done = without_bwrap(hookscope, bundled=tmp_path / "none")
    assert done.code == 0, done.err
    assert "none was written, changed or deleted in the copies; other files were not all checked" in done.out
    assert "were compared: none has changed." in done.out
    repeated = without_bwrap(hookscope, "--repeat", "2", bundled=tmp_path / "none")
    assert "other files were not all checked" in repeated.out
    assert "Nothing else restricted them" in repeated.out


def test_fire_warns_what_is_unprotected_before_it_runs(
    hookscope: Program,
    workspace: Path,
    home: Path,
    make_hook: MakeHook,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND)
    done = without_bwrap(hookscope, "--json", bundled=tmp_path / "none")
    warnings = [line for line in done.err.splitlines() if "not protected" in line]
    assert len(warnings) == 1
    assert str(workspace) in warnings[0]
    assert str(home) in warnings[0]
    monkeypatch.setenv("PATH", "/nowhere")
    said: list[str] = []

    async def prepared() -> None:
        bench = Workbench(Options(workspace=workspace), trust_all=True)
        bench.worker_pools.warn_unprotected = said.append
        guard = await bench.open_sandbox(bench.scan())
        await guard.close()
        await bench.close()

    asyncio.run(prepared())
    assert len(said) == 1, "copies alone, and no handler yet"


def test_files_with_any_name_and_mode_are_copied(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    names = [b"with\nline", b"\xff\xfe latin", "ü \u202e".encode(), b"-rf", b"x" * 255]
    for name in names:
        (workspace / os.fsdecode(name)).write_text("original")
        (workspace / os.fsdecode(name)).chmod(0o400)
    os.mkfifo(workspace / "pipe")
    (workspace / "to-pipe").symlink_to("pipe")
    with (workspace / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    text = """
    import os
    def handler(event):
        for name in os.listdir(b"."):
            if os.path.isfile(name):
                os.chmod(name, 0o600)
                open(name, "ab").write(b"CHANGED")
    """
    make_hook(workspace / "hooks", "a", COMMAND, text)
    done = without_bwrap(hookscope, "--json", bundled=tmp_path / "none")
    assert done.json["results"][0]["status"] == "ok", done.json["results"][0]
    changed = {change["path"] for change in done.json["sandbox"]["changes"]}
    assert {os.fsencode(os.path.basename(path)) for path in changed} >= set(names)
    for name in names:
        path = workspace / os.fsdecode(name)
        assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("original", 0o400)
    notes = " ".join(done.json["sandbox"]["notes"])
    assert "pipe" in notes
    assert "sparse (larger than 4 MiB)" in notes
    assert without_bwrap(hookscope, bundled=tmp_path / "none").code == 0
