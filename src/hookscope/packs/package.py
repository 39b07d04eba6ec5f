"""HookPackage: the hook or hooks in a file tree, by the host's own rules."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from hookscope.packs.errors import PackError
from hookscope.packs.file_tree import DEPENDENCIES_FOLDER, FileTree
from hookscope.packs.npm import dependency_ranges
from hookscope.packs.package_checks import (
    NOTHING_WRITTEN,
    PROPERTIES,
    display_name,
    fault_of_pack_name,
    package_error,
)
from hookscope.values import dataclass

MANIFEST, PACKAGE_JSON = "HOOK.md", "package.json"
EXTENSIONS = "extensions"  # the key that a plugin has in package.json instead of `hooks`
BARE_REPOSITORY = frozenset({"HEAD", "objects", "refs"})  # of a git repository without checked-out files
MOST_HOOKS = 200  # hooks of one pack
LARGEST_MANIFEST = 1_048_576  # bytes of a package.json or a HOOK.md

PackageKind = Literal["hook", "pack", "folder"]


class PackageFiles(Protocol):
    """The files of a package, in a tree or on disk."""

    def names(self, folder: str = "") -> frozenset[str]: ...

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class HookPackage:
    """A file tree and the folders of its hooks."""

    kind: PackageKind  # folder: hook folders that no package.json lists
    tree: FileTree
    hooks: tuple[str, ...]  # their folders below the package; "" is the package itself
    name: str = ""  # of the package, without its scope; empty: it has none
    full_name: str = ""
    version: str = ""
    key: str = ""  # the key of package.json that lists the hooks
    dependency_ranges: tuple[str, ...] = ()  # the packages that it depends on


def package_from_tree(
    tree: FileTree, keys: Sequence[str], handlers: Sequence[str], *, where: str, allow_hook_folder: bool
) -> HookPackage:
    """Return the hooks of a tree. Raises PackError.

    Args:
        keys: keys of package.json, in order of precedence.
        handlers: the allowed file names of handlers.
        where: the tree's name in messages.
        allow_hook_folder: whether a plain folder of hooks is accepted too.
    """
    package_json = package_json_of(tree)
    key = next(
        (key for key in keys if isinstance(package_json.get(key), dict) and "hooks" in package_json[key]),
        None,
    )
    if key is not None:
        return _listed_hooks(tree, package_json, key, handlers)
    names = tree.names()
    if MANIFEST in names:
        _check_handler(tree, "", handlers, where)
        return HookPackage(
            "hook",
            tree,
            ("",),
            version=_text_member(package_json, "version"),
            dependency_ranges=dependency_ranges(package_json),
        )
    children = tuple(name for name in sorted(names) if MANIFEST in tree.names(name))
    if children and allow_hook_folder:
        for child in children:
            _check_handler(tree, child, handlers, child)
        return HookPackage("folder", tree, children)
    _check_no_plugin(package_json, keys, where)
    if package_json:
        why = f"its {PACKAGE_JSON} has no {keys[0]}.hooks, and there is no {MANIFEST} beside it"
        raise package_error(f"{where} is neither a hook nor a pack: {why}.")
    if children:
        listed = ", ".join(display_name(child) for child in children[:5])
        raise package_error(f"{where} is a hooks folder ({listed}), not a hook: name one of its hooks.")
    if names.issuperset(BARE_REPOSITORY):
        raise package_error(f"{where} is a bare git repository: use `git+file://{where}`.")
    raise package_error(f"{where} is neither a hook nor a pack: it has no {MANIFEST} and no {PACKAGE_JSON}.")


def _check_no_plugin(package_json: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    """Raise PackError for packages that the host installs in another way."""
    for key in keys:
        if isinstance(package_json.get(key), dict) and EXTENSIONS in package_json[key]:
            raise PackError(
                f"{where} is a plugin, not a pack: its {PACKAGE_JSON} has "
                f"{key}.{EXTENSIONS} but no {key}.hooks.",
                f"Install it with the host's own command. {NOTHING_WRITTEN}",
            )


def check_pack_name(name: str, full_name: str) -> None:
    """Raise PackError for a name that no pack may have, from any source."""
    if fault := fault_of_pack_name(name):
        raise package_error(f"The pack has an invalid name: {display_name(full_name or name)} {fault}.")


def check_settings_keys(keys: Sequence[str]) -> None:
    """Raise PackError for a hook whose settings key is also a property of JavaScript objects."""
    for key in keys:
        if key.strip() in PROPERTIES:
            what = f"{display_name(key)} is a property of every JavaScript object"
            raise package_error(f"invalid hookKey: {what}.")


def check_hook_names(names: Sequence[str]) -> None:
    """Check the names of a package's hooks, as the host reads them. Raises PackError."""
    for name in names:
        if "/" in name or "\\" in name:
            raise package_error("invalid hook name: path separators not allowed.")
        if name in ("", ".", ".."):
            raise package_error("invalid hook name: reserved path segment.")
        if fault := fault_of_pack_name(name):
            raise package_error(f"invalid hook name: {display_name(name)} {fault}.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise package_error(f'duplicate hook name "{display_name(twice)}" in hook package.')
    folded = [unicodedata.normalize("NFKC", name).casefold() for name in names]
    if clash := next((name for name, one in zip(names, folded, strict=True) if folded.count(one) > 1), None):
        raise package_error(f'duplicate hook name "{display_name(clash)}" in hook package: case is ignored.')


def package_json_of(tree: FileTree) -> Mapping[str, Any]:
    """Return the content of package.json; empty without one. Raises PackError if it is invalid."""
    source = tree.read(PACKAGE_JSON)
    if source is None:
        return {}
    if len(source) > LARGEST_MANIFEST:
        raise package_error(f"{PACKAGE_JSON} is larger than {LARGEST_MANIFEST:,} bytes.")
    try:
        document = json.loads(source.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise package_error(
            f"{PACKAGE_JSON} cannot be read: {display_name(str(error)) or 'it is nested too deeply'}."
        ) from None
    if not isinstance(document, dict):
        raise package_error(f"{PACKAGE_JSON} must contain an object.")
    return document


def _listed_hooks(
    tree: FileTree, package_json: Mapping[str, Any], key: str, handlers: Sequence[str]
) -> HookPackage:
    listed = package_json[key]["hooks"]
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise package_error(f"{PACKAGE_JSON} {key}.hooks must be a list of strings.")
    entries = [entry.strip() for entry in listed if entry.strip()]
    if not entries:
        raise package_error(f"{PACKAGE_JSON} {key}.hooks is empty.")
    if len(entries) > MOST_HOOKS:
        raise package_error(f"{PACKAGE_JSON} {key}.hooks lists more than {MOST_HOOKS} hooks.")
    declared_name = package_json.get("name")
    full_name = declared_name.strip() if isinstance(declared_name, str) else ""
    if not full_name:
        raise package_error(f"{PACKAGE_JSON} has no name.")
    scoped = full_name.startswith("@") and full_name.count("/") == 1
    name = full_name.rpartition("/")[2] if scoped else full_name
    hooks = tuple(_checked_entry(tree, entry, key, handlers) for entry in entries)
    return HookPackage(
        "pack",
        tree,
        hooks,
        name,
        full_name,
        _text_member(package_json, "version"),
        key,
        dependency_ranges(package_json),
    )


def _checked_entry(tree: PackageFiles, entry: str, key: str, handlers: Sequence[str]) -> str:
    """Return the folder of an entry. Raises PackError if there is no hook in it."""
    hook, shown = _folder_inside(entry, key), display_name(entry)
    names = tree.names(hook)
    if not names and tree.read(hook) is not None:
        raise package_error(f"{key}.hooks entry is a file: {shown}; it needs the folder with the {MANIFEST}.")
    if not names:
        raise package_error(f"{key}.hooks entry is not in the package: {shown}.")
    if MANIFEST not in names:
        raise package_error(f"{MANIFEST} missing in {shown}.")
    _check_handler(tree, hook, handlers, shown)
    return hook


def entry_faults(
    tree: PackageFiles, package_json: Mapping[str, Any], keys: Sequence[str], handlers: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return each entry of a pack's list that does not name a hook, with the reason."""
    faults = []
    for key in keys:
        block = package_json.get(key)
        listed = block.get("hooks") if isinstance(block, dict) else None
        for entry in listed if isinstance(listed, list) else ():
            try:
                if isinstance(entry, str) and entry.strip():
                    _checked_entry(tree, entry.strip(), key, handlers)
            except PackError as error:
                faults.append((entry, error.problem))
    return tuple(faults)


def _folder_inside(entry: str, key: str) -> str:
    """Return the folder of an entry. Raises PackError if a part of the path leaves the package."""
    steps: list[str] = []
    for step in entry.replace("\\", "/").split("/"):
        if step == "..":
            if not steps:
                raise package_error(f"{key}.hooks entry escapes package directory: {display_name(entry)}.")
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    if any(step.casefold() == DEPENDENCIES_FOLDER for step in steps):
        raise package_error(f"{key}.hooks entry is in {DEPENDENCIES_FOLDER}: {display_name(entry)}.")
    if entry.startswith(("/", "\\", "~")) or entry[1:2] == ":":
        raise package_error(f"{key}.hooks entry escapes package directory: {display_name(entry)}.")
    return "/".join(steps)


def _check_handler(tree: PackageFiles, hook: str, handlers: Sequence[str], where: str) -> None:
    names = tree.names(hook)
    if not any(handler in names for handler in handlers):
        raise package_error(f"{'/'.join(handlers)} missing in {where}.")
    manifest = tree.read(f"{hook}/{MANIFEST}" if hook else MANIFEST)
    if manifest is None:
        raise package_error(f"{MANIFEST} of {where} is not a file.")
    if len(manifest) > LARGEST_MANIFEST:
        raise package_error(f"{MANIFEST} of {where} is larger than {LARGEST_MANIFEST:,} bytes.")


def _text_member(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return display_name(value.strip()) if isinstance(value, str) and value.strip() else ""
