"""Secrets in what is about to be stored: found, named, and replaced by `${SECRET:NAME}`. Pure.

Two signs make a secret: it stands under a key that says so (`apiKey`, `DB_PASSWORD`, `set-cookie`), or
it looks like one (`ghp_…`, a JWT, a private key). A value found anywhere is then masked everywhere. In
doubt a value stays readable: a journal full of masks helps nobody find a fault.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

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
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
LONGEST_KEY = 64
KEY = re.compile(rf"[\w .:/-]{{1,{LONGEST_KEY}}}")  # longer ones, or with line ends, are texts and no names
REFERENCE = re.compile(r"\$\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of secret looks like. The pattern's first group is the secret, else all of it is.

    One of the hints stands in every text that the pattern is found in, in lower case. They are what
    makes it cheap: a megabyte of output is not searched a dozen times.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(name: str, hints: str, pattern: str) -> Shape:
    return Shape(name, tuple(hints.split()), re.compile(pattern, re.DOTALL))


SHAPES = (
    # Cut output may lack the end: then all that follows is the key.
    _shape(
        "PRIVATE_KEY",
        "-----begin",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    ),
    _shape("JWT", "eyj", r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    _shape(
        "AUTHORIZATION",
        "bearer basic",
        r"(?i:\bbearer|\bbasic) {1,4}(?=[^\s\d=]*[\d=])([\w.~+/-]{8,}={0,2})",
    ),
    _shape("API_KEY", "sk- sk_ rk- rk_", r"(?<![\w-])[sr]k[-_](?=[A-Za-z_-]*\d)[\w-]{16,}"),
    _shape("GITHUB_TOKEN", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?<!\w)gh[pousr]_[A-Za-z0-9]{20,}"),
    _shape("GITHUB_TOKEN", "github_pat_", r"(?<!\w)github_pat_\w{20,}"),
    _shape("GITLAB_TOKEN", "glpat-", r"(?<![\w-])glpat-[\w-]{16,}"),
    _shape("SLACK_TOKEN", "xox xapp-", r"(?<!\w)(?:xox[a-z]-[\w-]{10,}|xapp-\d[\w-]{10,})"),
    _shape("AWS_KEY", "akia asia", r"(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)"),
    _shape("GOOGLE_KEY", "aiza", r"(?<!\w)AIza[\w-]{35}"),
    _shape("NPM_TOKEN", "npm_", r"(?<!\w)npm_[A-Za-z0-9]{36}"),
    _shape("HF_TOKEN", "hf_", r"(?<!\w)hf_[A-Za-z0-9]{30,}"),
    _shape("BOT_TOKEN", ":", r"\d(?<!\w\d)\d{7,9}:[\w-]{35}(?![\w-])"),
    _shape("URL_PASSWORD", "://", r"://[^\s:/@]{0,100}:([^\s/@]{3,})@"),
)
BY_COLON = tuple(shape for shape in SHAPES if ":" in "".join(shape.hints))  # a sign that most texts have
RARE_HINTS = tuple(hint for shape in SHAPES if shape not in BY_COLON for hint in shape.hints)
# `--api-key=abc123` and `"token": "abc123"` inside a text. A digit, so that code and prose stay readable.
ASSIGNED = re.compile(
    r"""[\w-](?<![\w-].)(?P<rest>[\w-]{1,59})["']?(?:=|: ?)["']?"""
    r"""(?P<value>(?=[^\s"'&,;]{0,200}\d)[^\s"'&,;()<>{}$]{6,})"""
)
ASSIGNED_HINTS = (*SECRET_WORDS, "key")  # as a shape's
LONG = re.compile(r"[A-Za-z0-9_-]{32,}={0,2}")
KINDS = (re.compile("[0-9]"), re.compile("[a-z]"), re.compile("[A-Z]"))
PARTS = "/+.:-"  # beside one of these, a long word is a part of something else: a path, a digest, an image
RANDOM_BITS = 4.2  # a character; hexadecimal digests and UUIDs have 4.0 at most, English names less
IDENTIFIERS = {"id", "ids", "hash", "digest", "commit", "sha", "checksum", "integrity", "etag", "revision"}
SHORTEST = 8  # characters; no shape fits into less
ANYWHERE = 8  # characters; a shorter value is masked only where it stands as a word of its own
WORTH_A_SEARCH = 4  # characters; a shorter value is masked under its own key only


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
                below = secret or _holds_secrets(str(key), item)
                yield from secrets_in(item, (*path, str(key)), secret=below)
        case list() | tuple():
            for index, item in enumerate(value):
                yield from secrets_in(item, (*path, str(index)) if path else (), secret=secret)
        case str() | int() | float() if secret and (text := _secret_text(value)):
            yield Secret(_name_of(path), text)
            # `Bearer …` as a whole, and what follows it: a handler prints the one or the other.
            yield from (inner for inner in _in_text(text, path) if inner.value != text)
        case str():
            yield from _in_text(value, path)


