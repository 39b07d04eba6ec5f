"""What a worker prints, as the host reads it: in a loop while somebody wants that, else when asked for."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable, Sequence

from hookscope.runtime.output import SILENCE, Pipe
from hookscope.runtime.peer import NOTHING, Printed


class Printing:
    """The pipes behind a worker's standard output and error. Owns them until `close`."""

    def __init__(self, pipes: Sequence[Pipe] = ()) -> None:
        self._pipes = tuple(pipes)
        self._poll = select.poll()  # both at once: nearly always nothing lies in them
        for pipe in self._pipes:
            self._poll.register(pipe.descriptor, select.POLLIN)
        self._is_open = bool(self._pipes)
        self._heard: set[Pipe] = set()  # those that the loop reads
        self._loop: asyncio.AbstractEventLoop | None = None
        self.news: Callable[[], None] | None = None  # of who attends between two batches

    def listen(self) -> None:
        """Read in the running loop, as it comes."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self.deafen()
            self._loop = loop
        for pipe in self._pipes:
            if pipe.open and pipe not in self._heard:
                loop.add_reader(pipe.descriptor, self._read, pipe)
                self._heard.add(pipe)

    def deafen(self) -> None:
        """Let it wait in the pipes until somebody asks: who prints more than they hold waits too."""
        if self._heard:
            for pipe in tuple(self._heard):
                self._forget(pipe)

    def take(self, *, of_one: bool = False) -> Printed:
        """What came since the last question; `of_one`: up to the fence behind one call."""
        if not (self._is_open and self._poll.poll(0)) and not any(pipe.holds for pipe in self._pipes):
            return NOTHING
        out, err = [(pipe.take_part() if of_one else pipe.take()) for pipe in self._pipes]
        if out is SILENCE and err is SILENCE:
            return NOTHING
        (stdout, less_out), (stderr, less_err) = out, err
        left_out = ((less_out, "standard output"), (less_err, "standard error"))
        notes = tuple(f"{count:,} bytes of {name} were left out" for count, name in left_out if count)
        return Printed(stdout, stderr, notes)

    def so_far(self) -> tuple[str, str]:
        """What the call that runs has printed to both, within bounds; it is taken all the same."""
        out, err = [pipe.so_far() for pipe in self._pipes] or ("", "")
        return out, err

    def close(self) -> None:
        """Read what is left, and no more. `take` still gives it."""
        self.deafen()
        self._is_open = False
        for pipe in self._pipes:
            pipe.close()

    def _read(self, pipe: Pipe) -> None:
        pipe.read()
        if self.news is not None:
            self.news()
        if not pipe.open:
            self._forget(pipe)

    def _forget(self, pipe: Pipe) -> None:
        """Read this no more: nobody wants it now, or it is at its end, and so readable for ever."""
        if pipe in self._heard:
            self._heard.discard(pipe)
            if self._loop is not None and not self._loop.is_closed():
                self._loop.remove_reader(pipe.descriptor)
