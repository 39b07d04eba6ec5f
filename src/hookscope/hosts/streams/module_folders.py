"""Folders of an agent's modules: which files are modules, and in which order (eve 03 to 07)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from hookscope.formats.yaml12 import read_own_yaml
from hookscope.model.machine import Files, FolderItem
from hookscope.values import dataclass

# Signs in the order of the CLDR root collation. Digits and letters follow them.
SIGNS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
RANK_OF_SIGN = {sign: place for place, sign in enumerate(SIGNS)}
DIGIT, LETTER, OTHER = 1, 2, 3
# Letters that the collation decomposes, but Unicode normalization does not.
WRITTEN_AS = str.maketrans(
    {
        "ß": "ss\u035c",
        "ẞ": "SS\u035c",
        "æ": "ae\u035c",
        "Æ": "AE\u035c",
        "œ": "oe\u035c",
        "Œ": "OE\u035c",
        "ø": "o\u0338",
        "Ø": "O\u0338",
        "đ": "d\u0335",
        "Đ": "D\u0335",
        "ł": "l\u0335",
        "Ł": "L\u0335",
    }
)

NameKey: TypeAlias = tuple[tuple[tuple[int, int], ...], tuple[str, ...], tuple[bool, ...]]


def collation_key(name: str) -> NameKey:
    """Return the sort key of a name: its letters, then its accents, then its case.

    Exact for ASCII. Letters of other scripts are sorted by code point.
    """
    letters: list[tuple[int, int]] = []
    accents: list[str] = []
    capitals: list[bool] = []
    for character in unicodedata.normalize("NFKD", name.translate(WRITTEN_AS)):
        if unicodedata.combining(character):
            if accents:
                accents[-1] += character
            continue
        letters.append(_rank(character))
        accents.append("")
        capitals.append(character != character.lower())
    return tuple(letters), tuple(accents), tuple(capitals)


def _rank(character: str) -> tuple[int, int]:
    if character in RANK_OF_SIGN:
        return 0, RANK_OF_SIGN[character]
    if character.isdecimal():
        return DIGIT, unicodedata.decimal(character)
    small = character.lower()[:1] or character
    return (LETTER if character.isalpha() else OTHER), ord(small)


MODULE_SUFFIXES = (".cts", ".mts", ".cjs", ".mjs", ".ts", ".js")  # the host's own
PYTHON_SUFFIX = ".py"  # Hookscope's addition: the host ignores it
TESTS_FOLDER = "__tests__"
TEST_FILE = re.compile(r"\.(?:test|spec)\.[cm]?[jt]s$")
DECLARATION = re.compile(r"\.d\.(?:cts|mts|ts)$")

MAX_DEPTH = 64  # nested folders; a limit against abuse

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A host's message about a project's sources. An error stops the whole build, a warning does not."""

    code: str
    message: str
    path: Path
    severity: str = ERROR
    missing_file: Path | None = None  # if the error is that a file is missing: this file

    @property
    def text(self) -> str:
        """Return code and message in one line. Errors that the host throws have no code."""
        return f"{self.code}: {self.message}" if self.code else self.message


@cache
def _diagnostic_texts() -> Any:
    return read_own_yaml(Path(__file__).with_name("diagnostics.yaml").read_bytes())


def diagnostic(
    case: str, place: Path, /, severity: str = ERROR, missing_file: Path | None = None, **parts: object
) -> Diagnostic:
    """Return the diagnostic of `diagnostics.yaml` for this case, with its text filled in."""
    code, text = f"discover/{case.partition(',')[0]}", _diagnostic_texts()[case].format(**parts)
    return Diagnostic(code, text, place, severity, missing_file)


