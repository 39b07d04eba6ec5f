"""From a spec to the files: every source behind one door."""

from __future__ import annotations

import os

from hookscope.core.regular_file import read_regular
from hookscope.packs.archives import unpacked
from hookscope.packs.errors import PackError
from hookscope.packs.fetched import Fetched, Fetching, integrity_of
from hookscope.packs.folders import read_folder
from hookscope.packs.limits import LIMITS
from hookscope.packs.specs import Spec
from hookscope.packs.tree import Tree, digest_of

__all__ = ["fetch", "integrity_of_tree"]

BACK = "Put it back, or name another one."


def fetch(spec: Spec, how: Fetching) -> Fetched:
    """What the spec names now. Blocks; raises PackError, Cancelled. Writes below `how.work` alone."""
    match spec.source:
        case "folder":
            how.progress.step(f"reading {spec.text}")
            return _of_folder(spec)
        case "archive":
            how.progress.step(f"reading {spec.text}")
            return _of_archive(spec)
        case "npm":
            from hookscope.packs.npm import fetch_npm

            return fetch_npm(spec, how)
        case "git":
            from hookscope.packs.git import fetch_git

            return fetch_git(spec, how)
        case "python":
            from hookscope.packs.python import fetch_python

            return fetch_python(spec, how)


def _of_folder(spec: Spec) -> Fetched:
    assert spec.path is not None
    if not os.path.isdir(spec.path):
        raise PackError(f"There is no folder {spec.path} any more.", BACK)
    tree = read_folder(spec.path)
    return Fetched(spec, tree, spec.text, integrity_of_tree(tree))


def _of_archive(spec: Spec) -> Fetched:
    assert spec.path is not None
    if not os.path.isfile(spec.path):
        raise PackError(f"There is no archive {spec.path} any more.", BACK)
    source = read_regular(spec.path, LIMITS.archive + 1)
    return Fetched(spec, unpacked(source, spec.path.name), spec.text, integrity_of(source))


def integrity_of_tree(tree: Tree) -> str:
    """One for files that came without one."""
    return f"files-{digest_of({path: file.digest for path, file in tree.files.items()})}"
