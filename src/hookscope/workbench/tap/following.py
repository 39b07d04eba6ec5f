"""Telling what comes into a spool while it comes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from hookscope.values import dataclass
from hookscope.workbench.tap.spool import Heard, opened

POLL = 0.25  # seconds between two looks; a look reads half a kilobyte where nothing came
RARELY = 2.0  # the same, where there is no spool yet
BEFORE = 20  # events of before that are told first
AT_ONCE = 1_000  # events that are told at once; of more, the newest


@dataclass(frozen=True, slots=True)
class Came:
    """Real events that came since the last time, oldest first, and what of them is not told."""

    events: tuple[Heard, ...]
    left: int = 0  # events before these that are not told, since too many came at once
    skipped: int = 0  # lines that were no events
    missed: bool = False  # some came and went between two looks
    past: bool = False  # they came before anybody listened


Told = Callable[[Came], object]


class Follow:
    """Follows one spool in a thread of its own, and tells from it. `close` ends the thread."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._folder: Path | None = None
        self._stop = threading.Event()

    def follow(self, folder: Path) -> None:
        """Tell of this spool from now on, its newest events first; the same as before changes nothing."""
        if folder == self._folder:
            return
        self.close()
        self._folder, self._stop = folder, threading.Event()
        arguments = (folder, self._stop)
        threading.Thread(target=self._run, args=arguments, name="spool", daemon=True).start()

    def close(self) -> None:
        """Tell nothing any more."""
        self._stop.set()
        self._folder = None

    def _run(self, folder: Path, stop: threading.Event) -> None:
        try:
            before, tail = opened(folder, BEFORE)
        except OSError:  # it may not be read; `tap status` says so
            return
        self._tell(Came(before, past=True), stop)
        while not stop.wait(POLL if os.path.isdir(folder) else RARELY):
            news = tail.news()
            told = tuple(news.events[-AT_ONCE:])
            left = len(news.events) - len(told)
            self._tell(Came(told, left, news.skipped, news.missed), stop)

    def _tell(self, came: Came, stop: threading.Event) -> None:
        if (came.events or came.skipped or came.missed) and not stop.is_set():
            self._told(came)
