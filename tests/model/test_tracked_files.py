"""A look is answered from the last one while nothing that it touched has changed, and only then."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope.model import machine
from hookscope.model.machine import TrackedFiles

LONG_AGO = 1_000_000_000


def appeared(hook: Path) -> None:
    (hook / "package.json").write_text("{}")


def grown(hook: Path) -> None:
    (hook / "HOOK.md").write_text("longer than it was")


def gone(hook: Path) -> None:
    (hook / "HOOK.md").unlink()


def folder_gone(hook: Path) -> None:
    (hook / "HOOK.md").unlink()
    (hook / "link").unlink()
    hook.rmdir()


def forbidden(hook: Path) -> None:
    (hook / "HOOK.md").chmod(0)


def target_grown(hook: Path) -> None:
    (hook.parent / "target").write_text("longer than it was")


def target_gone(hook: Path) -> None:
    (hook.parent / "target").unlink()


def target_came(hook: Path) -> None:
    (hook.parent / "missing").write_text("")


def program_came(hook: Path) -> None:
    (hook.parent / "bin" / "tool").write_text("")


CHANGES: list[Callable[[Path], None]] = [
    *(appeared, grown, gone, folder_gone, forbidden, target_grown, target_gone, target_came, program_came)
]


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    hook = tmp_path / "hook"
    hook.mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "target").write_text("target")
    (hook / "HOOK.md").write_text("short")
    (hook / "link").symlink_to(tmp_path / "target")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    for folder in (hook, tmp_path / "bin", tmp_path):  # so that a change of the same moment is one
        os.utime(folder, (LONG_AGO, LONG_AGO))
    return hook


def touched(hook: Path) -> TrackedFiles:
    """What a look asks, as if all had been there for long."""
    files = TrackedFiles()
    files.children(hook.parent)
    files.names(hook)
    assert files.facts(hook / "package.json") is None
    assert files.facts(hook.parent / "nowhere") is None
    assert files.read(hook / "HOOK.md") == b"short"
    link = files.facts(hook / "link")
    assert link is not None
    assert link.linked
    assert files.program("tool", (str(hook.parent / "bin"),)).path is None
    files.stop_caching()
    return files


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_tracked_file_is_detected(
    change: Callable[[Path], None], hook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "TICK", -3600 * 10**9)  # what has just been written counts as settled
    files = touched(hook)
    assert files.unchanged()
    change(hook)
    assert not files.unchanged()


def test_recently_written_files_count_as_changed(hook: Path) -> None:
    assert not touched(hook).unchanged()


def test_facts_are_cached_until_forgotten(hook: Path) -> None:
    files = TrackedFiles()
    assert files.facts(hook / "package.json") is None
    appeared(hook)
    assert files.facts(hook / "package.json") is None
    files.stop_caching()
    assert files.facts(hook / "package.json") is not None
    assert not files.unchanged()
