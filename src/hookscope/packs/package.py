"""What a tree is: one hook, or a pack that lists several. The host's own rules and sentences.

Source: rules-openclaw section 7; cli-03.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from hookscope.packs.dependencies import needs_of
from hookscope.packs.errors import PackError
from hookscope.packs.names import (
    NOTHING_WRITTEN,
    fault_of_pack_name,
    fault_of_settings_key,
    refused,
    shown,
)
from hookscope.packs.tree import DEPENDENCIES, Tree
from hookscope.values import dataclass

MANIFEST, PACKAGE = "HOOK.md", "package.json"
EXTENSIONS = "extensions"  # what a plugin has in its package.json in place of hooks
BARE = frozenset({"HEAD", "objects", "refs"})  # what git keeps where no files are checked out
MOST = 200  # hooks of one pack
LARGEST = 1_048_576  # bytes of a package.json or a HOOK.md

PackageKind = Literal["hook", "pack", "folder"]


@dataclass(frozen=True, slots=True)
class Package:
    """A tree, and where its hooks are."""

    kind: PackageKind  # folder: hooks side by side, and nothing that lists them
    tree: Tree
    hooks: tuple[str, ...]  # their folders below the package; "" is the package itself
    name: str = ""  # of the package, without its scope; empty: it has none
    full_name: str = ""
    version: str = ""
    key: str = ""  # of package.json, below which the hooks are listed
    needs: tuple[str, ...] = ()  # the packages that it depends on


def package_of(
    tree: Tree, keys: Sequence[str], handlers: Sequence[str], *, where: str, side_by_side: bool = False
) -> Package:
    """What the tree is. Raises PackError.

    Args:
        keys: of package.json, in the order in which they count.
        handlers: the file names that a handler may have.
        where: what the tree is called in sentences.
        side_by_side: is a folder of hooks taken, too.
    """
    said = package_json_of(tree)
    key = next((key for key in keys if isinstance(said.get(key), dict) and "hooks" in said[key]), None)
    if key is not None:
        return _pack(tree, said, key, handlers)
    names = tree.names()
    if MANIFEST in names:
        _check_handler(tree, "", handlers, where)
        return Package("hook", tree, ("",), version=_text(said, "version"), needs=needs_of(said))
    children = tuple(name for name in sorted(names) if MANIFEST in tree.names(name))
    if children and side_by_side:
        for child in children:
            _check_handler(tree, child, handlers, child)
        return Package("folder", tree, children)
    _check_no_plugin(said, keys, where)
    if said:
        why = f"its {PACKAGE} has no {keys[0]}.hooks, and there is no {MANIFEST} beside it"
        raise refused(f"{where} is no hook and no pack: {why}.")
    if children:
        listed = ", ".join(shown(child) for child in children[:5])
        raise refused(f"{where} is a folder of hooks ({listed}) and no hook: name one of them.")
    if names.issuperset(BARE):
        raise refused(f"{where} is a bare git repository: `git+file://{where}` fetches from it.")
    raise refused(f"{where} is no hook and no pack: it has neither {MANIFEST} nor {PACKAGE}.")


def _check_no_plugin(said: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    """Raises PackError for what the host installs otherwise."""
    for key in keys:
        if isinstance(said.get(key), dict) and EXTENSIONS in said[key]:
            raise PackError(
                f"{where} is a plugin and no pack: its {PACKAGE} has {key}.{EXTENSIONS} and no {key}.hooks.",
                f"The host's own command installs plugins. {NOTHING_WRITTEN}",
            )


def check_pack_name(name: str, full_name: str = "") -> None:
    """Raise PackError for a name that no pack may have, wherever the pack comes from."""
    if fault := fault_of_pack_name(name):
        raise refused(f"The pack has a name that no folder can have: {shown(full_name or name)} {fault}.")


def check_settings_keys(keys: Sequence[str]) -> None:
    """Raise PackError for a hook whose key in the host's settings would be no key of its own."""
    for key in keys:
        if fault := fault_of_settings_key(key):
            raise refused(f"invalid hookKey: {shown(key)} {fault}.")


