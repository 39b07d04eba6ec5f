"""What was changed can be taken back, by this process or the next, without taking others' work with it."""

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookscope.formats.positions import KeyPath
from hookscope.model.hook import Edit
from hookscope.storage.edits.atomic_files import CannotEdit, CannotWrite, ChangeError, Stale
from hookscope.storage.edits.change import Change, apply_change, change_of
from hookscope.storage.edits.undo import UndoStack, inverse_change


@pytest.fixture
def stack(tmp_path: Path) -> UndoStack:
    return UndoStack(tmp_path / "state" / "here")


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "settings.json"
    file.write_bytes(b"{ a: 1 }")
    return file


def done(file: Path, path: KeyPath, value: object) -> Change:
    change = change_of(file, [Edit(file, path, value, f"{path[-1]}: {value}")])
    apply_change(change)
    return change


def dropped(stack: UndoStack) -> Change | None:
    """Forget the newest change, and return it."""
    change = stack.peek()
    if change is not None:
        stack.forget(change)
    return change


def test_an_empty_undo_stack_returns_nothing(stack: UndoStack) -> None:
    assert stack.peek() is None
    assert dropped(stack) is None


def test_another_process_can_undo(stack: UndoStack, settings: Path) -> None:
    before = settings.read_bytes()
    stack.push(done(settings, ("a",), 2))
    newest = UndoStack(stack.folder).peek()
    assert newest is not None
    stack.undo(newest)
    assert settings.read_bytes() == before
    assert stack.peek() is None


def test_undo_records_keep_every_byte(stack: UndoStack) -> None:
    changes = [
        Change(Path("/a\udcff"), "no text", bytes(range(256)), None),
        Change(Path("/b"), "é\u2028", None, b"\xef\xbb\xbf{}\r\n"),
    ]
    for change in changes:
        stack.push(change)
    assert [dropped(stack), dropped(stack), dropped(stack)] == [changes[1], changes[0], None]


def test_the_undo_stack_keeps_fifty_changes(stack: UndoStack) -> None:
    for number in range(52):
        stack.push(Change(Path("f"), str(number), None, b""))
    kept = []
    while (change := dropped(stack)) is not None:
        kept.append(int(change.meaning))
    assert kept == list(range(51, 1, -1))
    assert not list(stack.folder.glob("*.json"))


def test_concurrent_changes_are_all_recorded_for_undo(stack: UndoStack) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: stack.push(Change(Path("f"), str(number), None, b"")), range(40)))
    assert {change.meaning for _ in range(40) if (change := dropped(stack))} == {str(n) for n in range(40)}


def test_only_the_user_can_read_the_undo_stack(stack: UndoStack) -> None:
    stack.push(Change(Path("f"), "", b"secret", None))
    (file,) = stack.folder.glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"1", b'{"path": 1}', b"\xff"])
def test_unreadable_undo_records_are_skipped(stack: UndoStack, content: bytes) -> None:
    older, newer = (Change(Path("f"), meaning, None, b"") for meaning in ("older", "newer"))
    stack.push(older)
    (stack.folder / "2.json").write_bytes(content)
    (stack.folder / "notes.json").write_bytes(content)
    assert stack.peek() == older
    stack.push(newer)
    assert [dropped(stack), dropped(stack), dropped(stack)] == [newer, older, None]


def test_an_unwritable_undo_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotWrite, match=r"Cannot record the change in .*file: "):
        UndoStack(tmp_path / "file").push(Change(Path("f"), "", None, b""))


# Where it no longer fits


def test_an_undo_of_a_changed_file_is_refused_and_kept(stack: UndoStack, settings: Path) -> None:
    change = done(settings, ("a",), 2)
    stack.push(change)
    settings.write_bytes(b"{ a: 2, theirs: 1 }")
    with pytest.raises(Stale):
        stack.undo(change)
    assert stack.peek() == change
    apply_change(inverse_change(change))
    stack.forget(change)
    assert settings.read_bytes() == b"{ a: 1, theirs: 1 }"
    assert stack.peek() is None


def test_a_change_is_undone_only_once(stack: UndoStack, settings: Path) -> None:
    change = done(settings, ("a",), 2)
    stack.push(change)
    stack.undo(change)
    with pytest.raises(Stale):
        stack.undo(change)


