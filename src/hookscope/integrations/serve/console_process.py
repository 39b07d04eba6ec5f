"""The console process of one page: textual-serve's protocol, without a shell and with a clean end."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from hookscope.app.options import options_from_text
from hookscope.helpers import own_python

TERMINATE_SECONDS = 5.0  # seconds for a console to end its workers after the request to exit
KILL_SECONDS = 2.0  # seconds after that, with its input closed
UNREADABLE_EXIT_CODE = 1  # reported for a running console whose output cannot be read
CONSOLE_ENVIRONMENT = dict(os.environ)  # the environment of handlers, unaffected by changes in the server
SMALLEST_SIZE, LARGEST_SIZE = 20, 1000  # cells of a terminal, in either direction


class ConsoleProcess(AppService):
    """The console of one page.

    Its process leads its own process group, so that Ctrl-C where the server was started ends it
    through the server. It exits when its page closes or the server ends: its standard input ends
    then.
    """

    def __init__(
        self,
        options: str,
        *,
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[None]],
        downloads: DownloadManager,
    ) -> None:
        """`options`: the program's options as text."""
        super().__init__(
            "", write_bytes=write_bytes, write_str=write_str, close=close, download_manager=downloads
        )
        self._options = options
        workspace = options_from_text(options).workspace
        self._workspace = () if workspace is None else (workspace,)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        stderr_copy = os.dup(2)  # its last messages appear where the server was started
        try:
            self._process = await asyncio.create_subprocess_exec(
                *own_python(
                    "hookscope.console.browser_process",
                    *(self._options, str(width), str(height), str(stderr_copy)),
                    workspace=self._workspace,
                ),
                env=CONSOLE_ENVIRONMENT,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                pass_fds=(stderr_copy,),
                start_new_session=True,
            )
        finally:
            os.close(stderr_copy)
        self._stdin = self._process.stdin
        return self._process

    async def wait_until_ended(self) -> int:
        """Wait until the process has ended, or its output can no longer be read; return its exit code."""
        assert self._process is not None
        assert self._task is not None
        await asyncio.wait({self._task})
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._process.wait(), TERMINATE_SECONDS)
        return UNREADABLE_EXIT_CODE

    async def shut_down(self) -> None:
        """Ask the console to exit, kill its process group if it does not, and wait for it."""
        process = self._process
        if process is None:
            return
        try:
            with suppress(Exception):  # whatever goes wrong, it is killed below
                await asyncio.wait_for(self.stop(), TERMINATE_SECONDS)
                await asyncio.wait_for(process.wait(), KILL_SECONDS)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def terminal_size_of(value: object, default: int) -> int:
    """Return a width or height from a page, within bounds; `default` if it is no whole number."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return default
    try:
        return min(max(int(value), SMALLEST_SIZE), LARGEST_SIZE)
    except ValueError:
        return default
