"""Which folders are hooks. Every child of a hooks folder is a hook, is rejected with a reason, or is
plainly something else."""

import errno
from collections.abc import Iterable
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import LANGUAGE_OF, Folder, Hook, Place, Problem
from hookscope.core.inventory import Found
from hookscope.core.surroundings import Files, FolderItem, lies_in
from hookscope.formats.frontmatter import head_of
from hookscope.formats.places import FormatError
from hookscope.systems.folders.no_hooks import (
    MARKS_OF_UTF_16,
    UTF_16,
    explain_loose,
    explain_missing_manifest,
    no_handler,
    what_else,
    why_no_header,
)
from hookscope.systems.folders.shapes import MANIFEST, PYTHON_HANDLERS, FolderShape, FolderTexts, Search

LARGEST_MANIFEST = 1_048_576  # bytes; what OpenClaw 2026.9 reads (disc-13), and far more than any needs


def find_hooks(host: Host, shape: FolderShape, texts: FolderTexts, legacy: Iterable[Hook]) -> Found:
    """All hooks of the host's folders in order of looking, then the legacy handlers."""
    search = Search(shape, texts, host.surroundings.files)
    for folder in host.folders_of("folder"):
        children = children_of(folder, search)
        for child in children:
            _look_at_child(child, folder, search)
        explain_loose(children, folder, search)
    search.hooks += legacy
    return Found(tuple(search.hooks), tuple(search.rejected), tuple(search.problems), tuple(search.log))


def children_of(folder: Folder, search: Search) -> list[FolderItem]:
    """What lies in a hooks folder, by name; nothing, and a problem noted, where it cannot be read."""
    error: OSError | None
    try:
        return search.files.children(folder.path)
    except FileNotFoundError:
        error = search.files.trouble(folder.path)
        if error is not None:  # an absent folder is an ordinary thing, not a problem
            search.problems.append(_unread(folder, error))
    except NotADirectoryError:
        search.problems.append(
            Problem(f"{file_above(folder.path, search.files)}; hooks are looked for in folders")
        )
    except OSError as caught:
        facts = search.files.facts(folder.path)
        if facts is not None and facts.folder:
            search.warn(search.texts.unscanned, folder=folder.path, error=_system_words(caught, "scandir"))
        search.problems.append(_unread(folder, caught))
    return []


def _unread(folder: Folder, error: OSError) -> Problem:
    """A hooks folder that is there and cannot be read. With too long a name, there is none."""
    unseen = None if error.errno == errno.ENAMETOOLONG else folder.rank
    return Problem(f"cannot read the {folder.source} folder: {reason_of(error)}", unseen=unseen)


def file_above(path: Path, files: Files) -> str:
    """Of a folder that cannot be one, since it or a folder above it is a file: which, as half a sentence."""
    there = next((place for place in (path, *path.parents) if files.facts(place) is not None), path)
    return f"{there} is a file"


def reason_of(error: OSError) -> str:
    """An OSError as half a sentence, with its path."""
    what = (error.strerror or str(error)).lower()
    return f"{error.filename}: {what}" if error.filename else what


def _system_words(error: OSError, call: str) -> str:
    """An OSError as Node words it: `EACCES: permission denied, open '/x'`."""
    code = errno.errorcode.get(error.errno or 0, "")
    return f"{code}: {(error.strerror or '').lower()}, {call} '{error.filename}'"


def _look_at_child(child: FolderItem, folder: Folder, search: Search) -> None:
    if not child.folder:
        if child.linked and search.files.facts(child.path) is None:
            reason = "a link that leads nowhere"
            search.reject(folder, child.path, reason, name=child.name, unseen=folder.rank)
        return
    try:
        names = search.files.names(child.path)
    except OSError as error:
        reason = f"cannot be read: {reason_of(error)}"
        search.reject(folder, child.path, reason, name=child.name, unseen=folder.rank)
        return
    if MANIFEST not in names:
        explain_missing_manifest(child.path, names, folder, search)
        return
    if child.linked and not search.shape.follows_links:
        search.reject(folder, child.path, "a linked hook folder is not followed", name=child.name)
        return
    _look_at_manifest(child, frozenset(names), folder, search)


