"""A handler's code in the protocol: its digest, requests to load or run it, its module's declarations."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from time import time_ns
from typing import Any, TypeAlias

from hookscope.model.hook import LogLine
from hookscope.model.run import Code, Declared, Handler, Module, Registration
from hookscope.runtime.python_worker.protocol import Message, encode, pack
from hookscope.values import dataclass

MAX_FILES = 2000  # files that a digest covers; the rest of a larger folder is ignored
MAX_KNOWN_SCANS = 1024  # folders whose last scan is cached
SMALL_FOLDER = 100  # files of a folder whose scan is cached; checking more costs as much as scanning
SETTLED_AGE = 3_000_000_000  # nanoseconds since a folder's last change: some disks store whole two seconds

FileFacts: TypeAlias = tuple[int, int, int, int]  # size, two times, inode
_known_scans: dict[str, _FolderScan] = {}


def digest_of(folder: Path) -> str:
    """Return a hash of the names, sizes and times of all files in the folder. Reads no file; never raises.

    Skips `__pycache__`, `node_modules` and names that start with a dot. A missing folder has a digest too.
    """
    root = os.fspath(folder)
    known = _known_scans.get(root)
    if known is not None and known.is_current():
        return known.digest
    now, scan, digest = time_ns(), _FolderScan(), sha256()
    for number, entry in enumerate(_file_lines(root, "", scan)):
        if number == MAX_FILES:
            break
        digest.update(entry.encode("utf-8", "surrogateescape"))
    scan.digest = digest.hexdigest()[:32]
    _known_scans.pop(root, None)
    if os.path.isabs(root) and len(scan.files) <= SMALL_FOLDER and scan.is_settled(now):
        if len(_known_scans) >= MAX_KNOWN_SCANS:
            _known_scans.clear()
        _known_scans[root] = scan
    return scan.digest


class _FolderScan:
    """The result of scanning a folder. It stays valid while all files and folders in it are unchanged.

    A folder's time changes with each name added or removed, but not if both happen at the same moment as the
    scan. So only folders that last changed some seconds before the scan are trusted.
    """

    __slots__ = ("digest", "files", "folders")

    def __init__(self) -> None:
        self.digest = ""
        self.folders: list[tuple[str, FileFacts | None]] = []
        self.files: list[tuple[str, FileFacts | None]] = []

    def is_settled(self, now: int) -> bool:
        """Return True if the folders' modification times can be trusted."""
        return all(facts is not None and max(facts[1:3]) < now - SETTLED_AGE for _, facts in self.folders)

    def is_current(self) -> bool:
        """Return True if nothing has changed since the scan."""
        return all(_facts_of(path) == facts for path, facts in chain(self.folders, self.files))


def _facts_of(path: str) -> FileFacts | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def with_digest(code: Code) -> Code:
    """Return the Code with the current digest of its folder, unless it has one."""
    return code if code.digest else replace(code, digest=digest_of(code.root))


def content_name(code: Code) -> str:
    """Return a name for the current content of the Code's folder, unique to that content."""
    return _name_from_digest(os.fspath(code.root), code.digest or digest_of(code.root))


