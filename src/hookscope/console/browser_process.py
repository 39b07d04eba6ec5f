"""The console in a browser page: a process that `hookscope serve` starts.

Arguments: OPTIONS WIDTH HEIGHT ERROR_FD. Input and output use the standard streams.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from hookscope.app.options import options_from_text
from hookscope.app.workbench import Workbench
from hookscope.console import run
from hookscope.model.failure import Refusal
from hookscope.model.text import printable

if TYPE_CHECKING:
    from textual.driver import Driver

TEXTUAL_ENVIRONMENT = {"TEXTUAL_COLOR_SYSTEM": "truecolor", "TEXTUAL_FPS": "60"}


def main(options: str, width: str, height: str, error_fd: str) -> int:
    """Show the console until the page is closed or the user quits. Return the exit code."""
    os.dup2(int(error_fd), 2)
    os.close(int(error_fd))
    try:
        bench = Workbench(options_from_text(options), spare=True)
    except Refusal as refused:
        print(f"hookscope: {printable(str(refused))}", file=sys.stderr)  # noqa: T201
        return refused.code
    before = {name: os.environ.get(name) for name in TEXTUAL_ENVIRONMENT}
    os.environ.update(TEXTUAL_ENVIRONMENT)
    import textual.constants  # noqa: F401  (reads the environment)

    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value

    return run(bench, driver=page_driver(), size=(int(width), int(height)))


def page_driver() -> type[Driver]:
    """Return Textual's driver for pages, changed to end the app when the page is gone."""
    from textual import events, messages
    from textual.drivers.web_driver import WebDriver

    class PageDriver(WebDriver):
        def start_application_mode(self) -> None:
            self._loop = asyncio.get_running_loop()
            self._write_lock = Lock()
            self._write = self._send  # type: ignore[assignment]  # on this instance only
            super().start_application_mode()
            # Textual starts without focus. The page has it, but could not yet report that.
            self._app.call_later(self._app.post_message, events.AppFocus())

        def _send(self, data: bytes) -> int:
            """Write all bytes under a lock, because the input thread writes too.

            Bytes without a reader are dropped; the end of the input reports that the page is gone.
            """
            rest = memoryview(data)
            with self._write_lock, suppress(BrokenPipeError):
                while rest:
                    rest = rest[os.write(self.fileno, rest) :]
            return len(data)

        def run_input_thread(self) -> None:
            super().run_input_thread()
            if not self._loop.is_closed():
                leaving = self._app._post_message(messages.ExitApp())
                try:
                    asyncio.run_coroutine_threadsafe(leaving, self._loop)
                except RuntimeError:  # the loop was closed meanwhile
                    leaving.close()

    return PageDriver


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    from hookscope.console.process import exit_now

    exit_now(code)
