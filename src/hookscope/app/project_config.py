"""A project's own configuration, `.hookscope/config.yaml`, and the interpreters that it names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal

from hookscope.formats.positions import FormatError, KeyPath
from hookscope.formats.yaml12 import locate_yaml, read_yaml
from hookscope.model.failure import Refusal
from hookscope.model.hook import Language
from hookscope.model.host import Host
from hookscope.model.machine import RealFiles, is_within, read_or_none, real_machine, walk_folders
from hookscope.model.text import error_reason, has_controls, nearest_word, one_line, shell_path
from hookscope.model.trust import is_folder_trusted
from hookscope.runtime.limits import MIB, LimitName, Limits
from hookscope.storage.state_files import DEFAULT_RETENTION, MASK_KEY, Retention, masked_names_in
from hookscope.values import dataclass

PROJECT_FOLDER = ".hookscope"
CONFIG = f"{PROJECT_FOLDER}/config.yaml"
CONFIG_KEYS = ("dialect", "environment", "python", "node", "limits", "journal", "plugin_hooks", "mask")
LARGEST = 256 * 1024  # bytes: more than the YAML reader accepts
LARGEST_NUMBER = 2**62  # a number that a database can hold
LIMIT_NAMES: tuple[LimitName, ...] = ("spawn", "load", "run", "warn", "memory")


def read_project_config(folder: Path) -> Mapping[str, object]:
    """Return a project's `.hookscope/config.yaml`; empty if there is none. Raises Refusal."""
    file = folder / CONFIG
    try:
        source = read_or_none(file, LARGEST)
        config = read_yaml(source) if source is not None else None
    except OSError as error:
        raise Refusal(
            f"Cannot read {file}: {error_reason(error)}.", "Make it readable, or move it away.", code=2
        ) from None
    except FormatError as error:
        raise Refusal(f"{file}, {error}.", "Fix that line.", code=2) from None
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise Refusal(f"{file} needs a mapping, such as `dialect: NAME`.", code=2)
    return config


def unknown_key_warnings(project: Mapping[str, object]) -> tuple[str, ...]:
    """Return a warning for each unknown key: a typo, or a key of a newer version."""
    return tuple(_unknown_key_warning(str(key)) for key in project if key not in CONFIG_KEYS)


def _unknown_key_warning(key: str) -> str:
    closest = nearest_word(key, CONFIG_KEYS)
    next_step = f"did you mean `{closest}:`?" if closest else f"valid keys are {', '.join(CONFIG_KEYS)}."
    return f"{CONFIG} has `{one_line(key, 60)}:`, which has no effect; {next_step}"


def plugin_hooks_of(project: Mapping[str, object]) -> tuple[Mapping[str, object], ...]:
    """Return the project's `plugin_hooks:`. Raises Refusal; the entries are checked later."""
    listed = project.get("plugin_hooks")
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        shape = "a list of mappings with `event` and `module`"
        raise Refusal(f"`plugin_hooks:` in {CONFIG} needs {shape}.", code=2)
    return tuple(listed)


def masked_names_of(project: Mapping[str, object]) -> tuple[str, ...]:
    """Return the project's `mask:`: names whose values are masked. Raises Refusal."""
    listed = project.get(MASK_KEY)
    names = masked_names_in(listed)
    if listed is not None and not names and listed != []:
        raise Refusal(f"`{MASK_KEY}:` in {CONFIG} needs a list of names, such as [CUSTOMER_ID].", code=2)
    return names


def limits_of(value_of_limits: object) -> Limits:
    """Return the project's `limits:`, in seconds, `memory` in MiB; 0: no limit. Raises Refusal."""
    limits = Limits()
    if value_of_limits is None:
        return limits
    names = ", ".join(LIMIT_NAMES)
    if not isinstance(value_of_limits, dict):
        raise Refusal(f"`limits:` in {CONFIG} needs a mapping with some of {names}.", code=2)
    for name, value in value_of_limits.items():
        if name not in LIMIT_NAMES:
            raise Refusal(f"`limits:` in {CONFIG} has {str(name)!r}; valid names are {names}.", code=2)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value < float("inf"):
            unit = "MiB" if name == "memory" else "seconds"
            raise Refusal(f"`limits: {{{name}: …}}` in {CONFIG} needs {unit}, 0 for no limit.", code=2)
        limits = limits.with_limit(name, value * MIB if name == "memory" else value, CONFIG)
    return limits


