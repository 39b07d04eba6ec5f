"""A settings file as values, each with its place on demand."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hookscope.core.dialect import Settings
from hookscope.core.hooks import Place, Problem
from hookscope.core.surroundings import Files
from hookscope.formats import FormatError, KeyPath, locate_json5, read_json5

LARGEST = 8 * 1024 * 1024  # bytes


def read_settings(file: Path, files: Files) -> Settings:
    """The settings in `file` (JSON5); without a file, empty ones."""
    facts = files.facts(file)
    if facts is None:
        return Settings(file)
    if not facts.file or facts.size > LARGEST:
        what = f"larger than {LARGEST:,} bytes" if facts.file else "not a file"
        return Settings(file, exists=True, problems=(Problem(f"{file} is {what}", Place(file)),))
    try:
        return settings_of(file, files.read(file))
    except OSError as error:
        return Settings(file, exists=True, problems=(Problem(f"cannot read {file}: {error.strerror}"),))


def settings_of(file: Path, source: bytes) -> Settings:
    """The settings that `source` would be, if it stood in `file`."""
    try:
        value = read_json5(source)
    except FormatError as error:
        place = Place(file, error.span.line, error.span.column)
        problem = Problem(f"{file.name}, {error}; its settings count as empty until it is mended", place)
        return Settings(file, exists=True, problems=(problem,))
    if not isinstance(value, dict):
        problem = Problem(f"{file.name} wants an object at its top; its settings count as empty", Place(file))
        return Settings(file, exists=True, problems=(problem,))

    @cache
    def locate(path: KeyPath) -> Place | None:
        span = locate_json5(source, path)
        return Place(file, span.line, span.column) if span else None

    return Settings(file, value, exists=True, locate=locate)


def settings_from(value: Mapping[str, Any], file: Path) -> Settings:
    """Settings that an embedding program hands over; they stand in no file."""
    return Settings(file, value, exists=False)
