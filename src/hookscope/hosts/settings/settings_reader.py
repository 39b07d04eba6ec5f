"""Reads a settings file: its values, and on request the file and line of each value."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from hookscope.formats.environment_files import read_dotenv
from hookscope.formats.json5 import LARGEST_JSON5, Json5Places, read_json5
from hookscope.formats.positions import FormatError, KeyPath, dotted_path, text_of
from hookscope.model.hook import FilePosition, Problem
from hookscope.model.host import Settings, SettingsRules
from hookscope.model.machine import Files, RealFiles
from hookscope.model.payload import mapping_or_empty
from hookscope.model.text import error_reason
from hookscope.values import dataclass

LARGEST = 1_048_576  # bytes of a .env file
_VARIABLE = r"\$(\$?)\{([A-Z_][A-Z0-9_]*)\}"


def fill_variables(
    value: Any, env: Mapping[str, str], on_missing: Callable[[KeyPath, str], None], at: KeyPath = ()
) -> Any:
    """Return the value with `${NAME}` replaced in every string; `$${NAME}` becomes `${NAME}`.

    An unset or empty variable is left as written, and `on_missing` is called with its path and name.
    Source: OpenClaw 2026.9.6.
    """
    match value:
        case str() if "$" in value:

            def replacement(found: re.Match[str]) -> str:
                name = found[2]
                if found[1]:
                    return f"${{{name}}}"
                if not env.get(name):
                    on_missing(at, name)
                    return found[0]
                return env[name]

            return re.sub(_VARIABLE, replacement, value)
        case list():
            return [fill_variables(item, env, on_missing, (*at, number)) for number, item in enumerate(value)]
        case Mapping():
            return {key: fill_variables(item, env, on_missing, (*at, key)) for key, item in value.items()}
        case _:
            return value


def with_dotenv(env: Mapping[str, str], file: Path, files: Files) -> Mapping[str, str]:
    """Return `env` plus the variables of a `.env` file that `env` does not set; `env` if it is unreadable."""
    try:
        return {**_variables_in(file, files), **env}
    except OSError:
        return env


def dotenv_problem(file: Path, files: Files) -> Problem | None:
    """Return why a `.env` file is ignored; None if it can be read, or does not exist."""
    try:
        _variables_in(file, files)
    except OSError as error:
        text = f"{file.name} cannot be read: {error_reason(error)}; its variables are not set"
        return Problem(text, FilePosition(file, 1))
    return None


def _variables_in(file: Path, files: Files) -> Mapping[str, str]:
    """Return the variables of a `.env` file; empty if it does not exist. Raises OSError."""
    facts = files.facts(file)
    if facts is None:
        return {}
    if facts.file and facts.size > LARGEST:
        raise OSError(errno.EFBIG, f"larger than {LARGEST // 2**20} MiB", str(file))
    return read_dotenv(files.read(file, LARGEST))


def with_settings_variables(env: Mapping[str, str], variables: Any) -> Mapping[str, str]:
    """Return `env` plus the settings' `variables`; a variable that is not blank in `env` keeps its value."""
    own = mapping_or_empty(variables).items()
    texts = {name: value for name, value in own if isinstance(value, str) and value.strip()}
    return {**env, **{name: value for name, value in texts.items() if not env.get(name, "").strip()}}


MAX_DEPTH = 10  # nesting of files
MAX_FILE_BYTES = 2 * 1024 * 1024  # size of one file
# Of all included files together; a file counts each time that it is included. The host has no such limits:
# it hangs if files include each other several times.
MAX_FILES, MAX_TOTAL_BYTES = 1_000, 16 * 1024 * 1024


class IncludeError(ValueError):
    """A file may not be included, or cannot be read. `host_text` is the host's own message."""

    def __init__(self, text: str, host_text: str) -> None:
        super().__init__(text)
        self.host_text = host_text


@dataclass(frozen=True, slots=True)
class _IncludedFile:
    """The value of an included file, and the number and size of the files that it consists of."""

    value: Any
    files: int
    size: int  # bytes


