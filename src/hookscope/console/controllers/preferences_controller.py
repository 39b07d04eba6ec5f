"""Reads the user's keys and themes at the start and after every save, and applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from hookscope.app.preferences import KeysFile, read_keys, remember_theme, watch_again, watch_preferences
from hookscope.console.keymap.active_keys import (
    DEFAULT_KEYMAP,
    Keymap,
    NamesKeys,
    active_keymap,
    resolve_keymap,
    use_keymap,
)
from hookscope.console.state.messages import PreferencesSaved
from hookscope.console.theme.theme_manager import ThemeFiles, ThemeManager, read_theme_files

if TYPE_CHECKING:
    from textual.theme import Theme

    from hookscope.app.watching import Watch
    from hookscope.console.context import ConsoleContext
    from hookscope.model.hook import Problem

PREFERENCES_GROUP = "preferences"


class PreferencesController:
    """Applies the user's keys and themes. A mistake in a file is reported and stops nothing."""

    def __init__(self, context: ConsoleContext, themes: ThemeManager) -> None:
        self.context, self._themes = context, themes
        self._keys: KeysFile | None = None
        self._told: tuple[Problem, ...] = ()
        self._watch: Watch | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the user's files."""
        return self._told

    def read(self) -> None:
        """Read the files at the start, before the first key press."""
        self._take(read_keys())

    def read_again(self) -> None:
        """Read the files again after a save, in a thread."""
        self.follow()  # also watches folders that were created since
        self.context.bridge.ask(PREFERENCES_GROUP, lambda: (read_keys(), read_theme_files()), self._took)

    def _took(self, read: tuple[KeysFile, ThemeFiles]) -> None:
        keys, theme_files = read
        self._themes.apply_files(theme_files)
        self._take(keys)

    def theme_changed(self, theme: Theme) -> None:
        """Remember the theme that the user chose in the palette."""
        theme_manager = self._themes
        if theme.name != theme_manager.applied and not theme_manager.no_color:
            theme_manager.applied = theme.name
            configured = theme_manager.configured
            self.context.bridge.ask(
                PREFERENCES_GROUP, lambda: remember_theme(theme.name, configured), lambda _: None
            )

    def follow(self) -> None:
        """Watch the files from now on."""
        if self._watch is None:
            self._watch = watch_preferences(
                lambda: self.context.post(PreferencesSaved()), self._themes.made_at
            )
        else:
            watch_again(self._watch)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()

    def _take(self, keys: KeysFile) -> None:
        if keys != self._keys:
            first, self._keys = self._keys is None, keys
            self._keys_came(keys, first)
        self._tell((*active_keymap().problems, *self._themes.problems))

    def _keys_came(self, keys: KeysFile, first: bool) -> None:
        before = active_keymap()
        keymap = DEFAULT_KEYMAP  # an empty file needs no imports of all actions
        if not keys.readable:
            keymap = Keymap(before.keys, before.preset, keys.problems)
        elif keys.preferences or keys.preset or keys.problems:
            keymap = resolve_keymap(keys)
        use_keymap(keymap)
        if keymap.keys != before.keys:
            self._themes.app.set_keymap(keymap.for_textual())
            self.context.after_refresh(self._name_keys)
        if keymap.keys or not first:
            count = len(keymap.keys)
            words = f"preset {keymap.preset}; {count} action{'s' * (count != 1)} with changed keys"
            kept = "" if keys.readable else "; the file is not readable, so earlier keys stay"
            self.context.log_line("keys", words + kept, subject=keys.file.name)

    def _name_keys(self) -> None:
        """Update the key names in sentences and borders that are already shown."""
        for screen in self._themes.app.screen_stack:
            for node in screen.walk_children(Widget, with_self=True):
                if isinstance(node, NamesKeys):
                    node.name_keys()

    def _tell(self, problems: tuple[Problem, ...]) -> None:
        for problem in problems:
            if problem not in self._told:
                place = problem.place
                where = f"{place.file.name}:{place.line}" if place is not None else ""
                self.context.log_line("prefer", problem.text, "warn", where)
        self._told = problems
        self.context.panes.show_problems(problems)
