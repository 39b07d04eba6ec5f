"""Hook folders that active plugins bring: bundles with a manifest, named by the settings."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.hooks import Folder
from hookscope.formats.places import KeyPath
from hookscope.systems.folders.places import PLUGIN, hooks_folder
from hookscope.values import dataclass

LARGEST = 1_048_576  # bytes of a manifest


@dataclass(frozen=True, slots=True)
class Bundles:
    """Where one host version finds its plugins."""

    manifest: str  # below the plugin's folder
    settings: KeyPath = ("plugins",)  # `enabled`, `allow`, `deny`, `entries`, and `load.paths`
    hooks: str = "hooks"  # key of the manifest, and the folder where it names none


def bundle_folders(host: Host, rank: int, label: str, rules: Bundles) -> Iterator[Folder]:
    """A collection for each hooks folder of an active plugin, in the order of the settings.

    Source: rules-openclaw section 1, rank 20 (disc-17). A hooks folder outside its plugin is left out.
    """
    settings = host.settings.get(rules.settings)
    plugins: Mapping[str, Any] = settings if isinstance(settings, Mapping) else {}
    for root in dict.fromkeys(_roots(plugins, host, rules)):
        manifest = _manifest(root, host, rules)
        if manifest is None or not _active(str(manifest.get("name") or root.name), plugins):
            continue
        plugin = str(manifest.get("name") or root.name)
        for path in _hooks_of(root, manifest, host, rules):
            yield hooks_folder(host, PLUGIN, path, rank, f"plugin {plugin}", label=label, plugin=plugin)


def _roots(plugins: Mapping[str, Any], host: Host, rules: Bundles) -> Iterator[Path]:
    """Each path of the settings: a plugin itself, or a folder of plugins."""
    load = plugins.get("load")
    paths = load.get("paths") if isinstance(load, Mapping) else None
    for item in paths if isinstance(paths, list) else []:
        if not isinstance(item, str) or not item.strip():
            continue
        path = host.surroundings.absolute(item.strip())
        if host.surroundings.files.facts(path / rules.manifest) is not None:
            yield path
            continue
        try:
            yield from (child.path for child in host.surroundings.files.children(path) if child.folder)
        except OSError:
            continue


def _manifest(root: Path, host: Host, rules: Bundles) -> Mapping[str, Any] | None:
    files = host.surroundings.files
    facts = files.facts(root / rules.manifest)
    if facts is None or not facts.file or facts.size > LARGEST:
        return None
    try:
        manifest = json.loads(files.read(root / rules.manifest).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return None
    return manifest if isinstance(manifest, dict) else None


def _active(plugin: str, plugins: Mapping[str, Any]) -> bool:
    allowed, denied, entries = (plugins.get(name) for name in ("allow", "deny", "entries"))
    entry = entries.get(plugin) if isinstance(entries, Mapping) else None
    return not (
        plugins.get("enabled") is False
        or (isinstance(denied, list) and plugin in denied)
        or (isinstance(allowed, list) and allowed and plugin not in allowed)
        or (isinstance(entry, Mapping) and entry.get("enabled") is False)
    )


def _hooks_of(root: Path, manifest: Mapping[str, Any], host: Host, rules: Bundles) -> Iterator[Path]:
    listed = manifest.get(rules.hooks)
    items = [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []
    names = [item.strip() for item in items if isinstance(item, str) and item.strip()]
    files = host.surroundings.files
    for name in names or [rules.hooks]:
        path = host.surroundings.absolute(name, base=root)
        facts = files.facts(path)
        if facts is not None and facts.folder and files.real(path).is_relative_to(files.real(root)):
            yield path
