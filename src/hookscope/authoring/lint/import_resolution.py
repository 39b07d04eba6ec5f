"""Imports of a handler that Node cannot resolve. Only reads the disk."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from hookscope.authoring.lint.model import MissingImport
from hookscope.hosts.source.facts import HandlerFacts, Occurrence
from hookscope.model.machine import Files, node_package_folders

ENDINGS = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json")
TYPED = {".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}
MARKS = ("#", "@/", "~", "$")  # prefixes of aliases that a package.json or bundler defines
NODE = """
assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns
domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring
readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
BUILT_IN = frozenset(NODE.split())


def missing_imports(
    handler: Path, facts: HandlerFacts, files: Files, *, like_node: bool
) -> Iterator[MissingImport]:
    """Yield failing imports of more than types. `like_node`: the host corrects no import name."""
    for occurrence in facts.imports:
        if occurrence.kind == "type":
            continue  # types are removed before the file runs
        if occurrence.name.startswith((".", "/")):
            yield from _file(handler, occurrence, files, like_node=like_node)
        elif not _is_package(handler, occurrence.name, files):
            yield MissingImport(occurrence)


def is_misnamed(name: str, packages: Collection[str]) -> bool:
    """Return whether a name is a host's package under a scope that the host does not have."""
    scope, _, rest = name.partition("/")
    own = rest.partition("/")[0]
    last_words = {package.rpartition("/")[2] for package in packages}
    return scope.startswith("@") and own in last_words and f"{scope}/{own}" not in packages


def _file(handler: Path, occurrence: Occurrence, files: Files, *, like_node: bool) -> Iterator[MissingImport]:
    imported = Path(os.path.normpath(handler.parent / occurrence.name))
    if _is_file(imported, files):
        return
    found = next((one for one in _intended_file(imported) if _is_file(one, files)), None)
    if found is None:
        yield MissingImport(occurrence)
    elif like_node:
        write = os.path.relpath(found, handler.parent).replace(os.sep, "/")
        yield MissingImport(occurrence, write if write.startswith(".") else f"./{write}")


def _intended_file(imported: Path) -> Iterator[Path]:
    """Yield what was meant, as bundlers resolve it: `x.js` for x.ts, `x` for x.ts or x/index.ts."""
    if imported.suffix in TYPED:
        yield imported.with_suffix(TYPED[imported.suffix])
    for ending in ENDINGS:
        yield imported.with_name(imported.name + ending)
    for ending in ENDINGS:
        yield imported / f"index{ending}"


def _is_package(handler: Path, name: str, files: Files) -> bool:
    """Return whether Node finds the package, or the name is no file or package name."""
    first, _, rest = name.partition("/")
    if ":" in first or first in BUILT_IN or name.startswith(MARKS):
        return True
    package = f"{first}/{rest.partition('/')[0]}" if first.startswith("@") else first
    if any(files.facts(place) is not None for place in node_package_folders(package, handler.parent)):
        return True
    return any(_by_base_url(folder, first, files) for folder in handler.parents)


def _by_base_url(folder: Path, first: str, files: Files) -> bool:
    """Return whether a tsconfig.json beside a folder of this name may be a base URL."""
    return files.facts(folder / "tsconfig.json") is not None and files.facts(folder / first) is not None


def _is_file(path: Path, files: Files) -> bool:
    facts = files.facts(path)
    return facts is not None and facts.file
