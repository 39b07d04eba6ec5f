"""The source tab: a handler's file, with the values of its last run beside the lines that use them.

No line is traced. Values are those of the event as the handler received it, and as it left it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from textual.content import Content

from hookscope.console.panes.fire.run_sheet import (
    ABSENT,
    PatchMismatch,
    document_before,
    patch_changes,
    value_at,
)
from hookscope.console.panes.fire.tab_input import TabInput, brief_json, join_lines, muted, safe_block
from hookscope.console.theme.text_styles import safe_word
from hookscope.model.failure import Frame
from hookscope.model.machine import Files
from hookscope.model.run import Code, Registration
from hookscope.values import dataclass

LARGEST_SOURCE = 512 * 1024  # bytes of a source file to read
LINES_AROUND = 2


@dataclass(frozen=True, slots=True)
class SourceExcerpt:
    """Numbered lines; `at` is the relevant one. `changed`: the file has changed since the run."""

    first: int
    lines: tuple[str, ...]
    at: int
    changed: bool = False


def source_excerpt(files: Files, frame: Frame, around: int = LINES_AROUND) -> SourceExcerpt | None:
    """Return the source around a frame, from disk; None if it cannot be read."""
    lines = _source_lines(files, Path(frame.file))
    if not 1 <= frame.line <= len(lines):
        return None
    first = max(1, frame.line - around)
    shown = lines[first - 1 : frame.line + around]
    now = lines[frame.line - 1].strip()
    return SourceExcerpt(first, shown, frame.line, changed=bool(frame.source) and frame.source.strip() != now)


def _source_lines(files: Files, path: Path) -> tuple[str, ...]:
    try:
        facts = files.facts(path)
        if facts is None or not facts.file or facts.size > LARGEST_SOURCE:
            return ()
        text = files.read(path).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ()
    return tuple(line.rstrip("\r") for line in text.split("\n"))


def excerpt_as_run(frame: Frame) -> SourceExcerpt | None:
    """Return the source line that the handler's process reported; None if it reported none."""
    return SourceExcerpt(frame.line, (frame.source,), frame.line) if frame.source else None


def own_frames(frames: Sequence[Frame], call: Registration) -> tuple[tuple[Frame, ...], tuple[Frame, ...]]:
    """Return the frames in the hook's folder, then the others; both innermost first."""
    own: list[Frame] = []
    others: list[Frame] = []
    for frame in reversed(frames):
        (own if is_own_frame(frame, call) else others).append(frame)
    return tuple(own), tuple(others)


def is_own_frame(frame: Frame, call: Registration) -> bool:
    """Return True if the frame is in the hook's folder, but not in packages installed there."""
    if not isinstance(call.target, Code):
        return False
    path, root = Path(frame.file), call.target.root
    if not path.is_relative_to(root):
        return False
    return not {"site-packages", "node_modules"} & set(path.relative_to(root).parts)


def is_handler_file(call: Registration, frame: Frame) -> bool:
    """Return True if the frame is in the handler's own file."""
    return isinstance(call.target, Code) and frame.file == str(call.target.path)


def excerpt_lines(source: SourceExcerpt | None, width: int) -> Iterator[Content]:
    """Yield numbered source lines, cut to `width` cells."""
    if source is None:
        return
    size = len(str(source.first + len(source.lines)))
    for number, line in enumerate(source.lines, source.first):
        yield _numbered_line(number, size, line, width, failed=number == source.at)


def _numbered_line(number: int, size: int, line: str, width: int, *, failed: bool) -> Content:
    mark = Content.styled("❱ ", "$text-error") if failed else Content("  ")
    code = safe_block(line, 400)
    line_shown = mark + muted(f"{number:>{size}} │ ") + (code.stylize("bold") if failed else code)
    return line_shown.truncate(max(width, LEAST_WIDTH), ellipsis=True)  # nothing wraps below the numbers


MOST_SOURCE_LINES = 2_000
MOST_LINE_VALUES = 3  # values beside one line
WIDEST_VALUE = 36  # characters of a value beside a line
LEAST_WIDTH = 40  # cells of a line before it is cut
# `event.context["name"]`, `event.data.name`, `context.get("name")`, and longer ones.
ACCESS = re.compile(
    r"\b(?:(?P<root>event)|context)(?P<path>(?:\??\.\w+(?!\w*\()|\??\.?\[\s*[\"']\w+[\"']\s*\]"
    r"|\.get\(\s*[\"']\w+[\"'])+)"
)
ACCESS_NAME = re.compile(r"\w+(?=[\"'])|(?<=\.)(?!get\()\w+")


