"""`hookscope dap`."""

from __future__ import annotations

import sys

import click

from hookscope.cli import answers, run_tables
from hookscope.cli.answers import Answer
from hookscope.cli.firing_options import trust_option
from hookscope.core.runs import Plan, Run
from hookscope.workbench import Options, Refusal, View


@answers.command("dap", trust_option())
def command(options: Options, trust: bool) -> Answer:
    """Debug handlers from an editor: speaks the Debug Adapter Protocol on standard input and output.

    The editor starts it, and its launch says which event is fired, in the words of `fire`: `event`, `only`,
    `except`, `context`, `sandbox` and others, and `stopOnEntry`. `hookscope help debugging` has what VS Code,
    Neovim and Emacs want to be told.
    """
    if sys.stdin.isatty():
        then = "`hookscope help debugging` says how; `hookscope fire KEY --debug` is for a terminal."
        raise Refusal("`hookscope dap` is started by an editor.", then, code=2)
    from hookscope.adapter.serving import serve

    if why := serve(options, trusts=trust, report=_report):
        raise Refusal(
            f"What came is not the Debug Adapter Protocol: {why}.", "Is this what the editor starts?"
        )
    raise click.exceptions.Exit(0)  # the answers were told as they came


def _report(run: Run, plan: Plan, view: View) -> str:
    return run_tables.run(run, view.host.surroundings, plan)
