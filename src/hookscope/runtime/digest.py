"""What a hook's folder holds, as one short text: another text means that a file there has changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from hookscope.core.runs import Code

ENTRIES = 2000  # files looked at; a folder with more changes with the first of them only


def digest_of(folder: Path) -> str:
    """The names, sizes and times of all files in the folder, hashed. Reads no file; never raises.

    Skips `__pycache__`, `node_modules` and whatever begins with a dot. A folder that is not there
    has a digest too.
    """
    digest = sha256()
    for number, entry in enumerate(_files(os.fspath(folder), "")):
        if number == ENTRIES:
            break
        digest.update(entry.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def with_digest(code: Code) -> Code:
    """The Code with the digest that its folder has now, unless it brings one."""
    return code if code.digest else replace(code, digest=digest_of(code.root))


def module_name(code: Code) -> str:
    """A name for the present content of the Code's folder, and for no other."""
    return _named(os.fspath(code.root), code.digest or digest_of(code.root))


@lru_cache(maxsize=4096)
def _named(root: str, digest: str) -> str:
    return sha256(f"{root}\0{digest}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _files(folder: str, below: str) -> Iterator[str]:
    """One text a file, in an order of its own. Links to folders are not followed: they may lead round."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = entry.name
        if name.startswith(".") or name in ("__pycache__", "node_modules"):
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, f"{below}{name}/")
                continue
            status = entry.stat()
        except OSError:  # gone, or a link to nowhere: then the name is all there is
            yield f"{below}{name}\0"
            continue
        times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
        yield f"{below}{name}\0{status.st_size} {times} {status.st_ino}\0"
