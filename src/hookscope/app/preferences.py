"""The user's preferences: `keys.yaml`, `themes/*.yaml`, `config.yaml`, and the theme chosen last.

An error in a file is reported with its line; everything else still applies.
"""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hookscope.helpers import user_command
from hookscope.model.failure import Refusal
from hookscope.model.hook import FilePosition, Problem
from hookscope.model.text import error_reason
from hookscope.storage.state_files import (
    CONFIG_FILE,
    MASK_KEY,
    config_folder,
    masked_names_in,
    read_config_document,
    read_state_file,
    state_folder,
    write_state_file,
)
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.watching import Watch

PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "view", "joe", "micro", "kak", "ne"}
)
COLON_LINE = frozenset({"hx", "helix", "subl", "zed"})
GOTO = frozenset({"code", "code-insiders", "codium", "cursor"})


def editor_of(env: Mapping[str, str]) -> str:
    """Return the user's editor: VISUAL, else EDITOR; empty if neither is set."""
    return env.get("VISUAL", "").strip() or env.get("EDITOR", "").strip()


def editor_command(editor: str, place: FilePosition) -> list[str]:
    """Return the command that opens this position. Unknown editors get the file alone.

    Raises ValueError if `editor` is not a command.
    """
    words = shlex.split(editor)
    if not words:
        raise ValueError("it is empty")
    name = PurePath(words[0]).name.removesuffix(".exe")
    file = str(place.file)
    if name in PLUS_LINE:
        return [*words, f"+{place.line}", file]
    if name in COLON_LINE:
        return [*words, f"{file}:{place.line}"]
    if name in GOTO:
        return [*words, "--goto", f"{file}:{place.line}"]
    return [*words, file]


def run_editor(words: Sequence[str], workspace: Path) -> str:
    """Run an editor in this terminal until it exits. Return why it failed, as a sentence; never raises.

    A program that the workspace provides is not used.
    """
    try:
        with _signals_held():
            code = subprocess.run(user_command(words, [workspace]), check=False).returncode
    except (OSError, ValueError) as error:  # ValueError: a null byte in the command
        return f"{words[0]} does not start: {error_reason(error)}. Set VISUAL or EDITOR to another editor."
    if code < 0:
        return f"{words[0]} was killed by {signal_name(-code)}."
    return "" if code == 0 else f"{words[0]} ended with exit code {code}."


def signal_name(number: int) -> str:
    """Return `SIGKILL` for 9; `signal NUMBER` if the system has no name for it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let Ctrl-C reach only the editor; delay other termination signals until it has exited."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda got, _: held.append(got)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        for number in held:
            if number != signal.SIGINT:
                signal.raise_signal(number)


KEYS_FILE = "keys.yaml"


@dataclass(frozen=True, slots=True)
class KeyPreference:
    """Keys chosen for one action, as written. An empty tuple: the action has no key."""

    action: str
    keys: tuple[str, ...]
    place: FilePosition


@dataclass(frozen=True, slots=True)
class KeysFile:
    """The valid parts of a keys file, in file order, and its problems."""

    file: Path
    preset: str = ""
    preset_place: FilePosition | None = None
    preferences: tuple[KeyPreference, ...] = ()
    problems: tuple[Problem, ...] = ()
    readable: bool = True


def read_keys() -> KeysFile:
    """Return the user's key file; no file means no preferences. Never raises."""
    document = read_config_document(config_folder() / KEYS_FILE)
    preferences: list[KeyPreference] = []
    problems = list(document.problems)
    preset, place = "", None
    for name, value in document.value.items():
        line = FilePosition(document.file, document.line_of(name))
        if name == "preset":
            preset, place = str(value or ""), line
            continue
        keys = _keys_in(value)
        if keys is None:
            problems.append(document.problem_at(f"{name} needs a key, or a list of keys.", name))
        else:
            preferences.append(KeyPreference(name, keys, line))
    return KeysFile(
        document.file, preset, place, tuple(preferences), tuple(problems), readable=document.is_readable
    )


def write_keys_of(action: str, keys: tuple[str, ...] | None) -> Path:
    """Write the keys of one action, or remove them for None; keep every other byte. Return the file.

    Raises Refusal if the file cannot be edited.
    """
    from hookscope.formats.yaml12 import read_yaml  # reading the keys needs none of these
    from hookscope.storage.edits.atomic_files import ChangeError
    from hookscope.storage.edits.change import Change, read_current, write_user_file
    from hookscope.storage.edits.document_values import verified_bytes, with_value, without_member
    from hookscope.storage.edits.header_edit import with_one_line, without_header_member

    file = config_folder() / KEYS_FILE
    try:
        before = read_current(file)
        text = before or b""
        named = read_config_document(file).value
        header = b"---\n" + text + (b"" if text.endswith(b"\n") or not text else b"\n") + b"---\n"
        if keys is not None:
            value = keys[0] if len(keys) == 1 else [*keys]
            header, meaning = with_one_line(header, action, value), with_value(named, (action,), value)
        elif action in named:
            header, meaning = without_header_member(header, action), without_member(named, (action,))
        else:
            return file
        after = verified_bytes(header[4:-4].decode(), meaning, lambda source: read_yaml(source) or {})
    except (ChangeError, ValueError) as error:
        raise Refusal(f"{file} was not changed: {error}", "Edit the file yourself.") from None
    write_user_file(Change(file, f"the keys of {action}", before, after))
    return file


