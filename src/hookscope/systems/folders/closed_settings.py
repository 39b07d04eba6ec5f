"""Hooks settings with a closed schema: another key, or a wrong type, and the host refuses all of it.

Source: rules-openclaw section 8 (cfg-02 to cfg-04). Sentences are those of the schema library it uses.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hookscope.formats.places import KeyPath

Issue = tuple[KeyPath, str]


def hooks_settings_issues(settings: Mapping[str, Any], base: KeyPath) -> tuple[Issue, ...]:
    """What is wrong with the hooks settings at `base`: a path and a sentence for each."""
    value: Any = settings
    for length, step in enumerate(base, 1):
        if step not in value:
            return ()
        value = value[step]
        if not isinstance(value, Mapping):
            return (wrong_type("object", value, base[:length]),)
    return tuple(_internal(value, base))


def wrong_type(wanted: str, value: object, path: KeyPath) -> Issue:
    """The issue of a value that has another type."""
    return path, f"Invalid input: expected {wanted}, received {kind_of(value)}"


def kind_of(value: object) -> str:
    """A JSON value's type as the schema library calls it."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case float() if math.isnan(value):
            return "NaN"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def _internal(block: Mapping[str, Any], base: KeyPath) -> Iterator[Issue]:
    if "enabled" in block and not isinstance(block["enabled"], bool):
        yield wrong_type("boolean", block["enabled"], (*base, "enabled"))
    if "entries" in block:
        yield from _entries(block["entries"], (*base, "entries"))
    if "load" in block:
        yield from _load(block["load"], (*base, "load"))
    yield from unknown_keys(block, ("enabled", "entries", "load"), base)


def _entries(entries: object, path: KeyPath) -> Iterator[Issue]:
    if not isinstance(entries, Mapping):
        yield wrong_type("record", entries, path)
        return
    for key, entry in entries.items():
        at = (*path, key)
        if not isinstance(entry, Mapping):
            yield wrong_type("object", entry, at)
            continue
        if "enabled" in entry and not isinstance(entry["enabled"], bool):
            yield wrong_type("boolean", entry["enabled"], (*at, "enabled"))
        env = entry.get("env", {})
        if not isinstance(env, Mapping):
            yield wrong_type("record", env, (*at, "env"))
            continue
        for name, value in env.items():
            if not isinstance(value, str):
                yield wrong_type("string", value, (*at, "env", name))


def _load(load: object, path: KeyPath) -> Iterator[Issue]:
    if not isinstance(load, Mapping):
        yield wrong_type("object", load, path)
        return
    folders = load.get("extraDirs", [])
    if not isinstance(folders, list):
        yield wrong_type("array", folders, (*path, "extraDirs"))
    else:
        for number, item in enumerate(folders):
            if not isinstance(item, str):
                yield wrong_type("string", item, (*path, "extraDirs", number))
    yield from unknown_keys(load, ("extraDirs",), path)


def unknown_keys(block: Mapping[str, Any], known: Collection[str], path: KeyPath) -> Iterator[Issue]:
    """One issue for all keys of `block` that its schema does not know."""
    names = [f'"{name}"' for name in block if name not in known]
    if names:
        yield path, f"Unrecognized key{'s' if len(names) > 1 else ''}: {', '.join(names)}"
