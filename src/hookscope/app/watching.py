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

# Milliseconds. The library's defaults delay the report of a save by up to 100 ms. Each step wakes a
# thread, so single files, such as the settings, have longer steps than folders.
STEP, STEP_OF_NAMES, DEBOUNCE = 3, 10, 50
QUIET = 300  # milliseconds without changes after which a watch looks for saves before its start
LAST = 1.0  # seconds that an exiting program waits for its threads
POLL = 1.0  # seconds between polls without native events
AUTHORED = frozenset({".py", ".md", ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"})  # not written by handlers
NOISE = re.compile(
    r"__pycache__|node_modules|\.git|.*~|\.#.*|.*\.sw[a-z]|4913|.*\.tmp|\..*\.[A-Za-z0-9_-]{6,}"
)
STAGED = ".hookscope-staging"  # staging folders of pack transactions


@dataclass(frozen=True, slots=True)
class WatchedPaths:
    """The files and folders to watch."""

    folders: tuple[Path, ...] = ()  # existing hook folders: everything below them
    names_by_folder: Mapping[Path, frozenset[str]] = field(default_factory=dict)  # folder → names in it

    def is_relevant(self, path: Path) -> bool:
        """Return whether a change of this path needs a scan."""
        if any(NOISE.fullmatch(part) for part in path.parts[-3:]):
            return False
        if any(part.startswith(STAGED) for part in path.parts):
            return False
        if path.name in self.names_by_folder.get(path.parent, frozenset()):
            return True
        return any(path.is_relative_to(folder) for folder in self.folders)

    def possible_changes(self, paths: Iterable[Path]) -> frozenset[Path]:
        """Return what may have changed if the folders at these paths were replaced by others."""
        names = {path: self.names_by_folder.get(path, frozenset()) for path in paths}
        return frozenset(path / name for path in names for name in names[path] or {""})

    def with_paths(self, paths: Iterable[Path]) -> WatchedPaths:
        """Return a copy that also watches these paths; a folder includes everything below it."""
        paths = tuple(paths)
        folders = (*self.folders, *(path for path in paths if os.path.isdir(path)))
        awaited = _awaited((path for path in paths if not os.path.isdir(path)), self.names_by_folder)
        return WatchedPaths(tuple(dict.fromkeys(folders)), awaited)


def watched_paths(host: Host) -> WatchedPaths:
    """Return the hook folders and settings of a host. Missing ones are watched where they would appear."""
    settings = (host.settings.file,) if host.dialect.layout.settings else ()
    variables = tuple(host.workspace / name for name in host.dialect.settings_rules.project_dotenv)
    present = [folder.path for folder in host.folders if os.path.isdir(folder.path)]
    absent = [folder.path for folder in host.folders if not os.path.isdir(folder.path)]
    return WatchedPaths(tuple(dict.fromkeys(present)), _awaited((*settings, *variables, *absent), {}))


def _awaited(paths: Iterable[Path], before: Mapping[Path, frozenset[str]]) -> Mapping[Path, frozenset[str]]:
    """Return `before` plus the nearest existing folder of each path, with the name that may appear there."""
    awaited = dict(before)
    for path in paths:
        near = path.parent
        while not os.path.isdir(near) and near != near.parent:
            path, near = near, near.parent
        awaited[near] = awaited.get(near, frozenset()) | {path.name}
    return awaited


_WATCHING: dict[threading.Thread, threading.Event] = {}  # thread → its stop event


@atexit.register
def _end_all() -> None:
    """Stop all watches at exit: a thread inside the native library would crash the interpreter."""
    for stop in tuple(_WATCHING.values()):
        stop.set()
    for thread in tuple(_WATCHING):
        if thread.is_alive():  # a thread that failed to start is not alive
            thread.join(LAST)


class Watch:
    """Watches in its own threads, and reports from one of them what changed.

    Call `follow` or `watch` again whenever the watched paths change. `close` ends the threads.
    """

    def __init__(self, on_change: ChangeCallback) -> None:
        self._on_change = on_change
        self._watched: WatchedPaths | None = None
        self._stop = threading.Event()
        self.note = ""  # how watching is limited; mostly empty

    def follow(self, host: Host, extra: Iterable[Path] = (), since: int | None = None) -> str:
        """Watch the files of this host and of its events; return what is watched, in words.

        Args:
            extra: other files, such as those of an assumed environment.
            since: as for `watch`.
        """
        watched = watched_paths(host)
        self.watch(watched.with_paths((*variable_files(host.workspace), *extra)), since)
        count = len(watched.folders)
        return self.note or f"watching {count} folder{'s' * (count != 1)}"

    def watch(self, watched: WatchedPaths, since: int | None = None) -> None:
        """Watch these paths from now on. The same paths as before change nothing.

        `since`: when the files were read, in nanoseconds since the epoch; None: now. Files that are saved
        after that and before the watch's thread has started are reported too.
        """
        if watched == self._watched:
            return
        since = time.time_ns() if since is None else since
        self.close()
        self._watched, self._stop, self.note = watched, threading.Event(), ""
        for paths, deep in ((watched.folders, True), (tuple(watched.names_by_folder), False)):
            if paths:
                arguments = (watched, paths, deep, since, self._stop)
                thread = threading.Thread(target=self._run, args=arguments, name="watch", daemon=True)
                _WATCHING[thread] = self._stop
                thread.start()

    def close(self) -> None:
        """Stop reporting."""
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
        natively, started = True, False
        while not stop.is_set():
            marks = _marks(paths, deep)
            changes = _native if natively and None not in marks else _polled
            try:
                for changed in changes(paths, deep, stop):
                    if not started:
                        started = True
                        changed |= _saved_since(since, paths, deep)
                    if not changed:
                        continue
                    self._report(frozenset(path for path in changed if watched.is_relevant(path)), stop)
                    if _marks(paths, deep) != marks:
                        # The watched folder was replaced by another with the same name.
                        self._report(watched.possible_changes(paths), stop)
                        break
            except OSError as error:
                natively = None in _marks(paths, deep)  # a removed folder may return
                self.note = "" if natively else f"polling once a second: {error_reason(error)}"

    def _report(self, paths: frozenset[Path], stop: threading.Event) -> None:
        if paths and not stop.is_set():
            self._on_change(paths)


def _marks(paths: tuple[Path, ...], deep: bool) -> list[tuple[int, int] | None]:
    """Return the identity of each folder, and of links inside deep ones; None for a missing folder."""
    marks = [file_identity(path) for path in paths]
    for path in paths if deep else ():
        with suppress(OSError), os.scandir(path) as entries:
            links = sorted(entry.path for entry in entries if entry.is_symlink())
            marks += [file_identity(link) or (0, 0) for link in links]
    return marks


def _native(paths: tuple[Path, ...], deep: bool, stop: threading.Event) -> Iterator[frozenset[Path]]:
    """Yield native change events, and an empty set now and then.

    Raises OSError if the system has no more watches, or a folder was removed.
    """
    from watchfiles import watch  # importing it costs 50 ms, and only a console watches

    for changes in watch(
        *paths,
        watch_filter=None,
        step=STEP if deep else STEP_OF_NAMES,
        debounce=DEBOUNCE,
        stop_event=stop,
        recursive=deep,
        rust_timeout=QUIET,
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,
    ):
        yield frozenset(Path(path) for _, path in changes)


def _polled(paths: tuple[Path, ...], deep: bool, stop: threading.Event) -> Iterator[frozenset[Path]]:
    """Yield an empty set at the start, then once a second the paths whose stamps have changed."""
    before = _stamps(paths, deep)
    yield frozenset()
    while not stop.wait(POLL):
        now = _stamps(paths, deep)
        different = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
        before = now
        if different:
            yield frozenset(different)


def _saved_since(since: int, paths: tuple[Path, ...], deep: bool) -> frozenset[Path]:
    """Return the files that were written or created after a time."""
    late = (path for path, (_, changed, *_) in _stamps(paths, deep).items() if changed > since)
    return frozenset(path for path in late if not os.path.isdir(path))


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
