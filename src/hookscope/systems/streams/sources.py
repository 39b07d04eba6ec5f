"""A folder of an agent's modules: which files count, their slugs, their order, and what is wrong.

Pure but for `Files`. Recorded in eve 03 to 07; rules note 3.2.
"""

import re
from dataclasses import field
from pathlib import Path

from hookscope.core.surroundings import Files, FolderItem
from hookscope.systems.streams.collation import name_key
from hookscope.values import dataclass

MODULES = (".cts", ".mts", ".cjs", ".mjs", ".ts", ".js")  # the host's own
OWN_MODULE = ".py"  # Hookscope's addition: the host does not see it
TESTS = "__tests__"
TEST_FILE = re.compile(r"\.(?:test|spec)\.[cm]?[jt]s$")
DECLARATION = re.compile(r"\.d\.(?:cts|mts|ts)$")

DEEPEST = 64  # folders in one another; nobody names a hook so, and somebody may try

ERROR, WARNING = "error", "warning"
COLLISION = "discover/module-slot-collision"
COLLISION_TEXT = 'Found multiple authored module sources for "{slot}": {files}.'


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What the host says of its sources when it builds them. Any error stops the whole build, no warning."""

    code: str
    message: str
    path: Path
    severity: str = ERROR
    wanted: Path | None = None  # the file that would mend it, where it is about one that is not there

    @property
    def text(self) -> str:
        """Code and message in one line. What the host throws has no code."""
        return f"{self.code}: {self.message}" if self.code else self.message


@dataclass(frozen=True, slots=True)
class TakenModule:
    """One module that was taken."""

    slug: str  # its path below its folder without its ending, with `/`
    path: Path
    beyond_host: bool = False


@dataclass(frozen=True, slots=True)
class Passed:
    """A file that is no module of its folder, or was refused, and why."""

    path: Path
    reason: str
    slug: str = ""
    ignored: bool = False  # it is plainly something else: nobody expects it to run


@dataclass(frozen=True, slots=True)
class ModuleFolder:
    """What a folder of modules holds. `found` in the host's order."""

    found: tuple[TakenModule, ...] = ()
    passed: tuple[Passed, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Household:
    """What an agent's folder may hold. A folder of another name is ignored, and the host says so."""

    folders: frozenset[str]
    of_root: frozenset[str]  # those of `folders` that a subagent has none of
    generated: frozenset[str] = frozenset()  # passed over without a word
    dockerfile: bool = False  # may a sandbox be a Dockerfile; the elder has a `workspace/skills` of its own
    strict_headers: bool = False  # has a Markdown header to end; where not, it may hold known keys alone
    skill_names: bool = False  # are names of skills looked at
    package: str = ""  # that the nearest package.json has to name; empty: none


@dataclass(frozen=True, slots=True)
class FileRules:
    """Which files a version of the host passes over without a word."""

    tests: bool = True  # `x.test.ts`, `x.spec.ts` and `__tests__` folders
    declarations: bool = True  # `x.d.ts`
    household: Household | None = None  # what it asks of an agent's folder as a whole; None: nothing


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of module folder and the host's words for what is wrong in it."""

    folder: str  # hooks
    pattern: re.Pattern[str]  # of each part of a slug
    name_code: str
    name_text: str  # {name}
    folder_code: str
    folder_text: str  # {folder}


@dataclass(slots=True)
class _Walk:
    """One walk through a folder. Lives as long as that walk."""

    slot: Slot
    rules: FileRules
    files: Files
    found: list[TakenModule] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def refuse(self, name: str, path: Path) -> bool:
        """Is this no legal part of a slug? Then it is said, and what lies below it is not looked at."""
        if self.slot.pattern.fullmatch(name):
            return False
        message = self.slot.name_text.format(name=name)
        self.diagnostics.append(Diagnostic(self.slot.name_code, message, path))
        self.passed.append(Passed(path, message, name))
        return True


def sources_in(root: Path, slot: Slot, rules: FileRules, files: Files) -> ModuleFolder:
    """The modules of an agent's `slot` folder. Raises OSError where a folder cannot be read.

    An absent folder holds nothing; a file or a link in its place is an error of the build (eve 07).
    """
    folder = root / slot.folder
    facts = files.facts(folder)
    if facts is None and not _is_dangling(folder, files):
        return ModuleFolder()
    if facts is None or facts.linked or not facts.folder:
        return ModuleFolder(
            diagnostics=(Diagnostic(slot.folder_code, slot.folder_text.format(folder=folder), folder),)
        )
    walk = _Walk(slot, rules, files)
    _walk(walk, folder, ())
    return ModuleFolder(tuple(walk.found), tuple(walk.passed), tuple(walk.diagnostics))


def _is_dangling(path: Path, files: Files) -> bool:
    """Is it a link that leads nowhere. Where its folder cannot be read, nothing is there."""
    try:
        return path.name in files.names(path.parent)
    except OSError:
        return False


def _walk(walk: _Walk, folder: Path, above: tuple[str, ...]) -> None:
    """Sub-folders first, then the files beside them (eve 03)."""
    children = sorted(walk.files.children(folder), key=lambda child: name_key(child.name))
    kept = [child for child in children if not _is_passed_over(walk, child)]
    for child in kept:
        if child.folder and len(above) == DEEPEST:
            walk.passed.append(Passed(child.path, f"no more than {DEEPEST} folders in one another are read"))
        elif child.folder and not walk.refuse(child.name, child.path):
            _walk(walk, child.path, (*above, child.name))
    _take_files(walk, folder, [child for child in kept if not child.folder], above)


def _is_passed_over(walk: _Walk, child: FolderItem) -> bool:
    reason = _why_ignored(child, walk.rules)
    if reason:
        walk.passed.append(Passed(child.path, f"ignored: {reason}", ignored=True))
    return bool(reason)


def _why_ignored(child: FolderItem, rules: FileRules) -> str:
    name = child.name
    if child.linked:
        return f"{name} is a link"
    if holds_tests(name, rules):
        return f"{name} holds tests"
    if child.folder:
        return ""
    if rules.declarations and DECLARATION.search(name):
        return f"{name} is a declaration"
    if stem_of(name) is None:
        return f"{Path(name).suffix or name} is no module"
    return ""


def holds_tests(name: str, rules: FileRules) -> bool:
    """Is it a file or folder of tests, which this version passes over wherever it meets one."""
    return rules.tests and (name == TESTS or TEST_FILE.search(name) is not None)


def stem_of(name: str) -> str | None:
    """A module's file name without its ending; None for what is no module."""
    for ending in (*MODULES, OWN_MODULE):
        if name.endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return None


def _take_files(walk: _Walk, folder: Path, children: list[FolderItem], above: tuple[str, ...]) -> None:
    stems: dict[str, list[FolderItem]] = {}
    for child in children:
        stems.setdefault(stem_of(child.name) or child.name, []).append(child)
    for stem in sorted(stems, key=name_key):
        hosts = [child for child in stems[stem] if not child.name.endswith(OWN_MODULE)]
        slug = "/".join((*above, stem))
        if hosts and not walk.refuse(stem, hosts[0].path):
            _take_slot(walk, folder, slug, hosts)
        for child in stems[stem]:
            if child not in hosts:
                _take_own(walk, slug, stem, child, hosts)


def _take_slot(walk: _Walk, folder: Path, slug: str, hosts: list[FolderItem]) -> None:
    if len(hosts) == 1:
        walk.found.append(TakenModule(slug, hosts[0].path))
        return
    names = ", ".join(f'"{child.name}"' for child in hosts)
    message = COLLISION_TEXT.format(slot=f"{walk.slot.folder}/{slug}", files=names)
    walk.diagnostics.append(Diagnostic(COLLISION, message, folder))
    walk.passed += [Passed(child.path, message, slug) for child in hosts]


def _take_own(walk: _Walk, slug: str, stem: str, child: FolderItem, hosts: list[FolderItem]) -> None:
    """A Python module: held to the same names, but the host never sees it, so it stops no build."""
    if not walk.slot.pattern.fullmatch(stem):
        walk.passed.append(Passed(child.path, walk.slot.name_text.format(name=stem), slug))
    elif hosts:
        walk.passed.append(Passed(child.path, f"{hosts[0].name} beside it has the same slug and wins", slug))
    else:
        walk.found.append(TakenModule(slug, child.path, beyond_host=True))
