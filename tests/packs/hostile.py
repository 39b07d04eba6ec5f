"""Archives that nobody should unpack, built in memory: a name, its bytes, and the words of its refusal."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

HOOK = b"---\nname: greet\ndescription: d\nmetadata: {openclaw: {events: [command]}}\n---\n"
HANDLER = b"export default () => {}\n"
GOOD = {"greet/HOOK.md": HOOK, "greet/handler.js": HANDLER}
MIB = 1024 * 1024


class Row(NamedTuple):
    what: str
    file: str  # the archive's name
    source: bytes
    words: str  # in its refusal


def tar_of(*extra: tarfile.TarInfo, good: dict[str, bytes] = GOOD, sizes: bool = True) -> bytes:
    """A plain tar with a good hook in it, and these entries, each as long as it says."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in good.items():
            archive.addfile(entry(name, size=len(content)), io.BytesIO(content))
        for one in extra:
            archive.addfile(one, io.BytesIO(b"x" * one.size) if one.isreg() else None)
    return out.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, *, link: str = "", size: int = 1) -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname, one.size = kind, link, size if kind == tarfile.REGTYPE else 0
    return one


def zip_of(*extra: str | tuple[zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in GOOD.items():
            archive.writestr(name, content)
        for one in extra:
            info, content = (zipfile.ZipInfo(one), b"x") if isinstance(one, str) else one
            info.compress_type = method
            archive.writestr(info, content)
    return out.getvalue()


def special(name: str, mode: int, content: bytes = b"/etc/passwd") -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info, content


def patched(source: bytes, at: bytes, offset: int, new: bytes) -> bytes:
    """With other bytes at an offset from the last place of a signature."""
    start = source.rindex(at) + offset
    return source[:start] + new + source[start + len(new) :]


NAMES: dict[str, tuple[str, str]] = {
    "climbs": ("../evil.js", "leads out of the package with `..`"),
    "climbs in the middle": ("greet/../../evil.js", "leads out of the package with `..`"),
    "comes back": ("greet/../greet/evil.js", "leads out of the package with `..`"),
    "is absolute": ("/tmp/evil.js", "is an absolute path"),
    "has a backslash": ("greet\\..\\evil.js", "has a backslash"),
    "has a drive": ("C:/evil.js", "has a colon"),
    "has a stream": ("greet/handler.js:evil", "has a colon"),
    "is a device of Windows": ("greet/aux.js", "is the name of a device on Windows"),
    "is a device in capitals": ("greet/COM1", "is the name of a device on Windows"),
    "ends with a dot": ("greet/evil.", "ends with a dot or a space"),
    "ends with a blank": ("greet /evil", "ends with a dot or a space"),
    "has an escape": ("greet/\x1b[2Jevil", "has control characters"),
    "has a newline": ("greet/a\nb", "has control characters"),
    "turns the text": ("greet/\u202esj.live", "has control characters"),
    "has a star": ("greet/*.js", "has *, which Windows does not allow in names"),
    "has a long name": ("greet/" + "n" * 230, "has a name of more than 200 bytes"),
    "has a long path": ("/".join(["greet", *["d" * 60] * 20]), "has a path of more than 1,000 bytes"),
    "lies deep": ("/".join(["d"] * 40), "is more than 24 folders deep"),
    "differs in capitals": ("greet/HANDLER.JS", "are the same name if case is ignored"),
    "differs in a folder's capitals": ("Greet/more.js", "are the same name if case is ignored"),
    "lies below a file": ("greet/handler.js/evil", "is a file, but other entries are below it"),
    "is there twice": ("greet/handler.js", "occurs twice"),
    "is there twice by detour": ("./greet//handler.js", "occurs twice"),
}


def by_name() -> Iterator[Row]:
    for what, (name, words) in NAMES.items():
        yield Row(f"tar {what}", "pack.tgz", gzip.compress(tar_of(entry(name)), 1), words)
        yield Row(f"zip {what}", "pack.zip", zip_of(name), words)
    accents = [entry("greet/caf\u00e9.js"), entry("greet/cafe\u0301.js")]
    yield Row("tar two accents", "pack.tar", tar_of(*accents), "look the same")
    yield Row("zip two accents", "pack.zip", zip_of(*(one.name for one in accents)), "look the same")


def of_tar() -> Iterator[Row]:
    kinds: dict[str, tuple[tarfile.TarInfo, str]] = {
        "link": (entry("greet/l", tarfile.SYMTYPE, link="/etc/passwd"), "tar entry is a link: greet/l"),
        "hard link": (entry("greet/l", tarfile.LNKTYPE, link="greet/HOOK.md"), "tar entry is a link"),
        "pipe": (entry("greet/p", tarfile.FIFOTYPE), "is a device or a pipe"),
        "device": (entry("greet/d", tarfile.CHRTYPE), "is a device or a pipe"),
        "disk": (entry("greet/d", tarfile.BLKTYPE), "is a device or a pipe"),
        "holes": (entry("greet/s", tarfile.GNUTYPE_SPARSE), "has holes"),
        "unknown kind": (entry("greet/u", b"Z"), "is of an unknown kind"),
    }
    for what, (one, words) in kinds.items():
        yield Row(f"tar {what}", "pack.tar", tar_of(one), words)
    good = tar_of()
    packed = gzip.compress(good)
    yield Row("tar truncated", "pack.tar", good[:1_800], "not a valid tar archive")
    yield Row("tar cut at a header", "pack.tar", good[:1_024], "it is truncated")
    yield Row(
        "tar damaged header", "pack.tar", patched(good, b"greet/handler.js", 148, b"9" * 8), "not a valid tar"
    )
    yield Row("tgz truncated", "pack.tgz", packed[:-20], "not a valid tar archive")
    yield Row("tgz damaged", "pack.tgz", packed[:40] + b"\0\0\0\0" + packed[44:], "not a valid tar archive")
    yield Row("tgz that is none", "pack.tgz", b"hello", "not a valid tar archive: it is not packed with gzip")
    yield Row("tar that is none", "pack.tar", b"hello" * 999, "not a valid tar archive")
    yield Row("empty file", "pack.tar.gz", b"", "not a valid tar archive")
    yield Row("tar not in UTF-8", "pack.tar", tar_of(entry("greet/\udcff")), "is not UTF-8")
    yield Row("tgz of nothing", "pack.tgz", gzip.compress(b"") * 50_000, "more than 1,000 gzip members")
    yield Row("tgz bomb", "pack.tgz", gzip.compress(bytes(24 * MIB), 9), "decompression bomb")
    large = tar_of(entry("greet/large", size=17 * MIB))
    yield Row("tar one large file", "pack.tar", large, "is larger than 16 MiB unpacked")
    many = tar_of(*(entry(f"greet/f{number}", size=0) for number in range(5_001)))
    yield Row("tar of many", "pack.tgz", gzip.compress(many, 1), "has more than 5,000 entries")


def header(name: str, kind: bytes, size: int = 0) -> bytes:
    """One header block, with a size that no writer would check."""
    one = tarfile.TarInfo(name)
    one.type, one.size = kind, size
    return one.tobuf(tarfile.GNU_FORMAT)


def extension(kind: bytes, body: bytes) -> bytes:
    """A header that says more of the entry behind it, and what it says."""
    return header("././@More", kind, len(body)) + body + bytes(-len(body) % 512)


def record(key: str, value: str) -> bytes:
    """A line of a pax header: its own length, a key and a value."""
    line = f" {key}={value}\n"
    length = len(line) + len(str(len(line)))
    length = len(line) + len(str(length))
    return f"{length}{line}".encode()


def of_headers() -> Iterator[Row]:
    """Tar archives whose headers, not their files, are the attack."""
    good, long_name, pax = tar_of(), extension(b"L", b"greet\0"), extension(b"x", record("a", "b"))
    link, solaris = extension(b"K", b"greet\0"), extension(b"X", record("a", "b"))
    for_all = extension(b"g", record("a", "b"))
    chains = {
        "long names": long_name,
        "long links": link,
        "pax": pax,
        "Solaris pax": solaris,
        "a mixture": long_name + link + pax,
        "empty pax": header("x", b"x"),
        "empty long names": header("x", b"L"),
    }
    for what, one in chains.items():
        yield Row(f"tar chain of {what}", "pack.tar", one * 2_000 + good, "headers in a row")
        yield Row(f"tgz chain of {what}", "pack.tgz", gzip.compress(one * 1_000 + good), "headers in a row")
    spread = b"".join(for_all + header(f"greet/f{number}", b"0") for number in range(1_000))
    holes = bytearray(header("greet/s", tarfile.GNUTYPE_SPARSE))
    holes[482] = 1  # another block of its map follows
    holes[148:156] = b"%06o\0 " % (sum(holes) - sum(holes[148:156]) + 8 * 32)
    more = bytes(504) + b"\1" + bytes(7)
    negative, wild = bytearray(header("greet/n", b"0")), bytearray(header("greet/n", b"0"))
    for block, size in ((negative, b"\xff" * 12), (wild, b"\x80" + b"\x7f" * 11)):
        block[124:136] = size
        block[148:156] = b"%06o\0 " % (sum(block) - sum(block[148:156]) + 8 * 32)
    sized = {
        size: extension(b"x", record("size", size)) + header("greet/n", b"0") for size in ("-512", "9" * 30)
    }
    sparse = record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0")
    others: dict[str, tuple[bytes, str]] = {
        "global pax in a chain": (for_all * 2_000, "global headers"),
        "global pax before each entry": (spread, "global headers"),
        "large global pax": (extension(b"g", record("a", "b" * 20_000)), "larger than 16 KiB"),
        "large pax": (extension(b"x", record("a", "b" * 2 * MIB)), "larger than 1 MiB"),
        "large long name": (extension(b"L", b"n" * 2 * MIB), "larger than 1 MiB"),
        "size below zero": (bytes(negative), "a size below zero"),
        "size below zero in pax": (sized["-512"], "a size below zero"),
        "size beyond all numbers": (bytes(wild), "not a valid tar archive"),
        "size beyond all numbers in pax": (sized["9" * 30], "not a valid tar archive"),
        "map of holes without end": (bytes(holes) + more * 3_000, "has holes"),
        "map of holes in pax": (
            extension(b"x", sparse) + header("greet/s", b"0", 512) + b"9999999\n1\n".ljust(512, b"\0"),
            "has holes",
        ),
        "length of a pax record": (extension(b"x", b"99999999999999999999 a=b\n"), "not a valid tar archive"),
    }
    for what, (front, words) in others.items():
        yield Row(f"tar {what}", "pack.tar", front + good, words)
    cut = good[: good.index(b"greet/handler.js")] + bytes(holes) + more
    yield Row("tar map of holes that ends early", "pack.tar", cut, "has holes")


def of_zip() -> Iterator[Row]:
    kinds: dict[str, tuple[int, str]] = {
        "link": (0o120777, "zip entry is a link: greet/l"),
        "pipe": (0o010644, "is a device or a pipe"),
        "device": (0o020644, "is a device or a pipe"),
    }
    for what, (mode, words) in kinds.items():
        yield Row(f"zip {what}", "pack.zip", zip_of(special("greet/l", mode)), words)
    good = zip_of("greet/more")
    yield Row("zip folder with bytes", "pack.zip", zip_of("greet/sub/"), "is a folder, but has content")
    yield Row("zip truncated", "pack.zip", good[:-40], "not a valid zip archive")
    yield Row("zip that is none", "pack.zip", b"hello" * 99, "not a valid zip archive")
    yield Row("zip encrypted", "pack.zip", patched(good, b"PK\x01\x02", 8, b"\x01\x00"), "is encrypted")
    strange = zip_of("greet/m", method=zipfile.ZIP_LZMA)
    yield Row("zip packed strangely", "pack.zip", strange, "unsupported compression method")
    yield Row(
        "zip wrong sum", "pack.zip", patched(good, b"PK\x01\x02", 16, b"\1\2\3\4"), "not a valid zip archive"
    )
    yield Row(
        "zip with another name inside", "pack.zip", patched(good, b"PK\x03\x04", 30, b"Xreet"), "not a valid"
    )
    zeros = zip_of((zipfile.ZipInfo("greet/zeros"), bytes(12 * MIB)))
    yield Row("zip bomb", "pack.zip", zeros, "decompression bomb")
    lying = patched(zeros, b"PK\x01\x02", 24, struct.pack("<I", 7))
    yield Row("zip bomb that lies", "pack.zip", lying, "not a valid zip archive")
    large = zip_of((zipfile.ZipInfo("greet/large"), bytes(17 * MIB)))
    yield Row("zip one large file", "pack.zip", large, "is larger than 16 MiB unpacked")
    huge = patched(good, b"PK\x01\x02", 24, struct.pack("<I", 2_000_000_000))
    yield Row("zip that says huge", "pack.zip", huge, "is larger than 16 MiB unpacked")
    many = zip_of(*(f"greet/f{number}" for number in range(5_001)))
    yield Row("zip of many", "pack.zip", many, "has more than 5,000 entries")
    cut = zip_of("greet/evil.jsX/../../../e")
    yield Row("zip name with NUL", "pack.zip", cut.replace(b"jsX/", b"js\0/"), "`..`")


def of_packages() -> Iterator[Row]:
    packages: dict[str, tuple[bytes, str]] = {
        "list leads out": (
            b'{"name":"p","openclaw":{"hooks":["../outside"]}}',
            "escapes package directory: ../o",
        ),
        "list is absolute": (
            b'{"name":"p","openclaw":{"hooks":["/etc"]}}',
            "escapes package directory: /etc",
        ),
        "list is empty": (b'{"name":"p","openclaw":{"hooks":[" "]}}', "package.json openclaw.hooks is empty"),
        "list is not a list": (b'{"name":"p","openclaw":{"hooks":"greet"}}', "must be a list"),
        "list names nothing": (b'{"name":"p","openclaw":{"hooks":["gone"]}}', "is not in the package: gone"),
        "list twice": (
            b'{"name":"p","openclaw":{"hooks":["greet","./greet"]}}',
            'duplicate hook name "greet"',
        ),
        "list without HOOK.md": (b'{"name":"p","openclaw":{"hooks":["bare"]}}', "HOOK.md missing in bare"),
        "list without handler": (b'{"name":"p","openclaw":{"hooks":["lame"]}}', "missing in lame"),
        "name climbs": (b'{"name":"../p","openclaw":{"hooks":["greet"]}}', "an invalid name"),
        "no name": (b'{"openclaw":{"hooks":["greet"]}}', "package.json has no name"),
        "not JSON": (b'{"name":', "package.json cannot be read"),
        "deep JSON": (b"[" * 100_000, "package.json cannot be read"),
        "no list": (b'{"name":"p"}', "package.json has no openclaw.hooks"),
    }
    more = {**GOOD, "bare/handler.js": HANDLER, "lame/HOOK.md": HOOK.replace(b"greet", b"lame")}
    for what, (package, words) in packages.items():
        source = tar_of(good={"package.json": package, **more})
        yield Row(f"package: {what}", "pack.tar", source, words)
    for name, words in {
        "a/b": "path separators not allowed",
        "..": "reserved path",
        ".x": "begins with a dot",
    }.items():
        manifest = HOOK.replace(b"name: greet", f'name: "{name}"'.encode())
        source = tar_of(good={"HOOK.md": manifest, "handler.js": HANDLER})
        yield Row(f"package: hook named {name}", "pack.tar", source, words)
    yield Row("package: nothing", "pack.tar", tar_of(good={"readme": b""}), "is neither a hook nor a pack")


SORTS: tuple[Callable[[], Iterator[Row]], ...] = (by_name, of_tar, of_headers, of_zip, of_packages)


def rows() -> list[Row]:
    return [row for sort in SORTS for row in sort()]
