"""A browser without a window, controlled through its DevTools protocol. Needs only aiohttp."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-3d-apis",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--window-size=1120,700",
)
PATIENCE = 60.0
# No global variable holds the terminal: this keeps it as `caught` when its `_core` is set.
CATCH = """
Object.defineProperty(Object.prototype, "_core", {
  configurable: true,
  set(core) {
    Object.defineProperty(this, "_core", { value: core, writable: true, configurable: true });
    if (this.buffer !== undefined && this.loadAddon) window.caught = this;
  },
});
"""
SCREEN = """
(() => {
  const buffer = window.caught?.buffer?.active;
  if (!buffer) return "";
  return Array.from({ length: window.caught.rows }, (_, row) =>
    buffer.getLine(row)?.translateToString(true) ?? "").join("\\n");
})()
"""
COLOURS = """
(async () => {
  const picture = new Image();
  picture.src = "data:image/png;base64,%s";
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
  return seen.size;
})()
"""


def found() -> str | None:
    """Return the path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.requested: list[str] = []  # every requested address, also of web sockets
        self.errors: list[str] = []  # errors in its console, also of its security policy
        self._listening = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        async for message in self._socket:
            said = message.json()
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said)
                continue
            about = said["params"]
            if said["method"] == "Network.requestWillBeSent":
                self.requested.append(about["request"]["url"])
            elif said["method"] == "Network.webSocketCreated":
                self.requested.append(about["url"])
            elif said["method"] == "Log.entryAdded" and about["entry"]["level"] == "error":
                self.errors.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
            elif said["method"] == "Runtime.exceptionThrown":
                self.errors.append(str(about["exceptionDetails"]))

    async def ask(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol, and return its result."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        said = await asyncio.wait_for(answer, PATIENCE)
        assert "error" not in said, said
        return said["result"]

    async def value(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        done = await self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def go(self, address: str) -> None:
        await self.ask("Page.navigate", url=address)

    async def screen(self, *wanted: str) -> str:
        """Wait until the terminal shows all these texts; return its text."""
        text = ""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while not text or not all(words in text for words in wanted):
                    await asyncio.sleep(0.05)
                    with suppress(AssertionError):  # while another page loads
                        text = await self.value(SCREEN)
                return text
        pytest.fail(f"{wanted} did not come:\n{text}")

    async def says(self, wanted: str) -> None:
        """Wait until the page itself, not its terminal, shows this text."""
        said = ""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while wanted not in said:
                    await asyncio.sleep(0.05)
                    said = await self.value("document.body.innerText")
                return
        pytest.fail(f"{wanted!r} did not come: {said!r}")

    async def colours(self) -> int:
        """Return the number of colours on a screenshot."""
        picture = await self.ask("Page.captureScreenshot")
        number: int = await self.value(COLOURS % picture["data"])
        return number

    async def press(self, key: str, *, ctrl: bool = False) -> None:
        """Press and release a key."""
        about = {"key": key, "code": f"Key{key.upper()}", "windowsVirtualKeyCode": ord(key.upper())}
        typed = {} if ctrl else {"text": key}
        held = 2 if ctrl else 0
        await self.ask("Input.dispatchKeyEvent", type="keyDown", modifiers=held, **about, **typed)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", modifiers=held, **about)

    async def close(self) -> None:
        await self._socket.close()
        await self._listening


class Browser:
    """A browser with an empty profile."""

    def __init__(self, http: aiohttp.ClientSession, debugging: str) -> None:
        self._http = http
        self._debugging = debugging

    async def page(self) -> Page:
        """Open a tab and return it."""
        async with self._http.put(f"{self._debugging}/json/new?about:blank") as answer:
            target = await answer.json(content_type=None)
        page = Page(await self._http.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0))
        page.target = target["id"]  # type: ignore[attr-defined]
        for domain in ("Page", "Network", "Runtime", "Log"):
            await page.ask(f"{domain}.enable")
        await page.ask("Page.addScriptToEvaluateOnNewDocument", source=CATCH)
        return page

    async def shut(self, page: Page) -> None:
        """Close a tab as a user does."""
        async with self._http.get(f"{self._debugging}/json/close/{page.target}") as answer:  # type: ignore[attr-defined]
            await answer.read()
        await page.close()


@asynccontextmanager
async def browser(program: str, folder: Path) -> AsyncIterator[Browser]:
    """Start a browser that ends with the block."""
    process = await asyncio.create_subprocess_exec(
        program,
        *FLAGS,
        f"--user-data-dir={folder}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        port = folder / "DevToolsActivePort"
        try:
            async with asyncio.timeout(PATIENCE):
                while not (port.is_file() and port.read_text().count("\n")):
                    if process.returncode is not None:
                        raise TimeoutError
                    await asyncio.sleep(0.05)  # nothing signals a new file
        except TimeoutError:
            pytest.skip(f"{program} does not start here")
        async with aiohttp.ClientSession() as http:
            yield Browser(http, f"http://127.0.0.1:{port.read_text().splitlines()[0]}")
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
