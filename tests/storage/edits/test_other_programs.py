"""What another program writes at the same moment is never lost, and half a file is never edited."""

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from hookscope.formats.json5 import LARGEST_JSON5
from hookscope.model.hook import Edit
from hookscope.storage.edits import atomic_files, pending_writes
from hookscope.storage.edits.atomic_files import CannotEdit, CannotWrite, ChangeError, Stale, replace_file
from hookscope.storage.edits.change import Applied, Change, apply_change, change_of
from hookscope.storage.edits.json5_edit import with_setting
from hookscope.storage.edits.undo import inverse_change

WHOLE = b'{"gateway": {"token": "s"}, "hooks": {}}\n'
BLANK = {
    "no bytes": b"",
    "a line end": b"\n",
    "blanks": b" \t\r\n\r\n ",
    "a mark": b"\xef\xbb\xbf",
    "a mark and blanks": b"\xef\xbb\xbf \n",
}
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "settings.json"
    file.write_bytes(WHOLE)
    return file


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody writes: there is nothing to wait for."""
    monkeypatch.setattr(pending_writes, "SETTLE", 0.05)


def switch(file: Path) -> Change:
    return change_of(file, [Edit(file, ("hooks", "enabled"), False, "off")])


# Blank, half written, or open elsewhere


@pytest.mark.parametrize("blank", BLANK.values(), ids=BLANK)
def test_a_blank_file_is_not_edited_as_a_new_document(settings: Path, hurry: None, blank: bytes) -> None:
    settings.write_bytes(blank)
    with pytest.raises(CannotEdit, match=r"settings\.json is empty; another program may be writing it"):
        switch(settings)
    with pytest.raises(CannotEdit, match="The file is empty"):
        with_setting(blank, ("hooks", "enabled"), False)
    assert settings.read_bytes() == blank


@pytest.mark.parametrize("length", [1, 12, 24, len(WHOLE) - 3])
def test_an_incomplete_document_is_refused_and_kept(settings: Path, length: int) -> None:
    settings.write_bytes(WHOLE[:length])
    with pytest.raises(CannotEdit, match="The file cannot be read"):
        switch(settings)
    assert settings.read_bytes() == WHOLE[:length]


@pytest.mark.parametrize("blank", BLANK.values(), ids=BLANK)
def test_undo_of_a_blank_file_is_refused_and_kept(settings: Path, hurry: None, blank: bytes) -> None:
    change = switch(settings)
    apply_change(change)
    settings.write_bytes(blank)
    with pytest.raises(Stale):
        apply_change(change.undo())
    with pytest.raises(ChangeError, match="is empty"):
        inverse_change(change)
    assert settings.read_bytes() == blank


TRUNCATES = """
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
print(flush=True)
sys.stdin.readline()
os.write(file, b'{"gateway": {"token": "new"}, "hooks": {}}')
os.close(file)
"""


@pytest.mark.parametrize("edit", [switch, lambda file: inverse_change(Change(file, "", WHOLE, WHOLE + b" "))])
def test_an_edit_waits_for_a_file_that_is_being_written(
    settings: Path, edit: Callable[[Path], Change]
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", TRUNCATES, str(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()  # it is blank from now on
    made: list[Change] = []
    reader = Thread(target=lambda: made.append(edit(settings)))
    reader.start()
    child.stdin.write(b"\n")
    child.stdin.close()
    child.stdout.close()
    assert child.wait(60) == 0
    reader.join(60)
    assert [b'"token": "new"' in (change.old or b"") for change in made] == [True]


@linux
@pytest.mark.parametrize("mode", ["r+b", "ab"])
def test_a_file_open_for_writing_is_not_replaced(settings: Path, hurry: None, mode: str) -> None:
    change = switch(settings)
    with settings.open(mode):
        for attempt in (
            lambda: switch(settings),
            lambda: apply_change(change),
            lambda: apply_change(change.undo()),
        ):
            with pytest.raises(CannotWrite, match=r"open for writing .* Close it there, or try again"):
                attempt()
        assert settings.read_bytes() == WHOLE
    with settings.open("rb"):  # readers are in nobody's way
        assert apply_change(change) == Applied()


# Between our last look and the replacement


def in_place(file: Path) -> None:
    file.write_bytes(b'{"theirs": 1}')


def atomically(file: Path) -> None:
    other = file.with_name("theirs")
    other.write_bytes(b'{"theirs": 1}')
    other.replace(file)


def appended(file: Path) -> None:
    with file.open("ab") as opened:
        opened.write(b"// more")


def removed(file: Path) -> None:
    file.unlink()


def emptied(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("write", [in_place, atomically, appended, removed, emptied])
@pytest.mark.parametrize("new", [b"{}", None], ids=["replaced", "gone"])
def test_a_write_at_the_last_moment_is_kept(
    settings: Path, write: Callable[[Path], None], new: bytes | None
) -> None:
    there: list[bytes | None] = []

    def meddle(step: str) -> None:
        if step == "exchange":
            write(settings)
            there.append(read(settings))

    with pytest.raises(ChangeError):
        apply_change(Change(settings, "", WHOLE, new), step=meddle)
    assert [read(settings)] == there
    assert left_beside(settings) == []


@pytest.mark.parametrize("content", [b"", b"{}", b'{"theirs": 1}'])
def test_a_file_created_at_the_last_moment_is_kept(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "settings.json"

    def meddle(step: str) -> None:
        if step == "exchange":
            file.write_bytes(content)

    with pytest.raises(Stale):
        apply_change(Change(file, "", None, b'{"ours": 1}'), step=meddle)
    assert file.read_bytes() == content
    assert left_beside(file) == []


def test_a_rename_target_created_at_the_last_moment_is_kept(settings: Path) -> None:
    to = settings.with_name("other.json")

    def meddle(step: str) -> None:
        if step == "exchange":
            to.write_bytes(b"theirs")

    with pytest.raises(CannotWrite, match="file exists"):
        apply_change(Change(settings, "", WHOLE, WHOLE, renamed_to=to), step=meddle)
    assert (settings.read_bytes(), to.read_bytes()) == (WHOLE, b"theirs")


def test_two_concurrent_writers_are_both_kept(settings: Path) -> None:
    def look(at: Path) -> None:
        if at == settings:  # the last look: from now on it is another's
            in_place(settings)
        else:  # it was exchanged, and a third program comes
            settings.unlink()
            settings.write_bytes(b"third")
            raise Stale("changed")

    with pytest.raises(CannotWrite, match=r"the content of the other one is in (\S+)\.") as refused:
        replace_file(settings, b"ours", check=look)
    kept = settings.with_name(".settings.json.hookscope-kept-1")
    assert str(kept) in str(refused.value)
    assert (settings.read_bytes(), kept.read_bytes()) == (b"third", b'{"theirs": 1}')


@pytest.mark.parametrize("number", atomic_files.UNSUPPORTED_ERRNOS)
def test_a_file_is_replaced_if_it_cannot_be_exchanged(
    settings: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    class Old:
        """A C library whose system has no such call."""

        def renameat2(self, *_: object) -> int:
            ctypes.set_errno(number)
            return -1

        renamex_np = renameat2

    monkeypatch.setattr(atomic_files, "_libc", Old)
    change = switch(settings)
    apply_change(change)
    assert settings.read_bytes() == change.new
    apply_change(Change(settings, "", change.new, None))
    apply_change(Change(settings, "", None, b"{}"))
    assert settings.read_bytes() == b"{}"
    with pytest.raises(FileExistsError):
        atomic_files.rename_without_overwrite(settings, settings)


# Read-only, known under several names, too large


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o555, 0o040])
@pytest.mark.parametrize("new", [b"{}", None], ids=["replaced", "gone"])
def test_a_read_only_file_is_not_written(settings: Path, mode: int, new: bytes | None) -> None:
    settings.chmod(mode)
    with pytest.raises(CannotWrite, match=r"settings\.json is read-only\. Nothing .* `chmod u\+w`"):
        apply_change(Change(settings, "", WHOLE, new))
    settings.chmod(0o600)
    assert settings.read_bytes() == WHOLE
    assert left_beside(settings) == []


@pytest.mark.parametrize("old", [WHOLE, None], ids=["replaced", "new"])
def test_a_read_only_folder_is_not_written(tmp_path: Path, old: bytes | None) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    if old is not None:
        (folder / "settings.json").write_bytes(old)
    folder.chmod(0o555)
    try:
        with pytest.raises(CannotWrite, match=f"{folder} is read-only"):
            apply_change(Change(folder / "settings.json", "", old, b"{}"))
        assert os.listdir(folder) == (["settings.json"] if old else [])
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("names", [2, 3])
def test_a_file_with_hard_links_keeps_them(settings: Path, names: int) -> None:
    others = [settings.with_name(f"backup-{number}") for number in range(1, names)]
    for other in others:
        other.hardlink_to(settings)
    change = switch(settings)
    with pytest.raises(CannotWrite, match=f"has {names} names \\(hard links\\)"):
        apply_change(change)
    assert {file.stat().st_ino for file in others} == {settings.stat().st_ino}
    assert settings.read_bytes() == WHOLE
    for other in others:
        other.unlink()
    assert apply_change(change) == Applied()


def test_a_link_to_a_read_only_file_is_not_written(settings: Path, tmp_path: Path) -> None:
    settings.chmod(0o444)
    link = tmp_path / "link.json"
    link.symlink_to(settings)
    with pytest.raises(CannotWrite, match="is read-only"):
        apply_change(switch(link))
    assert (link.is_symlink(), settings.read_bytes()) == (True, WHOLE)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system has no extended attributes")
def test_a_write_keeps_extended_attributes(settings: Path) -> None:
    try:
        os.setxattr(settings, "user.note", b"mine")
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        pytest.skip("this file system has no extended attributes")
    apply_change(switch(settings))
    assert os.getxattr(settings, "user.note") == b"mine"


@pytest.mark.parametrize(
    "source",
    [
        b'{"a": "' + b"x" * LARGEST_JSON5 + b'"}',
        b"//" + b"x" * LARGEST_JSON5 + b"\n{}",
        b'{"a": [' + b"1," * (LARGEST_JSON5 // 2) + b"1]}",
    ],
    ids=["a text", "a comment", "a list"],
)
def test_a_file_too_large_to_read_is_not_edited(settings: Path, source: bytes) -> None:
    settings.write_bytes(source)
    with pytest.raises(CannotEdit, match="larger than 8,388,608 bytes"):
        switch(settings)
    with pytest.raises(CannotEdit, match="more than 8,388,608 bytes"):
        with_setting(source, ("hooks",), {})
    assert settings.stat().st_size == len(source)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")], ids=["lists", "objects"])
@pytest.mark.parametrize("depth", [70, 5_000, 500_000])
def test_a_document_nested_too_deeply_is_not_edited(
    settings: Path, opening: bytes, closing: bytes, depth: int
) -> None:
    source = b'{"deep": ' + opening * depth + b"1" + closing * depth + b"}"
    settings.write_bytes(source)
    with pytest.raises(CannotEdit, match="lists and objects nested more than"):
        switch(settings)
    assert settings.read_bytes() == source


def read(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def left_beside(file: Path) -> list[str]:
    """What a write has left, but for its lock."""
    return [name for name in os.listdir(file.parent) if "hookscope" in name and not name.endswith("lock")]
