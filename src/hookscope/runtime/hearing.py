"""What a worker says, as the host hears it: where it is read, and who takes it."""

from __future__ import annotations

import asyncio
import os
import select
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context, copy_context
from time import perf_counter

from hookscope.runtime.descriptors import read_now
from hookscope.runtime.peer import Added, Late
from hookscope.runtime.python_worker.protocol import Garbled, Message, Unpacker

LATE_ERRORS = 50  # kept between two questions
ADDED = 1000  # handlers of all contents that one worker has had
GLANCE = 0.001  # seconds in which most handlers have answered: waited for without a turn of the loop
HIGHEST = 1023  # number of a descriptor that can be waited for without a loop
OF_STOPS = frozenset(("stop", "bound", "logged"))  # what a debugger hears
MUCH = b"\1"  # rung by a worker that says more than a pipe holds: the line is to be read as it comes

Take = Callable[[Message], bool]


class Hearing:
    """The reading end of a worker's line. Owns its descriptors until `close`.

    Where there is a `bell`, the worker rings it when somebody shall look at the line at once. Only the bell
    is watched then: what the worker has said without ringing waits for the next look, and is read also when
    the worker is dead.
    """

    def __init__(self, line: int, bell: int = -1) -> None:
        for descriptor in (line, bell):
            if descriptor >= 0:
                os.set_blocking(descriptor, False)
        self._line, self._bell = line, bell
        self._watched = line if bell < 0 else bell
        self.garbled = ""
        self.mute = False  # the line is at its end
        self.inbox: deque[Message] = deque()
        self.late: list[Late] = []
        self.added: list[Added] = []  # as long as the worker lives
        self.news: Callable[[], None] | None = None  # of who attends between two batches
        self.stopped: Callable[[Message], None] | None = None  # of a debugger
        self._unpacker = Unpacker()
        self._wake = asyncio.Event()
        self._take: Take | None = None  # of who converses, while they do
        self._outcome: bool | BaseException | None = None  # of that; True: there is something to look at
        self._over: asyncio.Future[None] | None = None  # while they wait for it in a loop
        self._context: Context | None = None  # theirs, meanwhile
        self._is_quick = True  # was the last conversation over within a glance
        self.loop: asyncio.AbstractEventLoop | None = None  # that reads
        self._heard: set[int] = set()  # the descriptors that it reads

    def listen(self) -> None:
        """Read in the running loop, and until another one does: what comes meanwhile is kept."""
        loop = asyncio.get_running_loop()
        if loop is self.loop:
            return
        self.deafen()
        self.loop, self._wake = loop, asyncio.Event()
        if not self.mute:
            self._watch(self._watched)

    def deafen(self) -> None:
        """Read no more."""
        for descriptor in tuple(self._heard):
            self._forget(descriptor)
        self.loop = None

    def close(self) -> None:
        """It is over: nobody waits any longer."""
        self.mute = True
        self.deafen()
        self.stir()
        for descriptor in (self._line, self._bell):
            if descriptor >= 0:
                os.close(descriptor)

    def stir(self, again: bool = True) -> None:
        """Let those who wait look again, or go on without an end."""
        self._wake.set()
        self._settle(again)

    def _settle(self, outcome: bool | BaseException) -> None:
        """Of who converses: the first one counts."""
        if self._outcome is not None:
            return
        self._outcome = outcome
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    async def woken(self) -> None:
        """Wait until there is something to look at."""
        self._wake.clear()
        await self._wake.wait()

    async def conversation(self, take: Take, waits: Callable[[], object]) -> bool:
        """Give `take` each message where it is read, until it says that it was the last.

        `waits` is called where that takes a turn of the loop. False at the end, and where somebody
        interrupts; True where there is something else to look at. Raises what `take` raises.
        """
        self._take, self._outcome, began = take, None, perf_counter()
        try:
            if self._is_quick and self._watched <= HIGHEST and not self.mute and self._is_there(GLANCE):
                self._read()
            if self._outcome is None:
                self._context, self._over = copy_context(), asyncio.get_running_loop().create_future()
                waits()
                await self._over
            if isinstance(self._outcome, BaseException):
                raise self._outcome
            return bool(self._outcome)
        finally:
            self._is_quick = perf_counter() - began < 2 * GLANCE
            self._take = self._over = self._context = self._outcome = None

    def _is_there(self, seconds: float) -> bool:
        """Is there something to read before so many seconds are over."""
        return bool(select.select([self._watched], [], [], seconds)[0])

    def look(self) -> bool:
        """Read what has been said up to now, rung for or not. Was there anything?"""
        data = read_now(self._line)
        if data is not None:
            self._hear(data)
        return bool(data)

    def _read(self) -> None:
        """The line, or its bell, has something."""
        rung = self._rung() if self._bell >= 0 else b"\0"
        if rung:
            self.look()
            if self._bell >= 0 and not self.mute:
                (self._watch if rung[-1:] == MUCH else self._forget)(self._line)
        else:  # the bell is gone, and so is who rang it: what was said before is in the line
            while self.look():
                pass
            self._end()
        self._wake.set()
        if self.news is not None:
            self.news()

    def _rung(self) -> bytes:
        rung = read_now(self._bell)
        if rung is None:
            return b"\0" if self._line not in self._heard else MUCH
        return rung

    def _hear(self, data: bytes) -> None:
        messages = self._unpacker.feed(data)
        try:
            if self._take is None:
                self._keep(messages)
            elif self._context is None:
                self._give(messages, self._take)
            else:
                self._context.run(self._give, messages, self._take)
        except Garbled as garbled:
            self.garbled = str(garbled)
        if not data or self.garbled:
            self._end()

    def _keep(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if "late" in message:
                self._take_late(message["late"])
            elif self.stopped is not None and not OF_STOPS.isdisjoint(message):
                self.stopped(message)
            else:
                self.inbox.append(message)

    def _give(self, messages: Iterator[Message], take: Take) -> None:
        """Until they say that one was the last; what comes behind it is kept."""
        for message in messages:
            if "late" in message:
                self._take_late(message["late"])
            elif self.stopped is not None and not OF_STOPS.isdisjoint(message):
                self.stopped(message)
            elif self._outcome is not None:  # somebody has interrupted
                self.inbox.append(message)
            else:
                try:
                    if take(message):
                        self._settle(False)
                except BaseException as error:  # it is raised where they wait
                    self._settle(error)

    def _take_late(self, told: object) -> None:
        if not isinstance(told, dict):
            return
        adds = told.get("adds")
        if isinstance(adds, dict) and len(self.added) < ADDED:
            self.added.append(Added(str(adds.get("name")), adds.get("row")))
        if len(self.late) < LATE_ERRORS:
            self.late.append(Late(str(told.get("who", "")), told.get("error"), str(told.get("text") or "")))

    def _end(self) -> None:
        self.mute = True
        self._forget(self._line)
        self._forget(self._watched)
        self.stir()

    def _watch(self, descriptor: int) -> None:
        if self.loop is not None and descriptor not in self._heard:
            self.loop.add_reader(descriptor, self._read)
            self._heard.add(descriptor)

    def _forget(self, descriptor: int) -> None:
        """Read this no more: nobody wants it now, or it is at its end, and so readable for ever."""
        if descriptor in self._heard:
            self._heard.discard(descriptor)
            if self.loop is not None and not self.loop.is_closed():
                self.loop.remove_reader(descriptor)
