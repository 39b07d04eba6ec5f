"""The files of a tar archive, with gzip or not: unpacked and counted in memory, then its list checked."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Sequence
from io import BytesIO

from hookscope.packs.limits import MIB, PackLimits
from hookscope.packs.measure import Measure, check_total
from hookscope.packs.names import Named, checked_names, refused, shown
from hookscope.packs.tree import PackFile

BLOCK = tarfile.BLOCKSIZE
CHUNK = 262_144
GZIP = b"\x1f\x8b\x08"  # in front of each of its pieces
PIECES = 1_000  # one is usual; each costs time, and may hold nothing
HEADERS = 8 * MIB  # what the archive may need beside its files
BROKEN = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError)


def files_of_tar(source: bytes, name: str, limits: PackLimits, *, packed: bool) -> dict[str, PackFile]:
    """By path. Raises PackError."""
    plain = _unzipped(source, name, limits) if packed else source
    try:
        archive = tarfile.open(fileobj=BytesIO(plain), mode="r:", encoding="utf-8", errorlevel=2)  # noqa: SIM115
        with archive:
            members = _members(archive, limits)
            paths = checked_names([_named(member) for member in members], limits)
            _check_end(members, plain, name)
            return _files(archive, members, paths, limits)
    except BROKEN as error:
        raise _broken(name, str(error) or type(error).__name__) from None


def _unzipped(source: bytes, name: str, limits: PackLimits) -> bytes:
    if not source.startswith(GZIP):
        raise _broken(name, "it is not packed with gzip")
    if source.count(GZIP) > PIECES:
        raise refused(f"{name} is packed in more than {PIECES:,} pieces.")
    chunks: list[bytes] = []
    total = 0
    try:
        with gzip.GzipFile(fileobj=BytesIO(source)) as file:
            while chunk := file.read(CHUNK):
                total += len(chunk)
                check_total(max(total - HEADERS, 0), 0, limits)
                check_total(min(total, limits.total), len(source), limits)
                chunks.append(chunk)
    except BROKEN as error:
        raise _broken(name, str(error) or type(error).__name__) from None
    return b"".join(chunks)


def _members(archive: tarfile.TarFile, limits: PackLimits) -> list[tarfile.TarInfo]:
    members = []
    for member in archive:
        members.append(member)
        if len(members) > limits.entries:
            raise refused(f"It has more than {limits.entries:,} entries; so many are not unpacked.")
    return members


def _named(member: tarfile.TarInfo) -> Named:
    """Raises PackError for what is neither a plain file nor a folder."""
    name = member.name
    if member.issym() or member.islnk():
        raise refused(f"tar entry is a link: {shown(name)}.")
    if member.ischr() or member.isblk() or member.isfifo():
        raise refused(f"The entry {shown(name)} is a device or a pipe.")
    if member.issparse() or any(key.startswith("GNU.sparse") for key in member.pax_headers):
        raise refused(f"The entry {shown(name)} has holes: sparse files are not unpacked.")
    if not member.isreg() and not member.isdir():
        raise refused(f"The entry {shown(name)} is of a kind that nobody knows.")
    return Named(name, "folder" if member.isdir() else "file")


def _check_end(members: Sequence[tarfile.TarInfo], plain: bytes, name: str) -> None:
    """After the last entry comes a block of zeros. A damaged header looks like an end to the reader."""
    end = 0
    if members:
        last = members[-1]
        size = last.size if last.isreg() else 0
        end = last.offset_data + -(-size // BLOCK) * BLOCK
    if plain[end : end + BLOCK] != bytes(BLOCK):
        raise _broken(name, "it ends in the middle")


def _files(
    archive: tarfile.TarFile,
    members: Sequence[tarfile.TarInfo],
    paths: Sequence[tuple[str, ...]],
    limits: PackLimits,
) -> dict[str, PackFile]:
    measure = Measure(limits, 0)
    files = {}
    for member, path in zip(members, paths, strict=True):
        if not member.isreg():
            continue
        measure.begin(member.name)
        measure.count(member.size)
        file = archive.extractfile(member)
        content = file.read() if file is not None else b""
        if len(content) != member.size:
            raise tarfile.ReadError(f"{member.name} is cut off")
        files["/".join(path)] = PackFile(content, bool(member.mode & 0o111))
    return files


def _broken(name: str, why: str) -> Exception:
    return refused(f"{name} is no whole tar archive: {shown(why).rstrip('.')}.")