class Includes:
    """Resolves the includes of a settings file, reading each file once. Source: OpenClaw 2026.9.6."""

    def __init__(self, key: str, files: Files, root: Path) -> None:
        """Resolve includes under `key`; all included files must be in `root`, the folder of the settings."""
        self._key, self._files, self._root, self._real_root = key, files, root, files.real(root)
        self._read: dict[Path, Any] = {}
        self._parts: dict[tuple[Path, tuple[Path, ...]], _IncludedFile] = {}
        self._taken, self._bytes = 0, 0

    def resolved(self, value: Any, file: Path, chain: tuple[Path, ...] = ()) -> Any:
        """Return the value with every include replaced. Raises IncludeError.

        `file` contains the value; `chain` are the files that include it, outermost first.
        """
        if isinstance(value, list):
            return [self.resolved(item, file, chain) for item in value]
        if not isinstance(value, Mapping):
            return value
        own_members = {
            key: self.resolved(item, file, chain) for key, item in value.items() if key != self._key
        }
        if self._key not in value:
            return own_members
        named = value[self._key]
        names = named if isinstance(named, list) else [named]
        included: Any = {}
        for number, name in enumerate(names):
            if not isinstance(name, str):
                place = "array item: expected string" if isinstance(named, list) else _NEITHER
                raise IncludeError(
                    f"{self._key} in {file} needs the name of a file, or a list of names",
                    f"Invalid {self._key} {place}, got {_JAVASCRIPT_TYPES.get(type(name), 'object')}",
                )
            part = self._included(name, file, (*chain, file))
            included = part if number == 0 else merge_values(included, part)
        if own_members and not isinstance(included, Mapping):
            raise IncludeError(
                f"{self._key} in {file} has other keys beside it, but the included value is not an object",
                "Sibling keys require included content to be an object",
            )
        return merge_values(included, own_members) if own_members else included

    def _included(self, name: str, file: Path, chain: tuple[Path, ...]) -> Any:
        path, real = self._place_of(name, file, chain)
        known = self._parts.get((path, chain))
        if known is not None:
            self._count(known.files, known.size, name, file)
            return known.value
        files, size = self._taken, self._bytes
        facts = self._files.facts(path)
        self._count(1, facts.size if facts is not None else 0, name, file)
        try:
            if real not in self._read:
                self._read[real] = read_json5(self._files.read(real))
        except OSError as error:
            raise _unread_include(file, name, path, error) from None
        except FormatError as error:
            cause = _host_error(self._files.read(real), error)
            raise IncludeError(
                f"{file} includes {name}; {error}",
                f"Failed to parse include file: {name} (resolved: {path}) | {cause}",
            ) from None
        value = self.resolved(self._read[real], path, chain)
        self._parts[path, chain] = _IncludedFile(value, self._taken - files, self._bytes - size)
        return value

    def _place_of(self, name: str, file: Path, chain: tuple[Path, ...]) -> tuple[Path, Path]:
        """Return the path of an included file, and its real path. Raises IncludeError."""
        path = Path(os.path.normpath(file.parent / name))
        where = f"{name} (root: {self._root})"
        if not path.is_relative_to(self._root):
            outside = f"{file} includes {name}, which is outside {self._root}"
            raise IncludeError(outside, f"Include path escapes config directory: {where}")
        real = self._files.real(path)
        if not real.is_relative_to(self._real_root):
            raise IncludeError(
                f"{file} includes {name}, which is a link to {real}, outside {self._root}",
                f"Include path resolves outside config directory (symlink): {where}",
            )
        if path in chain:
            ring = " -> ".join(map(str, (*chain, path)))
            raise IncludeError(
                f"{file} includes {name}, which includes this file", f"Circular include detected: {ring}"
            )
        if len(chain) > MAX_DEPTH:
            raise IncludeError(
                f"{file} includes {name}: includes are nested more than {MAX_DEPTH} deep",
                f"Maximum include depth ({MAX_DEPTH}) exceeded at: {name}",
            )
        facts = self._files.facts(path)
        if facts is None:
            error = self._files.access_error(path) or FileNotFoundError(
                errno.ENOENT, os.strerror(errno.ENOENT), str(path)
            )
            raise _unread_include(file, name, path, error)
        fault = "is not a file" if not facts.file else "is a hard link" if facts.links > 1 else ""
        if facts.size > MAX_FILE_BYTES:
            fault = f"is larger than {MAX_FILE_BYTES:,} bytes"
        if fault:
            limits = f"regular file, max {MAX_FILE_BYTES} bytes, no hardlinks"
            raise IncludeError(
                f"{file} includes {name}, which {fault}",
                f"Include file failed security checks ({limits}): {name}",
            )
        return path, real

    def _count(self, files: int, size: int, name: str, file: Path) -> None:
        """Count included files and bytes. Raises IncludeError above the limits."""
        self._taken += files
        self._bytes += size
        if self._taken > MAX_FILES:
            text = f"{file} includes {name}: more than {MAX_FILES:,} files in all; include fewer"
            raise IncludeError(text, text)
        if self._bytes > MAX_TOTAL_BYTES:
            text = f"{file} includes {name}: more than {MAX_TOTAL_BYTES:,} bytes in all; include fewer"
            raise IncludeError(text, text)


