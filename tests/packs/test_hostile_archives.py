"""A corpus of archives that nobody should unpack: each is refused with its sentence and leaves no trace."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from tests.packs import hostile
from tests.packs.conftest import Cli, on_disk

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the maker of archives warns of names that are there twice
    ROWS = hostile.rows()


@pytest.mark.parametrize("row", ROWS, ids=[row.what for row in ROWS])
def test_a_hostile_archive_is_refused_and_leaves_no_trace(row: hostile.Row, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / row.file).write_bytes(row.source)
    before = on_disk(tmp_path)
    done = cli("install", str(tmp_path / row.file), "--yes", "--json")
    assert (done.code, on_disk(tmp_path)) == (1, before)
    assert row.words in done.json["error"], done.json
    assert done.err.count("\n") == 1


def test_the_corpus_is_large_and_its_valid_archives_install(cli: Cli, tmp_path: Path) -> None:
    assert len(ROWS) >= 80
    for name, source in {"good.zip": hostile.zip_of(), "good.tar": hostile.tar_of()}.items():
        (tmp_path / name).write_bytes(source)
        assert cli("install", str(tmp_path / name), "--yes", "--force").code == 0
