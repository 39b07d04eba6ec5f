"""The options of a command or console, and everything that opening their host needs."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from hookscope.app.host_detection import (
    InstalledVersion,
    chosen_dialect,
    has_plugins,
    installed_version,
    shipped_dialect,
    version_warning,
)
from hookscope.app.project_config import (
    CONFIG,
    PROJECT_FOLDER,
    NamedProgram,
    limits_of,
    masked_names_of,
    named_program,
    plugin_hooks_of,
    read_project_config,
    retention_of,
    unknown_key_warnings,
)
from hookscope.app.whatif.assumptions import assumed_machine
from hookscope.helpers import find_program
from hookscope.host_options import HOST_OPTIONS
from hookscope.hosts.settings.host_opener import agent_names, known_agent, open_host, settings_file
from hookscope.installation import shipped_hooks
from hookscope.model.failure import Refusal
from hookscope.model.host import Dialect, InstalledPlugin, Overrides
from hookscope.model.machine import Machine, is_within
from hookscope.model.regular_file import read_regular
from hookscope.model.text import nearest_word
from hookscope.runtime.limits import Limits
from hookscope.storage.state_files import DEFAULT_RETENTION, Retention
from hookscope.values import dataclass

ENTRY_POINT_GROUP = "hookscope.plugins"


@lru_cache(maxsize=1)
def installed_plugins() -> tuple[InstalledPlugin, ...]:
    """Return the plugins in the entry point group of installed packages. Later installs need a restart."""
    if not _any_brings_plugins():
        return ()
    from importlib.metadata import distributions  # importing it takes longer than a scan

    found: dict[InstalledPlugin, None] = {}
    for package in distributions():
        with suppress(TypeError, ValueError):  # a damaged package must not hide others
            for point in package.entry_points.select(group=ENTRY_POINT_GROUP):
                with suppress(AttributeError):  # the entry point names no module
                    file, named = _module_file(point.module), point.attr.partition(".")[0]
                    if file is not None:
                        found[InstalledPlugin(point.name, file, named or "register")] = None
    return tuple(found)


def _any_brings_plugins() -> bool:
    """Return False if certainly no package uses the entry point group. True for a zip archive in sys.path."""
    for base in sys.path:
        try:
            with os.scandir(base or ".") as entries:
                found = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
        except NotADirectoryError:
            return True
        except OSError:
            continue
        if any(_names_the_group(folder) for folder in found):
            return True
    return False


def _names_the_group(folder: str) -> bool:
    try:
        return ENTRY_POINT_GROUP.encode() in read_regular(f"{folder}/entry_points.txt")
    except OSError:
        return False


def _module_file(module: str) -> Path | None:
    """Return the file of a module, without importing its parent packages as Python would."""
    parts = module.split(".")
    for base in map(Path, filter(None, sys.path)):
        for file in (base.joinpath(*parts).with_suffix(".py"), base.joinpath(*parts, "__init__.py")):
            if os.path.isfile(file):
                return file
    return None


WORKSPACE_SIGNS = ("hooks", "agent/hooks", PROJECT_FOLDER)
CHOSEN_IN_CONSOLE = "chosen in the console"  # the reason of a dialect
LINGER = 2.0  # seconds that a command waits for work that handlers leave running


@dataclass(frozen=True, slots=True)
class Options:
    """The options that every command takes. None: Hookscope detects the value."""

    dialect: str | None = None
    workspace: Path | None = None
    home: Path | None = None
    bundled: Path | None = None
    config: Path | None = None
    os: str | None = None  # what-if
    env: Mapping[str, str] = field(default_factory=dict)  # what-if: merged into the environment
    clean_env: bool = False  # what-if: a service's environment instead of this shell's
    env_from: str | None = None  # what-if: where the environment comes from; see whatif.assumptions
    path: str | None = None  # what-if: replaces PATH; with a leading `+` goes before it
    supposed: frozenset[str] = frozenset()  # options above that are part of the what-if
    as_host: bool = False  # the host's own workspace, whatever the current folder, without Hookscope's hooks
    agent: str | None = None  # the agent whose workspace is used, if the host has several
    environment: str | None = None  # the environment whose variables fill events
    dialect_reason: str = "named by --dialect"  # who named it
    bundled_trusted: bool = True  # False: the files of a workspace may have named `bundled`


def with_given(base: Options, given: Mapping[str, Any]) -> Options:
    """Return `base` with these values. None and False keep the value of `base`; variables are merged."""
    own: dict[str, Any] = {}
    for option in HOST_OPTIONS:
        value = given.get(option.name)
        if option.kind == "pairs":
            own[option.name] = {**getattr(base, option.name), **dict(value or ())}
        elif value is not None and value is not False:
            own[option.name] = value
    return replace(base, **own)


def command_on(options: Options, *words: str) -> str:
    """Return a command line for the same host. Assumed variables are excluded: they may be secrets."""
    copied: list[str] = []
    for option in HOST_OPTIONS:
        value = getattr(options, option.name) if option.is_copied else None
        if value is True:
            copied.append(option.flag)
        elif value is not None and value is not False:
            copied += (option.flag, str(value))
    return shlex.join(("hookscope", *copied, *words))


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that opening a host needs, derived from the options."""

    dialect: Dialect
    dialect_reason: str  # why this dialect
    notice: str  # for standard error; mostly empty
    machine: Machine
    overrides: Overrides
    python: NamedProgram | None = None  # the interpreter that the project's configuration names
    node: NamedProgram | None = None  # the Node that it names
    limits: Limits = Limits()
    retention: Retention = DEFAULT_RETENTION  # how much of this workspace the journal keeps
    mask: tuple[str, ...] = ()  # further names whose values are masked
    shipped: Dialect | None = None  # the shipped program that a guide is compared with
    unknown_version: str = ""  # the version that was found, if the dialect does not hold for it
    environment: str | None = None  # the environment whose variables fill events
    environment_from: str = ""  # what names it
    notes: tuple[str, ...] = ()  # ignored configuration, unknown parts of an environment
    source_files: tuple[Path, ...] = ()  # the files that it was read from


