"""The session of a process: bytes from standard input, frames to standard output, until its editor leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from hookscope.adapter.framing import Frames, Garbled, Message, framed
from hookscope.adapter.running import Report
from hookscope.adapter.session import Session
from hookscope.workbench import Options

PORTION = 65536
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve(options: Options, *, trusts: bool, report: Report) -> str:
    """Answer until the editor takes its leave, or is gone. Why it could not go on; empty where it could."""
    out = os.dup(1)
    os.dup2(2, 1)  # whatever prints in this process does not get between the frames
    try:
        return asyncio.run(_serve(options, trusts, report, out))
    finally:
        os.close(out)


async def _serve(options: Options, trusts: bool, report: Report, out: int) -> str:
    loop, gone, why = asyncio.get_running_loop(), asyncio.Event(), ""

    def send(message: Message) -> None:
        frame = memoryview(framed(message))
        try:
            while frame:
                frame = frame[os.write(out, frame) :]
        except OSError:  # nobody reads any more
            gone.set()

    session, frames = Session(options, trusts, send, report), Frames()

    def heard(data: bytes) -> None:
        nonlocal why
        try:
            for body in frames.feed(data) if data and not gone.is_set() else ():
                session.hear(body)
        except Garbled as garbled:
            why = str(garbled)
        if why or not data:
            gone.set()

    for number in ENDS:
        loop.add_signal_handler(number, gone.set)
    threading.Thread(target=_read, args=(loop, heard), daemon=True).start()
    waits = [asyncio.ensure_future(event.wait()) for event in (gone, session.over)]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for waiting in waits:
        waiting.cancel()
    await session.close()
    return why


def _read(loop: asyncio.AbstractEventLoop, heard: Callable[[bytes], None]) -> None:
    """In a thread: standard input may be a pipe, a socket or a file."""
    data = b"\0"
    while data:
        try:
            data = os.read(sys.stdin.fileno(), PORTION)
        except OSError:
            data = b""
        with suppress(RuntimeError):  # the loop is closed: nobody wants to hear it
            loop.call_soon_threadsafe(heard, data)
