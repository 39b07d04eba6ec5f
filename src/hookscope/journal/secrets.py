"""Secrets in what is about to be stored: found, and named. `veil` masks them. Pure.

Two signs make a secret: it stands under a key that says so (`apiKey`, `DB_PASSWORD`, `set-cookie`), or
it looks like one (`ghp_…`, a JWT, a private key). A value found anywhere is then masked everywhere. In
doubt a value stays readable: a journal full of masks helps nobody find a fault.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache

from hookscope.journal.secret_shapes import BY_COLON, RARE_HINTS, SHAPES
from hookscope.patterns import pattern
from hookscope.values import dataclass

SECRET_WORDS = (
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "authorization",
    "cookie",
    "credential",
    "apikey",
    "privatekey",
    "secretkey",
    "accesskey",
)
SECRET_KEYS = {"api", "private", "secret", "access", "signing", "encryption", "master"}  # … key
ADDRESSES = {"continuation"}  # … token: says where a session goes on; Eve asks for authority besides
TRAILERS = {"value", "header", "old", "new"}  # `cookieHeader` is as secret as `cookie`
WORD = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
LONGEST_KEY = 64
KEY = pattern(rf"[\w .:/-]{{1,{LONGEST_KEY}}}")  # longer ones, or with line ends, are texts and no names
REFERENCE = pattern(r"\$\{[^{}]*\}")


# `--api-key=abc123` and `"token": "abc123"` inside a text. A digit, so that code and prose stay readable.
ASSIGNED = pattern(
    r"""[\w-](?<![\w-].)(?P<rest>[\w-]{1,59})["']?(?:=|: ?)["']?"""
    r"""(?P<value>(?=[^\s"'&,;]{0,200}\d)[^\s"'&,;()<>{}$]{6,})"""
)
ASSIGNED_HINTS = (*SECRET_WORDS, "key")  # as a shape's
LONG = pattern(r"[A-Za-z0-9_-]{32,}={0,2}")
KINDS = (pattern("[0-9]"), pattern("[a-z]"), pattern("[A-Z]"))
PARTS = "/+.:-"  # beside one of these, a long word is a part of something else: a path, a digest, an image
RANDOM_BITS = 4.2  # a character; hexadecimal digests and UUIDs have 4.0 at most, English names less
IDENTIFIERS = {"id", "ids", "hash", "digest", "commit", "sha", "checksum", "integrity", "etag", "revision"}
SHORTEST = 8  # characters; no shape fits into less


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not reach the disk, and the name that stands for it."""

    name: str
    value: str = field(repr=False)


def is_secret_key(key: str) -> bool:
    """Does the key say that its value is a secret, in whatever style it is written?"""
    return len(key) <= LONGEST_KEY and _says_secret(key)


@lru_cache(maxsize=2048)  # the same few keys stand in most documents
def _says_secret(key: str) -> bool:
    words = _words_of(key)
    if not words or not ADDRESSES.isdisjoint(words[-2:-1]):
        return False
    last = words[-1].removesuffix("s")
    return last.endswith(SECRET_WORDS) or (last == "key" and len(words) > 1 and words[-2] in SECRET_KEYS)


@lru_cache(maxsize=2048)
def _words_of(key: str) -> tuple[str, ...]:
    """The words of a key of at most LONGEST_KEY characters; none of what is a text and no key."""
    if KEY.fullmatch(key) is None:
        return ()
    words = [word.lower() for word in WORD.findall(key)]
    while len(words) > 1 and (words[-1] in TRAILERS or words[-1].isdigit()):
        words.pop()
    return tuple(words)


def secrets_in(value: object, path: tuple[str, ...] = (), *, secret: bool = False) -> Iterator[Secret]:
    """All secrets of a plain value. Named after their keys; those of a bare text after what they look like.

    Args:
        secret: a key above the value says that it is one.
    """
    match value:
        case Mapping():
            for key, item in value.items():
                yield from _in_key(str(key))
                below = secret or holds_secrets(str(key), item)
                yield from secrets_in(item, (*path, str(key)), secret=below)
        case list() | tuple():
            for index, item in enumerate(value):
                yield from secrets_in(item, (*path, str(index)) if path else (), secret=secret)
        case str() | int() | float() if secret and (text := secret_text(value)):
            yield Secret(_name_of(path), text)
            # `Bearer …` as a whole, and what follows it: a handler prints the one or the other.
            yield from (inner for inner in _in_text(text, path) if inner.value != text)
        case str():
            yield from _in_text(value, path)


def holds_secrets(key: str, value: object) -> bool:
    """Does the key say that all below it is secret? Numbers under a plural are counts: `maxTokens: 4096`."""
    counted = isinstance(value, int | float) and key.lower().endswith("s")
    return is_secret_key(key) and not counted


def secret_text(value: str | float) -> str:
    """What is to be hidden of a value under a secret's key; empty where there is nothing to hide."""
    if isinstance(value, bool):
        return ""
    text = str(value)
    telling = any(char.isalnum() for char in text) and REFERENCE.fullmatch(text) is None
    return text if telling else ""


def _in_key(key: str) -> Iterable[Secret]:
    if len(key) < SHORTEST:
        return ()
    return _in_short_key(key) if len(key) <= LONGEST_KEY else _in_text(key, ())


@lru_cache(maxsize=2048)
def _in_short_key(key: str) -> tuple[Secret, ...]:
    return tuple(_in_text(key, ()))


def _in_text(text: str, path: tuple[str, ...]) -> Iterator[Secret]:
    if len(text) < SHORTEST:
        return
    lower = text.lower()
    holds = lower.__contains__
    for shape in SHAPES if any(map(holds, RARE_HINTS)) else BY_COLON:
        if any(map(holds, shape.hints)):
            for match in shape.pattern.finditer(text):
                yield Secret(_name_of(path) if path else shape.name, match[match.lastindex or 0])
            text = shape.pattern.sub(" ", text)  # what is found once is not found again as something else
    if any(map(holds, ASSIGNED_HINTS)):
        for match in ASSIGNED.finditer(text):
            key = text[match.start() : match.end("rest")]
            if is_secret_key(key):
                yield Secret(_name_of((key,)), match["value"])
    for match in () if _identifies(path) else LONG.finditer(text):
        beside = text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
        if not any(char in PARTS or char.isalnum() for char in beside) and _is_random(match[0]):
            yield Secret(_name_of(path) if path else "RANDOM", match[0])


def _identifies(path: tuple[str, ...]) -> bool:
    """Does the last key announce a value that is long and random, and known to all?"""
    return (
        bool(path) and len(path[-1]) <= LONGEST_KEY and not IDENTIFIERS.isdisjoint(_words_of(path[-1])[-1:])
    )


def _is_random(text: str) -> bool:
    """Does it look drawn from a hat? Digits must be strewn in, which they are not in names with a date."""
    if not all(kind.search(text) for kind in KINDS):
        return False
    strewn = len(re.findall(r"\d+", text)) >= 3 and 12 * len(re.findall(r"[_-]", text)) <= len(text)
    return strewn and not text.startswith("sha") and _bits(text) >= RANDOM_BITS


def _bits(text: str) -> float:
    """Shannon's entropy, in bits a character."""
    shares = (count / len(text) for count in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares)


def _name_of(path: tuple[str, ...]) -> str:
    """The name from the keys that lead there; a key that is a secret itself is left out."""
    telling = (key for key in path if KEY.fullmatch(key) and not any(_in_text(key, ())))
    words = (word.upper() for key in telling for word in WORD.findall(key))
    return "_".join(words) or "VALUE"
