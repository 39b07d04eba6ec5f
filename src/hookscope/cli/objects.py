"""JSON objects that are given on the command line: as they stand, from a file, from standard input."""

from __future__ import annotations

import sys

from hookscope.core.regular_file import read_regular
from hookscope.core.text import why_of
from hookscope.workbench import BadContext, Refusal, parse_context

STANDARD_INPUT = "@-"
LARGEST = 64 * 2**20  # characters: an endless file takes no endless memory


def object_from(text: str, option: str) -> dict[str, object]:
    """The object that an option names: JSON, `@FILE` that holds it, `@-` for standard input.

    What is read is gone from standard input: ask once, however many events get it. Raises Refusal.
    """
    if not text.startswith("@"):
        return _parsed(text, option)
    name = text[1:]
    try:
        if text == STANDARD_INPUT:
            source = sys.stdin.read(LARGEST + 1)
        else:
            source = read_regular(name, LARGEST + 1).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = why_of(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        then = "Name another file, or write the JSON itself."
        raise Refusal(f"Cannot read the context from {name}: {why}.", then, code=2) from None
    if len(source) > LARGEST:
        raise Refusal(f"{name} has more than {LARGEST:,} characters.", "No event is that large.", code=2)
    return _parsed(source, name)


def _parsed(text: str, name: str) -> dict[str, object]:
    try:
        return parse_context(text)
    except BadContext as error:
        raise Refusal(f"{name}, {error}.", "A context is a JSON object; nothing was fired.", code=2) from None