def _host_error(source: bytes, error: FormatError) -> str:
    """Return the host's own message for a file that cannot be read as JSON5, else `error`."""
    if len(source) > MAX_FILE_BYTES:  # the host's reader is slow, and so is its copy
        return str(error)
    from hookscope.formats.json5_errors import json5_package_error  # settings are rarely broken

    return json5_package_error(source.decode("utf-8", "replace")) or str(error)


_NEITHER = "value: expected string or array of strings"
_JAVASCRIPT_TYPES: Mapping[type, str] = {bool: "boolean", int: "number", float: "number", str: "string"}


def _unread_include(file: Path, name: str, path: Path, error: OSError) -> IncludeError:
    """Return the error for a file that cannot be read, with Node's text, which has the error code twice."""
    code = errno.errorcode.get(error.errno or 0, "EIO")
    words = "no such file or directory" if code == "ENOENT" else (error.strerror or "unknown").lower()
    cause = f"{code}: {words}, {'lstat' if code == 'ENOENT' else 'open'} '{path}'"
    return IncludeError(
        f"{file} includes {name}, which cannot be read: {error_reason(error)}",
        f"Failed to read include file: {name} (resolved: {path}) | {cause} | {code}",
    )


def merge_values(first: Any, second: Any) -> Any:
    """Merge two objects, concatenate two lists; for any other values return `second`."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        both = {key: merge_values(first[key], second[key]) for key in first.keys() & second.keys()}
        return {**first, **second, **both}
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    return second


DEFAULT_RULES = SettingsRules()
NO_HOOK_RUNS = "no hook runs until this is fixed"  # because the file may disable any hook
ROOT_PATH = "<root>"  # the hosts' name for the path of the whole document


def read_settings(
    file: Path, files: Files, rules: SettingsRules = DEFAULT_RULES, env: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings in `file` (JSON5); empty if it does not exist. `env`: variables for `${NAME}`.

    If the file exists but cannot be read, `unread_reason` has the reason.
    """
    facts = files.facts(file)
    if facts is None:
        trouble = files.access_error(file)
        return Settings(file) if trouble is None else _unreadable_settings(file, trouble, rules)
    if not facts.file or facts.size > LARGEST_JSON5:
        problem_text = f"larger than {LARGEST_JSON5:,} bytes" if facts.file else "not a file"
        return _unread_settings(
            file, Problem(f"{file} is {problem_text}", FilePosition(file)), problem_text, rules
        )
    try:
        source = files.read(file)
    except OSError as error:
        return _unreadable_settings(file, error, rules)
    return parse_settings(file, source, rules, files=files, env=env)


def _unreadable_settings(file: Path, error: OSError, rules: SettingsRules) -> Settings:
    return _unread_settings(
        file,
        Problem(f"cannot read {file}: {error_reason(error)}", FilePosition(file)),
        error_reason(error),
        rules,
    )


def _unread_settings(file: Path, problem: Problem, reason: str, rules: SettingsRules) -> Settings:
    """Return the settings of a file that could not be read; `reason` is the host's text."""
    refusal = refusal_text(rules, file, [((), f"read failed: {reason}")])
    return Settings(file, exists=True, problems=(problem,), refusal=refusal, unread_reason=problem.text)