def set_up(options: Options) -> Setup:
    """Return the setup for these options. Raises Refusal if an option names something that does not exist."""
    machine, source = assumed_machine(options)
    if options.workspace is None:
        _expect_current_folder()
    workspace = options.workspace and machine.absolute(options.workspace)
    if workspace is not None and not os.path.isdir(workspace):
        raise Refusal(f"There is no folder {workspace}.", "--workspace names an agent's workspace.", code=2)
    config = options.config and machine.absolute(options.config)
    if config is not None and not os.path.exists(config):
        raise Refusal(f"There is no file {config}.", "--config names a host's settings file.", code=2)
    signs = (machine.cwd / sign for sign in WORKSPACE_SIGNS)
    is_in_workspace = any(os.path.isdir(sign) for sign in signs) or has_plugins(machine)
    if workspace is None and is_in_workspace and not options.as_host and options.agent is None:
        workspace = machine.cwd
    project = read_project_config(workspace or machine.cwd)
    dialect, dialect_reason, notice = chosen_dialect(options, project, machine)
    settings = settings_file(dialect, machine, Overrides(config=config))
    installed = installed_version(dialect, machine, settings, workspace)
    environment, environment_from = _chosen_environment(options, project)
    warning = version_warning(dialect, installed)
    setup = Setup(
        dialect=dialect,
        dialect_reason=dialect_reason,
        notice=notice,
        machine=machine,
        overrides=Overrides(
            workspace=workspace,
            bundled=bundled_folder(options, dialect, machine),
            config=config,
            own_bundled=host_bundled_folder(installed, dialect, workspace or machine.cwd),
            bundled_trusted=options.bundled_trusted,
            bundled_variable=may_name_bundled(dialect, machine),
            agent=options.agent,
            plugin_hooks=plugin_hooks_of(project),
            plugins=installed_plugins() if "plugin" in dialect.kinds else (),
        ),
        python=named_program(project, "python", workspace or machine.cwd),
        node=named_program(project, "node", workspace or machine.cwd),
        limits=limits_of(project.get("limits")),
        retention=retention_of(project.get("journal")),
        mask=masked_names_of(project),
        shipped=shipped_dialect(dialect, installed),
        unknown_version=installed.requested or installed.version if installed is not None and warning else "",
        environment=environment,
        environment_from=environment_from,
        notes=(
            *unknown_key_warnings(project),
            *((f"{warning}.",) if warning else ()),
            *(source.notes if source is not None else ()),
            *_ignored_bundled(dialect, machine),
        ),
        source_files=source.files if source is not None else (),
    )
    if options.agent is not None and not options.as_host:
        _check_agent(options.agent, setup)
    return setup


