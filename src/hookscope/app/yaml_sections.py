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
LARGEST_YAML = 4 * 64 * 1024  # bytes: more than the reader of YAML takes


@dataclass(frozen=True, slots=True)
class YamlSection:
    """A mapping in a file, the whole of it or one further in."""

    file: Path
    source: bytes = field(repr=False)
    value: Mapping[str, Any]
    path: KeyPath = ()

    def wrong(self, what: str, *at: str | int, then: str = "") -> Refusal:
        """What is wrong with the value at that path below, after the file's name and the line."""
        place = locate_yaml(self.source, (*self.path, *at)) or locate_yaml(self.source, self.path)
        line = f", line {place.line}" if place is not None else ""
        return Refusal(f"{self.file}{line}: {what}", then, code=2)

    def check_keys(self, known: Iterable[str], whose: str) -> None:
        """Raises Refusal for a key that is none of these."""
        known = list(known)
        for name in self.value:
            if name not in known:
                near = nearest_word(name, known)
                then = f"Did you mean `{near}`?" if near else f"{whose} has {', '.join(known)}."
                raise self.wrong(f"`{name}` is no part of {whose.lower()}.", name, then=then)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """The mapping under a key; empty where there is none. Raises Refusal for anything else."""
        value = self.value.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(f"`{name}` wants a mapping.", name)
        return value

    def text(self, name: str) -> str | None:
        """The text under a key, a number as text; None where there is none. Raises Refusal."""
        value = self.value.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.wrong(f"`{name}` wants a text.", name)
        return str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """The list of texts under a key; empty where there is none. Raises Refusal."""
        value = self.value.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(f"`{name}` wants a list of texts.", name)
        return tuple(value)

    def sections(self, name: str) -> tuple[YamlSection, ...]:
        """The mappings of the list under a key. Raises Refusal where there is none."""
        value = self.value.get(name)
        if not isinstance(value, list) or not value:
            raise self.wrong(f"`{name}` wants a list of mappings.", name)
        for number, item in enumerate(value):
            if not isinstance(item, dict):
                raise self.wrong(f"`{name}` wants a list of mappings.", name, number)
        return tuple(
            YamlSection(self.file, self.source, item, (*self.path, name, number))
            for number, item in enumerate(value)
        )


def read_section(file: Path, what: str) -> YamlSection:
    """The file as a mapping. Raises Refusal where it cannot be read; `what` says what it should be."""
    try:
        source = RealFiles().read(file, LARGEST_YAML)  # a pipe of that name would be waited for
        value = read_yaml(source)
    except OSError as error:
        raise Refusal(f"Cannot read {file}: {error_reason(error)}.", "Name another file.", code=2) from None
    except FormatError as error:
        raise Refusal(f"{file}, {error}.", "Mend that line.", code=2) from None
    if not isinstance(value, dict):
        raise Refusal(f"{file} is no {what}.", code=2)
    return YamlSection(file, source, value)


def files_below(place: Path) -> Iterator[Path]:
    """The YAML files in a folder and in those below it, in order. What cannot be read is passed over."""
    found: list[Path] = []
    folders = [place]
    while folders:  # no recursion: folders may lie in one another without end
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
    """One that was read. Its values are texts, taken as they are written."""

    name: str
    file: Path
    variables: Mapping[str, str] = field(repr=False)


def environment_files(workspace: Path) -> Mapping[str, Path]:
    """All environments of a workspace by name, in order, none of them read."""
    try:
        files = [file for file in (workspace / ENVIRONMENTS_FOLDER).iterdir() if file.suffix in YAML_ENDINGS]
    except (OSError, ValueError):  # the latter: a null byte in the workspace's name
        return {}
    files.sort(key=lambda file: (file.stem, file.suffix == YAML_ENDINGS[0]))  # of two of one name, the former
    return {file.stem: file for file in files if os.path.isfile(file)}


def read_workspace_environment(workspace: Path, name: str) -> Environment:
    """The environment of that name. Raises Refusal that names the nearest one, or the line that is wrong."""
    known = environment_files(workspace)
    if name not in known:
        near = nearest_word(name, known)
        there = (
            f"There are {', '.join(known)}."
            if known
            else f"A file of {workspace / ENVIRONMENTS_FOLDER} makes one."
        )
        then = f"Did you mean {near}?" if near else there
        raise Refusal(f"There is no environment {name!r}.", then, code=2)
    section = read_section(known[name], "environment: it wants a mapping with `variables:`")
    section.check_keys(("variables",), "An environment")
    variables: dict[str, str] = {}
    for key, value in section.mapping("variables").items():
        if isinstance(value, dict | list) or value is None:
            raise section.wrong(f"`{key}` wants a text, a number, true or false.", "variables", key)
        variables[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return Environment(name, known[name], variables)


EVENTS_FOLDER = Path(PROJECT_FOLDER) / "events"  # of a workspace


SEQUENCES_FOLDER = Path(PROJECT_FOLDER) / "sequences"  # of a workspace
