"""A package in memory: its files by path. Frozen; nothing of it is on disk until it is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from hashlib import sha256

from hookscope.values import dataclass

# What no package means to bring: it is left out wherever it stands.
LEFT_OUT = frozenset({".git", ".hg", ".svn", "__MACOSX", ".DS_Store", "__pycache__"})
DEPENDENCIES = "node_modules"


@dataclass(frozen=True, slots=True)
class PackFile:
    """One file. Of its permissions only one thing is kept: whether it may be run."""

    content: bytes
    runnable: bool = False

    @property
    def mode(self) -> int:
        """Its permissions where it is put."""
        return 0o755 if self.runnable else 0o644

    @property
    def digest(self) -> str:
        """SHA-256 of its content, as hex digits."""
        return sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class Tree:
    """Files by their path below the package, `/` between the parts, in the order of the paths."""

    files: Mapping[str, PackFile] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()  # the folders and files that were passed over

    @property
    def size(self) -> int:
        """Of all its files together, in bytes."""
        return sum(len(file.content) for file in self.files.values())

    def names(self, folder: str = "") -> frozenset[str]:
        """What stands in one folder of it."""
        return frozenset(path.partition("/")[0] for path, _ in self._below(folder))

    def below(self, folder: str) -> Tree:
        """One folder of it as a tree of its own."""
        return Tree(dict(self._below(folder)), self.left_out)

    def read(self, path: str) -> bytes | None:
        """The content of the file at this path; None: there is none."""
        file = self.files.get(path)
        return file.content if file is not None else None

    def _below(self, folder: str) -> Iterator[tuple[str, PackFile]]:
        start = f"{folder}/" if folder else ""
        for path, file in self.files.items():
            if path.startswith(start):
                yield path[len(start) :], file


def tree_of(files: Mapping[str, PackFile], *left_out: str) -> Tree:
    """The tree of these files, without what no package means to bring."""
    passed: dict[str, None] = dict.fromkeys(left_out)
    kept: dict[str, PackFile] = {}
    for path in sorted(files):
        parts = path.split("/")
        at = next((number for number, part in enumerate(parts) if part in LEFT_OUT), None)
        if at is None:
            kept[path] = files[path]
        else:
            passed["/".join(parts[: at + 1])] = None
    return Tree(kept, tuple(passed))


def digest_of(files: Mapping[str, str]) -> str:
    """One digest for many, by path."""
    lines = "".join(f"{path}\0{files[path]}\n" for path in sorted(files))
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
