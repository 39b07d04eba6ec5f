"""`themes/*.yaml` and `config.yaml` of the config folder, and the theme that was chosen last."""

from __future__ import annotations

from pathlib import Path

from hookscope.core.hooks import Place, Problem
from hookscope.core.text import why_of
from hookscope.values import dataclass
from hookscope.workbench.masked_names import MASK, names_in
from hookscope.workbench.preferences.folder import config_folder, read_document
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.state_files import replace_file, state_folder, stored

THEMES = "themes"
CONFIG_FILE = "config.yaml"
CHOSEN = "theme.json"  # in the state folder
ENDINGS = (".yaml", ".yml")
MOST = 100  # files that are read


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """One theme as it was written, under its file's name."""

    name: str
    file: Path
    values: tuple[tuple[str, object, Place], ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which theme, and who says so. `chosen`: in the console, and not in `config.yaml`."""

    name: str = ""
    place: Place | None = None
    chosen: bool = False
    configured: str = ""
    problems: tuple[Problem, ...] = ()


def read_themes() -> tuple[ThemeFile, ...]:
    """The user's themes by name. Never raises."""
    try:
        files = sorted(file for file in (config_folder() / THEMES).iterdir() if file.suffix in ENDINGS)
    except (OSError, ValueError):
        return ()
    return tuple(_read(file) for file in files[:MOST])


def _read(file: Path) -> ThemeFile:
    document = read_document(file)
    values = ((name, value, Place(file, document.line(name))) for name, value in document.value.items())
    return ThemeFile(file.stem, file, tuple(values), document.problems)


def read_wanted() -> Wanted:
    """The theme of `config.yaml`, or the one chosen in the console since that was written. Never raises."""
    document = read_document(config_folder() / CONFIG_FILE)
    problems = list(document.problems)
    configured = ""
    for name, value in document.value.items():
        if name == MASK:
            if not names_in(value) and value != []:
                problems.append(document.problem(f"{MASK} wants a list of names.", name))
        elif name != "theme":
            problems.append(document.unknown(name, ["theme", MASK], "setting of Hookscope's own", (name,)))
        elif isinstance(value, str):
            configured = value
        else:
            problems.append(document.problem("theme wants the name of one.", name))
    chosen, over = _chosen()
    if chosen and over == configured:
        return Wanted(chosen, None, True, configured, tuple(problems))
    place = Place(document.file, document.line("theme")) if configured else None
    return Wanted(configured, place, False, configured, tuple(problems))


def remember_theme(name: str, configured: str) -> None:
    """Keep what was chosen in the console, until `config.yaml` names another than `configured`.

    Raises Refusal where it cannot be kept.
    """
    import json  # here: who only reads writes none

    file = state_folder() / CHOSEN
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps({"theme": name, "over": configured}).encode() + b"\n")
    except OSError as error:
        what = f"The theme cannot be kept in {file}: {why_of(error)}."
        raise Refusal(what, "HOOKSCOPE_STATE_DIR names another folder.") from None


def _chosen() -> tuple[str, str]:
    document = stored(state_folder() / CHOSEN)
    if not isinstance(document, dict):
        return "", ""
    return str(document.get("theme", "")), str(document.get("over", ""))
