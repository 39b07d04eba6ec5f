"""`keys.yaml`: a preset, and keys by the names of actions. Which keys and actions there are, others know."""

from __future__ import annotations

from pathlib import Path

from hookscope.core.hooks import Place, Problem
from hookscope.values import dataclass
from hookscope.workbench.preferences.folder import Document, config_folder, read_document

KEYS_FILE = "keys.yaml"


@dataclass(frozen=True, slots=True)
class Wish:
    """Other keys for one action, as they were written. None at all: it is to have no key."""

    action: str
    keys: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class KeysFile:
    """The file as far as it could be read, in its order."""

    file: Path
    preset: str = ""
    preset_place: Place | None = None
    wishes: tuple[Wish, ...] = ()
    problems: tuple[Problem, ...] = ()
    readable: bool = True


def read_keys(file: Path | None = None) -> KeysFile:
    """The user's file of keys. Never raises; no file is one without wishes."""
    document = read_document(config_folder() / KEYS_FILE if file is None else file)
    wishes: list[Wish] = []
    problems = list(document.problems)
    preset, place = "", None
    for name, value in document.value.items():
        if name == "preset":
            preset, place = str(value or ""), Place(document.file, document.line(name))
            continue
        keys = _keys(value)
        if keys is None:
            problems.append(document.problem(f"{name} wants a key, or a list of keys.", name))
        else:
            wishes.append(Wish(name, keys, _place(document, name)))
    return KeysFile(document.file, preset, place, tuple(wishes), tuple(problems), readable=document.readable)


def _place(document: Document, name: str) -> Place:
    return Place(document.file, document.line(name))


def _keys(value: object) -> tuple[str, ...] | None:
    """`r`, `ctrl+r, f5` or a list of such; digits may stand without quotes. None: nothing of the kind."""
    if value is None:
        return ()
    if isinstance(value, int) and not isinstance(value, bool):
        return (str(value),)
    if isinstance(value, str):
        parts = value.split(",") if len(value) > 1 else [value]
        return tuple(part.strip() or part for part in parts if part)
    if isinstance(value, list):
        found = [_keys(item) for item in value]
        if all(keys for keys in found):
            return tuple(key for keys in found for key in keys or ())
    return None
