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
from hookscope.app.workbench import Workbench
from hookscope.cli.completion_parameters import with_completion
from hookscope.cli.lazy_group import ExampledCommand
from hookscope.cli.options import machine_options
from hookscope.cli.parsed_options import MACHINE_OPTION_NAMES, options_from
from hookscope.model.host import Host
from hookscope.model.machine import Machine
from hookscope.model.text import printable
from hookscope.model.trust import TrustTarget
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found out: once for programs, once for people."""

    document: object  # None: there is only the text
    text: str | Callable[[], str]  # called where it is asked for: to set a table takes a while
    yes: bool = True
    aside: tuple[str, ...] = ()  # sentences for standard error
    ours: bool = True  # False: shape and words are the host's own, to which nothing is added

    def in_words(self) -> str:
        """The form for people."""
        return self.text if isinstance(self.text, str) else self.text()


Command = Callable[..., Answer]


def command(name: str, *params: click.Parameter) -> Callable[[Command], click.Command]:
    """A command that takes a Workbench and its own parameters, and returns an Answer.

    Adds the machine's options and --json; prints one of the two forms; exits 0 for yes and 1 for no.
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
            plain = bool(given.get("json_lines")) or a_list or not answer.ours
            return print_answer(with_what_if_note(answer, options, plain=plain), as_json=as_json)

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


def workbench_for(options: Options, **more: Any) -> Workbench:
    """The workbench for these options; what it has to say goes to standard error. Raises Refusal."""
    bench = Workbench(options, **more)
    if bench.setup.notice:
        click.echo(f"hookscope: {bench.setup.notice}", err=True)
    for note in bench.setup.notes:
        click.echo(f"hookscope: {printable(note)}", err=True)
    bench.crew.warn_unprotected = cache(_print_warning)  # once, however many events are fired
    return bench


def _print_warning(sentence: str) -> None:
    click.echo(f"hookscope: {printable(sentence)}", err=True)


def with_what_if_note(answer: Answer, options: Options, *, plain: bool) -> Answer:
    """The answer, which says so where something is assumed. `plain`: on standard error alone."""
    from hookscope.app.whatif.assumptions import has_what_if, recorded_assumptions

    if not has_what_if(options):
        return answer
    words, line = recorded_assumptions(options)
    if plain:
        return replace(answer, aside=(line, *answer.aside))
    document = answer.document
    if isinstance(document, dict):
        document = {"assumed": words, **document, "what_if": line}
    return replace(
        answer, document=document, text=lambda: f"{printable(line)}\n{answer.in_words()}".rstrip("\n")
    )


def written_despite_what_if(options: Options, file: Path) -> tuple[str, ...]:
    """A sentence for whoever changed a file under a what-if."""
    from hookscope.app.whatif.assumptions import has_what_if

    return (f"Only the view is assumed: {file} was really written.",) if has_what_if(options) else ()


def unreadable_settings_warnings(host: Host) -> tuple[str, ...]:
    """A sentence for each settings file that cannot be read. No hook runs then: it may switch them off.

    For answers about hooks that do not list what is wrong. Where the host refuses such settings as a whole,
    a check of each hook says so.
    """
    from hookscope.app.json_documents import problem_text

    if host.settings.refusal:
        return ()
    return tuple(f"{problem_text(one)}. `hookscope doctor` names the file." for one in host.settings.problems)


def untrusted_folder_warnings(targets: Iterable[TrustTarget], here: Machine) -> list[str]:
    """A sentence for each folder whose handlers were not allowed to run, with the next step."""
    from hookscope.app.trust_requests import untrusted_messages

    return untrusted_messages(targets, here, besides=", `--trust` this once")


def print_answer(answer: Answer, *, as_json: bool) -> int:
    """Print an answer; the exit code."""
    for sentence in answer.aside:
        click.echo(f"hookscope: {printable(sentence)}", err=True)
    if as_json and answer.document is not None:
        click.echo(json_text(answer.document))
    elif text := answer.in_words():
        click.echo(text)
    if sys.stdout is not None:
        sys.stdout.flush()
    return 0 if answer.yes else 1


def json_text(document: object) -> str:
    """JSON for programs: ASCII, so that file names in broken UTF-8 get through."""
    return json.dumps(document, indent=2, default=_json_value, allow_nan=False)


def _json_value(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return str(value)