def parse_settings(
    file: Path,
    source: bytes,
    rules: SettingsRules = DEFAULT_RULES,
    *,
    files: Files | None = None,
    env: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings in `source`, the contents of `file`."""
    try:
        value = read_json5(source)
    except FormatError as error:
        place = FilePosition(file, error.span.line, error.span.column)
        problem = Problem(f"{file.name}, {error}; {NO_HOOK_RUNS}", place)
        refusal = _host_error(source, error) if rules.refusal else ""
        return Settings(
            file, exists=True, problems=(problem,), refusal=refusal, unread_reason=_cause_of(problem)
        )
    if not isinstance(value, dict):
        problem = Problem(f"{file.name} must contain an object; {NO_HOOK_RUNS}", FilePosition(file))
        kind = _KINDS.get(type(value), "number")
        refusal = refusal_text(rules, file, [((), f"Invalid input: expected object, received {kind}")])
        return Settings(
            file, exists=True, problems=(problem,), refusal=refusal, unread_reason=_cause_of(problem)
        )

    @cache
    def places() -> Json5Places:
        return Json5Places(text_of(source))

    @cache
    def locate(path: KeyPath) -> FilePosition | None:
        span = places().find(path)
        return FilePosition(file, span.line, span.column) if span else None

    settings = Settings(file, value, exists=True, locate=locate)
    return check_settings(_with_includes(settings, rules, files or RealFiles(), env or {}), rules)


def _cause_of(problem: Problem) -> str:
    return problem.text.rpartition("; ")[0] or problem.text


def given_settings(value: Mapping[str, Any], file: Path) -> Settings:
    """Return settings that an embedding program passes; their values have no positions."""
    return Settings(file, value, exists=False)


def _with_includes(
    settings: Settings, rules: SettingsRules, files: Files, env: Mapping[str, str]
) -> Settings:
    value: Any = settings.value
    problems: list[Problem] = []
    if rules.include is not None:
        includes = Includes(rules.include, files, settings.file.parent)
        try:
            value = includes.resolved(value, settings.file)
        except IncludeError as error:
            problem = Problem(f"{error}; {NO_HOOK_RUNS}", FilePosition(settings.file))
            refusal = error.host_text if rules.refusal else ""
            return replace(
                settings, value={}, problems=(problem,), refusal=refusal, unread_reason=_cause_of(problem)
            )
    if rules.variables:
        own = _value_at(value, rules.env_path) if rules.env_path else None

        def missing(path: KeyPath, name: str) -> None:
            text = f"{dotted_path(path)} uses ${{{name}}}, which is not set; the text stays unchanged"
            problems.append(Problem(text, settings.place_of(path)))

        value = fill_variables(value, with_settings_variables(env, _own_variables(own)), missing)
    return replace(settings, value=value, problems=(*settings.problems, *problems))


def check_settings(settings: Settings, rules: SettingsRules) -> Settings:
    """Return the settings. If the host refuses them, add its refusal and a problem for each reason."""
    if rules.check is None or settings.refusal:
        return settings
    issues = rules.check(settings.value)
    if not issues:
        return settings
    consequence = "the host refuses its settings"
    advice = {issue: rules.advice_for(*issue) if rules.advice_for is not None else "" for issue in issues}
    problems = [
        Problem(
            "; ".join(
                filter(
                    None,
                    (f"{dotted_path(path) or settings.file.name}: {text}", consequence, advice[path, text]),
                )
            ),
            settings.place_of(path),
        )
        for path, text in issues
    ]
    refusal = refusal_text(rules, settings.file, issues)
    return replace(settings, problems=(*settings.problems, *problems), refusal=refusal)


_KINDS: Mapping[type, str] = {list: "array", str: "string", bool: "boolean", type(None): "null"}


def refusal_text(rules: SettingsRules, file: Path, issues: Sequence[tuple[KeyPath, str]]) -> str:
    """Return the host's error if it refuses its settings because of these issues."""
    format_path = rules.path_text or dotted_path
    lines = [rules.issue.format(path=format_path(path) or ROOT_PATH, text=text) for path, text in issues]
    return rules.refusal.format(file=file, issues="\n".join(lines))


def _own_variables(variables: Any) -> Any:
    """Return the variables that the settings set.

    A variable that refers to itself, as `"A": "${A}"`, is set elsewhere and therefore excluded.
    """
    if not isinstance(variables, Mapping):
        return variables
    return {name: text for name, text in variables.items() if text != f"${{{name}}}"}


def _value_at(value: Any, path: KeyPath) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
