"""The files of a zip archive: the whole list checked first, then each file counted as it is unpacked."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Sequence
from io import BytesIO

from hookscope.packs.errors import UNREADABLE
from hookscope.packs.limits import PackLimits
from hookscope.packs.measure import Measure
from hookscope.packs.names import Named, checked_names, refused, shown
from hookscope.packs.tree import PackFile

CENTRAL = b"PK\x01\x02"  # in front of each entry of the list
ENCRYPTED = 0x1 | 0x40 | 0x2000
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
CHUNK = 65_536
BROKEN: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, *UNREADABLE)


def files_of_zip(source: bytes, name: str, limits: PackLimits) -> dict[str, PackFile]:
    """By path. Raises PackError."""
    if source.count(CENTRAL) > limits.entries:
        raise refused(f"It has more than {limits.entries:,} entries; so many are not unpacked.")
    try:
        archive = zipfile.ZipFile(BytesIO(source))
    except BROKEN as error:
        raise _broken(name, error) from None
    with archive:
        entries = archive.infolist()
        paths = checked_names([_named(entry) for entry in entries], limits)
        _check_sizes(entries, limits)
        measure = Measure(limits, len(source))
        files = {}
        for entry, path in zip(entries, paths, strict=True):
            if not entry.orig_filename.endswith("/"):
                runnable = bool(entry.external_attr >> 16 & 0o111)
                files["/".join(path)] = PackFile(_content(archive, entry, measure, name), runnable)
    return files


def _named(entry: zipfile.ZipInfo) -> Named:
    """By the name that stands there: `filename` ends at its first NUL. Raises PackError for a bad kind."""
    name = entry.orig_filename
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise refused(f"zip entry is a link: {shown(name)}.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise refused(f"The entry {shown(name)} is a device or a pipe.")
    if entry.flag_bits & ENCRYPTED:
        raise refused(f"The entry {shown(name)} is encrypted.")
    if entry.compress_type not in METHODS:
        raise refused(f"The entry {shown(name)} is packed in a way that is not read here.")
    folder = name.endswith("/")
    if folder and entry.file_size:
        raise refused(f"The entry {shown(name)} is a folder, and has bytes of its own.")
    return Named(name, "folder" if folder else "file")


def _check_sizes(entries: Sequence[zipfile.ZipInfo], limits: PackLimits) -> None:
    """What the list itself says is too much is not even begun."""
    declared = Measure(limits, 0)
    for entry in entries:
        declared.begin(entry.orig_filename)
        declared.count(entry.file_size)


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, measure: Measure, name: str) -> bytes:
    measure.begin(entry.orig_filename)
    chunks = []
    try:
        with archive.open(entry) as file:
            while chunk := file.read(CHUNK):
                measure.count(len(chunk))
                chunks.append(chunk)
    except BROKEN as error:
        raise _broken(name, error) from None
    content = b"".join(chunks)
    if len(content) != entry.file_size:
        raise refused(f"{name} is broken: {shown(entry.orig_filename)} is not as long as its list says.")
    return content


def _broken(name: str, error: Exception) -> Exception:
    why = shown(str(error)).rstrip(".") if str(error) else type(error).__name__
    return refused(f"{name} is no whole zip archive: {why}.")
