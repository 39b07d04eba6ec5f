"""The program's first step: the console where nothing else is asked for, else the command line.

Of what a console loads before its first paint, click would be a sixth: a line that is read at a glance does
without.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hookscope.cli.given import options_from

if TYPE_CHECKING:
    from hookscope.workbench import Workbench

ASKED_BY_A_SHELL = "_HOOKSCOPE_COMPLETE"  # what stands in the line is to be completed


def exit_code(arguments: list[str]) -> int:
    """Run the program; every exception of the user's making becomes a sentence on standard error."""
    given = console_alone(arguments)
    if given is None or ASKED_BY_A_SHELL in os.environ:
        from hookscope.cli.main import exit_code

        return exit_code(arguments)
    try:
        return open_console(given)
    except (Exception, KeyboardInterrupt) as error:
        failed = error
    from hookscope.cli.main import code_of

    def again() -> NoReturn:
        raise failed

    return code_of(again, arguments)


def end(code: int) -> NoReturn:
    """End the process; at once where it has shown the console."""
    if "hookscope.console.app" in sys.modules:
        from hookscope.console.scanning import exit_now

        exit_now(code)
    sys.exit(code)


def console_alone(arguments: Sequence[str]) -> Mapping[str, Any] | None:
    """What click would read from a line that asks for the console and needs no parser; None for others."""
    match arguments:
        case []:
            return {"workspace": None}
        case ["--workspace", folder] if not folder.startswith("-") and os.access(folder, os.R_OK):
            return {"workspace": Path(folder)}
    return None


def open_console(given: Mapping[str, Any]) -> int:
    """The terminal console, on the hooks that the options lead to; its exit code. Raises Refusal.

    It opens the workbench behind its first frame, unless an option is given that may name what is not
    there: that is said before the terminal is taken.
    """

    def opened() -> Workbench:
        from hookscope.workbench import Workbench

        return Workbench(options_from(given), spare=True)

    workspace = given["workspace"]
    others = any(value for name, value in given.items() if name != "workspace")
    is_there = workspace is None or os.path.isdir(workspace)
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    bench = opened if on_terminal and is_there and not others else opened()
    if not on_terminal:
        from hookscope.workbench.refusal import Refusal

        raise Refusal("The console needs a terminal.", "`hookscope list` gives the same answers without one.")
    for stream in (sys.__stdout__, sys.__stderr__):  # in some locales they would write ASCII alone
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    from hookscope.console import run
    from hookscope.console.collecting import put_off

    put_off()
    code = run(bench)
    if code:
        from hookscope.cli.main import OUR_MISTAKE, versions

        print(f"{OUR_MISTAKE} ({versions()}).", file=sys.stderr)  # noqa: T201
    return code
