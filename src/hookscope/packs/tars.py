"""The files of a tar archive, with gzip or not: unpacked and counted in memory, then its list checked."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Self

from hookscope.packs.errors import UNREADABLE
from hookscope.packs.limits import MIB, PackLimits, size_in_words
from hookscope.packs.measure import Measure, check_total
from hookscope.packs.names import Named, checked_names, refused, shown
from hookscope.packs.tree import PackFile

BLOCK = tarfile.BLOCKSIZE
CHUNK = 262_144
GZIP = b"\x1f\x8b\x08"  # in front of each of its pieces
PIECES = 1_000  # one is usual; each costs time, and may hold nothing
HEADERS = 8 * MIB  # what the archive may need beside its files
EXTENSIONS = frozenset({b"g", b"x", b"X", b"L", b"K"})  # headers that say more of the next entry, or of all
CHAINED = 8  # extension headers in front of one entry; three are usual
LARGEST_EXTENSION = MIB  # bytes of one of them
GLOBAL = b"g"  # pax: for all entries that follow, each of which gets a copy
MOST_GLOBAL, LARGEST_GLOBAL = 4, 16_384
BROKEN: tuple[type[Exception], ...] = (tarfile.TarError, zlib.error, *UNREADABLE)


def files_of_tar(source: bytes, name: str, limits: PackLimits, *, packed: bool) -> dict[str, PackFile]:
    """By path. Raises PackError."""
    plain = _unzipped(source, name, limits) if packed else source
    try:
        archive = tarfile.open(  # noqa: SIM115
            fileobj=BytesIO(plain),
            mode="r:",
            encoding="utf-8",
            errorlevel=2,
            tarinfo=_limited_headers(),
        )
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
        for chunk in _inflated(source):
            total += len(chunk)
            check_total(max(total - HEADERS, 0), 0, limits)
            check_total(min(total, limits.total), len(source), limits)
            chunks.append(chunk)
    except BROKEN as error:
        raise _broken(name, str(error) or type(error).__name__) from None
    return b"".join(chunks)


def _inflated(source: bytes) -> Iterator[bytes]:
    """Yield what each gzip piece holds, in chunks. Raises zlib.error, EOFError.

    `gzip` reads the file name in a piece's header byte by byte, however long it is.
    """
    at = 0
    while at < len(source):
        reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
        while not reader.eof:
            fed = source[at : at + CHUNK]
            chunk = reader.decompress(fed, CHUNK)
            at += len(fed) - len(reader.unused_data if reader.eof else reader.unconsumed_tail)
            if not fed and not chunk and not reader.eof:
                raise EOFError("it ends in the middle")
            yield chunk
        piece = source.find(GZIP, at)
        end = len(source) if piece < 0 else piece
        if source[at:end].strip(b"\0"):
            raise EOFError("something else follows what is packed")
        at = end


def _limited_headers() -> type[tarfile.TarInfo]:
    """Return the class that reads the headers of one archive. It raises PackError for too many or too large.

    `tarfile` calls itself for each extension header and copies global ones for each entry.
    """
    in_a_row = 0
    global_ones = 0

    class LimitedHeader(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            nonlocal in_a_row, global_ones
            header = super().frombuf(buf, encoding, errors)
            if header.size < 0:
                raise refused(f"The entry {shown(header.name)} has a size below zero.")
            if header.type[:1] not in EXTENSIONS:
                in_a_row = 0
                return header
            in_a_row += 1
            is_global = header.type == GLOBAL
            global_ones += is_global
            if in_a_row > CHAINED:
                raise refused(f"It has more than {CHAINED} headers in a row in front of one entry.")
            if global_ones > MOST_GLOBAL:
                raise refused(f"It has more than {MOST_GLOBAL} headers that are for all entries.")
            largest = LARGEST_GLOBAL if is_global else LARGEST_EXTENSION
            if header.size > largest:
                raise refused(f"One of its headers is larger than {size_in_words(largest)}.")
            return header

    return LimitedHeader


def _members(archive: tarfile.TarFile, limits: PackLimits) -> list[tarfile.TarInfo]:
    members = []
    for member in archive:
        if member.size < 0:  # a pax record says so
            raise refused(f"The entry {shown(member.name)} has a size below zero.")
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
