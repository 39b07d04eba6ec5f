"""Listen, print the address, and close every console at the end."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import stat
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from hookscope.app.options import Options, options_to_text
from hookscope.helpers import only_user_path
from hookscope.integrations.serve.access import SHORTEST_TOKEN, AccessRules, is_loopback, new_token
from hookscope.integrations.serve.routes import ConsoleRoutes
from hookscope.model.failure import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason
from hookscope.values import dataclass

AUTOMATIC_TOKEN = "auto"
LARGEST_TOKEN_FILE = 65_536  # bytes of a token file
SHUTDOWN_SECONDS = 10.0  # seconds for pending responses


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of `hookscope serve`."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: any free port
    token: str | None = None  # `auto`: generate one
    token_file: Path | None = None
    public_url: str | None = None
    sessions: int = 4


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the console is served, and the token that grants access."""

    origin: str
    token: str
    shows_token: bool  # the token was generated, so it is printed

    @property
    def url(self) -> str:
        """The address with the token."""
        return f"{self.origin}/?token={quote(self.token, safe='')}"


def access_rules_for(options: ServeOptions) -> AccessRules:
    """Return the access rules for these options.

    Raises Refusal if other machines could connect without a token, or the token is not secret enough.
    """
    public = _public_origin(options.public_url)
    if options.token is not None and options.token_file is not None:
        raise Refusal("--token and --token-file both set the token.", "Use one of them.", code=2)
    is_reachable = public or not is_loopback(options.host)
    if is_reachable and options.token is None and options.token_file is None:
        raise Refusal(
            f"Others could reach {public or options.host}, and run code on this machine.",
            "Add --token auto, or --token-file FILE.",
            code=2,
        )
    if options.token_file is not None:
        token = _read_token_file(options.token_file)
    else:
        token = new_token() if options.token in (None, AUTOMATIC_TOKEN) else str(options.token)
    if len(token) < SHORTEST_TOKEN:
        raise Refusal(
            f"That token is too short: it needs at least {SHORTEST_TOKEN} characters.",
            "`--token auto` makes one.",
            code=2,
        )
    return AccessRules(options.host, token, public)


def _public_origin(url: str | None) -> str:
    """Return the origin of a public address as browsers send it; empty without an address."""
    if url is None:
        return ""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ("http", "https") or parts.path not in ("", "/") or parts.query:
        raise Refusal(
            f"{url!r} is not a public address.",
            "Use https://NAME or http://NAME:PORT, without a path.",
            code=2,
        )
    name = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in (None, default_port) else "")


def _read_token_file(file: Path) -> str:
    try:
        mode, text = os.stat(file).st_mode, read_regular(file, LARGEST_TOKEN_FILE).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error_reason(error) if isinstance(error, OSError) else "it is not text"
        raise Refusal(
            f"Cannot read the token in {file}: {why}.", "`--token auto` makes one.", code=2
        ) from None
    if stat.S_IMODE(mode) & 0o077:
        raise Refusal(f"Others can read the token in {file}.", f"`chmod 600 {file}` prevents that.", code=2)
    return text


async def serve_consoles(
    options: Options,
    serve_options: ServeOptions,
    announce: Callable[[ServerAddress], None],
    open_page: Callable[[ServerAddress], None] | None,
) -> None:
    """Serve consoles until SIGINT or SIGTERM. Raises Refusal if the address cannot be used."""
    rules = access_rules_for(serve_options)
    routes = ConsoleRoutes(rules, options_to_text(options), serve_options.sessions)
    log = logging.getLogger(__name__)
    log.addFilter(is_worth_logging)
    runner = web.AppRunner(routes.app(), access_log=None, shutdown_timeout=SHUTDOWN_SECONDS, logger=log)
    await runner.setup()
    try:
        try:
            site = web.TCPSite(runner, serve_options.host.strip("[]"), serve_options.port)
            await site.start()
        except OSError as error:
            raise _listen_refusal(serve_options, error) from None
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows: Ctrl-C ends the program
                asyncio.get_running_loop().add_signal_handler(number, stop.set)
        address = ServerAddress(
            rules.public_origin or _origin(serve_options.host, runner.addresses[0][1]),
            rules.token,
            serve_options.token_file is None and serve_options.token in (None, AUTOMATIC_TOKEN),
        )
        announce(address)
        if open_page is not None:
            await asyncio.to_thread(open_page, address)
        await stop.wait()
    finally:
        await runner.cleanup()


def is_worth_logging(record: logging.LogRecord) -> bool:
    """Return False for requests that are not valid HTTP: they were already answered."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _listen_refusal(options: ServeOptions, error: OSError) -> Refusal:
    taken = error.errno == errno.EADDRINUSE or "address already in use" in str(error)
    if taken:
        return Refusal(f"Port {options.port} of {options.host} is in use.", "`--port 0` uses a free one.")
    if not isinstance(error, socket.gaierror):  # for an unknown name, whose number is not an errno
        error = OSError(os.strerror(error.errno or 0))  # shorter than asyncio's message
    what = f"Cannot listen on {options.host}, port {options.port}: {error_reason(error)}."
    return Refusal(what, "Choose another address with `--host` and `--port`.")


def _origin(host: str, port: int) -> str:
    name = host.strip("[]")
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


@contextmanager
def browser_opener(workspace: Path) -> Iterator[Callable[[ServerAddress], bool]]:
    """Yield a function that opens the user's browser, never a program from the workspace.

    The token is passed in a file, because other users can see the arguments of a process.
    """
    with tempfile.TemporaryDirectory(prefix="hookscope-") as folder:

        def open_page(address: ServerAddress) -> bool:
            page = Path(folder, "open.html")
            page.touch(mode=0o600)
            page.write_text(
                '<!DOCTYPE html><meta name="referrer" content="no-referrer">'
                f'<meta http-equiv="refresh" content="0; url={address.url}">\n'
            )
            with only_user_path([workspace]):
                return webbrowser.open(page.as_uri())

        yield open_page
