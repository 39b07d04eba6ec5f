"""A change is shown, written once, taken back; and never over somebody else's work."""

import errno
import os
import stat
from pathlib import Path

import pytest

from hookscope.model.hook import Edit
from hookscope.storage.edits import atomic_files
from hookscope.storage.edits.atomic_files import CannotWrite, Stale, locked
from hookscope.storage.edits.change import Applied, Change, apply_change, change_of


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "settings.json"
    file.write_bytes(b'{\n  // mine\n  "a": 1,\n  "b": 1\n}')
    return file


def set_to(file: Path, value: int, key: str = "a") -> Change:
    return change_of(file, [Edit(file, (key,), value, f"{key}: {value}")])


# Made and shown


def test_the_preview_is_a_diff_with_context_lines(settings: Path) -> None:
    assert set_to(settings, 2).preview() == (
        "--- a/settings.json\n+++ b/settings.json\n@@ -2,3 +2,3 @@\n"
        '   // mine\n-  "a": 1,\n+  "a": 2,\n   "b": 1\n'
    )


def test_the_preview_marks_a_missing_final_line_feed(settings: Path) -> None:
    settings.write_bytes(b"{a: 1}")
    assert set_to(settings, 2).preview().splitlines()[3:] == [
        *("-{a: 1}", "\\ No newline at end of file"),
        *("+{a: 2}", "\\ No newline at end of file"),
    ]


def test_the_preview_of_a_new_file_starts_from_nothing(tmp_path: Path) -> None:
    assert set_to(tmp_path / "new", 1).preview() == (
        '--- /dev/null\n+++ b/new\n@@ -0,0 +1,3 @@\n+{\n+  "a": 1\n+}\n'
    )


def test_the_preview_of_nothing_is_empty(settings: Path) -> None:
    assert set_to(settings, 1).preview() == ""


def test_only_a_line_feed_ends_a_line_of_the_preview(settings: Path) -> None:
    settings.write_bytes(b"{\r\n a: 1, // \xe2\x80\xa8\x0c\r\n}\r\n")
    assert " a: 2, // \u2028\x0c\r\n" in set_to(settings, 2).preview()


def test_a_change_of_binary_data_can_be_shown() -> None:
    assert "\ufffd" in Change(Path("f"), "", b"\xff\n", b"\n").preview()


def test_undo_is_the_inverse_change(settings: Path) -> None:
    change = set_to(settings, 2)
    assert (change.undo().old, change.undo().new) == (change.new, change.old)
    assert change.undo().meaning == "undo: a: 2"


def test_several_edits_are_one_change(settings: Path) -> None:
    edits = [Edit(settings, ("a",), 2, "a: 2"), Edit(settings, ("b",), 3, "b: 3")]
    change = change_of(settings, edits)
    assert change.meaning == "a: 2, b: 3"
    assert change.new == b'{\n  // mine\n  "a": 2,\n  "b": 3\n}'


def test_combining_edits_of_different_files_raises(settings: Path) -> None:
    with pytest.raises(ValueError, match="an edit is for other, not for"):
        change_of(settings, [Edit(Path("other"), ("a",), 1, "")])


def test_a_relative_path_is_resolved_when_the_change_is_made(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(settings.parent)
    assert set_to(Path(settings.name), 2).path == settings


# Written


def test_making_a_change_writes_nothing(settings: Path) -> None:
    before = settings.stat(), sorted(settings.parent.iterdir())
    set_to(settings, 2)
    assert (settings.stat(), sorted(settings.parent.iterdir())) == before


def test_a_change_is_applied_and_undone(settings: Path) -> None:
    before = settings.read_bytes()
    change = set_to(settings, 2)
    assert apply_change(change) == Applied(in_place=False)
    assert settings.read_bytes() == before.replace(b"1", b"2", 1)
    apply_change(change.undo())
    assert settings.read_bytes() == before


def test_apply_refuses_when_the_file_changed_since(settings: Path) -> None:
    change = set_to(settings, 2)
    settings.write_bytes(b"{a: 1, b: 2}")
    with pytest.raises(Stale, match="has changed since it was read; nothing was written"):
        apply_change(change)
    assert settings.read_bytes() == b"{a: 1, b: 2}"


@pytest.mark.parametrize("last", ["create", "write", "own", "sync", "replace"])
def test_apply_keeps_an_edit_made_during_the_write(settings: Path, last: str) -> None:
    def meddle(step: str) -> None:
        if step == last:
            settings.write_bytes(b"{theirs: 1}")

    with pytest.raises(Stale):
        apply_change(set_to(settings, 2), step=meddle)
    assert settings.read_bytes() == b"{theirs: 1}"
    assert not list(settings.parent.glob(".*-new"))


def test_a_file_that_appeared_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "new"
    change = set_to(file, 1)
    file.write_bytes(b"")
    with pytest.raises(Stale):
        apply_change(change)
    assert file.read_bytes() == b""


def test_a_deleted_file_is_not_recreated(settings: Path) -> None:
    change = set_to(settings, 2)
    settings.unlink()
    with pytest.raises(Stale):
        apply_change(change)
    assert not settings.exists()


def test_a_stale_change_leaves_no_temporary_files(tmp_path: Path) -> None:
    with pytest.raises(Stale):
        apply_change(Change(tmp_path / "no" / "file", "", b"{}", b"{a: 1}"))
    assert not (tmp_path / "no").exists()


def test_an_empty_change_does_not_replace_the_file(settings: Path) -> None:
    before = settings.stat()
    apply_change(set_to(settings, 1))
    assert settings.stat() == before


def test_a_new_file_is_private_and_its_folders_are_created(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "settings.json"
    change = set_to(file, 1)
    assert not file.parent.exists()
    apply_change(change)
    assert file.read_bytes() == b'{\n  "a": 1\n}\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    apply_change(change.undo())
    assert not file.exists()


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o755])
def test_a_write_keeps_the_mode(settings: Path, mode: int) -> None:
    settings.chmod(mode)
    apply_change(set_to(settings, 2))
    assert stat.S_IMODE(settings.stat().st_mode) == mode


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a file away")
def test_a_write_keeps_the_owner(settings: Path) -> None:
    os.chown(settings, 12345, 54321)
    settings.chmod(0o640)
    apply_change(set_to(settings, 2))
    now = settings.stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (12345, 54321, 0o640)


