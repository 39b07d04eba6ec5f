"""The folders in which plugins are looked for."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Folder, Place, Problem
from hookscope.systems.folders.places import hooks_folder

PATHS = ("plugins", "load", "paths")
OURS = "plugins"  # in the workspace and in the state folder: a place of the guides
ITSELF = "the folder itself"
WORKSPACE_RANK, MANAGED_RANK, EXTRA_RANK = 40, 30, 20


def plugins_folder(host: Host, source: str, path: Path, rank: int, declared: str = "") -> Folder:
    """A folder of plugins, or one plugin's own. It need not exist."""
    label = f"{source} plugins"
    return replace(hooks_folder(host, source, path, rank, declared, label=label), holds="plugin")


def is_of_guides(folder: Folder, host: Host) -> bool:
    """Is it a place that guides name, and no shipped program looks at."""
    return folder.path in (host.workspace / OURS, host.state / OURS)


def plugin_places(
    host: Host, *more: tuple[str, Path], manifest: str
) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Highest first: the workspace, where it is a plugin itself, `<workspace>/plugins`, `<state>/plugins`,
    then the paths that the settings name.

    `more` are further folders, each with its source. An absent one is aside: few workspaces have plugins.
    """
    ranks = {"workspace": WORKSPACE_RANK, "managed": MANAGED_RANK}
    known = (("workspace", host.workspace / OURS), *more, ("managed", host.state / OURS))
    folders = [plugins_folder(host, source, path, ranks[source]) for source, path in known]
    folders.sort(key=lambda folder: -folder.rank)
    extra, problems = _extra(host)
    named = {folder.real for folder in extra}
    if host.surroundings.files.facts(host.workspace / manifest) is not None:
        itself = plugins_folder(host, "workspace", host.workspace, WORKSPACE_RANK, ITSELF)
        folders = [itself, *folders] if itself.real not in named else folders
    return (*(replace(folder, aside=folder.real is None) for folder in folders), *extra), problems


def _extra(host: Host) -> tuple[list[Folder], tuple[Problem, ...]]:
    """A folder for each path of the settings: a plugin itself, or a folder of plugins."""
    plugins = host.settings.get(PATHS[:1])
    load = plugins.get("load") if isinstance(plugins, Mapping) else None
    listed = load.get("paths") if isinstance(load, Mapping) else None
    dotted, folders, problems = ".".join(PATHS), list[Folder](), list[Problem]()
    items = listed if isinstance(listed, list) else [listed] if listed is not None else []
    for number, item in enumerate(items):
        if not isinstance(item, str) or not isinstance(listed, list):
            at = (*PATHS, number) if isinstance(listed, list) else PATHS
            place = host.settings.locate(at) or Place(host.settings.file)
            problems.append(Problem(f"{dotted} wants a list of texts", place))
        elif item.strip():
            path = host.surroundings.absolute(item.strip())
            folders.append(plugins_folder(host, "extra", path, EXTRA_RANK, f"{dotted}[{number}]"))
    return [folder for folder in folders if folder.real is not None], tuple(problems)
