"""Reads the files of hooks for lint rules, through the host's own file access."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hookscope.authoring.lint.header import HEADER_LIMIT, LintHeader, read_header
from hookscope.authoring.lint.model import NO_SUCH_FILE, HostFacts, LintSubject, NodePackage, PackEntryFault
from hookscope.authoring.lint.rule_helpers import missing_imports
from hookscope.hosts.source.facts import LARGEST, HandlerFacts
from hookscope.hosts.source.python import python_facts
from hookscope.hosts.source.script_parsing import ScriptReader, ScriptSource
from hookscope.model.hook import LANGUAGE_OF, FilePosition, Hook
from hookscope.model.hook_status import Inventory, RejectedHook
from hookscope.model.host import Host
from hookscope.model.machine import Files, names_in
from hookscope.packs.package import entry_faults
from hookscope.packs.plan import handler_names_of, hook_list_keys_of

MANIFEST = "HOOK.md"
PACKAGE = "package.json"
LARGEST_PACKAGE = 262_144  # bytes


def read_subjects(inventory: Inventory, host: HostFacts, files: Files) -> tuple[LintSubject, ...]:
    """Return the hooks, and rejected folders that look like hooks, without facts of sources. Never raises."""
    subjects = [
        read_subject(row.hook, host, files)
        for row in inventory.hooks
        if row.hook.path is not None or row.hook.handler is not None
    ]
    seen = {subject.folder for subject in subjects}
    for rejected in inventory.rejected:
        if not rejected.ignored and rejected.path not in seen:
            seen.add(rejected.path)
            subjects += _read_rejected(rejected, host, files)
    return tuple(subjects)


def read_pack(folder: Path, host: Host, facts: HostFacts) -> LintSubject | None:
    """Return the folder as a subject if its package.json lists hooks that do not exist; else None."""
    files, source = host.machine.files, _bytes_of(folder / PACKAGE, LARGEST_PACKAGE, host.machine.files)
    try:
        document = json.loads(source.decode("utf-8", "replace")) if source is not None else None
    except (ValueError, RecursionError):
        return None
    if source is None or not isinstance(document, dict) or host.dialect.pack_rules is None:
        return None
    keys, handlers = hook_list_keys_of(host), handler_names_of(host)
    lines = source.decode("utf-8", "replace").splitlines()
    faults = [
        PackEntryFault(FilePosition(folder / PACKAGE, _line_with(json.dumps(entry), lines)), reason)
        for entry, reason in entry_faults(_FolderFiles(folder, files), document, keys, handlers)
    ]
    return LintSubject(folder.name, folder, facts, pack_faults=tuple(faults)) if faults else None


def _line_with(text: str, lines: Sequence[str]) -> int:
    return next((number for number, line in enumerate(lines, 1) if text in line), 1)


class _FolderFiles:
    def __init__(self, folder: Path, files: Files) -> None:
        self._folder, self._files = folder, files

    def names(self, folder: str = "") -> frozenset[str]:
        return names_in(self._folder / folder, self._files)

    def read(self, path: str) -> bytes | None:
        return _bytes_of(self._folder / path, LARGEST_PACKAGE, self._files)


def read_subject(hook: Hook, host: HostFacts, files: Files) -> LintSubject:
    """Return one hook with its files read, without the facts of its source."""
    handler = hook.handler
    folder = hook.path if hook.kind == "folder" and hook.path else (handler or Path()).parent
    return replace(_read_hook(hook.name, folder, hook.manifest, handler, host, files), hook=hook)


def _read_rejected(rejected: RejectedHook, host: HostFacts, files: Files) -> Iterator[LintSubject]:
    facts = files.facts(rejected.path)
    if facts is None or not facts.folder:
        return
    name = rejected.name or rejected.path.name
    if rejected.kind == "plugin":
        yield replace(_read_hook(name, rejected.path, None, None, host, files), rejected=rejected)
        return
    names = names_in(rejected.path, files)
    manifest = rejected.path / MANIFEST if MANIFEST in names else None
    file = next((name for name in (*host.handlers, *host.hookscope_handlers) if name in names), None)
    handler = rejected.path / file if file else None
    yield replace(_read_hook(name, rejected.path, manifest, handler, host, files), rejected=rejected)


def _read_hook(
    name: str, folder: Path, manifest: Path | None, handler: Path | None, host: HostFacts, files: Files
) -> LintSubject:
    source, unread_reason = (
        _source_of(handler, files) if handler is not None else (b"", "there is no handler")
    )
    return LintSubject(
        name=name,
        folder=folder,
        host=host,
        names=names_in(folder, files),
        manifest=manifest,
        header=_header_of(manifest, files) if manifest is not None else LintHeader(),
        handler=handler,
        source=source,
        text=source.decode("utf-8", "replace").removeprefix("\ufeff"),
        unread_reason=unread_reason,
        package=_package_above(handler, files) if handler is not None and handler.suffix == ".js" else None,
    )


def _header_of(manifest: Path, files: Files) -> LintHeader:
    source = _bytes_of(manifest, HEADER_LIMIT + 1, files)
    return read_header(source) if source is not None else LintHeader(unreadable=True)


def _source_of(handler: Path, files: Files) -> tuple[bytes, str]:
    """Return the handler's bytes, or why there are none."""
    source = _bytes_of(handler, LARGEST + 1, files)
    if source is None:
        return b"", NO_SUCH_FILE if files.facts(handler) is None else "it cannot be read"
    if len(source) > LARGEST:
        return b"", f"it is larger than {LARGEST:,} bytes"
    return source, ""


