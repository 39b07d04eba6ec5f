"""`${NAME}` in the texts of settings, and the variables that settings and `.env` files set themselves."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hookscope.formats.environment_files import read_dotenv
from hookscope.formats.positions import KeyPath
from hookscope.model.hook import FilePosition, Problem
from hookscope.model.machine import Files
from hookscope.model.text import error_reason

LARGEST = 1_048_576  # bytes of a .env file
_VARIABLE = re.compile(r"\$(\$?)\{([A-Z_][A-Z0-9_]*)\}")


def fill_variables(
    value: Any, env: Mapping[str, str], on_missing: Callable[[KeyPath, str], None], at: KeyPath = ()
) -> Any:
    """Return the value with `${NAME}` replaced in every text; `$${NAME}` becomes `${NAME}`.

    A variable that is unset or empty stays as written, and `on_missing` is called with its path.
    Source: rules-openclaw section 8.
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

            return _VARIABLE.sub(replacement, value)
        case list():
            return [fill_variables(item, env, on_missing, (*at, number)) for number, item in enumerate(value)]
        case Mapping():
            return {key: fill_variables(item, env, on_missing, (*at, key)) for key, item in value.items()}
        case _:
            return value


def with_dotenv(env: Mapping[str, str], file: Path, files: Files) -> Mapping[str, str]:
    """Return the environment with the variables of a `.env` file that it does not set."""
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
    """Return the environment with the variables of the settings that it does not set, or sets to blank."""
    own = variables if isinstance(variables, Mapping) else {}
    texts = {name: value for name, value in own.items() if isinstance(value, str) and value.strip()}
    return {**env, **{name: value for name, value in texts.items() if not env.get(name, "").strip()}}
