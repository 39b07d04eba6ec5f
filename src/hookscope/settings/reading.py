"""A settings file as values, each with its place on demand."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from hookscope import formats
from hookscope.core.dialect import Settings
from hookscope.core.hooks import Place, Problem
from hookscope.core.rules import SettingsRules
from hookscope.core.surroundings import Files, RealFiles
from hookscope.core.text import why_of
from hookscope.formats import LARGEST_JSON5, FormatError, KeyPath
from hookscope.formats.places import with_dots
from hookscope.settings.including import IncludeError, Includes
from hookscope.settings.variables import filled, with_own

PLAIN = SettingsRules()
UNTIL_MENDED = "no hook runs until it is mended"  # since it may switch any of them off
ROOT = "<root>"  # how hosts call the path of the whole document


def read_settings(
    file: Path, files: Files, rules: SettingsRules = PLAIN, env: Mapping[str, str] | None = None
) -> Settings:
    """The settings in `file` (JSON5); without a file, empty ones. `env`: what `${NAME}` may name.

    Only a file that does not exist has none; `unread` says why any other one cannot be read.
    """
    facts = files.facts(file)
    if facts is None:
        trouble = files.trouble(file)
        return Settings(file) if trouble is None else _unreadable(file, trouble, rules)
    if not facts.file or facts.size > LARGEST_JSON5:
        what = f"larger than {LARGEST_JSON5:,} bytes" if facts.file else "not a file"
        return _unread(file, Problem(f"{file} is {what}", Place(file)), what, rules)
    try:
        source = files.read(file)
    except OSError as error:
        return _unreadable(file, error, rules)
    return settings_of(file, source, rules, files=files, env=env)


def _unreadable(file: Path, error: OSError, rules: SettingsRules) -> Settings:
    return _unread(file, Problem(f"cannot read {file}: {why_of(error)}", Place(file)), why_of(error), rules)


def _unread(file: Path, problem: Problem, why: str, rules: SettingsRules) -> Settings:
    """Settings that nobody could read, `why` the host would say."""
    said = _refusal(rules, file, [((), f"read failed: {why}")])
    return Settings(file, exists=True, problems=(problem,), refusal=said, unread=problem.text)


def settings_of(
    file: Path,
    source: bytes,
    rules: SettingsRules = PLAIN,
    *,
    files: Files | None = None,
    env: Mapping[str, str] | None = None,
) -> Settings:
    """The settings that `source` would be, if it stood in `file`."""
    try:
        value = formats.read_json5(source)
    except FormatError as error:
        place = Place(file, error.span.line, error.span.column)
        problem = Problem(f"{file.name}, {error}; {UNTIL_MENDED}", place)
        said = _refusal(rules, file, [((), f"JSON5 parse failed: {error}")])
        return Settings(file, exists=True, problems=(problem,), refusal=said, unread=_not_known(problem))
    if not isinstance(value, dict):
        problem = Problem(
            f"{file.name} wants an object at its top; {UNTIL_MENDED}",
            Place(file),
        )
        kind = _KINDS.get(type(value), "number")
        said = _refusal(rules, file, [((), f"Invalid input: expected object, received {kind}")])
        return Settings(file, exists=True, problems=(problem,), refusal=said, unread=_not_known(problem))

    @cache
    def places() -> formats.Json5Places:
        return formats.Json5Places(formats.text_of(source))

    @cache
    def locate(path: KeyPath) -> Place | None:
        span = places().find(path)
        return Place(file, span.line, span.column) if span else None

    settings = Settings(file, value, exists=True, locate=locate)
    return checked(_completed(settings, rules, files or RealFiles(), env or {}), rules)


def _not_known(problem: Problem) -> str:
    """The problem without what is shown meanwhile."""
    return problem.text.rpartition("; ")[0] or problem.text


def settings_from(value: Mapping[str, Any], file: Path) -> Settings:
    """Settings that an embedding program hands over; they stand in no file."""
    return Settings(file, value, exists=False)


def _completed(settings: Settings, rules: SettingsRules, files: Files, env: Mapping[str, str]) -> Settings:
    """With the files that they include, and the variables that they name."""
    value: Any = settings.value
    problems: list[Problem] = []
    if rules.include is not None:
        includes = Includes(rules.include, files, files.real(settings.file.parent))
        try:
            value = includes.resolved(value, settings.file)
        except IncludeError as error:
            problem = Problem(f"{error}; {UNTIL_MENDED}", Place(settings.file))
            said = _refusal(rules, settings.file, [((), f"Include failed: {error}")])
            return replace(settings, value={}, problems=(problem,), refusal=said, unread=_not_known(problem))
    if rules.variables:
        own = _at(value, rules.env_path) if rules.env_path else None

        def missing(path: KeyPath, name: str) -> None:
            place = settings.locate(path) or Place(settings.file)
            problems.append(
                Problem(f"{with_dots(path)} names ${{{name}}}, which is not set: it stays as written", place)
            )

        value = filled(value, with_own(env, _set(own)), missing)
    return replace(settings, value=value, problems=(*settings.problems, *problems))


def checked(settings: Settings, rules: SettingsRules) -> Settings:
    """The settings, refused where the host refuses them: each reason is a problem with its place."""
    if rules.check is None or settings.refusal:
        return settings
    issues = rules.check(settings.value)
    if not issues:
        return settings
    product = "the host refuses its settings"
    advice = {issue: rules.advice(*issue) if rules.advice is not None else "" for issue in issues}
    problems = [
        Problem(
            "; ".join(
                filter(
                    None, (f"{with_dots(path) or settings.file.name}: {text}", product, advice[path, text])
                )
            ),
            settings.locate(path) or Place(settings.file),
        )
        for path, text in issues
    ]
    said = _refusal(rules, settings.file, list(issues))
    return replace(settings, problems=(*settings.problems, *problems), refusal=said)


_KINDS: Mapping[type, str] = {list: "array", str: "string", bool: "boolean", type(None): "null"}


def _refusal(rules: SettingsRules, file: Path, issues: list[tuple[KeyPath, str]]) -> str:
    written = rules.path_text or with_dots
    lines = [rules.issue.format(path=written(path) or ROOT, text=text) for path, text in issues]
    return rules.refusal.format(file=file, issues="\n".join(lines))


def _set(variables: Any) -> Any:
    """Those that the settings set: one that stands for itself, as `"A": "${A}"`, comes from elsewhere."""
    if not isinstance(variables, Mapping):
        return variables
    return {name: text for name, text in variables.items() if text != f"${{{name}}}"}


def _at(value: Any, path: KeyPath) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