def test_a_write_is_refused_if_the_owner_cannot_be_kept(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    change = set_to(settings, 2)
    monkeypatch.setattr(atomic_files, "_keep_owner_and_mode", refuse)
    with pytest.raises(CannotWrite, match="operation not permitted"):
        apply_change(change)
    assert settings.read_bytes() == change.old
    assert not list(settings.parent.glob(".*-new"))


def test_a_write_through_a_link_keeps_the_link(settings: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "there" / "link.json"
    link.symlink_to("../settings.json")
    apply_change(set_to(link, 2))
    assert os.readlink(link) == "../settings.json"
    assert b'"a": 2' in settings.read_bytes()
    assert os.listdir(link.parent) == ["link.json"]


def test_a_dangling_link_is_refused_and_kept(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "unmounted" / "real.json")
    with pytest.raises(CannotWrite, match=r"Cannot read .*link\.json: a broken link"):
        set_to(link, 1)
    with pytest.raises(CannotWrite, match="a broken link"):
        apply_change(Change(link, "", None, b"{}"))
    assert link.is_symlink()
    assert not (tmp_path / "unmounted").exists()


def test_leftovers_of_a_killed_write_do_not_block_the_next(settings: Path) -> None:
    left = settings.with_name(".settings.json.hookscope-new")
    left.write_bytes(b"{half")
    apply_change(set_to(settings, 2))
    assert not left.exists()


# Not written


def test_a_link_to_itself_is_refused_with_a_sentence(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(link)
    with pytest.raises(CannotWrite, match=r"Cannot read .*link\.json: too many levels"):
        set_to(link, 1)


def test_a_folder_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match=r"Cannot read .*: is a directory"):
        set_to(tmp_path, 1)


def test_an_operating_system_error_names_the_next_step(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(settings))

    change = set_to(settings, 2)
    monkeypatch.setattr(atomic_files, "exchange_files", refuse)
    with pytest.raises(CannotWrite) as refused:
        apply_change(change)
    assert str(refused.value) == f"Cannot write {settings}: permission denied. Nothing was written."
    assert settings.read_bytes() == change.old
    assert not list(settings.parent.glob(".*-new"))


def test_a_held_lock_names_the_next_step(settings: Path) -> None:
    change = set_to(settings, 2)
    with (
        locked(settings, 0),
        pytest.raises(
            CannotWrite, match=r"locked by another process for 0\.01 s; nothing was written\. Close"
        ),
    ):
        apply_change(change, timeout=0.01)
    assert settings.read_bytes() == change.old


# A file that is mounted by itself


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
def test_a_file_that_cannot_be_replaced_is_written_in_place_with_a_note(
    settings: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def busy(*_: object) -> None:
        raise OSError(number, "busy")

    before = settings.stat()
    change = Change(settings, "", settings.read_bytes(), b"{}")
    monkeypatch.setattr(atomic_files, "exchange_files", busy)
    assert apply_change(change) == Applied(in_place=True)
    assert settings.read_bytes() == b"{}"
    assert settings.stat().st_ino == before.st_ino
    assert not list(settings.parent.glob(".*-new"))


def test_a_failed_write_in_place_names_the_copy_of_the_new_content(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        settings.unlink()
        raise OSError(errno.EBUSY, "busy")

    change = Change(settings, "", settings.read_bytes(), b"{}")
    monkeypatch.setattr(atomic_files, "exchange_files", busy)
    with pytest.raises(CannotWrite, match="may be damaged"):
        apply_change(change)
    assert settings.with_name(".settings.json.hookscope-new").read_bytes() == b"{}"
