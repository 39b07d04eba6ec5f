"""The files of a tar archive, with gzip or not: unpacked and counted in memory, then its list checked.

The headers are walked here, one after another. `tarfile` calls itself for each header that extends the next
one, copies those for all entries to each, and follows sizes below zero.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator, Sequence

from hookscope.packs.errors import UNREADABLE
from hookscope.packs.limits import MIB, PackLimits, size_in_words
from hookscope.packs.measure import Measure, check_total
from hookscope.packs.names import Named, checked_names, refused, shown
from hookscope.packs.tree import PackFile
from hookscope.values import dataclass

BLOCK = tarfile.BLOCKSIZE
CHUNK = 262_144
GZIP = b"\x1f\x8b\x08"  # in front of each of its pieces
PIECES = 1_000  # one is usual; each costs time, and may hold nothing
HEADERS = 8 * MIB  # what the archive may need beside its files
LONG_NAME, LONG_LINK = tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
PAX, PAX_OF_ALL = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE), tarfile.XGLTYPE
EXTENSIONS = frozenset({LONG_NAME, LONG_LINK, *PAX, PAX_OF_ALL})  # headers that say more of other entries
USED, HOLES = (b"path", b"size"), b"GNU.sparse."  # keys of pax headers
CHAINED = 8  # of them in front of one entry; three are usual
LARGEST_EXTENSION = MIB  # bytes of one of them
MOST_OF_ALL, LARGEST_OF_ALL = 4, 16_384  # pax headers that are for all entries, and bytes of one
BROKEN: tuple[type[Exception], ...] = (tarfile.TarError, zlib.error, *UNREADABLE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an archive, and where its bytes are."""

    header: tarfile.TarInfo
    name: str
    start: int
    size: int


def files_of_tar(source: bytes, name: str, limits: PackLimits, *, packed: bool) -> dict[str, PackFile]:
    """By path. Raises PackError."""
    plain = _unzipped(source, name, limits) if packed else source
    try:
        entries = []
        for entry in _entries(plain):
            entries.append(entry)
            if len(entries) > limits.entries:
                raise refused(f"It has more than {limits.entries:,} entries; so many are not unpacked.")
        paths = checked_names([_named(entry) for entry in entries], limits)
        return _files(plain, entries, paths, limits)
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


def _entries(plain: bytes) -> Iterator[Entry]:
    """Yield each entry. Raises PackError for hostile headers, TarError and others for damaged ones."""
    at = in_a_row = of_all = 0
    said_of_all: dict[str, str] = {}
    said: dict[str, str] = {}
    while any(block := plain[at : at + BLOCK]):
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        at += BLOCK
        if header.type not in EXTENSIONS:
            entry = _entry(header, {**said_of_all, **said}, at)
            yield entry
            at = _behind(plain, at, entry.size if header.isreg() else 0)
            in_a_row, said = 0, {}
            continue
        in_a_row, of_all = in_a_row + 1, of_all + (header.type == PAX_OF_ALL)
        _check_extension(header, in_a_row, of_all)
        body = plain[at : at + header.size]
        at = _behind(plain, at, header.size)
        if header.type == LONG_NAME:
            said["path"] = body.partition(b"\0")[0].decode("utf-8", "surrogateescape")
        elif header.type != LONG_LINK:  # links are refused, whatever they are called
            (said_of_all if header.type == PAX_OF_ALL else said).update(_pax_records(body))
    if len(block) < BLOCK:
        raise EOFError("it ends in the middle")


def _check_extension(header: tarfile.TarInfo, in_a_row: int, of_all: int) -> None:
    if in_a_row > CHAINED:
        raise refused(f"It has more than {CHAINED} headers in a row in front of one entry.")
    if of_all > MOST_OF_ALL:
        raise refused(f"It has more than {MOST_OF_ALL} headers that are for all entries.")
    largest = LARGEST_OF_ALL if header.type == PAX_OF_ALL else LARGEST_EXTENSION
    if header.size > largest:
        raise refused(f"One of its headers is larger than {size_in_words(largest)}.")


def _entry(header: tarfile.TarInfo, said: dict[str, str], start: int) -> Entry:
    """An entry with what headers in front of it say of it. Raises ValueError for a size that is none."""
    name = said.get("path", header.name)
    if header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith(HOLES.decode()) for key in said):
        raise refused(f"The entry {shown(name)} has holes: sparse files are not unpacked.")
    return Entry(header, name, start, int(said.get("size", header.size)))


def _behind(plain: bytes, at: int, size: int) -> int:
    """Return where the next header is. Raises PackError for a size below zero, EOFError beyond the end."""
    if size < 0:
        raise refused("One of its entries has a size below zero.")
    if at + size > len(plain):
        raise EOFError("it ends in the middle")
    return at + -(-size // BLOCK) * BLOCK


def _pax_records(body: bytes) -> dict[str, str]:
    """Return what a pax header, `LENGTH KEY=VALUE` lines, says of path, size and holes. Raises ValueError."""
    found, at = {}, 0
    while at < len(body) and body[at]:
        number, _, _ = body[at : at + 12].partition(b" ")
        end = at + int(number)
        key, equals, value = body[at + len(number) + 1 : end - 1].partition(b"=")
        if not number.isdigit() or not equals or body[end - 1 : end] != b"\n":
            raise ValueError("a pax header is damaged")
        if key in USED or key.startswith(HOLES):
            found[key.decode("utf-8", "surrogateescape")] = value.decode("utf-8", "surrogateescape")
        at = end
    return found


def _named(entry: Entry) -> Named:
    """Raises PackError for what is neither a plain file nor a folder."""
    header, name = entry.header, shown(entry.name)
    if header.issym() or header.islnk():
        raise refused(f"tar entry is a link: {name}.")
    if header.ischr() or header.isblk() or header.isfifo():
        raise refused(f"The entry {name} is a device or a pipe.")
    if not header.isreg() and not header.isdir():
        raise refused(f"The entry {name} is of a kind that nobody knows.")
    return Named(entry.name, "folder" if header.isdir() else "file")


def _files(
    plain: bytes, entries: Sequence[Entry], paths: Sequence[tuple[str, ...]], limits: PackLimits
) -> dict[str, PackFile]:
    measure = Measure(limits, 0)
    files = {}
    for entry, path in zip(entries, paths, strict=True):
        if entry.header.isreg():
            measure.begin(entry.name)
            measure.count(entry.size)
            content = plain[entry.start : entry.start + entry.size]
            files["/".join(path)] = PackFile(content, bool(entry.header.mode & 0o111))
    return files


def _broken(name: str, why: str) -> Exception:
    return refused(f"{name} is no whole tar archive: {shown(why).rstrip('.')}.")