def _expect_current_folder() -> None:
    """Raise Refusal if the current folder was removed: `/` would be used instead."""
    try:
        os.getcwd()
    except OSError:
        next_step = "`cd` to an existing folder, or use --workspace DIR."
        raise Refusal("The current folder was removed.", next_step) from None


def _check_agent(agent: str, setup: Setup) -> None:
    """Raise Refusal if the settings name no such agent."""
    dialect = setup.dialect
    if dialect.layout.agents is None:
        next_step = "Leave out --agent, or name a version with --dialect."
        raise Refusal(f"The dialect {dialect.name} has no agents.", next_step, code=2)
    settings = open_host(dialect, setup.machine, setup.overrides).settings
    if known_agent(dialect, settings, agent) is None:
        known = agent_names(dialect, settings)
        closest = nearest_word(agent, known)
        agents_text = f"They have {', '.join(known)}." if known else "They have no agents."
        next_step = f"Did you mean {closest}?" if closest else agents_text
        raise Refusal(f"The settings have no agent {agent!r}.", next_step, code=2)


def host_bundled_folder(installed: InstalledVersion | None, dialect: Dialect, workspace: Path) -> Path | None:
    """Return the folder of hooks that an installed host ships, if the user's own PATH leads to it.

    A host in the workspace, or on the PATH of a what-if, is ignored.
    """
    package, where = installed.package if installed is not None else None, dialect.layout.own_bundled
    if package is None or not where or not os.path.isdir(package / where):
        return None
    program = find_program(dialect.layout.program, [workspace]) if dialect.layout.program else None
    if program is None:
        return None
    return package / where if is_within(Path(os.path.realpath(program)), package) else None


def bundled_folder(options: Options, dialect: Dialect, machine: Machine) -> Path | None:
    """Return the folder of bundled hooks: the one the options name, else Hookscope's own.

    None if the host's own variable names one, the host has none, or `as_host` is set.
    """
    if options.bundled:
        return machine.absolute(options.bundled)
    moved = may_name_bundled(dialect, machine) and machine.env.get(_bundled_variable(dialect), "").strip()
    return None if moved or options.as_host or not dialect.layout.looks_for_bundled_hooks else shipped_hooks()


def may_name_bundled(dialect: Dialect, machine: Machine) -> bool:
    """Return whether the host's variable may set the bundled-hooks folder. A what-if cannot change it."""
    named = machine.env.get(_bundled_variable(dialect))
    return not machine.assumed or (named is not None and named == os.environ.get(_bundled_variable(dialect)))


def _bundled_variable(dialect: Dialect) -> str:
    return dialect.layout.bundled_variable or ""


def _ignored_bundled(dialect: Dialect, machine: Machine) -> tuple[str, ...]:
    """Return a notice if a what-if names a folder of bundled hooks."""
    variable = _bundled_variable(dialect)
    if not variable or variable not in machine.env or may_name_bundled(dialect, machine):
        return ()
    return (f"{variable} of the what-if is ignored: `--bundled DIR` names the folder of bundled hooks.",)


def _chosen_environment(options: Options, project: Mapping[str, object]) -> tuple[str | None, str]:
    """Return the environment's name, whether or not it exists, and what names it."""
    if options.environment is not None:
        return options.environment, "named by --environment"
    named = project.get("environment")
    if named is None:
        return None, ""
    if not isinstance(named, str):
        raise Refusal(f"`environment:` in {CONFIG} needs a name.", code=2)
    return named, f"named in {CONFIG}"


def options_to_text(options: Options) -> str:
    """Return the options as ASCII text, whatever bytes a path holds."""
    return json.dumps(
        {one.name: getattr(options, one.name) for one in fields(options)}, default=_plain_option
    )


def options_from_text(text: str) -> Options:
    """Return the options in a text of `options_to_text`."""
    values = json.loads(text)
    names = (option.name for option in HOST_OPTIONS if option.kind == "path")
    folders = {name: Path(values[name]) for name in names if values[name] is not None}
    return Options(**{**values, **folders, "supposed": frozenset(values["supposed"])})


def _plain_option(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be passed to another process")
