"""Find and name secrets in values and texts before they are stored. `redaction` masks them. Pure."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class SecretShape:
    """The form of a kind of secret. The pattern's first group is the secret, else the whole match.

    Every matching text contains one of the hints in lower case. They make the search cheap: a megabyte of
    output is not searched a dozen times.
    """

    name: str
    hints: tuple[str, ...]
    pattern: str


def _secret_shape(name: str, hints: str, text: str) -> SecretShape:
    return SecretShape(name, tuple(hints.split()), f"(?s:{text})")


SECRET_SHAPES = (
    # Truncated output may lack the end: then everything that follows belongs to the key.
    _secret_shape(
        "PRIVATE_KEY",
        "-----begin",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    ),
    _secret_shape("JWT", "eyj", r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    _secret_shape(
        "AUTHORIZATION", "bearer basic", r"(?i:\bbearer|\bbasic) {1,4}(?=[^\s\d=]*[\d=])([\w.~+/-]{8,}={0,2})"
    ),
    _secret_shape(
        "COOKIE",
        "cookie:",
        r"(?i:(?<![\w-])(?:set-)?cookie) {0,2}: {0,2}"
        r"([^\s=:;,]{1,60}=[^\s;,]{6,}(?:; {0,2}[^\s=:;,]{1,60}=[^\s;,]+)*)",
    ),
    _secret_shape("API_KEY", "sk- sk_ rk- rk_", r"(?<![\w-])[sr]k[-_](?=[A-Za-z_-]*\d)[\w-]{16,}"),
    _secret_shape("GITHUB_TOKEN", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?<!\w)gh[pousr]_[A-Za-z0-9]{20,}"),
    _secret_shape("GITHUB_TOKEN", "github_pat_", r"(?<!\w)github_pat_\w{20,}"),
    _secret_shape("GITLAB_TOKEN", "glpat-", r"(?<![\w-])glpat-[\w-]{16,}"),
    _secret_shape("SLACK_TOKEN", "xox xapp-", r"(?<!\w)(?:xox[a-z]-[\w-]{10,}|xapp-\d[\w-]{10,})"),
    _secret_shape("AWS_KEY", "akia asia", r"(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)"),
    _secret_shape("GOOGLE_KEY", "aiza", r"(?<!\w)AIza[\w-]{35}"),
    _secret_shape("NPM_TOKEN", "npm_", r"(?<!\w)npm_[A-Za-z0-9]{36}"),
    _secret_shape("HF_TOKEN", "hf_", r"(?<!\w)hf_[A-Za-z0-9]{30,}"),
    _secret_shape("BOT_TOKEN", ":", r"\d(?<!\w\d)\d{7,9}:[\w-]{35}(?![\w-])"),
    _secret_shape("URL_PASSWORD", "://", r"://[^\s:/@]{0,100}:([^\s/@]{3,})@"),
    _secret_shape("URL_TOKEN", "://", r"://(?=[^\s:/@]*\d)([^\s:/@]{16,200})@"),
)
# a character in most texts
SHAPES_WITH_COLON = tuple(shape for shape in SECRET_SHAPES if ":" in "".join(shape.hints))
RARE_HINTS = tuple(hint for shape in SECRET_SHAPES if shape not in SHAPES_WITH_COLON for hint in shape.hints)


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
    "passwort",
)
SECRET_NAMES = {"pass", "pwd", "passcode", "dsn", "creds", "otp", "pat"}  # as the last word
SECRET_KEYS = {"api", "private", "secret", "access", "signing", "encryption", "master"}  # before `key`
ADDRESSES = {"continuation"}  # before `token`: the address of a session; Eve also checks authority
TRAILERS = {"value", "header", "old", "new"}  # `cookieHeader` is as secret as `cookie`
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
LONGEST_KEY = 64
KEY = re.compile(rf"[\w .:/-]{{1,{LONGEST_KEY}}}")  # longer texts, or with line ends, are not names
REFERENCE = re.compile(r"\$\{[^{}]*\}")
MASKED_SECRET = re.compile(r"\$\{SECRET:(\w+)\}")  # what replaces a secret, with its name


VARIABLE = re.compile(r"_*[A-Z][A-Z0-9_]*")  # the usual style of environment variables
# A variable with a secret word in its name is not secret if its last word is one of these.
NOT_SECRET_WORDS = """
    file files path paths dir folder url uri urls endpoint host port address name names id ids type kind
    method mode user username email sock socket agent ttl expiry expires count length size limit max min
    enabled disabled required algorithm version prefix suffix region scope scopes format source store
    provider helper manager header script command cmd timeout interval
