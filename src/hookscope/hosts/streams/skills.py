"""Skills and schedules of an agent: files, Markdown headers, and the host's diagnostics about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from hookscope.formats.positions import FormatError
from hookscope.formats.yaml12 import read_yaml
from hookscope.hosts.streams.content_folders import (
    LARGEST,
    MARKDOWN,
    ContentFolder,
    entries_in,
    is_plain_file,
    is_plain_folder,
    module_stem,
)
from hookscope.hosts.streams.module_folders import DECLARATION, AgentLayout, Diagnostic, FileRules, diagnostic
from hookscope.model.machine import Files, FolderItem
from hookscope.values import dataclass

OPENING: Final = re.compile("\ufeff?---(?!-)([^\r\n]*)(?:\r?\n|$)")
CLOSING: Final = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
UNCLOSED: Final = "Markdown frontmatter is missing a closing delimiter."
NO_OBJECT: Final = "Markdown frontmatter must parse to an object."
INVALID_SKILL: Final = "Expected authored skill markdown to match the public eve shape."
INVALID_SCHEDULE: Final = "Expected authored schedule markdown to match the public eve shape."
SKILL_KEYS: Final = frozenset({"description", "files", "license", "markdown", "metadata", "name"})
SCHEDULE_KEYS: Final = frozenset({"cron", "markdown", "run"})


@dataclass(frozen=True, slots=True)
class _Header:
    values: dict[str, object] | None = None  # None: the document has no header
    error: str = ""


def skill_error(source: bytes, flat: bool, layout: AgentLayout) -> str:
    """Return the host's error about a skill's Markdown. A `flat` skill, `skills/x.md`, needs no header."""
    header = _read_header(source, layout)
    if header.error:
        return header.error
    if header.values is None:
        return "" if flat else "Skill markdown must start with YAML frontmatter."
    values = header.values
    description = values.get("description")
    if description is not None and not isinstance(description, str):
        return 'Expected "description" frontmatter to be a string.'
    if description is None and not flat:
        return 'Missing required "description" frontmatter.'
    if values.get("license") is not None and not isinstance(values["license"], str):
        return 'Expected "license" frontmatter to be a string.'
    if layout.strict_headers:
        deferred = values.get("deferred")
        fits = deferred is None or isinstance(deferred, bool)
        return "" if fits else 'Expected "deferred" frontmatter to be true or false.'
    return _old_skill_error(values)


def _old_skill_error(values: dict[str, object]) -> str:
    metadata = values.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return 'Expected "metadata" frontmatter to be an object.'
    for name, value in (metadata or {}).items():
        if not isinstance(value, str):
            return f'Expected "metadata.{name}" frontmatter to be a string.'
    unknown = next((name for name in values if name not in SKILL_KEYS), None)
    if unknown is not None:
        return f'{INVALID_SKILL} Unknown key "{unknown}".'
    files = values.get("files", {})
    if not isinstance(files, dict) or any(
        name in values and values[name] is None for name in ("license", "metadata")
    ):
        return INVALID_SKILL
    other = next((name for name, value in files.items() if not isinstance(value, str)), None)
    return (
        ""
        if other is None
        else f'{INVALID_SKILL} Expected skill file "{other}" to be a string or Uint8Array.'
    )


def schedule_error(source: bytes, layout: AgentLayout) -> str:
    """Return the host's error about a schedule's Markdown."""
    header = _read_header(source, layout)
    if header.error:
        return header.error
    if header.values is None:
        return 'Schedule markdown must start with YAML frontmatter declaring "cron".'
    if "run" in header.values:
        return (
            'Markdown-form schedules do not support the "run" frontmatter key. Use a TypeScript schedule '
            "(`<name>.ts`) to author a handler."
        )
    unknown = next((name for name in header.values if name not in SCHEDULE_KEYS), None)
    if unknown is not None:
        return f'{INVALID_SCHEDULE} Unknown key "{unknown}".'
    return "" if isinstance(header.values.get("cron"), str) else INVALID_SCHEDULE


def _read_header(source: bytes, layout: AgentLayout) -> _Header:
    text = source.decode(errors="replace")
    return _read_strict_header(text) if layout.strict_headers else _read_old_header(text)


def _read_strict_header(text: str) -> _Header:
    opening = OPENING.match(text)
    if opening is None:
        return _Header()
    language = opening[1].strip()
    if language and language.lower() != "yaml":
        wrong = f'Frontmatter language "{language}" is not supported. Use YAML frontmatter.'
        return _Header(error=wrong)
    closing = CLOSING.search(text, opening.end())
    if closing is None:
        return _Header(error=UNCLOSED)
    return _header_values(text[opening.end() : closing.start()])


def _read_old_header(text: str) -> _Header:
    """Read a header as gray-matter does: without a closing line, the rest of the file is the header."""
    if not text.startswith("---"):
        return _Header()
    if text[3:4] == "-":
        return _Header({})
    language, _, rest = text[3:].partition("\n")
    if language.strip().lower() in ("js", "javascript"):
        return _Header(error="JavaScript frontmatter is not supported.")
    closing = f"\n{rest}".find("\n---")
    header = _header_values(rest if closing < 0 else rest[: max(0, closing - 1)])
    fenced = text.startswith(("---\n", "---\r\n"))
    unclosed = fenced and re.search(r"\n---(?:\r?\n|\Z)", text[3:]) is None
    return _Header(error=UNCLOSED) if header.error and header.error != NO_OBJECT and unclosed else header


def _header_values(block: str) -> _Header:
    lines = (line for line in block.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    if next(lines, None) is None:
        return _Header({})
    try:
        value = read_yaml(block.encode(), limit=LARGEST)
    except FormatError as error:
        return _Header(error=str(error))
    return _Header(value) if isinstance(value, dict) else _Header(error=NO_OBJECT)


SKILLS_FOLDER = "skills"
SKILL_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class _Skill:
    name: str
    path: str  # in the host's form: `skills/x/SKILL.md`


def skill_diagnostics(
    root: Path, rules: FileRules, layout: AgentLayout, files: Files
) -> Iterator[Diagnostic]:
    """Yield the host's diagnostics for skills. A link to their folder is followed. Raises OSError."""
    folder = root / SKILLS_FOLDER
    facts = files.facts(folder)
    if facts is None:
        return
    if not facts.folder:
        yield diagnostic("skills-directory-invalid", folder, folder=folder)
        return
    seen: dict[str, str] = {}
    for child in entries_in(folder, rules, files):
        found = _check_skill(child, rules, layout, files)
        if isinstance(found, Diagnostic):
            yield found
        elif found is not None:
            yield from _check_duplicate(found, seen, child, layout)


