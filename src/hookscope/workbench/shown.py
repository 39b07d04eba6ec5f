"""What of an edit may be shown: every secret in it as `${SECRET:NAME}`. What is written has it.

In JSON the name is of the key: two values under one, before and after, differ in a number. Other texts are
searched for what looks like a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hookscope.changes import CannotEdit, Change, ChangeError
from hookscope.formats import FormatError, read_json5, text_of
from hookscope.formats.json5_places import closing_of, tokens_of
from hookscope.journal.encodings import ANYWHERE
from hookscope.journal.secrets import Secret, holds_secrets, is_secret_key, secret_text, secrets_in
from hookscope.journal.veil import Veil
from hookscope.values import dataclass

NOTE = "Secrets are masked in this diff; the file gets their real values."
QUOTES = "\"'"
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class _Scalar:
    """One value of a document: where it stands, its nearest key, and whether a key above says secret."""

    start: int
    end: int
    key: str
    value: Plain
    secret: bool

    @property
    def hidden(self) -> str:
        """What is to be hidden of it as a whole."""
        wanted = self.secret and isinstance(self.value, str | int | float)
        return secret_text(self.value) if wanted and self.value is not None else ""


def preview_of(change: Change) -> str:
    """The change as a unified diff for people and programs. Foreign text, controls and all."""
    return "".join(_veiled(part).preview() for part in change.parts)


def masks(change: Change) -> bool:
    """Does its preview hide secrets that are written."""
    return preview_of(change) != "".join(part.preview() for part in change.parts)


def told(error: ChangeError) -> str:
    """Why an edit was refused, without the secret in the line that its user may write by hand."""
    path, colon, _ = error.line.partition(": ") if isinstance(error, CannotEdit) else ("", "", "")
    if isinstance(error, CannotEdit) and colon and is_secret(path):
        return str(CannotEdit(error.problem, f"{path}: …"))
    return str(error)


def is_secret(name: str) -> bool:
    """Does the name of a variable, or of a setting as `a.b.token`, say that its value is a secret."""
    return is_secret_key(name.rpartition(".")[2].strip('"'))


def _veiled(part: Change) -> Change:
    """One file's change as it may be shown; the very same where no side has a secret."""
    sides = [_document(side) for side in (part.old, part.new)]
    if not any(sides):
        return _veiled_text(part)
    found = [secret for side in sides if side is not None for secret in _secrets(side)]
    if not found:
        return part
    veil = Veil.over(found)
    old, new = (
        side if text is None else _masked(text, veil).encode()
        for side, text in zip((part.old, part.new), sides, strict=True)
    )
    return replace(part, old=old, new=new)


def _veiled_text(part: Change) -> Change:
    """The same for what is no JSON: there secrets are known by their looks, and as `key: value`."""
    texts = [
        None if side is None else side.decode("utf-8", "surrogateescape") for side in (part.old, part.new)
    ]
    veil = Veil.over(secret for text in texts if text for secret in secrets_in(text))
    if not veil.secrets:
        return part
    old, new = (
        None if text is None else veil.text(text).encode("utf-8", "surrogateescape") for text in texts
    )
    return replace(part, old=old, new=new)


def _document(side: bytes | None) -> str | None:
    """Its text; None where it is no document of JSON."""
    try:
        if not side or not isinstance(read_json5(side), dict | list):
            return None
        return text_of(side)
    except FormatError:
        return None


def _secrets(text: str) -> Iterator[Secret]:
    """By its key or by its looks; in comments too, where settings are often put out of use."""
    end = 0
    for one in _scalars(text):
        yield from secrets_in(text[end : one.start]) if "/" in text[end : one.start] else ()
        yield from secrets_in(one.value, (one.key,) if one.key else (), secret=bool(one.hidden))
        end = one.end
    yield from secrets_in(text[end:])


def _scalars(text: str) -> Iterator[_Scalar]:
    tokens = tokens_of(text)
    closing = closing_of(text, tokens)
    key, until = "", -1  # `until`: the last token of what a key above says is secret
    for at, (start, end) in enumerate(tokens):
        if text[start] in "{}[]:,":
            continue
        if at + 1 < len(tokens) and text[tokens[at + 1][0]] == ":":
            key = str(_value(text[start:end]) if text[start] in QUOTES else text[start:end])
            first = tokens[at + 2]
            if at > until and holds_secrets(key, _value(text[slice(*first)])):
                until = closing.get(at + 2, at + 2)
            continue
        yield _Scalar(start, end, key, _value(text[start:end]), at <= until)


def _value(token: str) -> Plain:
    try:
        found = read_json5(token.encode())
    except FormatError:
        return token
    return found if isinstance(found, str | int | float) else None


def _masked(text: str, veil: Veil) -> str:
    """Short ones in their own place only: elsewhere they are words like any other."""
    wide = Veil.over(secret for secret in veil.secrets if len(secret.value) >= ANYWHERE)
    parts, end = [], 0
    for one in _scalars(text):
        shown = wide.text(text[one.start : one.end])
        if one.hidden in veil.names and one.hidden:
            quote = text[one.start] if text[one.start] in QUOTES else ""
            shown = f"{quote}${{SECRET:{veil.names[one.hidden]}}}{quote}"
        parts += [wide.text(text[end : one.start]), shown]
        end = one.end
    return "".join([*parts, wide.text(text[end:])])
