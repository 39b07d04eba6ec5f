"""The skills of an agent, and what the host says of them when it builds the project. Pure but for `Files`."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from hookscope.core.surroundings import Files, FolderItem
from hookscope.systems.streams.headers import wrong_schedule, wrong_skill
from hookscope.systems.streams.rooms import (
    LARGEST,
    MARKDOWN,
    Room,
    entries_in,
    is_file,
    is_folder,
    module_stem,
)
from hookscope.systems.streams.sources import DECLARATION, Diagnostic, FileRules, Household
from hookscope.values import dataclass

SKILLS = "skills"
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}")
NO_FOLDER = 'Expected "{folder}" to be a directory of authored skills.'
NO_SKILL = (
    'Expected "{file}" to be a skill directory containing SKILL.md or a flat ".md", ".ts", ".cts", ".mts", '
    '".js", ".cjs", or ".mjs" skill file.'
)
NO_MARKDOWN = 'Expected "{file}" to exist for the "{name}" skill.'
ILLEGAL = (
    'Skill "{path}" has an illegal name "{name}". Expected ASCII letters, digits, underscores, and '
    "dashes only, starting with a letter or digit, up to 64 characters."
)
TWICE = 'Found conflicting authored skill sources for "{name}": "{first}" and "{second}".'


@dataclass(frozen=True, slots=True)
class _Skill:
    name: str
    path: str  # as the host writes it: `skills/x/SKILL.md`


def said_of_skills(root: Path, rules: FileRules, household: Household, files: Files) -> Iterator[Diagnostic]:
    """What the host says of an agent's skills. A link to their folder is followed. Raises OSError."""
    folder = root / SKILLS
    facts = files.facts(folder)
    if facts is None:
        return
    if not facts.folder:
        yield Diagnostic("discover/skills-directory-invalid", NO_FOLDER.format(folder=folder), folder)
        return
    seen: dict[str, str] = {}
    for child in entries_in(folder, rules, files):
        found = _one(child, rules, household, files)
        if isinstance(found, Diagnostic):
            yield found
        elif found is not None:
            yield from _among(found, seen, child, household)


def _among(
    skill: _Skill, seen: dict[str, str], child: FolderItem, household: Household
) -> Iterator[Diagnostic]:
    """Its name beside those before it. Of one name two are told, and more are passed over."""
    if household.skill_names and not NAME.fullmatch(skill.name):
        text = ILLEGAL.format(path=skill.path, name=skill.name)
        yield Diagnostic("discover/skill-name-invalid", text, child.path)
    elif seen.get(skill.name) == "":
        return
    elif skill.name in seen:
        text = TWICE.format(name=skill.name, first=seen[skill.name], second=skill.path)
        seen[skill.name] = ""
        yield Diagnostic("discover/skill-collision", text, child.path.with_name(skill.name))
    else:
        seen[skill.name] = skill.path


def _one(
    child: FolderItem, rules: FileRules, household: Household, files: Files
) -> _Skill | Diagnostic | None:
    if is_folder(child):
        return _package(child, rules, household, files)
    if is_file(child) and _is_passed_over(child.name, rules):
        return None
    if is_file(child) and child.name.lower().endswith(MARKDOWN):
        wrong = wrong_skill(files.read(child.path, LARGEST), True, household)
        name = child.name[: -len(MARKDOWN)]
        return _invalid(child.path, wrong) if wrong else _Skill(name, f"{SKILLS}/{child.name}")
    stem = module_stem(child.name, rules)
    if is_file(child) and stem is not None:
        return _Skill(stem, f"{SKILLS}/{child.name}")
    return Diagnostic("discover/skill-entry-not-directory", NO_SKILL.format(file=child.path), child.path)


def _is_passed_over(name: str, rules: FileRules) -> bool:
    """A declaration, or the map of a module: the newer version makes nothing of them."""
    if not rules.declarations:
        return False
    mapped = name.removesuffix(".map") if name.endswith(".map") else ""
    return any(DECLARATION.search(one) is not None for one in (name, mapped)) or (
        bool(mapped) and module_stem(mapped, rules) is not None
    )


def _package(child: FolderItem, rules: FileRules, household: Household, files: Files) -> _Skill | Diagnostic:
    inner = entries_in(child.path, rules, files)
    names = (one.name for one in inner if is_file(one) and one.name.lower() == "skill.md")
    name = next(names, "")
    file = child.path / (name or "SKILL.md")
    if not name:
        text = NO_MARKDOWN.format(file=file, name=child.name)
        return Diagnostic("discover/skill-markdown-missing", text, child.path)
    wrong = wrong_skill(files.read(file, LARGEST), False, household)
    return _invalid(file, wrong) if wrong else _Skill(child.name, f"{SKILLS}/{child.name}/{name}")


def _invalid(file: Path, wrong: str) -> Diagnostic:
    text = f'Invalid authored skill frontmatter in "{file}": {wrong}'
    return Diagnostic("discover/skill-frontmatter-invalid", text, file)


def schedules(household: Household) -> Room:
    """The room of the root agent's schedules. A document that is none is thrown, not told."""
    return Room(
        "schedules",
        "discover/schedules-directory-invalid",
        'Expected "{folder}" to be a directory of authored schedules.',
        deep=True,
        markdown=True,
        stray_code="discover/schedule-file-unsupported",
        stray_text='Expected "{file}" to be a TypeScript or markdown schedule file within "schedules/".',
        document=partial(wrong_schedule, household=household),
    )