@dataclass(frozen=True, slots=True)
class FoundModule:
    """A file that is a module of its folder."""

    slug: str  # its path below the module folder without the suffix, with `/`
    path: Path
    beyond_host: bool = False


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not a module of its folder, or was refused, and why."""

    path: Path
    reason: str
    slug: str = ""
    ignored: bool = False  # clearly something else: nobody expects it to run


@dataclass(frozen=True, slots=True)
class ModuleFolder:
    """The contents of a module folder. `found` is in the host's order."""

    found: tuple[FoundModule, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentLayout:
    """What an agent's folder may hold. Folders with other names are ignored, with a warning of the host."""

    folders: frozenset[str]
    root_only: frozenset[str]  # those of `folders` that a subagent may not have
    ignored_folders: frozenset[str] = frozenset()  # ignored without a message
    allows_dockerfile: bool = (
        False  # whether a sandbox may be a Dockerfile; else `workspace/skills` is reserved
    )
    strict_headers: bool = False  # whether a Markdown header must be closed; if not, unknown keys are errors
    checks_skill_names: bool = False  # whether names of skills are checked
    required_package: str = ""  # a dependency that the nearest package.json must have; empty: none


@dataclass(frozen=True, slots=True)
class FileRules:
    """Which files a version of the host ignores without a message."""

    skips_tests: bool = True  # `x.test.ts`, `x.spec.ts` and `__tests__` folders
    skips_declarations: bool = True  # `x.d.ts`
    layout: AgentLayout | None = None  # the required layout of an agent's folder; None: none


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of module folder."""

    folder: str  # hooks
    noun: str  # hook
    pattern: re.Pattern[str]  # of each part of a slug

    def name_fault(self, name: str, path: Path) -> Diagnostic:
        """Return the host's diagnostic about an illegal name."""
        return diagnostic(f"{self.noun}-name-invalid", path, name=name)


@dataclass(slots=True)
class _Walk:
    """One walk through a folder. Lives as long as the walk."""

    slot: Slot
    rules: FileRules
    files: Files
    found: list[FoundModule] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def reject(self, name: str, path: Path) -> bool:
        """Return whether `name` is no legal slug part; if so, record it. Refused folders are not read."""
        if self.slot.pattern.fullmatch(name):
            return False
        fault = self.slot.name_fault(name, path)
        self.diagnostics.append(fault)
        self.skipped.append(SkippedFile(path, fault.message, name))
        return True


def modules_in(root: Path, slot: Slot, rules: FileRules, files: Files) -> ModuleFolder:
    """Return the modules in an agent's `slot` folder.

    An absent folder is empty; a file or a link in its place is an error of the build (eve 07).
    Raises OSError if a folder cannot be read.
    """
    folder = root / slot.folder
    facts = files.facts(folder)
    if facts is None and not _is_dangling(folder, files):
        return ModuleFolder()
    if facts is None or facts.linked or not facts.folder:
        fault = diagnostic(f"{slot.folder}-directory-invalid", folder, folder=folder)
        return ModuleFolder(diagnostics=(fault,))
    walk = _Walk(slot, rules, files)
    _walk(walk, folder, ())
    return ModuleFolder(tuple(walk.found), tuple(walk.skipped), tuple(walk.diagnostics))


def _is_dangling(path: Path, files: Files) -> bool:
    """Return whether a path without a target is a dangling link; False if its folder cannot be read."""
    try:
        return path.name in files.names(path.parent)
    except OSError:
        return False


def _walk(walk: _Walk, folder: Path, parents: tuple[str, ...]) -> None:
    """Visit subfolders first, then the files beside them (eve 03)."""
    children = sorted(walk.files.children(folder), key=lambda child: collation_key(child.name))
    kept = [child for child in children if not _is_skipped(walk, child)]
    for child in kept:
        if child.folder and len(parents) == MAX_DEPTH:
            walk.skipped.append(
                SkippedFile(child.path, f"folders nested more than {MAX_DEPTH} deep are not read")
            )
        elif child.folder and not walk.reject(child.name, child.path):
            _walk(walk, child.path, (*parents, child.name))
    _take_files(walk, folder, [child for child in kept if not child.folder], parents)


def _is_skipped(walk: _Walk, child: FolderItem) -> bool:
    reason = _why_ignored(child, walk.rules)
    if reason:
        walk.skipped.append(SkippedFile(child.path, f"ignored: {reason}", ignored=True))
    return bool(reason)


def _why_ignored(child: FolderItem, rules: FileRules) -> str:
    name = child.name
    if child.linked:
        return f"{name} is a link"
    if is_test_name(name, rules):
        return f"{name} contains tests"
    if child.folder:
        return ""
    if rules.skips_declarations and DECLARATION.search(name):
        return f"{name} is a declaration"
    if stem_of_module(name) is None:
        return f"{Path(name).suffix or name} is not a module"
    return ""


def is_test_name(name: str, rules: FileRules) -> bool:
    """Return whether the host ignores this file or folder everywhere because it contains tests."""
    return rules.skips_tests and (name == TESTS_FOLDER or TEST_FILE.search(name) is not None)


def stem_of_module(name: str) -> str | None:
    """Return a module's file name without its suffix; None if the file is not a module."""
    for ending in (*MODULE_SUFFIXES, PYTHON_SUFFIX):
        if name.endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return None


def _take_files(walk: _Walk, folder: Path, children: list[FolderItem], parents: tuple[str, ...]) -> None:
    stems: dict[str, list[FolderItem]] = {}
    for child in children:
        stems.setdefault(stem_of_module(child.name) or child.name, []).append(child)
    for stem in sorted(stems, key=collation_key):
        host_files = [child for child in stems[stem] if not child.name.endswith(PYTHON_SUFFIX)]
        slug = "/".join((*parents, stem))
        if host_files and not walk.reject(stem, host_files[0].path):
            _take_slot(walk, folder, slug, host_files)
        for child in stems[stem]:
            if child not in host_files:
                _take_python(walk, slug, stem, child, host_files)


def _take_slot(walk: _Walk, folder: Path, slug: str, host_files: list[FolderItem]) -> None:
    if len(host_files) == 1:
        walk.found.append(FoundModule(slug, host_files[0].path))
        return
    names = ", ".join(f'"{child.name}"' for child in host_files)
    fault = diagnostic("module-slot-collision", folder, slot=f"{walk.slot.folder}/{slug}", files=names)
    walk.diagnostics.append(fault)
    walk.skipped += [SkippedFile(child.path, fault.message, slug) for child in host_files]


def _take_python(walk: _Walk, slug: str, stem: str, child: FolderItem, host_files: list[FolderItem]) -> None:
    """Accept or skip a Python module. The same name rules apply, but it never stops the host's build."""
    if not walk.slot.pattern.fullmatch(stem):
        walk.skipped.append(SkippedFile(child.path, walk.slot.name_fault(stem, child.path).message, slug))
    elif host_files:
        walk.skipped.append(
            SkippedFile(child.path, f"{host_files[0].name} beside it takes precedence: the same slug", slug)
        )
    else:
        walk.found.append(FoundModule(slug, child.path, beyond_host=True))


MODULE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
CHANNEL_NAME = re.compile(r"\.?[a-z][a-z0-9-]{0,63}|\[[a-zA-Z][a-zA-Z0-9_]{0,63}\]")
CONNECTION_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
HOOKS_SLOT = Slot("hooks", "hook", MODULE_NAME)
TOOLS_SLOT = Slot("tools", "tool", MODULE_NAME)
CHANNELS_SLOT = Slot("channels", "channel", CHANNEL_NAME)
