"""The console in a real browser."""

import os
import signal
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.integrations.serve.browser import browser, found
from tests.integrations.serve.conftest import Served, alive, environment, until

from hookscope.console.browser_process import TEXTUAL_ENVIRONMENT
from hookscope.integrations.serve.server import ServerAddress, browser_opener

PROGRAM = found()


@pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH")
async def test_a_hook_is_fired_at_from_a_page(
    served: Callable[..., Any], greeting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    led: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: not led.append(url))  # type: ignore[func-returns-value]
    server: Served = await served()
    assert PROGRAM is not None
    async with browser(PROGRAM, tmp_path / "browser") as chromium:
        page = await chromium.page()
        # From a file, as with `--open`: to the browser, the file is another site.
        with browser_opener(tmp_path / "workspace") as post:
            assert post(ServerAddress(server.origin, server.url.partition("=")[2], shows_token=True))
            await page.go(led[0])
            await page.screen("greet")
        shown = await page.screen("greet", "command-logger", "ready", "enter Why")  # the list has the focus
        assert max(map(len, shown.splitlines())) > 100
        assert await page.colours() > 20  # also drawn, not only in the terminal's buffer
        splash = "document.getElementById('starting')"
        assert "starting the console" in await page.value(f"{splash}.textContent")
        assert await page.value(f"getComputedStyle({splash}).display") == "none"  # the console replaced it
        assert server.url not in await page.value("location.href")  # the token has left the address
        assert await page.value("document.cookie") == ""

        await page.value("window.dispatchEvent(new Event('load'))")  # may come this late
        await page.press("f")
        await page.screen("command:new", "3 would run")
        assert [urlsplit(url).scheme for url in page.requested].count("ws") == 1
        await page.press("r", ctrl=True)
        await page.screen("✓ 3 handlers ran")
        first = server.consoles()
        everything = server.below()
        assert len(first) == 1
        added = [f"\0{name}=".encode() for name in TEXTUAL_ENVIRONMENT if name not in os.environ]
        assert added  # hooks see the environment as it was
        assert not [pid for pid in everything for one in added if one in b"\0" + environment(pid)]

        await page.ask("Page.reload")
        await until(lambda: not alive(everything & first))
        await page.screen("greet", "ready")
        again = server.consoles()
        assert len(again) == 1
        assert not again & first

        await page.press("q")
        await until(lambda: not alive(again))
        await page.says("This console has ended.")
        await page.press("\r")  # the button that opens it again has the focus
        await page.screen("greet", "ready")

        everything |= server.below()
        await chromium.shut(page)
        await until(lambda: not alive(everything))
        assert page.errors == []
        strangers = [url for url in page.requested if urlsplit(url).hostname != "127.0.0.1"]
        assert [url for url in strangers if not url.startswith(("data:", "about:", "file:"))] == []

        left = await chromium.page()
        await left.go(server.url)
        await left.screen("greet")
        assert await server.end(signal.SIGINT) == 0
        await left.says("`hookscope serve` has ended.")
    assert not [*greeting.parent.glob("**/pwned")]
