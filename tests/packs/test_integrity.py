"""Nothing is installed over what fails its integrity check, unless `--accept-changed` says so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.packs.conftest import SHIPPED, Cli, make_pack, on_disk
from tests.packs.registry import Registry, serving
from tests.packs.test_sources import HOOK, files

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
SHIPPED_HOST = ("--dialect", SHIPPED)


def edited(folder: Path) -> None:
    (folder / "hooks" / "hello" / "handler.py").write_text("# mine\n")


def emptied(folder: Path) -> None:
    (folder / "run.sh").write_bytes(b"")


def missing(folder: Path) -> None:
    (folder / "hooks" / "hello" / "HOOK.md").unlink()


def added(folder: Path) -> None:
    (folder / "hooks" / "hello" / "state.json").write_text("{}")


def linked(folder: Path) -> None:
    (folder / "run.sh").unlink()
    (folder / "run.sh").symlink_to("/bin/sh")


CHANGES = (edited, emptied, missing, added, linked)


@pytest.fixture
def pack(cli: Cli, home: Path, tmp_path: Path) -> Path:
    """A pack that is installed, and has gone on where it came from."""
    pack = make_pack(tmp_path / "pack", "hello")
    assert cli("install", str(pack), "--yes", *SHIPPED_HOST).code == 0
    return make_pack(pack, "hello", version="2.0.0")


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize(
    "words",
    [
        ("update", "greetings", "--yes"),
        ("update", "--all", "--yes", "--force"),
        ("update", "greetings", "--diff"),
        ("install", "PACK", "--force", "--yes"),
    ],
    ids=" ".join,
)
def test_changed_files_are_not_overwritten(
    words: tuple[str, ...], change: Callable[[Path], None], cli: Cli, home: Path, pack: Path
) -> None:
    folder = home / ".openclaw" / "hooks" / "greetings"
    change(folder)
    words = (*(str(pack) if word == "PACK" else word for word in words), *SHIPPED_HOST)
    before = on_disk(home)
    refused = cli(*words)
    assert refused.code == 1
    assert "greetings has changed on disk since it was installed: " in refused.err
    assert "--accept-changed installs the pack" in refused.err
    assert refused.err.count("\n") == 1
    assert on_disk(home) == before
    told = cli(*words, "--json")
    error = told.json["updates"][0]["error"] if words[0] == "update" else told.json["error"]
    assert (told.code, "has changed on disk" in error) == (1, True), told.out
    dry = cli(*words, "--dry-run")
    assert (dry.code, "needs --accept-changed: an integrity check failed" in dry.out) == (0, True), dry.err
    assert on_disk(home) == before
    done = cli(*words, "--accept-changed", "--yes")
    assert done.code == 0, done.err
    assert "2.0.0" in (folder / "hooks" / "hello" / "handler.py").read_text()
    assert cli("packs", "--json", *SHIPPED_HOST).json["packs"][0]["on_disk"]["state"] == "as installed"


def test_a_refused_update_does_not_stop_the_others(cli: Cli, home: Path, pack: Path, tmp_path: Path) -> None:
    other = make_pack(tmp_path / "other", "bye")
    told = (other / "package.json").read_text().replace("greetings", "other")
    (other / "package.json").write_text(told)
    assert cli("install", str(other), "--yes", *SHIPPED_HOST).code == 0
    (other / "more.py").write_text("")
    edited(home / ".openclaw" / "hooks" / "greetings")
    done = cli("update", "--all", "--yes", "--json", *SHIPPED_HOST)
    assert done.code == 1
    assert {one["id"]: one["written"] for one in done.json["updates"]} == {"greetings": False, "other": True}


def test_unchanged_files_are_updated_after_consent(cli: Cli, home: Path, pack: Path) -> None:
    (home / ".openclaw" / "hooks" / "greetings" / "__pycache__").mkdir()  # of a run
    dry = cli("update", "greetings", "--dry-run", "--json", *SHIPPED_HOST).json["updates"][0]
    assert dry["unaccepted"] is None
    assert cli("update", "greetings", "--yes", *SHIPPED_HOST).code == 0


def test_a_deleted_pack_is_installed_again(cli: Cli, home: Path, pack: Path) -> None:
    shutil.rmtree(home / ".openclaw" / "hooks" / "greetings")
    assert cli("update", "greetings", "--yes", *SHIPPED_HOST).code == 0


def test_an_uninstall_keeps_changed_files(cli: Cli, home: Path, pack: Path) -> None:
    folder = home / ".openclaw" / "hooks" / "greetings"
    edited(folder)
    added(folder)
    done = cli("uninstall", "greetings", "--yes", "--json", *SHIPPED_HOST)
    assert done.code == 0, done.err
    kept = Path(done.json["kept"]) / "greetings" / "hooks" / "hello"
    assert (kept / "handler.py").read_text() == "# mine\n"
    assert (kept / "state.json").read_text() == "{}"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with serving(Registry()) as registry:
        monkeypatch.setenv("npm_config_registry", registry.url)
        monkeypatch.setenv("npm_config_fetch_retries", "0")
        yield registry


@needs_npm
def test_different_bytes_of_the_same_version_are_refused(cli: Cli, registry: Registry, home: Path) -> None:
    registry.publish("acme", "1.0.0", files("one"), **HOOK)
    assert cli("install", "acme", "--pin", "--yes", *SHIPPED_HOST).code == 0
    registry.publish("acme", "1.0.0", files("slipped in"), **HOOK)
    before = on_disk(home)
    for words in (
        ("update", "acme", "--yes"),
        ("update", "--all", "--yes", "--force"),
        ("install", "acme@1.0.0", "--force", "--yes"),
        ("update", "acme", "--format", "host"),
    ):
        done = cli(*words, *SHIPPED_HOST)
        assert (done.code, "acme@1.0.0 has changed" in done.err) == (1, True), (words, done.err)
        assert on_disk(home) == before
    done = cli("update", "acme", "--yes", "--accept-changed", *SHIPPED_HOST)
    assert done.code == 0, done.err
    handler = home / ".openclaw" / "hooks" / "acme" / "hooks" / "hello" / "handler.py"
    assert handler.read_text() == "# slipped in\n"


def test_a_pipe_in_a_pack_does_not_block_its_uninstall(cli: Cli, home: Path, pack: Path) -> None:
    """A pipe cannot be copied; the uninstall could not end, nor could any command behind it."""
    folder = home / ".openclaw" / "hooks" / "greetings"
    os.mkfifo(folder / "pipe")
    (folder / "gone").symlink_to("/nowhere")
    (folder / "a\nb").write_text("")
    shown = cli("packs", *SHIPPED_HOST).out
    assert [line for line in shown.splitlines() if "added on disk" in line] == [
        f"  ! added on disk since the install: ~/.openclaw/hooks/greetings/{name}"
        for name in ("a␊b", "gone", "pipe")
    ]
    done = cli("uninstall", "greetings", "--yes", *SHIPPED_HOST)
    assert (done.code, "2 files that had changed" in done.out) == (0, True), done.err
    kept = home.parent / "state" / "packs" / "kept"
    assert {path.name for path in kept.rglob("*") if not path.is_dir()} == {"a\nb", "gone"}
    assert not folder.exists()
