"""The command: what it refuses, how many consoles it gives, and that none stays behind."""

import asyncio
import json
import signal
import stat
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import aiohttp
import pytest
from tests.integrations.serve.conftest import PATIENCE, Served, alive, until

from hookscope.cli.main import exit_code
from hookscope.installation import install_command
from hookscope.integrations.serve.server import ServerAddress, browser_opener

Start = Callable[..., Any]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--host", "0.0.0.0"], 2, "Add --token auto, or --token-file FILE."),
        (["--host", "hooks.example"], 2, "Others could reach hooks.example"),
        (["--public-url", "https://hooks.example"], 2, "Others could reach https://hooks.example"),
        (["--public-url", "https://hooks.example/below", "--token", "auto"], 2, "without a path"),
        (["--public-url", "javascript:1", "--token", "auto"], 2, "is not a public address"),
        (["--token", "short"], 2, "at least 16 characters"),
        (["--token", "auto", "--token-file", "open"], 2, "both set the token"),
        (["--token-file", "open"], 2, "`chmod 600 open` prevents that."),
        (["--token-file", "absent"], 2, "Cannot read the token in absent"),
        (["--host", "256.1.1.1", "--token", "auto"], 1, "Cannot listen on 256.1.1.1"),
        (["--host", "no.such.invalid", "--token", "auto"], 1, "port 0: name or service not known."),
        (["--workspace", "absent"], 2, "There is no folder"),
    ],
)
def test_what_would_not_be_safe_is_refused(
    arguments: list[str], code: int, sentence: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "open").write_text("a token that all can read\n")
    (home / "open").chmod(0o644)
    assert exit_code(["serve", "--port", "0", *arguments]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err
    assert said.err.count("\n") <= 2


@pytest.mark.environment
def test_without_the_package_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert exit_code(["serve"]) == 1
    assert f"`{install_command('serve')}` installs it" in capsys.readouterr().err


def test_a_browser_is_led_there_without_others_seeing_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def opened(url: str) -> bool:
        page = Path(unquote(urlsplit(url).path))
        seen.extend(
            (url, page.read_text(), oct(stat.S_IMODE(page.stat().st_mode | page.parent.stat().st_mode)))
        )
        return True

    monkeypatch.setattr(webbrowser, "open", opened)
    address = ServerAddress("http://127.0.0.1:1", 'to"ken', shows_token=True)
    with browser_opener(Path()) as post:
        assert post(address)
    url, text, mode = seen
    assert "ken" not in Path(url).name
    assert address.url in text
    assert '"ken' not in text
    assert mode == "0o700"
    assert not Path(urlsplit(url).path).exists()


class Client:
    """What a page does, by hand."""

    def __init__(self, http: aiohttp.ClientSession, server: Served) -> None:
        self.http, self.server = http, server

    async def come_in(self) -> None:
        async with self.http.get(self.server.url) as answer:
            room = (await answer.text()).partition("url=")[2].partition('"')[0]
            self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        self.address = f"{self.server.origin}{room}ws?width=100&height=30"

    async def console(self) -> aiohttp.ClientWebSocketResponse:
        headers = {"Cookie": self.cookie, "Origin": self.server.origin}
        return await self.http.ws_connect(self.address, headers=headers)

    async def file(self, console: aiohttp.ClientWebSocketResponse, *typed: str) -> str:
        """What the console delivers when this is typed; the screen is asked for it before the last key."""
        *before, last = typed
        for keys in before:
            await console.send_str(json.dumps(["stdin", keys]))
        await read(console, "SVG picture")
        await console.send_str(json.dumps(["stdin", last]))
        while (message := await console.receive(15)).type is not aiohttp.WSMsgType.TEXT:
            assert message.type is aiohttp.WSMsgType.BINARY
        kind, key = json.loads(message.data)
        assert kind == "deliver_file_start"
        address = urljoin(self.server.origin, f"/download/{key}")  # as the page makes it
        async with self.http.get(address) as refused:
            assert refused.status == 401
        async with self.http.get(address, headers={"Cookie": self.cookie}) as answer:
            assert answer.headers["Content-Disposition"].startswith("attachment; ")
            return await answer.text()


async def read(socket: aiohttp.ClientWebSocketResponse, wanted: str = "") -> str:
    """What comes, until it holds what is wanted or the socket is shut."""
    text = ""
    try:
        async with asyncio.timeout(PATIENCE):
            while not wanted or wanted not in text:
                message = await socket.receive()
                if message.type is aiohttp.WSMsgType.BINARY:
                    text += message.data.decode("utf-8", "replace")
                elif message.type is not aiohttp.WSMsgType.TEXT:
                    assert not wanted, text
                    break
    except TimeoutError:
        pytest.fail(f"waited in vain for {wanted or 'the end'!r} in {text!r}")
    return text


async def last_words(socket: aiohttp.ClientWebSocketResponse) -> tuple[int, str]:
    """The code with which the socket is shut, and what the page is to tell then."""
    while (message := await socket.receive(PATIENCE)).type is not aiohttp.WSMsgType.CLOSE:
        assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT)
    return message.data, message.extra or ""


