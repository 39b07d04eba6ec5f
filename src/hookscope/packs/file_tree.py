"""FileTree: a package's files by path, in memory; readers of folders and archives; folder removal."""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from hookscope.model.text import error_reason
from hookscope.packs.errors import ARCHIVE_ERRORS, PackError
from hookscope.packs.package_checks import (
    DEFAULT_LIMITS,
    MIB,
    PackageEntry,
    PackLimits,
    UnpackedSize,
    check_total_size,
    checked_names,
    display_name,
    package_error,
    size_in_words,
)
from hookscope.values import dataclass

CENTRAL_HEADER = b"PK\x01\x02"  # starts each entry of the archive's list
ENCRYPTED_FLAG = 0x1 | 0x40 | 0x2000
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ZIP_CHUNK = 65_536
ZIP_ERRORS: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, *ARCHIVE_ERRORS)


def files_of_zip(source: bytes, name: str, limits: PackLimits) -> dict[str, PackFile]:
    """Return the files of a zip archive by path. Raises PackError."""
    if source.count(CENTRAL_HEADER) > limits.entries:
        raise package_error(f"The package has more than {limits.entries:,} entries, which is the limit.")
    try:
        archive = zipfile.ZipFile(BytesIO(source))
    except ZIP_ERRORS as error:
        raise _broken_zip(name, error) from None
    with archive:
        entries = archive.infolist()
        paths = checked_names([_zip_entry(entry) for entry in entries], limits)
        _check_zip_sizes(entries, limits)
        measure = UnpackedSize(limits, len(source))
        files = {}
        for entry, path in zip(entries, paths, strict=True):
            if not entry.orig_filename.endswith("/"):
                runnable = bool(entry.external_attr >> 16 & 0o111)
                files["/".join(path)] = PackFile(_zip_content(archive, entry, measure, name), runnable)
    return files


def _zip_entry(entry: zipfile.ZipInfo) -> PackageEntry:
    """Return an entry with its raw name, which may contain NUL. Raises PackError for an unsupported entry."""
    name = entry.orig_filename
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise package_error(f"zip entry is a link: {display_name(name)}.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise package_error(f"The entry {display_name(name)} is a device or a pipe.")
    if entry.flag_bits & ENCRYPTED_FLAG:
        raise package_error(f"The entry {display_name(name)} is encrypted.")
    if entry.compress_type not in ZIP_METHODS:
        raise package_error(f"The entry {display_name(name)} has an unsupported compression method.")
    folder = name.endswith("/")
    if folder and entry.file_size:
        raise package_error(f"The entry {display_name(name)} is a folder, but has content.")
    return PackageEntry(name, "folder" if folder else "file")


def _check_zip_sizes(entries: Sequence[zipfile.ZipInfo], limits: PackLimits) -> None:
    """Refuse an archive whose table of contents exceeds a limit, before reading the files."""
    declared = UnpackedSize(limits, 0)
    for entry in entries:
        declared.begin(entry.orig_filename)
        declared.count(entry.file_size)


def _zip_content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, measure: UnpackedSize, name: str) -> bytes:
    measure.begin(entry.orig_filename)
    chunks = []
    try:
        with archive.open(entry) as file:
            while chunk := file.read(ZIP_CHUNK):
                measure.count(len(chunk))
                chunks.append(chunk)
    except ZIP_ERRORS as error:
        raise _broken_zip(name, error) from None
    content = b"".join(chunks)
    if len(content) != entry.file_size:
        raise package_error(
            f"{name} is damaged: {display_name(entry.orig_filename)} has a wrong length in its directory."
        )
    return content


def _broken_zip(name: str, error: Exception) -> Exception:
    why = display_name(str(error)).rstrip(".") if str(error) else type(error).__name__
    return package_error(f"{name} is not a valid zip archive: {why}.")