def retention_of(value_of_journal: object) -> Retention:
    """Return the project's `journal:` limits: `size` in MiB, `runs`. Raises Refusal."""
    if value_of_journal is None:
        return DEFAULT_RETENTION
    if not isinstance(value_of_journal, dict):
        raise Refusal(f"`journal:` in {CONFIG} must be a mapping with `size`, `runs` or both.", code=2)
    retention = DEFAULT_RETENTION
    for name, value in value_of_journal.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if name == "runs" and whole and 0 < value < LARGEST_NUMBER:
            retention = replace(retention, runs=value)
        elif name == "size" and (whole or isinstance(value, float)) and 0 < value * MIB < LARGEST_NUMBER:
            retention = replace(retention, size=int(value * MIB))
        elif name not in ("size", "runs"):
            raise Refusal(f"`journal:` in {CONFIG} has {str(name)!r}; valid names are size, runs.", code=2)
        else:
            wants = "a size in MiB" if name == "size" else "a number of runs"
            raise Refusal(f"`journal: {{{name}: …}}` in {CONFIG} needs {wants}, above 0.", code=2)
    return retention


ProgramKey = Literal["python", "node"]
PROGRAM_KEYS: tuple[ProgramKey, ...] = ("python", "node")
LANGUAGES: Mapping[ProgramKey, tuple[Language, ...]] = {
    "python": ("python",),
    "node": ("typescript", "javascript"),
}


@dataclass(frozen=True, slots=True)
class NamedProgram:
    """An interpreter that a workspace's `.hookscope/config.yaml` names."""

    key: ProgramKey
    path: str
    workspace: Path

    def is_trusted(self, host: Host) -> bool:
        """Return whether the real folder of the workspace is trusted."""
        return is_folder_trusted(Path(os.path.realpath(self.workspace)), host)

    @property
    def description(self) -> str:
        """The program and where it is named."""
        return f"{self.path} (`{self.key}:` in {CONFIG})"

    @property
    def untrusted_reason(self) -> str:
        """Why it is not used, without the next step."""
        return f"{self.path}, named under `{self.key}:` in {CONFIG}, is not trusted yet"

    @property
    def trust_hint(self) -> str:
        """The command that allows it, as the end of a sentence."""
        folder = real_machine().short(self.workspace)
        return f"`hookscope trust {shell_path(folder)}` allows it"


def named_program(project: Mapping[str, object], key: ProgramKey, workspace: Path) -> NamedProgram | None:
    """Return the program that a project's configuration names under `key`, or None. Raises Refusal.

    `~` is the user's real home even in a what-if, since a what-if never chooses a program.
    """
    path = project.get(key)
    if path is None:
        return None
    if not isinstance(path, str) or not path.strip() or "\n" in path or has_controls(path):
        raise Refusal(f"`{key}:` in {CONFIG} must be the path of a program, not {path!r}.", code=2)
    return NamedProgram(key, str(real_machine().absolute(path, workspace)), workspace)


def programs_named_by(folders: Iterable[Path]) -> tuple[NamedProgram, ...]:
    """Return the programs that these folders' configurations name, for the trust question.

    Skips an invalid configuration: commands report it themselves.
    """
    found: dict[NamedProgram, None] = {}
    for folder in folders:
        try:
            project = read_project_config(folder)
            named = (named_program(project, key, folder) for key in PROGRAM_KEYS)
            found |= dict.fromkeys(one for one in named if one is not None)
        except Refusal:
            continue
    return tuple(found)


def programs_allowed_by(folder: Path, known: Iterable[NamedProgram | None]) -> tuple[NamedProgram, ...]:
    """Return the programs that trusting `folder` would allow: its own, and `known` ones of folders below."""
    real = Path(os.path.realpath(folder))
    below = (one for one in known if one and is_within(Path(os.path.realpath(one.workspace)), real))
    found = {(one.key, one.path): one for one in (*programs_named_by([folder]), *below)}
    return tuple(found.values())


def waiting_programs(known: Iterable[NamedProgram | None], host: Host) -> Mapping[Language, NamedProgram]:
    """Return the untrusted `known` programs by the languages that they run."""
    waiting = [one for one in known if one is not None and not one.is_trusted(host)]
    return {language: one for one in waiting for language in LANGUAGES[one.key]}


