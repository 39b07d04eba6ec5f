"""Saves are noticed, noise is not, and a system without watches is polled."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookscope.app import watching
from hookscope.app.watching import Watch, WatchedPaths, watched_paths
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.host import Overrides
from hookscope.model.machine import real_machine
from hookscope.packs.transaction import STAGING_FOLDER

Save = Callable[[Path], object]


class Heard:
    """What a watch told; waits for a path, never for a time."""

    def __init__(self) -> None:
        self.paths: set[Path] = set()
        self._news = threading.Condition()

    def __call__(self, paths: frozenset[Path]) -> None:
        with self._news:
            self.paths |= paths
            self._news.notify_all()

    def wait_for(self, path: Path) -> None:
        with self._news:
            assert self._news.wait_for(lambda: path in self.paths, timeout=120), self.paths

    def wait_while_writing(self, path: Path) -> None:
        """Write the file until that is told: nobody knows when a watch has begun."""
        for number in range(600):
            path.write_text(str(number))
            with self._news:
                if self._news.wait_for(lambda: path in self.paths, timeout=0.2):
                    return
        raise AssertionError(self.paths)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def watch(heard: Heard) -> Iterator[Watch]:
    watch = Watch(heard)
    yield watch
    watch.close()


def rewritten(path: Path) -> None:
    path.write_text("changed")


def replaced(path: Path) -> None:
    path.with_name("other").write_text("changed")
    os.replace(path.with_name("other"), path)


def same_size_and_time(path: Path) -> None:
    before = path.stat()
    path.write_text("x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def until_told(watch: Watch, heard: Heard, watched: WatchedPaths, folder: Path) -> None:
    """Native watches start in a thread: wait until one answers."""
    watch.watch(watched)
    probe, number = folder / "probe", 0
    while probe not in heard.paths:
        number += 1
        probe.write_text(str(number))
        threading.Event().wait(0.02)


@pytest.mark.parametrize("native", [True, False], ids=["native", "polled"])
def test_save_before_the_watch_starts_is_reported(
    native: bool, watch: Watch, heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not native:
        monkeypatch.setattr(watching, "_native", no_watches)
    hooks, settings = tmp_path / "hooks", tmp_path / "settings.json"
    for file in (hooks / "old" / "handler.py", hooks / "new" / "handler.py", settings):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("as it was")
    looked = max(file.stat().st_ctime_ns for file in tmp_path.rglob("*"))
    while settings.stat().st_ctime_ns <= looked:  # the clock of a file system ticks
        settings.write_text("changed")
        (hooks / "new" / "handler.py").write_text("changed")
    watch.watch(WatchedPaths((hooks,), {tmp_path: frozenset({"settings.json"})}), looked)
    heard.wait_for(settings)
    heard.wait_for(hooks / "new" / "handler.py")
    assert hooks / "old" / "handler.py" not in heard.paths


@pytest.mark.parametrize("native", [True, False], ids=["native", "polled"])
@pytest.mark.parametrize("save", [rewritten, replaced, same_size_and_time])
def test_every_way_of_saving_is_noticed(
    save: Save, native: bool, watch: Watch, heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not native:
        monkeypatch.setattr(watching, "POLL", 0.02)
        monkeypatch.setattr(watching, "_native", no_watches)
    handler = tmp_path / "hooks" / "greet" / "handler.py"
    handler.parent.mkdir(parents=True)
    handler.write_text("as it was")
    until_told(watch, heard, WatchedPaths((tmp_path / "hooks",)), tmp_path / "hooks")
    save(handler)
    heard.wait_for(handler)
    assert bool(watch.note) is not native


def no_watches(*_: object) -> Iterator[frozenset[Path]]:
    raise OSError(28, "no space left on device")
    yield frozenset()


def test_missing_folder_and_settings_are_watched(home: Path, watch: Watch, heard: Heard) -> None:
    host = open_host(DIALECTS["openclaw"], real_machine(), Overrides(workspace=home / "agent"))
    watched = watched_paths(host)
    assert watched.folders == ()
    assert watched.names_by_folder == {home: frozenset({".openclaw", "agent"})}
    (home / ".openclaw").mkdir()
    host = open_host(DIALECTS["openclaw"], real_machine(), Overrides(workspace=home / "agent"))
    assert watched_paths(host).names_by_folder == {
        home / ".openclaw": frozenset({"openclaw.json", "hooks", "plugins", "extensions"}),
        home: frozenset({"agent"}),
    }


@pytest.mark.parametrize(
    "name",
    [
        "__pycache__/handler.pyc",
        ".handler.py.swp",
        "handler.py~",
        "4913",
        ".#handler.py",
        ".git/index",
        f"{STAGING_FOLDER}-5c010fc1/old-greet/a/b/c/handler.py",
    ],
)
def test_temporary_files_of_editors_are_ignored(name: str) -> None:
    assert not WatchedPaths((Path("/hooks"),)).is_relevant(Path("/hooks/greet") / name)


def test_only_watched_paths_matter() -> None:
    watched = WatchedPaths((Path("/hooks"),), {Path("/state"): frozenset({"settings.json"})})
    assert watched.is_relevant(Path("/hooks/greet/handler.py"))
    assert watched.is_relevant(Path("/state/settings.json"))
    assert not watched.is_relevant(Path("/state/other.json"))
    assert not watched.is_relevant(Path("/elsewhere/handler.py"))


def moved_over(there: Path, other: Path) -> None:
    os.rename(there, there.with_name("before"))
    os.rename(other, there)


def linked_over(there: Path, other: Path) -> None:
    os.rename(there, there.with_name("before"))
    there.symlink_to(other)


def made_anew(there: Path, other: Path) -> None:
    """As `git checkout` does."""
    shutil.rmtree(there)
    shutil.copytree(other, there)


@pytest.mark.parametrize("swap", [moved_over, linked_over, made_anew])
@pytest.mark.parametrize("of", ["hooks", "hooks/greet"])
def test_replaced_folder_is_watched(
    swap: Callable[[Path, Path], None], of: str, watch: Watch, heard: Heard, tmp_path: Path
) -> None:
    """What the system watches is the folder, wherever it is moved: not the name."""
    hooks, other = tmp_path / "hooks", tmp_path / "other"
    for place in (hooks / "greet", other / "greet" if of == "hooks" else other):
        place.mkdir(parents=True)
        (place / "handler.py").write_text("as it was")
    until_told(watch, heard, WatchedPaths((hooks,)), hooks)
    swap(tmp_path / of, other)
    heard.paths.clear()
    heard.wait_while_writing(hooks / "greet" / "handler.py")


def test_replaced_settings_folder_is_watched(watch: Watch, heard: Heard, tmp_path: Path) -> None:
    there, other = tmp_path / "state", tmp_path / "other"
    for place in (there, other):
        place.mkdir()
        (place / "openclaw.json").write_text("{}")
    watch.watch(WatchedPaths(names_by_folder={there: frozenset({"openclaw.json"})}))
    heard.wait_while_writing(there / "openclaw.json")
    heard.paths.clear()
    moved_over(there, other)
    heard.wait_for(there / "openclaw.json")
    heard.paths.clear()
    heard.wait_while_writing(there / "openclaw.json")
