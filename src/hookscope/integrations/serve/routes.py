"""The routes: the page, its files, each console's web socket, and downloads."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import textual_serve
from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from hookscope.app.options import options_from_text
from hookscope.helpers import own_python
from hookscope.integrations.serve.access import (
    COOKIE_NAME,
    STATUS_CODES,
    AccessDecision,
    AccessRules,
    decide_access,
    request_facts,
)

TERMINATE_SECONDS = 5.0  # seconds for a console to end its workers after the request to exit
KILL_SECONDS = 2.0  # seconds after that, with its input closed
UNREADABLE_EXIT_CODE = 1  # reported for a running console whose output cannot be read
CONSOLE_ENVIRONMENT = dict(os.environ)  # the environment of handlers, unaffected by changes in the server
SMALLEST_SIZE, LARGEST_SIZE = 20, 1000  # cells of a terminal, in either direction


class ConsoleProcess(AppService):
    """The console of one page.

    Its process leads its own process group, so that Ctrl-C where the server was started ends it
    through the server. It exits when its page closes or the server ends, because then its
    standard input ends.
    """

    def __init__(
        self,
        options: str,
        *,
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[None]],
        downloads: DownloadManager,
    ) -> None:
        """`options`: the program's options as text."""
        super().__init__(
            "", write_bytes=write_bytes, write_str=write_str, close=close, download_manager=downloads
        )
        self._options = options
        workspace = options_from_text(options).workspace
        self._workspace = () if workspace is None else (workspace,)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        stderr_copy = os.dup(2)  # its last messages appear where the server was started
        try:
            self._process = await asyncio.create_subprocess_exec(
                *own_python(
                    "hookscope.console.browser_process",
                    *(self._options, str(width), str(height), str(stderr_copy)),
                    workspace=self._workspace,
                ),
                env=CONSOLE_ENVIRONMENT,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                pass_fds=(stderr_copy,),
                start_new_session=True,
            )
        finally:
            os.close(stderr_copy)
        self._stdin = self._process.stdin
        return self._process

    async def wait_until_ended(self) -> int:
        """Wait until the process has ended, or its output can no longer be read; return its exit code."""
        assert self._process is not None
        assert self._task is not None
        await asyncio.wait({self._task})
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._process.wait(), TERMINATE_SECONDS)
        return UNREADABLE_EXIT_CODE

    async def shut_down(self) -> None:
        """Ask the console to exit, kill its process group if it does not, and wait for it."""
        process = self._process
        if process is None:
            return
        try:
            with suppress(Exception):  # whatever goes wrong, it is killed below
                await asyncio.wait_for(self.stop(), TERMINATE_SECONDS)
                await asyncio.wait_for(process.wait(), KILL_SECONDS)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def terminal_size_of(value: object, default: int) -> int:
    """Return a width or height from a page, within bounds; `default` if it is not a whole number."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return default
    try:
        return min(max(int(value), SMALLEST_SIZE), LARGEST_SIZE)
    except ValueError:
        return default


FREE_SLOT_TIMEOUT = 3.0  # seconds to wait for a free slot: a reloaded page first gives up its old one
# characters of one message, such as pasted text; longer messages are ignored
LARGEST_MESSAGE = 4 * 1024 * 1024
LARGEST_FRAME = 16 * LARGEST_MESSAGE  # bytes; a larger frame closes the connection
LARGEST_PING = 64  # characters
SERVER_ENDED = "`hookscope serve` has ended. Start it again, and open the address that it prints."
PAGE_FILES = {"page.css": "text/css", "page.js": "text/javascript"}
RESPONSE_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "hookscope",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(slots=True)
class ConsoleRoutes:
    """The access rules and the open consoles of one server."""

    rules: AccessRules
    options: str  # the program's options as text
    max_sessions: int  # concurrent consoles
    free_slots: asyncio.Semaphore = field(init=False)
    sessions: set[ConsoleProcess] = field(default_factory=set)
    is_stopping: bool = False
    downloads: DownloadManager = field(default_factory=DownloadManager)

    def __post_init__(self) -> None:
        self.free_slots = asyncio.Semaphore(self.max_sessions)

    def app(self) -> web.Application:
        """Return the application. Access is checked for all of its routes."""
        base_path = self.rules.base_path
        app = web.Application(middlewares=[self._check_access])
        app.router.add_get(base_path, _get_page)
        app.router.add_get(base_path + "page/{name}", _get_page_file)
        app.router.add_static(base_path + "static", Path(textual_serve.__file__).parent / "static")
        app.router.add_get(base_path + "ws", self._console)
        app.router.add_get(base_path + "download/{key}", self._download)
        app.on_response_prepare.append(self._add_headers)
        app.on_shutdown.append(self._shut_down_all)
        return app

    @web.middleware
    async def _check_access(self, request: web.Request, handler: Any) -> web.StreamResponse:
        query = tuple(request.query.getall("token", []))
        decision = decide_access(
            self.rules, request_facts(request.path, request.method, request.headers, query, request.cookies)
        )
        if decision in STATUS_CODES:
            return web.Response(status=STATUS_CODES[decision], text=f"{decision.value}\n")
        if decision is AccessDecision.GRANT_COOKIE:
            return self._grant_cookie()
        try:
            response: web.StreamResponse = await handler(request)
        except web.HTTPException as error:
            return web.Response(status=error.status, text=f"{error.reason}\n")
        return response

    def _grant_cookie(self) -> web.Response:
        """Set the cookie and redirect from a page of our own.

        After a link from another site, browsers would not send the cookie with a plain redirect.
        """
        head = (
            f'<link rel="icon" href="data:,"><meta name="color-scheme" content="dark">'
            f'<meta http-equiv="refresh" content="0; url={self.rules.base_path}">'
        )
        response = web.Response(
            text=f"<!DOCTYPE html>{head}<title>Hookscope</title>\n", content_type="text/html"
        )
        response.set_cookie(
            COOKIE_NAME,
            self.rules.cookie_value,
            path=self.rules.base_path,
            httponly=True,
            samesite="Strict",
            secure=self.rules.uses_tls,
        )
        return response

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(RESPONSE_HEADERS)
        socket = self.rules.public_origin.replace("http", "ws", 1) or f"ws://{request.host}"
        is_own_host = self.rules.is_own_host(request.headers.get("Host", ""))
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
            f"img-src 'self' data:; connect-src 'self'{f' {socket}' if is_own_host else ''}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )

    async def _console(self, request: web.Request) -> web.WebSocketResponse:
        """Run a console while its page is open."""
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=LARGEST_FRAME)
        await socket.prepare(request)
        try:
            await asyncio.wait_for(self.free_slots.acquire(), FREE_SLOT_TIMEOUT)
        except TimeoutError:
            await _close_with_message(
                socket,
                f"No console is free (limit: {self.max_sessions}). Close a page, or see "
                f"`hookscope serve --sessions`.",
            )
            return socket
        session = ConsoleProcess(
            self.options,
            write_bytes=socket.send_bytes,
            write_str=lambda text: socket.send_str(self._with_download_path(text)),
            close=_after_exit,
            downloads=self.downloads,
        )
        self.sessions.add(session)
        try:
            await self._relay(socket, session, request)
        finally:
            await asyncio.shield(asyncio.ensure_future(self._release(session)))
        return socket

    async def _relay(
        self, socket: web.WebSocketResponse, session: ConsoleProcess, request: web.Request
    ) -> None:
        """Forward the page's messages to the console until one of them ends."""
        await session.start(
            terminal_size_of(request.query.get("width"), 80),
            terminal_size_of(request.query.get("height"), 24),
        )
        ending = asyncio.ensure_future(self._close_when_ended(session, socket))
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    await _forward_message(session, socket, message.data)
        finally:
            ending.cancel()
            with suppress(asyncio.CancelledError):
                await ending

    async def _close_when_ended(self, session: ConsoleProcess, socket: web.WebSocketResponse) -> None:
        code = await session.wait_until_ended()
        sentence = f"The console ended with code {code}; see where `hookscope serve` runs." if code else ""
        with suppress(ConnectionError):
            if self.is_stopping:
                await _close_with_message(socket, SERVER_ENDED, WSCloseCode.GOING_AWAY)
            else:
                await _close_with_message(socket, sentence)

    async def _release(self, session: ConsoleProcess) -> None:
        try:
            await session.shut_down()
        finally:
            self.sessions.discard(session)
            self.free_slots.release()

    async def _shut_down_all(self, app: web.Application) -> None:
        self.is_stopping = True
        await asyncio.gather(*(session.shut_down() for session in self.sessions), return_exceptions=True)

    def _with_download_path(self, text: str) -> str:
        """Return a message with its download path below the base path, where the cookie is sent.

        textual-serve's page would fetch the file below /download.
        """
        kind, value = json.loads(text)
        if kind != "deliver_file_start":
            return text
        return json.dumps([kind, f"..{self.rules.base_path}download/{value}"])

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Send a file from a console, always as an attachment."""
        key = request.match_info["key"]
        try:
            metadata = await self.downloads.get_download_metadata(key)
        except KeyError:
            raise web.HTTPNotFound from None
        response = web.StreamResponse()
        response.content_type = "application/octet-stream"
        name = "".join(
            character if character.isalnum() or character in "-_." else "_"
            for character in metadata.file_name
        )
        response.headers["Content-Disposition"] = (
            f'attachment; filename="{name.encode("ascii", "replace").decode()}"'
        )
        await response.prepare(request)
        async for chunk in self.downloads.download(key):
            await response.write(chunk)
        await response.write_eof()
        return response


async def _get_page(request: web.Request) -> web.Response:
    return web.Response(text=_read_page_file("page.html"), content_type="text/html")


async def _get_page_file(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in PAGE_FILES:
        raise web.HTTPNotFound
    return web.Response(text=_read_page_file(name), content_type=PAGE_FILES[name])


def _read_page_file(name: str) -> str:
    return files("hookscope.integrations.serve").joinpath("page", name).read_text(encoding="utf-8")


async def _after_exit() -> None:
    """Do nothing: the socket is closed when the process has ended."""


async def _close_with_message(
    socket: web.WebSocketResponse, sentence: str, code: int = WSCloseCode.OK
) -> None:
    """Close the socket with a message for its page, of at most 123 bytes."""
    await socket.close(code=code, message=sentence.encode())


async def _forward_message(session: ConsoleProcess, socket: web.WebSocketResponse, text: str) -> None:
    """Forward a page's message to the console. Messages that the page's script never sends are ignored."""
    try:
        message = json.loads(text) if len(text) <= LARGEST_MESSAGE else None
    except (ValueError, RecursionError):  # RecursionError: deeply nested brackets
        return
    if not isinstance(message, list) or not message:
        return
    kind, value = message[0], message[1] if len(message) > 1 else None
    if kind == "stdin" and isinstance(value, str):
        await session.send_bytes(value.encode("utf-8", "replace"))
    elif kind == "resize" and isinstance(value, dict):
        width, height = terminal_size_of(value.get("width"), 80), terminal_size_of(value.get("height"), 24)
        await session.set_terminal_size(width, height)
    elif kind == "ping" and isinstance(value, str) and len(value) <= LARGEST_PING:
        await socket.send_json(["pong", value])
    elif kind == "blur":
        await session.blur()
    elif kind == "focus":
        await session.focus()
