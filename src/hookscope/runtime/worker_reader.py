"""Reading a worker's messages, and its output within bounds."""

from __future__ import annotations

import asyncio
import os
import select
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import Context, copy_context
from time import perf_counter

from hookscope.runtime.batch import NOTHING_PRINTED, LateEvent, LateHandler, PrintedOutput
from hookscope.runtime.python_worker.protocol import Message, ProtocolError, Unpacker

CHUNK_SIZE = 64 * 1024  # bytes of one read: what a pipe holds


def read_available(descriptor: int) -> bytes | None:
    """Return the available bytes; None if there are none yet, empty if the pipe is closed or broken."""
    try:
        return os.read(descriptor, CHUNK_SIZE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


MAX_LATE_ERRORS = 50  # kept until they are taken
MAX_LATE_HANDLERS = 1000  # kept for one worker
QUICK_WAIT = 0.001  # seconds in which most handlers answer: we block for it instead of using the loop
HIGHEST_SELECTABLE = 1023  # highest descriptor that `select` accepts
DEBUGGER_KEYS = frozenset(("stop", "bound", "logged"))  # keys of messages for the debugger
KEEP_READING = b"\1"  # on the bell: the worker sends more than a pipe holds, so read the line continuously

OnMessage = Callable[[Message], bool]


class WorkerReader:
    """The reading end of a worker's connection. Owns its descriptors until `close`.

    The `bell` is a second pipe, to which the worker writes ("rings") when the host must read the line. Then
    only the bell is watched: other messages stay in the line, and can be read even after the worker's death.
    """

    def __init__(self, line: int, bell: int = -1) -> None:
        for descriptor in (line, bell):
            if descriptor >= 0:
                os.set_blocking(descriptor, False)
        self._line, self._bell = line, bell
        self._watched = line if bell < 0 else bell
        self.protocol_error = ""
        self.is_closed = False  # no more messages can arrive
        self.inbox: deque[Message] = deque()
        self.late_events: list[LateEvent] = []
        self.late_handlers: list[LateHandler] = []  # since the worker was started
        self.on_news: Callable[[], None] | None = None  # called between batches
        self.on_debugger_message: Callable[[Message], None] | None = None
        self._unpacker = Unpacker()
        self._wake = asyncio.Event()
        self._on_message: OnMessage | None = None  # during `exchange`
        self._outcome: bool | BaseException | None = None  # of the exchange; True: something needs attention
        self._exchange_done: asyncio.Future[None] | None = None  # while `exchange` waits in the loop
        self._context: Context | None = None  # of the caller, while `exchange` waits
        self._is_quick = True  # the last exchange ended without a long wait
        self.loop: asyncio.AbstractEventLoop | None = None  # the loop in which this object reads
        self._read_descriptors: set[int] = set()  # descriptors that the loop watches

    def start_reading(self) -> None:
        """Read in the running loop, and in no other one from now on. Arriving messages are kept."""
        loop = asyncio.get_running_loop()
        if loop is self.loop:
            return
        self.stop_reading()
        self.loop, self._wake = loop, asyncio.Event()
        if not self.is_closed:
            self._watch(self._watched)

    def stop_reading(self) -> None:
        """Stop reading in the loop."""
        for descriptor in tuple(self._read_descriptors):
            self._unwatch(descriptor)
        self.loop = None

    def close(self) -> None:
        """Close the descriptors and end all waiting."""
        self.is_closed = True
        self.stop_reading()
        self.wake()
        for descriptor in (self._line, self._bell):
            if descriptor >= 0:
                os.close(descriptor)

    def wake(self, read_again: bool = True) -> None:
        """Wake all waiting tasks, so that they check again."""
        self._wake.set()
        self._end_exchange(read_again)

    def _end_exchange(self, outcome: bool | BaseException) -> None:
        """End the exchange, unless it has an outcome already."""
        if self._outcome is not None:
            return
        self._outcome = outcome
        if self._exchange_done is not None and not self._exchange_done.done():
            self._exchange_done.set_result(None)

    async def wait_for_news(self) -> None:
        """Wait until something arrives."""
        self._wake.clear()
        await self._wake.wait()

    async def exchange(self, on_message: OnMessage, on_wait: Callable[[], object]) -> bool:
        """Call `on_message` with each message as it is read, until it returns True for the last one.

        `on_wait` is called before a wait in the loop. Returns True if the caller must check the worker and
        call this again; False after the last message or an interrupt. Raises what `on_message` raises.
        """
        self._on_message, self._outcome, began = on_message, None, perf_counter()
        try:
            if (
                self._is_quick
                and self._watched <= HIGHEST_SELECTABLE
                and not self.is_closed
                and self._is_readable(QUICK_WAIT)
            ):
                self._read()
            if self._outcome is None:
                self._context = copy_context()
                self._exchange_done = asyncio.get_running_loop().create_future()
                on_wait()
                await self._exchange_done
            if isinstance(self._outcome, BaseException):
                raise self._outcome
            return bool(self._outcome)
        finally:
            self._is_quick = perf_counter() - began < 2 * QUICK_WAIT
            self._on_message = self._exchange_done = self._context = self._outcome = None

    def _is_readable(self, seconds: float) -> bool:
        """Return True if something can be read within `seconds`."""
        return bool(select.select([self._watched], [], [], seconds)[0])

    def read_now(self) -> bool:
        """Read all messages that have arrived. Return whether there were any."""
        data = read_available(self._line)
        if data is not None:
            self._feed(data)
        return bool(data)

    def _read(self) -> None:
        """Handle readable data on the line or the bell."""
        rung = self._read_bell() if self._bell >= 0 else b"\0"
        if rung:
            self.read_now()
            if self._bell >= 0 and not self.is_closed:
                (self._watch if rung[-1:] == KEEP_READING else self._unwatch)(self._line)
        else:  # the bell is closed, so the worker is gone; its last messages are in the line
            while self.read_now():
                pass
            self._end()
        self._wake.set()
        if self.on_news is not None:
            self.on_news()

    def _read_bell(self) -> bytes:
        rung = read_available(self._bell)
        if rung is None:
            return b"\0" if self._line not in self._read_descriptors else KEEP_READING
        return rung

    def _feed(self, data: bytes) -> None:
        messages = self._unpacker.feed(data)
        try:
            if self._on_message is None:
                self._store(messages)
            elif self._context is None:
                self._deliver(messages, self._on_message)
            else:
                self._context.run(self._deliver, messages, self._on_message)
        except ProtocolError as error:
            self.protocol_error = str(error)
        if not data or self.protocol_error:
            self._end()

    def _store(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if "late" in message:
                self._take_late(message["late"])
            elif self.on_debugger_message is not None and not DEBUGGER_KEYS.isdisjoint(message):
                self.on_debugger_message(message)
            else:
                self.inbox.append(message)

    def _deliver(self, messages: Iterator[Message], on_message: OnMessage) -> None:
        """Deliver messages until `on_message` returns True; keep later ones."""
        for message in messages:
            if "late" in message:
                self._take_late(message["late"])
            elif self.on_debugger_message is not None and not DEBUGGER_KEYS.isdisjoint(message):
                self.on_debugger_message(message)
            elif self._outcome is not None:  # interrupted or over
                self.inbox.append(message)
            else:
                try:
                    if on_message(message):
                        self._end_exchange(False)
                except BaseException as error:  # raised by `exchange`
                    self._end_exchange(error)

    def _take_late(self, message: object) -> None:
        if not isinstance(message, dict):
            return
        adds = message.get("adds")
        if isinstance(adds, dict) and len(self.late_handlers) < MAX_LATE_HANDLERS:
            self.late_handlers.append(LateHandler(str(adds.get("name")), adds.get("row")))
        if len(self.late_events) < MAX_LATE_ERRORS:
            self.late_events.append(
                LateEvent(str(message.get("who", "")), message.get("error"), str(message.get("text") or ""))
            )

    def _end(self) -> None:
        self.is_closed = True
        self._unwatch(self._line)
        self._unwatch(self._watched)
        self.wake()

    def _watch(self, descriptor: int) -> None:
        if self.loop is not None and descriptor not in self._read_descriptors:
            self.loop.add_reader(descriptor, self._read)
            self._read_descriptors.add(descriptor)

    def _unwatch(self, descriptor: int) -> None:
        """Stop watching a descriptor that is not needed or at its end."""
        if descriptor in self._read_descriptors:
            self._read_descriptors.discard(descriptor)
            if self.loop is not None and not self.loop.is_closed():
                self.loop.remove_reader(descriptor)


HEAD_SIZE = 48 * 1024  # bytes
TAIL_SIZE = 16 * 1024
MAX_DRAIN_READS = 64  # a handler may print faster than we read
NO_OUTPUT = ("", 0)  # returned as this object if nothing was printed


class BoundedOutput:
    """Accepts any number of bytes; keeps the first HEAD_SIZE and the last TAIL_SIZE of them."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    @property
    def is_empty(self) -> bool:
        """True if nothing was added since the last `take`."""
        return not self._head

    def feed(self, data: bytes) -> None:
        """Add bytes."""
        if not data:
            return
        room = HEAD_SIZE - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > TAIL_SIZE:
            self._dropped += len(self._tail) - TAIL_SIZE
            del self._tail[:-TAIL_SIZE]

    @property
    def head_text(self) -> str:
        """The text of the first HEAD_SIZE bytes."""
        return self._head.decode("utf-8", "ignore")

    def take(self) -> tuple[str, int]:
        """Return the text and the number of dropped bytes, and clear both."""
        if not self._head:
            return NO_OUTPUT
        head, tail, dropped = bytes(self._head), bytes(self._tail), self._dropped
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0
        if not dropped:
            return (head + tail).decode("utf-8", "replace"), 0
        between = f"\n… {dropped:,} bytes are left out here …\n"  # see encodings.CUT
        return head.decode("utf-8", "replace") + between + tail.decode("utf-8", "replace"), dropped


class OutputPipe:
    """The reading end of a pipe that handlers print into, and what was read from it.

    Owns its descriptor. Never waits until the pipe is closed: the protocol reports the end of a handler, and
    a process that it left running may keep the pipe open. A `fence` in the output ends the part of one call.
    """

    def __init__(self, descriptor: int, fence: bytes) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.is_open = True
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._capture = BoundedOutput()
        self._fence = fence
        self._fence_start = b""  # bytes that may be the start of a fence
        self._parts: deque[tuple[str, int]] = deque()  # of ended calls, not taken yet

    @property
    def has_text(self) -> bool:
        """True if there is text that was read but not taken."""
        return bool(self._parts or self._fence_start) or not self._capture.is_empty

    def read(self) -> bool:
        """Read one portion. Return False if there is nothing to read now."""
        data = read_available(self.descriptor)
        if data is None:
            return False
        self.is_open = bool(data)
        self._feed(data)
        return self.is_open

    def _feed(self, data: bytes) -> None:
        if data == self._fence and not self._fence_start:  # nearly always
            self._parts.append(self._capture.take())
            return
        *ended, rest = (self._fence_start + data).split(self._fence)
        for part in ended:
            self._capture.feed(part)
            self._parts.append(self._capture.take())
        begins = rest.rfind(self._fence[:1], max(0, len(rest) - len(self._fence) + 1))
        if begins >= 0 and not self._fence.startswith(rest[begins:]):
            begins = -1
        self._fence_start = rest[begins:] if begins >= 0 and self.is_open else b""
        self._capture.feed(rest[:begins] if self._fence_start else rest)

    def drain(self) -> None:
        """Read everything that is available."""
        for _ in range(MAX_DRAIN_READS):
            if not self.is_open or not self._poll.poll(0) or not self.read():
                break

    def text_so_far(self) -> str:
        """Return the start of the running call's output, without taking it."""
        self.drain()
        return "" if self._parts else self._capture.head_text

    def take_part(self) -> tuple[str, int]:
        """Return the output of the oldest ended call, as `BoundedOutput.take`; all if none has ended."""
        for _ in range(MAX_DRAIN_READS):
            if self._parts:
                return self._parts.popleft()
            if not self.is_open or not self.read():
                break
        return self._parts.popleft() if self._parts else self.take()

    def take(self) -> tuple[str, int]:
        """Return all output so far, as `BoundedOutput.take` does."""
        self.drain()
        if not self._parts and not self._fence_start:
            return self._capture.take()
        self._capture.feed(self._fence_start)
        self._fence_start = b""
        parts = (*self._parts, self._capture.take())
        self._parts.clear()
        return "".join(text for text, _ in parts), sum(dropped for _, dropped in parts)

    def close(self) -> None:
        """Read the rest, which `take` still returns, and close the descriptor."""
        self.drain()
        self.is_open = False
        os.close(self.descriptor)


class OutputReader:
    """The pipes behind a worker's standard output and error. Owns them until `close`."""

    def __init__(self, pipes: Sequence[OutputPipe] = ()) -> None:
        self._pipes = tuple(pipes)
        self._poll = select.poll()  # for both at once: they are nearly always empty
        for pipe in self._pipes:
            self._poll.register(pipe.descriptor, select.POLLIN)
        self._is_open = bool(self._pipes)
        self._read_pipes: set[OutputPipe] = set()  # watched by the loop
        self._loop: asyncio.AbstractEventLoop | None = None
        self.on_news: Callable[[], None] | None = None  # called between batches

    def start_reading(self) -> None:
        """Read in the running loop as output arrives."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self.stop_reading()
            self._loop = loop
        for pipe in self._pipes:
            if pipe.is_open and pipe not in self._read_pipes:
                loop.add_reader(pipe.descriptor, self._read, pipe)
                self._read_pipes.add(pipe)

    def stop_reading(self) -> None:
        """Leave output in the pipes until it is taken; a handler that fills a pipe waits."""
        if self._read_pipes:
            for pipe in tuple(self._read_pipes):
                self._unwatch(pipe)

    @property
    def has_text(self) -> bool:
        """True if there is text that was read but not taken."""
        return any(pipe.has_text for pipe in self._pipes)

    def take(self, *, one_call: bool = False) -> PrintedOutput:
        """Return the output since the last call; `one_call`: up to the fence after one handler's call."""
        if not (self._is_open and self._poll.poll(0)) and not self.has_text:
            return NOTHING_PRINTED
        out, err = [(pipe.take_part() if one_call else pipe.take()) for pipe in self._pipes]
        if out is NO_OUTPUT and err is NO_OUTPUT:
            return NOTHING_PRINTED
        (stdout, less_out), (stderr, less_err) = out, err
        left_out = ((less_out, "standard output"), (less_err, "standard error"))
        notes = tuple(f"{count:,} bytes of {name} were omitted" for count, name in left_out if count)
        return PrintedOutput(stdout, stderr, notes)

    def text_so_far(self) -> tuple[str, str]:
        """Return the running call's output on both pipes, within bounds, without taking it."""
        out, err = [pipe.text_so_far() for pipe in self._pipes] or ("", "")
        return out, err

    def close(self) -> None:
        """Read the rest, which `take` still returns, and close the pipes."""
        self.stop_reading()
        self._is_open = False
        for pipe in self._pipes:
            pipe.close()

    def _read(self, pipe: OutputPipe) -> None:
        pipe.read()
        if self.on_news is not None:
            self.on_news()
        if not pipe.is_open:
            self._unwatch(pipe)

    def _unwatch(self, pipe: OutputPipe) -> None:
        """Stop watching a pipe that is not needed or at its end."""
        if pipe in self._read_pipes:
            self._read_pipes.discard(pipe)
            if self._loop is not None and not self._loop.is_closed():
                self._loop.remove_reader(pipe.descriptor)
