"""Where plugins come from: the folders that are searched, and installed Python packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hookscope.hosts.folders.search_paths import hooks_folder
from hookscope.hosts.plugins.plugin_discovery import events_registered_in
from hookscope.model.hook import FilePosition, Folder, Hook, Metadata, Problem
from hookscope.model.host import Host, InstalledPlugin

PATHS = ("plugins", "load", "paths")
PLUGINS_FOLDER = "plugins"  # in the workspace and in the state folder, as the guides say
FOLDER_ITSELF = "the folder itself"
WORKSPACE_RANK, MANAGED_RANK, EXTRA_RANK = 40, 30, 20


def plugins_folder(host: Host, source: str, path: Path, rank: int, declared: str = "") -> Folder:
    """Return a folder of plugins, or one plugin's own. It need not exist."""
    label = f"{source} plugins"
    return replace(hooks_folder(host, source, path, rank, declared, label=label), hook_kind="plugin")


def is_guide_folder(folder: Folder, host: Host) -> bool:
    """Return whether only the guides search this folder, and no shipped program does."""
    return folder.path in (host.workspace / PLUGINS_FOLDER, host.state / PLUGINS_FOLDER)


def plugin_places(
    host: Host, *more: tuple[str, Path], manifest: str
) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Return the plugin folders, highest rank first.

    The order is: the workspace if it is a plugin itself, `<workspace>/plugins`, `<state>/plugins`,
    then the configured paths. `more` are further folders, each with its source. Absent folders are
    marked incidental: few workspaces have plugins.
    """
    ranks = {"workspace": WORKSPACE_RANK, "managed": MANAGED_RANK}
    known = (("workspace", host.workspace / PLUGINS_FOLDER), *more, ("managed", host.state / PLUGINS_FOLDER))
    folders = [plugins_folder(host, source, path, ranks[source]) for source, path in known]
    folders.sort(key=lambda folder: -folder.rank)
    extra, problems = _extra_plugin_folders(host)
    named = {folder.real for folder in extra}
    if host.machine.files.facts(host.workspace / manifest) is not None:
        workspace_plugin = plugins_folder(host, "workspace", host.workspace, WORKSPACE_RANK, FOLDER_ITSELF)
        folders = [workspace_plugin, *folders] if workspace_plugin.real not in named else folders
    return (*(replace(folder, incidental=folder.real is None) for folder in folders), *extra), problems


def _extra_plugin_folders(host: Host) -> tuple[list[Folder], tuple[Problem, ...]]:
    """Return a folder for each configured path: a plugin itself, or a folder of plugins."""
    plugins = host.settings.get(PATHS[:1])
    load = plugins.get("load") if isinstance(plugins, Mapping) else None
    listed = load.get("paths") if isinstance(load, Mapping) else None
    dotted, folders, problems = ".".join(PATHS), list[Folder](), list[Problem]()
    items = listed if isinstance(listed, list) else [listed] if listed is not None else []
    for number, item in enumerate(items):
        if not isinstance(item, str) or not isinstance(listed, list):
            setting_path = (*PATHS, number) if isinstance(listed, list) else PATHS
            place = host.settings.locate(setting_path) or FilePosition(host.settings.file)
            problems.append(Problem(f"{dotted} wants a list of texts", place))
        elif item.strip():
            path = host.machine.absolute(item.strip())
            folders.append(plugins_folder(host, "extra", path, EXTRA_RANK, f"{dotted}[{number}]"))
    return [folder for folder in folders if folder.real is not None], tuple(problems)


INSTALLED = "installed"
INSTALLED_RANK = 10  # below every folder: a workspace plugin wins its name


def installed_hooks(host: Host) -> tuple[Hook, ...]:
    """Return a hook for each installed plugin, by name. Packages are read as text and not imported."""
    return tuple(
        _installed_hook(plugin, host) for plugin in sorted(host.overrides.plugins, key=lambda one: one.name)
    )


def _installed_hook(plugin: InstalledPlugin, host: Host) -> Hook:
    package = plugin.file.parent
    real = host.machine.files.real(package)
    folder = Folder(
        INSTALLED,
        "installed plugins",
        package,
        INSTALLED_RANK,
        "hookscope.plugins",
        real=real,
        hook_kind="plugin",
    )
    events, priorities, folder_events = events_registered_in(plugin.file, "python", host)
    return Hook(
        name=plugin.name,
        kind="plugin",
        folder=folder,
        path=None,
        meta=Metadata(
            events=events, priorities=priorities, folder_events=folder_events, export=plugin.export
        ),
        description="a Python package's entry point",
        handler=plugin.file,
        language="python",
        real=real,
        beyond_host=True,
        root=package,
    )
