"""The routes behind the door: the page, its files, the socket of each console, what a console delivers."""

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

from hookscope.serve.door import COOKIE, STATUS, Decision, Door, asked_of, decide
from hookscope.serve.session import Session, cells

PATIENCE = 3.0  # seconds to wait for a place: a page that is loaded again gives its old one up
LARGEST = 4 * 1024 * 1024  # characters of one message of a page: what somebody pastes; more is ignored
LARGEST_FRAME = 16 * LARGEST  # bytes of one; more ends the page's connection
LONGEST_PING = 64  # characters
SERVER_ENDED = "`hookscope serve` has ended. Start it again, and open the address that it prints."
PAGES = {"page.css": "text/css", "page.js": "text/javascript"}
PLAIN = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "hookscope",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(slots=True)
class House:
    """One server: the door, and the consoles that are open."""

    door: Door
    options: str  # of the program, as text
    most: int  # consoles at once
    places: asyncio.Semaphore = field(init=False)
    sessions: set[Session] = field(default_factory=set)
    ending: bool = False
    downloads: DownloadManager = field(default_factory=DownloadManager)

    def __post_init__(self) -> None:
        self.places = asyncio.Semaphore(self.most)

    def app(self) -> web.Application:
        """The application, all of it behind the door."""
        room = self.door.room
        app = web.Application(middlewares=[self._at_the_door])
        app.router.add_get(room, _page)
        app.router.add_get(room + "page/{name}", _part)
        app.router.add_static(room + "static", Path(textual_serve.__file__).parent / "static")
        app.router.add_get(room + "ws", self._console)
        app.router.add_get(room + "download/{key}", self._download)
        app.on_response_prepare.append(self._with_headers)
        app.on_shutdown.append(self._all_leave)
        return app

    @web.middleware
    async def _at_the_door(self, request: web.Request, handler: Any) -> web.StreamResponse:
        query = tuple(request.query.getall("token", []))
        decision = decide(
            self.door, asked_of(request.path, request.method, request.headers, query, request.cookies)
        )
        if decision in STATUS:
            return web.Response(status=STATUS[decision], text=f"{decision.value}\n")
        if decision is Decision.COME_IN:
            return self._welcome()
        try:
            response: web.StreamResponse = await handler(request)
        except web.HTTPException as error:
            return web.Response(status=error.status, text=f"{error.reason}\n")
        return response

    def _welcome(self) -> web.Response:
        """Give the cookie, and go on from a page of our own: it would not be sent where another led here."""
        on = f'<link rel="icon" href="data:,"><meta http-equiv="refresh" content="0; url={self.door.room}">'
        response = web.Response(
            text=f"<!DOCTYPE html>{on}<title>Hookscope</title>\n", content_type="text/html"
        )
        response.set_cookie(
            COOKIE,
            self.door.key,
            path=self.door.room,
            httponly=True,
            samesite="Strict",
            secure=self.door.secure,
        )
        return response

    async def _with_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(PLAIN)
        socket = self.door.public.replace("http", "ws", 1) or f"ws://{request.host}"
        known = self.door.answers_to(request.headers.get("Host", ""))
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
            f"img-src 'self' data:; connect-src 'self'{f' {socket}' if known else ''}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )

    async def _console(self, request: web.Request) -> web.WebSocketResponse:
        """A console, for as long as its page is open."""
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=LARGEST_FRAME)
        await socket.prepare(request)
        try:
            await asyncio.wait_for(self.places.acquire(), PATIENCE)
        except TimeoutError:
            await _say(
                socket,
                f"No more than {self.most} at once. Close a page, or see `hookscope serve --sessions`.",
            )
            return socket
        session = Session(
            self.options,
            write_bytes=socket.send_bytes,
            write_str=lambda text: socket.send_str(self._delivered(text)),
            close=_nothing,
            downloads=self.downloads,
        )
        self.sessions.add(session)
        try:
            await self._between(socket, session, request)
        finally:
            await asyncio.shield(asyncio.ensure_future(self._gone(session)))
        return socket

    async def _between(self, socket: web.WebSocketResponse, session: Session, request: web.Request) -> None:
        """Carry what the page says to the console, until one of them ends."""
        await session.start(cells(request.query.get("width"), 80), cells(request.query.get("height"), 24))
        ending = asyncio.ensure_future(self._end_with(session, socket))
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    await _heard(session, socket, message.data)
        finally:
            ending.cancel()
            with suppress(asyncio.CancelledError):
                await ending

    async def _end_with(self, session: Session, socket: web.WebSocketResponse) -> None:
        code = await session.over()
        said = f"It ended with exit code {code}; see where `hookscope serve` was started." if code else ""
        with suppress(ConnectionError):
            if self.ending:
                await _say(socket, SERVER_ENDED, WSCloseCode.GOING_AWAY)
            else:
                await _say(socket, said)

    async def _gone(self, session: Session) -> None:
        try:
            await session.leave()
        finally:
            self.sessions.discard(session)
            self.places.release()

    async def _all_leave(self, app: web.Application) -> None:
        self.ending = True
        await asyncio.gather(*(session.leave() for session in self.sessions), return_exceptions=True)

    def _delivered(self, text: str) -> str:
        """What tells the page of a file to fetch: it looks below /download, where our cookie is not sent."""
        kind, value = json.loads(text)
        if kind != "deliver_file_start":
            return text
        return json.dumps([kind, f"..{self.door.room}download/{value}"])

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """What a console delivers, always as a file to be kept."""
        key = request.match_info["key"]
        try:
            about = await self.downloads.get_download_metadata(key)
        except KeyError:
            raise web.HTTPNotFound from None
        response = web.StreamResponse()
        response.content_type = "application/octet-stream"
        name = "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in about.file_name)
        response.headers["Content-Disposition"] = (
            f'attachment; filename="{name.encode("ascii", "replace").decode()}"'
        )
        await response.prepare(request)
        async for chunk in self.downloads.download(key):
            await response.write(chunk)
        await response.write_eof()
        return response


async def _page(request: web.Request) -> web.Response:
    return web.Response(text=_own_file("page.html"), content_type="text/html")


async def _part(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in PAGES:
        raise web.HTTPNotFound
    return web.Response(text=_own_file(name), content_type=PAGES[name])


def _own_file(name: str) -> str:
    return files("hookscope.serve").joinpath("page", name).read_text(encoding="utf-8")


async def _nothing() -> None:
    """The socket is closed when the process has ended."""


async def _say(socket: web.WebSocketResponse, sentence: str, code: int = WSCloseCode.OK) -> None:
    """Close it with what its page is to tell, of which 123 bytes are the most."""
    await socket.close(code=code, message=sentence.encode())


async def _heard(session: Session, socket: web.WebSocketResponse, text: str) -> None:
    """Pass on what a page sends. Messages that its script does not send are ignored."""
    try:
        message = json.loads(text) if len(text) <= LARGEST else None
    except (ValueError, RecursionError):  # the latter: brackets without end
        return
    if not isinstance(message, list) or not message:
        return
    kind, value = message[0], message[1] if len(message) > 1 else None
    if kind == "stdin" and isinstance(value, str):
        await session.send_bytes(value.encode("utf-8", "replace"))
    elif kind == "resize" and isinstance(value, dict):
        width, height = cells(value.get("width"), 80), cells(value.get("height"), 24)
        await session.set_terminal_size(width, height)
    elif kind == "ping" and isinstance(value, str) and len(value) <= LONGEST_PING:
        await socket.send_json(["pong", value])
    elif kind == "blur":
        await session.blur()
    elif kind == "focus":
        await session.focus()