def source_text(shown: TabInput) -> Content:
    """Return the handler's file with line numbers, the failed line, and the values of the run."""
    target, files = shown.row.call.target, shown.host.machine.files
    if not isinstance(target, Code):
        return muted("This handler was registered by code and has no file.")
    lines = _source_lines(files, target.path)
    if not lines:
        return muted("The file cannot be read.")
    return join_lines(_source_rows(shown, target.path, lines))


def main_line(shown: TabInput) -> int:
    """Return the line to scroll to: the failed one, else the first that uses the event, else 1."""
    target, result = shown.row.call.target, shown.row.result
    if not isinstance(target, Code):
        return 1
    failure = (result.error or result.stale) if result is not None else None
    frames = [frame.line for frame in failure.frames if frame.file == str(target.path)] if failure else []
    lines = enumerate(_source_lines(shown.host.machine.files, target.path)[:MOST_SOURCE_LINES], 1)
    return frames[-1] if frames else next((number for number, line in lines if any(_used_paths(line))), 1)


def _source_rows(shown: TabInput, path: Path, lines: Sequence[str]) -> Iterator[Content]:
    result = shown.row.result
    failure = (result.error or result.stale) if result is not None else None
    frames = [frame for frame in failure.frames if frame.file == str(path)] if failure else []
    changed = any(not _is_line_of(frame, lines) for frame in frames)
    failed = frames[-1].line if frames and not changed else 0
    yield Content(safe_word(shown.path(str(path)), 300)) + muted(
        f"  values of run {shown.sheet.number}" if result is not None and not changed else ""
    )
    if changed:
        sentence = "The file has changed since this run, so the run's values are not shown."
        yield Content.styled(sentence, "$text-warning")
    states = _states(shown) if result is not None and not changed else None
    size = len(str(len(lines)))
    for number, line in enumerate(lines[:MOST_SOURCE_LINES], 1):
        values = _line_values(line, *states) if states is not None else Content()
        code = _numbered_line(number, size, line, shown.width, failed=number == failed)
        if code.cell_length + values.cell_length <= shown.width:
            yield code + values
        else:
            yield code
            beside = muted(f"  {'':>{size}} │ {' ' * _indent(line)}") + values
            yield beside.truncate(max(shown.width, LEAST_WIDTH), ellipsis=True)
    if len(lines) > MOST_SOURCE_LINES:
        yield muted(f"and {len(lines) - MOST_SOURCE_LINES:,} more lines")


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _is_line_of(frame: Frame, lines: Sequence[str]) -> bool:
    return not frame.source or (
        frame.line <= len(lines) and lines[frame.line - 1].strip() == frame.source.strip()
    )


def _states(shown: TabInput) -> tuple[Mapping[str, Any], Any]:
    """Return the event as the handler received it, and as it left it."""
    before, result = document_before(shown.sheet, shown.row), shown.row.result
    return before, patch_changes(before, result.patch)[1] if result is not None else before


def _line_values(line: str, before: Any, after: Any) -> Content:
    """Return the values of the event that a line names: `senderId = "dev" → "grace"`."""
    paths = dict.fromkeys(_used_paths(line))
    values = (_value_text(path, before, after) for path in islice(paths, MOST_LINE_VALUES))
    return Content("").join(values)


def _used_paths(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths in the event that a line names, but for settings, which may hold secrets."""
    for found in ACCESS.finditer(line[:400]):
        path = tuple(ACCESS_NAME.findall(found["path"]))
        if found["root"] is None:
            path = ("context", *path)
        if len(path) > 1 and "cfg" not in path:
            yield path


def _value_text(path: tuple[str, ...], before: Any, after: Any) -> Content:
    old, new = _value_or_absent(before, path), _value_or_absent(after, path)
    name = muted(f"   {path[-1]}")
    if old is ABSENT and new is ABSENT:
        return name + Content.styled(" is missing", "$text-warning")
    if old == new:
        return name + muted(" = ") + Content.styled(_brief(old), "$text-accent")
    first = muted(f" = {_brief(old)} → ") if old is not ABSENT else muted(" → ")
    return name + first + Content.styled(_brief(new), "$text-warning")


def _value_or_absent(document: Any, path: tuple[str, ...]) -> Any:
    try:
        return value_at(document, path)
    except PatchMismatch:
        return ABSENT


def _brief(value: Any) -> str:
    return "nothing" if value is ABSENT else safe_word(brief_json(value), WIDEST_VALUE)
