"""The screen as a picture."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING, Any

from textual.app import App

if TYPE_CHECKING:
    from hookscope.workbench.hiding import Redaction

TEXT = re.compile(r"(<text\b[^>]*>)([^<]*)(</text>)")
HIDDEN = "•"
WINDOW = 8  # characters of a secret that are hidden wherever a line has them: a screen cuts and wraps


def picture_of(app: App[Any]) -> str:
    """The screen as SVG. Its indents are kept by every program that draws it."""
    picture = app.export_screenshot(title="hookscope")
    return picture.replace("<text ", '<text xml:space="preserve" ')


def without_secrets(picture: str, redaction: Redaction) -> str:
    """Return the picture with a dot in the place of each character of a secret, so that nothing moves.

    Its texts follow each other as the screen has them, one for each style of a line.
    """
    texts = [unescape(match[2]).replace("\xa0", " ") for match in TEXT.finditer(picture)]
    whole = "".join(texts)
    hidden = bytearray(len(whole))
    veil = redaction.veil(texts, whole)
    for one in veil.found(whole):
        hidden[one.start : one.end] = b"\1" * (one.end - one.start)
    for secret in (*redaction.secrets, *veil.secrets):
        for start in range(len(secret.value) - WINDOW + 1):
            part = secret.value[start : start + WINDOW]
            at = whole.find(part)
            while at >= 0:
                hidden[at : at + WINDOW] = b"\1" * WINDOW
                at = whole.find(part, at + 1)
    if not any(hidden):
        return picture
    pieces, at, end = [], 0, 0
    for match, text in zip(TEXT.finditer(picture), texts, strict=True):
        shown = "".join(HIDDEN if hidden[at + n] else char for n, char in enumerate(text))
        body = match[2] if shown == text else escape(shown, quote=False).replace(" ", "&#160;")
        pieces += [picture[end : match.start()], match[1], body, match[3]]
        at, end = at + len(text), match.end()
    return "".join([*pieces, picture[end:]])
