"""Watches the files of hooks and settings, and reports which changed."""

from __future__ import annotations

import atexit
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from hookscope.app.variables import variable_files
from hookscope.model.host import Host
from hookscope.model.machine import file_identity
from hookscope.model.text import error_reason
from hookscope.values import dataclass

ChangeCallback: TypeAlias = Callable[[frozenset[Path]], object]
FileStamp: TypeAlias = tuple[int, int, int, int]

# Milliseconds; the library's own defaults cost up to 100 ms a save. News take one to two steps, and each step
# wakes a thread: so single names, such as the settings, are looked for less often than what lies in folders.
STEP, STEP_OF_NAMES, DEBOUNCE = 3, 10, 50
UPWARDS = 300  # milliseconds after which a watch without news has begun: what was saved before is looked for
LAST = 1.0  # seconds that a program which ends waits for its threads
POLL = 1.0  # seconds between two looks where there are no native events
AUTHORED = frozenset({".py", ".md", ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"})  # not what handlers write
NOISE = re.compile(
    r"__pycache__|node_modules|\.git|.*~|\.#.*|.*\.sw[a-z]|4913|.*\.tmp|\..*\.[A-Za-z0-9_-]{6,}"
)
STAGED = ".hookscope-staging"  # where files of packs wait for a moment, before they come or when they go


@dataclass(frozen=True, slots=True)
class WatchedPaths:
    """What matters of the disk."""

    folders: tuple[Path, ...] = ()  # hooks folders that are there: everything below them
    awaited: Mapping[Path, frozenset[str]] = field(default_factory=dict)  # folder → names in it

    def matters(self, path: Path) -> bool:
        """Is a change of this path worth a look."""
        if any(NOISE.fullmatch(part) for part in path.parts[-3:]):
            return False
        if any(part.startswith(STAGED) for part in path.parts):
            return False
        if path.name in self.awaited.get(path.parent, frozenset()):
            return True
        return any(path.is_relative_to(folder) for folder in self.folders)

    def all_of(self, paths: Iterable[Path]) -> frozenset[Path]:
        """What may have changed where others stand under these names."""
        names = {path: self.awaited.get(path, frozenset()) for path in paths}
        return frozenset(path / name for path in names for name in names[path] or {""})

    def and_also(self, paths: Iterable[Path]) -> WatchedPaths:
        """These too: of folders all below them; what is not there yet, where it would appear."""
        paths = tuple(paths)
        folders = (*self.folders, *(path for path in paths if os.path.isdir(path)))
        awaited = _awaited((path for path in paths if not os.path.isdir(path)), self.awaited)
        return WatchedPaths(tuple(dict.fromkeys(folders)), awaited)


def watched_paths(host: Host) -> WatchedPaths:
    """The hooks folders and the settings of a host; for what is not there yet, where it would appear."""
    settings = (host.settings.file,) if host.dialect.layout.settings else ()
    variables = tuple(host.workspace / name for name in host.dialect.settings_rules.project_dotenv)
    there = [folder.path for folder in host.folders if os.path.isdir(folder.path)]
    absent = [folder.path for folder in host.folders if not os.path.isdir(folder.path)]
    return WatchedPaths(tuple(dict.fromkeys(there)), _awaited((*settings, *variables, *absent), {}))


def _awaited(paths: Iterable[Path], before: Mapping[Path, frozenset[str]]) -> Mapping[Path, frozenset[str]]:
    """The nearest folders that are there, with the names that lead on from them."""
    awaited = dict(before)
    for path in paths:
        near = path.parent
        while not os.path.isdir(near) and near != near.parent:
            path, near = near, near.parent
        awaited[near] = awaited.get(near, frozenset()) | {path.name}
    return awaited


_WATCHING: dict[threading.Thread, threading.Event] = {}  # with what stops them


@atexit.register
def _end_all() -> None:
    """The interpreter ends next: a thread that is inside the library then would fault, and take it down."""
    for stop in tuple(_WATCHING.values()):
        stop.set()
    for thread in tuple(_WATCHING):
        if thread.is_alive():  # not one that could not be started
            thread.join(LAST)


class Watch:
    """Watches in threads of its own, and tells what changed, from one of them.

    `follow` and `watch` may be called again whenever what matters has changed. `close` ends the threads.
    """

    def __init__(self, told: ChangeCallback) -> None:
        self._told = told
        self._watched: WatchedPaths | None = None
        self._stop = threading.Event()
        self.note = ""  # how the watching is limited; empty mostly

    def follow(self, host: Host, also: Iterable[Path] = (), since: int | None = None) -> str:
        """Watch what matters to this host and fills its events; the hooks folders watched, in words.

        `also`: other files, such as those that an assumed environment is read from. `since`: as for `watch`.
        """
        watched = watched_paths(host)
        self.watch(watched.and_also((*variable_files(host.workspace), *also)), since)
        count = len(watched.folders)
        return self.note or f"watching {count} folder{'s' * (count != 1)}"

    def watch(self, watched: WatchedPaths, since: int | None = None) -> None:
        """Watch this from now on; the same as before changes nothing.

        `since`: nanoseconds of the epoch, when its files were read. What was saved from then until the watch
        has begun, in a thread, is told too. None: now.
        """
        if watched == self._watched:
            return
        since = time.time_ns() if since is None else since
        self.close()
        self._watched, self._stop, self.note = watched, threading.Event(), ""
        for paths, deep in ((watched.folders, True), (tuple(watched.awaited), False)):
            if paths:
                arguments = (watched, paths, deep, since, self._stop)
                thread = threading.Thread(target=self._run, args=arguments, name="watch", daemon=True)
                _WATCHING[thread] = self._stop
                thread.start()

    def close(self) -> None:
        """Tell nothing any more."""
        self._stop.set()
        self._watched = None

    def _run(
        self, watched: WatchedPaths, paths: tuple[Path, ...], deep: bool, since: int, stop: threading.Event
    ) -> None:
        try:
            self._watch(watched, paths, deep, since, stop)
        finally:
            del _WATCHING[threading.current_thread()]

    def _watch(
        self, watched: WatchedPaths, paths: tuple[Path, ...], deep: bool, since: int, stop: threading.Event
    ) -> None:
        natively, begun = True, False
        while not stop.is_set():
            marks = _marks(paths, deep)
            changes = _native if natively and None not in marks else _polled
            try:
                for changed in changes(paths, deep, stop):
                    if not begun:
                        begun = True
                        changed |= _saved_since(since, paths, deep)
                    if not changed:
                        continue
                    self._tell(frozenset(path for path in changed if watched.matters(path)), stop)
                    if _marks(paths, deep) != marks:
                        # What is watched has gone elsewhere, and another folder has its name.
                        self._tell(watched.all_of(paths), stop)
                        break
            except OSError as error:
                natively = None in _marks(paths, deep)  # one that has gone may come again
                self.note = "" if natively else f"polling once a second: {error_reason(error)}"

    def _tell(self, paths: frozenset[Path], stop: threading.Event) -> None:
        if paths and not stop.is_set():
            self._told(paths)


def _marks(paths: tuple[Path, ...], deep: bool) -> list[tuple[int, int] | None]:
    """Which folders stand under these names, and under those of links in them; None where there is none."""
    marks = [file_identity(path) for path in paths]
    for path in paths if deep else ():
        with suppress(OSError), os.scandir(path) as entries:
            links = sorted(entry.path for entry in entries if entry.is_symlink())
            marks += [file_identity(link) or (0, 0) for link in links]
    return marks


def _native(paths: tuple[Path, ...], deep: bool, stop: threading.Event) -> Iterator[frozenset[Path]]:
    """What the system says, and nothing now and then.

    Raises OSError where it gives no more watches, or a folder has gone.
    """
    from watchfiles import watch  # here: it costs 50 ms, and only a console watches

    for changes in watch(
        *paths,
        watch_filter=None,
        step=STEP if deep else STEP_OF_NAMES,
        debounce=DEBOUNCE,
        stop_event=stop,
        recursive=deep,
        rust_timeout=UPWARDS,
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,
    ):
        yield frozenset(Path(path) for _, path in changes)


def _polled(paths: tuple[Path, ...], deep: bool, stop: threading.Event) -> Iterator[frozenset[Path]]:
    """Nothing at first, then what has another stamp than a second ago, be it of the same size or time."""
    before = _stamps(paths, deep)
    yield frozenset()
    while not stop.wait(POLL):
        now = _stamps(paths, deep)
        different = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
        before = now
        if different:
            yield frozenset(different)


def _saved_since(since: int, paths: tuple[Path, ...], deep: bool) -> frozenset[Path]:
    """The files that were written, or came, after a moment."""
    late = (path for path, (_, changed, *_) in _stamps(paths, deep).items() if changed > since)
    return frozenset(path for path in late if not path.is_dir())


def _stamps(paths: tuple[Path, ...], deep: bool) -> dict[Path, FileStamp]:
    stamps: dict[Path, FileStamp] = {}
    waiting = [os.fspath(path) for path in paths]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            if NOISE.fullmatch(entry.name):
                continue
            try:
                status = entry.stat()
                if deep and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
            except OSError:
                continue
            stamps[Path(entry.path)] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    return stamps
