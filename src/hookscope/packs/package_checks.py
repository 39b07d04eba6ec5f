"""Checks of a foreign package: limits on its size, and names that are safe on every machine."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from hookscope.model.text import has_controls, one_line
from hookscope.packs.errors import PackError
from hookscope.values import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class PackLimits:
    """Limits far above what hooks need, and safe for a machine."""

    archive: int = 32 * MIB  # bytes of the archive itself
    total: int = 96 * MIB  # bytes of all files
    file: int = 16 * MIB  # bytes of one file
    entries: int = 5_000
    depth: int = 24  # folders below one another
    name: int = 200  # bytes of one name; file systems hold 255
    path: int = 1_000  # bytes of a path
    ratio: int = 150  # highest ratio of unpacked to packed size
    ratio_from: int = 4 * MIB  # unpacked bytes from which the ratio counts: short texts may compress more


DEFAULT_LIMITS = PackLimits()


def size_in_words(size: int) -> str:
    """Return a size such as `12 bytes`, `3.4 KiB` or `16 MiB`."""
    if size < 1024:
        return f"{size:,} bytes"
    value, unit = (size / 1024, "KiB") if size < MIB else (size / MIB, "MiB")
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


EntryKind = Literal["file", "folder"]
PathParts = tuple[str, ...]
NOTHING_WRITTEN = "Nothing was written."
FORBIDDEN = re.compile(r'[<>"|?*]')
# Characters that are invisible on a screen and that `CONTROLS` does not list.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u3164\ufe00-\ufe0f\uffa0\ufff0-\uffff"
    "\U000e0000-\U000e0fff]"
)
# Names that Node, npm or a host does not read as a package, ignoring case.
RESERVED = frozenset(
    {
        *("node_modules", "bower_components", "jspm_packages", "favicon.ico"),
        *("package.json", "package-lock.json", "npm-shrinkwrap.json", "tsconfig.json", "jsconfig.json"),
        *("hook.md", "constructor", "prototype", "hasownproperty", "isprototypeof", "propertyisenumerable"),
        *("tolocalestring", "tostring", "valueof"),
    }
)
# Letters of other alphabets that look like those in reserved names.
LOOK_ALIKES = str.maketrans("аеорсухѕіјԁһӏոԛոαικνορτυχ", "aeopcyxsijdhlnqnaiknoptux")
PROPERTIES = frozenset({"__proto__", "constructor", "prototype"})
DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PackageEntry:
    """One entry of a package, by its name."""

    name: str
    kind: EntryKind


def package_error(what: str) -> PackError:
    """Return the refusal of a package because of its content."""
    return PackError(what, NOTHING_WRITTEN)


def display_name(name: str) -> str:
    """Return a foreign name for a sentence."""
    return one_line(name, 120) or repr(name)


def checked_names(entries: Sequence[PackageEntry], limits: PackLimits) -> tuple[PathParts, ...]:
    """Return the entries' paths as parts, in order. Raises PackError for the first invalid one."""
    if len(entries) > limits.entries:
        raise package_error(
            f"The package has {len(entries):,} entries, more than the limit of {limits.entries:,}."
        )
    paths = tuple(_path_parts(entry.name, limits) for entry in entries)
    for entry, path in zip(entries, paths, strict=True):
        if entry.kind == "file" and not path:
            raise package_error(f"The entry {display_name(entry.name)} is a file without a name.")
    kinds = list(zip(paths, (entry.kind for entry in entries), strict=True))
    _check_once(kinds)
    _check_clashes(paths)
    return paths


def fault_of_name(name: str, limits: PackLimits = DEFAULT_LIMITS) -> str:
    """Return why a file or folder name is refused, as the end of a sentence; empty if it is accepted."""
    if name in ("", ".", ".."):
        return "is not a name"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "is not UTF-8"
    if has_controls(name) or "\t" in name or "\n" in name:
        return "has control characters"
    if "\\" in name:
        return "has a backslash, which separates folders on Windows"
    if ":" in name:
        return "has a colon, which names a drive or a stream on Windows"
    if found := FORBIDDEN.search(name):
        return f"has {found[0]}, which Windows does not allow in names"
    if name.rstrip(". ") != name:
        return "ends with a dot or a space, which Windows drops"
    if DEVICES.fullmatch(name.partition(".")[0].rstrip()):
        return "is the name of a device on Windows"
    if len(name.encode()) > limits.name:
        return f"has a name of more than {limits.name} bytes"
    return ""


