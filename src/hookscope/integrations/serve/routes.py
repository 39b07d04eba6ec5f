"""The routes: the page, its files, each console's web socket, and downloads."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import textual_serve
from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.download_manager import DownloadManager

from hookscope.integrations.serve.access import (
    COOKIE_NAME,
    STATUS_CODES,
    AccessDecision,
    AccessRules,
    decide_access,
    request_facts,
)
from hookscope.integrations.serve.console_process import ConsoleProcess, terminal_size_of

FREE_SLOT_TIMEOUT = 3.0  # seconds to wait for a free slot: a reloaded page first gives up its old one
LARGEST_MESSAGE = (
    4 * 1024 * 1024
)  # characters of one message, such as pasted text; longer messages are ignored
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
            f'<link rel="icon" href="data:,"><meta http-equiv="refresh" content="0; '
            f'url={self.rules.base_path}">'
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
                f"No more than {self.max_sessions} at once. Close a page, or see "
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
        sentence = f"It ended with exit code {code}; see where `hookscope serve` was started." if code else ""
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
