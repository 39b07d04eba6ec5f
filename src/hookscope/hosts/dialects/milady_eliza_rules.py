"""Rules that Milady and Eliza share as shipped: they run the same loader, which differs from their guides."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.formats.positions import dotted_path
from hookscope.hosts.dialects import milady_eliza_gates
from hookscope.hosts.dialects.guide_rules import REQUIREMENT_GATES, guide_gates
from hookscope.hosts.dialects.milady_eliza_gates import ProgramFinder
from hookscope.hosts.folders import FolderSystem, Places
from hookscope.hosts.folders.folder_policy import own_error_text
from hookscope.hosts.folders.legacy_handlers import LegacyRule
from hookscope.hosts.folders.manifest import describe_value
from hookscope.hosts.folders.search_paths import (
    BUNDLED,
    EXTRA,
    MANAGED,
    WORKSPACE,
    bundled_folder,
    hooks_folder,
)
from hookscope.hosts.folders.shipped_headers import read_line_header
from hookscope.hosts.gates.bins import ANY_BINS, BINS
from hookscope.hosts.gates.config import CONFIG
from hookscope.hosts.gates.env import ENV
from hookscope.hosts.gates.fields import FIELDS
from hookscope.hosts.gates.path import any_path_gate
from hookscope.hosts.gates.rules import rules_of
from hookscope.model.hook import FilePosition, Folder, Problem
from hookscope.model.host import Host, LoadRules

CATALOGUE = "milady_eliza"
REFUSED_MODULE = '[hooks] Rejected legacy handler: module path "{module}" is outside allowed hook directories'
REFUSED_FOLDER = '[hooks] Rejected config extraDir "{written}": must be under {state}/'
LEGACY_REGISTERED = "[hooks] Registered legacy handler: {event} -> {module}"
FAILED = "[hooks] {count} hook handler(s) failed — errors were logged above"
ROOTS = (BUNDLED, MANAGED, WORKSPACE)  # legacy modules may be below these, not below extra folders

# A class counts as a function until it is called. Recorded under Node only.
LOAD_RULES = LoadRules(plain=True, imports_hooks_without_events=True, accepts_classes=True)


def shipped_folder_system(
    guide: FolderSystem,
    legacy: LegacyRule,
    search_paths: Places,
    find_program: ProgramFinder,
    looked_up: tuple[str, ...],
    error_format: str = "{error}",
) -> FolderSystem:
    """Return the guide's system of folder hooks with the rules of the shipped program.

    `find_program` finds a program of `bins`. `looked_up` names the lists whose items must be strings: any
    other item ends the load. `error_format` is the program's log text for an error. Only the paths of legacy
    modules are checked. `always` skips the requirements, but not the OS or the switches (milady 07).
    """
    own_rules = rules_of(
        (FIELDS, milady_eliza_gates.fields_gate(looked_up)),
        (BINS, milady_eliza_gates.bins_gate(find_program)),
        (ANY_BINS, milady_eliza_gates.any_bins_gate(find_program)),
        (ENV, milady_eliza_gates.env_gate),
        (CONFIG, milady_eliza_gates.config_gate),
    )
    return replace(
        guide,
        shape=replace(
            guide.shape,
            read_header=read_line_header,
            handler_first=True,
            marks_python=True,
            longest_header=None,
        ),
        texts=replace(
            guide.texts,
            unscanned=f"[hooks] Error scanning {{folder}}: {error_format}",
            unreadable=f"[hooks] Error loading hook from {{folder}}: {error_format}",
        ),
        search_paths=search_paths,
        rules={**guide_gates(any_path_gate, legacy), **own_rules},
        always_skips=REQUIREMENT_GATES,
        legacy_rule=legacy,
        failure_text=own_error_text,
        failure_summary=FAILED,
    )


def lowest_first_labelled(state: str, name: str) -> Places:
    """Return the search paths: extra, bundled, managed, workspace; each overrides those before it.

    Managed hooks stay below home when the state folder moves. An extra folder in the settings must be
    the state folder below home, or inside it; links are not resolved. An extra folder that the caller
    passes may be anywhere. Source: milady 03 and 16.
    """

    def places(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        extra, refused = _extra_folders(state, host)
        managed = hooks_folder(host, MANAGED, host.machine.absolute(state) / "hooks", 30)
        workspace = hooks_folder(host, WORKSPACE, host.workspace / "hooks", 40)
        folders = (*extra, *bundled_folder(host, 20), managed, workspace)
        return tuple(_labelled(folder, name) for folder in folders), refused

    return places


def _labelled(folder: Folder, name: str) -> Folder:
    """Return the folder with the host's label; the host labels extra folders as managed."""
    return replace(folder, label=f"{name}-{MANAGED if folder.source == EXTRA else folder.source}")


def _extra_folders(state: str, host: Host) -> tuple[list[Folder], tuple[Problem, ...]]:
    folders = [hooks_folder(host, EXTRA, path, 10, "passed by the caller") for path in host.overrides.extra]
    home = host.machine.absolute(state)
    listed, where = host.hooks_setting("load", "extraDirs")
    refused = []
    for number, written in enumerate(_iterated_folders(listed)):
        if not isinstance(written, str):
            refused.append(_load_stopped(dotted_path(where), written, host.settings.locate(where)))
            break
        path = _expanded_path(written, host)
        if path.is_relative_to(home):
            declared = f"{dotted_path(where)}[{number}]"
            folders.append(hooks_folder(host, EXTRA, path, 10, declared))
        else:
            text = REFUSED_FOLDER.format(written=written, state=state)
            refused.append(Problem(text, host.settings.place_of((*where, number)), log_level="warn"))
    return folders, tuple(refused)


def _iterated_folders(listed: Any) -> Sequence[Any]:
    """Return the folders in the settings. A string in place of a list is iterated letter by letter."""
    if listed is None or isinstance(listed, str | list):
        return listed or ()
    return (listed,)  # not a string, so the load ends


def _load_stopped(name: str, value: Any, place: FilePosition | None) -> Problem:
    """Return the problem of settings that make the program throw before it scans for hooks."""
    text = f"the whole load fails: `{name}` must be a list of strings, not {describe_value(value)}"
    return Problem(text, place, stops_load=True)


def _expanded_path(written: str, host: Host) -> Path:
    """Return the absolute path; a relative path is resolved against the current folder.

    A leading `~` becomes the home folder, whatever follows.
    """
    home = str(host.machine.home)
    return host.machine.absolute(home + written[1:] if written.startswith("~") else written)


def unresolved_roots(host: Host) -> tuple[Path, ...]:
    """Return the roots of legacy modules; links are not resolved (milady 15)."""
    return tuple(folder.path for folder in host.folders if folder.source in ROOTS)


def resolved_roots(host: Host) -> tuple[Path, ...]:
    """Return the roots of legacy modules, links resolved (eliza 15)."""
    return tuple(folder.real or folder.path for folder in host.folders if folder.source in ROOTS)
