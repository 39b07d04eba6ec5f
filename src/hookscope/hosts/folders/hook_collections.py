"""Finds hooks in collections and packs, and folders that are themselves a hook, as shipped OpenClaw does.

Refuses hard links, and links that lead out of a hook or pack. Source: disc-06 to disc-13.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from hookscope.formats.json5 import locate_json5
from hookscope.formats.positions import KeyPath
from hookscope.formats.text_header import NEWEST, HeaderRules, header_block, read_text_header
from hookscope.hosts.folders.hook_discovery import (
    MANIFEST,
    NOT_RUN_BY_HOST,
    PYTHON_HANDLERS,
    FolderShape,
    FolderTexts,
    HookSearch,
    children_of,
    missing_handler_reason,
    os_error_reason,
    report_loose_files,
    report_missing_manifest,
)
from hookscope.hosts.folders.shipped_headers import metadata_of_texts
from hookscope.model.hook import LANGUAGE_OF, FilePosition, Folder, Hook
from hookscope.model.hook_status import FoundHooks
from hookscope.model.host import Host
from hookscope.model.machine import FolderItem, names_in
from hookscope.model.payload import mapping_or_empty
from hookscope.model.regular_file import LARGEST_MANIFEST
from hookscope.values import dataclass

PACKAGE = "package.json"


@dataclass(frozen=True, slots=True)
class CollectionRules:
    """What one host version accepts as hooks and packs."""

    namespaces: tuple[str, ...]  # under `metadata`; the first one present counts
    package_key: str  # in package.json; its `hooks` lists hook folders
    install_labels: Mapping[str, str]  # see `install_methods`
    may_be_hook_sources: frozenset[str]  # sources whose folder may itself be a hook or a pack
    largest: int = LARGEST_MANIFEST  # bytes of a HOOK.md
    header: HeaderRules = NEWEST  # how the header of a HOOK.md is read


def find_in_collections(
    host: Host, shape: FolderShape, texts: FolderTexts, legacy: Iterable[Hook], *, rules: CollectionRules
) -> FoundHooks:
    """Return all hooks in the host's folders, in scan order; one without a handler is rejected (disc-10)."""
    search = HookSearch(shape, texts, host.machine.files)
    for folder in host.folders_of("folder"):
        for path, linked in _hook_folders(folder, rules, search):
            _scan_folder(path, linked, folder, rules, search)
    search.hooks += legacy
    return FoundHooks(tuple(search.hooks), tuple(search.rejected), tuple(search.problems), tuple(search.log))


def _hook_folders(folder: Folder, rules: CollectionRules, search: HookSearch) -> Iterator[tuple[Path, bool]]:
    """Yield each candidate folder, and whether its path may contain a link."""
    if folder.source in rules.may_be_hook_sources:
        packed = _pack(folder.path, folder, rules, search)
        if packed is not None:
            yield from ((path, True) for path in packed)
            return
        if names_in(folder.path, search.files) & {MANIFEST}:
            yield folder.path, True
            return
    children = children_of(folder, search)
    report_loose_files(children, folder, search)
    for child in children:
        if child.linked:
            _explain_link(child, folder, search)
        elif child.folder:
            packed = _pack(child.path, folder, rules, search)
            yield from [(child.path, False)] if packed is None else [(path, True) for path in packed]


def _explain_link(child: FolderItem, folder: Folder, search: HookSearch) -> None:
    """Reject a linked hook folder in a collection (disc-11)."""
    if child.folder and MANIFEST in names_in(child.path, search.files):
        search.reject(folder, child.path, "a linked hook folder is not followed", name=child.name)
    elif not child.folder and search.files.facts(child.path) is None:
        search.reject(folder, child.path, "a broken link", name=child.name)


# Packs


def _pack(path: Path, folder: Folder, rules: CollectionRules, search: HookSearch) -> list[Path] | None:
    """Return the hook folders that a package lists, in order; None if it lists none (disc-06 to disc-08)."""
    listed = _listed(path, rules.package_key, search)
    if not listed:
        return None
    hook_folders = []
    real = search.files.real(path)
    for number, entry in listed.items():
        target = _below(path, entry)
        facts = search.files.facts(target) if target is not None else None
        place = partial(_place_in, path / PACKAGE, (rules.package_key, "hooks", number), search)
        if target is None or facts is None or not search.files.real(target).is_relative_to(real):
            search.warn(search.texts.out_of_package, entry=entry, folder=path)
            missing = target if facts is None else None
            problem = "but there is no such folder" if missing else "which is not in the package"
            reason = f"{PACKAGE} lists {entry}, {problem}"
            search.reject(folder, missing or path, reason, place=place(), name=_entry_name(entry))
        elif MANIFEST in names_in(target, search.files):
            hook_folders.append(target)
        else:
            reason = f"listed in {PACKAGE}, but it has no {MANIFEST}"
            search.reject(folder, target, reason, place=place(), name=target.name)
    for unlisted in _unlisted_hook_folders(path, hook_folders, search):
        entry = "./" if unlisted == path else f"./{unlisted.relative_to(path).as_posix()}"
        reason = f'the folder has a {MANIFEST}, but `hooks` in {PACKAGE} does not list "{entry}"'
        list_of_hooks = _place_in(path / PACKAGE, (rules.package_key, "hooks"), search)
        search.reject(folder, unlisted, reason, place=list_of_hooks, name=unlisted.name)
    return hook_folders


def _unlisted_hook_folders(pack: Path, hook_folders: list[Path], search: HookSearch) -> list[Path]:
    """Return hook folders that the package does not list: the pack itself, or folders beside listed ones."""
    places = dict.fromkeys((pack, pack / "hooks", *(path.parent for path in hook_folders if path != pack)))
    found = [pack] if MANIFEST in names_in(pack, search.files) else []
    for place in places:
        try:
            children = search.files.children(place)
        except OSError:
            continue
        found += [
            child.path
            for child in children
            if child.folder and MANIFEST in names_in(child.path, search.files)
        ]
    listed = {search.files.real(path) for path in hook_folders}
    return [path for path in found if search.files.real(path) not in listed]


