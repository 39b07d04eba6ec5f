"""Who may come in: the policy, and that every route is behind it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from hookscope.app.options import Options, options_from_text, options_to_text
from hookscope.integrations.serve.access import (
    COOKIE_NAME,
    AccessDecision,
    AccessRules,
    RequestFacts,
    decide_access,
)
from hookscope.integrations.serve.routes import ConsoleRoutes

TOKEN = "correct horse battery"
DOOR = AccessRules("127.0.0.1", TOKEN)
HOST = "127.0.0.1:4665"
PAGE = RequestFacts(DOOR.base_path, HOST, cookie=DOOR.cookie_value, fetch_site="same-origin")
SOCKET = replace(
    PAGE, path=f"{DOOR.base_path}ws", origin=f"http://{HOST}", fetch_site=None, wants_websocket=True
)
ENTRANCE = RequestFacts("/", HOST, tokens=(TOKEN,), fetch_site="cross-site")  # a link in a chat leads here


@pytest.mark.parametrize(
    "asked",
    [
        PAGE,
        SOCKET,
        replace(PAGE, fetch_site=None),
        replace(PAGE, fetch_site="none"),
        replace(PAGE, method="HEAD"),
        replace(PAGE, path=f"{DOOR.base_path}download/x"),
        replace(PAGE, host="localhost:4665", origin="http://localhost:4665"),
        replace(PAGE, host="[::1]:9000"),
        replace(SOCKET, host="127.0.0.1:9000", origin="http://127.0.0.1:9000"),  # forwarded by ssh
    ],
)
def test_our_own_page_passes(asked: RequestFacts) -> None:
    assert decide_access(DOOR, asked) is AccessDecision.ALLOW


@pytest.mark.parametrize(
    ("asked", "decision"),
    [
        (replace(ENTRANCE, tokens=("correct horse batterz",)), AccessDecision.WRONG_TOKEN),
        (replace(ENTRANCE, tokens=("",)), AccessDecision.WRONG_TOKEN),
        (replace(ENTRANCE, tokens=("\ud800",)), AccessDecision.WRONG_TOKEN),
        (replace(ENTRANCE, tokens=(TOKEN, "x")), AccessDecision.WRONG_TOKEN),
        (replace(ENTRANCE, tokens=()), AccessDecision.NO_TOKEN),
        (replace(ENTRANCE, tokens=(), cookie=DOOR.cookie_value), AccessDecision.NO_TOKEN),
        (replace(ENTRANCE, path="/ws"), AccessDecision.NO_TOKEN),
        (replace(ENTRANCE, host="evil.example:4665"), AccessDecision.UNKNOWN_HOST),
        (replace(ENTRANCE, method="POST"), AccessDecision.READ_ONLY),
        (replace(PAGE, cookie=None), AccessDecision.NO_TOKEN),
        (replace(PAGE, cookie=None, tokens=(TOKEN,)), AccessDecision.NO_TOKEN),
        (replace(PAGE, cookie=TOKEN), AccessDecision.NO_TOKEN),
        (replace(PAGE, cookie=DOOR.cookie_value[:-1]), AccessDecision.NO_TOKEN),
        (replace(PAGE, path="/static/js/textual.js"), AccessDecision.NO_TOKEN),
        (replace(PAGE, fetch_site="cross-site"), AccessDecision.CROSS_ORIGIN),
        (replace(PAGE, fetch_site="same-site"), AccessDecision.CROSS_ORIGIN),  # another port of this machine
        (replace(PAGE, origin="http://127.0.0.1:9999"), AccessDecision.CROSS_ORIGIN),
        (replace(SOCKET, origin=None), AccessDecision.CROSS_ORIGIN),
        (replace(SOCKET, origin="null"), AccessDecision.CROSS_ORIGIN),
        (replace(SOCKET, origin="https://evil.example"), AccessDecision.CROSS_ORIGIN),
        (replace(SOCKET, origin="http://127.0.0.1:46650"), AccessDecision.CROSS_ORIGIN),
        (replace(SOCKET, origin="http://localhost:4665"), AccessDecision.CROSS_ORIGIN),
        (replace(SOCKET, origin="https://127.0.0.1:4665"), AccessDecision.CROSS_ORIGIN),
    ],
)
def test_all_others_stay_outside(asked: RequestFacts, decision: AccessDecision) -> None:
    assert decide_access(DOOR, asked) is decision


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:4665",
        "127.0.0.1@evil.example",
        "evil.example@127.0.0.1",
        "127.0.0.1:4665, evil.example",
        "127.0.0.1:80;script-src *",
        "[::1",
        "127.0.0.1:port",
        "10.0.0.1",
    ],
)
def test_a_name_that_somebody_else_gave_this_machine_is_not_answered(host: str) -> None:
    assert decide_access(DOOR, replace(PAGE, host=host)) is AccessDecision.UNKNOWN_HOST


def test_other_machines_come_by_address_or_by_the_public_name() -> None:
    door = AccessRules("0.0.0.0", TOKEN, "https://hooks.example")
    assert door.uses_tls
    assert door.is_own_host("10.0.0.1:4665")  # an address is nobody's to lend
    assert door.is_own_host("hooks.example")
    assert not door.is_own_host("evil.example")
    assert door.is_own_origin("https://hooks.example", "127.0.0.1:4665")
    assert not door.is_own_origin("http://hooks.example", "127.0.0.1:4665")


async def test_every_route_is_behind_the_door() -> None:
    house = ConsoleRoutes(DOOR, "", 1)
    async with TestClient(TestServer(house.app()), cookie_jar=aiohttp.DummyCookieJar()) as client:
        routes = ("", "ws", "download/1", "page/page.js", "static/js/textual.js", "static/", "nowhere")
        outside = {f"{DOOR.base_path}{route}" for route in routes} | {"/", "/ws", "/static", "/nowhere"}
        said = set()
        for path in outside:
            answer = await client.get(path)
            assert answer.status == 401
            said.add((await answer.text(), answer.headers["Server"], answer.headers["X-Frame-Options"]))
        assert len(said) == 1  # nobody learns what there is

        welcome = await client.get("/", params={"token": TOKEN})
        cookie = welcome.cookies[COOKIE_NAME]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", DOOR.base_path)
        assert TOKEN not in str(welcome.headers) + await welcome.text()
        wrong = await client.get("/", params={"token": TOKEN[:-1]})
        assert (wrong.status, wrong.cookies.get(COOKIE_NAME)) == (403, None)

        inside: Mapping[str, str] = {"Cookie": f"{COOKIE_NAME}={cookie.value}"}
        statuses = {
            route: (await client.get(DOOR.base_path + route, headers=inside)).status for route in routes
        }
        assert statuses == {
            **dict.fromkeys(routes, 404),
            **dict.fromkeys(("", "page/page.js", "static/js/textual.js"), 200),
            "ws": 400,
            "static/": 403,
        }
        upgrade = {**inside, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
        for origin in ({}, {"Origin": "http://127.0.0.1:9999"}):
            strange = await client.get(f"{DOOR.base_path}ws", headers={**upgrade, **origin})
            assert strange.status == 403
        page = await client.get(DOOR.base_path, headers=inside)
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "//" not in (await page.text()).replace("<!DOCTYPE html>", "")  # no address of another machine
        escape = await client.get(f"{DOOR.base_path}static/%2e%2e/server.py", headers=inside)
        assert escape.status in (403, 404)


def test_options_arrive_as_they_were() -> None:
    options = Options(
        dialect="milady", workspace=None, home=None, env={"A": "'; $(x) \n\udcff"}, clean_env=True, path="+/x"
    )
    full = replace(options, workspace=Path("/a b/\udcff"), supposed=frozenset({"os"}))
    assert options_from_text(options_to_text(options)) == options
    assert options_from_text(options_to_text(full)) == full
