"""Finds folder hooks: each folder is a hook, is rejected with a reason, or is ignored."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Any

from hookscope.formats.frontmatter import LARGEST_HEADER, cut_header, head_of
from hookscope.formats.positions import FormatError
from hookscope.hosts.folders.manifest import Manifest, ManifestReader, read_yaml_header
from hookscope.model.hook import LANGUAGE_OF, FilePosition, Folder, Hook, LogLine, Problem
from hookscope.model.hook_status import FoundHooks, RejectedHook
from hookscope.model.host import Host
from hookscope.model.machine import Files, FolderItem, is_file, is_within
from hookscope.model.regular_file import LARGEST_MANIFEST
from hookscope.values import dataclass

MANIFEST = "HOOK.md"
PYTHON_HANDLERS = ("handler.py", "index.py")  # found under every dialect, after the host's own names
NOT_RUN_BY_HOST = "Hookscope only: the host itself does not run Python"  # the note of such a hook


@dataclass(frozen=True, slots=True)
class FolderShape:
    """What makes a folder a hook."""

    namespace: str  # metadata.<namespace>
    handlers: tuple[str, ...]  # the host's own names, in order of precedence
    older_namespaces: tuple[str, ...] = ()  # former namespaces that the host still reads
    follows_links: bool = True  # whether a linked hook folder is a hook
    rejects_outside_handler: bool = False  # whether a handler outside its folder is missing (disc-11)
    reports_real_handler: bool = False  # whether a linked handler is reported as its target
    marks_python: bool = False  # whether Python handlers are marked as not run by the host
    read_header: ManifestReader = read_yaml_header
    handler_first: bool = False  # whether the handler is searched before the header is read
    longest_header: int | None = LARGEST_HEADER  # bytes of a HOOK.md that are read; None: up to a megabyte
    allows_missing_handler: bool = False  # whether a HOOK.md without a handler is a hook

    @property
    def candidates(self) -> tuple[str, ...]:
        """Return the possible names of handler files, the host's own names first."""
        return self.handlers + PYTHON_HANDLERS


@dataclass(frozen=True, slots=True)
class FolderTexts:
    """The host's own log lines during a scan; None where it logs nothing."""

    no_handler: str | None = None  # {folder} {name}
    bad_header: str | None = None  # {file}
    unscanned: str | None = None  # {folder} {error}, if a hooks folder cannot be listed
    unreadable: str | None = None  # {folder} {error}, if a HOOK.md cannot be read
    oversized: str | None = None  # {file} {limit}
    out_of_package: str | None = None  # {entry} {folder}


@dataclass(slots=True)
class HookSearch:
    """The results of one scan so far. Lives as long as the scan."""

    shape: FolderShape
    texts: FolderTexts
    files: Files
    hooks: list[Hook] = field(default_factory=list)
    rejected: list[RejectedHook] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    log: list[LogLine] = field(default_factory=list)

    def warn(self, template: str | None, **parts: object) -> None:
        """Log the host's warning, if it has one for this case."""
        if template is not None:
            self.log.append(LogLine("warn", template.format(**parts) if parts else template))

    def reject(self, folder: Folder, path: Path, reason: str, **details: Any) -> None:
        """Record a path that is not a hook, and why."""
        self.rejected.append(RejectedHook(path, folder.source, reason, **details))


MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
MAX_DEPTH = 2  # levels searched for hooks that are nested too deeply
MAX_FOLDERS_BELOW = 40  # number of folders in that search
UTF_16 = f"{MANIFEST} is UTF-16 text; save it as UTF-8"
BUILD_FOLDERS = frozenset({"dist", "build", "out", "lib", "src"})  # where packages put their built code


