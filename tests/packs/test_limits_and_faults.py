"""Limits that count what comes out, and an interrupted install that meets settings of somebody else's."""

from __future__ import annotations

import gzip
import io
import os
import signal
import stat
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest
from tests.packs import hostile
from tests.packs.conftest import SETTINGS, Cli, make_pack, on_disk

from hookscope.app.options import Options
from hookscope.app.pack_manager import PackManager
from hookscope.app.workbench import Workbench
from hookscope.packs.errors import PackError
from hookscope.packs.file_tree import read_archive
from hookscope.packs.package_checks import PackLimits

SMALL = PackLimits(archive=200_000, total=40_000, file=30_000, ratio=10, ratio_from=20_000)
NOISE = os.urandom(25_000)


@pytest.mark.parametrize("kind", ["tgz", "tar", "zip"])
@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a": NOISE, "b": NOISE}, "is larger than 39.1 KiB unpacked"),
        ({"a": NOISE + NOISE[:9_000]}, "a is larger than 29.3 KiB unpacked"),
        ({"a": bytes(25_000)}, "unpacks to more than 10 times its size: it may be a decompression bomb"),
        ({f"{n}": os.urandom(22_000) for n in range(10)}, "is larger than 195.3 KiB"),
    ],
)
def test_limits_count_the_extracted_size(kind: str, files: dict[str, bytes], words: str) -> None:
    if kind == "tar" and "bomb" in words:
        assert read_archive(packed(kind, files), "p.tar", SMALL).files, "what is not packed is not a bomb"
        return
    with pytest.raises(PackError, match=words):
        read_archive(packed(kind, files), f"p.{kind}", SMALL)


def packed(kind: str, files: dict[str, bytes]) -> bytes:
    if kind == "zip":
        return hostile.zip_of(*((zipfile.ZipInfo(name), content) for name, content in files.items()))
    plain = hostile.tar_of(good=files)
    return gzip.compress(plain) if kind == "tgz" else plain


def test_only_the_executable_permission_is_kept(cli: Cli, home: Path, tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in hostile.GOOD.items():
            one = hostile.entry(name, size=len(content))
            one.mode = 0o6777 if name.endswith(".js") else 0o000
            archive.addfile(one, io.BytesIO(content))
    (tmp_path / "p.tar").write_bytes(out.getvalue())
    assert cli("install", str(tmp_path / "p.tar"), "--yes").code == 0
    folder = home / ".openclaw" / "hooks" / "greet"
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    umask = os.umask(0)
    os.umask(umask)
    assert modes == {"handler.js": 0o755 & ~umask, "HOOK.md": 0o644 & ~umask}


@pytest.fixture
def interrupted(
    cli: Cli, settings: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An install that was killed right before it would have written the settings."""
    monkeypatch.chdir(workspace)
    manager = PackManager(Workbench(Options()))
    plan = manager.plan_install(str(make_pack(tmp_path / "pack", "hello")))

    def step(name: str) -> None:
        if name == "settings":
            os.kill(os.getpid(), signal.SIGKILL)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            manager.apply(plan, step=step)
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] & 0x7F == signal.SIGKILL
    return settings


def test_an_interrupted_install_finishes_on_edited_settings(interrupted: Path, cli: Cli) -> None:
    edited = SETTINGS.replace("// mine", "// edited in between")
    interrupted.write_text(edited)
    done = cli("packs")
    assert "An interrupted install of greetings was finished first." in done.err
    text = interrupted.read_text()
    assert text.startswith("// edited in between")
    assert "'hello'" in text
    assert cli("uninstall", "greetings", "--yes").code == 0
    assert interrupted.read_text() == edited


def test_an_interrupted_install_is_reverted_if_settings_cannot_be_edited(interrupted: Path, cli: Cli) -> None:
    interrupted.write_text("{ hooks: ")
    done = cli("packs", "--json")
    assert "An interrupted install of greetings was undone: The file cannot be read" in done.err
    assert done.json["packs"] == []
    assert interrupted.read_text() == "{ hooks: "
    assert not (interrupted.parent / "hooks" / "hello").exists()
    assert not [path for path in on_disk(interrupted.parent) if "staging" in path]


def test_an_install_into_a_trusted_folder_says_so(cli: Cli, settings: Path, tmp_path: Path) -> None:
    assert cli("trust", str(settings.parent / "hooks")).code == 0
    shown = cli("install", str(make_pack(tmp_path / "pack", "hello")), "--dry-run", "--diff")
    assert "Hookscope runs it without asking: its folder is trusted" in shown.out
    assert "+def handler(event):" in shown.out


def test_concurrent_installs_are_each_complete_or_absent(cli: Cli, settings: Path, tmp_path: Path) -> None:
    children = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for number in range(4):
            pack = make_pack(tmp_path / f"pack{number}", f"hook{number}")
            text = (pack / "package.json").read_text().replace("greetings", f"pack{number}")
            (pack / "package.json").write_text(text)
            child = os.fork()
            if child == 0:
                code = 9
                try:
                    code = cli("install", str(pack), "--yes").code
                finally:
                    os._exit(code)
            children[f"pack{number}"] = child
    codes = {name: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for name, child in children.items()}
    installed = {pack["id"]: pack["on_disk"]["state"] for pack in cli("packs", "--json").json["packs"]}
    assert installed == {name: "as installed" for name, code in codes.items() if code == 0}
    assert installed
    assert set(codes.values()) <= {0, 1}
    for name in installed:
        assert cli("uninstall", name, "--yes").code == 0
    assert settings.read_text() == SETTINGS
    assert sorted(path.name for path in (settings.parent / "hooks").iterdir()) == ["mine"]


def test_an_install_of_another_process_is_not_touched(interrupted: Path) -> None:
    manager = PackManager(Workbench(Options()))
    before = interrupted.read_text()
    with manager.store.locked():
        assert manager.recover() == ""
        assert manager.store.intent_file.exists()
        assert interrupted.read_text() == before
    assert manager.recover() == "An interrupted install of greetings was finished first."
    assert manager.recover() == ""
    assert "'hello'" in interrupted.read_text()
