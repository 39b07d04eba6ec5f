"""Helpers of several rules: unsent events, guards, header keys, and edits of `requires`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from hookscope.authoring.lint.model import LintSubject, MissingImport
from hookscope.hosts.folders.manifest import REQUIREMENT_FIELDS
from hookscope.hosts.source.facts import HandlerFacts, Occurrence
from hookscope.model.event_catalogue import ALL_EVENTS
from hookscope.model.event_typos import UnsentEvent, unsent_event
from hookscope.model.hook import Edit
from hookscope.model.machine import Files, is_file, node_package_folders

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
    """Yield the imports that fail at run time. `like_node`: the host does not correct import names."""
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
    if is_file(imported, files):
        return
    found = next((one for one in _intended_file(imported) if is_file(one, files)), None)
    if found is None:
        yield MissingImport(occurrence)
    elif like_node:
        write = os.path.relpath(found, handler.parent).replace(os.sep, "/")
        yield MissingImport(occurrence, write if write.startswith(".") else f"./{write}")


def _intended_file(imported: Path) -> Iterator[Path]:
    """Yield the files that a bundler tries: for `x.js` also x.ts, for `x` also x.ts and x/index.ts."""
    if imported.suffix in TYPED:
        yield imported.with_suffix(TYPED[imported.suffix])
    for ending in ENDINGS:
        yield imported.with_name(imported.name + ending)
    for ending in ENDINGS:
        yield imported / f"index{ending}"


def _is_package(handler: Path, name: str, files: Files) -> bool:
    """Return whether Node finds the package, or the name is built in, a URL or an alias."""
    first, _, rest = name.partition("/")
    if ":" in first or first in BUILT_IN or name.startswith(MARKS):
        return True
    package = f"{first}/{rest.partition('/')[0]}" if first.startswith("@") else first
    if any(files.facts(place) is not None for place in node_package_folders(package, handler.parent)):
        return True
    return any(_by_base_url(folder, first, files) for folder in handler.parents)


def _by_base_url(folder: Path, first: str, files: Files) -> bool:
    """Return whether a tsconfig.json beside `first` may make its folder a base URL for imports."""
    return files.facts(folder / "tsconfig.json") is not None and files.facts(folder / first) is not None


def declare_requirement(subject: LintSubject, kind: str, name: str) -> tuple[Edit, ...] | None:
    """Return the edit that adds `name` to `requires.<kind>`; None if the header does not allow it."""
    metadata, requires = subject.metadata, subject.metadata.get("requires")
    if not metadata or not isinstance(requires, Mapping | None) or subject.header.quoted:
        return None
    listed = (requires or {}).get(kind, [])
    if not isinstance(listed, list):
        return None
    path = (*subject.metadata_path, "requires", kind)
    return (subject.edit(path, [*listed, name], f"requires.{kind}: {name} added"),)


def dead_events(subject: LintSubject) -> tuple[UnsentEvent, ...]:
    """Return the events of a hook that its host never sends, each once."""
    keys = (key for key in dict.fromkeys(subject.events) if not _is_sent(key, subject))
    return tuple(_dead_events(key, subject) for key in keys)


def later_events(subject: LintSubject) -> tuple[str, ...]:
    """Return the hook's events that the host's program sends and its guide does not list."""
    return tuple(key for key in dict.fromkeys(subject.events) if _is_later(key, subject))


def doubtful_events(subject: LintSubject) -> tuple[UnsentEvent, ...]:
    """Return events of open types whose names still look like typos."""
    catalogue = subject.host.catalogue
    own = [key for key in dict.fromkeys(subject.events) if _is_delivered(key, subject)]
    strange = (_dead_events(key, subject) for key in own if key not in catalogue.by_key and key != ALL_EVENTS)
    return tuple(dead for dead in strange if dead.why or dead.instead or dead.near)


def is_all_dead(subject: LintSubject) -> bool:
    """Return whether the host sends none of the hook's events, so that the hook never runs."""
    return bool(subject.events) and not any(_is_sent(key, subject) for key in subject.events)


def _is_sent(key: str, subject: LintSubject) -> bool:
    return _is_delivered(key, subject) or _is_later(key, subject)


def _is_later(key: str, subject: LintSubject) -> bool:
    return key in later_senders(subject) and not _is_delivered(key, subject)


def later_senders(subject: LintSubject) -> Mapping[str, str]:
    """Return the events missing from the host's guide, with the dialect that sends each."""
    return subject.host.later_plugin if subject.kind == "plugin" else subject.host.later


def _is_delivered(key: str, subject: LintSubject) -> bool:
    """Return whether the event reaches the hook. Folder hooks have no wildcards, even in open types."""
    return subject.sends(key) and not (subject.kind == "folder" and key.endswith("*"))


def _dead_events(key: str, subject: LintSubject) -> UnsentEvent:
    return unsent_event(key, subject.kind_of(key), subject.host.catalogue)


def is_whole_key(occurrence: Occurrence, subject: LintSubject) -> bool:
    """Return whether a guard compares with a whole key. Actions may contain a colon: `compact:before`."""
    if ":" not in occurrence.name or occurrence.kind not in ("type", "action"):
        return False
    if occurrence.kind == "type":
        return True
    actions = {key.partition(":")[2] for key in (*subject.events, *subject.host.catalogue.by_key)}
    types = {key.partition(":")[0] for key in (*subject.events, *subject.host.catalogue.by_key)}
    return occurrence.name not in actions and occurrence.name.partition(":")[0] in types


TOP_KEYS = frozenset({"name", "description", "homepage", "metadata"})
METADATA_KEYS = frozenset(  # below the host's name
    {"events", "always", "hookKey", "emoji", "homepage", "export", "os", "requires", "install"}
)
REQUIRES_KEYS = frozenset(REQUIREMENT_FIELDS)

# Keys that have no effect at the top level → advice for those that have none anywhere.
EVENTS_KEY = "List events in `events` below the host's metadata."
MISPLACED_KEYS = {
    **dict.fromkeys(METADATA_KEYS - TOP_KEYS, ""),
    "trigger": EVENTS_KEY,
    "triggers": EVENTS_KEY,
    "event": EVENTS_KEY,
    "hooks": EVENTS_KEY,
    "hook": EVENTS_KEY,
    "priority": "Remove it: hooks run in the order in which they are found.",
    "channel": "Remove it, and check the event's context in the handler.",
    "filter": "Remove it, and check the event in the handler.",
    "enabled": "Remove it: hooks are enabled and disabled in the host's settings.",
}