def report_loose_files(children: list[FolderItem], folder: Folder, search: HookSearch) -> None:
    """Reject the first file of a hook, if any, that is directly in the hooks folder."""
    hook_file_names = (MANIFEST, *(name for name in search.shape.candidates if name.startswith("handler.")))
    loose = {child.name: child for child in children if child.name in hook_file_names and not child.folder}
    if name := next((name for name in hook_file_names if name in loose), None):
        parent = folder.path.name
        reason = f"{name} is in {parent} itself; a hook needs a folder of its own, such as {parent}/NAME"
        search.reject(folder, loose[name].path, reason, name=name)


def report_missing_manifest(path: Path, names: list[str], folder: Folder, search: HookSearch) -> None:
    """Reject a folder that was clearly meant as a hook but has no manifest. Ignore other folders."""
    misspelt = next((name for name in names if name.lower() == MANIFEST.lower()), None)
    if misspelt is not None:
        reason = f"the file must be called {MANIFEST}; this one is {misspelt}"
        search.reject(folder, path, reason, name=path.name)
    elif handler := next((name for name in search.shape.candidates if name in names), None):
        reason = f"{handler} without a {MANIFEST} is not a hook"
        search.reject(folder, path, reason, name=path.name)
    elif found := _too_deep(path, search):
        parent, first = folder.path.name, found[0].relative_to(path)
        verb = f"and {len(found) - 1} more are" if len(found) > 1 else "is"
        reason = (
            f"{first / MANIFEST} {verb} too deep: a hook must be a folder directly in {parent}, "
            f"such as {parent}/{first.name}"
        )
        search.reject(folder, path, reason, name=path.name, place=FilePosition(found[0] / MANIFEST))


def _too_deep(path: Path, search: HookSearch) -> list[Path]:
    """Return the folders with a HOOK.md below `path`, outermost first. Links are not followed."""
    found, queue = [], [path]
    for _ in range(MAX_FOLDERS_BELOW):
        if not queue:
            break
        current = queue.pop(0)
        try:
            children = search.files.children(current)
        except OSError:
            continue
        if current != path and any(child.name == MANIFEST for child in children):
            found.append(current)
        elif len(current.relative_to(path).parts) < MAX_DEPTH:
            own = (child for child in children if child.folder and not child.linked)
            queue += [child.path for child in own if child.name[:1] != "." and child.name != "node_modules"]
    return found


def missing_header_reason(source: bytes) -> str:
    """Return the most specific reason why no header was found."""
    if source.startswith(MARKS_OF_UTF_16):
        return UTF_16
    if not source.strip(b"\xef\xbb\xbf \t\r\n"):
        return f"{MANIFEST} is empty"
    try:
        header = cut_header(source)
    except FormatError:
        header = None
    if header is not None and source.startswith(b"\xef\xbb\xbf"):
        return f"{MANIFEST} begins with a byte order mark, so this host does not find --- in its first line"
    if header is not None:
        return f"{MANIFEST} has a header without `name`, so this host ignores it"
    return f"{MANIFEST} has no frontmatter: its first line must be ---"


def describe_non_file(path: Path, files: Files) -> str:
    """Describe what is at a path that should be a file."""
    facts = files.facts(path)
    if facts is None:
        return "a broken link"
    return "a folder" if facts.folder else "not a regular file"


def missing_handler_reason(names: frozenset[str], refused: str, shape: FolderShape) -> str:
    """Return why a folder with a manifest has no handler, with the refused file or a similar name."""
    looked_for = ", ".join(shape.candidates)
    if refused:
        return f"{MANIFEST} but no handler: {refused}; looked for {looked_for}"
    similar_names = sorted(name for name in names if name.lower().startswith(("handler.", "index.")))
    build_folders = sorted(names & BUILD_FOLDERS)
    hint = f"; {similar_names[0]} is not one of them" if similar_names else ""
    if build_folders and not similar_names:
        hint = f"; it must be beside {MANIFEST}, not in {build_folders[0]}/"
    return f"{MANIFEST} but no handler: looked for {looked_for}{hint}"


