"""The sentences of a Markdown page."""

import re
from collections.abc import Iterator

FENCED = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
CODE = re.compile(r"`[^`]+`")
END = re.compile(r"(?<=[.!?])[)\"*]*\s+")


def sentences_of(page: str) -> Iterator[str]:
    """Yield the sentences of paragraphs, list items and table cells. A piece of code counts as one word."""
    for block in _blocks(FENCED.sub("\n\n", page)):
        yield from (sentence for sentence in END.split(CODE.sub("CODE", block)) if sentence.strip())


def _blocks(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        is_row, begins = line.startswith("|"), re.match(r"\s*([-*]|\d+\.)\s+|#+ ", line)
        if lines and (is_row or begins or not line.strip()):
            yield " ".join(lines)
            lines = []
        if is_row:
            yield from (cell.strip() for cell in line.strip("|").split(" | "))
        elif line.strip() and not line.startswith("    "):
            lines.append(line[begins.end() :] if begins else line.strip())
