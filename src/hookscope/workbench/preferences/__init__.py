"""What a user prefers: keys, colours. Files of the config folder, which are read here and never written.

A file that is wrong stops nothing: each mistake is a Problem with its file and line, and the rest holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.workbench.preferences.folder import config_folder
from hookscope.workbench.preferences.keys_file import KEYS_FILE, KeysFile, Wish, read_keys
from hookscope.workbench.preferences.themes_file import (
    CONFIG_FILE,
    THEMES,
    ThemeFile,
    Wanted,
    read_themes,
    read_wanted,
    remember_theme,
)

if TYPE_CHECKING:
    from hookscope.workbench.watching import Watch

__all__ = [
    "KEYS_FILE",
    "KeysFile",
    "ThemeFile",
    "Wanted",
    "Wish",
    "config_folder",
    "read_keys",
    "read_themes",
    "read_wanted",
    "remember_theme",
    "watch_preferences",
]


def watch_preferences(told: Callable[[], object]) -> Watch:
    """Tell, from a thread, whenever a file of preferences is saved, until the watch is closed."""
    from hookscope.workbench.watching import Watch, Watched  # here: who only reads watches nothing

    folder = config_folder()
    watch = Watch(lambda _: told())
    watch.watch(Watched().and_also([folder / KEYS_FILE, folder / CONFIG_FILE, folder / THEMES]))
    return watch
