"""Run a command that returns an Answer, and print the answer as text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click

from hookscope.app.options import Options
from hookscope.app.trust_requests import untrusted_messages
from hookscope.app.whatif.assumptions import has_what_if, recorded_assumptions
from hookscope.app.workbench import Workbench
from hookscope.cli.completion_parameters import with_completion
from hookscope.cli.lazy_group import ExampledCommand
from hookscope.cli.options import machine_options
from hookscope.cli.startup import MACHINE_OPTION_NAMES, options_from
from hookscope.model.host import Host
from hookscope.model.machine import Machine
from hookscope.model.text import printable, printable_line
from hookscope.model.trust import TrustTarget
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a command: a document for programs and a text for people."""

    document: object  # None: the answer is only text
    text: str | Callable[[], str]  # a function is called only if the text is printed: layout takes time
    ok: bool = True
    notes: tuple[str, ...] = ()  # sentences for standard error
    extensible: bool = True  # False: the host's own format, to which nothing may be added

    def rendered_text(self) -> str:
        """Return the text for people."""
        return self.text if isinstance(self.text, str) else self.text()


Command = Callable[..., Answer]


def command(name: str, *params: click.Parameter) -> Callable[[Command], click.Command]:
    """Return a decorator that turns a function into a command.

    The function takes Options and the parameters, and returns an Answer. The command also has the machine
    options and --json. It prints the document or the text, and exits with 0 or 1.
    """

    def made(answer_of: Command) -> click.Command:
        @click.pass_context
        def run(ctx: click.Context, /, as_json: bool, **given: Any) -> int:
            base = ctx.find_object(Options)
            options = options_from(given, base)
            own = {key: value for key, value in given.items() if key not in MACHINE_OPTION_NAMES}
            if "as_json" in _accepts_parameter(answer_of):
                own["as_json"] = as_json
            answer = answer_of(options, **own)
            a_list = as_json and not isinstance(answer.document, dict)
            plain = bool(given.get("json_lines")) or a_list or not answer.extensible
            return print_answer(with_what_if_note(answer, options, only_stderr=plain), as_json=as_json)

        json_option = click.Option(
            ["--json", "as_json"], is_flag=True, help="Print one JSON document and nothing else."
        )
        every = [*params, json_option, *machine_options()]
        return ExampledCommand(
            name, callback=run, params=with_completion(name, every), help=answer_of.__doc__
        )

    return made


def _accepts_parameter(function: Callable[..., object]) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def workbench_for(options: Options, **arguments: Any) -> Workbench:
    """Return the workbench for these options; its notes go to standard error. Raises Refusal."""
    bench = Workbench(options, **arguments)
    if bench.setup.notice:
        click.echo(f"hookscope: {bench.setup.notice}", err=True)
    for note in bench.setup.notes:
        click.echo(f"hookscope: {printable_line(note)}", err=True)
    bench.worker_pools.warn_unprotected = cache(_print_warning)  # warn once, however many events are fired
    return bench


def _print_warning(sentence: str) -> None:
    click.echo(f"hookscope: {printable_line(sentence)}", err=True)


def with_what_if_note(answer: Answer, options: Options, *, only_stderr: bool) -> Answer:
    """Add a note to the answer under a what-if; `only_stderr`: only on standard error."""

    if not has_what_if(options):
        return answer
    assumptions, line = recorded_assumptions(options)
    if only_stderr:
        return replace(answer, notes=(line, *answer.notes))
    document = answer.document
    if isinstance(document, dict):
        document = {"assumed": assumptions, **document, "what_if": line}
    return replace(
        answer, document=document, text=lambda: f"{printable(line)}\n{answer.rendered_text()}".rstrip("\n")
    )


def written_despite_what_if(options: Options, file: Path) -> tuple[str, ...]:
    """Return a note if a file was changed under a what-if."""

    return (f"Despite the what-if, {file} was really written.",) if has_what_if(options) else ()


def unreadable_settings_warnings(host: Host) -> tuple[str, ...]:
    """Return a warning for each settings file that cannot be read.

    Such a file stops all hooks, because it may switch hooks off. The warning is for answers that do not list
    problems. If the host rejects the settings as a whole, a gate of each hook reports that instead.
    """

    if host.settings.refusal:
        return ()
    return tuple(
        f"{problem.sentence}. `hookscope doctor` names the file." for problem in host.settings.problems
    )


def untrusted_folder_warnings(targets: Iterable[TrustTarget], machine: Machine) -> list[str]:
    """Return a warning for each folder whose handlers are not trusted, with the next step."""

    return untrusted_messages(targets, machine, alternative=", `--trust` this once")


def print_answer(answer: Answer, *, as_json: bool) -> int:
    """Print an answer and return the exit code."""
    for sentence in answer.notes:
        click.echo(f"hookscope: {printable_line(sentence)}", err=True)
    if as_json and answer.document is not None:
        click.echo(json_text(answer.document))
    elif text := answer.rendered_text():
        click.echo(text)
    if sys.stdout is not None:
        sys.stdout.flush()
    return 0 if answer.ok else 1


def json_text(document: object) -> str:
    """Return JSON for programs: ASCII, so that file names in broken UTF-8 survive."""
    return json.dumps(document, indent=2, default=_json_value, allow_nan=False)


def _json_value(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return str(value)
