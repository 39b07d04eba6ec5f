"""Which theme is worn: with `NO_COLOR` none, else `TEXTUAL_THEME`, the chosen one, `config.yaml`'s."""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING

from textual.app import App

from hookscope.console.themes.ours import ANSI, DEFAULT, OURS
from hookscope.core.hooks import Problem
from hookscope.core.text import nearest, one_line
from hookscope.values import dataclass
from hookscope.workbench.preferences import ThemeFile, Wanted, read_themes, read_wanted

if TYPE_CHECKING:
    from textual.theme import Theme


@dataclass(frozen=True, slots=True)
class Clothes:
    """The user's files of colours, as they were read."""

    wanted: Wanted
    files: tuple[ThemeFile, ...]


def read_clothes() -> Clothes:
    """Read `config.yaml`, the themes and what was chosen. Never raises."""
    return Clothes(read_wanted(), read_themes())


class Wardrobe:
    """Registers themes with an app and puts one on."""

    def __init__(self, app: App[None], no_color: bool) -> None:
        self.app = app
        self.no_color = no_color
        self.made_at = time_ns()  # the user's files are read after that
        self.problems: tuple[Problem, ...] = ()
        self.configured = ""
        self.worn = ""  # put on from here, not by the user's own hand
        self._given = app.theme if app.theme != "textual-dark" else ""  # by TEXTUAL_THEME
        self._mine: dict[str, Theme] = {}
        for theme in OURS:
            app.register_theme(theme)
        self._shipped = frozenset(app.available_themes)

    def put_on(self, clothes: Clothes) -> None:
        """Register the user's themes, and wear the one that is wanted."""
        problems = list(clothes.wanted.problems)
        mine: dict[str, Theme] = {}
        for file in clothes.files:
            from hookscope.console.themes.user import made_of  # here: mostly there is no such file

            made = made_of(file)
            problems += made.problems
            if file.name in self._shipped:
                said = f"A theme {one_line(file.name, 40)} is there already: give the file another name."
                problems.append(Problem(said, made.place))
            else:
                mine[file.name] = made.theme
        for gone in self._mine.keys() - mine.keys():
            self.app.unregister_theme(gone)
        for theme in mine.values():
            self.app.register_theme(theme)
        before, self._mine = self._mine, mine
        self.configured = clothes.wanted.configured
        name = self._name(clothes.wanted, problems)
        self.problems = tuple(problems)
        if name != self.worn or name != self.app.theme:
            self.worn = name
            self.app.theme = name
        elif before.get(name) != mine.get(name):
            self.app.mutate_reactive(App.theme)

    def _name(self, wanted: Wanted, problems: list[Problem]) -> str:
        known = self.app.available_themes
        name = self._given or wanted.name
        if self.no_color:
            return ANSI.name
        if not name or name in known:
            return name or DEFAULT
        if not wanted.chosen:
            near = nearest(name, known)
            then = f" Did you mean {near}?" if near else " The palette lists them."
            problems.append(Problem(f"There is no theme {one_line(name, 40)}.{then}", wanted.place))
        return DEFAULT
