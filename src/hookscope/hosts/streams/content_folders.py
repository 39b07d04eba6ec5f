"""The content folders of an agent, and the host's diagnostics about them when it builds the project.

An error in any of them stops the build, so no hook runs. Source: the host's code, comparisons with the
host on random folders, and eve 23. Reads only through `Files`; runs nothing.
"""

import errno
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec

from hookscope.hosts.streams.module_folders import (
    DECLARATION,
    MODULE_SUFFIXES,
    WARNING,
    Diagnostic,
    FileRules,
    collation_key,
    diagnostic,
    is_test_name,
)
from hookscope.model.machine import Files, FolderItem
from hookscope.model.text import error_reason
from hookscope.values import dataclass

MARKDOWN = ".md"
LARGEST = 1_048_576  # bytes of a document that are read
INSTRUCTIONS_FILE = "instructions.md"
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class ContentFolder:
    """A folder of modules or Markdown, and the cases of `diagnostics.yaml` for faults in it."""

    folder: str
    recursive: bool = False  # whether its subfolders are read
    markdown: bool = False
    pattern: re.Pattern[str] | None = None  # of a valid name
    stray: str = ""  # the case of any other file
    links_stray: bool = False  # whether a link is reported in the same way
    check_document: Callable[[bytes], str] | None = None  # returns the error in a Markdown file, or ""


def with_read_error(find: Callable[P, Iterator[Diagnostic]]) -> Callable[P, tuple[Diagnostic, ...]]:
    """Decorate a generator to return all its diagnostics as a tuple; an OSError becomes the last one."""

    def collected(*arguments: P.args, **options: P.kwargs) -> tuple[Diagnostic, ...]:
        kept: list[Diagnostic] = []
        try:
            kept.extend(find(*arguments, **options))
        except OSError as error:
            place = Path(str(error.filename or ""))
            reason = f"{error_reason(error)}, '{place}'"
            kept.append(Diagnostic(errno.errorcode.get(error.errno or 0, "error"), reason, place))
        return tuple(kept)

    return collected


def entries_in(folder: Path, rules: FileRules, files: Files) -> list[FolderItem]:
    """Return a folder's entries in the host's order, links included, without tests. Raises OSError."""
    children = sorted(files.children(folder), key=lambda child: collation_key(child.name))
    return [child for child in children if not is_test_name(child.name, rules)]


def is_plain_file(child: FolderItem) -> bool:
    """Return whether the entry is neither a folder nor a link: links are never followed."""
    return not child.folder and not child.linked


def is_plain_folder(child: FolderItem) -> bool:
    """Return whether the entry is a folder itself, not a link to one."""
    return child.folder and not child.linked


def module_stem(name: str, rules: FileRules) -> str | None:
    """Return a host module's file name without its suffix; None if the file is not a module."""
    if rules.skips_declarations and DECLARATION.search(name):
        return None
    endings = (ending for ending in MODULE_SUFFIXES if name.endswith(ending) and len(name) > len(ending))
    return next((name[: -len(ending)] for ending in endings), None)


def modules_named(stem: str, children: list[FolderItem], rules: FileRules) -> list[str]:
    """Return the files among the entries that are modules with this stem."""
    return [
        child.name for child in children if is_plain_file(child) and module_stem(child.name, rules) == stem
    ]


def quoted_names(names: list[str]) -> str:
    """Return the names in quotes, as the host lists them."""
    return ", ".join(f'"{name}"' for name in names)


def entry_named(name: str, children: list[FolderItem]) -> FolderItem | None:
    """Return the entry with this name, or None."""
    return next((child for child in children if child.name == name), None)