def check_hook_names(names: Sequence[str]) -> None:
    """The names of a package's hooks, as the host reads them. Raises PackError."""
    for name in names:
        if "/" in name or "\\" in name:
            raise refused("invalid hook name: path separators not allowed.")
        if name in ("", ".", ".."):
            raise refused("invalid hook name: reserved path segment.")
        if fault := fault_of_pack_name(name):
            raise refused(f"invalid hook name: {shown(name)} {fault}.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise refused(f'duplicate hook name "{shown(twice)}" in hook package.')
    folded = [unicodedata.normalize("NFKC", name).casefold() for name in names]
    if clash := next((name for name, one in zip(names, folded, strict=True) if folded.count(one) > 1), None):
        raise refused(f'duplicate hook name "{shown(clash)}" in hook package: capitals do not count.')


def package_json_of(tree: Tree) -> Mapping[str, Any]:
    """Return what package.json says, nothing where there is none. Raises PackError where it is none."""
    source = tree.read(PACKAGE)
    if source is None:
        return {}
    if len(source) > LARGEST:
        raise refused(f"{PACKAGE} is larger than {LARGEST:,} bytes.")
    try:
        said = json.loads(source.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise refused(
            f"{PACKAGE} cannot be read: {shown(str(error)) or 'it is nested too deeply'}."
        ) from None
    if not isinstance(said, dict):
        raise refused(f"{PACKAGE} wants an object.")
    return said


def _pack(tree: Tree, said: Mapping[str, Any], key: str, handlers: Sequence[str]) -> Package:
    listed = said[key]["hooks"]
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise refused(f"{PACKAGE} {key}.hooks wants a list of texts.")
    entries = [entry.strip() for entry in listed if entry.strip()]
    if not entries:
        raise refused(f"{PACKAGE} {key}.hooks is empty.")
    if len(entries) > MOST:
        raise refused(f"{PACKAGE} {key}.hooks lists more than {MOST} hooks.")
    said_name = said.get("name")
    full_name = said_name.strip() if isinstance(said_name, str) else ""
    if not full_name:
        raise refused(f"{PACKAGE} has no name.")
    scoped = full_name.startswith("@") and full_name.count("/") == 1
    name = full_name.rpartition("/")[2] if scoped else full_name
    hooks = tuple(_inside(entry, key) for entry in entries)
    for entry, hook in zip(entries, hooks, strict=True):
        names = tree.names(hook)
        if not names:
            raise refused(f"{key}.hooks entry is not in the package: {shown(entry)}.")
        if MANIFEST not in names:
            raise refused(f"{MANIFEST} missing in {shown(entry)}.")
        _check_handler(tree, hook, handlers, shown(entry))
    return Package("pack", tree, hooks, name, full_name, _text(said, "version"), key, needs_of(said))


def _inside(entry: str, key: str) -> str:
    """The folder that an entry spells. Raises PackError where it leads out, even if it comes back."""
    steps: list[str] = []
    for step in entry.replace("\\", "/").split("/"):
        if step == "..":
            if not steps:
                raise refused(f"{key}.hooks entry escapes package directory: {shown(entry)}.")
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    if any(step.casefold() == DEPENDENCIES for step in steps):
        raise refused(f"{key}.hooks entry lies in {DEPENDENCIES}: {shown(entry)}.")
    if entry.startswith(("/", "\\", "~")) or entry[1:2] == ":":
        raise refused(f"{key}.hooks entry escapes package directory: {shown(entry)}.")
    return "/".join(steps)


def _check_handler(tree: Tree, hook: str, handlers: Sequence[str], where: str) -> None:
    names = tree.names(hook)
    if not any(handler in names for handler in handlers):
        raise refused(f"{'/'.join(handlers)} missing in {where}.")
    manifest = tree.read(f"{hook}/{MANIFEST}" if hook else MANIFEST)
    if manifest is None:
        raise refused(f"{MANIFEST} of {where} is no file.")
    if len(manifest) > LARGEST:
        raise refused(f"{MANIFEST} of {where} is larger than {LARGEST:,} bytes.")


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    return shown(value.strip()) if isinstance(value, str) and value.strip() else ""
