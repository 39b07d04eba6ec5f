"""The conditions of a run: dialect, masked settings, handler versions, and the process that started it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, Literal

from hookscope.helpers import helper_output
from hookscope.model.host import Settings
from hookscope.model.regular_file import LARGEST_DIGEST, read_regular
from hookscope.model.run import Code, Registration
from hookscope.storage.journal.records import plain_json
from hookscope.storage.journal.redaction import Masker, secrets_occurring_in
from hookscope.storage.journal.secrets import DEFAULT_SECRET_KEYS, Secret, SecretKeys, is_ordinary, secrets_in
from hookscope.values import dataclass

MOST_FILES = 1_000  # files; in a folder with more, only the handler's own file is compared
CODE_SUFFIXES = frozenset({".py", ".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"})
SKIPPED_FOLDERS = ("__pycache__", "node_modules")
FOLDER_KINDS = ("hook", "plugin")  # handler shapes with a folder of their own


@dataclass(frozen=True, slots=True)
class HandlerFile:
    """A planned handler. Empty digests: the file was missing or unreadable."""

    hook: str
    key: str
    path: str | None  # None: a function of the program that fired
    digest: str = ""  # of the file's content
    folder_digest: str = ""  # of the names and contents of the other code in its folder


@dataclass(frozen=True, slots=True)
class ChangedHandler:
    """A handler that has changed since a run."""

    hook: str
    path: str
    what: Literal["changed", "gone", "beside"]  # beside: other code in its folder has changed

    @property
    def text(self) -> str:
        """Return the change as a clause: `handler.py has changed`."""
        name = Path(self.path).name
        match self.what:
            case "changed":
                return f"{name} has changed"
            case "gone":
                return f"{name} is gone"
            case "beside":
                return f"code beside {name} has changed"


@dataclass(frozen=True, slots=True)
class MaskedSettings:
    """A host's settings with masked secrets, and the secrets. An empty text: the host has no settings."""

    text: str
    digest: bytes
    secrets: tuple[Secret, ...] = ()


NO_SETTINGS = MaskedSettings("", b"")


def masked_settings(
    settings: Settings, known: Iterable[Secret] = (), keys: SecretKeys = DEFAULT_SECRET_KEYS
) -> MaskedSettings:
    """Return the settings' file and values with masked secrets, including the `known` ones."""
    if not settings.exists:
        return NO_SETTINGS
    value = plain_json(settings.value)
    own = tuple(secrets_in(value, keys=keys))
    masker = Masker.for_secrets((*secrets_occurring_in(value, known), *own), keys)
    text = json.dumps({"file": str(settings.file), "value": masker.masked_value(value)})
    return MaskedSettings(text, _short_digest(text.encode()), secrets_of_settings(value, keys))


def secrets_of_settings(value: Any, keys: SecretKeys = DEFAULT_SECRET_KEYS) -> tuple[Secret, ...]:
    """Return the secrets of a host's settings, named as if they were under `cfg` in a context."""
    found = secrets_in(value, ("cfg",), keys=keys)
    return tuple(secret for secret in dict.fromkeys(found) if not is_ordinary(secret.value))


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """The conditions of a run, stored once for all runs with equal conditions."""

    dialect: str
    version: str
    settings: MaskedSettings
    handlers: str

    @property
    def digest(self) -> bytes:
        """Return a short digest, equal for equal environments."""
        text = "\0".join((self.dialect, self.version, self.settings.digest.hex(), self.handlers))
        return _short_digest(text.encode())


def _short_digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def handlers_to_text(handlers: Iterable[HandlerFile]) -> str:
    """Return handlers as one text for the database."""
    return json.dumps([[one.hook, one.key, one.path, one.digest, one.folder_digest] for one in handlers])


@lru_cache(maxsize=256)
def handlers_from_text(text: str) -> tuple[HandlerFile, ...]:
    """Return the handlers of a `handlers_to_text` result."""
    return tuple(HandlerFile(*facts) for facts in json.loads(text))


def handler_documents(handlers: Iterable[HandlerFile]) -> list[dict[str, Any]]:
    """Return the handlers as JSON values."""
    return [
        {
            "hook": one.hook,
            "key": one.key,
            "path": one.path,
            "digest": one.digest or None,
            "beside": one.folder_digest or None,
        }
        for one in handlers
    ]


def handlers_from_documents(documents: Sequence[Mapping[str, Any]]) -> tuple[HandlerFile, ...]:
    """Return the handlers of a `handler_documents` result."""
    return tuple(
        HandlerFile(one["hook"], one["key"], one["path"], one["digest"] or "", one["beside"] or "")
        for one in documents
    )


def handlers_changed_since(handlers: Iterable[HandlerFile]) -> tuple[ChangedHandler, ...]:
    """Return the handlers of a run that have changed since, each once. Blocks: it reads files."""
    return FileDigests().changed(handlers)


