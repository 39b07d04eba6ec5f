"""A bounded copy of everything that a host's report about its hooks depends on.

The copy has the hook folders, the extensions, the workspace, and the settings with their secrets masked. It
has no credentials and no sessions of the host. The originals are only read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from typing import Any

from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import FormatError
from hookscope.helpers import find_program, without_foreign_loaders
from hookscope.model.host import Host
from hookscope.model.machine import is_within, walk_folders
from hookscope.model.program_report import ProgramReport
from hookscope.model.regular_file import read_regular
from hookscope.runtime.bounded_copy import PACKAGE_FOLDER
from hookscope.runtime.sandbox import Sandbox, find_bwrap
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.json5_edit import with_setting
from hookscope.storage.edits.masked_preview import MASKED_WORD, masked_settings
from hookscope.storage.journal.redaction import Redaction
from hookscope.storage.journal.secrets import MASKED_SECRET, SecretKeys
from hookscope.storage.state_files import state_folder

BUNDLED = "bundled"  # the source of hooks that the program ships: never copied
MOST_INCLUDED = 64  # files that settings include
DEEPEST_PACKAGES = 8  # levels below a folder that is searched for hooks
MOST_LINKED = 20_000  # files of the copy that are checked for hard links
VARIABLE_LINE = re.compile(r"(\s*(?:export\s+)?([A-Za-z_]\w*)\s*=)(.*)", re.DOTALL)


class HostCopy:
    """A copy of a host's files, with a home folder and an environment for a program; `close` removes it.

    Creating it copies files, which blocks. Raises OSError if there is not enough space.
    """

    def __init__(self, host: Host, report: ProgramReport, redaction: Redaction) -> None:
        self._host, self._redaction = host, redaction
        texts = [*_settings_files(host), *_variable_files(host)]
        program = find_program("bwrap", [host.workspace, host.machine.cwd])
        bwrap = find_bwrap(str(Path(program).parent)) if program is not None else None
        self._sandbox = Sandbox(
            needed_folders(host, report),
            bwrap=bwrap,
            excluded=[state_folder(), host.workspace / ".git", *texts],
        )
        self.is_isolated = bwrap is not None
        try:
            self.cwd = self._sandbox.mirrored(host.machine.cwd)
            self.workspace = self._sandbox.mirrored(host.workspace)
            self._write_settings(texts)
            self._keep_hard_links()
            for folder in (self.cwd, self._sandbox.mirrored(host.machine.home)):
                folder.mkdir(parents=True, exist_ok=True)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> HostCopy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def sandbox_filter(self) -> bytes:
        """The seccomp filter for bwrap; empty without isolation."""
        return self._sandbox.filter

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for everything that was not copied."""
        return self._sandbox.isolation.skipped_notes

    def has(self, path: Path) -> bool:
        """Return whether the program sees this file: it was copied, or it is outside the copied folders."""
        copy = self._sandbox.copy_of(path)
        return copy == path or os.path.lexists(copy)

    def command(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the command as it runs in the sandbox; unchanged without isolation."""
        machine = self._host.machine
        bundled = [folder.path for folder in self._host.folders if folder.source == BUNDLED]
        return self._sandbox.argv(words, [*map(Path, machine.search_path()), *bundled])

    def original_of(self, text: str) -> str:
        """Return the text with the original paths in place of the copy's paths."""
        return self._sandbox.original_of(text)

    def environment(self) -> dict[str, str]:
        """Return the program's environment: the machine's, with secrets masked and folders in the copy."""
        host, layout, machine = self._host, self._host.dialect.layout, self._host.machine
        keys = self._redaction.keys
        masker = self._redaction.masker(dict(machine.env))
        env = {
            name: _safe_value(name, MASKED_SECRET.sub(MASKED_WORD, masker.masked_text(value)), keys)
            for name, value in without_foreign_loaders(machine.env).items()
        }
        env = self._sandbox.environment(env)
        moved = (layout.state_variable, layout.settings_variable, layout.workspace_variable)
        for name in filter(None, (*moved, layout.home_variable)):
            if machine.env.get(name, "").strip():
                env[name] = str(self._sandbox.mirrored(machine.absolute(machine.env[name].strip())))
        if host.overrides.config is not None and layout.settings_variable:
            env[layout.settings_variable] = str(self._sandbox.mirrored(host.settings.file))
        if host.overrides.workspace is not None and layout.workspace_variable:
            env[layout.workspace_variable] = str(self.workspace)
        home = str(self._sandbox.mirrored(machine.home))
        return {**env, "HOME": home, "PWD": str(self.cwd), "NO_COLOR": "1", "CI": "1"}

    def close(self) -> None:
        """Remove the copy."""
        self._sandbox.close()

    def _write_settings(self, files: Sequence[Path]) -> None:
        variables = set(_variable_files(self._host))
        for file in files:
            with suppress(OSError):  # unreadable for the program too
                content = read_regular(file)
                to = self._sandbox.mirrored(file)
                to.parent.mkdir(parents=True, exist_ok=True)
                if file in variables:
                    text = self._masked_variables(content)
                else:
                    text = self._redaction.masker().masked_text(masked_settings(content, self._moved))
                if file == self._host.settings.file:
                    text = self._with_workspace(text)
                to.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")

    def _with_workspace(self, text: str) -> str:
        """Return the settings with the workspace that the user chose, if the program reads it there."""
        host, layout = self._host, self._host.dialect.layout
        path = layout.workspace_path
        named = isinstance(host.settings.get(path), str) or not layout.workspace_variable
        if host.overrides.workspace is None or not path or not named:
            return text
        try:
            changed = with_setting(text.encode("utf-8", "surrogateescape"), path, str(self.workspace))
        except ChangeError:  # the comparison reports that the workspaces differ
            return text
        return changed.decode("utf-8", "surrogateescape")

    def _moved(self, value: str) -> str:
        """Return a path in the settings as the program must see it; other texts unchanged."""
        home = self._host.machine.home
        if value.startswith("~/"):
            original = home / value[2:]
            copied = self._sandbox.copy_of(original) != original
            return value if copied or not os.path.exists(original) else str(original)
        if not os.path.isabs(value) or "\n" in value:
            return value
        copy = self._sandbox.copy_of(Path(value))
        return value if copy == Path(value) else str(copy)

    def _masked_variables(self, content: bytes) -> str:
        lines = content.decode("utf-8", "surrogateescape").splitlines(keepends=True)
        masker = self._redaction.masker("".join(lines))
        return "".join(self._masked_line(masker.masked_text(line)) for line in lines)

    def _masked_line(self, line: str) -> str:
        line = MASKED_SECRET.sub(MASKED_WORD, line)
        found = VARIABLE_LINE.fullmatch(line)
        if found is None:
            return line
        value = found[3].rstrip("\r\n")
        return f"{found[1]}{_safe_value(found[2], value, self._redaction.keys)}{found[3][len(value) :]}"

    def _keep_hard_links(self) -> None:
        """Give copies of hard-linked files a second link too, because hosts reject such files."""
        numbers = count()
        for path in islice(self._copied_files(), MOST_LINKED):
            with suppress(OSError):
                original = os.lstat(self.original_of(path))
                if original.st_nlink > 1 and stat.S_ISREG(original.st_mode):
                    os.link(path, self._sandbox.temporary / f"link-{next(numbers)}")

    def _copied_files(self) -> Iterator[str]:
        for folder, names in walk_folders(self._sandbox.mirrored(Path("/"))):
            yield from (os.path.join(folder, name) for name in names)


def needed_folders(host: Host, report: ProgramReport) -> list[Path]:
    """Return the folders to copy, the most important first."""
    hooks = [folder.path for folder in host.folders if folder.source != BUNDLED]
    searched = [folder.path for folder in host.folders_of("folder") if folder.source != BUNDLED]
    searched += [host.workspace / name for name in report.workspace_entries if name != PACKAGE_FOLDER]
    hooks += [packages for folder in searched for packages in _packages_below(folder)]
    state = [host.state / name for name in report.state_entries] if host.dialect.layout.state else []
    wide = is_within(host.machine.home, host.workspace) or is_within(host.state, host.workspace)
    if host.dialect.layout.state and wide:  # such a workspace is never copied as a whole
        return [*dict.fromkeys([*hooks, *state])]
    return [*dict.fromkeys([*hooks, *state, host.workspace])]


def _packages_below(top: Path) -> Iterator[Path]:
    """Yield the `node_modules` below a folder: a copy has them as links, which hosts do not follow."""
    for folder, names, _ in os.walk(top):
        if PACKAGE_FOLDER in names:
            yield Path(folder, PACKAGE_FOLDER)
        deep = len(Path(folder).relative_to(top).parts) >= DEEPEST_PACKAGES
        names[:] = [] if deep else [name for name in names if name != PACKAGE_FOLDER]


def _safe_value(name: str, value: str, keys: SecretKeys) -> str:
    """Return the value, masked if the variable's name marks a secret. Absolute paths stay."""
    return MASKED_WORD if value.strip() and keys.names_secret(name) and not value.startswith("/") else value


def _settings_files(host: Host) -> list[Path]:
    """Return the settings file and the files that it includes."""
    if not host.settings.exists or not host.dialect.layout.settings:
        return []
    found: dict[Path, None] = {}
    waiting, key = [host.settings.file], host.dialect.settings_rules.include
    while waiting and len(found) < MOST_INCLUDED:
        file = waiting.pop(0)
        if file in found:
            continue
        found[file] = None
        if key is not None:
            with suppress(OSError, FormatError):
                waiting += [file.parent / name for name in _included(read_json5(read_regular(file)), key)]
    return list(found)


def _included(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        named = value.get(key)
        yield from (name for name in (named if isinstance(named, list) else [named]) if isinstance(name, str))
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _included(item, key)


def _variable_files(host: Host) -> list[Path]:
    rules = host.dialect.settings_rules
    of_state = [host.state / rules.dotenv] if rules.dotenv is not None else []
    return [*of_state, *(host.workspace / name for name in (*rules.project_dotenv, ".env"))]