def content_diagnostics(
    content: ContentFolder, root: Path, children: list[FolderItem], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for a content folder in `root`, which has these `children`. Raises OSError."""
    place = entry_named(content.folder, children)
    if place is None:
        return
    if not is_plain_folder(place):
        yield diagnostic(f"{content.folder}-directory-invalid", place.path, folder=place.path)
        return
    yield from _walk(content, place.path, (), rules, files)


def _walk(
    content: ContentFolder, folder: Path, parents: tuple[str, ...], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    children = entries_in(folder, rules, files)
    for child in children if content.recursive else ():
        if is_plain_folder(child):
            refused = _refused(content, child.name, child.path)
            yield from refused or _walk(content, child.path, (*parents, child.name), rules, files)
    yield from _stray_files(content, children, rules)
    for stem, (document, modules) in _slots(content, children, rules).items():
        yield from _slot(
            content, folder, "/".join((content.folder, *parents, stem)), stem, document, modules, files
        )


def _refused(content: ContentFolder, name: str, path: Path) -> tuple[Diagnostic, ...]:
    if content.pattern is None or content.pattern.fullmatch(name):
        return ()
    return (diagnostic(f"{content.folder}-name-invalid", path, name=name),)


def _stray_files(
    content: ContentFolder, children: list[FolderItem], rules: FileRules
) -> Iterator[Diagnostic]:
    for child in children if content.stray else ():
        of_kind = module_stem(child.name, rules) is not None or (
            content.markdown and child.name.endswith(MARKDOWN)
        )
        declares = rules.skips_declarations and DECLARATION.search(child.name) is not None
        if (is_plain_file(child) and not of_kind and not declares) or (child.linked and content.links_stray):
            yield diagnostic(content.stray, child.path, file=child.path)


def _slots(
    content: ContentFolder, children: list[FolderItem], rules: FileRules
) -> dict[str, tuple[str, list[str]]]:
    """Return each stem in the host's order, with its Markdown file and its modules."""
    found: dict[str, tuple[str, list[str]]] = {}
    for child in children:
        if not is_plain_file(child):
            continue
        is_document = content.markdown and child.name.lower().endswith(MARKDOWN) and len(child.name) > 3
        stem = child.name[:-3] if is_document else module_stem(child.name, rules)
        if stem is not None:
            document, modules = found.get(stem, ("", []))
            found[stem] = (child.name, modules) if is_document else (document, [*modules, child.name])
    return dict(sorted(found.items(), key=lambda item: collation_key(item[0])))


def _slot(
    content: ContentFolder,
    folder: Path,
    slot: str,
    stem: str,
    document: str,
    modules: list[str],
    files: Files,
) -> Iterator[Diagnostic]:
    refused = _refused(content, stem, folder / (document or modules[0]))
    if refused:
        yield from refused
    elif document and modules:
        yield diagnostic("slot-collision", folder, slot=slot, files=quoted_names([document, *modules]))
    elif len(modules) > 1:
        yield diagnostic("module-slot-collision", folder, slot=slot, files=quoted_names(modules))
    elif document and content.check_document is not None:
        error = content.check_document(files.read(folder / document, LARGEST))
        if error:
            yield Diagnostic("", error, folder / document)


def instruction_diagnostics(
    root: Path, children: list[FolderItem], required: bool, rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for instructions (old name `system`). The root agent needs them. Raises OSError."""
    documents, modules = _flat("instructions", children, rules)
    yield from _flat_collision("instructions", root, documents, modules)
    place = entry_named(INSTRUCTIONS_CONTENT.folder, children)
    if place is not None and is_plain_folder(place):
        yield from content_diagnostics(INSTRUCTIONS_CONTENT, root, children, rules, files)
    if documents or modules or (place is not None and is_plain_folder(place)):
        return
    documents, modules = _flat("system", children, rules)
    if len(documents[-1:]) + len(modules) > 1:
        yield from _flat_collision("system", root, documents, modules)
    elif documents or modules:
        old = "system.md" if documents else modules[0]
        new = old.replace("system", "instructions", 1)
        yield diagnostic("deprecated-system-slot", root / old, WARNING, old=old, new=new)
    elif required:
        yield diagnostic("required-instructions-missing", root, missing_file=root / INSTRUCTIONS_FILE)


def _flat(stem: str, children: list[FolderItem], rules: FileRules) -> tuple[list[str], list[str]]:
    documents = [
        child.name for child in children if is_plain_file(child) and child.name.lower() == f"{stem}{MARKDOWN}"
    ]
    return documents, modules_named(stem, children, rules)


def _flat_collision(slot: str, root: Path, documents: list[str], modules: list[str]) -> Iterator[Diagnostic]:
    names = [*documents[-1:], *modules]
    if documents and modules:
        yield diagnostic("slot-collision", root, slot=slot, files=quoted_names(names))
    elif len(modules) > 1:
        yield diagnostic("module-slot-collision", root, slot=slot, files=quoted_names(names))


INSTRUCTIONS_CONTENT = ContentFolder("instructions", markdown=True)
LIB_CONTENT = ContentFolder("lib", recursive=True, stray="lib-entry-unsupported", links_stray=True)
