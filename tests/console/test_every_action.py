"""Every action, in every mode of an empty workspace: it changes what is seen, or a sentence says why not.

All keys are others than by default, so that no sentence and no frame can name an old one.
"""

import re
from itertools import combinations, product
from pathlib import Path

import pytest
from tests.console.conftest import Open, Story
from tests.console.test_hints import KEY, NONE
from textual.widget import Widget

from hookscope.console.keymap.active_keys import all_actions, key_labels, key_of
from hookscope.console.keymap.available_actions import MOVING_ACTIONS
from hookscope.console.state.console_state import Mode
from hookscope.console.state.state_changes import SteppedBack
from hookscope.console.widgets.header import ModeTab
from hookscope.storage.state_files import config_folder

# Mode → where the focus is put in it; each action is pressed where it is met first.
PLACES: dict[Mode, tuple[str, ...]] = {
    "fire": ("#fire-run Waterfall", "#fire-plan"),
    "hooks": ("#rows", "#why"),
    "log": ("LogView",),
    "hosts": ("#hosts-rows",),
}
SCROLLS = {"run.read", "console.next", "console.previous"}
LEAVES = {"app.quit", "console.quit"}
LEAST = 80  # actions that are met
ENTER = re.compile(r"\benter\b")  # Textual's own in a field: nobody moves it
CLICK = re.compile(r"\[/?@click=[^\]]*\]")  # what a click on a hint does, as Textual writes it
PATIENCE = 4_000  # turns of the event loop, longer than a key waits for what the one before has opened


def moved() -> dict[str, str]:
    """Another key for every action, each its own."""
    held = ("ctrl", "alt", "shift", "super")
    modifiers = ["+".join(some) for count in range(1, 5) for some in combinations(held, count)]
    keys = (f"{modifier}+f{number}" for modifier, number in product(modifiers, range(24, 0, -1)))
    return dict(zip(all_actions(), keys, strict=False))


class Presser:
    """Presses one action after another, and keeps what came of each."""

    def __init__(self, story: Story, keys: dict[str, str]) -> None:
        self.story, self.keys = story, keys
        self.done: set[str] = set()
        self.silent: list[str] = []
        self.told: dict[str, list[str]] = {}
        self._at: tuple[Mode, str] = ("hooks", "#rows")

    async def home(self, mode: Mode, place: str) -> None:
        """The mode as it is gone to, with the focus there."""
        app, screen = self.story.app, self.story.screen
        self._at = mode, place
        while len(app.screen_stack) > 1:
            app.screen.dismiss(None)
            await self.story.pilot.pause()
        if screen.state.mode != mode:
            screen.action_mode(mode)
            await self.story.pilot.pause()
        if place != "#why" and (screen.state.zoom or (mode == "hooks" and screen.state.reading)):
            screen.store.change(SteppedBack())
            await self.story.pilot.pause()
        await self.story.until(lambda: screen.query(place), f"{place} is there")
        target = screen.query(place).first()
        if screen.focused is not target:
            target.focus()
        if app._notifications:
            app.clear_notifications()
        await self.story.pilot.pause()

    def seen(self) -> tuple[object, ...]:
        return self.story.text(), len(self.story.app.screen_stack), self.story.app.screen.focused

    def said(self) -> list[str]:
        return [notice.message for notice in self.story.app._notifications]

    async def press(self, action: str) -> None:
        while len(self.story.app.screen_stack) > 1:  # what the last one has led to came late
            await self.home(*self._at)
        before = self.seen()
        await self.story.press(self.keys[action])
        for _ in range(PATIENCE):
            if self.said() or self.seen() != before:
                break
            await self.story.pilot.pause(0.01)
        else:
            self.silent.append(action)
        screen = self.story.app.screen
        await self.story.until(lambda: screen.is_mounted and self.story.lines(), "what it opens is drawn")
        frames = [CLICK.sub("", str(node.border_subtitle or "")) for node in screen.query(Widget)]
        self.told[action] = [*self.said(), *filter(None, frames), self.story.lines()[-1]]


async def test_each_action_has_an_effect_or_names_the_reason_with_current_keys(
    console: Open, workspace: Path
) -> None:
    keys = moved()
    assert len(keys) == len(all_actions())
    file = config_folder() / "keys.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"{name}: {key}\n" for name, key in keys.items()))
    async with console((80, 24)) as story:
        assert not story.app.keymap.problems
        presser = Presser(story, keys)
        for mode, places in PLACES.items():
            for place in places:
                await presser.home(mode, place)
                active = [one.binding.id or "" for one in story.app.screen.active_bindings.values()]
                for name in active:
                    passed = name.rpartition(".")[2] in MOVING_ACTIONS or name in LEAVES or name in SCROLLS
                    if name in all_actions() and not passed and name not in presser.done:
                        presser.done.add(name)
                        await presser.press(name)
                        await presser.home(mode, place)
        assert story.screen.query(ModeTab).first().label == f"{key_of('console.hooks')} Hooks"
        assert story.screen.panes.fire_pane.run_view.runs.running is None
        force = story.app.keymap
        await story.press(keys["console.help"])
        hint = f"{key_of('help.close')} close"
        await story.shows(hint)
        y, line = next((y, line) for y, line in enumerate(story.lines()) if hint in line)
        await story.pilot.click(offset=(line.index(hint) + 1, y))
        await story.until(lambda: len(story.app.screen_stack) == 1, "a click on a hint is its key")
        await story.pilot.click(offset=(3, 0))
        await story.until(lambda: len(story.app.screen_stack) == 2, "a click on the name opens the palette")
        story.app.screen.dismiss(None)
        await story.until(lambda: len(story.app.screen_stack) == 1, "the palette is closed")
    assert not presser.silent
    assert len(presser.done) > LEAST
    named = {key for name in all_actions() for key in key_labels(",".join(force.keys.get(name, ())))}
    new = re.compile("|".join(map(re.escape, sorted(named, key=len, reverse=True))))
    old = re.compile(KEY.pattern.replace("[a-z])", "[A-Za-z])"))
    for action, texts in presser.told.items():
        for text in texts:
            rest = ENTER.sub("", re.sub(r"\d+ (?!lists)", "", new.sub("KEY", text)))
            if old.search(rest) and not NONE.search(text):
                pytest.fail(f"{action}: an old key is named in {text!r}")