def find_folder_hooks(
    host: Host, shape: FolderShape, texts: FolderTexts, legacy: Iterable[Hook]
) -> FoundHooks:
    """Return all hooks of the host's folders in scan order, then the legacy handlers."""
    search = HookSearch(shape, texts, host.machine.files)
    for folder in host.folders_of("folder"):
        children = children_of(folder, search)
        for child in children:
            _scan_child(child, folder, search)
        report_loose_files(children, folder, search)
    search.hooks += legacy
    return FoundHooks(tuple(search.hooks), tuple(search.rejected), tuple(search.problems), tuple(search.log))


def children_of(folder: Folder, search: HookSearch) -> list[FolderItem]:
    """Return the entries of a hooks folder; if it cannot be read, record a problem and return none."""
    error: OSError | None
    try:
        return search.files.children(folder.path)
    except FileNotFoundError:
        error = search.files.access_error(folder.path)
        if error is not None:  # a missing folder is not a problem
            search.problems.append(_unreadable_folder_problem(folder, error))
    except NotADirectoryError:
        search.problems.append(
            Problem(f"{blocking_file(folder.path, search.files)}; a hooks folder is expected there")
        )
    except OSError as caught:
        facts = search.files.facts(folder.path)
        if facts is not None and facts.folder:
            search.warn(search.texts.unscanned, folder=folder.path, error=_node_error_text(caught, "scandir"))
        search.problems.append(_unreadable_folder_problem(folder, caught))
    return []


def _unreadable_folder_problem(folder: Folder, error: OSError) -> Problem:
    """Return the problem of a hooks folder that cannot be read.

    A folder whose name is too long cannot exist, so it hides no hook.
    """
    unread_rank = None if error.errno == errno.ENAMETOOLONG else folder.rank
    return Problem(
        f"cannot read the {folder.source} folder: {os_error_reason(error)}", unread_rank=unread_rank
    )


def blocking_file(path: Path, files: Files) -> str:
    """Return a phrase that names the file in the place of a folder: `path` itself or a parent."""
    existing = next((place for place in (path, *path.parents) if files.facts(place) is not None), path)
    return f"{existing} is a file"


def os_error_reason(error: OSError) -> str:
    """Describe an OSError in a phrase: its file, if it names one, and the reason."""
    description = (error.strerror or str(error)).lower()
    return f"{error.filename}: {description}" if error.filename else description


def _node_error_text(error: OSError, call: str) -> str:
    """Return an OSError as Node words it: `EACCES: permission denied, open '/x'`."""
    code = errno.errorcode.get(error.errno or 0, "")
    return f"{code}: {(error.strerror or '').lower()}, {call} '{error.filename}'"


def _scan_child(child: FolderItem, folder: Folder, search: HookSearch) -> None:
    if not child.folder:
        if child.linked and search.files.facts(child.path) is None:
            reason = "a broken link"
            search.reject(folder, child.path, reason, name=child.name, unread_rank=folder.rank)
        return
    try:
        names = search.files.names(child.path)
    except OSError as error:
        reason = f"cannot be read: {os_error_reason(error)}"
        search.reject(folder, child.path, reason, name=child.name, unread_rank=folder.rank)
        return
    if MANIFEST not in names:
        report_missing_manifest(child.path, names, folder, search)
        return
    if child.linked and not search.shape.follows_links:
        search.reject(folder, child.path, "a linked hook folder is not followed", name=child.name)
        return
    _scan_manifest(child, frozenset(names), folder, search)


def _scan_manifest(child: FolderItem, names: frozenset[str], folder: Folder, search: HookSearch) -> None:
    manifest = child.path / MANIFEST
    real = _real_folder(child, folder, search.files)
    handler, leads_out, refused = _handler_of(child, names, real, search)
    if handler is None and search.shape.handler_first and is_file(manifest, search.files):
        _without_handler(child, names, folder, child.name, refused, search)
        return
    parsed = _read_manifest(child, folder, search)
    if parsed is None:
        return
    if handler is None:
        _without_handler(child, names, folder, parsed.name, refused, search)
        return
    search.hooks.append(
        Hook(
            name=parsed.name,
            kind="folder",
            folder=folder,
            path=child.path,
            meta=parsed.meta,
            description=parsed.description,
            manifest=manifest,
            handler=handler,
            language=LANGUAGE_OF.get(handler.suffix, "javascript" if not handler.suffix else "unknown"),
            real=real,
            leads_out=leads_out,
            beyond_host=search.shape.marks_python and handler.name in PYTHON_HANDLERS,
            notes=parsed.notes,
        )
    )