"""
NOT_SECRET = frozenset(NOT_SECRET_WORDS.split())
PUBLIC_KEYS = {"public", "primary", "foreign", "sort", "partition", "cache", "hot", "routing", "group"}
# Values that are never searched for, whatever key they are under: too many texts have them.
COMMON_WORDS = """
    true false none null undefined default local localhost admin root user guest public private basic bearer
    token password secret apikey debug info warn warning error changeme example production development
    staging enabled disabled required optional string number object
"""
ORDINARY_VALUES = frozenset(COMMON_WORDS.split())
NAMING_KEYS = ("name", "key", "header", "variable", "field", "id")  # keys that name the `value` beside them
FLAG = re.compile(r"--?[A-Za-z][\w-]*")
PLAIN_WORD = re.compile(r"[A-Za-z]{1,15}")

# `--api-key=abc123` and `"token": "abc123"` inside a text. Only values with a digit: prose stays readable.
ASSIGNED = re.compile(
    r"""[\w-](?<![\w-].)(?P<rest>[\w-]{1,59})["']?(?:=|: ?)["']?"""
    r"""(?P<value>(?=[^\s"'&,;]{0,200}\d)[^\s"'&,;()<>{}$]{6,})"""
)
VARIABLE_SET = re.compile(
    r"""^(?:export )?(?P<name>[A-Z][A-Z0-9_]{2,59})=["']?(?P<value>[^\s"'&,;()<>{}$]{8,})""", re.MULTILINE
)
COOKIES = re.compile(r"[\w.-]{1,60}=[^\s;]*(?:; {0,2}[\w.-]{1,60}(?:=[^;]*)?)*;?")
COOKIE = re.compile(r"(?P<name>[\w.-]{1,60})=(?P<value>(?=[^;]*\d)[^\s;,]{8,})")
ASSIGNED_HINTS = (*SECRET_WORDS, "key")  # as the hints of a shape
LONG = re.compile(r"[A-Za-z0-9_-]{32,}={0,2}")
KINDS = (re.compile("[0-9]"), re.compile("[a-z]"), re.compile("[A-Z]"))
PARTS = "/+.:-"  # next to these, a long word is part of a path, a digest or an image
RANDOM_BITS = 4.2  # per character; hexadecimal digests and UUIDs have at most 4.0, English names less
IDENTIFIERS = {"id", "ids", "hash", "digest", "commit", "sha", "checksum", "integrity", "etag", "revision"}
SHORTEST_NUMBER = 6  # digits; shorter numbers are everywhere
SHORTEST = 8  # characters; no shape matches a shorter text


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not reach the disk, and its name."""

    name: str
    value: str = field(repr=False)


def is_secret_key(key: str) -> bool:
    """Return True if a key, in any style, marks its value as secret."""
    return len(key) <= LONGEST_KEY and _names_a_secret(key)


@lru_cache(maxsize=2048)  # most documents have the same few keys
def _names_a_secret(key: str) -> bool:
    words = _words_of(key)
    if not words or not ADDRESSES.isdisjoint(words[-2:-1]):
        return False
    last = words[-1].removesuffix("s")
    if last.endswith(SECRET_WORDS) or words[-1] in SECRET_NAMES:
        return True
    if last == "key" and len(words) > 1 and words[-2] in SECRET_KEYS:
        return True
    return VARIABLE.fullmatch(key) is not None and _is_secret_variable(words)


def _is_secret_variable(words: tuple[str, ...]) -> bool:
    """Return True for the words of a secret variable: `SIGNING_KEY`, `TOKEN_STAGING`, `NPM_AUTH`."""
    if words[-1] in NOT_SECRET or "public" in words:
        return False
    if words[-1] in ("key", "keys"):
        return len(words) > 1 and words[-2] not in PUBLIC_KEYS
    return words[-1] == "auth" or any(
        word.removesuffix("s").endswith(SECRET_WORDS) or word in SECRET_NAMES for word in words
    )


@dataclass(frozen=True, slots=True)
class SecretKeys:
    """The keys that mark secrets: those of `is_secret_key`, and those that a user lists.

    Listed names match in any style, and may contain `*`; of `gateway.token` the last part counts.
    """

    listed: frozenset[str] = frozenset()

    @staticmethod
    def with_names(names: Iterable[str]) -> SecretKeys:
        """Return secret keys that consist of the built-in ones and these names."""
        return SecretKeys(frozenset(filter(None, (_bare(name.rpartition(".")[2]) for name in names))))

    def names_secret(self, key: str) -> bool:
        """Return True if the key marks its value as secret."""
        return is_secret_key(key) or self.is_listed(key)

    def is_listed(self, key: str) -> bool:
        """Return True if the user's list has the key."""
        if not self.listed or len(key) > LONGEST_KEY:
            return False
        bare = _bare(key)
        return bare in self.listed or any("*" in one and fnmatchcase(bare, one) for one in self.listed)

    def holds_secret(self, key: str, value: object) -> bool:
        """Return True if everything below the key is secret. A number under a plural key is a count, so not
        secret: `maxTokens: 4`.
        """
        counted = isinstance(value, int | float) and key.lower().endswith("s")
        return (is_secret_key(key) and not counted) or self.is_listed(key)

    def secret_flags(self, items: Sequence[Any]) -> Sequence[bool]:
        """Return which items follow the name of a secret: `["Authorization", "Bearer …"]`."""
        secret = [False] * len(items)
        named = items[::2] if len(items) % 2 == 0 else ()
        pairs = len(items) == 2 or all(isinstance(one, str) and FLAG.fullmatch(f"-{one}") for one in named)
        for at in range(1, len(items)):
            key, value = items[at - 1], items[at]
            if not isinstance(key, str) or len(key) > LONGEST_KEY or not isinstance(value, str | int | float):
                continue
            flag = key.startswith("-") and FLAG.fullmatch(key) is not None
            if (flag or (pairs and at % 2)) and self.names_secret(key.lstrip("-")):
                secret[at] = "-" in key or PLAIN_WORD.fullmatch(str(value)) is None
        return secret


