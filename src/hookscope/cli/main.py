"""The group of commands, and the one door from exceptions to exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from hookscope.cli.completing.words import with_completion
from hookscope.cli.given import options_from
from hookscope.cli.lazy import LazyGroup
from hookscope.cli.opening import ASKED_BY_A_SHELL, open_console
from hookscope.cli.options import MACHINE_OPTIONS
from hookscope.cli.version import version

STREAMS = {"--json-lines", "--follow", "--watch"}  # what they print are lines as they come
# Name → the line in `--help`. A command's module has its name and is imported when it is called.
COMMANDS = {
    "list": "What hooks there are, and why some would not run.",
    "info": "One hook: every check, which copy wins, what it declares.",
    "check": "How many hooks are ready, and what stops the others.",
    "lint": "What is wrong with hooks, and what to do about it. Runs nothing.",
    "compare": "The same folders under several hosts: what differs, and what to change.",
    "load": "Import all trusted handlers and report as the host's loader does.",
    "events": "What the host sends, when, with which fields, and who listens.",
    "plan": "Who would run for an event, in order, and who not. Runs nothing.",
    "fire": "Fire an event and see what each handler did.",
    "dap": "For editors: debug handlers by the Debug Adapter Protocol.",
    "sequence": "Fire events one after another, as a host sends them or a file says.",
    "replay": "Fire the event of an earlier run again, and say what is different.",
    "test": "Fire saved events and sequences, and say where a run is not what its file expects.",
    "fuzz": "Fire strange events at hooks, and find the smallest that they fail at.",
    "play": "Play a whole session: send messages, and see what hooks do at each event.",
    "new": "Write a hook that works, with a saved event that tries it; a pack, a plugin too.",
    "fix": "What would open the checks that stop a hook: shown as a diff, written on demand.",
    "enable": "Switch a hook on in the host's settings.",
    "disable": "Switch a hook off in the host's settings.",
    "undo": "Take back the last change that Hookscope made to your files.",
    "install": "Put a hook or a pack into the host's folder: shown first, then all of it or nothing.",
    "update": "Bring installed packs up to date.",
    "uninstall": "Take back exactly what an install did.",
    "packs": "What is installed, from where, and what has changed on disk since.",
    "log": "What was fired in this workspace, and what came of it.",
    "pin": "Keep runs whatever else is cleared away.",
    "export": "Runs as lines of JSON, or one as a page of HTML, to be read elsewhere.",
    "tap": "Keep the real events of a running agent, and fire them again.",
    "trust": "Allow the handlers of a folder to run.",
    "serve": "The console in a browser.",
    "keys": "The console's keys: actions, meanings, and what keys.yaml makes of them.",
    "doctor": "What was detected and from where, and what is missing.",
    "help": "The manual, a topic at a time.",
    "completion": "The script that completes commands, hooks, events and packs in a shell.",
}

OUR_MISTAKE = "hookscope: this is a mistake of ours, please report it with the lines above"


class Commands(LazyGroup):
    """The program's commands, a module each."""

    commands_by_name = COMMANDS
    module = "hookscope.cli.commands.{}_command"

    def stranger(self, name: str) -> str:
        from hookscope.core.text import nearest, one_line

        near = nearest(name, COMMANDS)
        then = f"did you mean `{near}`?" if near else "`hookscope --help` lists them."
        return f"There is no command {one_line(name)!r}; {then}"


@click.group(
    cls=Commands,
    invoke_without_command=True,
    params=with_completion("", MACHINE_OPTIONS()),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="hookscope", message="%(version)s")
@click.pass_context
def cli(ctx: click.Context, /, **given: Any) -> int:
    """See which agent hooks run, which do not and why; fire events at them by hand.

    Without a command: the console. With one: the same answers for scripts. Every command takes the
    options below, and --json.
    """
    if ctx.invoked_subcommand is None:
        return open_console(given)
    ctx.obj = options_from(given)
    return 0


def exit_code(arguments: list[str]) -> int:
    """Run the program; every exception of the user's making becomes a sentence on standard error.

    0: yes; 1: the answer is no; 2: wrong use.
    """
    if ASKED_BY_A_SHELL in os.environ:
        from hookscope.cli.completing.shells import use_ours

        use_ours()
    return code_of(lambda: cli.main(arguments, prog_name="hookscope", standalone_mode=False), arguments)


