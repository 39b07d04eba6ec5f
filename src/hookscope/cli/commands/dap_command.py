"""`hookscope dap`."""

from __future__ import annotations

import sys

import click

from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render import run_output
from hookscope.cli.shared_options import trust_option
from hookscope.model.failure import Refusal
from hookscope.model.run import Plan, Run


@answers.command("dap", trust_option())
def command(options: Options, trust: bool) -> Answer:
    """Debug handlers from an editor with the Debug Adapter Protocol on standard input and output.

    The editor starts this command. Its launch configuration names the event, with the options of `fire`
    (`event`, `only`, `except`, `context`, `sandbox` and others) and `stopOnEntry`. See `hookscope help
    debugging` for VS Code, Neovim and Emacs.
    """
    if sys.stdin.isatty():
        next_step = "`hookscope help editors` shows how; `hookscope fire KEY --debug` is for a terminal."
        raise Refusal("`hookscope dap` is started by an editor.", next_step, code=2)
    from hookscope.integrations.dap.session import serve_editor

    if why := serve_editor(options, trust_all=trust, report=_run_report):
        raise Refusal(
            f"The input is not the Debug Adapter Protocol: {why}.", "Start this command from an editor."
        )
    raise click.exceptions.Exit(0)  # the session has sent its own answers


def _run_report(run: Run, plan: Plan, view: Snapshot) -> str:
    return run_output.run_text(run, view.host.machine, plan)
