"""Who may run: recorded once, by folder, and never widened by a link."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal
from hookscope.model.machine import PathFacts, RealFiles
from hookscope.packs.index import PackIndex
from hookscope.recording.taps import InstalledTaps
from hookscope.storage.trust import TrustStore

MakeHook = Callable[..., Path]


def a_bench(workspace: Path) -> Workbench:
    return Workbench(Options(workspace=workspace, bundled=workspace / "none"))


def test_trust_persists_and_covers_subfolders(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}")
    a_bench(workspace).trust(workspace)
    (row,) = a_bench(workspace).scan().inventory.hooks
    assert row.state == "ready"


def test_an_unreadable_record_trusts_nothing(workspace: Path, tmp_path: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}")
    (tmp_path / "state").mkdir()
    for text in ("", "{", "[]", '{"folders": 5}', '{"folders": {"/": 1}}[]', '{"a":' * 100_000):
        (tmp_path / "state" / "trust.json").write_text(text)
        assert a_bench(workspace).scan().inventory.hooks[0].state == "untrusted"


@pytest.mark.parametrize("text", ["{", "[]", '{"folders": 5}', '{"a":' * 100_000])
def test_damaged_record_is_backed_up_before_a_write(tmp_path: Path, text: str) -> None:
    files = {name: tmp_path / name for name in ("trust.json", "taps.json", "packs.json")}
    for file in files.values():
        file.write_text(text)
    TrustStore(files["trust.json"]).add(Path("/a"), {})
    InstalledTaps(files["taps.json"]).put(Path("/a"), None)
    PackIndex(files["packs.json"]).put(Path("/a"), {"one": {}})
    assert TrustStore(files["trust.json"]).trust().folders == {Path("/a")}
    for file in files.values():
        assert file.with_name(f"{file.name}.damaged").read_text() == text
        json.loads(file.read_text())


def test_unreadable_record_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    os.mkfifo(file)
    with pytest.raises(Refusal, match=r"state\.json"):
        TrustStore(file).add(Path("/a"), {})
    with pytest.raises(Refusal, match=r"state\.json"):
        InstalledTaps(file).put(Path("/a"), None)
    with pytest.raises(OSError, match=r"state\.json"):
        PackIndex(file).put(Path("/a"), {"one": {}})
    assert file.is_fifo()


def test_concurrent_writers_keep_each_others_trust(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "state" / "trust.json")
    folders = [Path(f"/folder/{number}") for number in range(24)]
    threads = [threading.Thread(target=store.add, args=(folder, {})) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.trust().folders == set(folders)
    assert not [path for path in (tmp_path / "state").iterdir() if path.name.startswith(".trust")]
    assert json.loads((tmp_path / "state" / "trust.json").read_text())["folders"].keys() == set(
        map(str, folders)
    )


def test_trust_that_cannot_be_recorded_is_refused_with_the_next_step(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("HOOKSCOPE_STATE_DIR", str(tmp_path / "a-file"))
    with pytest.raises(Refusal, match="HOOKSCOPE_STATE_DIR"):
        a_bench(workspace).trust(workspace)


@pytest.fixture
def of_others(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on every file belongs to another user."""
    real_facts = RealFiles.facts

    def of_another_user(self: RealFiles, path: Path) -> PathFacts | None:
        facts = real_facts(self, path)
        return facts._replace(foreign=True) if facts is not None else None

    return lambda: monkeypatch.setattr(RealFiles, "facts", of_another_user)


CHANGED = "handler.py belongs to another user and has changed since its folder was trusted"


def marked(workspace: Path) -> dict[str, tuple[str, ...]]:
    """What is said of each hook's handler."""
    rows = a_bench(workspace).scan().inventory.hooks
    return {row.hook.name: tuple(note for note in row.notes if "handler.py" in note) for row in rows}


def test_handler_changed_since_trust_by_another_user_is_marked(
    workspace: Path, make_hook: MakeHook, of_others: Callable[[], None]
) -> None:
    folder = make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}")
    a_bench(workspace).trust(workspace / "hooks")
    (folder / "handler.py").write_text("def handler(event): print('changed')\n")
    assert marked(workspace) == {"greet": ()}
    of_others()
    assert marked(workspace) == {"greet": (CHANGED,)}
    a_bench(workspace).trust(workspace / "hooks")
    assert marked(workspace) == {"greet": ()}


def test_trusting_one_folder_keeps_the_mark_in_another(
    workspace: Path, make_hook: MakeHook, of_others: Callable[[], None]
) -> None:
    one, other = (
        make_hook(workspace / "hooks", name, "{openclaw: {events: [command]}}") for name in ("one", "other")
    )
    a_bench(workspace).trust(one)
    (one / "handler.py").write_text("def handler(event): print('changed')\n")
    a_bench(workspace).trust(other)
    of_others()
    assert marked(workspace) == {"one": (CHANGED,), "other": ()}


@pytest.mark.parametrize("entry", [{"since": "2026-01-01T00:00:00+00:00"}, {"handlers": 5}, 1])
def test_trust_without_digests_is_valid(
    workspace: Path, tmp_path: Path, make_hook: MakeHook, entry: object
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}")
    (tmp_path / "state").mkdir()
    (tmp_path / "state/trust.json").write_text(json.dumps({"folders": {str(workspace): entry}}))
    assert [row.state for row in a_bench(workspace).scan().inventory.hooks] == ["ready"]


def test_untrust_removes_only_the_named_folders(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    for name in ("/a", "/b"):
        store.add(Path(name), {Path(name, "handler.py"): "digest"})
    store.remove([Path("/a"), Path("/c")])
    assert store.trust().folders == {Path("/b")}
    assert store.trust().digests == {Path("/b/handler.py"): "digest"}
