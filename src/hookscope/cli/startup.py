"""The program's first step: the console without click, else the command line."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hookscope.host_options import HOST_OPTIONS

if TYPE_CHECKING:
    from hookscope.app.options import Options
    from hookscope.app.workbench import Workbench

MACHINE_OPTION_NAMES = frozenset(option.name for option in HOST_OPTIONS)
COMPLETION_VARIABLE = "_HOOKSCOPE_COMPLETE"  # set when a shell requests completion


def exit_code(arguments: list[str]) -> int:
    """Run the program; an exception that the user can resolve becomes a sentence on standard error."""
    parameters = console_only_options(arguments)
    if parameters is None or COMPLETION_VARIABLE in os.environ:
        from hookscope.cli.main import exit_code

        return exit_code(arguments)
    try:
        return open_console(parameters)
    except (Exception, KeyboardInterrupt) as error:
        failed = error
    from hookscope.cli.main import exit_code_of

    def raise_again() -> NoReturn:
        raise failed

    return exit_code_of(raise_again, arguments)


def options_from(parameters: Mapping[str, Any], base: Options | None = None) -> Options:
    """Return the options of a command; they override those before the command's name."""
    from hookscope.app.options import Options, with_given

    return with_given(base or Options(), parameters)


def end_process(code: int) -> NoReturn:
    """End the process; immediately if it has shown the console."""
    if "hookscope.console.app" in sys.modules:
        from hookscope.console.process import exit_now

        exit_now(code)
    sys.exit(code)


def console_only_options(arguments: Sequence[str]) -> Mapping[str, Any] | None:
    """Return the options of a command line that opens the console and needs no parser, else None."""
    match arguments:
        case []:
            return {"workspace": None}
        case ["--workspace", folder] if not folder.startswith("-") and os.access(folder, os.R_OK):
            return {"workspace": Path(folder)}
    return None


def open_console(parameters: Mapping[str, Any], *, demo: bool = False) -> int:
    """Run the terminal console for these options and return its exit code. Raises Refusal.

    With `demo`, it shows the tasks of the demo.

    The workbench is opened after the first frame, unless an option may name something that does not
    exist: that error is reported before the console takes the terminal.
    """

    def opened() -> Workbench:
        from hookscope.app.workbench import Workbench

        return Workbench(options_from(parameters), spare=True)

    workspace = parameters["workspace"]
    has_other_options = any(value for name, value in parameters.items() if name != "workspace")
    is_there = workspace is None or os.path.isdir(workspace)
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    bench = opened if on_terminal and is_there and not has_other_options else opened()
    if not on_terminal:
        from hookscope.model.failure import Refusal

        raise Refusal("The console needs a terminal.", "`hookscope list` gives the same answers without one.")
    for stream in (sys.__stdout__, sys.__stderr__):  # in some locales they would write only ASCII
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    from hookscope.console import run
    from hookscope.console.process import disable_collection

    disable_collection()
    code = run(bench, demo=demo)
    if code:
        from hookscope.cli.main import INTERNAL_ERROR, version_report

        print(f"{INTERNAL_ERROR} ({version_report()}).", file=sys.stderr)  # noqa: T201
    return code


ERROR_HANDLER = "hookscope.fallback"
ASCII_GLYPHS = {
    **dict.fromkeys("–—─━┄┈", "-"),
    **dict.fromkeys("│┃▏▎▍▌▋▊▉▐", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰", "+"),
    **dict.fromkeys("█▓", "#"),
    **dict.fromkeys("\u2018\u2019\u201a", "'"),
    **dict.fromkeys("“”„", '"'),
    "→": "->",
    "←": "<-",
    "…": "...",
    "✓": "+",
    "✗": "x",
    "☠": "x",
    "×": "x",
    "●": "*",
    "○": "o",
    "▲": "^",
    "◌": "o",
    "◇": "?",
    "◐": "o",
    "▸": ">",
    "❱": ">",
    "↳": ">",
    "»": ">",
    "◂": "<",
    "·": "-",
    "•": "*",
    "≈": "~",
    "≠": "!=",
    "⊘": "/",
}


def use_ascii_fallbacks(*streams: object) -> None:
    """Make streams replace characters that they cannot encode, unless the user chose an error handler."""
    for stream in streams:
        if not isinstance(stream, TextIOWrapper) or stream.errors not in ("strict", "surrogateescape"):
            continue
        if stream.errors == "surrogateescape" and (codecs.lookup(stream.encoding or "ascii").name == "utf-8"):
            continue  # the C locale: file names are printed as their bytes
        codecs.register_error(ERROR_HANDLER, _replace_characters)
        stream.reconfigure(errors=ERROR_HANDLER)


def _replace_characters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    replacements = (
        ASCII_GLYPHS.get(character) or character.encode("ascii", "backslashreplace").decode()
        for character in characters
    )
    return "".join(replacements), error.end
