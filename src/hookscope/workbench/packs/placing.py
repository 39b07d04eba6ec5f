"""Where a host wants a package's hooks, what its settings are to say, and how the hooks would stand there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hookscope.changes import Change
from hookscope.core.dialect import Host
from hookscope.core.examine import examine
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Inventory
from hookscope.core.look import look, look_at
from hookscope.core.rules import PackRules
from hookscope.core.surroundings import RealFiles
from hookscope.dialects import GUIDES
from hookscope.packs.edits import Wanted
from hookscope.packs.package import Package, check_hook_names, check_settings_keys
from hookscope.packs.tree import PackFile
from hookscope.settings import open_host
from hookscope.systems.folders import folder_system_of
from hookscope.systems.folders.places import MANAGED, hooks_folder
from hookscope.values import dataclass
from hookscope.workbench.packs.disk import PackDisk
from hookscope.workbench.refusal import Refusal

OUR_KEY = "hookscope"
NOWHERE = ".hookscope-look"  # a folder that is never made: hooks are read there before they have a place
Trees = Mapping[Path, Mapping[str, PackFile]]


@dataclass(frozen=True, slots=True)
class Placed:
    """A package in a host's folders."""

    trees: Trees  # by folder
    hooks: tuple[Path, ...]  # the folder of each hook, in the order of the package
    left: tuple[str, ...] = ()  # files of the package that go nowhere


def rules_of(host: Host) -> PackRules:
    """Raises Refusal where the host has nothing that hooks are installed into."""
    rules = host.dialect.packs
    if rules is None:
        raise Refusal(
            f"{host.dialect.product} has no folder that hooks are installed into.",
            "Its hooks are modules of the project: copy them there, or name another --dialect.",
        )
    return rules


def managed_folder(host: Host) -> Path:
    """Where this host keeps installed hooks."""
    return next(folder.path for folder in host.folders_of("folder") if folder.source == MANAGED)


def keys_of(host: Host) -> tuple[str, ...]:
    """The keys of package.json that list hooks: the host's own first."""
    others = (dialect.packs.key for dialect in GUIDES if dialect.packs is not None)
    return tuple(dict.fromkeys([rules_of(host).key, OUR_KEY, *others]))


def handlers_of(host: Host, *, own: bool = False) -> tuple[str, ...]:
    """The names that a handler may have; the host's own ones alone."""
    shape = folder_system_of(host.dialect).shape
    return shape.handlers if own else shape.candidates


def read_hooks(package: Package, host: Host, name: str) -> tuple[Hook, ...]:
    """The package's hooks as this host reads them, in its order. `name`: of the package's own folder.

    Raises Refusal where one is none, PackError for their names.
    """
    system = folder_system_of(host.dialect)
    nowhere = managed_folder(host) / NOWHERE
    places = [
        nowhere / str(number) / (hook.rpartition("/")[2] or name) for number, hook in enumerate(package.hooks)
    ]
    added = {
        place / path: file.content
        for place, hook in zip(places, package.hooks, strict=True)
        for path, file in package.tree.below(hook).files.items()
    }
    files = PackDisk(RealFiles(), added)
    here = replace(host, surroundings=replace(host.surroundings, files=files))
    folders = tuple(hooks_folder(here, MANAGED, place.parent, 30) for place in places)
    found = look_at(system, replace(here, folders=folders))
    hooks = []
    for place, hook in zip(places, package.hooks, strict=True):
        row = next((row for row in found.hooks if row.hook.path == place), None)
        if row is None:
            reason = next((item.reason for item in found.rejected if item.path == place), "it is no hook")
            raise Refusal(f"{hook or name} is no hook: {reason}.", "Nothing was written.")
        hooks.append(row.hook)
    check_hook_names([hook.name for hook in hooks])
    check_settings_keys([hook.key for hook in hooks])
    return tuple(hooks)


def placed(package: Package, hooks: Sequence[Hook], host: Host) -> Placed:
    """One folder where the host finds what a package lists; else a folder for each hook."""
    rules, managed = rules_of(host), managed_folder(host)
    if package.kind == "hook":
        target = managed / hooks[0].name
        return Placed({target: package.tree.files}, (target,))
    if rules.whole and package.key == rules.key:
        target = managed / package.name
        return Placed(
            {target: package.tree.files}, tuple(target.joinpath(*_parts(path)) for path in package.hooks)
        )
    targets = tuple(managed / hook.name for hook in hooks)
    trees = {
        target: package.tree.below(path).files for target, path in zip(targets, package.hooks, strict=True)
    }
    inside = {f"{path}/" if path else "" for path in package.hooks}
    left = tuple(path for path in package.tree.files if not path.startswith(tuple(inside)))
    return Placed(trees, targets, left)


def _parts(path: str) -> Iterable[str]:
    return filter(None, path.split("/"))


def wanted_for(host: Host, keys: Iterable[str]) -> tuple[Wanted, ...]:
    """The entries that switch these hooks on, and what the host's own command sets beside them."""
    entries = [Wanted((*host.hooks_setting("entries", key)[1], "enabled"), True) for key in keys]
    return (*entries, *(Wanted(path, True) for path in host.dialect.switching.also_true))


def link_wanted(host: Host, folder: Path) -> Wanted:
    """The setting that has the host look into a folder, too."""
    return Wanted(host.hooks_setting("load", "extraDirs")[1], str(folder), item=True)


def linked_folders(package: Package, folder: Path, host: Host) -> tuple[Path, ...]:
    """The folders to look into, so that this host finds the package's hooks. Raises Refusal."""
    if rules_of(host).whole or package.kind == "folder":
        return (folder,)
    if "" in package.hooks:
        raise Refusal(
            f"{host.dialect.product} looks for hooks below an extra folder, and {folder} is a hook itself.",
            f"Link {folder.parent} with all that is in it, or install a copy.",
        )
    return tuple(dict.fromkeys(folder.joinpath(*_parts(path)).parent for path in package.hooks))


def seen_then(host: Host, trees: Trees, gone: Iterable[Path], change: Change) -> tuple[Host, Inventory]:
    """The host and what it would find with these folders in place, those gone, and these settings.

    Trust in a folder that is not there is trust in what was: what comes there now is another.
    """
    added: dict[Path, bytes | None] = {
        folder / path: file.content for folder, files in trees.items() for path, file in files.items()
    }
    added[change.path] = change.new
    files = PackDisk(RealFiles(), added, frozenset(gone))
    here = replace(host.surroundings, files=files)
    standing = frozenset(filter(os.path.lexists, host.trust.folders))
    trust = replace(host.trust, folders=standing)
    then = open_host(host.dialect, here, host.choices, trust=trust)
    return then, examine(look(then), then)
