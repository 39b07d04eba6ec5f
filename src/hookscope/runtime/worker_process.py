"""The host's side of one worker process: starting it, the pipes to it, sending messages, and ending it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from secrets import token_hex

from hookscope.runtime.batch import (
    LateEvent,
    LateHandler,
    PrintedOutput,
    WorkerLost,
    WorkerNotStarted,
    WorkerProgram,
)
from hookscope.runtime.debugger import Debugger
from hookscope.runtime.orphan_processes import MARK_VARIABLE, host_mark, new_worker_mark
from hookscope.runtime.python_worker import worker_guard
from hookscope.runtime.python_worker.protocol import LINE_LOST, Message, pack
from hookscope.runtime.worker_reader import OutputPipe, OutputReader, WorkerReader
from hookscope.values import dataclass

PIPE_SIZE = 256 * 1024  # bytes of answers that a worker can send before the host reads; Linux has 64 KiB
EXIT_GLANCE = 0.001  # seconds in which a process mostly ends after it has closed its pipes
EXIT_POLL = 0.01  # seconds between checks on systems that cannot wait without reaping


@dataclass(frozen=True, slots=True)
class ProcessCommand:
    """A command. Its process gets exactly this environment, and the descriptors `fds` besides 0, 1 and 2."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    stdout: int
    stderr: int
    fds: tuple[int, ...] = ()


