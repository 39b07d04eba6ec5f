"""What the files beside a plugin's code ask for: settings that fit a schema, and packages."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hookscope import formats
from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.formats.places import FormatError, KeyPath

LARGEST = 1024 * 1024  # bytes of a file that is read for this
SCHEMA = "configSchema"
PACKAGE = "package.json"
TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (Mapping,),
    "array": (list,),
    "null": (type(None),),
}


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


def with_defaults(schema: Mapping[str, Any], value: Any) -> Any:
    """The value with what the schema fills in, in objects that are there."""
    if not isinstance(value, Mapping):
        return value
    members = schema.get("properties")
    known = {name: one for name, one in (members.items() if isinstance(members, Mapping) else ()) if _is(one)}
    filled = {name: one["default"] for name, one in known.items() if name not in value and "default" in one}
    own = {name: with_defaults(known[name], item) if name in known else item for name, item in value.items()}
    return {**own, **filled}


def _is(schema: object) -> bool:
    return isinstance(schema, Mapping)


def complaints(schema: Mapping[str, Any], value: Any, at: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """What the schema has against the value, and where, in the words of the hosts' validator.

    Of the keywords the common ones; others are met by everything.
    """
    if not _has_type(schema.get("type"), value):
        yield at, f"must be {_named(schema['type'])}"
        return
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        listed = ", ".join(json.dumps(one) for one in allowed)
        yield at, f"must be equal to one of the allowed values (allowed: {listed})"
    if isinstance(value, Mapping):
        yield from _of_members(schema, value, at)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        for number, item in enumerate(value):
            yield from complaints(items, item, (*at, str(number)))


def _of_members(
    schema: Mapping[str, Any], value: Mapping[str, Any], at: KeyPath
) -> Iterator[tuple[KeyPath, str]]:
    members, required = schema.get("properties"), schema.get("required")
    known = members if isinstance(members, Mapping) else {}
    for name in required if isinstance(required, list) else ():
        if name not in value:
            yield (*at, str(name)), f"must have required property '{name}'"
    for name, item in value.items():
        if _is(known.get(name)):
            yield from complaints(known[name], item, (*at, name))
        elif name not in known and schema.get("additionalProperties") is False:
            yield at, f'must not have additional properties: "{name}"'


def _has_type(wanted: object, value: Any) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    known = [TYPES[name] for name in names if name in TYPES]
    if not known:
        return True
    is_bool = isinstance(value, bool)
    return any(isinstance(value, kinds) and (not is_bool or bool in kinds) for kinds in known)


def _named(wanted: object) -> str:
    return ",".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted)


def kinds_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """What the plugin says it is: `kind`, a text or a list of them."""
    said = manifest.get("kind")
    listed = said if isinstance(said, list) else [said]
    return tuple(kind for kind in listed if isinstance(kind, str))


def packages_of(hook: Hook, host: Host) -> tuple[str, ...]:
    """The packages that its package.json says it cannot do without, sorted."""
    manifest = document(hook.path / PACKAGE, host) if hook.path is not None else {}
    needed, optional = (manifest.get(name) for name in ("dependencies", "optionalDependencies"))
    spare = optional if isinstance(optional, Mapping) else {}
    return tuple(sorted(name for name in needed if name not in spare)) if isinstance(needed, Mapping) else ()


def is_installed(package: str, folder: Path, host: Host) -> bool:
    """Is it in a `node_modules` of that folder or above it."""
    above = (folder, *folder.parents)
    files = host.surroundings.files
    return any(files.facts(at / "node_modules" / package / PACKAGE) is not None for at in above)