DEFAULT_SECRET_KEYS = SecretKeys()


def _bare(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum() or char == "*")


def pair_key(value: Mapping[Any, Any], keys: SecretKeys = DEFAULT_SECRET_KEYS) -> str | None:
    """Return "value" if other members of the mapping name it as a secret: `{name: Authorization, value: …}`,
    or a change `{op: add, path: /auth/token, value: …}`; else None.
    """
    if "value" not in value or len(value) > 8:
        return None
    names = [str(value[one]) for one in NAMING_KEYS if isinstance(value.get(one), str)]
    if isinstance(path := value.get("path"), str):
        names += pointer_keys(path)
    return "value" if any(map(keys.names_secret, names)) else None


def pointer_keys(path: str) -> list[str]:
    """Return the keys of a JSON pointer."""
    return [key.replace("~1", "/").replace("~0", "~") for key in path.split("/")[1:]]


@lru_cache(maxsize=2048)
def _words_of(key: str) -> tuple[str, ...]:
    """Return the words of a key of at most LONGEST_KEY characters; none of a longer text."""
    if KEY.fullmatch(key) is None:
        return ()
    words = [word.lower() for word in WORD.findall(key)]
    while len(words) > 1 and (words[-1] in TRAILERS or words[-1].isdigit()):
        words.pop()
    return tuple(words)


def secrets_in(
    value: object, path: tuple[str, ...] = (), *, secret: bool = False, keys: SecretKeys = DEFAULT_SECRET_KEYS
) -> Iterator[Secret]:
    """Yield all secrets of a plain value, named after their keys; those of a bare text after their form.

    Args:
        secret: a key above marks the value as secret.
        keys: the keys that mark secrets.
    """
    match value:
        case Mapping():
            under = pair_key(value, keys)
            for key, item in value.items():
                yield from _in_key(str(key))
                named = (*path, _pair_name(value)) if key == under else (*path, str(key))
                below = secret or key == under or keys.holds_secret(str(key), item)
                yield from secrets_in(item, named, secret=below, keys=keys)
        case list() | tuple():
            for index, (item, flag) in enumerate(zip(value, keys.secret_flags(value), strict=True)):
                named = (*path, str(index)) if path else ()
                if flag:
                    named = (*path, value[index - 1].lstrip("-"))
                yield from secrets_in(item, named, secret=secret or flag, keys=keys)
        case str() | int() | float() if secret and (text := secret_text_of(value)):
            yield Secret(_name_of(path), text)
            # `Bearer …` as a whole, and the token alone: a handler may print either.
            inner = (*_in_text(text, path), *_cookies_in(text, path))
            yield from (one for one in inner if one.value != text)
        case str():
            yield from _in_text(value, path)
            yield from _in_json(value, path, keys)


