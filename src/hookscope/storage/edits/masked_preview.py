"""Previews of edits with every secret masked as `${SECRET:NAME}`. The files get the real values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

from hookscope.formats.json5 import closing_bracket, json5_tokens, read_json5
from hookscope.formats.positions import FormatError, text_of
from hookscope.storage.edits.atomic_files import CannotEdit, ChangeError
from hookscope.storage.edits.change import Change, count_equal_ends, split_lines
from hookscope.storage.journal.encodings import SHORTEST_ANYWHERE
from hookscope.storage.journal.redaction import Masker
from hookscope.storage.journal.secrets import (
    DEFAULT_SECRET_KEYS,
    MASKED_SECRET,
    SHORTEST,
    Secret,
    is_secret_key,
    secret_text_of,
    secrets_in,
)
from hookscope.values import dataclass

MASKED_NOTE = "Secrets are masked in this diff; the file gets their real values."
QUOTES = "\"'"
MASKED_WORD = "masked"
PlainText = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A value of a document: its position, its nearest key, and whether a key above marks it as secret."""

    start: int
    end: int
    key: str
    value: PlainText
    is_secret: bool

    @property
    def secret_text(self) -> str:
        """The text to mask as a whole."""
        is_maskable = self.is_secret and isinstance(self.value, str | int | float)
        return secret_text_of(self.value) if is_maskable and self.value is not None else ""


@dataclass(frozen=True, slots=True)
class _Document:
    """A JSON text with its secrets, in order."""

    text: str
    secrets: tuple[Secret, ...]
    secret_scalars: tuple[_Scalar, ...]


def masked_preview(change: Change) -> str:
    """Return the change as a unified diff with masked secrets. It may contain control characters."""
    return "".join(_preview(part)[0] for part in change.parts)


def hides_secrets(change: Change) -> bool:
    """Return True if the preview masks secrets that are written."""
    return any(_preview(part)[1] for part in change.parts)


def masked_file_text(content: bytes) -> str:
    """Return the text of a settings file with secrets masked by key and by form."""
    document = _json_document(content) or _without_values(content)
    return "".join(_masked_lines(document, Masker.for_secrets(document.secrets), 0, 0))


def masked_settings(content: bytes, replaced: Callable[[str], str]) -> str:
    """Return settings that programs can still parse: secrets become `masked`, and `replaced` maps other
    texts.

    Secret numbers become other digits. A text that is not JSON5 gets references in place of secrets.
    """
    document = _json_document(content)
    if document is None:
        return masked_file_text(content)
    masker, parts, end = Masker.for_secrets(document.secrets), [], 0
    for one in _scalars(document.text):
        parts.append(masker.masked_text(document.text[end : one.start]))
        parts.append(_safe_token(document.text[one.start : one.end], one, masker, replaced))
        end = one.end
    return "".join([*parts, masker.masked_text(document.text[end:])])


def _safe_token(token: str, one: _Scalar, masker: Masker, replaced: Callable[[str], str]) -> str:
    if one.secret_text and isinstance(one.value, str) and token[0] in QUOTES:
        return json.dumps(MASKED_WORD)
    if one.secret_text:
        return "1" * len(one.secret_text)
    if not isinstance(one.value, str) or token[0] not in QUOTES:
        return token
    shown = replaced(MASKED_SECRET.sub(MASKED_WORD, masker.masked_text(one.value)))
    return token if shown == one.value else json.dumps(shown)


def masked_error(error: ChangeError) -> str:
    """Return why an edit was refused, with masked secrets in the line to write by hand."""
    path, colon, _ = error.line.partition(": ") if isinstance(error, CannotEdit) else ("", "", "")
    if isinstance(error, CannotEdit) and colon and is_secret_name(path):
        return str(CannotEdit(error.problem, f"{path}: …"))
    return str(error)


def is_secret_name(name: str) -> bool:
    """Return True if the name of a variable or setting (`a.b.token`) marks its value as secret."""
    return is_secret_key(name.rpartition(".")[2].strip('"'))


