"""What a plugin's manifest and package.json declare: settings schema, kinds, tools, packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any

from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import FormatError, KeyPath
from hookscope.formats.script_values import script_text
from hookscope.model.hook import Hook
from hookscope.model.host import Dialect, Host
from hookscope.model.machine import node_package_folders
from hookscope.model.payload import mapping_or_empty, strings_in_list

LARGEST = 1024 * 1024  # bytes of a file that is read
SCHEMA = "configSchema"
PACKAGE = "package.json"
NO_SETTINGS: Mapping[str, Any] = {"type": "object", "additionalProperties": False}  # of a single file


def read_document(file: Path, host: Host) -> Mapping[str, Any]:
    """Return the object in a JSON file; empty if it is missing, unreadable or not an object."""
    return host.cached((read_document, file), lambda: _read(file, host))


def _read(file: Path, host: Host) -> Mapping[str, Any]:
    try:
        return mapping_or_empty(read_json5(host.machine.files.read(file, LARGEST)))
    except (OSError, FormatError):
        return {}


def is_single_file(hook: Hook) -> bool:
    """Return whether the settings name the plugin's entry file and not its folder."""
    return hook.folder.path == hook.handler


def schema_of(hook: Hook, host: Host) -> Mapping[str, Any] | None:
    """Return the schema of the plugin's settings in its manifest, or None."""
    if hook.manifest is None:
        return NO_SETTINGS if is_single_file(hook) else None
    found = read_document(hook.manifest, host).get(SCHEMA)
    return found if isinstance(found, Mapping) else None


def kinds_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the kinds that the plugin declares: `kind`, a string or a list of strings."""
    declared = manifest.get("kind")
    listed = declared if isinstance(declared, list) else [declared]
    return tuple(kind for kind in listed if isinstance(kind, str))


def tools_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tools that the plugin declares: `contracts.tools`."""
    names = map(str.strip, strings_in_list(_map(manifest, "contracts").get("tools")))
    return tuple(dict.fromkeys(filter(None, names)))


def packages_of(hook: Hook, host: Host) -> tuple[str, ...]:
    """Return the packages that the plugin's package.json requires, sorted, without optional ones."""
    manifest = read_document(hook.path / PACKAGE, host) if hook.path is not None else {}
    needed, optional = (manifest.get(name) for name in ("dependencies", "optionalDependencies"))
    return tuple(sorted(mapping_or_empty(needed).keys() - mapping_or_empty(optional).keys()))


class PackageError(ValueError):
    """The package.json declares no usable entry files. The text is the program's."""


def package_extensions(package: Mapping[str, Any], key: str) -> tuple[tuple[str, str], ...]:
    """Return each entry file of a package.json with its built file, or an empty text. Raises PackageError."""
    own = package.get(key)
    if own is not None and not isinstance(own, Mapping):
        raise PackageError(f"{PACKAGE} {key} must be an object")
    entries = _texts_listed(own, key, "extensions")
    if entries is None:
        return ()
    if not entries:
        raise PackageError(f"{PACKAGE} {key}.extensions is empty")
    listed = mapping_or_empty(own).get("runtimeExtensions")
    built = (_texts_listed(own, key, "runtimeExtensions") if isinstance(listed, list) else None) or ()
    if built and len(built) != len(entries):
        raise PackageError(
            f"{PACKAGE} {key}.runtimeExtensions length ({len(built)}) "
            f"must match {key}.extensions length ({len(entries)})"
        )
    return tuple(zip(entries, built or [""] * len(entries), strict=True))


def _texts_listed(own: object, key: str, name: str) -> tuple[str, ...] | None:
    """Return the texts of a list, trimmed; None if it is absent. Raises PackageError."""
    listed = mapping_or_empty(own).get(name)
    if listed is None:
        return None
    if not isinstance(listed, list):
        raise PackageError(f"{PACKAGE} {key}.{name} must be an array")
    for number, item in enumerate(listed):
        if not isinstance(item, str) or not item.strip():
            raise PackageError(f"{PACKAGE} {key}.{name}[{number}] must be a non-empty string")
    return tuple(item.strip() for item in listed)


def id_without_manifest(folder: Path, package: Mapping[str, Any], key: str) -> str:
    """Return the id by which the program names a plugin whose manifest is missing or faulty."""
    own = mapping_or_empty(package.get(key))
    named = [mapping_or_empty(own.get(part)).get("id") for part in ("plugin", "channel")]
    name = package.get("name")
    plain = name.strip().rpartition("/")[2] if isinstance(name, str) else ""
    ending = next((one for one in ("-provider", "-plugin") if plain.endswith(one) and plain != one), "")
    texts = (text.strip() for text in (*named, plain.removesuffix(ending)) if isinstance(text, str))
    return next(filter(None, texts), folder.name)


BUILT_SUFFIXES = {
    ".ts": (".js", ".mjs", ".cjs"),
    ".tsx": (".js", ".mjs", ".cjs"),
    ".mts": (".mjs", ".js", ".cjs"),
    ".cts": (".cjs", ".js", ".mjs"),
}


