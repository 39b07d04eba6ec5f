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
    "watch_again",
    "watch_preferences",
]


def watch_preferences(told: Callable[[], object], since: int) -> Watch:
    """Tell, from a thread, whenever a file of preferences is saved, until the watch is closed.

    `since`: when they were read, in nanoseconds of the epoch; what was saved after that is told too.
    Mostly there is no such folder yet: when it is told of one that has appeared, `watch_again` looks into it.
    """
    from hookscope.workbench.watching import Watch  # here: who only reads watches nothing

    watch = Watch(lambda _: told())
    watch_again(watch, since)
    return watch


def watch_again(watch: Watch, since: int | None = None) -> None:
    """Watch the files of preferences that are there now, and where others would appear."""
    from hookscope.workbench.watching import Watched  # here: as above

    folder = config_folder()
    watch.watch(Watched().and_also([folder / KEYS_FILE, folder / CONFIG_FILE, folder / THEMES]), since)
