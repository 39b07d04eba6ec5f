"""What the files beside a plugin's code ask for: settings that fit a schema, and packages."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookscope import formats
from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.node_packages import places_of
from hookscope.formats.places import FormatError

LARGEST = 1024 * 1024  # bytes of a file that is read for this
SCHEMA = "configSchema"
PACKAGE = "package.json"


def document(file: Path, host: Host) -> Mapping[str, Any]:
    """The object that a file holds; empty where there is none, or it cannot be read."""
    key = (document, file)
    if key not in host.known:
        host.known[key] = _read(file, host)
    known: Mapping[str, Any] = host.known[key]
    return known


def _read(file: Path, host: Host) -> Mapping[str, Any]:
    try:
        value = formats.read_json5(host.surroundings.files.read(file, LARGEST))
    except (OSError, FormatError):
        return {}
    return value if isinstance(value, Mapping) else {}


def schema_of(hook: Hook, host: Host) -> Mapping[str, Any] | None:
    """What the manifest says of the plugin's settings; None where it says nothing."""
    found = document(hook.manifest, host).get(SCHEMA) if hook.manifest is not None else None
    return found if isinstance(found, Mapping) else None


def kinds_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """What the plugin says it is: `kind`, a text or a list of them."""
    said = manifest.get("kind")
    listed = said if isinstance(said, list) else [said]
    return tuple(kind for kind in listed if isinstance(kind, str))


def tools_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The tools that the plugin says it registers: `contracts.tools`."""
    contracts = manifest.get("contracts")
    listed = contracts.get("tools") if isinstance(contracts, Mapping) else None
    names = [item.strip() for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    return tuple(dict.fromkeys(filter(None, names)))


def packages_of(hook: Hook, host: Host) -> tuple[str, ...]:
    """The packages that its package.json says it cannot do without, sorted."""
    manifest = document(hook.path / PACKAGE, host) if hook.path is not None else {}
    needed, optional = (manifest.get(name) for name in ("dependencies", "optionalDependencies"))
    spare = optional if isinstance(optional, Mapping) else {}
    return tuple(sorted(name for name in needed if name not in spare)) if isinstance(needed, Mapping) else ()


def is_installed(package: str, folder: Path, host: Host) -> bool:
    """Is it in a `node_modules` of that folder or above it."""
    files = host.surroundings.files
    return any(files.facts(place / PACKAGE) is not None for place in places_of(package, folder))
