"""Markdown that the host reads when it builds a project: skills and schedules. What is wrong with one, or "".

Its own sentences; only what is wrong with the YAML itself is said in ours.
"""

import re
from typing import Final

from hookscope import formats
from hookscope.systems.streams.rooms import LARGEST
from hookscope.systems.streams.sources import Household
from hookscope.values import dataclass

OPENING: Final = re.compile("\ufeff?---(?!-)([^\r\n]*)(?:\r?\n|$)")
CLOSING: Final = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
UNCLOSED: Final = "Markdown frontmatter is missing a closing delimiter."
NO_OBJECT: Final = "Markdown frontmatter must parse to an object."
SKILL: Final = "Expected authored skill markdown to match the public eve shape."
SCHEDULE: Final = "Expected authored schedule markdown to match the public eve shape."
SKILL_KEYS: Final = frozenset({"description", "files", "license", "markdown", "metadata", "name"})
SCHEDULE_KEYS: Final = frozenset({"cron", "markdown", "run"})


@dataclass(frozen=True, slots=True)
class _Header:
    values: dict[str, object] | None = None  # None: the document has no header
    wrong: str = ""


def wrong_skill(source: bytes, flat: bool, household: Household) -> str:
    """What its host says of a skill's Markdown. A flat one, `skills/x.md`, needs no header."""
    header = _read(source, household)
    if header.wrong:
        return header.wrong
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
    if household.strict_headers:
        deferred = values.get("deferred")
        fits = deferred is None or isinstance(deferred, bool)
        return "" if fits else 'Expected "deferred" frontmatter to be true or false.'
    return _wrong_in_elder(values)


def _wrong_in_elder(values: dict[str, object]) -> str:
    metadata = values.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return 'Expected "metadata" frontmatter to be an object.'
    for name, value in (metadata or {}).items():
        if not isinstance(value, str):
            return f'Expected "metadata.{name}" frontmatter to be a string.'
    unknown = next((name for name in values if name not in SKILL_KEYS), None)
    if unknown is not None:
        return f'{SKILL} Unknown key "{unknown}".'
    files = values.get("files", {})
    if not isinstance(files, dict) or any(
        name in values and values[name] is None for name in ("license", "metadata")
    ):
        return SKILL
    other = next((name for name, value in files.items() if not isinstance(value, str)), None)
    return "" if other is None else f'{SKILL} Expected skill file "{other}" to be a string or Uint8Array.'


def wrong_schedule(source: bytes, household: Household) -> str:
    """What its host says of a schedule's Markdown."""
    header = _read(source, household)
    if header.wrong:
        return header.wrong
    if header.values is None:
        return 'Schedule markdown must start with YAML frontmatter declaring "cron".'
    if "run" in header.values:
        return (
            'Markdown-form schedules do not support the "run" frontmatter key. Use a TypeScript schedule '
            "(`<name>.ts`) to author a handler."
        )
    unknown = next((name for name in header.values if name not in SCHEDULE_KEYS), None)
    if unknown is not None:
        return f'{SCHEDULE} Unknown key "{unknown}".'
    return "" if isinstance(header.values.get("cron"), str) else SCHEDULE


def _read(source: bytes, household: Household) -> _Header:
    text = source.decode(errors="replace")
    return _strict(text) if household.strict_headers else _elder(text)


def _strict(text: str) -> _Header:
    opening = OPENING.match(text)
    if opening is None:
        return _Header()
    language = opening[1].strip()
    if language and language.lower() != "yaml":
        wrong = f'Frontmatter language "{language}" is not supported. Use YAML frontmatter.'
        return _Header(wrong=wrong)
    closing = CLOSING.search(text, opening.end())
    if closing is None:
        return _Header(wrong=UNCLOSED)
    return _values(text[opening.end() : closing.start()])


def _elder(text: str) -> _Header:
    """As gray-matter cuts it: without an end, all that follows is the header."""
    if not text.startswith("---"):
        return _Header()
    if text[3:4] == "-":
        return _Header({})
    language, _, rest = text[3:].partition("\n")
    if language.strip().lower() in ("js", "javascript"):
        return _Header(wrong="JavaScript frontmatter is not supported.")
    closing = f"\n{rest}".find("\n---")
    header = _values(rest if closing < 0 else rest[: max(0, closing - 1)])
    fenced = text.startswith(("---\n", "---\r\n"))
    unclosed = fenced and re.search(r"\n---(?:\r?\n|\Z)", text[3:]) is None
    return _Header(wrong=UNCLOSED) if header.wrong and header.wrong != NO_OBJECT and unclosed else header


def _values(block: str) -> _Header:
    lines = (line for line in block.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    if next(lines, None) is None:
        return _Header({})
    try:
        value = formats.read_yaml(block.encode(), limit=LARGEST)
    except formats.FormatError as error:
        return _Header(wrong=str(error))
    return _Header(value) if isinstance(value, dict) else _Header(wrong=NO_OBJECT)