TAR_BLOCK = tarfile.BLOCKSIZE
TAR_CHUNK = 262_144
GZIP = b"\x1f\x8b\x08"  # starts each gzip member
MOST_GZIP_PIECES = 1_000  # one is usual; each takes time, and may be empty
LARGEST_HEADERS = 8 * MIB  # bytes of an archive besides its files
LONG_NAME, LONG_LINK = tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
PAX, PAX_OF_ALL = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE), tarfile.XGLTYPE
TAR_EXTENSIONS = frozenset({LONG_NAME, LONG_LINK, *PAX, PAX_OF_ALL})  # headers about other entries
PAX_USED, PAX_HOLES = (b"path", b"size"), b"GNU.sparse."  # keys of pax headers
MOST_CHAINED = 8  # such headers before one entry; three are usual
LARGEST_EXTENSION = MIB  # bytes of one such header
MOST_OF_ALL, LARGEST_OF_ALL = 4, 16_384  # pax headers that are for all entries, and bytes of one
TAR_ERRORS: tuple[type[Exception], ...] = (tarfile.TarError, zlib.error, *ARCHIVE_ERRORS)


@dataclass(frozen=True, slots=True)
class TarEntry:
    """An entry of an archive, and the position of its bytes."""

    header: tarfile.TarInfo
    name: str
    start: int
    size: int


def files_of_tar(source: bytes, name: str, limits: PackLimits, *, is_gzipped: bool) -> dict[str, PackFile]:
    """Return the files of a tar archive by path. Raises PackError."""
    plain = _unzipped(source, name, limits) if is_gzipped else source
    try:
        entries = []
        for entry in _tar_entries(plain):
            entries.append(entry)
            if len(entries) > limits.entries:
                raise package_error(
                    f"The package has more than {limits.entries:,} entries, which is the limit."
                )
        paths = checked_names([_tar_package_entry(entry) for entry in entries], limits)
        return _tar_files(plain, entries, paths, limits)
    except TAR_ERRORS as error:
        raise _broken_tar(name, str(error) or type(error).__name__) from None


def _unzipped(source: bytes, name: str, limits: PackLimits) -> bytes:
    if not source.startswith(GZIP):
        raise _broken_tar(name, "it is not packed with gzip")
    if source.count(GZIP) > MOST_GZIP_PIECES:
        raise package_error(f"{name} has more than {MOST_GZIP_PIECES:,} gzip members.")
    chunks: list[bytes] = []
    total = 0
    try:
        for chunk in _inflated(source):
            total += len(chunk)
            check_total_size(max(total - LARGEST_HEADERS, 0), 0, limits)
            check_total_size(min(total, limits.total), len(source), limits)
            chunks.append(chunk)
    except TAR_ERRORS as error:
        raise _broken_tar(name, str(error) or type(error).__name__) from None
    return b"".join(chunks)


def _inflated(source: bytes) -> Iterator[bytes]:
    """Yield the content of each gzip member in chunks. Raises zlib.error, EOFError.

    The module `gzip` is not used: it reads a file name in a header byte by byte, however long.
    """
    at = 0
    while at < len(source):
        reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
        while not reader.eof:
            fed = source[at : at + TAR_CHUNK]
            chunk = reader.decompress(fed, TAR_CHUNK)
            at += len(fed) - len(reader.unused_data if reader.eof else reader.unconsumed_tail)
            if not fed and not chunk and not reader.eof:
                raise EOFError("it is truncated")
            yield chunk
        piece = source.find(GZIP, at)
        end = len(source) if piece < 0 else piece
        if source[at:end].strip(b"\0"):
            raise EOFError("other data follows the compressed data")
        at = end