def built_entries(entry: str) -> Iterator[str]:
    """Yield the files that may be built from a TypeScript entry, in the host's search order."""
    source = PurePosixPath(entry)
    if source.suffix not in BUILT_SUFFIXES:
        return
    plain = source.with_suffix("")
    below_src = plain.relative_to("src") if plain.is_relative_to("src") else plain
    for base in dict.fromkeys((Path("dist", below_src), Path("dist", plain), plain)):
        yield from (f"{base}{suffix}" for suffix in BUILT_SUFFIXES[source.suffix])


VERSION_FLOOR = re.compile(r">=(\d{1,15})\.(\d{1,15})\.\d{1,15}(-[\w.-]+)?(\+[\w.-]+)?", re.ASCII)


def version_fault(package: Mapping[str, Any], key: str, dialect: Dialect) -> tuple[str, str]:
    """Return why package.json excludes the host's version, and the host's error; empty if it does not."""
    install = mapping_or_empty(mapping_or_empty(package.get(key)).get("install"))
    floor = install.get("minHostVersion", ">=0.0.0")
    match = VERSION_FLOOR.fullmatch(floor.strip()) if isinstance(floor, str) else None
    if match is None:
        form = '">=x.y.z[-prerelease][+build]"'
        text = f"{key}.install.minHostVersion must use a semver floor in the form {form}"
        return text, f"plugin manifest invalid | {text}"
    is_later = [int(match[1]), int(match[2])] > [int(part) for part in dialect.version.split(".")]
    return (f"it requires {dialect.product} {match[0]}" if is_later else ""), ""


def is_installed(package: str, folder: Path, host: Host) -> bool:
    """Return whether the package is in a `node_modules` folder in `folder` or above it."""
    files = host.machine.files
    return any(files.facts(place / PACKAGE) is not None for place in node_package_folders(package, folder))


MAX_ERRORS = 8  # errors that are computed
MAX_VALUES_SHOWN = 12  # enum values that a message lists
MAX_LABEL_LENGTH = 160  # characters of a listed value
SCHEMA_MAPS = ("patternProperties", "properties")
SINGLE_SCHEMAS = ("additionalProperties", "items")
SCHEMA_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (Mapping,),
    "array": (list,),
    "null": (type(None),),
}

SchemaIssue = tuple[KeyPath, str]  # path in the value, and the error


def with_defaults(schema: object, value: Any) -> Any:
    """Return the value with the schema's defaults added to existing objects and lists."""
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, list):
        return [with_defaults(schema.get("items"), item) for item in value]
    if not isinstance(value, Mapping):
        return value
    properties = _map(schema, "properties")
    own = {name: with_defaults(properties.get(name), item) for name, item in value.items()}
    filled = {
        name: with_defaults(subschema, subschema["default"])
        for name, subschema in properties.items()
        if name not in value and isinstance(subschema, Mapping) and "default" in subschema
    }
    return {**own, **filled}


def schema_error(schema: object, path_text: str = "<schema>") -> str:
    """Return why `schema` is not a valid schema; empty if it is valid."""
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema, Mapping):
        return f"{path_text}: schema must be an object or boolean"
    return (
        _wrong_type(schema, path_text) or _wrong_lists(schema, path_text) or _wrong_below(schema, path_text)
    )


def _wrong_type(schema: Mapping[str, Any], path_text: str) -> str:
    if "type" not in schema:
        return ""
    declared = schema["type"]
    names = [declared] if isinstance(declared, str) else declared
    if not isinstance(names, list) or not names:
        return f"{path_text}.type: expected string or non-empty string array"
    if not all(isinstance(name, str) and name in SCHEMA_TYPES for name in names):
        return f"{path_text}.type: unsupported JSON Schema type"
    return f"{path_text}.type: expected unique JSON Schema types" if len(set(names)) < len(names) else ""


def _wrong_lists(schema: Mapping[str, Any], path_text: str) -> str:
    required, allowed = schema.get("required", []), schema.get("enum", [None])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return f"{path_text}.required: expected string array"
    if not isinstance(allowed, list):
        return f"{path_text}.enum: expected array"
    is_set = allowed and len(set(map(_json, allowed))) == len(allowed)
    return "" if is_set else f"{path_text}.enum: expected non-empty array with unique values"


def _wrong_below(schema: Mapping[str, Any], path_text: str) -> str:
    for key in SCHEMA_MAPS:
        if not isinstance(schema.get(key, {}), Mapping):
            return f"{path_text}.{key}: expected schema map"
    listed = [
        (f"{path_text}.{key}.{name}", subschema)
        for key in SCHEMA_MAPS
        for name, subschema in _map(schema, key).items()
    ]
    single = [(f"{path_text}.{key}", schema[key]) for key in SINGLE_SCHEMAS if key in schema]
    places = [*listed, *(pair for pair in single if not isinstance(pair[1], list))]
    return next(filter(None, (schema_error(subschema, place) for place, subschema in places)), "")


