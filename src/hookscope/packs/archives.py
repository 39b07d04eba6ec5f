"""An archive's bytes become a Tree, or a refusal. It is read in memory; nothing is written."""

from __future__ import annotations

from hookscope.packs.errors import PackError
from hookscope.packs.limits import LIMITS, PackLimits, size_in_words
from hookscope.packs.names import refused, shown
from hookscope.packs.tree import Tree, tree_of

SUFFIXES = (".zip", ".tgz", ".tar.gz", ".tar")
MANIFESTS = ("HOOK.md", "package.json")


def is_archive(name: str) -> bool:
    """Does its name say that it is an archive that can be read."""
    return name.lower().endswith(SUFFIXES)


def unpacked(source: bytes, name: str, limits: PackLimits = LIMITS) -> Tree:
    """The files of an archive of that name, its one top folder taken off. Raises PackError."""
    if len(source) > limits.archive:
        raise refused(f"{shown(name)} is larger than {size_in_words(limits.archive)}.")
    lowered = name.lower()
    if lowered.endswith(".zip"):
        from hookscope.packs.zips import files_of_zip

        tree = tree_of(files_of_zip(source, shown(name), limits))
    elif lowered.endswith(SUFFIXES):
        from hookscope.packs.tars import files_of_tar

        packed = not lowered.endswith(".tar")
        tree = tree_of(files_of_tar(source, shown(name), limits, packed=packed))
    else:
        known = ", ".join(SUFFIXES)
        raise PackError(f"{shown(name)} is no archive that can be read.", f"There are {known}.")
    return without_top_folder(tree)


def without_top_folder(tree: Tree) -> Tree:
    """Of an archive with one folder at its top and nothing beside it: what is in that folder."""
    top = tree.names()
    if len(top) != 1 or top & set(MANIFESTS):
        return tree
    (folder,) = top
    inside = tree.below(folder)
    return inside if inside.files else tree