def _tar_entries(plain: bytes) -> Iterator[TarEntry]:
    """Yield each entry. Raises PackError for hostile headers, TarError and others for damaged ones."""
    at = in_a_row = of_all = 0
    global_pax: dict[str, str] = {}
    pax: dict[str, str] = {}
    while any(block := plain[at : at + TAR_BLOCK]):
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        at += TAR_BLOCK
        if header.type not in TAR_EXTENSIONS:
            entry = _tar_entry(header, {**global_pax, **pax}, at)
            yield entry
            at = _next_header(plain, at, entry.size if header.isreg() else 0)
            in_a_row, pax = 0, {}
            continue
        in_a_row, of_all = in_a_row + 1, of_all + (header.type == PAX_OF_ALL)
        _check_extension(header, in_a_row, of_all)
        body = plain[at : at + header.size]
        at = _next_header(plain, at, header.size)
        if header.type == LONG_NAME:
            pax["path"] = body.partition(b"\0")[0].decode("utf-8", "surrogateescape")
        elif header.type != LONG_LINK:  # links are refused anyway
            (global_pax if header.type == PAX_OF_ALL else pax).update(_pax_records(body))
    if len(block) < TAR_BLOCK:
        raise EOFError("it is truncated")


def _check_extension(header: tarfile.TarInfo, in_a_row: int, of_all: int) -> None:
    if in_a_row > MOST_CHAINED:
        raise package_error(f"The archive has more than {MOST_CHAINED} headers in a row before one entry.")
    if of_all > MOST_OF_ALL:
        raise package_error(f"The archive has more than {MOST_OF_ALL} global headers.")
    largest = LARGEST_OF_ALL if header.type == PAX_OF_ALL else LARGEST_EXTENSION
    if header.size > largest:
        raise package_error(f"A header in the archive is larger than {size_in_words(largest)}.")


def _tar_entry(header: tarfile.TarInfo, pax: dict[str, str], start: int) -> TarEntry:
    """Return an entry with the values of earlier pax headers. Raises ValueError for an invalid size."""
    name = pax.get("path", header.name)
    if header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith(PAX_HOLES.decode()) for key in pax):
        raise package_error(f"The entry {display_name(name)} has holes: sparse files are not unpacked.")
    return TarEntry(header, name, start, int(pax.get("size", header.size)))


