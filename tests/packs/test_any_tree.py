"""Any package at all: installed file for file and taken back, or refused without a trace."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs import hostile
from tests.packs.conftest import manifest, on_disk, run_cli

from hookscope.packs.errors import PackError
from hookscope.packs.file_tree import read_archive

PARTS = st.one_of(
    st.sampled_from(
        [
            "..",
            ".",
            "",
            "a",
            "A",
            "a ",
            "b.",
            "con",
            "HOOK.md",
            "handler.py",
            "lib",
            "é",
            "e\u0301",
            "x:y",
            "\\",
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),  # zipfile ends a name there
)
NAMES = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
FILES = st.dictionaries(NAMES, st.binary(max_size=20), max_size=5)


def packed(files: dict[str, bytes], kind: str) -> bytes:
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name), content)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


@settings(max_examples=40)
@given(files=FILES, kind=st.sampled_from(["zip", "tgz"]), top=st.sampled_from(["", "pack/"]))
def test_any_archive_is_installed_unchanged_or_leaves_no_trace(
    files: dict[str, bytes], kind: str, top: str
) -> None:
    whole = {**files, "HOOK.md": manifest("greet").encode(), "handler.py": b""}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        home = root / "home"
        (root / "ws").mkdir()
        home.mkdir()
        archive = root / f"pack.{kind}"
        archive.write_bytes(packed({f"{top}{name}": content for name, content in whole.items()}, kind))
        before = on_disk(root)
        machine = ("--home", str(home), "--dialect", "openclaw@2026.9")
        done = run_cli(root / "ws", "install", str(archive), "--yes", *machine)
        after = {path: content for path, content in on_disk(root).items() if "/.openclaw/" in path}
        outside = {path: content for path, content in on_disk(root).items() if "/.openclaw" not in path}
        assert outside == before
        if done.code != 0:
            assert after == {}, "what is refused leaves nothing"
            assert done.err.startswith("hookscope: ")
            return
        there = home / ".openclaw" / "hooks" / "greet"
        written_as = (name for name in whole if kind != "zip" or not f"{top}{name}".endswith("/"))  # a folder
        names = {
            "/".join(part for part in name.split("/") if part not in ("", ".")): name for name in written_as
        }
        written = {name: (there / name).read_bytes() for name in names}
        assert written == {name: whole[given_name] for name, given_name in names.items()}
        assert run_cli(root / "ws", "uninstall", "greet", "--yes", *machine).code == 0
        assert on_disk(root) == before


WHOLE = {"p.zip": hostile.zip_of("more"), "p.tar": hostile.tar_of(), "p.tgz": packed(hostile.GOOD, "tgz")}


@settings(max_examples=400)
@given(
    name=st.sampled_from(sorted(WHOLE)),
    damage=st.lists(
        st.tuples(st.integers(0, 5_000), st.binary(min_size=1, max_size=4)), min_size=1, max_size=6
    ),
    cut=st.integers(0, 12_000),
)
def test_any_damaged_archive_is_refused_or_stays_inside_its_folder(
    name: str, damage: list[tuple[int, bytes]], cut: int
) -> None:
    source = bytearray(WHOLE[name])
    for at, junk in damage:
        source[at % len(source) : at % len(source) + len(junk)] = junk
    with suppress(PackError):  # and nothing else
        tree = read_archive(bytes(source[: cut or None]), name)
        assert all(".." not in path.split("/") and not path.startswith("/") for path in tree.files)
