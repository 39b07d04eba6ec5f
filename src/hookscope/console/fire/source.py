"""A few lines of a handler's source around the line that failed."""

from collections.abc import Sequence
from pathlib import Path

from hookscope.core.failure import Frame
from hookscope.core.runs import Code, Registration
from hookscope.core.surroundings import Files
from hookscope.values import dataclass

LARGEST = 512 * 1024  # bytes of a source file that are read
AROUND = 2


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Numbered lines; `at` is the one that matters. `changed`: the file is no longer what ran."""

    first: int
    lines: tuple[str, ...]
    at: int
    changed: bool = False


def excerpt(files: Files, frame: Frame, around: int = AROUND) -> Excerpt | None:
    """The source around a frame as it stands on disk; None where that cannot be read."""
    path = Path(frame.file)
    try:
        facts = files.facts(path)
        if facts is None or not facts.file or facts.size > LARGEST:
            return None
        text = files.read(path).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    lines = text.split("\n")
    if not 1 <= frame.line <= len(lines):
        return None
    first = max(1, frame.line - around)
    shown = tuple(line.rstrip("\r") for line in lines[first - 1 : frame.line + around])
    now = lines[frame.line - 1].strip()
    return Excerpt(first, shown, frame.line, changed=bool(frame.source) and frame.source.strip() != now)


def as_it_ran(frame: Frame) -> Excerpt | None:
    """The one line that the handler's process saw itself."""
    return Excerpt(frame.line, (frame.source,), frame.line) if frame.source else None


def own_frames(frames: Sequence[Frame], call: Registration) -> tuple[tuple[Frame, ...], tuple[Frame, ...]]:
    """The frames in the hook's own folder, innermost first; then the others, innermost first."""
    own: list[Frame] = []
    others: list[Frame] = []
    for frame in reversed(frames):
        (own if is_own(frame, call) else others).append(frame)
    return tuple(own), tuple(others)


def is_own(frame: Frame, call: Registration) -> bool:
    """Does the frame lie in the hook's folder, and not in packages installed there?"""
    if not isinstance(call.target, Code):
        return False
    path, root = Path(frame.file), call.target.root
    if not path.is_relative_to(root):
        return False
    return not {"site-packages", "node_modules"} & set(path.relative_to(root).parts)