def _next_header(plain: bytes, at: int, size: int) -> int:
    """Return the offset of the next header. Raises PackError for a negative size, EOFError beyond the end."""
    if size < 0:
        raise package_error("One of its entries has a size below zero.")
    if at + size > len(plain):
        raise EOFError("it is truncated")
    return at + -(-size // TAR_BLOCK) * TAR_BLOCK


def _pax_records(body: bytes) -> dict[str, str]:
    """Return path, size and holes of a pax header, `LENGTH KEY=VALUE` lines. Raises ValueError."""
    found, at = {}, 0
    while at < len(body) and body[at]:
        number, _, _ = body[at : at + 12].partition(b" ")
        end = at + int(number)
        key, equals, value = body[at + len(number) + 1 : end - 1].partition(b"=")
        if not number.isdigit() or not equals or body[end - 1 : end] != b"\n":
            raise ValueError("a pax header is damaged")
        if key in PAX_USED or key.startswith(PAX_HOLES):
            found[key.decode("utf-8", "surrogateescape")] = value.decode("utf-8", "surrogateescape")
        at = end
    return found


def _tar_package_entry(entry: TarEntry) -> PackageEntry:
    """Return a package entry. Raises PackError for anything but a plain file or a folder."""
    header, name = entry.header, display_name(entry.name)
    if header.issym() or header.islnk():
        raise package_error(f"tar entry is a link: {name}.")
    if header.ischr() or header.isblk() or header.isfifo():
        raise package_error(f"The entry {name} is a device or a pipe.")
    if not header.isreg() and not header.isdir():
        raise package_error(f"The entry {name} is of an unknown kind.")
    return PackageEntry(entry.name, "folder" if header.isdir() else "file")


def _tar_files(
    plain: bytes, entries: Sequence[TarEntry], paths: Sequence[tuple[str, ...]], limits: PackLimits
) -> dict[str, PackFile]:
    measure = UnpackedSize(limits, 0)
    files = {}
    for entry, path in zip(entries, paths, strict=True):
        if entry.header.isreg():
            measure.begin(entry.name)
            measure.count(entry.size)
            content = plain[entry.start : entry.start + entry.size]
            files["/".join(path)] = PackFile(content, bool(entry.header.mode & 0o111))
    return files


def _broken_tar(name: str, why: str) -> Exception:
    return package_error(f"{name} is not a valid tar archive: {display_name(why).rstrip('.')}.")


# Files that no package includes on purpose. They are excluded everywhere.
EXCLUDED_NAMES = frozenset({".git", ".hg", ".svn", "__MACOSX", ".DS_Store", "__pycache__"})
DEPENDENCIES_FOLDER = "node_modules"


@dataclass(frozen=True, slots=True)
class PackFile:
    """One file. Of its permissions only the executable bit is kept."""

    content: bytes
    runnable: bool = False

    @property
    def mode(self) -> int:
        """Its permissions once installed."""
        return 0o755 if self.runnable else 0o644

    @property
    def digest(self) -> str:
        """The SHA-256 of its content in hexadecimal."""
        return sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class FileTree:
    """Files by path below the package, with `/`, sorted."""

    files: Mapping[str, PackFile] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()  # the folders and files that were skipped

    @property
    def size(self) -> int:
        """The total size in bytes."""
        return sum(len(file.content) for file in self.files.values())

    def names(self, folder: str = "") -> frozenset[str]:
        """Return the names in one folder of the tree."""
        return frozenset(path.partition("/")[0] for path, _ in self._below(folder))

    def below(self, folder: str) -> FileTree:
        """Return one folder as a tree."""
        return FileTree(dict(self._below(folder)), self.excluded)

    def read(self, path: str) -> bytes | None:
        """Return the content of the file at this path; None if there is none."""
        file = self.files.get(path)
        return file.content if file is not None else None

    def _below(self, folder: str) -> Iterator[tuple[str, PackFile]]:
        start = f"{folder}/" if folder else ""
        for path, file in self.files.items():
            if path.startswith(start):
                yield path[len(start) :], file


def tree_of(files: Mapping[str, PackFile], *excluded: str) -> FileTree:
    """Return a tree of these files, without `EXCLUDED_NAMES`, which packages include only by accident."""
    excluded_paths: dict[str, None] = dict.fromkeys(excluded)
    kept: dict[str, PackFile] = {}
    for path in sorted(files):
        parts = path.split("/")
        at = next((number for number, part in enumerate(parts) if part in EXCLUDED_NAMES), None)
        if at is None:
            kept[path] = files[path]
        else:
            excluded_paths["/".join(parts[: at + 1])] = None
    return FileTree(kept, tuple(excluded_paths))


def digest_of(files: Mapping[str, str]) -> str:
    """Return one digest of several, by path."""
    lines = "".join(f"{path}\0{files[path]}\n" for path in sorted(files))
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def entries_below(
    folder: Path, excluded: frozenset[str] = frozenset()
) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """Yield every entry below and whether it is a folder, parents first, in order. Follows no link.

    `excluded` names are skipped with everything below; so is the content of unreadable folders.
    """
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name in excluded:
                continue
            is_folder = False
            with suppress(OSError):  # it is gone
                is_folder = entry.is_dir(follow_symlinks=False)
            yield entry, is_folder
            if is_folder:
                waiting.append(entry.path)


def remove_tree(folder: Path) -> None:
    """Remove a folder and everything below. Failures are ignored."""
    if os.path.islink(folder):
        return
    folders = [os.fspath(folder)]
    for entry, is_folder in entries_below(folder):
        if is_folder:
            folders.append(entry.path)
        else:
            with suppress(OSError):
                os.unlink(entry.path)
    for path in reversed(folders):
        with suppress(OSError):
            os.rmdir(path)


EXCLUDED_FROM_FOLDERS = EXCLUDED_NAMES | {DEPENDENCIES_FOLDER}


def read_folder_tree(folder: Path) -> FileTree:
    """Read all files below a folder, without version control and installed dependencies. Raises PackError."""
    excluded: list[str] = []
    try:
        found = dict(_files_below(Path(os.path.realpath(folder)), excluded))
        checked_names([PackageEntry(path, "file") for path in found], DEFAULT_LIMITS)
        measure = UnpackedSize(DEFAULT_LIMITS, 0)
        return tree_of({path: _read_file(path, file, measure) for path, file in found.items()}, *excluded)
    except OSError as error:
        where = error.filename or folder
        what = f"Cannot read {where}: {error_reason(error)}."
        raise PackError(what, "Make it readable, or name another folder. Nothing was written.") from None


def _files_below(root: Path, excluded: list[str]) -> Iterator[tuple[str, Path]]:
    waiting, seen = [("", root)], 0
    while waiting:
        path, folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                seen += 1
                if seen > DEFAULT_LIMITS.entries:
                    raise package_error(
                        f"The package has more than {DEFAULT_LIMITS.entries:,} entries, which is the limit."
                    )
                below = f"{path}/{entry.name}" if path else entry.name
                if entry.name in EXCLUDED_FROM_FOLDERS:
                    excluded.append(below)
                elif entry.is_dir(follow_symlinks=False):
                    if below.count("/") >= DEFAULT_LIMITS.depth:
                        raise package_error(
                            f"{display_name(below)} is more than {DEFAULT_LIMITS.depth} folders deep."
                        )
                    waiting.append((below, Path(entry.path)))
                else:
                    yield below, _readable_file(below, Path(entry.path), root)


def _readable_file(path: str, file: Path, root: Path) -> Path:
    """Return the real path of a file. Raises PackError for anything else, and for a link that leads out."""
    if file.is_symlink():
        real = Path(os.path.realpath(file))
        if not real.is_relative_to(root):
            raise package_error(f"{display_name(path)} is a link that leads out of the folder.")
        if not os.path.isfile(real):
            raise package_error(f"{display_name(path)} is a link that does not lead to a file.")
        return real
    if not stat.S_ISREG(file.lstat().st_mode):
        raise package_error(f"{display_name(path)} is a device, a pipe or a socket.")
    return file


def _read_file(path: str, file: Path, measure: UnpackedSize) -> PackFile:
    measure.begin(path)
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as opened:
        facts = os.fstat(opened.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise package_error(f"{display_name(path)} is a device, a pipe or a socket.")
        measure.count(facts.st_size)
        content = opened.read(measure.limits.file + 1)
        measure.count(max(len(content) - facts.st_size, 0))
    return PackFile(content, bool(facts.st_mode & 0o111))


ARCHIVE_SUFFIXES = (".zip", ".tgz", ".tar.gz", ".tar")
TOP_MANIFESTS = ("HOOK.md", "package.json")


def is_archive(name: str) -> bool:
    """Return True for the name of a supported archive."""
    return name.lower().endswith(ARCHIVE_SUFFIXES)


def read_archive(source: bytes, name: str, limits: PackLimits = DEFAULT_LIMITS) -> FileTree:
    """Read an archive of that name, without its single top folder. Raises PackError."""
    if len(source) > limits.archive:
        raise package_error(f"{display_name(name)} is larger than {size_in_words(limits.archive)}.")
    lowered = name.lower()
    if lowered.endswith(".zip"):
        tree = tree_of(files_of_zip(source, display_name(name), limits))
    elif lowered.endswith(ARCHIVE_SUFFIXES):
        packed = not lowered.endswith(".tar")
        tree = tree_of(files_of_tar(source, display_name(name), limits, is_gzipped=packed))
    else:
        known = ", ".join(ARCHIVE_SUFFIXES)
        raise PackError(f"{display_name(name)} is not a supported archive.", f"Supported: {known}.")
    return without_top_folder(tree)


def without_top_folder(tree: FileTree) -> FileTree:
    """Return the content of an archive's single top folder, if it has just one."""
    top = tree.names()
    if len(top) != 1 or top & set(TOP_MANIFESTS):
        return tree
    (folder,) = top
    inside = tree.below(folder)
    return inside if inside.files else tree
