"""`hookscope serve` and `hookscope dap`: the console in a browser, the debugger in an editor."""

from __future__ import annotations

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.options import WholeNumber
from hookscope.cli.render import run_output
from hookscope.cli.shared_options import trust_option
from hookscope.installation import install_command
from hookscope.model.failure import Refusal
from hookscope.model.run import Plan, Run
from hookscope.model.text import printable

if TYPE_CHECKING:
    from hookscope.integrations.serve.server import ServerAddress

DEFAULT_PORT = 4665
PARAMETERS = (
    click.Option(
        ["--host"],
        metavar="ADDRESS",
        default="127.0.0.1",
        help="The address to listen on; default: 127.0.0.1.",
    ),
    click.Option(
        ["--port"],
        metavar="N",
        type=WholeNumber(0, 65535),
        default=DEFAULT_PORT,
        help=f"The port; 0: any free one; default: {DEFAULT_PORT}.",
    ),
    click.Option(["--token"], metavar="TEXT", help="The access token; `auto` creates one, as on 127.0.0.1."),
    click.Option(
        ["--token-file"],
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A file that contains the token.",
    ),
    click.Option(["--public-url"], metavar="URL", help="The address that others use."),
    click.Option(
        ["--sessions"],
        metavar="N",
        type=WholeNumber(1, 64),
        default=4,
        help="Number of consoles at once; default: 4.",
    ),
    click.Option(["--open", "opens"], is_flag=True, help="Open the console in the browser."),
)


@answers.command("serve", *PARAMETERS)
def serve_command(
    options: Options,
    host: str,
    port: int,
    token: str | None,
    token_file: Path | None,
    public_url: str | None,
    sessions: int,
    opens: bool,
    as_json: bool,
) -> Answer:
    """Serve the console to a browser until Ctrl-C, and print its address.

    Each page is its own console with these options; it ends when its page closes. Anyone with access can run
    code as you: the address contains a token, and without it nothing is shown. Only --token or --token-file
    admit other machines. That traffic is not encrypted, so put TLS in front and name it with --public-url.

    Requires textual-serve, from the extra `hookscope[serve]`.
    """
    if find_spec("textual_serve") is None:
        raise Refusal(
            "A console in a browser needs the package textual-serve.",
            f"`{install_command('serve')}` installs it.",
        )
    bench = answers.workbench_for(options)  # reports errors in options here, not in the page
    from hookscope.integrations.serve.server import ServeOptions, browser_opener, serve_consoles

    def announce(address: ServerAddress) -> None:
        url = address.url if address.shows_token else f"{address.origin}/?token=…"
        if as_json:
            click.echo(answers.json_text({"url": url, "origin": address.origin}))
            return
        click.echo(f"The console is at {printable(url)}\nPress Ctrl-C to stop.")

    with browser_opener(bench.open().workspace) as open_in_browser:

        def open_page(address: ServerAddress) -> None:
            if not open_in_browser(address):
                click.echo("hookscope: no browser could be opened; open that address yourself.", err=True)

        serve_options = ServeOptions(host, port, token, token_file, public_url, sessions)
        asyncio.run(serve_consoles(options, serve_options, announce, open_page if opens else None))
    raise click.exceptions.Exit(0)  # the address has been printed


@answers.command("dap", trust_option())
def dap_command(options: Options, trust: bool) -> Answer:
    """Debug handlers from an editor with the Debug Adapter Protocol on standard input and output.

    The editor starts this command. Its launch configuration names the event, with the options of `fire`
    (`event`, `only`, `except`, `context`, `sandbox` and others) and `stopOnEntry`. See `hookscope help
    editors` for VS Code, Neovim and Emacs.
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