def _look_at_manifest(child: FolderItem, names: frozenset[str], folder: Folder, search: Search) -> None:
    manifest = child.path / MANIFEST
    name = child.name
    real = _real_folder(child, folder, search.files)
    handler, leads_out, refused = _handler_of(child, names, real, search)
    if handler is None and search.shape.handler_first and _is_file(manifest, search.files):
        _without_handler(child, names, folder, name, refused, search)
        return
    source = b""
    try:
        source = _manifest_bytes(manifest, search)
        said = search.shape.read(source, child.name, search.shape.namespace)
    except OSError as error:
        if error.errno:
            words = _system_words(error, "open")
            search.warn(search.texts.unreadable, folder=child.path, error=words)
        unknown = error.errno or search.files.trouble(manifest) is not None
        reason = f"{MANIFEST} cannot be read: {reason_of(error)}"
        search.reject(folder, child.path, reason, name=name, unseen=folder.rank if unknown else None)
        return
    except FormatError as error:
        search.warn(search.texts.bad_header, file=manifest)
        place = Place(manifest, error.span.line, error.span.column)
        reason = UTF_16 if source.startswith(MARKS_OF_UTF_16) else f"{MANIFEST}, {error}"
        search.reject(folder, child.path, reason, place=place, name=name)
        return
    for text in said.warnings if said is not None else ():
        search.warn(text)
    if said is None or not said.name:
        search.warn(search.texts.bad_header, file=manifest)
        search.reject(folder, child.path, why_no_header(source), place=Place(manifest), name=name)
        return
    if handler is None:
        _without_handler(child, names, folder, said.name, refused, search)
        return
    search.hooks.append(
        Hook(
            name=said.name,
            kind="folder",
            folder=folder,
            path=child.path,
            meta=said.meta,
            description=said.description,
            manifest=manifest,
            handler=handler,
            language=LANGUAGE_OF.get(handler.suffix, "javascript" if not handler.suffix else "unknown"),
            real=real,
            leads_out=leads_out,
            beyond_host=search.shape.marks_python and handler.name in PYTHON_HANDLERS,
            notes=said.notes,
        )
    )


def _is_file(path: Path, files: Files) -> bool:
    facts = files.facts(path)
    return facts is not None and facts.file


def _without_handler(
    child: FolderItem, names: frozenset[str], folder: Folder, name: str, refused: str, search: Search
) -> None:
    search.warn(search.texts.no_handler, folder=child.path, name=name)
    search.reject(folder, child.path, no_handler(names, refused, search.shape), name=name)


def _manifest_bytes(manifest: Path, search: Search) -> bytes:
    """Raises OSError, also where it is a folder or too large, and FormatError for an endless header."""
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
    """Resolving costs a system call for each part of a path, so only links pay for it."""
    if child.linked or folder.real is None:
        return files.real(child.path)
    return child.path if folder.real == folder.path else folder.real / child.name


def _handler_of(
    child: FolderItem, names: frozenset[str], real: Path, search: Search
) -> tuple[Path | None, Path | None, str]:
    """The handler file, where it really lies when that is outside the folder, and what was refused."""
    refused = ""
    for name in search.shape.candidates:
        if name not in names:
            continue
        path = child.path / name
        facts = search.files.facts(path)
        if facts is None or not facts.file:
            refused = f"{name} is {what_else(path, search.files)}"
            continue
        if not facts.linked:
            return path, None, ""
        target = search.files.real(path)
        if lies_in(target, real):
            return target if search.shape.reports_real_handler else path, None, ""
        if not search.shape.handler_must_stay:
            return path, target, ""
        refused = f"{name} leads out of its folder, to {target}"
    return None, None, refused
