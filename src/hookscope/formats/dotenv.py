"""A `.env` file: `NAME=value` lines, as the common readers of such files have them."""

from __future__ import annotations

import re

from .places import BOM

_ASSIGNMENT = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*
    ( "(?:\\"|[^"])*" | '(?:\\'|[^'])*' | `(?:\\`|[^`])*` | [^#\n]* )""",
    re.MULTILINE | re.VERBOSE,
)


def read_dotenv(source: bytes) -> dict[str, str]:
    """The variables that the file sets; the last of equal names counts. Other lines are passed over.

    Values may stand in quotes, over several lines too; `\\n` in double quotes is a line end. Without
    quotes a value ends at a `#`. Never raises.
    """
    text = source.decode("utf-8", "replace").removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")
    return {found[1]: _value(found[2].strip()) for found in _ASSIGNMENT.finditer(text)}


def _value(written: str) -> str:
    if len(written) < 2 or written[0] != written[-1] or written[0] not in "\"'`":
        return written
    inner = written[1:-1]
    return inner.replace("\\n", "\n").replace("\\r", "\r") if written[0] == '"' else inner
