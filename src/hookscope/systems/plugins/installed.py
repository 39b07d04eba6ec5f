"""Plugins that are installed as Python packages. Only Hookscope has such: its hosts know no Python."""

from hookscope.core.dialect import Host, InstalledPlugin
from hookscope.core.hooks import Folder, Hook, Metadata
from hookscope.systems.plugins.discovery import heard_in

INSTALLED = "installed"
RANK = 10  # below every folder: one of the workspace takes its name


def installed_hooks(host: Host) -> tuple[Hook, ...]:
    """A hook for each, in order of name. Their packages are read as text and not imported."""
    return tuple(_hook(plugin, host) for plugin in sorted(host.choices.plugins, key=lambda one: one.name))


def _hook(plugin: InstalledPlugin, host: Host) -> Hook:
    package = plugin.file.parent
    real = host.surroundings.files.real(package)
    folder = Folder(
        INSTALLED, "installed plugins", package, RANK, "hookscope.plugins", real=real, holds="plugin"
    )
    events, priorities, of_folders = heard_in(plugin.file, "python", host)
    return Hook(
        name=plugin.name,
        kind="plugin",
        folder=folder,
        path=None,
        meta=Metadata(events=events, priorities=priorities, of_folders=of_folders, export=plugin.export),
        description="a Python package's entry point",
        handler=plugin.file,
        language="python",
        real=real,
        beyond_host=True,
        root=package,
    )
