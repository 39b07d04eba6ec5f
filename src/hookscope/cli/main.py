"""The root command, and the translation of exceptions to exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from hookscope.cli.command_index import COMMAND_FAMILIES, COMMANDS, HEADINGS
from hookscope.cli.completion_parameters import with_completion
from hookscope.cli.lazy_group import LazyGroup
from hookscope.cli.options import machine_options
from hookscope.cli.startup import COMPLETION_VARIABLE, open_console, options_from

STREAMING_OPTIONS = {"--json-lines", "--follow", "--watch"}  # options that print lines while they run

INTERNAL_ERROR = "hookscope: this is a bug in Hookscope, please report it with the lines above"


class CommandGroup(LazyGroup):
    """The program's commands. Each has a module of its own, or shares one with its family."""

    commands_by_name, headings = COMMANDS, HEADINGS

    def module_of(self, name: str) -> str:
        return f"hookscope.cli.commands.{COMMAND_FAMILIES.get(name, f'{name}_command')}"

    def unknown_command_message(self, name: str) -> str:
        from hookscope.model.text import nearest_word, one_line

        if name == "hooks":  # how the hosts' own commands begin
            return "There is no command 'hooks'; leave the word out, as in `hookscope list`."
        closest = nearest_word(name, COMMANDS)
        next_step = f"did you mean `{closest}`?" if closest else "`hookscope --help` lists them."
        return f"There is no command {one_line(name)!r}; {next_step}"


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    params=with_completion("", machine_options()),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="hookscope", message="%(version)s")
@click.pass_context
def root_command(ctx: click.Context, /, **parameters: Any) -> int:
    """See which agent hooks run, which do not and why; fire events at them by hand.

    Without a command, Hookscope opens the console. Commands give the same answers to scripts. Every
    command takes the options below, and --json.
    """
    if ctx.invoked_subcommand is None:
        return open_console(parameters)
    ctx.obj = options_from(parameters)
    return 0


def exit_code(arguments: list[str]) -> int:
    """Run the program; an exception that the user can resolve becomes a sentence on standard error.

    Returns 0 for yes, 1 for no, 2 for wrong use.
    """
    if COMPLETION_VARIABLE in os.environ:
        from hookscope.cli.commands.completion_command import register_shells

        register_shells()
    return exit_code_of(
        lambda: root_command.main(arguments, prog_name="hookscope", standalone_mode=False), arguments
    )


def exit_code_of(work: Callable[[], object], arguments: list[str]) -> int:
    """Run `work` for these arguments and return the exit code. Reports errors, including failed output."""
    try:
        return _exit_code_of(work, arguments)
    except OSError as error:
        return _report_output_failure(error)


def _exit_code_of(work: Callable[[], object], arguments: list[str]) -> int:
    """Do as `exit_code_of` does, but raise OSError if standard output or error cannot be written."""
    try:
        code = work()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _report_interrupt(arguments)
    except click.UsageError as error:
        from hookscope.model.text import printable

        where = error.ctx.command_path if error.ctx else "hookscope"
        sentence = printable(error.format_message().rstrip())
        sentence += "." if sentence.endswith(")") and not sentence.endswith("?)") else ""
        then = "" if "`" in sentence else f" `{where} --help` shows how."
        if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
            then += " Put `--` before a name that begins with -."
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
        from hookscope.model.regular_file import FILE_LIMIT_HINT, FILE_LIMIT_REACHED, is_file_limit

        if is_file_limit(error):
            from hookscope.model.failure import Refusal

            return _report_error(
                Refusal(f"{FILE_LIMIT_REACHED[:1].upper()}{FILE_LIMIT_REACHED[1:]}.", FILE_LIMIT_HINT),
                _wants_json(arguments),
            )
        return _report_error(error, _wants_json(arguments))
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # some calls wrap every exception
            return _report_interrupt(arguments)
        return _report_error(error, _wants_json(arguments))
    return code if isinstance(code, int) else 0


def _wants_json(arguments: list[str]) -> bool:
    return "--json" in arguments or "--json-lines" in arguments


def _broken_streams() -> list[int]:
    """Return the descriptors of standard output and error that cannot be flushed."""
    broken = []
    for number, stream in enumerate((sys.stdout, sys.stderr), start=1):
        try:
            stream.flush()
        except (OSError, ValueError):  # ValueError: the stream is closed
            broken.append(number)
    return broken


def _report_output_failure(error: OSError) -> int:
    """Report on standard error, if possible, that the answer could not be printed."""
    for number in _broken_streams():
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)  # the interpreter flushes again at exit
        os.close(nowhere)
    if not isinstance(error, BrokenPipeError):
        full = error.errno == errno.ENOSPC
        why = "no space is left on the device" if full else os.strerror(error.errno or errno.EIO).lower()
        click.echo(f"hookscope: the answer could not be printed: {why}.", err=True)
    return 1


def _kernel_version() -> str:
    """Return the system's version. The module `platform` would run a program from PATH."""
    return f"{os.uname().release} {os.uname().machine}" if hasattr(os, "uname") else ""


def _report_interrupt(arguments: list[str]) -> int:
    """Report that Ctrl-C ended the command before it had an answer."""
    if "--json" in arguments and not STREAMING_OPTIONS & set(arguments):
        import json

        click.echo(json.dumps({"error": "stopped", "next": ""}))
    click.echo("hookscope: stopped.", err=True)
    return 1


def version_report() -> str:
    """Return the versions that a bug report needs."""
    from hookscope.installation import installed_version

    return (
        f"hookscope {installed_version()}, Python {sys.version.split()[0]}, {sys.platform} "
        f"{_kernel_version()}"
    )


def _report_error(error: Exception, as_json: bool) -> int:
    """Report an exception that is not click's: a Refusal is an answer, all others are bugs of Hookscope."""
    from hookscope.model.failure import Refusal
    from hookscope.model.text import printable

    if not isinstance(error, Refusal):
        import traceback

        click.echo(printable("".join(traceback.format_exception(error))), err=True)
        click.echo(f"{INTERNAL_ERROR} ({version_report()}).", err=True)
        return 1
    if as_json:
        import json

        click.echo(json.dumps({"error": error.problem, "next": error.next_step}))
    click.echo(f"hookscope: {printable(str(error))}", err=True)
    return error.code