def _entry_name(entry: str) -> str:
    """Return the name of a hook in the folder that `entry` names."""
    return next((step for step in reversed(entry.split("/")) if step not in ("", ".", "..")), "")


def _place_in(file: Path, path: KeyPath, search: HookSearch) -> FilePosition:
    """Return the position of the value at `path` in `file`, or of the whole file."""
    try:
        span = locate_json5(search.files.read(file), path)
    except OSError:
        span = None
    return FilePosition.of(file, span)


def _listed(path: Path, key: str, search: HookSearch) -> dict[int, str]:
    """Return the `hooks` that a package.json lists, by index; empty if it cannot be read (disc-06)."""
    file = path / PACKAGE
    facts = search.files.facts(file)
    if facts is None or not facts.file or facts.size > LARGEST_MANIFEST:
        return {}
    try:
        package = json.loads(search.files.read(file).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    listed = mapping_or_empty(mapping_or_empty(package).get(key)).get("hooks")
    items = listed if isinstance(listed, list) else []
    return {at: item.strip() for at, item in enumerate(items) if isinstance(item, str) and item.strip()}


def _below(path: Path, entry: str) -> Path | None:
    """Return the path that an entry names, or None if it is outside the folder.

    `..` is resolved as text, so an entry may leave the folder and return to it.
    """
    steps = [] if entry.startswith("/") else list(path.parts[1:])
    for step in entry.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    target = Path(path.anchor).joinpath(*steps)
    return target if target.is_relative_to(path) and "\0" not in entry else None


# One hook


def _scan_folder(
    path: Path, linked: bool, folder: Folder, rules: CollectionRules, search: HookSearch
) -> None:
    try:
        names = search.files.names(path)
    except OSError as error:
        search.reject(folder, path, f"cannot be read: {os_error_reason(error)}", name=path.name)
        return
    if MANIFEST not in names:
        report_missing_manifest(path, names, folder, search)
        return
    real = search.files.real(path) if linked or folder.real != folder.path else path
    manifest = path / MANIFEST
    source = _manifest(manifest, real, folder, rules.largest, search)
    if source is None:
        return
    header = read_text_header(source, rules.header)
    name = header.get("name") or path.name
    handler, refused = _handler(path, real, frozenset(names), search.shape.handlers, search)
    if handler is None:
        search.warn(search.texts.no_handler, folder=path, name=name)
        handler, _ = _handler(path, real, frozenset(names), PYTHON_HANDLERS, search)
        if handler is None and not search.shape.allows_missing_handler:
            search.reject(
                folder, path, missing_handler_reason(frozenset(names), refused, search.shape), name=name
            )
            return
    beyond_host = handler is not None and handler.name in PYTHON_HANDLERS
    notes = [NOT_RUN_BY_HOST] if beyond_host else []
    if header_block(source, rules.header) is None:
        notes.insert(0, f"{MANIFEST} has no header between two `---` lines")
    search.hooks.append(
        Hook(
            name=name,
            kind="folder",
            folder=folder,
            path=path,
            meta=metadata_of_texts(header, rules.namespaces, rules.install_labels),
            description=header.get("description", ""),
            manifest=manifest,
            handler=handler,
            language=LANGUAGE_OF.get(handler.suffix if handler else "", "unknown"),
            real=real,
            beyond_host=beyond_host,
            notes=tuple(notes),
        )
    )


def _manifest(file: Path, real: Path, folder: Folder, largest: int, search: HookSearch) -> bytes | None:
    """Return the bytes of a HOOK.md; None if it is rejected (disc-11 to disc-13)."""
    refused = boundary_violation(file, real, search)
    facts = search.files.facts(file)
    if not refused and facts is not None and facts.size > largest:
        search.warn(search.texts.oversized, file=file, limit=largest)
        refused = f"larger than {largest:,} bytes"
    if not refused:
        try:
            return search.files.read(file)
        except OSError as error:
            refused = f"cannot be read: {os_error_reason(error)}"
    search.reject(folder, file.parent, f"{MANIFEST} {refused}", name=file.parent.name)
    return None


def _handler(
    path: Path, real: Path, names: frozenset[str], candidates: tuple[str, ...], search: HookSearch
) -> tuple[Path | None, str]:
    """Return the path of the first accepted candidate, and why the last refused one was refused (disc-09)."""
    refused = ""
    for name in candidates:
        if name not in names:
            continue
        file = path / name
        problem = boundary_violation(file, real, search) or _unreadable(file, search)
        facts = search.files.facts(file)
        if not problem and facts is not None:
            if facts.linked:
                return search.files.real(file), ""
            return file if real is path else real / name, ""
        refused = f"{name} {problem}"
    return None, refused


def _unreadable(file: Path, search: HookSearch) -> str:
    """Return why a regular file cannot be read; empty if it can."""
    try:
        search.files.read(file, 1)
    except OSError as error:
        return f"cannot be read: {os_error_reason(error)}"
    return ""


def boundary_violation(file: Path, folder: Path, search: HookSearch) -> str:
    """Return why a file of the hook in `folder`, a real path, is refused; empty if it is accepted."""
    facts = search.files.facts(file)
    if facts is None or not facts.file:
        return "is not a readable file"
    if facts.links > 1:
        return "is a hard link to a file that also exists elsewhere"
    if facts.linked and not (target := search.files.real(file)).is_relative_to(folder):
        return f"leads out of its folder, to {target}"
    return ""
