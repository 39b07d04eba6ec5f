"""`hookscope serve`."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.options import WholeNumber
from hookscope.installation import install_command
from hookscope.model.failure import Refusal
from hookscope.model.text import printable

if TYPE_CHECKING:
    from hookscope.integrations.serve.server import ServerAddress

DEFAULT_PORT = 4665
PARAMETERS = (
    click.Option(["--host"], metavar="ADDRESS", default="127.0.0.1", help="Where to listen; else 127.0.0.1."),
    click.Option(
        ["--port"],
        metavar="N",
        type=WholeNumber(0, 65535),
        default=DEFAULT_PORT,
        help=f"0: any that is free; else {DEFAULT_PORT}.",
    ),
    click.Option(["--token"], metavar="TEXT", help="What lets one in; `auto` makes one, as on 127.0.0.1."),
    click.Option(
        ["--token-file"], type=click.Path(path_type=Path), metavar="FILE", help="The token stands there."
    ),
    click.Option(["--public-url"], metavar="URL", help="The address by which others reach it."),
    click.Option(
        ["--sessions"],
        metavar="N",
        type=WholeNumber(1, 64),
        default=4,
        help="Consoles at once; else 4.",
    ),
    click.Option(["--open", "opens"], is_flag=True, help="Open it in the browser."),
)


@answers.command("serve", *PARAMETERS)
def command(
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
    """The console in a browser: prints the address to open, and serves until Ctrl-C.

    Each page is a console of its own, with these options; it ends when its page closes. Whoever comes in
    can run code as you: the address carries a token, on this machine too, and without it there is nothing
    to see. Only --token or --token-file let other machines in; what goes to them is not encrypted, so put
    TLS in front and name it with --public-url.

    Needs textual-serve, which the extra `hookscope[serve]` brings.
    """
    if find_spec("textual_serve") is None:
        raise Refusal(
            "A console in a browser needs the package textual-serve.",
            f"`{install_command('serve')}` brings it.",
        )
    bench = answers.workbench_for(options)  # reports errors in options here, not in the page
    from hookscope.integrations.serve.server import ServeOptions, browser_opener, serve_consoles

    def tell(address: ServerAddress) -> None:
        url = address.url if address.shows_token else f"{address.origin}/?token=…"
        if as_json:
            click.echo(answers.json_text({"url": url, "origin": address.origin}))
            return
        click.echo(f"The console is at {printable(url)}\nCtrl-C ends it.")

    with browser_opener(bench.open().workspace) as post:

        def open_page(address: ServerAddress) -> None:
            if not post(address):
                click.echo("hookscope: no browser opens here; open that address yourself.", err=True)

        serve_options = ServeOptions(host, port, token, token_file, public_url, sessions)
        asyncio.run(serve_consoles(options, serve_options, tell, open_page if opens else None))
    raise click.exceptions.Exit(0)  # the address has been printed
