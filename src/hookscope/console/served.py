"""The console in a page: a process that `hookscope serve` starts, which talks to it by its standard streams.

    python -m hookscope.console.served OPTIONS WIDTH HEIGHT WORDS

WORDS is the descriptor that its own standard error becomes. What Textual reads of the environment when it is
imported is set for that while only: hooks are to see the environment as it is.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from hookscope.core.text import printable
from hookscope.workbench import Refusal, Workbench
from hookscope.workbench.handing_over import taken_over

if TYPE_CHECKING:
    from textual.driver import Driver

READ_BY_TEXTUAL = {"TEXTUAL_COLOR_SYSTEM": "truecolor", "TEXTUAL_FPS": "60"}


def main(options: str, width: str, height: str, words: str) -> int:
    """Show the console until its page goes, or its user leaves. The exit code."""
    os.dup2(int(words), 2)
    os.close(int(words))
    try:
        bench = Workbench(taken_over(options), spare=True)
    except Refusal as refused:
        print(f"hookscope: {printable(str(refused))}", file=sys.stderr)  # noqa: T201
        return refused.code
    before = {name: os.environ.get(name) for name in READ_BY_TEXTUAL}
    os.environ.update(READ_BY_TEXTUAL)
    import textual.constants  # noqa: F401  (reads the environment)

    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    from hookscope.console import run

    return run(bench, driver=page_driver(), size=(int(width), int(height)))


def page_driver() -> type[Driver]:
    """Textual's driver for pages, which leaves when nobody is there any more."""
    import asyncio
    from threading import Lock

    from textual import messages
    from textual.drivers.web_driver import WebDriver

    class PageDriver(WebDriver):
        def start_application_mode(self) -> None:
            self._loop = asyncio.get_running_loop()
            self._one = Lock()
            self._write = self._send  # type: ignore[assignment]
            super().start_application_mode()

        def _send(self, data: bytes) -> int:
            """All of it, and nothing in between: what is delivered comes from the thread of the input.

            Where nobody reads any more it is lost; the end of the input tells that.
            """
            rest = memoryview(data)
            with self._one, suppress(BrokenPipeError):
                while rest:
                    rest = rest[os.write(self.fileno, rest) :]
            return len(data)

        def run_input_thread(self) -> None:
            super().run_input_thread()
            if not self._loop.is_closed():
                leaving = self._app._post_message(messages.ExitApp())
                try:
                    asyncio.run_coroutine_threadsafe(leaving, self._loop)
                except RuntimeError:  # it has left meanwhile
                    leaving.close()

    return PageDriver


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    from hookscope.console.scanning import exit_now

    exit_now(code)
