"""A settings file as values, each with its file and line on request."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from hookscope import formats
from hookscope.formats.json5 import LARGEST_JSON5
from hookscope.formats.positions import FormatError, KeyPath, dotted_path
from hookscope.hosts.settings.includes import IncludeError, Includes
from hookscope.hosts.settings.variables import fill_variables, with_settings_variables
from hookscope.model.hook import FilePosition, Problem
from hookscope.model.host import Settings, SettingsRules
from hookscope.model.machine import Files, RealFiles
from hookscope.model.text import error_reason

DEFAULT_RULES = SettingsRules()
NO_HOOK_RUNS = "no hook runs until it is mended"  # since it may disable any of them
ROOT_PATH = "<root>"  # the hosts' name for the path of the whole document


def read_settings(
    file: Path, files: Files, rules: SettingsRules = DEFAULT_RULES, env: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings in `file` (JSON5); empty if it does not exist. `env`: variables for `${NAME}`.

    For a file that exists and cannot be read, `unread_reason` says why.
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
    refusal = _refusal(rules, file, [((), f"read failed: {reason}")])
    return Settings(file, exists=True, problems=(problem,), refusal=refusal, unread_reason=problem.text)


def parse_settings(
    file: Path,
    source: bytes,
    rules: SettingsRules = DEFAULT_RULES,
    *,
    files: Files | None = None,
    env: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings that `source` would be as the contents of `file`."""
    try:
        value = formats.read_json5(source)
    except FormatError as error:
        place = FilePosition(file, error.span.line, error.span.column)
        problem = Problem(f"{file.name}, {error}; {NO_HOOK_RUNS}", place)
        refusal = _refusal(rules, file, [((), f"JSON5 parse failed: {error}")])
        return Settings(
            file, exists=True, problems=(problem,), refusal=refusal, unread_reason=_cause_of(problem)
        )
    if not isinstance(value, dict):
        problem = Problem(
            f"{file.name} wants an object at its top; {NO_HOOK_RUNS}",
            FilePosition(file),
        )
        kind = _KINDS.get(type(value), "number")
        refusal = _refusal(rules, file, [((), f"Invalid input: expected object, received {kind}")])
        return Settings(
            file, exists=True, problems=(problem,), refusal=refusal, unread_reason=_cause_of(problem)
        )

    @cache
    def places() -> formats.Json5Places:
        return formats.Json5Places(formats.text_of(source))

    @cache
    def locate(path: KeyPath) -> FilePosition | None:
        span = places().find(path)
        return FilePosition(file, span.line, span.column) if span else None

    settings = Settings(file, value, exists=True, locate=locate)
    return check_settings(_with_includes(settings, rules, files or RealFiles(), env or {}), rules)


def _cause_of(problem: Problem) -> str:
    """Return the problem's cause, without its consequence."""
    return problem.text.rpartition("; ")[0] or problem.text


def given_settings(value: Mapping[str, Any], file: Path) -> Settings:
    """Return settings that an embedding program passes; they are in no file."""
    return Settings(file, value, exists=False)


def _with_includes(
    settings: Settings, rules: SettingsRules, files: Files, env: Mapping[str, str]
) -> Settings:
    """Return the settings with included files and variables resolved."""
    value: Any = settings.value
    problems: list[Problem] = []
    if rules.include is not None:
        includes = Includes(rules.include, files, files.real(settings.file.parent))
        try:
            value = includes.resolved(value, settings.file)
        except IncludeError as error:
            problem = Problem(f"{error}; {NO_HOOK_RUNS}", FilePosition(settings.file))
            refusal = _refusal(rules, settings.file, [((), f"Include failed: {error}")])
            return replace(
                settings, value={}, problems=(problem,), refusal=refusal, unread_reason=_cause_of(problem)
            )
    if rules.variables:
        own = _value_at(value, rules.env_path) if rules.env_path else None

        def missing(path: KeyPath, name: str) -> None:
            place = settings.locate(path) or FilePosition(settings.file)
            problems.append(
                Problem(
                    f"{dotted_path(path)} names ${{{name}}}, which is not set: it stays as written", place
                )
            )

        value = fill_variables(value, with_settings_variables(env, _own_variables(own)), missing)
    return replace(settings, value=value, problems=(*settings.problems, *problems))


def check_settings(settings: Settings, rules: SettingsRules) -> Settings:
    """Return the settings, refused if the host refuses them: each reason is a problem with its position."""
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
            settings.locate(path) or FilePosition(settings.file),
        )
        for path, text in issues
    ]
    refusal = _refusal(rules, settings.file, list(issues))
    return replace(settings, problems=(*settings.problems, *problems), refusal=refusal)


_KINDS: Mapping[type, str] = {list: "array", str: "string", bool: "boolean", type(None): "null"}


def _refusal(rules: SettingsRules, file: Path, issues: list[tuple[KeyPath, str]]) -> str:
    format_path = rules.path_text or dotted_path
    lines = [rules.issue.format(path=format_path(path) or ROOT_PATH, text=text) for path, text in issues]
    return rules.refusal.format(file=file, issues="\n".join(lines))


def _own_variables(variables: Any) -> Any:
    """Return the variables that the settings set.

    One that refers to itself, as `"A": "${A}"`, comes from elsewhere and is left out.
    """
    if not isinstance(variables, Mapping):
        return variables
    return {name: text for name, text in variables.items() if text != f"${{{name}}}"}


def _value_at(value: Any, path: KeyPath) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
