"""Decide whether a request may pass. Pure: a request's facts against the server's rules."""

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
SHORTEST_TOKEN = 16  # characters of a token that its user made up
_PLAIN_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]+")
SAME_ORIGIN_VALUES = frozenset({"same-origin", "none"})  # none: typed, or chosen from the bookmarks


def new_token() -> str:
    """A new token: 256 random bits, in characters that an address may have."""
    return secrets.token_urlsafe(32)


def equal_in_constant_time(one: str, other: str) -> bool:
    """Are they equal; takes as long for any two texts of any lengths."""
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (one, other)]
    return hmac.compare_digest(*digests)


def is_loopback(host: str) -> bool:
    """Does this name or address lead to this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class AccessRules:
    """What a server knows of those who may come in."""

    host: str  # that it listens on
    token: str = field(repr=False)
    public: str = ""  # the origin that others reach it under, `https://hooks.example`
    key: str = field(default_factory=new_token, repr=False)  # the cookie's value
    room: str = field(
        default_factory=lambda: f"/{secrets.token_urlsafe(16)}/", repr=False
    )  # the cookie's path

    @property
    def secure(self) -> bool:
        """Do browsers come by TLS, so that the cookie never goes without."""
        return self.public.startswith("https://")

    def answers_to(self, host: str) -> bool:
        """Is this `Host` one of ours. A name that is not may be a stranger's that leads here.

        Of the port nothing is asked: it is another one where somebody forwards it.
        """
        try:
            parts = urlsplit(f"//{host}")
            name, _ = parts.hostname or "", parts.port  # which raises for what is no number
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
        """Is this the `Origin` of our own page, asked for under this `Host`."""
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
    """What of a request decides."""

    path: str
    host: str
    method: str = "GET"
    tokens: tuple[str, ...] = ()  # of the address
    cookie: str | None = None
    origin: str | None = None
    site: str | None = None  # `Sec-Fetch-Site`: whose page asks, as far as the browser says
    socket: bool = False  # wants a websocket


def request_facts(
    path: str,
    method: str,
    headers: Mapping[str, str],
    query: tuple[str, ...],
    cookies: Mapping[str, str],
) -> RequestFacts:
    """What of a request decides whether it may pass; all else is left unread."""
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
    """What comes of a request."""

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
    """May it come in. Without the token every path gets the same answer, there or not."""
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
