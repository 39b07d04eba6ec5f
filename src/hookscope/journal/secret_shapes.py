"""What kinds of secrets look like: tokens of known services, keys, passwords in addresses."""

from __future__ import annotations

import re

from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class SecretShape:
    """What a kind of secret looks like. The pattern's first group is the secret, else all of it is.

    One of the hints stands in every text that the pattern is found in, in lower case. They are what
    makes it cheap: a megabyte of output is not searched a dozen times.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(name: str, hints: str, text: str) -> SecretShape:
    return SecretShape(name, tuple(hints.split()), re.compile(text, re.DOTALL))


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
    _shape(
        "COOKIE",
        "cookie:",
        r"(?i:(?<![\w-])(?:set-)?cookie) {0,2}: {0,2}"
        r"([^\s=:;,]{1,60}=[^\s;,]{6,}(?:; {0,2}[^\s=:;,]{1,60}=[^\s;,]+)*)",
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
    _shape("URL_TOKEN", "://", r"://(?=[^\s:/@]*\d)([^\s:/@]{16,200})@"),
)
BY_COLON = tuple(shape for shape in SHAPES if ":" in "".join(shape.hints))  # a sign that most texts have
RARE_HINTS = tuple(hint for shape in SHAPES if shape not in BY_COLON for hint in shape.hints)