def code_of(work: Callable[[], object], arguments: list[str]) -> int:
    """Do this for these arguments; what it raises becomes a sentence too, and so does a failure to print."""
    try:
        return _code_of(work, arguments)
    except OSError as error:
        return _not_printed(error)


def _code_of(work: Callable[[], object], arguments: list[str]) -> int:
    """As `code_of`. Raises OSError where standard output or standard error takes nothing."""
    try:
        code = work()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _stopped(arguments)
    except click.UsageError as error:
        from hookscope.core.text import printable

        where = error.ctx.command_path if error.ctx else "hookscope"
        sentence = printable(error.format_message().rstrip())
        sentence += "." if sentence.endswith(")") and not sentence.endswith("?)") else ""
        then = "" if "`" in sentence else f" `{where} --help` shows how."
        if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
            then += " A name that begins with - stands behind `--`."
        if "--json" in arguments or "--json-lines" in arguments:
            import json

            click.echo(json.dumps({"error": sentence, "next": then.strip()}))
        click.echo(f"hookscope: {sentence}{then}", err=True)
        return 2
    except click.ClickException as error:
        click.echo(f"hookscope: {error.format_message()}", err=True)
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError) or error.errno == errno.ENOSPC or _broken_streams():
            raise
        from hookscope.core.open_files import REACHED, THEN, is_exhausted

        if is_exhausted(error):
            from hookscope.workbench.refusal import Refusal

            return _told(Refusal(f"{REACHED[:1].upper()}{REACHED[1:]}.", THEN), _is_json(arguments))
        return _told(error, _is_json(arguments))
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # some calls wrap whatever they meet
            return _stopped(arguments)
        return _told(error, _is_json(arguments))
    return code if isinstance(code, int) else 0


def _is_json(arguments: list[str]) -> bool:
    return "--json" in arguments or "--json-lines" in arguments


def _broken_streams() -> list[int]:
    """The descriptors of standard output and error that take nothing of what waits in them."""
    broken = []
    for number, stream in enumerate((sys.stdout, sys.stderr), start=1):
        try:
            stream.flush()
        except (OSError, ValueError):  # the latter: it is closed
            broken.append(number)
    return broken


def _not_printed(error: OSError) -> int:
    """What was to be printed is lost: that is reported where anybody can read it."""
    for number in _broken_streams():
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)  # the interpreter prints what waits again when it exits
        os.close(nowhere)
    if not isinstance(error, BrokenPipeError):
        full = error.errno == errno.ENOSPC
        why = "no space left where it goes" if full else os.strerror(error.errno or errno.EIO).lower()
        click.echo(f"hookscope: the answer could not be printed: {why}.", err=True)
    return 1


def _kernel() -> str:
    """The version of the system. `platform` would start a program of PATH to know the processor."""
    return f"{os.uname().release} {os.uname().machine}" if hasattr(os, "uname") else ""


def _stopped(arguments: list[str]) -> int:
    """Ctrl-C, before anything was known that could be printed."""
    if "--json" in arguments and not STREAMS & set(arguments):
        import json

        click.echo(json.dumps({"error": "stopped", "next": ""}))
    click.echo("hookscope: stopped.", err=True)
    return 1


def versions() -> str:
    """Return what a report of a fault needs to name."""
    return f"hookscope {version()}, Python {sys.version.split()[0]}, {sys.platform} {_kernel()}"


def _told(error: Exception, as_json: bool) -> int:
    """Exceptions that are no click's: a Refusal is an answer, all else is our own mistake."""
    from hookscope.core.text import printable
    from hookscope.workbench.refusal import Refusal

    if not isinstance(error, Refusal):
        import traceback

        click.echo(printable("".join(traceback.format_exception(error))), err=True)
        click.echo(f"{OUR_MISTAKE} ({versions()}).", err=True)
        return 1
    if as_json:
        import json

        click.echo(json.dumps({"error": error.what, "next": error.then}))
    click.echo(f"hookscope: {printable(str(error))}", err=True)
    return error.code