def _bytes_of(path: Path, limit: int, files: Files) -> bytes | None:
    facts = files.facts(path)
    if facts is None or not facts.file:  # reading a pipe would never end
        return None
    try:
        return files.read(path, limit)[:limit]
    except OSError:
        return None


def _package_above(handler: Path, files: Files) -> NodePackage | None:
    """Return the nearest package.json upwards. An unreadable one sets no type, as for Node."""
    for folder in handler.parents:
        source = _bytes_of(folder / PACKAGE, LARGEST_PACKAGE, files)
        if source is not None:
            try:
                document = json.loads(source.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                document = None
            members = document if isinstance(document, dict) else {}
            kind, scripts = members.get("type"), members.get("scripts")
            has_build = isinstance(scripts, dict) and isinstance(scripts.get("build"), str)
            return NodePackage(folder / PACKAGE, kind if isinstance(kind, str) else "", has_build)
    return None


# Facts of the source


def with_handler_facts(
    subjects: Iterable[LintSubject], scripts: ScriptReader, files: Files
) -> tuple[LintSubject, ...]:
    """Return the subjects with their handlers' facts. One child process parses all scripts."""
    subjects = tuple(subjects)
    sources = [
        ScriptSource(str(subject.handler), subject.text, _is_typescript(subject))
        for subject in subjects
        if not subject.unread_reason and not _is_python(subject)
    ]
    read = scripts(sources) if sources else {}
    return tuple(_with_one_handler_facts(subject, read, files) for subject in subjects)


def _with_one_handler_facts(
    subject: LintSubject, read: dict[str, HandlerFacts | str], files: Files
) -> LintSubject:
    if subject.unread_reason:
        return subject
    if _is_python(subject):
        return replace(subject, facts=python_facts(subject.source))
    found = read.get(str(subject.handler), "it was not parsed")
    if isinstance(found, str) or subject.handler is None:
        return replace(subject, unread_reason=str(found))
    missing = missing_imports(subject.handler, found, files, like_node=subject.host.loads_like_node)
    return replace(subject, facts=found, missing_imports=tuple(missing))


def _is_python(subject: LintSubject) -> bool:
    return subject.handler is not None and subject.handler.suffix == ".py"


def _is_typescript(subject: LintSubject) -> bool:
    return subject.handler is not None and LANGUAGE_OF.get(subject.handler.suffix) == "typescript"
