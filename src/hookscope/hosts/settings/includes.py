"""Settings in several files: an object with `$include` is the files it names, and its own keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookscope import formats
from hookscope.formats.positions import FormatError
from hookscope.model.machine import Files
from hookscope.model.text import error_reason
from hookscope.values import dataclass

MAX_DEPTH = 10  # nesting of files
MAX_FILE_BYTES = 2 * 1024 * 1024  # size of one file
# For all files; a file counts each time it is included. The program has no such limit: it hangs if files
# include each other several times.
MAX_FILES, MAX_TOTAL_BYTES = 1_000, 16 * 1024 * 1024


class IncludeError(ValueError):
    """A file may not be included, or cannot be read: one sentence that names it."""


@dataclass(frozen=True, slots=True)
class _IncludedFile:
    """An included file with all that it includes itself, and their number and size."""

    value: Any
    files: int
    size: int  # bytes


class Includes:
    """The allowed root of included files, and the files read so far. Source: rules-openclaw section 8.

    Serves one reading. Each file is read once, however often it is included.
    """

    def __init__(self, key: str, files: Files, root: Path) -> None:
        """Resolve the key `key`; all included files must be in `root`, the real folder of the settings."""
        self._key, self._files, self._root = key, files, root
        self._read: dict[Path, Any] = {}
        self._parts: dict[tuple[Path, int], _IncludedFile] = {}
        self._taken, self._bytes = 0, 0

    def resolved(self, value: Any, file: Path, depth: int = 0) -> Any:
        """Return the value with every include replaced. `file` contains the value. Raises IncludeError."""
        if isinstance(value, list):
            return [self.resolved(item, file, depth) for item in value]
        if not isinstance(value, Mapping):
            return value
        own_members = {
            key: self.resolved(item, file, depth) for key, item in value.items() if key != self._key
        }
        if self._key not in value:
            return own_members
        named = value[self._key]
        names = named if isinstance(named, list) else [named]
        included: Any = {}
        for number, name in enumerate(names):
            if not isinstance(name, str):
                raise IncludeError(f"{self._key} in {file} wants the name of a file, or a list of names")
            part = self._included(name, file, depth + 1)
            included = part if number == 0 else merge_values(included, part)
        if own_members and not isinstance(included, Mapping):
            raise IncludeError(f"{self._key} in {file} stands beside other keys and leads to no object")
        return merge_values(included, own_members) if own_members else included

    def _included(self, name: str, file: Path, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise IncludeError(f"{file} includes {name}: more than {MAX_DEPTH} files in one another")
        path = self._files.real(file.parent / name)
        facts = self._files.facts(path)
        if not path.is_relative_to(self._root):
            raise IncludeError(f"{file} includes {name}, which is outside {self._root}")
        if facts is None or not facts.file:
            raise IncludeError(f"{file} includes {name}, which is no readable file")
        if facts.links > 1:
            raise IncludeError(f"{file} includes {name}, which is a hard link")
        if facts.size > MAX_FILE_BYTES:
            raise IncludeError(f"{file} includes {name}, which is larger than {MAX_FILE_BYTES:,} bytes")
        known = self._parts.get((path, depth))
        if known is not None:
            self._count(known.files, known.size, name, file)
            return known.value
        files, size = self._taken, self._bytes
        self._count(1, facts.size, name, file)
        try:
            if path not in self._read:
                self._read[path] = formats.read_json5(self._files.read(path))
        except OSError as error:
            raise IncludeError(
                f"{file} includes {name}, which cannot be read: {error_reason(error)}"
            ) from None
        except FormatError as error:
            raise IncludeError(f"{file} includes {name}; {error}") from None
        value = self.resolved(self._read[path], path, depth)
        self._parts[path, depth] = _IncludedFile(value, self._taken - files, self._bytes - size)
        return value

    def _count(self, files: int, size: int, name: str, file: Path) -> None:
        """Count included files and bytes. Raises IncludeError above the limits."""
        self._taken += files
        self._bytes += size
        if self._taken > MAX_FILES:
            raise IncludeError(f"{file} includes {name}: more than {MAX_FILES:,} files in all; include fewer")
        if self._bytes > MAX_TOTAL_BYTES:
            raise IncludeError(
                f"{file} includes {name}: more than {MAX_TOTAL_BYTES:,} bytes in all; include fewer"
            )


def merge_values(first: Any, second: Any) -> Any:
    """Merge objects, concatenate lists; of anything else the second value wins."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        both = {key: merge_values(first[key], second[key]) for key in first.keys() & second.keys()}
        return {**first, **second, **both}
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    return second