@dataclass(slots=True)
class FileDigests:
    """Digests of files, cached until a file's size, times or inode change."""

    _known: dict[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)

    def of_calls(self, calls: Iterable[Registration]) -> tuple[HandlerFile, ...]:
        """Return the current versions of these calls' handlers. Reads files; never raises."""
        return tuple(self._of_call(call) for call in calls)

    def changed(self, handlers: Iterable[HandlerFile]) -> tuple[ChangedHandler, ...]:
        """Return the handlers that have changed, each once. Blocks: it reads files."""
        found = {}
        for one in handlers:
            if one.path is None or not one.digest:
                continue
            now = self._digest(one.path)
            folder_digest = (
                self._folder_digest(Path(one.path))
                if now == one.digest and one.folder_digest
                else one.folder_digest
            )
            if not now:
                found[one.path] = ChangedHandler(one.hook, one.path, "gone")
            elif now != one.digest:
                found[one.path] = ChangedHandler(one.hook, one.path, "changed")
            elif folder_digest != one.folder_digest:
                found[one.path] = ChangedHandler(one.hook, one.path, "beside")
        return tuple(found.values())

    def _of_call(self, call: Registration) -> HandlerFile:
        if not isinstance(call.target, Code):
            return HandlerFile(call.name, call.key, None)
        code = call.target
        own_folder = code.shape in FOLDER_KINDS and code.root == code.path.parent
        folder_digest = self._folder_digest(code.path) if own_folder else ""
        return HandlerFile(call.name, call.key, str(code.path), self._digest(str(code.path)), folder_digest)

    def _digest(self, path: str) -> str:
        """Return the first half of the content's SHA-256 in hexadecimal; empty if it is unreadable."""
        try:
            facts = os.stat(path)
            if (
                not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST_DIGEST
            ):  # reading a pipe would never end
                return ""
            mark = (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
            known = self._known.get(path)
            if known is None or known[0] != mark:
                known = (mark, sha256(read_regular(path, LARGEST_DIGEST)).hexdigest()[:32])
                self._known[path] = known
            return known[1]
        except (OSError, ValueError):  # ValueError: a NUL in the name
            return ""

    def _folder_digest(self, handler: Path) -> str:
        """Return the digest of other code in the handler's folder; empty if there is none, or too much."""
        digest, found = sha256(), False
        for number, entry in enumerate(_files_below(os.fspath(handler.parent))):
            if number == MOST_FILES:
                return ""
            if os.path.splitext(entry.name)[1] in CODE_SUFFIXES and entry.path != os.fspath(handler):
                name = os.path.relpath(entry.path, handler.parent)
                digest.update(f"{name}\0{self._digest(entry.path)}\0".encode("utf-8", "surrogateescape"))
                found = True
        return digest.hexdigest()[:32] if found else ""


def _files_below(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield all files below in a fixed order. Links to folders are not followed: they may be circular."""
    waiting = _folder_entries(folder)  # the next one last; no recursion: folders may be deeply nested
    while waiting:
        entry = waiting.pop()
        if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
            continue
        if entry.is_dir(follow_symlinks=False):
            waiting += _folder_entries(entry.path)
        else:
            yield entry


def _folder_entries(folder: str) -> list[os.DirEntry[str]]:
    """Return the folder's entries in reverse order; none if it is unreadable."""
    try:
        with os.scandir(folder) as listing:
            return sorted(listing, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return []


DEAD_STATES = "ZXx"  # states of a process that has ended and was not yet waited for


@dataclass(frozen=True, slots=True)
class RunOwner:
    """A process. `started` is opaque: it is only compared."""

    pid: int
    started: str

    @staticmethod
    def current() -> RunOwner:
        """Return this process."""
        return RunOwner(os.getpid(), process_start(os.getpid()) or "")

    @property
    def alive(self) -> bool:
        """Return True if the process still runs. A later process with the same number does not count."""
        return process_start(self.pid) == self.started


def process_start(pid: int) -> str | None:
    """Return when a process started; None if it does not run."""
    return _process_start_by_proc(pid) if Path("/proc/self/stat").exists() else process_start_by_ps(pid)


def _process_start_by_proc(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the name before it may contain spaces and brackets
    # Fields 3 and 22 of proc(5). Ticks count from the boot, so the boot is part of the answer.
    return None if fields[0] in DEAD_STATES else f"{_boot_time()} {fields[19]}"


def _boot_time() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def process_start_by_ps(pid: int) -> str | None:
    """Return when a process started, as `ps` of macOS and the BSDs prints it; None if it does not run.

    The language and time zone are fixed.
    """
    try:
        answer = helper_output(["/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)], seconds=5)
    except OSError:
        return None
    state, _, started = answer.text.strip().partition(" ")
    return None if not state or state[0] in DEAD_STATES else started.strip()