YAML_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class YamlSection:
    """A mapping in a file: the whole file or a part of it."""

    file: Path
    source: bytes = field(repr=False)
    value: Mapping[str, Any]
    path: KeyPath = ()

    def refusal(self, what: str, *at: str | int, next_step: str = "") -> Refusal:
        """Return the error for the value at the path `at` in this section, with file and line."""
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
                raise self.refusal(f"`{name}` is not part of {owner.lower()}.", name, next_step=next_step)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return the mapping under a key; empty if there is none. Raises Refusal for anything else."""
        value = self.value.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.refusal(f"`{name}` needs a mapping.", name)
        return value

    def text(self, name: str) -> str | None:
        """Return the string under a key, numbers as strings; None if there is none. Raises Refusal."""
        value = self.value.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.refusal(f"`{name}` must be a string.", name)
        return str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the list of strings under a key; empty if there is none. Raises Refusal."""
        value = self.value.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.refusal(f"`{name}` needs a list of strings.", name)
        return tuple(value)

    def sections(self, name: str) -> tuple[YamlSection, ...]:
        """Return the mappings in the list under a key. Raises Refusal if there are none."""
        value = self.value.get(name)
        if not isinstance(value, list) or not value:
            raise self.refusal(f"`{name}` needs a list of mappings.", name)
        for number, item in enumerate(value):
            if not isinstance(item, dict):
                raise self.refusal(f"`{name}` needs a list of mappings.", name, number)
        return tuple(
            YamlSection(self.file, self.source, item, (*self.path, name, number))
            for number, item in enumerate(value)
        )


def read_section(file: Path, what: str) -> YamlSection:
    """Return the file's mapping. Raises Refusal if it cannot be read; `what` is the expected content."""
    try:
        source = RealFiles().read(file, LARGEST)  # RealFiles refuses pipes, which would block
        value = read_yaml(source)
    except OSError as error:
        raise Refusal(f"Cannot read {file}: {error_reason(error)}.", "Name another file.", code=2) from None
    except FormatError as error:
        raise Refusal(f"{file}, {error}.", "Fix that line.", code=2) from None
    if not isinstance(value, dict):
        raise Refusal(f"{file} is not {what}.", code=2)
    return YamlSection(file, source, value)


def files_below(place: Path) -> Iterator[Path]:
    """Yield the YAML files in a folder and below, sorted. Unreadable folders are skipped."""
    found = ((folder, name) for folder, names in walk_folders(place) for name in names)
    files = (Path(folder, name) for folder, name in found if name.endswith(YAML_ENDINGS))
    yield from sorted(file for file in files if file.suffix in YAML_ENDINGS and os.path.isfile(file))


ENVIRONMENTS_FOLDER = Path(PROJECT_FOLDER) / "environments"  # of a workspace


@dataclass(frozen=True, slots=True)
class Environment:
    """A named environment. Its values are strings, as written."""

    name: str
    file: Path
    variables: Mapping[str, str] = field(repr=False)


def environment_files(workspace: Path) -> Mapping[str, Path]:
    """Return the files of all environments of a workspace by name, sorted. Reads no file."""
    try:
        files = [file for file in (workspace / ENVIRONMENTS_FOLDER).iterdir() if file.suffix in YAML_ENDINGS]
    except (OSError, ValueError):  # ValueError: a null byte in the workspace's name
        return {}
    files.sort(key=lambda file: (file.stem, file.suffix == YAML_ENDINGS[0]))  # `.yaml` wins
    return {file.stem: file for file in files if os.path.isfile(file)}


def read_workspace_environment(workspace: Path, name: str) -> Environment:
    """Return the named environment. Raises Refusal with the closest match, or the invalid line."""
    known = environment_files(workspace)
    if name not in known:
        closest = nearest_word(name, known)
        environments_text = (
            f"The environments are {', '.join(known)}."
            if known
            else f"Create one as a file in {workspace / ENVIRONMENTS_FOLDER}."
        )
        next_step = f"Did you mean {closest}?" if closest else environments_text
        raise Refusal(f"There is no environment {name!r}.", next_step, code=2)
    section = read_section(known[name], "an environment: it needs a mapping with `variables:`")
    section.check_keys(("variables",), "An environment")
    variables: dict[str, str] = {}
    for key, value in section.mapping("variables").items():
        if isinstance(value, dict | list) or value is None:
            raise section.refusal(f"`{key}` must be a string, a number, true or false.", "variables", key)
        variables[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return Environment(name, known[name], variables)


EVENTS_FOLDER = Path(PROJECT_FOLDER) / "events"  # of a workspace

SEQUENCES_FOLDER = Path(PROJECT_FOLDER) / "sequences"  # of a workspace