INVERSES: list[tuple[str, str, str, str, str]] = [
    ("a value", "{a: 1}", "{a: 2}", "{a: 2, b: 3}", "{a: 1, b: 3}"),
    ("a member", "{a: 1}", "{h: {x: 1}, a: 1}", "{h: {x: 1}, a: 2}", "{a: 2}"),
    ("a member that others added to", "{}", "{h: {x: 1}}", "{h: {x: 1, y: 2}}", "{h: {y: 2}}"),
    ("two values", "{a: 1, b: {c: 1}}", "{a: 2, b: {c: 2}}", "{b: {c: 2}, a: 2}", "{b: {c: 1}, a: 1}"),
    ("what others changed since", "{a: 1, b: 1}", "{a: 2, b: 2}", "{a: 3, b: 2}", "{a: 3, b: 1}"),
    ("what others removed since", "{h: {a: 1}}", "{h: {a: 2}}", "{z: 1}", "{z: 1}"),
    ("what others made something else", "{h: {a: 1}}", "{h: {a: 2}}", "{h: true}", "{h: true}"),
    ("a member that others took over", "{}", "{h: {x: 1}}", "{h: 1}", "{h: 1}"),
    ("a member that was removed", "{a: 1}", "{}", "{b: 1}", "{a: 1, b: 1}"),
    ("comments stay", "{a: 1}", "{b: 2, a: 1}", "{\n // of b\n b: 2,\n a: 1}", "{\n // of b\n a: 1}"),
    ("a file of comments", "// c", "// c\n{a: 1}", "// c\n{a: 1, b: 1}", "// c\n{b: 1}"),
    ("a new file", "", "{a: 1}", "{a: 1, b: 1}", "{b: 1}"),
]


@pytest.mark.parametrize(
    ("old", "new", "now", "after"), [case[1:] for case in INVERSES], ids=[case[0] for case in INVERSES]
)
def test_the_inverse_reverts_the_remaining_part_of_a_change(
    settings: Path, old: str, new: str, now: str, after: str
) -> None:
    settings.write_text(now)
    inverse = inverse_change(Change(settings, "set", old.encode() or None, new.encode()))
    assert inverse.new is not None
    assert inverse.new.decode() == after
    assert (inverse.old, inverse.meaning) == (now.encode(), "undo: set")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (None, "settings.json does not exist, or the change removed it."),
        (b"{", "The file cannot be read: line 1"),
    ],
)
def test_an_unparsable_file_has_no_inverse(settings: Path, now: bytes | None, said: str) -> None:
    change = done(settings, ("a",), 2)
    if now is None:
        settings.unlink()
    else:
        settings.write_bytes(now)
    with pytest.raises(CannotEdit, match=re.escape(said)):
        inverse_change(change)


def test_a_change_of_several_files_is_undone_as_one(stack: UndoStack, tmp_path: Path) -> None:
    one, two = tmp_path / "new" / "a.txt", tmp_path / "new" / "below" / "b.txt"
    made = (tmp_path / "new", tmp_path / "new" / "below")
    change = Change(
        one, "both", None, b"a", other_changes=(Change(two, "both", None, b"b"),), created_folders=made
    )
    apply_change(change)
    assert (one.read_bytes(), two.read_bytes()) == (b"a", b"b")
    assert [line for line in change.preview().splitlines() if line[:3] == "+++"] == [
        "+++ b/a.txt",
        "+++ b/b.txt",
    ]
    stack.push(change)
    assert UndoStack(stack.folder).peek() == change
    two.write_bytes(b"of another hand")
    with pytest.raises(CannotEdit, match="has changed since that edit"):
        inverse_change(change)
    with pytest.raises(Stale):
        stack.undo(change)
    assert one.exists()
    two.write_bytes(b"b")
    stack.undo(change)
    assert not (tmp_path / "new").exists()
    two.parent.mkdir(parents=True)
    two.mkdir()  # the second cannot be written, so the first is not there either
    with pytest.raises(ChangeError):
        apply_change(change)
    assert not one.exists()
    assert two.is_dir()


OLD, NEW = b"# A\nname: a\n# end\n", b"# A\nname: b\nos: [linux]\n# end\n"


@pytest.mark.parametrize(
    ("now", "back"),
    [
        (b"# By hand\n# A\nname: b\nos: [linux]\n# end\nmore\n", b"# By hand\n# A\nname: a\n# end\nmore\n"),
        (b"# A\nname: c\nos: [linux]\n# end\n", None),
        (b"# A\nname: b\nos: [linux]\n# end\nname: b\nos: [linux]\n", None),
        (OLD, None),
    ],
    ids=["others wrote around them", "one is another now", "they stand twice", "they are gone"],
)
def test_changed_lines_are_reverted_if_they_occur_once(
    tmp_path: Path, now: bytes, back: bytes | None
) -> None:
    file = tmp_path / "HOOK.md"
    file.write_bytes(now)
    change = Change(file, "name: b", OLD, NEW)
    if back is None:
        with pytest.raises(CannotEdit, match="are no longer in the file, or occur more than once"):
            inverse_change(change)
    else:
        assert inverse_change(change).new == back
