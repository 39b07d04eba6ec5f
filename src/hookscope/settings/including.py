"""Settings that stand in several files: an object with `$include` is the files it names, and its own keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookscope import formats
from hookscope.core.surroundings import Files
from hookscope.formats import FormatError
from hookscope.values import dataclass

DEPTH = 10  # files in one another
LARGEST = 2 * 1024 * 1024  # bytes of one


class IncludeError(ValueError):
    """A file that may not be included, or cannot be read: one sentence that names it."""


@dataclass(frozen=True, slots=True)
class Includes:
    """Where files may be taken from. Source: rules-openclaw section 8."""

    key: str
    files: Files
    root: Path  # the real folder that they must lie in

    def resolved(self, value: Any, file: Path, depth: int = 0) -> Any:
        """The value with every include replaced. `file` is the one that it stands in. Raises IncludeError."""
        if isinstance(value, list):
            return [self.resolved(item, file, depth) for item in value]
        if not isinstance(value, Mapping):
            return value
        own = {key: self.resolved(item, file, depth) for key, item in value.items() if key != self.key}
        if self.key not in value:
            return own
        named = value[self.key]
        names = named if isinstance(named, list) else [named]
        included: Any = {}
        for number, name in enumerate(names):
            if not isinstance(name, str):
                raise IncludeError(f"{self.key} in {file} wants the name of a file, or a list of names")
            part = self._read(name, file, depth + 1)
            included = part if number == 0 else merged(included, part)
        if own and not isinstance(included, Mapping):
            raise IncludeError(f"{self.key} in {file} stands beside other keys and leads to no object")
        return merged(included, own) if own else included

    def _read(self, name: str, file: Path, depth: int) -> Any:
        if depth > DEPTH:
            raise IncludeError(f"{file} includes {name}: more than {DEPTH} files in one another")
        path = self.files.real(file.parent / name)
        facts = self.files.facts(path)
        if not path.is_relative_to(self.root):
            raise IncludeError(f"{file} includes {name}, which is outside {self.root}")
        if facts is None or not facts.file:
            raise IncludeError(f"{file} includes {name}, which is no readable file")
        if facts.links > 1:
            raise IncludeError(f"{file} includes {name}, which is a hard link")
        if facts.size > LARGEST:
            raise IncludeError(f"{file} includes {name}, which is larger than {LARGEST:,} bytes")
        try:
            return self.resolved(formats.read_json5(self.files.read(path)), path, depth)
        except OSError as error:
            raise IncludeError(f"{file} includes {name}, which cannot be read: {error.strerror}") from None
        except FormatError as error:
            raise IncludeError(f"{file} includes {name}; {error}") from None


def merged(one: Any, other: Any) -> Any:
    """Objects are merged, lists put together; of anything else the second counts."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        both = {key: merged(one[key], other[key]) for key in one.keys() & other.keys()}
        return {**one, **other, **both}
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    return other
