"""Hooks settings of the wrong type: a host passes over them in silence, and the author wonders why."""

from collections.abc import Iterator, Mapping
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.hooks import Place, Problem
from hookscope.formats.places import KeyPath
from hookscope.systems.folders.metadata import describe

WANTED = {
    ("enabled",): (bool, "true or false"),
    ("entries",): (Mapping, "a mapping"),
    ("load",): (Mapping, "a mapping"),
    ("handlers",): (list, "a list"),
    ("installs",): (Mapping, "a mapping"),
}
WANTED_OF_AN_ENTRY = {"enabled": (bool, "true or false"), "env": (Mapping, "a mapping of texts")}


def wrong_settings(host: Host) -> tuple[Problem, ...]:
    """A problem for each hooks setting that has the wrong type, with its line."""
    problems: dict[KeyPath, Problem] = {}
    for base in host.dialect.layout.hooks:
        for path, wanted, value in _wrong_below(base, host):
            problems.setdefault(path, _problem(path, wanted, value, host))
    return tuple(problems.values())


def _wrong_below(base: KeyPath, host: Host) -> Iterator[tuple[KeyPath, str, Any]]:
    for length in range(1, len(base) + 1):
        block = host.settings.get(base[:length])
        if block is not None and not isinstance(block, Mapping):
            yield base[:length], "a mapping", block
            return
    if block is not None:
        yield from _wrong(base, block)


def _wrong(base: KeyPath, block: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, Any]]:
    for path, (kind, wanted) in WANTED.items():
        value = block.get(path[0])
        if value is not None and not isinstance(value, kind):
            yield (*base, *path), wanted, value
    entries = block.get("entries")
    for key, entry in entries.items() if isinstance(entries, Mapping) else ():
        if not isinstance(entry, Mapping):
            yield (*base, "entries", key), "a mapping", entry
            continue
        for name, (kind, wanted) in WANTED_OF_AN_ENTRY.items():
            value = entry.get(name)
            if value is not None and not isinstance(value, kind):
                yield (*base, "entries", key, name), wanted, value
        env = entry.get("env")
        for name, value in env.items() if isinstance(env, Mapping) else ():
            if not isinstance(value, str):
                yield (*base, "entries", key, "env", name), "a text", value


def _problem(path: KeyPath, wanted: str, value: object, host: Host) -> Problem:
    dotted = ".".join(str(part) for part in path)
    place = host.settings.locate(path) or Place(host.settings.file)
    return Problem(f"{dotted} is passed over: it wants {wanted} and has {describe(value)}", place)
