"""YAML files of a workspace that hold a mapping, errors with their line, and environments among them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hookscope.app.project_config import PROJECT_FOLDER
from hookscope.formats.positions import FormatError, KeyPath
from hookscope.formats.yaml12 import locate_yaml, read_yaml
from hookscope.model.machine import RealFiles
from hookscope.model.refusal import Refusal
from hookscope.model.text import error_reason, nearest_word
from hookscope.values import dataclass

YAML_ENDINGS = (".yaml", ".yml")
LARGEST_YAML = 4 * 64 * 1024  # bytes: more than the YAML reader accepts


@dataclass(frozen=True, slots=True)
class YamlSection:
    """A mapping in a file: the whole file or a part of it."""

    file: Path
    source: bytes = field(repr=False)
    value: Mapping[str, Any]
    path: KeyPath = ()

    def refusal(self, what: str, *at: str | int, next_step: str = "") -> Refusal:
        """Return the error for the value at a path below, with file and line."""
        place = locate_yaml(self.source, (*self.path, *at)) or locate_yaml(self.source, self.path)
        line = f", line {place.line}" if place is not None else ""
        return Refusal(f"{self.file}{line}: {what}", next_step, code=2)

    def check_keys(self, known: Iterable[str], owner: str) -> None:
        """Raise Refusal for an unknown key."""
        known = list(known)
        for name in self.value:
            if name not in known:
                closest = nearest_word(name, known)
                next_step = f"Did you mean `{closest}`?" if closest else f"{owner} has {', '.join(known)}."
                raise self.refusal(f"`{name}` is no part of {owner.lower()}.", name, next_step=next_step)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return the mapping under a key; empty if there is none. Raises Refusal for anything else."""
        value = self.value.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.refusal(f"`{name}` wants a mapping.", name)
        return value

    def text(self, name: str) -> str | None:
        """Return the text under a key, numbers as text; None if there is none. Raises Refusal."""
        value = self.value.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.refusal(f"`{name}` wants a text.", name)
        return str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the list of texts under a key; empty if there is none. Raises Refusal."""
        value = self.value.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.refusal(f"`{name}` wants a list of texts.", name)
        return tuple(value)

    def sections(self, name: str) -> tuple[YamlSection, ...]:
        """Return the mappings in the list under a key. Raises Refusal if there are none."""
        value = self.value.get(name)
        if not isinstance(value, list) or not value:
            raise self.refusal(f"`{name}` wants a list of mappings.", name)
        for number, item in enumerate(value):
            if not isinstance(item, dict):
                raise self.refusal(f"`{name}` wants a list of mappings.", name, number)
        return tuple(
            YamlSection(self.file, self.source, item, (*self.path, name, number))
            for number, item in enumerate(value)
        )


def read_section(file: Path, what: str) -> YamlSection:
    """Return the file's mapping. Raises Refusal if it cannot be read; `what` says what it should be."""
    try:
        source = RealFiles().read(file, LARGEST_YAML)  # RealFiles refuses pipes, which would block
        value = read_yaml(source)
    except OSError as error:
        raise Refusal(f"Cannot read {file}: {error_reason(error)}.", "Name another file.", code=2) from None
    except FormatError as error:
        raise Refusal(f"{file}, {error}.", "Mend that line.", code=2) from None
    if not isinstance(value, dict):
        raise Refusal(f"{file} is no {what}.", code=2)
    return YamlSection(file, source, value)


def files_below(place: Path) -> Iterator[Path]:
    """Yield the YAML files in a folder and below, sorted. Unreadable folders are skipped."""
    found: list[Path] = []
    folders = [place]
    while folders:  # no recursion: folders may be nested very deeply
        try:
            children = RealFiles().children(folders.pop())
        except OSError:
            continue
        folders += [child.path for child in children if child.folder and not child.linked]
        files = (child.path for child in children if child.path.suffix in YAML_ENDINGS)
        found += [file for file in files if os.path.isfile(file)]
    yield from sorted(found)


ENVIRONMENTS_FOLDER = Path(PROJECT_FOLDER) / "environments"  # of a workspace


@dataclass(frozen=True, slots=True)
class Environment:
    """A named environment. Its values are texts, as written."""

    name: str
    file: Path
    variables: Mapping[str, str] = field(repr=False)


def environment_files(workspace: Path) -> Mapping[str, Path]:
    """Return all environments of a workspace by name, sorted. Reads none of them."""
    try:
        files = [file for file in (workspace / ENVIRONMENTS_FOLDER).iterdir() if file.suffix in YAML_ENDINGS]
    except (OSError, ValueError):  # ValueError: a null byte in the workspace's name
        return {}
    files.sort(key=lambda file: (file.stem, file.suffix == YAML_ENDINGS[0]))  # of equal names, the first wins
    return {file.stem: file for file in files if os.path.isfile(file)}


def read_workspace_environment(workspace: Path, name: str) -> Environment:
    """Return the named environment. Raises Refusal with the closest match, or the invalid line."""
    known = environment_files(workspace)
    if name not in known:
        closest = nearest_word(name, known)
        environments_text = (
            f"There are {', '.join(known)}."
            if known
            else f"A file of {workspace / ENVIRONMENTS_FOLDER} makes one."
        )
        next_step = f"Did you mean {closest}?" if closest else environments_text
        raise Refusal(f"There is no environment {name!r}.", next_step, code=2)
    section = read_section(known[name], "environment: it wants a mapping with `variables:`")
    section.check_keys(("variables",), "An environment")
    variables: dict[str, str] = {}
    for key, value in section.mapping("variables").items():
        if isinstance(value, dict | list) or value is None:
            raise section.refusal(f"`{key}` wants a text, a number, true or false.", "variables", key)
        variables[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return Environment(name, known[name], variables)


EVENTS_FOLDER = Path(PROJECT_FOLDER) / "events"  # of a workspace


SEQUENCES_FOLDER = Path(PROJECT_FOLDER) / "sequences"  # of a workspace
