"""What held when an event was fired: the dialect, the host's settings, each planned handler's version."""

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

from hookscope.core.dialect import Settings
from hookscope.core.examine import LARGEST_DIGEST
from hookscope.core.regular_file import read_regular
from hookscope.core.runs import Code, Registration
from hookscope.journal.secrets import KEYS, Secret, SecretKeys, is_ordinary, secrets_in
from hookscope.journal.storable import plain
from hookscope.journal.veil import Veil, standing_in
from hookscope.values import dataclass

MOST_FILES = 1_000  # of a folder with more, only the handler's own file is compared
CODE = frozenset({".py", ".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"})
PASSED_OVER = ("__pycache__", "node_modules")
OF_ONE_FOLDER = ("hook", "plugin")  # shapes whose folder belongs to nobody else


@dataclass(frozen=True, slots=True)
class HandlerFile:
    """A handler that was planned. Empty digests: there was no file, or none that could be read."""

    hook: str
    key: str
    path: str | None  # None: a function of the program that fired
    digest: str = ""  # of the file's content
    beside: str = ""  # of the names and contents of the other code in its folder


@dataclass(frozen=True, slots=True)
class Changed:
    """A handler that is not what it was."""

    hook: str
    path: str
    what: Literal["changed", "gone", "beside"]  # beside: other code in its folder is another

    @property
    def words(self) -> str:
        """It, as half a sentence: `handler.py has changed`."""
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
    """A host's settings as they may be stored, and the secrets in them. An empty text: it has none."""

    text: str
    digest: bytes
    secrets: tuple[Secret, ...] = ()


NO_SETTINGS = MaskedSettings("", b"")


def masked_settings(
    settings: Settings, known: Iterable[Secret] = (), keys: SecretKeys = KEYS
) -> MaskedSettings:
    """The settings' file and values, with secrets masked, `known` ones too."""
    if not settings.exists:
        return NO_SETTINGS
    value = plain(settings.value)
    own = tuple(secrets_in(value, keys=keys))
    veil = Veil.over((*standing_in(value, known), *own), keys)
    text = json.dumps({"file": str(settings.file), "value": veil.value(value)})
    return MaskedSettings(text, _short_digest(text.encode()), secrets_of_settings(value, keys))


def secrets_of_settings(value: Any, keys: SecretKeys = KEYS) -> tuple[Secret, ...]:
    """The secrets of a host's settings, named as they are where a context has the settings."""
    found = secrets_in(value, ("cfg",), keys=keys)
    return tuple(secret for secret in dict.fromkeys(found) if not is_ordinary(secret.value))


@dataclass(frozen=True, slots=True)
class Circumstances:
    """As they are stored, once for all runs that have them in common."""

    dialect: str
    version: str
    settings: MaskedSettings
    handlers: str

    @property
    def digest(self) -> bytes:
        """Short, and the same for the same circumstances."""
        text = "\0".join((self.dialect, self.version, self.settings.digest.hex(), self.handlers))
        return _short_digest(text.encode())


def _short_digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def handlers_text(handlers: Iterable[HandlerFile]) -> str:
    """Handlers as one text for the database."""
    return json.dumps([[one.hook, one.key, one.path, one.digest, one.beside] for one in handlers])


@lru_cache(maxsize=256)
def handlers_of(text: str) -> tuple[HandlerFile, ...]:
    """What `handlers_text` wrote."""
    return tuple(HandlerFile(*facts) for facts in json.loads(text))


def handler_documents(handlers: Iterable[HandlerFile]) -> list[dict[str, Any]]:
    """For people's programs."""
    return [
        {
            "hook": one.hook,
            "key": one.key,
            "path": one.path,
            "digest": one.digest or None,
            "beside": one.beside or None,
        }
        for one in handlers
    ]


def handlers_from(documents: Sequence[Mapping[str, Any]]) -> tuple[HandlerFile, ...]:
    """What `handler_documents` made."""
    return tuple(
        HandlerFile(one["hook"], one["key"], one["path"], one["digest"] or "", one["beside"] or "")
        for one in documents
    )


def changed_since(handlers: Iterable[HandlerFile]) -> tuple[Changed, ...]:
    """Which of a run's handlers are not what they were then, each once. Blocks: it reads files."""
    return Fingerprints().changed(handlers)


@dataclass(slots=True)
class Fingerprints:
    """Digests of files, taken anew where a file's size, times or number have changed."""

    _known: dict[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)

    def of_calls(self, calls: Iterable[Registration]) -> tuple[HandlerFile, ...]:
        """The handlers of these calls as their files are now. Reads them; never raises."""
        return tuple(self._of_call(call) for call in calls)

    def changed(self, handlers: Iterable[HandlerFile]) -> tuple[Changed, ...]:
        """Those of them that are not what they were, each once. Blocks: it reads files."""
        found = {}
        for one in handlers:
            if one.path is None or not one.digest:
                continue
            now = self._digest(one.path)
            beside = self._beside(Path(one.path)) if now == one.digest and one.beside else one.beside
            if not now:
                found[one.path] = Changed(one.hook, one.path, "gone")
            elif now != one.digest:
                found[one.path] = Changed(one.hook, one.path, "changed")
            elif beside != one.beside:
                found[one.path] = Changed(one.hook, one.path, "beside")
        return tuple(found.values())

    def _of_call(self, call: Registration) -> HandlerFile:
        if not isinstance(call.target, Code):
            return HandlerFile(call.name, call.key, None)
        code = call.target
        own_folder = code.shape in OF_ONE_FOLDER and code.root == code.path.parent
        beside = self._beside(code.path) if own_folder else ""
        return HandlerFile(call.name, call.key, str(code.path), self._digest(str(code.path)), beside)

    def _digest(self, path: str) -> str:
        """The first half of the content's SHA-256, in hexadecimal; empty where it cannot be read."""
        try:
            facts = os.stat(path)
            if (
                not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST_DIGEST
            ):  # a pipe would be read for ever
                return ""
            mark = (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
            known = self._known.get(path)
            if known is None or known[0] != mark:
                known = (mark, sha256(read_regular(path, LARGEST_DIGEST)).hexdigest()[:32])
                self._known[path] = known
            return known[1]
        except (OSError, ValueError):  # ValueError: a NUL in the name
            return ""

    def _beside(self, handler: Path) -> str:
        """Of the other code in the handler's folder; empty where there is none, or too much."""
        digest, found = sha256(), False
        for number, entry in enumerate(_files(os.fspath(handler.parent))):
            if number == MOST_FILES:
                return ""
            if os.path.splitext(entry.name)[1] in CODE and entry.path != os.fspath(handler):
                name = os.path.relpath(entry.path, handler.parent)
                digest.update(f"{name}\0{self._digest(entry.path)}\0".encode("utf-8", "surrogateescape"))
                found = True
        return digest.hexdigest()[:32] if found else ""


def _files(folder: str) -> Iterator[os.DirEntry[str]]:
    """All files below, in an order of its own. Links to folders are not followed: they may lead round."""
    waiting = _entries(folder)  # the next one last; no recursion: folders may lie very deep
    while waiting:
        entry = waiting.pop()
        if entry.name.startswith(".") or entry.name in PASSED_OVER:
            continue
        if entry.is_dir(follow_symlinks=False):
            waiting += _entries(entry.path)
        else:
            yield entry


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What the folder holds, the first name last; nothing where it cannot be listed."""
    try:
        with os.scandir(folder) as listing:
            return sorted(listing, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return []
