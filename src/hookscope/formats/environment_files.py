"""Read environment variables from a `.env` file and from the output of `env` or `env -0`."""

import re

from hookscope.formats.positions import BYTE_ORDER_MARK

_ASSIGNMENT = r"""(?mx)
    ^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*
    ( "(?:\\"|[^"])*" | '(?:\\'|[^'])*' | `(?:\\`|[^`])*` | [^#\n]* )"""


def read_dotenv(source: bytes) -> dict[str, str]:
    """Return the variables of the file; the last value of a repeated name counts. Skips other lines."""
    text = (
        source.decode("utf-8", "replace")
        .removeprefix(BYTE_ORDER_MARK)
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )
    return {found[1]: _unquoted(found[2].strip()) for found in re.finditer(_ASSIGNMENT, text)}


def _unquoted(value: str) -> str:
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "\"'`":
        return value
    inner = value[1:-1]
    return inner.replace("\\n", "\n").replace("\\r", "\r") if value[0] == '"' else inner


VARIABLE_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_PRINTED_LINE = r"(?s)([A-Za-z_][\w.()%-]*)=(.*)"  # bash exports functions under odd names


def read_environment(source: bytes) -> dict[str, str]:
    """Return the variables of a file in any of the three formats.

    With null bytes it is the output of `env -0` or a kernel's copy. Without them it is the output
    of `env` if PATH is unquoted and no line is empty, a comment or an `export`; else it is a `.env`
    file. Never raises.
    """
    if b"\0" in source:
        return read_block(source)
    text = source.decode("utf-8", "replace").removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")
    lines = text.rstrip("\n").split("\n")
    return _printed_variables(lines) if _is_printed(lines) else read_dotenv(source)


def read_block(source: bytes) -> dict[str, str]:
    """Return a process's environment as the kernel keeps it: `NAME=value`, separated by null bytes.

    The first value of a repeated name counts, as for `getenv`.
    """
    found: dict[str, str] = {}
    for part in source.split(b"\0"):
        name, sign, value = part.decode("utf-8", "surrogateescape").partition("=")
        if sign and name:
            found.setdefault(name, value)
    return found


def _is_printed(lines: list[str]) -> bool:
    if not any(line.startswith("PATH=") and line[5:6] not in ("'", '"', "`") for line in lines):
        return False
    return not any(not line.strip() or line.lstrip().startswith(("#", "export ")) for line in lines)


def _printed_variables(lines: list[str]) -> dict[str, str]:
    """Parse the output of `env`; a line without an assignment continues the value before it."""
    found: dict[str, str] = {}
    last = ""
    for line in lines:
        match = re.fullmatch(_PRINTED_LINE, line)
        if match is not None:
            last = match[1]
            found[last] = match[2]
        elif last:
            found[last] += f"\n{line}"
    return found
