"""Changes of several files: all are written, or none."""

from pathlib import Path

import pytest

from hookscope.storage.edits.atomic_files import Stale
from hookscope.storage.edits.change import Change, apply_change


@pytest.fixture
def change(tmp_path: Path) -> Change:
    """A new file in a new folder, and another one's bytes."""
    (tmp_path / "second").write_bytes(b"old")
    first = tmp_path / "folder" / "first"
    more = (Change(tmp_path / "second", "both", b"old", b"new"),)
    return Change(first, "both", None, b"made", other_changes=more, created_folders=(first.parent,))


def test_one_stale_file_prevents_all_writes(change: Change, tmp_path: Path) -> None:
    (tmp_path / "second").write_bytes(b"somebody else's")
    steps: list[str] = []
    with pytest.raises(Stale, match=r"second has changed since it was read; nothing was written"):
        apply_change(change, step=steps.append)
    assert steps == []
    assert not (tmp_path / "folder").exists()


def test_earlier_writes_are_reverted_if_a_later_file_is_stale(change: Change, tmp_path: Path) -> None:
    def somebody_writes(step: str) -> None:
        if step == "done":  # of the first
            (tmp_path / "second").write_bytes(b"somebody else's")

    with pytest.raises(Stale):
        apply_change(change, step=somebody_writes)
    assert not (tmp_path / "folder").exists()
    assert (tmp_path / "second").read_bytes() == b"somebody else's"
