"""What Milady and Eliza have in common as shipped. Their guides differ from this; see the rules note.

Both run the same loader under other names (rules note, section 2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.hooks import Folder, Place, Problem
from hookscope.core.rules import LoadRules
from hookscope.dialects.guides import REQUIREMENTS
from hookscope.systems.folders import FolderSystem, Places, gates, unchecked
from hookscope.systems.folders.gates import GateRule
from hookscope.systems.folders.legacy import LegacyRule, legacy_path
from hookscope.systems.folders.line_header import read_line_header
from hookscope.systems.folders.metadata import describe
from hookscope.systems.folders.places import (
    BUNDLED,
    EXTRA,
    MANAGED,
    WORKSPACE,
    bundled_folder,
    hooks_folder,
)
from hookscope.systems.folders.policy import own_text
from hookscope.systems.folders.unchecked import Finder

CATALOGUE = "shipped_gateway"
REFUSED_MODULE = '[hooks] Rejected legacy handler: module path "{module}" is outside allowed hook directories'
REFUSED_FOLDER = '[hooks] Rejected config extraDir "{written}": must be under {state}/'
LEGACY_REGISTERED = "[hooks] Registered legacy handler: {event} -> {module}"
FAILED = "[hooks] {count} hook handler(s) failed — errors were logged above"
ROOTS = (BUNDLED, MANAGED, WORKSPACE)  # legacy modules may lie below these, not below extra folders

# A class is a function to them, until it is called (rules note 1.5). They were recorded under Node alone.
LOAD_RULES = LoadRules(plain=True, imports_idle=True, takes_classes=True)


def shipped_gates(legacy: LegacyRule, find: Finder, looked_up: tuple[str, ...]) -> Mapping[str, GateRule]:
    """The checks in the order of showing. Only legacy modules have their path checked.

    `always` skips what the guides' REQUIREMENTS name: not the OS, nor the switches (milady 07).
    """
    return {
        "handler": gates.handler,
        "fields": unchecked.fields(looked_up),
        "events": unchecked.events,
        "path": legacy_path(legacy, gates.anywhere),
        "os": unchecked.os,
        "bins": unchecked.bins(find),
        "anyBins": unchecked.any_bins(find),
        "env": unchecked.env,
        "config": unchecked.config,
        "switch": gates.switch,
        "enabled": gates.enabled,
        "trusted": gates.trusted,
        "sent": gates.sent,
    }


def as_shipped(
    guide: FolderSystem,
    legacy: LegacyRule,
    places: Places,
    find: Finder,
    looked_up: tuple[str, ...],
    error: str = "{error}",
) -> FolderSystem:
    """The folder hooks of a guide as the program has them. `find` says what its `bins` count as there;
    `looked_up` are the lists in which anything but a text ends the load; `error` is how it logs one."""
    return replace(
        guide,
        shape=replace(
            guide.shape,
            read=read_line_header,
            handler_first=True,
            marks_python=True,
            longest_header=None,
        ),
        texts=replace(
            guide.texts,
            unscanned=f"[hooks] Error scanning {{folder}}: {error}",
            unreadable=f"[hooks] Error loading hook from {{folder}}: {error}",
        ),
        places=places,
        rules=shipped_gates(legacy, find, looked_up),
        always_skips=REQUIREMENTS,
        legacy=legacy,
        words=own_text,
        failed_text=FAILED,
    )


def four_roots(state: str, name: str) -> Places:
    """Extra, bundled, managed, workspace, each overriding those before it (milady 03 and 16).

    Managed hooks stay below home when the state folder moves. An extra folder of the settings must be the
    state folder below home, or in it, as text; links are not looked at. Those of the caller may be any.
    """

    def places(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        extra, refused = _extra_folders(state, host)
        managed = hooks_folder(host, MANAGED, host.surroundings.absolute(state) / "hooks", 30)
        workspace = hooks_folder(host, WORKSPACE, host.workspace / "hooks", 40)
        folders = (*extra, *bundled_folder(host, 20), managed, workspace)
        return tuple(_labelled(folder, name) for folder in folders), refused

    return places


def _labelled(folder: Folder, name: str) -> Folder:
    """With the host's word for it: extra folders are managed ones to it."""
    return replace(folder, label=f"{name}-{MANAGED if folder.source == EXTRA else folder.source}")


def _extra_folders(state: str, host: Host) -> tuple[list[Folder], tuple[Problem, ...]]:
    folders = [hooks_folder(host, EXTRA, path, 10, "given by the caller") for path in host.choices.extra]
    home = host.surroundings.absolute(state)
    listed, where = host.hooks_setting("load", "extraDirs")
    refused = []
    for number, written in enumerate(_walked(listed)):
        if not isinstance(written, str):
            refused.append(_ends_the_load(".".join(map(str, where)), written, host.settings.locate(where)))
            break
        path = _taken(written, host)
        if path.is_relative_to(home):
            declared = f"{'.'.join(map(str, where))}[{number}]"
            folders.append(hooks_folder(host, EXTRA, path, 10, declared))
        else:
            place = host.settings.locate((*where, number)) or Place(host.settings.file)
            text = REFUSED_FOLDER.format(written=written, state=state)
            refused.append(Problem(text, place, logged="warn"))
    return folders, tuple(refused)


def _walked(listed: Any) -> Sequence[Any]:
    """The folders as they stand in the settings. A text in place of a list is walked letter by letter."""
    if listed is None or isinstance(listed, str | list):
        return listed or ()
    return (listed,)  # no text, and so the load ends


def _ends_the_load(name: str, value: Any, place: Place | None) -> Problem:
    """The program throws where nobody catches it, before it looks for any hook."""
    text = f"the whole load fails: `{name}` wants a list of texts and has {describe(value)}"
    return Problem(text, place, stops_load=True)


def _taken(written: str, host: Host) -> Path:
    """The path that is meant: a `~` at the start is home, whatever follows; else from the current folder."""
    home = str(host.surroundings.home)
    return host.surroundings.absolute(home + written[1:] if written.startswith("~") else written)


def roots_as_text(host: Host) -> tuple[Path, ...]:
    """Where legacy modules may lie; links are not resolved (milady 15)."""
    return tuple(folder.path for folder in host.folders if folder.source in ROOTS)


def roots_resolved(host: Host) -> tuple[Path, ...]:
    """Where legacy modules may lie, links resolved (eliza 15; rules note 1.5)."""
    return tuple(folder.real or folder.path for folder in host.folders if folder.source in ROOTS)
