"""Recorded cases on disk: finding them, telling whose they are, and rebuilding their folders."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

# The program that a case was recorded from → the dialect that must give its answers.
DIALECT_OF = {
    "openclaw": "openclaw@2026.9",
    "openclaw 2026.7": "openclaw@2026.7",
    "openclaw 2026.6": "openclaw@2026.6",
    "openclaw 2026.3": "openclaw@2026.3",
    "milady": "milady@2.0.0-alpha.76",
    "@elizaos/agent": "eliza@2.0.0-beta.2",
    "eliza": "eliza@2.0.0-beta.2",
    "eve": "eve",  # whose cases have an answer for each of several versions
}
# Folders of a case that only one host has.
SIGNS = {"home/.openclaw": "openclaw", "tree/home/.milady": "milady", "tree/home/.eliza": "eliza"}


@dataclass(frozen=True)
class Case:
    """One recorded case: what was given to a program, and what it answered."""

    folder: Path

    @cached_property
    def given(self) -> dict[str, Any]:
        return _read(self.folder / "case.json")

    @cached_property
    def expected(self) -> dict[str, Any]:
        return _read(self.folder / "expected.json")

    @cached_property
    def name(self) -> str:
        """The name that the case itself has, else that of its folder."""
        return str(self.given.get("id") or self.expected.get("case") or self.folder.name)

    @cached_property
    def program(self) -> str:
        """The program that was recorded; empty where the case names none."""
        return self._recorded.partition(" ")[0]

    @cached_property
    def version(self) -> str:
        """The version of the recorded program; empty where the case names none."""
        return self._recorded.partition(" ")[2]

    @property
    def _recorded(self) -> str:
        program = self.expected.get("program", "")
        if isinstance(program, dict):
            return f"{program.get('name', '')} {program.get('version', '')}".strip()
        return str(program)

    @cached_property
    def dialect(self) -> str | None:
        """Whose rules decide, by the recorded program, else by its folders; None where neither says."""
        if self.program:
            month = ".".join(self.version.split(".")[:2])
            return DIALECT_OF.get(f"{self.program} {month}", DIALECT_OF.get(self.program))
        signs = ((self.folder / place, name) for place, name in SIGNS.items())
        return next((DIALECT_OF[name] for sign, name in signs if sign.is_dir()), None)

    @property
    def host(self) -> str:
        """For the table at the end."""
        return (self.dialect or self.program or "unknown").partition("@")[0]


def cases_below(root: Path) -> list[Case]:
    """Every folder with a case.json, whatever it is called, in the order of its path."""
    return [Case(file.parent) for file in sorted(root.rglob("case.json"))]


def _read(file: Path) -> dict[str, Any]:
    value = json.loads(file.read_bytes())
    if not isinstance(value, dict):
        raise ValueError(f"{file} holds no object")
    return value


@dataclass(frozen=True)
class StandIns:
    """Words in angle brackets for real folders: `<HOME>`, `<BIN>`, …"""

    folders: Mapping[str, Path] = field(default_factory=dict)

    def fill(self, value: Any) -> Any:
        """The value with real folders in place of the words, in keys too."""
        return _mapped(value, self._filled)

    def show(self, value: Any) -> Any:
        """The value with the words in place of real folders."""
        return _mapped(value, self._shown)

    def fill_files(self, root: Path) -> None:
        """Put real folders into the files of a tree that name the words."""
        for file in _files(root):
            source = file.read_bytes()
            filled = source
            for word, folder in self.folders.items():
                filled = filled.replace(word.encode(), os.fsencode(folder))
            if filled != source:
                file.write_bytes(filled)

    def _filled(self, text: str) -> str:
        for word, folder in self.folders.items():
            text = text.replace(word, str(folder))
        return text

    def _shown(self, text: str) -> str:
        for word, folder in sorted(self.folders.items(), key=lambda item: -len(str(item[1]))):
            text = text.replace(str(folder), word)
        return text


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)): _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value


def _files(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def copied(source: Path, target: Path) -> None:
    """A tree of the case as a tree of our own; nothing where the case has none."""
    target.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        copytree(source, target, symlinks=True, dirs_exist_ok=True, copy_function=_copy)
        for folder in (target, *filter(Path.is_dir, target.rglob("*"))):
            folder.chmod(0o755)


def _copy(source: str, target: str) -> None:
    """Copy the content only: a case may be stored read-only, and a program writes into its home."""
    Path(target).write_bytes(Path(source).read_bytes())


def prepare(root: Path, setup: Iterable[Mapping[str, Any]], stand_ins: StandIns) -> None:
    """What a plain tree cannot carry, in the order of the case. Raises ValueError for what is unknown."""
    for thing in setup:
        path = root / thing["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        match thing["op"]:
            case "mkdir":
                path.mkdir(parents=True, exist_ok=True)
            case "write":
                path.write_bytes(str(stand_ins.fill(thing["text"])).encode())
            case "remove":
                remove(path)
            case "symlink":
                path.symlink_to(stand_ins.fill(thing["target"]))
            case "hardlink":
                path.hardlink_to(root / thing["target"])
            case "chmod":
                path.chmod(int(str(thing["mode"]), 8))
            case "pad":
                path.write_bytes(path.read_bytes().ljust(int(thing["size"]), b"x"))
            case "tgz":
                _pack(path, thing, stand_ins)
            case other:
                raise ValueError(f"this runner cannot do {other!r}")


def remove(path: Path) -> None:
    """A file, a link or a whole folder."""
    if path.is_dir() and not path.is_symlink():
        rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _pack(path: Path, thing: Mapping[str, Any], stand_ins: StandIns) -> None:
    entries, links = thing.get("entries") or {}, thing.get("links") or {}
    with tarfile.open(path, "w:gz") as archive:
        for name, text in _pairs(entries, "text"):
            source = str(stand_ins.fill(text)).encode()
            member = tarfile.TarInfo(name)
            member.size = len(source)
            archive.addfile(member, io.BytesIO(source))
        for name, target in _pairs(links, "target"):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, str(target)
            archive.addfile(member)


def _pairs(things: Any, value: str) -> Iterator[tuple[str, Any]]:
    """`{path: …}`, or a list of `{path, text}` or `{path, target}`."""
    if isinstance(things, Mapping):
        yield from ((str(name), thing) for name, thing in things.items())
        return
    for thing in things:
        yield str(thing.get("path", thing.get("name"))), thing[value]


def differences(expected: Any, actual: Any, where: str = "") -> list[str]:
    """Where two values differ, each with its path; empty where they are the same."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return list(_differing_keys(expected, actual, where))
    if isinstance(expected, Sequence) and isinstance(actual, Sequence) and not isinstance(expected, str):
        if len(expected) != len(actual) or isinstance(actual, str):
            return [f"{where}: expected {_short(expected)}, got {_short(actual)}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [line for at, (one, other) in pairs for line in differences(one, other, f"{where}[{at}]")]
    same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
    return [] if same else [f"{where}: expected {_short(expected)}, got {_short(actual)}"]


def _differing_keys(expected: Mapping[str, Any], actual: Mapping[str, Any], where: str) -> Iterator[str]:
    for key in {**expected, **actual}:
        if key not in actual:
            yield f"{where}.{key}: {_short(expected[key])} is missing"
        elif key not in expected:
            yield f"{where}.{key}: {_short(actual[key])} is too much"
        else:
            yield from differences(expected[key], actual[key], f"{where}.{key}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 1_000 else f"{text[:1_000]}…"
