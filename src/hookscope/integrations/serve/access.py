"""Decide whether the server's rules allow a request. All functions are pure."""

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


def equal_in_constant_time(left: str, right: str) -> bool:
    """Return True if both are equal. Takes the same time for texts of any length."""
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (left, right)]
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
    public_origin: str = ""  # the origin for other machines, such as `https://hooks.example`
    cookie_value: str = field(default_factory=new_token, repr=False)  # the cookie's value
    # the cookie's path
    base_path: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(16)}/", repr=False)

    @property
    def uses_tls(self) -> bool:
        """True if browsers connect by TLS; the cookie is then never sent without it."""
        return self.public_origin.startswith("https://")

    def is_own_host(self, host: str) -> bool:
        """Return True if this `Host` header is ours. Another name may be an attacker's that resolves to us.

        The port is not checked: it differs if the connection is forwarded.
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
        if self.public_origin and name == urlsplit(self.public_origin).hostname:
            return True
        return _is_every_address(self.host) and _is_address(name)

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Return True if `origin` is our own page, requested under this `Host`."""
        return origin == f"http://{host}" or (bool(self.public_origin) and origin == self.public_origin)


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
    # `Sec-Fetch-Site`: relation of the requesting page, if the browser sends it
    fetch_site: str | None = None
    wants_websocket: bool = False


def request_facts(
    path: str, method: str, headers: Mapping[str, str], query: tuple[str, ...], cookies: Mapping[str, str]
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

    GRANT_COOKIE = "the token is right: a cookie is set"
    ALLOW = "the cookie is right"
    UNKNOWN_HOST = "This server does not use that host name; `hookscope serve --public-url` adds one."
    READ_ONLY = "Only GET and HEAD requests are allowed."
    NO_TOKEN = "A token is missing: open the address that `hookscope serve` printed."
    WRONG_TOKEN = "The token is wrong."
    CROSS_ORIGIN = "Requests from other pages are refused."


STATUS_CODES: Mapping[AccessDecision, int] = {
    AccessDecision.UNKNOWN_HOST: 421,
    AccessDecision.READ_ONLY: 405,
    AccessDecision.NO_TOKEN: 401,
    AccessDecision.WRONG_TOKEN: 403,
    AccessDecision.CROSS_ORIGIN: 403,
}
"""The status code of each refusal; the decision's value is the text of the response."""


def decide_access(rules: AccessRules, request: RequestFacts) -> AccessDecision:
    """Decide whether a request is allowed. Without the token, missing paths get the same response too."""
    if not rules.is_own_host(request.host):
        return AccessDecision.UNKNOWN_HOST
    if request.method not in ("GET", "HEAD"):
        return AccessDecision.READ_ONLY
    if request.path == "/" and request.tokens:
        is_right = len(request.tokens) == 1 and equal_in_constant_time(request.tokens[0], rules.token)
        return AccessDecision.GRANT_COOKIE if is_right else AccessDecision.WRONG_TOKEN
    below_base = request.path.startswith(rules.base_path)
    if (
        request.cookie is None
        or not equal_in_constant_time(request.cookie, rules.cookie_value)
        or not below_base
    ):
        return AccessDecision.NO_TOKEN
    if request.fetch_site is not None and request.fetch_site not in SAME_ORIGIN_VALUES:
        return AccessDecision.CROSS_ORIGIN
    if request.origin is None:
        return AccessDecision.CROSS_ORIGIN if request.wants_websocket else AccessDecision.ALLOW
    return (
        AccessDecision.ALLOW
        if rules.is_own_origin(request.origin, request.host)
        else AccessDecision.CROSS_ORIGIN
    )
