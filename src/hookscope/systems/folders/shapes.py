"""What makes a folder a hook, the host's words on the way, and what one look has met so far."""

from dataclasses import field
from pathlib import Path
from typing import Any

from hookscope.core.hooks import Folder, Hook, LogLine, Problem
from hookscope.core.inventory import Rejected
from hookscope.core.surroundings import Files
from hookscope.formats.frontmatter import LARGEST_HEADER
from hookscope.systems.folders.manifest import ManifestReader, read_yaml_header
from hookscope.values import dataclass

MANIFEST = "HOOK.md"
PYTHON_HANDLERS = ("handler.py", "index.py")  # found under every dialect, after the host's own names


@dataclass(frozen=True, slots=True)
class FolderShape:
    """What makes a folder a hook."""

    namespace: str  # metadata.<namespace>
    handlers: tuple[str, ...]  # the host's own names, first wins
    older_namespaces: tuple[str, ...] = ()  # that the host still reads
    follows_links: bool = True  # is a linked hook folder a hook
    handler_must_stay: bool = False  # a handler that links out of its folder counts as absent (disc-11)
    reports_real_handler: bool = False  # is a linked handler reported as the file that it leads to
    marks_python: bool = False  # is a Python handler marked as one that the host itself would not run
    read: ManifestReader = read_yaml_header
    handler_first: bool = False  # is a handler looked for before the header is read
    longest_header: int | None = LARGEST_HEADER  # bytes of a HOOK.md that are read; None: up to a megabyte
    takes_empty: bool = False  # is a HOOK.md without a handler a hook

    @property
    def candidates(self) -> tuple[str, ...]:
        """The names that handlers may have: the host's own first."""
        return self.handlers + PYTHON_HANDLERS


@dataclass(frozen=True, slots=True)
class FolderTexts:
    """The host's own log lines while it looks; None where it says nothing."""

    no_handler: str | None = None  # {folder} {name}
    bad_header: str | None = None  # {file}
    unscanned: str | None = None  # {folder} {error}, where a hooks folder cannot be listed
    unreadable: str | None = None  # {folder} {error}, where a HOOK.md cannot be read
    oversized: str | None = None  # {file} {limit}
    out_of_package: str | None = None  # {entry} {folder}


@dataclass(slots=True)
class Search:
    """What one look has met so far. Lives as long as that look."""

    shape: FolderShape
    texts: FolderTexts
    files: Files
    hooks: list[Hook] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    log: list[LogLine] = field(default_factory=list)

    def warn(self, template: str | None, **parts: object) -> None:
        """Log what the host would, where it has a sentence for that."""
        if template is not None:
            self.log.append(LogLine("warn", template.format(**parts) if parts else template))

    def reject(self, folder: Folder, path: Path, reason: str, **more: Any) -> None:
        """Note something that is no hook, and why."""
        self.rejected.append(Rejected(path, folder.source, reason, **more))
