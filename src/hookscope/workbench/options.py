"""What the user says on the command line, and the host that it leads to."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from hookscope.core.dialect import Choices, Dialect
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import nearest
from hookscope.journal.retention import KEPT, Retention
from hookscope.runtime.limits import Limits
from hookscope.settings.opening import agents_of, open_host, settings_file
from hookscope.values import dataclass
from hookscope.workbench.installed import Installed, installed
from hookscope.workbench.packages import installed_plugins
from hookscope.workbench.project import (
    CONFIG,
    PROJECT_FOLDER,
    ignored_config,
    limits_of,
    plugin_hooks_of,
    program_of,
    project_config,
    retention_of,
    unknown_in,
)
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.whatif.assuming import assumed_surroundings
from hookscope.workbench.which_host import chosen_dialect, has_plugins, shipped_of

WORKSPACE_SIGNS = ("hooks", "agent/hooks", PROJECT_FOLDER)
LINGER = 2.0  # seconds that a command waits for what handlers leave running behind their answers
PLATFORMS = ("linux", "darwin", "win32")


@dataclass(frozen=True, slots=True)
class Options:
    """The options that every command takes. None: found out."""

    dialect: str | None = None
    workspace: Path | None = None
    home: Path | None = None
    bundled: Path | None = None
    config: Path | None = None
    os: str | None = None  # what-if
    env: Mapping[str, str] = field(default_factory=dict)  # what-if, laid over the environment
    clean_env: bool = False  # what-if: a service's environment instead of this shell's
    env_from: str | None = None  # what-if: where the environment comes from; see whatif.sources
    path: str | None = None  # what-if: in place of PATH; with a `+` in front of it
    supposed: frozenset[str] = frozenset()  # of the choices above, those that are a what-if too
    as_host: bool = False  # the host's own workspace, wherever one stands, and no hooks of Hookscope's
    agent: str | None = None  # whose workspace, where the host has several agents
    environment: str | None = None  # whose variables events are filled with


NAMED = ("dialect", "workspace", "home", "bundled", "config", "agent", "os", "path", "env_from")


def command_on(options: Options, *words: str) -> str:
    """A command to copy, on the same host as this one. Assumed variables stay out: they may be secrets."""
    given = ((f"--{name.replace('_', '-')}", getattr(options, name)) for name in NAMED)
    named = [part for flag, value in given if value is not None for part in (flag, str(value))]
    return shlex.join(("hookscope", *named, *words))


@dataclass(frozen=True, slots=True)
class Setup:
    """What the options lead to: everything that opening a host needs."""

    dialect: Dialect
    because: str  # why this dialect
    notice: str  # to be said on standard error; empty mostly
    surroundings: Surroundings
    choices: Choices
    python: str | None = None  # the interpreter that the project's configuration names
    node: str | None = None  # the Node that it names
    limits: Limits = Limits()
    retention: Retention = KEPT  # how much of this workspace the journal keeps
    shipped: Dialect | None = None  # what a guide is compared with
    environment: str | None = None  # whose variables events are filled with
    environment_from: str = ""  # what names it
    notes: tuple[str, ...] = ()  # what the configuration says in vain, what is not known of an environment
    read_from: tuple[Path, ...] = ()  # the files that it was read from


def set_up(options: Options) -> Setup:
    """Find out the rest. Raises Refusal where an option names what is not there."""
    surroundings, source = assumed_surroundings(options)
    if options.workspace is None:
        _expect_current_folder()
    workspace = options.workspace and surroundings.absolute(options.workspace)
    if workspace is not None and not os.path.isdir(workspace):
        raise Refusal(f"There is no folder {workspace}.", "--workspace names an agent's workspace.", code=2)
    config = options.config and surroundings.absolute(options.config)
    if config is not None and not os.path.exists(config):
        raise Refusal(f"There is no file {config}.", "--config names a host's settings file.", code=2)
    signs = (surroundings.cwd / sign for sign in WORKSPACE_SIGNS)
    stands_in_one = any(os.path.isdir(sign) for sign in signs) or has_plugins(surroundings)
    if workspace is None and stands_in_one and not options.as_host and options.agent is None:
        workspace = surroundings.cwd
    project = project_config(workspace or surroundings.cwd)
    dialect, because, notice = chosen_dialect(options, project, surroundings)
    settings = settings_file(dialect, surroundings, Choices(config=config))
    host_here = installed(dialect, surroundings, settings, workspace)
    environment, environment_from = _environment(options, project)
    setup = Setup(
        dialect=dialect,
        because=because,
        notice=notice,
        surroundings=surroundings,
        choices=Choices(
            workspace=workspace,
            bundled=bundled_of(options, dialect, surroundings),
            config=config,
            own_bundled=own_bundled(host_here, dialect),
            agent=options.agent,
            plugin_hooks=plugin_hooks_of(project),
            plugins=installed_plugins() if "plugin" in dialect.kinds else (),
        ),
        python=program_of(project, "python", workspace, surroundings),
        node=program_of(project, "node", workspace, surroundings),
        limits=limits_of(project.get("limits")),
        retention=retention_of(project.get("journal")),
        shipped=shipped_of(dialect, host_here),
        environment=environment,
        environment_from=environment_from,
        notes=(
            *ignored_config(workspace or surroundings.cwd),
            *unknown_in(project),
            *(source.notes if source is not None else ()),
        ),
        read_from=source.files if source is not None else (),
    )
    if options.agent is not None and not options.as_host:
        _check_agent(options.agent, setup)
    return setup


def _expect_current_folder() -> None:
    """Raises Refusal where it was removed beneath us: in its place would be the root of all folders."""
    try:
        os.getcwd()
    except OSError:
        then = "`cd` into one that is there, or name one with --workspace DIR."
        raise Refusal("The current folder is gone: somebody has removed it.", then) from None


def _check_agent(agent: str, setup: Setup) -> None:
    """Raises Refusal where the settings name no such agent."""
    dialect = setup.dialect
    if dialect.layout.agents is None:
        then = "Leave out --agent, or name a version with --dialect."
        raise Refusal(f"The dialect {dialect.name} knows no agents.", then, code=2)
    known = agents_of(dialect, open_host(dialect, setup.surroundings, setup.choices).settings)
    if agent not in known:
        near = nearest(agent, known)
        there = f"They name {', '.join(known)}." if known else "They name none."
        then = f"Did you mean {near}?" if near else there
        raise Refusal(f"The settings name no agent {agent!r}.", then, code=2)


def own_bundled(host_here: Installed | None, dialect: Dialect) -> Path | None:
    """The hooks that an installed host ships itself."""
    package, where = host_here.package if host_here is not None else None, dialect.layout.own_bundled
    return package / where if package is not None and where and os.path.isdir(package / where) else None


def bundled_of(options: Options, dialect: Dialect, surroundings: Surroundings) -> Path | None:
    """The folder that is named; None where the host's own variable names one, it has none, or all is to be
    as the host sees it; else Hookscope's hooks."""
    if options.bundled:
        return surroundings.absolute(options.bundled)
    moved = surroundings.env.get(dialect.layout.bundled_variable or "", "").strip()
    return None if moved or options.as_host or not dialect.layout.bundles else shipped_hooks()


def _environment(options: Options, project: Mapping[str, object]) -> tuple[str | None, str]:
    """The environment's name, whether or not there is one, and what says so."""
    if options.environment is not None:
        return options.environment, "named by --environment"
    named = project.get("environment")
    if named is None:
        return None, ""
    if not isinstance(named, str):
        raise Refusal(f"`environment:` in {CONFIG} wants a name.", code=2)
    return named, f"named in {CONFIG}"


def shipped_hooks() -> Path:
    """The hooks that ship with Hookscope: inside the wheel, or beside `src` in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "bundled_hooks"
    return installed if os.path.isdir(installed) else package.parent.parent / "bundled_hooks"
