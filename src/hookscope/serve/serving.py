"""Listening, telling the address, and ending with everything that was opened."""

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

from hookscope.core.regular_file import read_regular
from hookscope.core.text import why_of
from hookscope.helpers import only_user_path
from hookscope.serve.door import SHORTEST, Door, is_loopback, made_token
from hookscope.serve.house import House
from hookscope.values import dataclass
from hookscope.workbench import Options, Refusal
from hookscope.workbench.handing_over import handed_over

AUTO = "auto"
LONGEST = 65_536  # bytes of a token's file
ALL_GONE = 10.0  # seconds in which answers that are under way may end


@dataclass(frozen=True, slots=True)
class Wish:
    """How it is to be served, as the command line says it."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: any that is free
    token: str | None = None  # `auto`: made anew
    token_file: Path | None = None
    public: str | None = None
    sessions: int = 4


@dataclass(frozen=True, slots=True)
class Address:
    """Where the console is served, and what lets one in."""

    origin: str
    token: str
    shown: bool  # the token is nobody's own, so it is told

    @property
    def entrance(self) -> str:
        """The address that lets its reader in."""
        return f"{self.origin}/?token={quote(self.token, safe='')}"


def door_of(wish: Wish) -> Door:
    """The door. Raises Refusal where others would find it open, or the token is no secret."""
    public = _public(wish.public)
    if wish.token is not None and wish.token_file is not None:
        raise Refusal("--token and --token-file are two tokens.", "Leave one out.", code=2)
    others = public or not is_loopback(wish.host)
    if others and wish.token is None and wish.token_file is None:
        raise Refusal(
            f"Others could reach {public or wish.host}, and what they reach runs code here.",
            "Say --token auto, or --token-file FILE.",
            code=2,
        )
    if wish.token_file is not None:
        token = _read(wish.token_file)
    else:
        token = made_token() if wish.token in (None, AUTO) else str(wish.token)
    if len(token) < SHORTEST:
        raise Refusal(
            f"That token is short: {SHORTEST} characters are the least.", "`--token auto` makes one.", code=2
        )
    return Door(wish.host, token, public)


def _public(given: str | None) -> str:
    """An origin, as a browser says it."""
    if given is None:
        return ""
    try:
        parts = urlsplit(given)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ("http", "https") or parts.path not in ("", "/") or parts.query:
        raise Refusal(
            f"{given!r} is no public address.", "It is https://NAME or http://NAME:PORT, and no path.", code=2
        )
    name = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in (None, usual) else "")


def _read(file: Path) -> str:
    try:
        mode, text = os.stat(file).st_mode, read_regular(file, LONGEST).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = why_of(error) if isinstance(error, OSError) else "it is no text"
        raise Refusal(
            f"Cannot read the token in {file}: {why}.", "`--token auto` makes one.", code=2
        ) from None
    if stat.S_IMODE(mode) & 0o077:
        raise Refusal(f"Others can read the token in {file}.", f"`chmod 600 {file}` shuts it.", code=2)
    return text


async def serve(
    options: Options, wish: Wish, tell: Callable[[Address], None], open_page: Callable[[Address], None] | None
) -> None:
    """Serve consoles until SIGINT or SIGTERM. Raises Refusal where nobody can listen there."""
    door = door_of(wish)
    house = House(door, handed_over(options), wish.sessions)
    log = logging.getLogger(__name__)
    log.addFilter(is_ours)
    runner = web.AppRunner(house.app(), access_log=None, shutdown_timeout=ALL_GONE, logger=log)
    await runner.setup()
    try:
        try:
            site = web.TCPSite(runner, wish.host.strip("[]"), wish.port)
            await site.start()
        except OSError as error:
            raise _cannot_listen(wish, error) from None
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows: Ctrl-C ends the program there
                asyncio.get_running_loop().add_signal_handler(number, stop.set)
        address = Address(
            door.public or _origin(wish.host, runner.addresses[0][1]),
            door.token,
            wish.token_file is None and wish.token in (None, AUTO),
        )
        tell(address)
        if open_page is not None:
            await asyncio.to_thread(open_page, address)
        await stop.wait()
    finally:
        await runner.cleanup()


def is_ours(record: logging.LogRecord) -> bool:
    """Is it worth a line: not what anybody sends here that is no HTTP, which has got its answer."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _cannot_listen(wish: Wish, error: OSError) -> Refusal:
    taken = error.errno == errno.EADDRINUSE or "address already in use" in str(error)
    if taken:
        return Refusal(f"Port {wish.port} of {wish.host} is taken.", "`--port 0` takes a free one.")
    if not isinstance(error, socket.gaierror):  # of a name that leads nowhere: its number is no errno
        error = OSError(os.strerror(error.errno or 0))  # what asyncio says of it is longer
    what = f"Cannot listen on {wish.host}, port {wish.port}: {why_of(error)}."
    return Refusal(what, "`--host` and `--port` name where.")


def _origin(host: str, port: int) -> str:
    name = host.strip("[]")
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


@contextmanager
def signpost(workspace: Path) -> Iterator[Callable[[Address], bool]]:
    """What opens the user's browser, none that the workspace brings.

    Others see the arguments of its process, so the token is in a file.
    """
    with tempfile.TemporaryDirectory(prefix="hookscope-") as folder:

        def open_page(address: Address) -> bool:
            page = Path(folder, "open.html")
            page.touch(mode=0o600)
            page.write_text(
                '<!DOCTYPE html><meta name="referrer" content="no-referrer">'
                f'<meta http-equiv="refresh" content="0; url={address.entrance}">\n'
            )
            with only_user_path([workspace]):
                return webbrowser.open(page.as_uri())

        yield open_page