def value_errors(schema: object, value: Any) -> tuple[SchemaIssue, ...]:
    """Return the errors of a value; empty if it fits the schema. No value fits an invalid schema."""
    error = schema_error(schema)
    return (
        (((), f"invalid schema: {error}"),)
        if error
        else tuple(islice(value_errors_at(schema, value), MAX_ERRORS))
    )


def value_errors_at(schema: object, value: Any, at: KeyPath = ()) -> Iterator[SchemaIssue]:
    """Yield the errors of a value under a valid schema."""
    if schema is False:
        yield at, "schema is false"
    if not isinstance(schema, Mapping):
        return
    others = list(islice(_beside_type(schema, value, at), MAX_ERRORS))  # once for all types
    errors_by_type = [[*_of_type(type_name, value, at), *others] for type_name in _types(schema)]
    if all(errors_by_type):
        yield from chain.from_iterable(errors_by_type)
        if len(errors_by_type) > 1 or isinstance(schema.get("type"), list):
            yield at, "must match a schema in anyOf"


def _types(schema: Mapping[str, Any]) -> list[str | None]:
    """Return the allowed types; the validator treats each as a schema of its own. None: any type."""
    declared = schema.get("type")
    listed = declared if isinstance(declared, list) else [declared]
    if schema.get("nullable") is True and declared is not None:
        return list(dict.fromkeys([*listed, "null"]))
    return listed


def _of_type(type_name: str | None, value: Any, at: KeyPath) -> Iterator[SchemaIssue]:
    if type_name is not None and not _is_a(type_name, value):
        yield at, f"must be {type_name}"


def _beside_type(schema: Mapping[str, Any], value: Any, at: KeyPath) -> Iterator[SchemaIssue]:
    if isinstance(value, Mapping):
        yield from _of_members(schema, value, at)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from value_errors_at(schema.get("items"), item, (*at, number))
    allowed = schema.get("enum")
    if allowed is not None and _json(value) not in map(_json, allowed):
        yield at, f"must be equal to one of the allowed values (allowed: {_listed(allowed)})"


def _of_members(schema: Mapping[str, Any], value: Mapping[str, Any], at: KeyPath) -> Iterator[SchemaIssue]:
    properties = _map(schema, "properties")
    for name in schema.get("required", ()):
        if name not in value:
            yield (*at, name), f"must have required property '{name}'"
    yield from _of_others(schema, {name: item for name, item in value.items() if name not in properties}, at)
    for name, subschema in properties.items():
        if name in value:
            yield from value_errors_at(subschema, value[name], (*at, name))


def _of_others(schema: Mapping[str, Any], others: Mapping[str, Any], at: KeyPath) -> Iterator[SchemaIssue]:
    """Yield the errors of members that are not in `properties`.

    If there are `patternProperties`, yield nothing, because their patterns are JavaScript's.
    """
    if _map(schema, "patternProperties"):
        return
    additional = schema.get("additionalProperties")
    errors_by_name = {
        name: list(value_errors_at(additional, item, (*at, name))) for name, item in others.items()
    }
    if additional is not False:
        yield from chain.from_iterable(errors_by_name.values())
    wrong_names = ", ".join(f'"{name}"' for name, errors in errors_by_name.items() if errors)
    if wrong_names and (
        additional is False or any(isinstance(schema.get(key), Mapping) for key in SCHEMA_MAPS)
    ):
        yield at, f"must not have additional properties: {wrong_names}"


def _map(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return mapping_or_empty(schema.get(key))


def _is_a(type_name: str, value: Any) -> bool:
    """Return whether the value has the type, as in JavaScript: 1.0 is an integer, true is not a number."""
    if isinstance(value, float) and type_name == "integer":
        return value.is_integer()
    return isinstance(value, SCHEMA_TYPES[type_name]) and (
        type_name == "boolean" or not isinstance(value, bool)
    )


def _listed(allowed: Sequence[Any]) -> str:
    more = f", ... (+{len(allowed) - MAX_VALUES_SHOWN} more)" if len(allowed) > MAX_VALUES_SHOWN else ""
    return ", ".join(_label(value) for value in allowed[:MAX_VALUES_SHOWN]) + more


def _label(value: Any) -> str:
    text = value if isinstance(value, str) else _json(value)
    cut = (
        text
        if len(text) <= MAX_LABEL_LENGTH
        else f"{text[:MAX_LABEL_LENGTH]}... (+{len(text) - MAX_LABEL_LENGTH} chars)"
    )
    return _json(cut) if isinstance(value, str) else cut


def _json(value: Any) -> str:
    """Return the value as JavaScript writes it, members sorted by name: equal values have equal texts."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        members = (f"{json.dumps(name, ensure_ascii=False)}:{_json(value[name])}" for name in sorted(value))
        return f"{{{','.join(members)}}}"
    return f"[{','.join(map(_json, value))}]" if isinstance(value, list) else script_text(value)
