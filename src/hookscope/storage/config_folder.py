"""Hookscope's config folder, a file of it read as a mapping with lines.

The `mask:` list of a configuration.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Any

from hookscope.formats.positions import FormatError, KeyPath
from hookscope.model.hook import FilePosition, Problem
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason, nearest_word, one_line
from hookscope.values import dataclass

LARGEST = 256 * 1024  # bytes: more than the reader of YAML takes


def config_folder() -> Path:
    """Hookscope's own config folder; `HOOKSCOPE_CONFIG_DIR` moves it."""
    moved = os.environ.get("HOOKSCOPE_CONFIG_DIR", "").strip()
    if moved:
        return Path(moved).expanduser().absolute()
    from platformdirs import user_config_path

    return user_config_path("hookscope")


@dataclass(frozen=True, slots=True)
class ConfigDocument:
    """A file of preferences as far as it could be read. `readable`: it is a mapping, or is not there."""

    file: Path
    source: bytes = field(default=b"", repr=False)
    value: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    is_readable: bool = True

    def line_of(self, *path: str | int) -> int:
        """The line of the name at the end of a path; 1 where there is none."""
        from hookscope.formats.yaml12 import locate_yaml  # here, and below: mostly there is no such file

        span = locate_yaml(self.source, path)
        if span is None:
            return 1
        lines = self.source.decode().split("\n")[: span.line]  # a list may begin below its name
        named = (at for at in range(len(lines), 0, -1) if str(path[-1]) in lines[at - 1])
        return next(named, span.line)

    def problem_at(self, text: str, *path: str | int) -> Problem:
        """What is wrong with the value at a path."""
        return Problem(text, FilePosition(self.file, self.line_of(*path)))

    def unknown_name_problem(self, name: str, known: Iterable[str], kind: str, path: KeyPath) -> Problem:
        """`name` is none of these; the nearest one is named."""
        match = nearest_word(name, known)
        hint = f" Did you mean {match}?" if match else ""
        return self.problem_at(f"{one_line(name, 60)} is no {kind}.{hint}", *path)


def read_config_document(file: Path) -> ConfigDocument:
    """Read a file that should hold a mapping. Never raises; no file is an empty one."""
    try:
        source = read_regular(file, LARGEST)
    except FileNotFoundError:
        return ConfigDocument(file)
    except (OSError, ValueError) as error:  # the latter: a null byte in the folder's name
        text = f"{file.name} cannot be read: {error_reason(error)}."
        return ConfigDocument(file, problems=(Problem(text, FilePosition(file, 1)),), is_readable=False)
    from hookscope.formats.yaml12 import read_yaml

    try:
        value = read_yaml(source)
    except FormatError as error:
        text = f"{file.name} is no YAML that can be read: {error.problem}."
        return ConfigDocument(
            file, problems=(Problem(text, FilePosition(file, error.span.line)),), is_readable=False
        )
    if value is None:
        return ConfigDocument(file, source)
    if not isinstance(value, dict):
        text = f"{file.name} wants a mapping: lines of `name: value`."
        return ConfigDocument(
            file, source, problems=(Problem(text, FilePosition(file, 1)),), is_readable=False
        )
    return ConfigDocument(file, source, value)


MASK_KEY = "mask"


def masked_names_in(value: object) -> tuple[str, ...]:
    """A list of names, or one name; nothing for anything else."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        return ()
    return tuple(name.strip() for name in names)