@lru_cache(maxsize=2)  # searching megabytes of settings takes long
def _preview(part: Change) -> tuple[str, bool]:
    """Return one file's masked diff, and whether anything is masked in it."""
    plain = part.preview()
    sides = [_json_document(side) for side in (part.old, part.new)] if plain else []
    if not any(sides):
        shown = _redacted_text(part).preview()
        return shown, shown != plain
    documents = [
        side if side is not None else _without_values(raw)
        for side, raw in zip(sides, (part.old, part.new), strict=True)
    ]
    masker = Masker.for_secrets(secret for document in documents for secret in document.secrets)
    if not masker.names:
        return plain, False
    before, behind = count_equal_ends(*(split_lines(document.text) for document in documents))
    old, new = (_masked_lines(document, masker, before, behind) for document in documents)
    shown = part.diff(old, new, before)
    return shown, shown != plain


def _redacted_text(part: Change) -> Change:
    """Return the change with secrets masked for text that is not JSON: by form, and as `key: value`."""
    texts = [
        None if side is None else side.decode("utf-8", "surrogateescape") for side in (part.old, part.new)
    ]
    masker = Masker.for_secrets(secret for text in texts if text for secret in secrets_in(text))
    if not masker.secrets:
        return part
    old, new = (
        None if text is None else masker.masked_text(text).encode("utf-8", "surrogateescape")
        for text in texts
    )
    return replace(part, old=old, new=new)


def _json_document(side: bytes | None) -> _Document | None:
    try:
        if not side or not isinstance(read_json5(side), dict | list):
            return None
        text = text_of(side)
    except FormatError:
        return None
    secret_scalars: list[_Scalar] = []
    return _Document(text, tuple(_secrets(text, secret_scalars)), tuple(secret_scalars))


def _without_values(side: bytes | None) -> _Document:
    """Return a document without parsed values, for a missing file or a text that is not JSON."""
    text = (side or b"").decode("utf-8", "replace")
    return _Document(text, tuple(secrets_in(text)), ())


def _secrets(text: str, secret_scalars: list[_Scalar]) -> Iterator[Secret]:
    """Yield secrets by key or by form; also in comments, where settings are often disabled."""
    end = 0
    for one in _scalars(text):
        yield from secrets_in(text[end : one.start]) if "/" in text[end : one.start] else ()
        if one.secret_text:
            secret_scalars.append(one)
        if one.secret_text or (isinstance(one.value, str) and len(one.value) >= SHORTEST):
            yield from secrets_in(one.value, (one.key,) if one.key else (), secret=bool(one.secret_text))
        end = one.end
    yield from secrets_in(text[end:])


def _scalars(text: str) -> Iterator[_Scalar]:
    tokens = json5_tokens(text)
    closing = closing_bracket(text, tokens)
    key, until = "", -1  # `until`: the last token under a secret key
    for at, (start, end) in enumerate(tokens):
        if text[start] in "{}[]:,":
            continue
        if at + 1 < len(tokens) and text[tokens[at + 1][0]] == ":":
            key = str(_value(text[start:end]) if text[start] in QUOTES else text[start:end])
            first = tokens[at + 2]
            if at > until and DEFAULT_SECRET_KEYS.holds_secret(key, _value(text[slice(*first)])):
                until = closing.get(at + 2, at + 2)
            continue
        yield _Scalar(start, end, key, _value(text[start:end]), at <= until)


def _value(token: str) -> PlainText:
    if token[0] in QUOTES and "\\" not in token:
        return token[1:-1]
    if token in "{[":
        return token
    try:
        found = read_json5(token.encode())
    except FormatError:
        return token
    return found if isinstance(found, str | int | float) else None


def _masked_lines(document: _Document, masker: Masker, before: int, behind: int) -> list[str]:
    """Return the lines of a diff. Short secrets are masked only as values: elsewhere they are words."""
    lines = split_lines(document.text)
    last = len(lines) - behind
    end = sum(map(len, lines[:before]))
    until = end + sum(map(len, lines[before:last]))
    parts: list[str] = []
    for one in document.secret_scalars:
        if one.secret_text in masker.names and end <= one.start < one.end <= until:
            quote = document.text[one.start] if document.text[one.start] in QUOTES else ""
            parts += [
                document.text[end : one.start],
                f"{quote}${{SECRET:{masker.names[one.secret_text]}}}{quote}",
            ]
            end = one.end
    wide = Masker.for_secrets(secret for secret in masker.secrets if len(secret.value) >= SHORTEST_ANYWHERE)
    return split_lines(wide.masked_text("".join([*parts, document.text[end:until]])))
