"""What an agent's folder must and must not hold, and the host's words for it. Pure but for `Files`.

Recorded in eve 22 and 23: a subagent names its own module, `agent.ts`; a folder that is none of an agent's is
ignored with a warning; schedules are the root agent's alone; an error in any room stops the build.
"""

from collections.abc import Iterator
from pathlib import Path

from hookscope.core.surroundings import Files, FolderItem
from hookscope.systems.streams.collation import name_key
from hookscope.systems.streams.fittings import said_of_connections, said_of_memory, said_of_sandbox
from hookscope.systems.streams.mounts import EXTENSIONS, said_of_files, said_of_mounts
from hookscope.systems.streams.rooms import (
    INSTRUCTIONS_FILE,
    LIB,
    entries_in,
    said_of_instructions,
    said_of_room,
    told,
)
from hookscope.systems.streams.skills import said_of_skills, schedules
from hookscope.systems.streams.sources import (
    COLLISION,
    COLLISION_TEXT,
    OWN_MODULE,
    WARNING,
    Diagnostic,
    FileRules,
    holds_tests,
    stem_of,
)

MODULE = "agent"  # the stem of the file that says what an agent is
SUBAGENTS = "subagents"
SCHEDULES = "schedules"
FIRST_INSTRUCTIONS = b"You are a helpful assistant.\n"  # of a project that has none yet
MEMORY = "memory"

NO_MODULE = (
    'Expected one authored subagent config module at "agent.ts", "agent.cts", "agent.mts", "agent.js", '
    '"agent.cjs", or "agent.mjs".'
)
UNSUPPORTED = 'Ignoring unsupported directory "{name}/" in the {root} root.'
NO_FOLDER = 'Expected "{folder}" to be a directory of authored subagents.'
NO_SCHEDULES = 'Local subagent packages cannot define schedules at "{folder}".'


def kept_in(folder: Path, rules: FileRules, files: Files) -> list[FolderItem]:
    """What lies in a folder in the host's order, without links and tests. Nothing where it cannot be read."""
    try:
        children = sorted(files.children(folder), key=lambda child: name_key(child.name))
    except OSError:
        return []
    return [child for child in children if not child.linked and not holds_tests(child.name, rules)]


def said_first(root: Path, subagent: bool, rules: FileRules, files: Files) -> tuple[Diagnostic, ...]:
    """What the host says of an agent's folder before it looks into those for channels, tools and hooks."""
    if rules.household is None or files.facts(root) is None:
        return ()
    children = kept_in(root, rules, files)

    def said() -> Iterator[Diagnostic]:
        yield from _unsupported(children, subagent, rules)
        yield from said_of_instructions(root, entries_in(root, rules, files), not subagent, rules, files)
        yield from _of_module(root, children, subagent)

    return told(said)


def said_between(root: Path, subagent: bool, rules: FileRules, files: Files) -> tuple[Diagnostic, ...]:
    """What it says behind the channels, before tools and hooks."""
    household = rules.household
    if household is None or files.facts(root) is None:
        return ()

    def said() -> Iterator[Diagnostic]:
        children = entries_in(root, rules, files)
        if not subagent:
            yield from said_of_room(LIB, root, children, rules, files)
            yield from said_of_room(schedules(household), root, children, rules, files)
        yield from said_of_connections(children, rules, files)
        if MEMORY in household.folders:
            yield from said_of_memory(root, children, rules, files)
        yield from said_of_sandbox(root, children, rules, household, files)

    return told(said)


def said_last(root: Path, subagent: bool, rules: FileRules, files: Files) -> tuple[Diagnostic, ...]:
    """What it says after hooks, and before an agent's own subagents."""
    household = rules.household
    if household is None or files.facts(root) is None:
        return ()

    def said() -> Iterator[Diagnostic]:
        children = entries_in(root, rules, files)
        if subagent:
            yield from said_of_room(LIB, root, children, rules, files)
            yield from _schedules(root, rules, files)
        elif EXTENSIONS in household.folders:
            yield from said_of_files(root, children, rules, files)
        yield from said_of_skills(root, rules, household, files)
        yield from _no_folder(root / SUBAGENTS, files)

    return told(said)


def said_after(
    root: Path, workspace: Path, subagent: bool, rules: FileRules, files: Files
) -> tuple[Diagnostic, ...]:
    """What it says when an agent's subagents are done."""
    household = rules.household
    if household is None or EXTENSIONS not in household.folders or files.facts(root) is None:
        return ()

    def said() -> Iterator[Diagnostic]:
        children = entries_in(root, rules, files)
        if subagent:
            yield from said_of_files(root, children, rules, files)
        yield from said_of_mounts(workspace, children, rules, files)

    return told(said)


def wanted_in(root: Path, rules: FileRules, files: Files) -> tuple[Path, ...]:
    """The files that a root agent lacks, without which its host builds nothing."""
    if rules.household is not None and files.facts(root) is None:
        return (root / INSTRUCTIONS_FILE,)
    return tuple(one.wanted for one in said_first(root, False, rules, files) if one.wanted is not None)


def _unsupported(children: list[FolderItem], subagent: bool, rules: FileRules) -> Iterator[Diagnostic]:
    assert rules.household is not None
    known = rules.household.folders | rules.household.generated
    known -= rules.household.of_root if subagent else frozenset()
    where = "local subagent" if subagent else "agent"
    for child in children:
        if child.folder and child.name not in known:
            text = UNSUPPORTED.format(name=child.name, root=where)
            yield Diagnostic("discover/unsupported-directory", text, child.path, WARNING)


def _of_module(root: Path, children: list[FolderItem], subagent: bool) -> Iterator[Diagnostic]:
    """One module at most, and of a subagent at least one. A Python one is Hookscope's own addition."""
    named = [child.name for child in children if stem_of(child.name) == MODULE and not child.folder]
    hosts = [name for name in named if not name.endswith(OWN_MODULE)]
    if len(hosts) > 1:
        quoted = ", ".join(f'"{name}"' for name in hosts)
        yield Diagnostic(COLLISION, COLLISION_TEXT.format(slot=MODULE, files=quoted), root)
    elif subagent and not named:
        yield Diagnostic("discover/required-subagent-config-module-missing", NO_MODULE, root)


def _schedules(root: Path, rules: FileRules, files: Files) -> Iterator[Diagnostic]:
    for child in kept_in(root, rules, files):
        if child.folder and child.name == SCHEDULES:
            text = NO_SCHEDULES.format(folder=child.path)
            yield Diagnostic("discover/local-subagent-schedules-invalid", text, child.path)


def _no_folder(folder: Path, files: Files) -> Iterator[Diagnostic]:
    """A file in place of the folder is an error; a link to a folder is none, and a dead one is nothing."""
    facts = files.facts(folder)
    if facts is not None and not facts.folder:
        yield Diagnostic("discover/subagents-directory-invalid", NO_FOLDER.format(folder=folder), folder)