async def test_a_console_delivers_files_and_gives_its_place_back(served: Start) -> None:
    server: Served = await served("--sessions", "1")
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        client = Client(http, server)
        await client.come_in()
        one = await client.console()
        await read(one, "greet")
        code, said = await last_words(await client.console())
        assert code == aiohttp.WSCloseCode.OK
        assert said.startswith("No console is free (limit: 1). Close a page")
        for junk in (
            "",
            "[]",
            "{}",
            "nonsense",
            '["resize", {"width": "x"}]',
            '["resize", 1]',
            '["stdin", 1]',
            "[[]]",
            "[" * 200_000,
            '{"a":' * 100_000,
            '["ping", ' + "[" * 50_000 + "]" * 50_000 + "]",
            '{"stdin": 1, "q": 2}',  # no list, so no key
            '"stdin"',
            '["resize", {"width": -1, "height": NaN}]',
            '["resize", {"width": 1e999, "height": 9' + "9" * 10_000 + "}]",
            '["resize", {"width": true, "height": [[]]}]',
            '["resize", {"width": 1000000, "height": 0.5}]',
            '["resize", {"width": 100, "height": 30}]',
            '["blur", {}, 1]',
            '["unknown", "\\ud800"]',
            '["stdin", "' + "q" * 5_000_000 + '"]',  # more than anybody pastes
        ):
            await one.send_str(junk)
        await one.send_bytes(b'["stdin", "q"]')
        picture = await client.file(one, "\x10Screenshot", "\r")
        assert picture.startswith("<svg")
        assert "greet" in picture
        first = server.below()
        await one.send_str(json.dumps(["stdin", "q"]))
        assert await last_words(one) == (aiohttp.WSCloseCode.OK, "")  # the console has left
        await until(lambda: not alive(first))

        another = await client.console()
        await read(another, "greet")
        everything = server.below()
        assert server.consoles()
        told = asyncio.ensure_future(last_words(another))
        assert await server.end(signal.SIGINT) == 0
        assert not alive(everything)
        code, said = await told
        assert code == aiohttp.WSCloseCode.GOING_AWAY
        assert said.startswith("`hookscope serve` has ended. Start it again")


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: \x1b[31m\r\n\r\n",
        bytes.fromhex("160301020001000001fc0303"),  # the beginning of TLS
    ],
)
async def test_what_is_no_request_is_answered_and_prints_nothing(
    served: Start, sent: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    server = await served()
    address = urlsplit(server.origin)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(sent)
    said = await asyncio.wait_for(reader.readline(), PATIENCE)
    assert said.split()[1] in (b"400", b"421")  # older servers hand on two hosts: no host of ours
    writer.close()
    assert await server.end(signal.SIGINT) == 0
    assert capfd.readouterr().err == ""


async def test_no_console_outlives_a_server_that_is_killed(served: Start) -> None:
    server: Served = await served()
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        client = Client(http, server)
        await client.come_in()
        async with await client.console() as console:
            await console.receive(15)  # it has just begun, and so have its workers
            everything = server.below()
            assert server.consoles()
            await server.end(signal.SIGKILL)
            await until(lambda: not alive(everything))