def _in_json(text: str, path: tuple[str, ...], keys: SecretKeys) -> Sequence[Secret]:
    """Return the secrets in a text that is JSON, also in nested JSON texts."""
    if not text.lstrip().startswith(("{", "[")):
        return ()
    try:
        return tuple(secrets_in(json.loads(text), path, keys=keys))
    except (ValueError, RecursionError):
        return ()


def _pair_name(value: Mapping[Any, Any]) -> str:
    names = (str(value[one]) for one in NAMING_KEYS if isinstance(value.get(one), str))
    return next(names, None) or "_".join(pointer_keys(str(value.get("path", "")))) or "value"


def is_ordinary(value: str) -> bool:
    """Return True for a common word or number: masking it would hide ordinary text, but no secret."""
    return value.casefold() in ORDINARY_VALUES or (value.isdigit() and len(value) < SHORTEST_NUMBER)


def secret_text_of(value: str | float) -> str:
    """Return the text to mask for a value under a secret key; empty if there is nothing to mask."""
    if isinstance(value, bool):
        return ""
    text = str(value)
    is_maskable = any(char.isalnum() for char in text) and REFERENCE.fullmatch(text) is None
    return text if is_maskable else ""


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
    for shape in SECRET_SHAPES if any(map(holds, RARE_HINTS)) else SHAPES_WITH_COLON:
        if any(map(holds, shape.hints)):
            for match in re.finditer(shape.pattern, text):
                value = match[match.lastindex or 0]
                yield Secret(_name_of(path) if path else shape.name, value)
                if shape.name == "COOKIE":
                    yield from _cookies_in(value, path)
            text = re.sub(shape.pattern, " ", text)  # so that no other shape finds it too
    if any(map(holds, ASSIGNED_HINTS)):
        for match in ASSIGNED.finditer(text):
            key = text[match.start() : match.end("rest")]
            if is_secret_key(key):
                yield Secret(_name_of((key,)), match["value"])
    if "=" in text:
        for match in VARIABLE_SET.finditer(text):
            if is_secret_key(match["name"]):
                yield Secret(_name_of((match["name"],)), match["value"])
    for match in () if _identifies(path) else LONG.finditer(text):
        beside = text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
        if not any(char in PARTS or char.isalnum() for char in beside) and _is_random(match[0]):
            yield Secret(_name_of(path) if path else "RANDOM", match[0])


def _cookies_in(text: str, path: tuple[str, ...]) -> Iterator[Secret]:
    """Yield the values of `sid=abc123; theme=dark` that may be sessions: a handler may print them alone."""
    if "=" in text and COOKIES.fullmatch(text):
        for match in COOKIE.finditer(text):
            yield Secret(_name_of((*path, match["name"])), match["value"])


def _identifies(path: tuple[str, ...]) -> bool:
    """Return True if the last key names a long random value that is public."""
    return (
        bool(path) and len(path[-1]) <= LONGEST_KEY and not IDENTIFIERS.isdisjoint(_words_of(path[-1])[-1:])
    )


def _is_random(text: str) -> bool:
    """Return True if the text looks random. Digits must be scattered, unlike in names with a date."""
    if not all(kind.search(text) for kind in KINDS):
        return False
    strewn = len(re.findall(r"\d+", text)) >= 3 and 12 * len(re.findall(r"[_-]", text)) <= len(text)
    return strewn and not text.startswith("sha") and _entropy(text) >= RANDOM_BITS


def _entropy(text: str) -> float:
    """Return Shannon's entropy in bits per character."""
    shares = (count / len(text) for count in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares)


def _name_of(path: tuple[str, ...]) -> str:
    """Return a name made from the keys of the path, leaving out keys that are secret themselves."""
    telling = (key for key in path if KEY.fullmatch(key) and not any(_in_text(key, ())))
    words = (word.upper() for key in telling for word in WORD.findall(key))
    return "_".join(words) or "VALUE"
