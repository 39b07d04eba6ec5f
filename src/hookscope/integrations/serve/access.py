"""Decide whether a request is allowed: a request's facts against the server's rules. Pure."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from ipaddress import ip_address
from urllib.parse import urlsplit

COOKIE_NAME = "hookscope"
SHORTEST_TOKEN = 16  # characters of a token chosen by the user
_PLAIN_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]+")
SAME_ORIGIN_VALUES = frozenset({"same-origin", "none"})  # none: typed, or from a bookmark


def new_token() -> str:
    """Return a new token: 256 random bits, in characters that are valid in an address."""
    return secrets.token_urlsafe(32)


def equal_in_constant_time(one: str, other: str) -> bool:
    """Return True if both are equal. Takes the same time for texts of any length."""
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (one, other)]
    return hmac.compare_digest(*digests)


def is_loopback(host: str) -> bool:
    """Return True if this name or address reaches this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The addresses, the token and the cookie that a server accepts."""

    host: str  # the address the server listens on
    token: str = field(repr=False)
    public: str = ""  # the origin for other machines, such as `https://hooks.example`
    key: str = field(default_factory=new_token, repr=False)  # the cookie's value
    room: str = field(
        default_factory=lambda: f"/{secrets.token_urlsafe(16)}/", repr=False
    )  # the cookie's path

    @property
    def secure(self) -> bool:
        """True if browsers connect by TLS; the cookie is then never sent without it."""
        return self.public.startswith("https://")

    def answers_to(self, host: str) -> bool:
        """Return True if this `Host` header is ours. An unknown name may be an attacker's that resolves here.

        The port is not checked: it differs when somebody forwards it.
        """
        try:
            parts = urlsplit(f"//{host}")
            name, _ = parts.hostname or "", parts.port  # `port` raises ValueError if it is not a number
        except ValueError:
            return False
        if not name or not _PLAIN_HOST.fullmatch(host):
            return False
        if is_loopback(name) or name == self.host.strip("[]").lower():
            return True
        if self.public and name == urlsplit(self.public).hostname:
            return True
        return _is_every_address(self.host) and _is_address(name)

    def own_origin(self, origin: str, host: str) -> bool:
        """Return True if `origin` is our own page, requested under this `Host`."""
        return origin == f"http://{host}" or (bool(self.public) and origin == self.public)


def _is_every_address(host: str) -> bool:
    return _is_address(host) and ip_address(host.strip("[]")).is_unspecified


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """The facts of a request that decide whether it is allowed."""

    path: str
    host: str
    method: str = "GET"
    tokens: tuple[str, ...] = ()  # from the query string
    cookie: str | None = None
    origin: str | None = None
    site: str | None = None  # `Sec-Fetch-Site`: relation of the requesting page, if the browser sends it
    socket: bool = False  # asks for a websocket


def request_facts(
    path: str,
    method: str,
    headers: Mapping[str, str],
    query: tuple[str, ...],
    cookies: Mapping[str, str],
) -> RequestFacts:
    """Return the facts of a request that decide whether it is allowed; the rest is not read."""
    return RequestFacts(
        path,
        headers.get("Host", ""),
        method,
        query,
        cookies.get(COOKIE_NAME),
        headers.get("Origin"),
        headers.get("Sec-Fetch-Site"),
        "websocket" in headers.get("Upgrade", "").lower(),
    )


class AccessDecision(Enum):
    """The decision about a request; the value of a refusal is the text of the response."""

    COME_IN = "the token is right: a cookie is given"
    PASS = "the cookie is right"
    NOT_OURS = "Nothing answers to this name here; `hookscope serve --public-url` adds one."
    ONLY_READ = "There is nothing here to be written."
    NO_TOKEN = "This address wants its token: open it as `hookscope serve` has printed it."
    WRONG_TOKEN = "That is not the token."
    STRANGE_PAGE = "Another page asks, and is not answered."


STATUS_CODES: Mapping[AccessDecision, int] = {
    AccessDecision.NOT_OURS: 421,
    AccessDecision.ONLY_READ: 405,
    AccessDecision.NO_TOKEN: 401,
    AccessDecision.WRONG_TOKEN: 403,
    AccessDecision.STRANGE_PAGE: 403,
}
"""Of the refusals; the decision's own text is what is said."""


def decide_access(door: AccessRules, asked: RequestFacts) -> AccessDecision:
    """Decide whether a request is allowed.

    Without the token every path gets the same response, whether it exists or not.
    """
    if not door.answers_to(asked.host):
        return AccessDecision.NOT_OURS
    if asked.method not in ("GET", "HEAD"):
        return AccessDecision.ONLY_READ
    if asked.path == "/" and asked.tokens:
        right = len(asked.tokens) == 1 and equal_in_constant_time(asked.tokens[0], door.token)
        return AccessDecision.COME_IN if right else AccessDecision.WRONG_TOKEN
    inside = asked.path.startswith(door.room)
    if asked.cookie is None or not equal_in_constant_time(asked.cookie, door.key) or not inside:
        return AccessDecision.NO_TOKEN
    if asked.site is not None and asked.site not in SAME_ORIGIN_VALUES:
        return AccessDecision.STRANGE_PAGE
    if asked.origin is None:
        return AccessDecision.STRANGE_PAGE if asked.socket else AccessDecision.PASS
    return AccessDecision.PASS if door.own_origin(asked.origin, asked.host) else AccessDecision.STRANGE_PAGE