def _holds_secrets(key: str, value: object) -> bool:
    """Numbers under a plural are counts: `maxTokens: 4096`."""
    counted = isinstance(value, int | float) and key.lower().endswith("s")
    return is_secret_key(key) and not counted


def _secret_text(value: str | float) -> str:
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


@dataclass(frozen=True, slots=True)
class Veil:
    """Masks the secrets it knows. `names` gives the name for a value, in whatever way it is written."""

    secrets: tuple[Secret, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    pattern: re.Pattern[str] | None = field(default=None, repr=False)

    @staticmethod
    def over(secrets: Iterable[Secret]) -> Veil:
        """A veil over these. A value keeps its first name; a name taken by another value gets a number."""
        named: dict[str, str] = {}
        for secret in secrets:
            if secret.value not in named:
                named[secret.value] = _free_name(secret.name, named.values())
        kept = tuple(Secret(name, value) for value, name in named.items())
        spelled = {spelling: name for value, name in named.items() for spelling in _spellings(value)}
        sought = sorted((text for text in spelled if len(text) >= WORTH_A_SEARCH), key=len, reverse=True)
        return Veil(kept, spelled, re.compile("|".join(map(_sought, sought))) if sought else None)

    def text(self, text: str) -> str:
        """The text with every secret in it replaced by its reference."""
        return text if self.pattern is None else self.pattern.sub(self._reference, text)

    def value(self, value: Any, *, secret: bool = False) -> Any:
        """The plain value with every secret replaced, in keys too. `secret` as in `secrets_in`."""
        if not self.names:
            return value
        match value:
            case Mapping():
                return {
                    self.text(key): self.value(item, secret=secret or _holds_secrets(key, item))
                    for key, item in value.items()
                }
            case list() | tuple():
                return [self.value(item, secret=secret) for item in value]
            case str() | int() | float() if secret and (text := _secret_text(value)) in self.names:
                return f"${{SECRET:{self.names[text]}}}"
            case str():
                return self.text(value)
            case _:
                return value

    def _reference(self, match: re.Match[str]) -> str:
        return f"${{SECRET:{self.names[match[0]]}}}"


def standing_in(value: object, secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """Those of the secrets that stand somewhere in a plain value, and are long enough to be sought."""
    secrets = tuple(secret for secret in secrets if len(secret.value) >= WORTH_A_SEARCH)
    text = json.dumps(value, default=str, ensure_ascii=False) if secrets else ""
    return tuple(secret for secret in secrets if any(one in text for one in _spellings(secret.value)))


def _free_name(name: str, taken: Iterable[str]) -> str:
    used, free, number = set(taken), name, 1
    while free in used:
        number += 1
        free = f"{name}_{number}"
    return free


def _spellings(value: str) -> tuple[str, ...]:
    """As it is, and as JSON and Python print it inside quotes."""
    return value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]


def _sought(text: str) -> str:
    return re.escape(text) if len(text) >= ANYWHERE else rf"(?<!\w){re.escape(text)}(?!\w)"
