"""Opens a Host: reads its settings and finds its state folder, workspace and hook folders."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hookscope.hosts.settings.settings_reader import (
    check_settings,
    dotenv_problem,
    read_settings,
    with_dotenv,
    with_settings_variables,
)
from hookscope.model.hook import Problem
from hookscope.model.host import AgentWorkspaces, Dialect, Host, Overrides, Settings, Trust
from hookscope.model.machine import Machine

EVENT_VARIABLES_FILE = ".env"  # in the workspace: sets `${NAME}` in events under every dialect


def open_host(
    dialect: Dialect,
    machine: Machine,
    overrides: Overrides = Overrides(),
    *,
    trust: Trust = Trust(),
    settings: Settings | None = None,
) -> Host:
    """Open the host of `dialect` on `machine`: settings read, workspace and folders known.

    `settings`: used instead of the settings file. Never raises for the contents of files: the Host lists
    the problems.
    """
    machine = _with_own_home(dialect, machine)
    state = state_folder(dialect, machine)
    rules, env = dialect.settings_rules, machine.env
    if rules.dotenv is not None:
        env = with_dotenv(env, state / rules.dotenv, machine.files)
    if settings is None and not dialect.layout.settings:
        settings = Settings(overrides.workspace or state)
    elif settings is None:
        settings = read_settings(settings_file(dialect, machine, overrides), machine.files, rules, env)
    else:
        settings = check_settings(settings, rules)
    if rules.env_path is not None:
        env = with_settings_variables(env, settings.get(rules.env_path))
    workspace = overrides.workspace or configured_workspace(
        dialect, machine, settings, state, overrides.agent
    )
    for name in rules.project_dotenv:
        env = with_dotenv(env, workspace / name, machine.files)
    host = Host(
        dialect=dialect,
        machine=machine,
        settings=settings,
        state=state if dialect.layout.state else workspace,
        config_folder=_config_folder(dialect, machine, state) if dialect.layout.state else workspace,
        workspace=workspace,
        env=env,
        overrides=overrides,
        trust=trust,
    )
    host = replace(host, problems=tuple(_dotenv_problems(host, state)))
    for system in dialect.systems:
        folders, problems = system.folders(host)
        host = replace(host, folders=host.folders + folders, problems=host.problems + problems)
    return host


def _dotenv_problems(host: Host, state: Path) -> Iterator[Problem]:
    """Yield a problem for each file of variables that cannot be read."""
    rules = host.dialect.settings_rules
    files = [state / rules.dotenv] if rules.dotenv is not None else []
    files += [host.workspace / name for name in (*rules.project_dotenv, EVENT_VARIABLES_FILE)]
    for file in dict.fromkeys(files):
        problem = dotenv_problem(file, host.machine.files)
        if problem is not None:
            yield problem


def state_folder(dialect: Dialect, machine: Machine) -> Path:
    """Return the host's state folder: below home, or the one in its environment variable.

    A host without a state folder uses the current folder.
    """
    machine, layout = _with_own_home(dialect, machine), dialect.layout
    if from_env := _folder_from_env(layout.state_variable, machine):
        return machine.absolute(from_env)
    places = [machine.absolute(place) for place in (layout.state, *layout.older_states)]
    return next((place for place in places if machine.files.facts(place) is not None), places[0])


def _with_own_home(dialect: Dialect, machine: Machine) -> Machine:
    """Return the machine with the home that the host's own variable names."""
    named = _folder_from_env(dialect.layout.home_variable, machine)
    return (
        replace(machine, home=machine.absolute(named)) if named not in ("", "undefined", "null") else machine
    )


def _config_folder(dialect: Dialect, machine: Machine, state: Path) -> Path:
    """Return the folder of managed hooks and plugins: `state`, or that of settings named by a variable."""
    layout = dialect.layout
    named = _folder_from_env(layout.settings_variable, machine) if layout.hooks_beside_settings else ""
    if not named or _folder_from_env(layout.state_variable, machine):
        return state
    return machine.absolute(named).parent


def settings_file(dialect: Dialect, machine: Machine, overrides: Overrides) -> Path:
    """Return the path of the host's settings; the state folder itself if the host has no such file."""
    if overrides.config is not None:
        return overrides.config
    machine, layout = _with_own_home(dialect, machine), dialect.layout
    if from_env := _folder_from_env(layout.settings_variable, machine):
        return machine.absolute(from_env)
    state = state_folder(dialect, machine)
    files = [state / name for name in (layout.settings, *layout.older_settings)]
    return next((file for file in files if machine.files.facts(file) is not None), files[0])


def configured_workspace(
    dialect: Dialect, machine: Machine, settings: Settings, state: Path, agent: str | None = None
) -> Path:
    """Return the workspace of the settings, else of the variable, else the default in the state folder.

    `agent` selects one of several agents, by default the host's default agent. Only one agent uses the
    host's own workspace. The default of the others is a subfolder of the host's workspace if the settings
    set that, else a folder in the state folder.
    """
    agents = _agents(dialect, settings)
    name = agents.id_of(agent) if agent else agents.default
    agent_workspace = agents.workspaces.get(name) if name else None
    if agent_workspace and agent_workspace.strip():
        return machine.absolute(agent_workspace.strip())
    other_agent = name if name in agents.workspaces and name != agents.owner else None
    shared_workspace = settings.get(dialect.layout.workspace_path)
    if isinstance(shared_workspace, str) and shared_workspace.strip():
        folder = machine.absolute(shared_workspace.strip())
        return folder / other_agent if other_agent else folder
    if other_agent:
        return state / f"{dialect.layout.workspace}-{other_agent}"
    if from_env := _folder_from_env(dialect.layout.workspace_variable, machine):
        return machine.absolute(from_env)
    profile = _folder_from_env(dialect.layout.profile_variable, machine)
    if (
        profile
        and profile.lower() != "default"
        and not _folder_from_env(dialect.layout.state_variable, machine)
    ):
        return machine.absolute(f"{dialect.layout.state}-{profile}") / dialect.layout.workspace
    return state / dialect.layout.workspace


def agent_names(dialect: Dialect, settings: Settings) -> tuple[str, ...]:
    return tuple(_agents(dialect, settings).workspaces)


def known_agent(dialect: Dialect, settings: Settings, name: str) -> str | None:
    """Return the id of the agent called `name`; None if the settings have no such agent."""
    agents = _agents(dialect, settings)
    found = agents.id_of(name)
    return found if found in agents.workspaces else None


def _agents(dialect: Dialect, settings: Settings) -> AgentWorkspaces:
    listed = dialect.layout.agents
    return listed(settings.value) if listed else AgentWorkspaces({})


def _folder_from_env(variable: str | None, machine: Machine) -> str:
    return machine.env.get(variable, "").strip() if variable else ""
