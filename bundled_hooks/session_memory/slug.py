"""Chooses a few words for a file name: words from an endpoint, or words of the conversation."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

WORDS = 6
LENGTH = 60  # characters of a slug
READ = 4000  # characters of a text that are used
ANSWER = 256 * 1024  # bytes of the endpoint's answer
PROMPT = "Name the subject of this conversation in two to five English words. Answer with those words only."
COMMON = """
a about all am an and any are as at be been but by can cant could did do does dont for from get got
had has have hello help hey hi how i if im in into is it its ive just know let lets like me my need
no not now of ok on or our out please should so some tell thanks that the their them then there
these they this to up us want was we were what when where which who why will with would yes you your
"""
STOP_WORDS = frozenset(COMMON.split())


def slug_of(text: str, leave_out: frozenset[str] = frozenset()) -> str:
    """Return a few ASCII words of the text, joined by hyphens; empty if it has none."""
    ascii_only = unicodedata.normalize("NFKD", text[:READ]).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_only.lower().replace("'", ""))
    kept = [word for word in words if word not in leave_out]
    return "-".join(kept[:WORDS])[:LENGTH].rstrip("-")


def ask(llm: dict[str, Any], conversation: str, seconds: float) -> str:
    """Return the slug that an OpenAI-compatible endpoint suggests. Raises an Exception if that fails."""
    for name in ("baseUrl", "model"):
        if not isinstance(llm.get(name), str):
            raise ValueError(f"`llm.{name}` must be a string")
    if not llm["baseUrl"].startswith(("http://", "https://")):  # urlopen would read local files too
        raise ValueError("`llm.baseUrl` must start with http:// or https://")
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": conversation[-READ:]}]
    body = json.dumps({"model": llm["model"], "messages": messages}).encode()
    address = llm["baseUrl"].rstrip("/") + "/chat/completions"
    request = Request(address, body, {"Content-Type": "application/json"})
    if llm.get("apiKeyEnv"):
        # Unredirected, so that the key is sent only to the configured endpoint.
        request.add_unredirected_header("Authorization", f"Bearer {key_in(str(llm['apiKeyEnv']))}")
    try:
        with urlopen(request, timeout=seconds) as response:
            return words_in(response.read(ANSWER))
    except HTTPError as error:
        with error:  # closes the connection
            raise ValueError(f"it returned {error.code} {error.reason}") from None


def key_in(variable: str) -> str:
    """Return the key. Raises ValueError if it is invalid in a header: urllib's own error would print it."""
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise ValueError(f"the variable {variable} does not contain a usable key")
    return key


def words_in(answer: bytes) -> str:
    try:
        slug = slug_of(json.loads(answer)["choices"][0]["message"]["content"])
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ValueError("the answer is not a chat completion") from None
    if not slug:
        raise ValueError("the answer contains no words")
    return slug