def _read_manifest(child: FolderItem, folder: Folder, search: HookSearch) -> Manifest | None:
    """Return the contents of the folder's HOOK.md; None if the folder is rejected because of it."""
    manifest, source = child.path / MANIFEST, b""
    try:
        source = _manifest_bytes(manifest, search)
        parsed = search.shape.read_header(source, child.name, search.shape.namespace)
    except OSError as error:
        if error.errno:
            error_text = _node_error_text(error, "open")
            search.warn(search.texts.unreadable, folder=child.path, error=error_text)
        unread_rank = folder.rank if error.errno or search.files.access_error(manifest) is not None else None
        reason = f"{MANIFEST} cannot be read: {os_error_reason(error)}"
        search.reject(folder, child.path, reason, name=child.name, unread_rank=unread_rank)
        return None
    except FormatError as error:
        search.warn(search.texts.bad_header, file=manifest)
        reason = UTF_16 if source.startswith(MARKS_OF_UTF_16) else f"{MANIFEST}, {error}"
        place = FilePosition.of(manifest, error.span)
        search.reject(folder, child.path, reason, place=place, name=child.name)
        return None
    for text in parsed.warnings if parsed is not None else ():
        search.warn(text)
    if parsed is not None and parsed.name:
        return parsed
    search.warn(search.texts.bad_header, file=manifest)
    place = FilePosition(manifest)
    search.reject(folder, child.path, missing_header_reason(source), place=place, name=child.name)
    return None


def _without_handler(
    child: FolderItem, names: frozenset[str], folder: Folder, name: str, refused: str, search: HookSearch
) -> None:
    search.warn(search.texts.no_handler, folder=child.path, name=name)
    search.reject(folder, child.path, missing_handler_reason(names, refused, search.shape), name=name)


def _manifest_bytes(manifest: Path, search: HookSearch) -> bytes:
    """Read a HOOK.md. Raises OSError, also for folders and large files; FormatError for an endless header."""
    files, longest = search.files, search.shape.longest_header
    facts = files.facts(manifest)
    if facts is None or not facts.file:
        raise OSError(0, "not a readable file", str(manifest))
    if longest is not None:
        return head_of(files.read(manifest, longest + 1), longest)
    if facts.size > LARGEST_MANIFEST:
        raise OSError(0, f"larger than {LARGEST_MANIFEST:,} bytes", str(manifest))
    return files.read(manifest)


def _real_folder(child: FolderItem, folder: Folder, files: Files) -> Path:
    """Return the real path of a hook folder.

    Resolves the path only where a link is involved: that costs a system call for each part of the path.
    """
    if child.linked or folder.real is None:
        return files.real(child.path)
    return child.path if folder.real == folder.path else folder.real / child.name


def _handler_of(
    child: FolderItem, names: frozenset[str], real: Path, search: HookSearch
) -> tuple[Path | None, Path | None, str]:
    """Return the handler file, its real path if outside the folder, and why a candidate was refused."""
    refused = ""
    for name in search.shape.candidates:
        if name not in names:
            continue
        path = child.path / name
        facts = search.files.facts(path)
        if facts is None or not facts.file:
            refused = f"{name} is {describe_non_file(path, search.files)}"
            continue
        if not facts.linked:
            return path, None, ""
        target = search.files.real(path)
        if is_within(target, real):
            return target if search.shape.reports_real_handler else path, None, ""
        if not search.shape.rejects_outside_handler:
            return path, target, ""
        refused = f"{name} leads out of its folder, to {target}"
    return None, None, refused
