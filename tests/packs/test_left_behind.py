"""What an install leaves behind when it goes, and when it fails: trust, settings of others, half of it."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.packs.conftest import SHIPPED, Cli, make_pack, manifest, on_disk

from hookscope.app.options import Options
from hookscope.app.pack_manager import PackManager
from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal

AS_SHIPPED = ("--dialect", SHIPPED)


def renamed(pack: Path, name: str) -> Path:
    file = pack / "package.json"
    file.write_text(file.read_text().replace("@acme/greetings", name))
    return pack


def states(cli: Cli, *more: str) -> dict[str, str]:
    return {hook["name"]: hook["state"] for hook in cli("list", "--json", *more).json["hooks"]}


@pytest.mark.parametrize("goes", ["uninstalled", "removed by hand"])
def test_uninstalling_a_pack_removes_its_trust(goes: str, cli: Cli, home: Path, tmp_path: Path) -> None:
    """A stranger's pack that comes later under the same name was run without asking."""
    pack = make_pack(tmp_path / "pack", "hello", "bye")
    told = cli("install", str(pack), "--yes", *AS_SHIPPED).out
    folder = home / ".openclaw" / "hooks" / "greetings"
    assert (
        "Hookscope does not run hello, bye until you allow it: `hookscope trust ~/.openclaw/hooks/greetings`."
        in told
    )
    assert cli("trust", str(folder), *AS_SHIPPED).code == 0
    assert cli("trust", str(folder / "hooks" / "bye"), *AS_SHIPPED).code == 0
    assert states(cli, *AS_SHIPPED)["bye"] == "ready"
    if goes == "uninstalled":
        assert cli("uninstall", "greetings", "--yes", *AS_SHIPPED).code == 0
    else:
        shutil.rmtree(folder)
        (home.parent / "state" / "packs" / "installed.json").unlink()
    other = renamed(make_pack(tmp_path / "other", "hello", "bye"), "greetings")
    shown = cli("install", str(other), "--dry-run", *AS_SHIPPED).out
    assert "runs it without asking" not in shown
    assert cli("install", str(other), "--yes", *AS_SHIPPED).code == 0
    assert {states(cli, *AS_SHIPPED)[name] for name in ("hello", "bye")} == {"untrusted"}


def test_an_entry_stays_while_another_pack_needs_it(cli: Cli, home: Path, tmp_path: Path) -> None:
    """Under this host a list of entries decides what is loaded."""
    first = renamed(make_pack(tmp_path / "first", "hello"), "first")
    second = renamed(make_pack(tmp_path / "second", "hello"), "second")
    third = renamed(make_pack(tmp_path / "third", "other"), "third")
    for pack in (first, second, third):
        assert cli("install", str(pack), "--yes", *AS_SHIPPED).code == 0
    assert cli("uninstall", "first", "--yes", *AS_SHIPPED).code == 0
    assert states(cli, *AS_SHIPPED) == {"hello": "untrusted", "other": "untrusted"}
    assert cli("uninstall", "second", "--yes", *AS_SHIPPED).code == 0
    assert '"hello"' not in (home / ".openclaw" / "openclaw.json").read_text()
    assert cli("uninstall", "third", "--yes", *AS_SHIPPED).code == 0
    assert on_disk(home) == {}


def test_undo_names_an_install_that_it_does_not_revert(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "greet").mkdir()
    (tmp_path / "greet" / "HOOK.md").write_text(manifest("greet"))
    (tmp_path / "greet" / "handler.py").write_text("def handler(event): pass\n")
    assert cli("install", str(tmp_path / "greet"), "--yes").code == 0
    done = cli("undo")
    assert (done.code, "`hookscope uninstall greet` undoes the install" in done.err) == (1, True)


def test_an_install_planned_during_another_is_refused(
    cli: Cli, settings: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was told to move away the folders that the other one was just putting in place."""
    monkeypatch.chdir(workspace)
    pack = make_pack(tmp_path / "pack", "hello")
    manager = PackManager(Workbench(Options()))
    said: list[str] = []

    def step(name: str) -> None:
        if name == "records":
            said.append(cli("install", str(pack), "--yes").err)

    manager.apply(manager.plan_install(str(pack)), step=step)
    assert said == [
        "hookscope: Another install, update or uninstall is running. Wait until it ends, then try again.\n"
    ]
    assert cli("uninstall", "greetings", "--yes").code == 0


@contextmanager
def sizes_restored() -> Iterator[None]:
    """What `fills_at` has set is lifted again."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def fills_at(step: str, size: int) -> Callable[[str], None]:
    """From this step on no file may grow longer than that: what a full disk does to a write."""

    def fill(name: str) -> None:
        if name == step:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    return fill


@pytest.mark.parametrize(("full", "installed"), [("records", False), ("keep", True)])
def test_a_full_disk_leaves_a_complete_install_or_nothing(
    full: str,
    installed: bool,
    cli: Cli,
    home: Path,
    settings: Path,
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even how far it is cannot be written down any more; the hooks were left in place, and no record."""
    monkeypatch.chdir(workspace)
    before = on_disk(home)
    manager = PackManager(Workbench(Options()))
    plan = manager.plan_install(str(make_pack(tmp_path / "pack", "hello")))
    with sizes_restored():
        if installed:
            manager.apply(plan, step=fills_at(full, 600))
        else:
            with pytest.raises(Refusal, match="The files cannot be written: file too large"):
                manager.apply(plan, step=fills_at(full, 600))
    told = cli("packs", "--json")
    assert (told.err, len(told.json["packs"])) == ("", int(installed))
    assert (on_disk(home) == before) is not installed
    assert not [path for path in on_disk(home) if "staging" in path]


def test_a_folder_of_another_pack_is_not_touched(cli: Cli, settings: Path, tmp_path: Path) -> None:
    assert cli("install", str(make_pack(tmp_path / "first", "hello")), "--yes").code == 0
    second = renamed(make_pack(tmp_path / "second", "hello"), "others")
    before = on_disk(settings.parent)
    done = cli("install", str(second), "--yes")
    folder = settings.parent / "hooks" / "hello"
    assert done.code == 1
    assert f"{folder} belongs to the pack greetings. Run `hookscope uninstall greetings` first." in done.err
    assert on_disk(settings.parent) == before


@pytest.mark.parametrize("more", [0, 2, 3, 6])
def test_three_remaining_files_are_named_and_the_rest_counted(
    more: int, cli: Cli, settings: Path, tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", "hello")
    for number in range(more):
        (pack / f"more{number}.txt").write_text("x")
    notes = cli("install", str(pack), "--dry-run", "--json").json["notes"]
    behind = [note for note in notes if "is not installed" in note]
    counted = [note for note in notes if note.startswith("and ")]
    left = more + 2  # and package.json, and run.sh
    assert len(behind) == min(left, 3)
    assert counted == ([f"and {left - 3} more files"] if left > 3 else [])