def fault_of_pack_name(name: str) -> str:
    """Return why a pack, a hook or a dependency cannot have this name, as the end of a sentence; else "".

    The name becomes a folder beside other hooks and a key in the host's settings. Compatible forms of a
    character (full-width letters, ligatures) count as the character itself.
    """
    compatible = unicodedata.normalize("NFKC", name)
    for form in dict.fromkeys((name, compatible)):
        if fault := fault_of_name(form) or _fault_of_pack_name(form):
            return fault
    return ""


def _fault_of_pack_name(name: str) -> str:
    if INVISIBLE.search(name):
        return "has invisible characters"
    if "/" in name:
        return "has a slash"
    if name != name.strip():
        return "begins with a space"
    if name.startswith("."):
        return "begins with a dot"
    if name.startswith("-"):
        return "begins with a dash, like an option"
    if "~" in name:
        return "has a ~, which names a home folder or a short name on Windows"
    if name.startswith("__"):
        return "begins with two underscores, like internal names of JavaScript and Python"
    folded = name.casefold()
    if folded in RESERVED or folded.translate(LOOK_ALIKES) in RESERVED:
        return "has another meaning for Node, npm or the host"
    return ""


def _path_parts(name: str, limits: PackLimits) -> PathParts:
    if not name:
        raise package_error("An entry has no name.")
    if name.startswith("/"):
        raise package_error(f"The entry {display_name(name)} is an absolute path.")
    steps = [step for step in name.split("/") if step not in ("", ".")]
    if ".." in steps:
        raise package_error(f"The entry {display_name(name)} leads out of the package with `..`.")
    for step in steps:
        if fault := fault_of_name(step, limits):
            raise package_error(f"The entry {display_name(name)} {fault}.")
    if len(name.encode()) > limits.path:
        raise package_error(f"The entry {display_name(name)} has a path of more than {limits.path:,} bytes.")
    if len(steps) > limits.depth:
        raise package_error(f"The entry {display_name(name)} is more than {limits.depth} folders deep.")
    return tuple(steps)


def _check_once(entries: Iterable[tuple[PathParts, EntryKind]]) -> None:
    """Check that each file occurs once and has nothing below it."""
    files: set[PathParts] = set()
    folders: set[PathParts] = set()
    for path, kind in entries:
        if kind == "file" and path in files:
            raise package_error(f"The entry {display_name('/'.join(path))} occurs twice.")
        (files if kind == "file" else folders).add(path)
        folders.update(path[:length] for length in range(1, len(path)))
    if both := sorted(files & folders):
        raise package_error(
            f"The entry {display_name('/'.join(both[0]))} is a file, but other entries are below it."
        )


def _check_clashes(paths: Iterable[PathParts]) -> None:
    """Check that no two names are one file on a disk that ignores case or Unicode normalization."""
    known: dict[str, str] = {}
    for spelling in dict.fromkeys(_spellings(paths)):
        composed = unicodedata.normalize("NFC", spelling)
        folded = unicodedata.normalize("NFC", composed.casefold())
        other = known.setdefault(folded, spelling)
        if other == spelling:
            continue
        if unicodedata.normalize("NFC", other) == composed:
            why = "look the same but have different code points"
        else:
            why = "are the same name if case is ignored"
        raise package_error(f"The entries {display_name(other)} and {display_name(spelling)} {why}.")


def _spellings(paths: Iterable[PathParts]) -> Iterator[str]:
    for path in paths:
        for length in range(1, len(path) + 1):
            yield "/".join(path[:length])


@dataclass(slots=True)
class UnpackedSize:
    """Counts the unpacked bytes of one package. Raises PackError as soon as a limit is exceeded."""

    limits: PackLimits
    packed: int  # bytes of the archive; 0: it is not packed
    total: int = 0
    file_size: int = 0
    name: str = ""

    def begin(self, name: str) -> None:
        """Start counting bytes for this file, and for all together."""
        self.name, self.file_size = name, 0

    def count(self, size: int) -> None:
        """Count unpacked bytes. Raises PackError beyond a limit."""
        limits = self.limits
        self.file_size += size
        self.total += size
        if self.file_size > limits.file:
            raise package_error(
                f"{display_name(self.name)} is larger than {size_in_words(limits.file)} unpacked."
            )
        check_total_size(self.total, self.packed, limits)


def check_total_size(total: int, packed: int, limits: PackLimits) -> None:
    """Raise PackError if the unpacked size is too large, or far larger than the packed one."""
    if total > limits.total:
        raise package_error(f"It is larger than {size_in_words(limits.total)} unpacked.")
    if packed and total > limits.ratio_from and total > packed * limits.ratio:
        raise package_error(
            f"It unpacks to more than {limits.ratio} times its size: it may be a decompression bomb."
        )