@lru_cache(maxsize=4096)
def _name_from_digest(root: str, digest: str) -> str:
    return sha256(f"{root}\0{digest}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _file_lines(folder: str, below: str, scan: _FolderScan) -> Iterator[str]:
    """Yield a text for each file, in a fixed order. Links to folders may be circular and are not followed."""
    waiting = _folder_entries(folder, below, scan)  # the next one last; no recursion: folders may be deep
    while waiting:
        entry, below = waiting.pop()
        name = entry.name
        if name.startswith(".") or name in ("__pycache__", "node_modules"):
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                waiting += _folder_entries(entry.path, f"{below}{name}/", scan)
                continue
        except OSError:  # gone
            pass
        facts = _facts_of(entry.path)
        scan.files.append((entry.path, facts))
        if facts is None:  # gone, or a broken link: use only the name
            yield f"{below}{name}\0"
            continue
        size, mtime, ctime, inode = facts
        yield f"{below}{name}\0{size} {mtime} {ctime} {inode}\0"


def _folder_entries(folder: str, below: str, scan: _FolderScan) -> list[tuple[os.DirEntry[str], str]]:
    """Return the folder's entries in reverse order, each with its folder's path below the root."""
    scan.folders.append((folder, _facts_of(folder)))  # before listing, so that a change meanwhile is noticed
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return []
    return [(entry, below) for entry in entries]


MAX_SHARED_FILES = 500  # files outside the hooks' folders that are checked


@dataclass(slots=True)
class ContentNames:
    """Tracks the files outside its own folder that a handler has imported, such as a pack's `../lib`."""

    _outside_files: dict[Path, frozenset[str]] = field(default_factory=dict)  # handler → files
    _all_outside: tuple[str, ...] = ()
    version: int = 0  # how often `learn` has changed the known files

    def learn(self, code: Code, files: Iterable[str]) -> None:
        """Note which files a handler has imported."""
        reached = frozenset(list(files)[:MAX_SHARED_FILES])
        if reached != self._outside_files.get(code.path):
            self._outside_files[code.path] = reached
            self.version += 1
            self._all_outside = tuple(sorted(frozenset[str]().union(*self._outside_files.values())))

    def shared_name(self) -> str:
        """Return a name for the current content of all shared files."""
        if not self._all_outside:
            return ""
        facts = "\0".join(f"{file} {_facts_text(file)}" for file in self._all_outside[:MAX_SHARED_FILES])
        return sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def name_of(self, code: Code, shared: str) -> str:
        """Return a name for the content of a handler's folder, and of the shared files if it imports any."""
        own = content_name(code)
        if not self._all_outside or not self._outside_files.get(code.path):
            return own
        return sha256(f"{own}\0{shared}".encode()).hexdigest()[:16]


def _facts_text(file: str) -> str:
    try:
        status = os.stat(file)
    except OSError:
        return "gone"
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


DECLARING_SHAPES = ("stream", "plugin")  # shapes of modules that declare handlers
PLUGIN_SHAPES = ("plugin", "arguments")  # shapes of code that gets a worker of its own


def code_document(code: Code, name: str, shared: str = "") -> Message:
    """Return the protocol's `code`. `name` identifies its folder's content, `shared` that of other files."""
    return {
        "path": str(code.path),
        "export": code.export,
        "root": str(code.root),
        "name": name,
        "shared": shared,
        "plain": code.unmodified,
        "shape": code.shape,
        "member": code.member,
        **({"within": str(code.trusted_root)} if code.trusted_root is not None else {}),
        **({"id": code.plugin} if code.plugin else {}),
        **({"config": code.config} if code.config else {}),
        **({"tools": list(code.tools)} if code.tools else {}),
        "beside": [{"kind": one.kind, "name": one.name, "path": str(one.path)} for one in code.siblings],
    }


def settings_message(code: Code) -> Message:
    """Return the message with the host's settings, sent once to a plugin's worker."""
    value = _as_json(code.settings)
    try:
        pack(message := {"do": "settings", "value": value})
    except (ValueError, RecursionError):  # too large or too deep for a message
        return {"do": "settings", "value": {}}
    return message


def _as_json(value: Any) -> Any:
    """Return the value as JSON types; other values become null."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    is_number = isinstance(value, float) and math.isfinite(value)
    return value if value is None or is_number or isinstance(value, str | int) else None


def module_from(document: Any, target: Callable[[str], Handler | Code]) -> Module:
    """Return the Module that a loader's document describes; `target` returns what to register for a member.

    Raises KeyError, TypeError or ValueError if the document is invalid.
    """
    return Module(
        tuple(_declaration_from(one, target) for one in document["declares"]),
        tuple(LogLine(str(line["level"]), str(line["text"])) for line in document["log"]),
        frozenset(map(str, document.get("asked") or ())),
    )


def member_targets(code: Code) -> Callable[[str], Code]:
    """Return the `target` for `module_from`: a function that returns `code` with `member` filled in."""
    return lambda member: replace(code, member=member)


def _priority(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return value


def _declaration_from(row: Mapping[str, Any], target: Callable[[str], Handler | Code]) -> Declared:
    limit, options = row.get("limit"), row.get("options") or {}
    if not isinstance(options, Mapping):
        raise TypeError("options are not a mapping")
    return Declared(
        str(row["key"]),
        target(str(row["member"])),
        _priority(row.get("priority")),
        None if limit is None else float(limit),
        options,
    )


MAX_KNOWN_REQUESTS = 2048  # calls whose requests are kept


@dataclasses.dataclass(frozen=True)  # it keeps cached properties
class HandlerRequest:
    """A handler to load or run. `name` identifies its content, `shared` that of files shared by hooks."""

    code: Code
    name: str
    shared: str
    call: Registration | None = None

    def document(self) -> Message:
        """Return the protocol's `code`."""
        return code_document(self.code, self.name, self.shared)

    def call_document(self) -> Message:
        """Return an item of the protocol's `calls`."""
        assert self.call is not None
        document = {"who": self.call.name, "code": self.document(), "env": dict(self.code.env)}
        fault = self.call.injected_fault
        if fault is not None:
            document["fault"] = {"fault": fault.fault, "amount": fault.amount}
        return document

    @cached_property
    def is_plugin(self) -> bool:
        """True if the handler belongs to a module with its own worker."""
        return self.code.shape in PLUGIN_SHAPES

    @cached_property
    def handler_name(self) -> str:
        """The handler's name in its worker; it stays the same if the file's content changes."""
        return f"{self.name}\0{self.code.path}\0{self.code.export}\0{self.code.shape}"

    @cached_property
    def packed(self) -> str:
        """An item of the protocol's `calls` as JSON."""
        return encode(self.call_document())


class RequestCache:
    """Caches the requests of calls while their content is unchanged."""

    def __init__(self, contents: ContentNames, code_of: Callable[[Registration], Code]) -> None:
        self._contents = contents
        self._code_of = code_of
        self._known: dict[int, HandlerRequest] = {}
        self._contents_version = 0  # version of `_contents` when `_known` was filled

    def request_for(self, call: Registration, shared: str) -> HandlerRequest:
        """Return a call's request for the current files. `shared` identifies the content of shared files."""
        known, version = self._known.get(id(call)), self._contents.version
        if (
            known is not None
            and known.call is call
            and known.code.digest  # the digest is given: no file needs to be checked
            and known.shared == shared
            and self._contents_version == version
        ):
            return known
        if self._contents_version != version:  # the same contents may have other names now
            self._known.clear()
            known, self._contents_version = None, version
        code = self._code_of(call)
        name = self._contents.name_of(code, shared)
        if known is not None and known.call is call and known.name == name and known.shared == shared:
            return known
        if len(self._known) >= MAX_KNOWN_REQUESTS:
            self._known.clear()
        request = HandlerRequest(code, name, shared, call)
        self._known[id(call)] = request  # it refers to the call, so that no other object gets its ID
        return request


class RequestNumbers:
    """The numbers under which one worker knows requests, so that each is sent only once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[HandlerRequest, int]] = {}

    def numbers_for(self, requests: Sequence[HandlerRequest]) -> tuple[str, str]:
        """Return the protocol's `calls`, a number per request, and `know`, the new requests, as JSON."""
        known, numbers, new = self._known, list[str](), list[str]()
        if len(known) + len(requests) > MAX_KNOWN_REQUESTS:
            known.clear()  # numbers start again: the worker replaces the old requests
        for request in requests:
            found = known.get(id(request))
            if found is None:
                found = known[id(request)] = request, len(known)  # refers to it: its ID stays taken
                new.append(f"[{found[1]},{request.packed}]")
            numbers.append(str(found[1]))
        return ",".join(numbers), ",".join(new)