def _keys_in(value: object) -> tuple[str, ...] | None:
    """Return the keys in `r`, `ctrl+r, f5` or a list; digits may be unquoted. None if it has no keys."""
    if value is None:
        return ()
    if isinstance(value, int) and not isinstance(value, bool):
        return (str(value),)
    if isinstance(value, str):
        parts = value.split(",") if len(value) > 1 else [value]
        return tuple(part.strip() or part for part in parts if part)
    if isinstance(value, list):
        found = [_keys_in(item) for item in value]
        if all(keys for keys in found):
            return tuple(key for keys in found for key in keys or ())
    return None


THEMES_FOLDER = "themes"
CHOSEN_FILE = "theme.json"  # in the state folder
THEME_SUFFIXES = (".yaml", ".yml")
MOST_THEMES = 100  # files that are read


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """One theme as written, named after its file."""

    name: str
    file: Path
    values: tuple[tuple[str, object, FilePosition], ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class ThemeChoice:
    """The chosen theme and its origin. `chosen`: in the console, not in `config.yaml`."""

    name: str = ""
    place: FilePosition | None = None
    chosen: bool = False
    configured: str = ""
    problems: tuple[Problem, ...] = ()


def read_themes() -> tuple[ThemeFile, ...]:
    """Return the user's themes, sorted by file name. Never raises."""
    try:
        files = sorted(
            file for file in (config_folder() / THEMES_FOLDER).iterdir() if file.suffix in THEME_SUFFIXES
        )
    except (OSError, ValueError):
        return ()
    return tuple(_read_theme(file) for file in files[:MOST_THEMES])


def _read_theme(file: Path) -> ThemeFile:
    document = read_config_document(file)
    values = (
        (name, value, FilePosition(file, document.line_of(name))) for name, value in document.value.items()
    )
    return ThemeFile(file.stem, file, tuple(values), document.problems)


def read_theme_choice() -> ThemeChoice:
    """Return the theme of `config.yaml`, or a later choice in the console. Never raises."""
    document = read_config_document(config_folder() / CONFIG_FILE)
    problems = list(document.problems)
    configured = ""
    for name, value in document.value.items():
        if name == MASK_KEY:
            if not masked_names_in(value) and value != []:
                problems.append(document.problem_at(f"{MASK_KEY} needs a list of names.", name))
        elif name != "theme":
            problems.append(
                document.unknown_name_problem(name, ["theme", MASK_KEY], "setting of Hookscope", (name,))
            )
        elif isinstance(value, str):
            configured = value
        else:
            problems.append(document.problem_at("theme needs the name of a theme.", name))
    chosen, replaced_theme = _chosen_theme()
    if chosen and replaced_theme == configured:
        return ThemeChoice(chosen, None, True, configured, tuple(problems))
    place = FilePosition(document.file, document.line_of("theme")) if configured else None
    return ThemeChoice(configured, place, False, configured, tuple(problems))


def remember_theme(name: str, configured: str) -> None:
    """Store the theme chosen in the console. It applies until `config.yaml` names another than `configured`.

    Raises Refusal if it cannot be stored.
    """
    file = state_folder() / CHOSEN_FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_state_file(file, json.dumps({"theme": name, "over": configured}).encode() + b"\n")
    except OSError as error:
        what = f"Cannot store the theme in {file}: {error_reason(error)}."
        raise Refusal(what, "Set HOOKSCOPE_STATE_DIR to another folder.") from None


def _chosen_theme() -> tuple[str, str]:
    document = read_state_file(state_folder() / CHOSEN_FILE)
    if not isinstance(document, dict):
        return "", ""
    return str(document.get("theme", "")), str(document.get("over", ""))


def watch_preferences(on_change: Callable[[], object], since: int) -> Watch:
    """Call `on_change` from a thread whenever a preferences file is saved, until the watch is closed.

    `since`: when they were read, in nanoseconds since the epoch; later saves are reported too. If the folder
    does not exist yet, its creation is reported: call `watch_again` then to watch the files in it.
    """
    from hookscope.app.watching import Watch  # reading needs no watch

    watch = Watch(lambda _: on_change())
    watch_again(watch, since)
    return watch


def watch_again(watch: Watch, since: int | None = None) -> None:
    """Watch the preferences files that exist now, and where others would appear."""
    from hookscope.app.watching import WatchedPaths

    folder = config_folder()
    watch.watch(
        WatchedPaths().with_paths([folder / KEYS_FILE, folder / CONFIG_FILE, folder / THEMES_FOLDER]), since
    )
