"""Names for what handlers consist of, so that a changed file is another name and everything loads anew."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field
from hashlib import sha256
from pathlib import Path

from hookscope.core.runs import Code
from hookscope.runtime.digest import module_name
from hookscope.values import dataclass

MOST = 500  # files outside of hooks' folders that are looked at


@dataclass(slots=True)
class Contents:
    """Knows which files outside of its own folder a handler has imported: a pack's `../lib`."""

    _outside: dict[Path, frozenset[str]] = field(default_factory=dict)  # handler → files
    _all: tuple[str, ...] = ()  # of them
    lessons: int = 0  # how often `learn` has changed what is known

    def learn(self, code: Code, files: Iterable[str]) -> None:
        """Note what a handler's import has reached."""
        reached = frozenset(list(files)[:MOST])
        if reached != self._outside.get(code.path):
            self._outside[code.path] = reached
            self.lessons += 1
            self._all = tuple(sorted(frozenset[str]().union(*self._outside.values())))

    def shared(self) -> str:
        """A name for the present content of all files that hooks share."""
        if not self._all:
            return ""
        facts = "\0".join(f"{file} {_facts(file)}" for file in self._all[:MOST])
        return sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def name(self, code: Code, shared: str) -> str:
        """A name for the content of a handler, its folder and what it shares with others."""
        own = module_name(code)
        if not self._all or not self._outside.get(code.path):
            return own
        return sha256(f"{own}\0{shared}".encode()).hexdigest()[:16]


def _facts(file: str) -> str:
    try:
        status = os.stat(file)
    except OSError:
        return "gone"
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