def _check_duplicate(
    skill: _Skill, seen: dict[str, str], child: FolderItem, layout: AgentLayout
) -> Iterator[Diagnostic]:
    """Yield a diagnostic if the name is illegal or was used before; a third use is not reported."""
    if layout.checks_skill_names and not SKILL_NAME.fullmatch(skill.name):
        yield diagnostic("skill-name-invalid", child.path, path=skill.path, name=skill.name)
    elif seen.get(skill.name) == "":
        return
    elif skill.name in seen:
        first, seen[skill.name] = seen[skill.name], ""
        place = child.path.with_name(skill.name)
        yield diagnostic("skill-collision", place, name=skill.name, first=first, second=skill.path)
    else:
        seen[skill.name] = skill.path


def _check_skill(
    child: FolderItem, rules: FileRules, layout: AgentLayout, files: Files
) -> _Skill | Diagnostic | None:
    if is_plain_folder(child):
        return _check_package(child, rules, layout, files)
    if is_plain_file(child) and _is_skipped_file(child.name, rules):
        return None
    if is_plain_file(child) and child.name.lower().endswith(MARKDOWN):
        error = skill_error(files.read(child.path, LARGEST), True, layout)
        name = child.name[: -len(MARKDOWN)]
        return _invalid(child.path, error) if error else _Skill(name, f"{SKILLS_FOLDER}/{child.name}")
    stem = module_stem(child.name, rules)
    if is_plain_file(child) and stem is not None:
        return _Skill(stem, f"{SKILLS_FOLDER}/{child.name}")
    return diagnostic("skill-entry-not-directory", child.path, file=child.path)


def _is_skipped_file(name: str, rules: FileRules) -> bool:
    """Return whether this is a declaration, or a module's source map, which the newer version ignores."""
    if not rules.skips_declarations:
        return False
    mapped = name.removesuffix(".map") if name.endswith(".map") else ""
    return any(DECLARATION.search(file_name) is not None for file_name in (name, mapped)) or (
        bool(mapped) and module_stem(mapped, rules) is not None
    )


def _check_package(
    child: FolderItem, rules: FileRules, layout: AgentLayout, files: Files
) -> _Skill | Diagnostic:
    inner = entries_in(child.path, rules, files)
    names = (entry.name for entry in inner if is_plain_file(entry) and entry.name.lower() == "skill.md")
    name = next(names, "")
    file = child.path / (name or "SKILL.md")
    if not name:
        return diagnostic("skill-markdown-missing", child.path, file=file, name=child.name)
    error = skill_error(files.read(file, LARGEST), False, layout)
    return _invalid(file, error) if error else _Skill(child.name, f"{SKILLS_FOLDER}/{child.name}/{name}")


def _invalid(file: Path, error: str) -> Diagnostic:
    return diagnostic("skill-frontmatter-invalid", file, file=file, error=error)


def schedule_content(layout: AgentLayout) -> ContentFolder:
    """Return the content folder of the root agent's schedules.

    An invalid document makes the host throw instead of reporting a diagnostic.
    """
    return ContentFolder(
        "schedules",
        recursive=True,
        markdown=True,
        stray="schedule-file-unsupported",
        check_document=partial(schedule_error, layout=layout),
    )
