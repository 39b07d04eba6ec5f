"""From a fetched package to a plan: where it goes, what the settings say then, how everything stands."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Inventory
from hookscope.packs.dependencies import ignored_parts, registry_dependencies
from hookscope.packs.fetched import Fetched
from hookscope.packs.package import Package, check_pack_name, package_json_of, package_of
from hookscope.packs.record import Record
from hookscope.packs.standing import OnDisk, standing_of
from hookscope.packs.tree import DEPENDENCIES, PackFile
from hookscope.packs.versions import is_older
from hookscope.values import dataclass
from hookscope.workbench.packs.effects import effects
from hookscope.workbench.packs.incoming import Incoming
from hookscope.workbench.packs.linking import plan_link
from hookscope.workbench.packs.placing import (
    Placed,
    Trees,
    handlers_of,
    keys_of,
    placed,
    read_hooks,
    seen_then,
    wanted_for,
)
from hookscope.workbench.packs.planned import FileAction, FilePlan, Planned
from hookscope.workbench.packs.settled import Settled
from hookscope.workbench.refusal import Refusal

STEMS = (".tar.gz", ".tgz", ".tar", ".zip")


@dataclass(frozen=True, slots=True)
class Asked:
    """How it is to be installed."""

    link: bool = False
    pin: bool = False
    force: bool = False  # in place of what is installed
    dependencies: bool = False
    own_handlers: bool = False  # only handlers that the host itself runs


def package_in(fetched: Fetched, host: Host, asked: Asked) -> Package:
    """What was fetched. Raises PackError."""
    spec = fetched.spec
    where = spec.text if spec.source in ("folder", "archive") else fetched.resolved
    return package_of(
        fetched.tree,
        keys_of(host),
        handlers_of(host, own=asked.own_handlers),
        where=where,
        side_by_side=fetched.side_by_side or asked.link,
    )


def name_of(fetched: Fetched) -> str:
    """What the folder of the package would be called, where its hook has no name of its own."""
    spec = fetched.spec
    if spec.path is not None:
        name = spec.path.name
        return next((name[: -len(end)] for end in STEMS if name.endswith(end)), name)
    if spec.source == "git":
        return spec.url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return spec.name.rpartition("/")[2]


def _name_of_folder(fetched: Fetched) -> str:
    """Of hooks side by side with nothing that names them: a Python package, or a folder that is linked."""
    path = fetched.spec.path
    return fetched.spec.name if path is None else path.name


def id_of(fetched: Fetched, package: Package, hooks: Sequence[Hook]) -> str:
    """Return the id under which the package is installed. Raises PackError where no pack may have it."""
    name = package.name or (_name_of_folder(fetched) if package.kind == "folder" else hooks[0].name)
    check_pack_name(name, package.full_name)
    return name


def plan_install(
    fetched: Fetched, host: Host, inventory: Inventory, known: Mapping[str, Record], asked: Asked
) -> Planned:
    """Raises Refusal, PackError."""
    package = package_in(fetched, host, asked)
    hooks = read_hooks(package, host, name_of(fetched))
    name = id_of(fetched, package, hooks)
    before = known.get(name)
    if before is not None and not asked.force:
        raise Refusal(
            f"{name} is installed already, from {before.origin}.",
            f"`hookscope update {name}` brings it up to date, --force puts this one in its place.",
        )
    incoming = Incoming(fetched, package, hooks, name, before)
    if asked.link:
        if before is not None and before.linked is None:
            raise Refusal(
                f"{name} is installed as a copy.", f"`hookscope uninstall {name}` first, then link."
            )
        return plan_link(incoming, host, inventory)
    return plan_copy(incoming, host, inventory, known, asked)


def plan_copy(
    incoming: Incoming, host: Host, inventory: Inventory, known: Mapping[str, Record], asked: Asked
) -> Planned:
    """A copy in the managed folder, in place of what is there. Raises Refusal, PackError."""
    fetched, package, before = incoming.fetched, incoming.package, incoming.before
    ignored: tuple[str, ...] = ()
    if asked.dependencies:
        package, ignored = _for_npm(package)
    place = placed(package, incoming.hooks, host)
    _check_free(place, known, incoming.name)
    if asked.dependencies and place.left:
        raise Refusal(
            f"{host.dialect.product} wants each hook in a folder of its own, so dependencies have no place.",
            "Install without --dependencies, or link the folder with --link.",
        )
    on_disk = standing_of(before) if before is not None else OnDisk()
    wanted = wanted_for(host, [hook.key for hook in incoming.hooks])
    settings = Settled.of(host, before, wanted)
    gone = tuple(before.folders) if before is not None else ()
    _, seen = seen_then(host, place.trees, gone, settings.change)
    plans = incoming.plans(place.hooks, {row.hook.path: row for row in seen.hooks}, host, "there", place.left)
    folders = {
        folder: {path: file.digest for path, file in files.items()} for folder, files in place.trees.items()
    }
    after = replace(
        incoming.record(host, settings, folders),
        spec=fetched.resolved if asked.pin else fetched.spec.text,
        pinned=asked.pin or (before is not None and before.pinned and fetched.spec.exact),
        dependencies=asked.dependencies,
    )
    return Planned(
        action=incoming.action,
        id=incoming.name,
        before=before,
        after=after,
        fetched=fetched,
        trees=place.trees,
        change=settings.change,
        unset=settings.unset,
        wanted=wanted,
        hooks=plans,
        shared=incoming.shared,
        files=tuple(_files(place.trees, before, on_disk)),
        others=tuple(effects(inventory, seen, {*place.hooks}, gone)),
        on_disk=on_disk,
        needs=package.needs,
        left_out=fetched.tree.left_out,
        drift=drift_of(fetched, before),
        apart=bool(place.left),
        notes=(*ignored, *_gone_back(after, before), *_left_behind(place.left, host), *incoming.able.unread),
    )


def _for_npm(package: Package) -> tuple[Package, tuple[str, ...]]:
    """Return the package without the dependencies that it brings, and a sentence of what npm does not get.

    Raises PackError for dependencies that are refused.
    """
    package_json = package_json_of(package.tree)
    registry_dependencies(package_json)
    ignored = ignored_parts(package.tree, package_json)
    files = {
        path: file for path, file in package.tree.files.items() if not path.startswith(f"{DEPENDENCIES}/")
    }
    said = (f"npm gets its dependencies alone; ignored: {', '.join(ignored)}",) if ignored else ()
    return replace(package, tree=replace(package.tree, files=files)), said


def _gone_back(after: Record, before: Record | None) -> Iterator[str]:
    if before is not None and is_older(after.version, before.version):
        yield f"{after.version} is older than {before.version}, which is installed now"


def _left_behind(paths: Sequence[str], host: Host) -> Iterator[str]:
    """A sentence for each file that goes nowhere, and for many one at the end."""
    for path in paths[:3]:
        yield f"{path} stays behind: {host.dialect.product} finds each hook by itself"
    if len(paths) > 3:
        yield f"and {len(paths) - 3} more files"


def drift_of(fetched: Fetched, before: Record | None) -> str:
    """A sentence where the same name and version has other bytes than when it was installed."""
    if before is None or before.source != "npm" or before.resolved != fetched.resolved:
        return ""
    if before.integrity == fetched.integrity:
        return ""
    return (
        f"{fetched.resolved} is not what it was: its integrity was {before.integrity}, "
        f"and the registry now gives {fetched.integrity}"
    )


def _check_free(place: Placed, known: Mapping[str, Record], name: str) -> None:
    """What stands where it is to go is of this very pack, or nothing."""
    mine = set(known[name].folders) if name in known else set()
    for target in place.trees:
        owner = next((record.id for record in known.values() if target in record.folders), None)
        if owner is not None and owner != name:
            raise Refusal(f"{target} is of the pack {owner}.", f"`hookscope uninstall {owner}` first.")
        if target not in mine and os.path.lexists(target):
            raise Refusal(f"{target} is there, and Hookscope has not installed it.", "Move it away first.")


def _files(trees: Trees, before: Record | None, on_disk: OnDisk) -> Iterator[FilePlan]:
    known = before.folders if before is not None else {}
    for folder, files in trees.items():
        old = known.get(folder, {})
        for path, file in files.items():
            yield FilePlan(
                folder / path,
                _action(folder / path, old.get(path), file, on_disk),
                len(file.content),
                file.runnable,
            )
    for folder, old in known.items():
        yield from (FilePlan(folder / path, "remove", 0) for path in old if path not in trees.get(folder, {}))


def _action(path: Path, known: str | None, file: PackFile, on_disk: OnDisk) -> FileAction:
    """What happens to the file that stands there, whatever was installed."""
    if (known is None and path not in on_disk.added) or path in on_disk.missing:
        return "add"
    return "same" if known == file.digest and path not in on_disk.changed else "replace"