class ChildProcess:
    """A process in its own session and group. One thread spawns it, waits for its end and reaps it.

    A process that calls setsid or setpgid leaves the group and is not killed with it. The parent-death signal
    depends on the spawning thread, so that thread lives until the process is reaped. Neither future can be
    cancelled; both are set in that thread.
    """

    def __init__(self, command: ProcessCommand) -> None:
        self.spawned: Future[int] = Future()  # the pid, or why it could not be started
        self.ended: Future[int] = Future()  # the exit code, negative for a signal; never set if not spawned
        self.spawned.set_running_or_notify_cancel()  # so that a cancelled awaiter does not cancel them
        self.ended.set_running_or_notify_cancel()
        self._lock = threading.Lock()
        self._pid: int | None = None  # None once reaped: the number may then belong to another process
        name = f"owner of {command.argv[0]}"
        threading.Thread(target=self._run, args=(command,), name=name, daemon=True).start()

    async def exit_code(self, seconds: float) -> int:
        """Return the exit code once the process has ended. Raises TimeoutError after `seconds`.

        The process is usually about to end, so this first blocks for a moment before it waits in the loop.
        """
        with suppress(TimeoutError):
            return self.ended.result(min(EXIT_GLANCE, seconds))
        return await asyncio.wait_for(asyncio.wrap_future(self.ended), seconds)

    def kill(self) -> None:
        """Send SIGKILL to the whole group. Can be called at any time, from any thread, and repeatedly."""
        with self._lock:
            if self._pid is not None:
                with suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for ended ones
                    os.killpg(self._pid, signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send a signal to the process itself, if it was not reaped."""
        with self._lock:
            if self._pid is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(self._pid, number)

    def _run(self, command: ProcessCommand) -> None:
        try:
            process = _spawn(command)
        except Exception as error:  # the awaiter gets it
            self.spawned.set_exception(error)
            return
        self._pid = process.pid
        self.spawned.set_result(process.pid)
        self.ended.set_result(self._wait(process))

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, its number still reserved
            self.kill()  # the rest of its group
            with self._lock:
                self._pid = None
                return process.wait()
        return self._poll(process)

    def _poll(self, process: subprocess.Popen[bytes]) -> int:
        """Wait on macOS with Python before 3.13, which has no waitid: kill the group just after reaping."""
        while True:
            with self._lock:
                code = process.poll()
                if code is not None:
                    self._pid = None
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(process.pid, signal.SIGKILL)
                    return code
            time.sleep(EXIT_POLL)


def _spawn(command: ProcessCommand) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command.argv,
        stdin=subprocess.DEVNULL,
        stdout=command.stdout,
        stderr=command.stderr,
        pass_fds=command.fds,
        cwd=command.cwd,
        env=dict(command.env),
        start_new_session=True,
    )


def exit_in_words(code: int) -> str:
    """Return how a process ended, such as "exited with status 1" or "was killed by signal 11 (SIGSEGV)"."""
    if code >= 0:
        return f"exited with status {code}"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:  # a real-time signal has no name
        name = ""
    return f"was killed by signal {-code}{name}"


class WorkerPipes:
    """The pipes to a worker. The caller owns its ends; `close_worker_ends` closes the worker's ends."""

    def __init__(self, program: WorkerProgram) -> None:
        """Raises OSError if the pipes cannot be created, after closing them."""
        self._program = program
        self._opened: list[int] = []
        try:
            self._open(program)
        except OSError:
            for end in self._opened:
                os.close(end)
            raise

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._opened += ends
        return ends

    def _open(self, program: WorkerProgram) -> None:
        worker_in, self.to_worker = self._pipe()
        self.from_worker, worker_out = self._pipe()
        if sys.platform == "linux":
            import fcntl  # Windows has none

            with suppress(OSError):  # the user's share of pipes is used up
                fcntl.fcntl(worker_out, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        stdout, self._stdout = self._pipe()
        stderr, self._stderr = self._pipe()
        self.outputs = stdout, stderr
        self._fds = [worker_in, worker_out]  # of the protocol, in the order of the worker's arguments
        self.control = self.bell = -1
        if program.control:
            worker_control, self.control = self._pipe()
            self._fds.append(worker_control)
        if program.bell:
            self.bell, worker_bell = self._pipe()
            self._fds.append(worker_bell)
        self._worker_ends = [*self._fds, self._stdout, self._stderr]
        self._filter: int | None = None
        if program.filter:
            self._filter, into = os.pipe()
            self._worker_ends.append(self._filter)
            os.write(into, program.filter)  # far less than a pipe holds
            os.close(into)
        for host_end in (self.to_worker, self.control):
            if host_end >= 0:
                os.set_blocking(host_end, False)

    def command(self, mark: str) -> ProcessCommand:
        """Return the command that starts the worker with its ends of the pipes and this mark."""
        program = self._program
        argv, env = (*program.argv, *map(str, self._fds)), {**program.env, MARK_VARIABLE: mark}
        fds = self._fds
        if self._filter is not None:
            argv, fds = (argv[0], "--seccomp", str(self._filter), *argv[1:]), [*fds, self._filter]
        return ProcessCommand(argv, env, program.cwd, self._stdout, self._stderr, tuple(fds))

    def close_worker_ends(self) -> None:
        """Close the worker's ends. May be called repeatedly."""
        while self._worker_ends:
            os.close(self._worker_ends.pop())


LAST_SIGNAL = 64
EXIT_GRACE = 0.5  # seconds that we wait for a process to end after its line is closed, to learn the reason


class WorkerProcess:
    """One worker process with its connection and its output. Owns all descriptors until `end`.

    Between two batches, its output stays in the pipes and needs no event loop. So a worker can outlive the
    loop in which it was started.
    """

    def __init__(self, program: WorkerProgram, debugger: Debugger | None = None) -> None:
        self._program, self._debugger = program, debugger
        self._child: ChildProcess | None = None
        self.mark = new_worker_mark()
        self.fence = f"\0hookscope {token_hex(16)}\0"  # separates the output of two calls
        self.pid = 0  # 0: not spawned yet
        self.started_at = 0.0  # of time.monotonic
        self._closed_since = 0.0  # time.monotonic when the line was found closed; 0: not yet
        self._pipes: WorkerPipes
        self._out = self._control = -1
        self._reader: WorkerReader
        self._outputs = OutputReader()
        self._listening_scope = _ListeningScope(self._stop_listening)
        self.shares_clock = False  # its perf_counter is the same clock as ours

    async def start(self) -> None:
        """Start the process and wait until it is ready. Call `end` also if this fails or is cancelled.

        Raises WorkerNotStarted if it cannot be spawned, WorkerLost if it ends before it is ready.
        """
        worker_guard.start_guard(host_mark())
        began = time.perf_counter()
        try:
            command = self._open()
        except OSError as error:  # creating pipes failed
            raise WorkerNotStarted(self._program.start_failure(error)) from None
        self._child = child = ChildProcess(command)
        child.ended.add_done_callback(self._on_child_end)
        try:
            self.pid = await asyncio.wrap_future(child.spawned)
            self.started_at = time.monotonic()
        except Exception as error:  # OSError mostly; ValueError for a null byte in a name
            raise WorkerNotStarted(self._program.start_failure(error)) from None
        self._pipes.close_worker_ends()
        with self.listening():
            message = await self.receive()
        if "ready" not in message:
            raise WorkerLost("did not report that it is ready")
        clock = message.get("clock")
        self.shares_clock = isinstance(clock, float) and began <= clock <= time.perf_counter()
        if self._debugger is not None:
            request, self._reader.on_debugger_message = self._debugger.attach(self, self._outputs.text_so_far)
            await self.send_message(request)

    def _open(self) -> ProcessCommand:
        pipes = self._pipes = WorkerPipes(self._program)
        self._out, self._control = pipes.to_worker, pipes.control
        self._outputs = OutputReader([OutputPipe(end, self.fence.encode("ascii")) for end in pipes.outputs])
        self._reader = WorkerReader(pipes.from_worker, pipes.bell)
        return pipes.command(self.mark)

    def listening(self, *, outputs: bool = True) -> AbstractContextManager[None]:
        """Read the worker's messages and output in the running loop while this context is active.

        Without `outputs`, output is read only when taken or after `read_outputs`: a handler that fills a pipe
        waits until then.
        """
        self._set_on_news(None)  # from now on, nothing is late
        self._reader.start_reading()
        if outputs:
            self._outputs.start_reading()
        else:
            self._outputs.stop_reading()
        return self._listening_scope

    def _stop_listening(self) -> None:
        self._set_on_news(None)
        self._outputs.stop_reading()

    def read_outputs(self) -> None:
        """Read output as it arrives from now on."""
        self._outputs.start_reading()

    def keep_reading(self, news: Callable[[], None]) -> None:
        """Read in the running loop until the next `listening`. Call `news` whenever something arrives."""
        self._set_on_news(news)
        self._reader.start_reading()
        self._outputs.start_reading()

    def _set_on_news(self, on_news: Callable[[], None] | None) -> None:
        self._reader.on_news = self._outputs.on_news = on_news

    @property
    def is_alive(self) -> bool:
        """True if the process has not ended, as far as known."""
        return self._child is not None and not self._child.ended.done()

    @property
    def line_is_closed(self) -> bool:
        """True if no more messages can arrive; `receive` raises the reason."""
        return self._reader.is_closed

    @property
    def has_late_events(self) -> bool:
        """True if there are late events that were not taken yet."""
        return bool(self._reader.late_events)

    @property
    def has_output(self) -> bool:
        """True if there is output that was read but not taken."""
        return self._outputs.has_text

    def take_late_events(self) -> tuple[LateEvent, ...]:
        """Return the late events since the last call."""
        if not self._reader.late_events:
            return ()
        events, self._reader.late_events = tuple(self._reader.late_events), []
        return events

    @property
    def late_handlers(self) -> Sequence[LateHandler]:
        """The handlers that the worker's modules have registered since they were loaded."""
        return self._reader.late_handlers if self._child is not None else ()

    def _on_child_end(self, _: object) -> None:
        """Wake the reader, because the process has ended. Runs in the child's thread."""
        loop = self._reader.loop
        if loop is not None and not self._reader.is_closed:  # else its end is known
            with suppress(RuntimeError):  # the loop was just closed: nobody waits
                loop.call_soon_threadsafe(self._reader.wake)

    async def send_message(self, message: Message) -> None:
        """Send a message. Waits while the pipe is full. Raises WorkerLost."""
        await self.send_frame(pack(message))

    async def send_frame(self, frame: bytes | memoryview) -> None:
        """Send a packed message, or the rest of one. Raises WorkerLost."""
        left = memoryview(frame)
        while left:
            try:
                left = left[os.write(self._out, left) :]
            except BlockingIOError:
                await self._wait_until_writable()
            except OSError:
                raise await self._lost_error() from None

    def send_available(self, frame: bytes) -> bytes | memoryview:
        """Send what fits into the pipe now. Return the rest, for `send_frame`."""
        try:
            sent = os.write(self._out, frame)
        except OSError:  # full; or gone, which `send_frame` reports
            return frame
        return b"" if sent == len(frame) else memoryview(frame)[sent:]

    async def send_urgent(self, message: Message) -> None:
        """Send a message that must be read while a handler runs. Ignores failures."""
        if self._control < 0:
            with suppress(WorkerLost):
                await self.send_message(message)
            return
        with suppress(OSError):  # full or closed: it would not be read
            os.write(self._control, pack(message))

    def signal(self, number: int) -> None:
        """Send a signal to the process, if it is still there."""
        if self._child is not None:
            self._child.signal(number)

    async def _wait_until_writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_writer(self._out, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_writer(self._out)

    async def receive(self) -> Message:
        """Return the next message. Call this while `listening`. Raises WorkerLost."""
        while not self._reader.inbox:
            await self._check_alive()
            await self._reader.wait_for_news()
        return self._reader.inbox.popleft()

    async def receive_each(self, take: Callable[[Message], bool], waits: Callable[[], object]) -> None:
        """Call `take` with each message as it is read, until it returns True or `stop_receiving` is called.

        For messages that arrive together, this waits in the loop once or not at all; `waits` is called before
        it waits. Call this while `listening`. Raises what `take` raises, and WorkerLost.
        """
        reader, again = self._reader, True
        while again:
            while reader.inbox:
                if take(reader.inbox.popleft()):
                    return
            await self._check_alive()
            if not reader.inbox:  # else the last messages of an ended worker
                again = await reader.exchange(take, waits)

    def read_available(self) -> bool:
        """Read all messages that have arrived. Return True if there were any."""
        return self._reader.read_now()

    def stop_receiving(self) -> None:
        """Let `receive_each` return."""
        self._reader.wake(read_again=False)

    async def _check_alive(self) -> None:
        """Raise WorkerLost if no more messages can arrive."""
        garbled = self._reader.protocol_error
        if garbled:
            raise WorkerLost(f"wrote into the connection between its worker and Hookscope: {garbled}")
        if self._has_ended() or (self._reader.is_closed and not self._reader.inbox):
            raise await self._lost_error()

    def _has_ended(self) -> bool:
        """Return True if the process is gone and all its messages are read."""
        if self._child is None or not self._child.ended.done():
            return False
        reader = self._reader
        while not reader.is_closed and not reader.inbox and reader.read_now():
            pass
        return not reader.inbox

    async def _lost_error(self) -> WorkerLost:
        """Return why the worker was lost, which may be known only shortly after the connection was closed.

        If the caller is cancelled and calls this again, the time limit is not extended.
        """
        if self._child is None:
            return WorkerLost("was ended", by_host=True)
        self._closed_since = self._closed_since or time.monotonic()
        try:
            code = await self._child.exit_code(max(self._closed_since + EXIT_GRACE - time.monotonic(), 0))
        except TimeoutError:
            return WorkerLost("closed the connection between its worker and Hookscope")
        if self._program.is_sandboxed and 128 < code <= 128 + LAST_SIGNAL:
            code = 128 - code
        if code == LINE_LOST:
            return WorkerLost("closed the connection between its worker and Hookscope")
        return WorkerLost(exit_in_words(code), died=True)

    def take_received(self) -> Message | None:
        """Return the next message if it has arrived already."""
        inbox = self._reader.inbox
        return inbox.popleft() if inbox else None

    def take_output(self, *, of_one: bool = False) -> PrintedOutput:
        """Return the output since the last call; `of_one`: up to the fence after one handler's call."""
        return self._outputs.take(one_call=of_one)

    async def end(self) -> None:
        """Kill the process and its group, wait until it is gone, and close all descriptors.

        Can be called repeatedly; output can still be taken afterwards. Do not cancel this: see
        `await_uninterrupted`. If the process has already ended, this does not wait.
        """
        child, self._child = self._child, None
        if child is None:
            return
        if not child.ended.done():
            with suppress(Exception):  # it was never spawned
                await asyncio.wrap_future(child.spawned)
                child.kill()
                await asyncio.wrap_future(child.ended)
        if self._debugger is not None:
            self._debugger.detach(self)
        self._reader.close()
        self._pipes.close_worker_ends()
        self._outputs.close()
        for descriptor in (self._out, self._control):
            if descriptor >= 0:
                os.close(descriptor)
        self._out = self._control = -1  # the numbers may be reused


class _ListeningScope(AbstractContextManager[None]):
    """Calls `end` on exit. A class, because each batch uses it and a generator would be slower."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end

    def __exit__(self, *_: object) -> None:
        self._end()
