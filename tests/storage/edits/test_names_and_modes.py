"""A file's name and permissions change as its bytes do: shown, applied once, taken back."""

from pathlib import Path

import pytest

from hookscope.storage.edits.atomic_files import CannotEdit, Stale
from hookscope.storage.edits.change import Change, apply_change, combined_changes, is_applied
from hookscope.storage.edits.undo import UndoStack, inverse_change


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "handler.mjs"
    file.write_bytes(b"export default 1\n")
    file.chmod(0o640)
    return file


def renamed(file: Path) -> Change:
    content = file.read_bytes()
    return Change(file, "renamed", content, content, renamed_to=file.with_name("handler.js"))


def test_a_rename_keeps_bytes_and_mode_and_is_undone(file: Path, tmp_path: Path) -> None:
    change = renamed(file)
    assert (
        change.preview()
        == "--- a/handler.mjs\n+++ b/handler.js\nrename from handler.mjs\nrename to handler.js\n"
    )
    stack = UndoStack(tmp_path / "undo")
    apply_change(change)
    stack.push(change)
    then = tmp_path / "handler.js"
    assert (file.exists(), then.read_bytes(), then.stat().st_mode & 0o777) == (
        False,
        b"export default 1\n",
        0o640,
    )
    known = stack.peek()
    assert known == change
    assert is_applied(change)
    stack.undo(change)
    assert (file.read_bytes(), then.exists()) == (b"export default 1\n", False)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["handler.mjs"]


def test_a_rename_does_not_overwrite_a_file(file: Path, tmp_path: Path) -> None:
    change = renamed(file)
    (tmp_path / "handler.js").write_text("mine")
    with pytest.raises(Stale):
        apply_change(change)
    assert (tmp_path / "handler.js").read_text() == "mine"
    assert file.exists()


def test_a_rename_of_a_file_edited_since_is_not_undone(file: Path) -> None:
    change = renamed(file)
    apply_change(change)
    file.with_name("handler.js").write_text("more")
    assert not is_applied(change)
    with pytest.raises(Stale):
        apply_change(change.undo())
    with pytest.raises(CannotEdit):
        inverse_change(change)


def test_a_change_of_permissions_is_undone(file: Path, tmp_path: Path) -> None:
    change = Change(file, "may be run", None, None, modes=(0o640, 0o750))
    assert change.preview().endswith("old mode 640\nnew mode 750\n")
    stack = UndoStack(tmp_path / "undo")
    apply_change(change)
    stack.push(change)
    assert file.stat().st_mode & 0o777 == 0o750
    assert stack.peek() == change
    with pytest.raises(Stale):
        apply_change(change)
    apply_change(change.undo())
    assert file.stat().st_mode & 0o777 == 0o640


def test_several_edits_of_one_file_are_merged_in_order(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "HOOK.md"
    edits = [Change(other, "a", b"1", b"2"), renamed(file), Change(other, "b", b"2", b"3")]
    first, second = combined_changes(edits)
    assert (first.old, first.new, first.meaning) == (b"1", b"3", "a, b")
    assert second.renamed_to is not None
    assert combined_changes([Change(other, "a", b"1", b"2"), Change(other, "b", b"2", b"1")]) == ()
