"""Every action while a run is in progress under a what-if: it works, or says why not."""

import re
from pathlib import Path

from tests.conftest import MakeHook
from tests.console.conftest import READY, Open
from tests.console.test_every_action import Presser

from hookscope.app.workbench import Workbench
from hookscope.console.keymap.active_keys import all_actions
from hookscope.console.keymap.key_listing import COMMANDS_OF_ACTIONS, NoCommandReason
from hookscope.console.state.console_state import Mode
from hookscope.runtime.limits import Limits

HANGS = "import time\ndef handler(event):\n    print('begun', flush=True)\n    time.sleep(3600)\n"
# Where the focus is put → what is pressed there besides all that is about an event or a run.
PLACES: dict[tuple[Mode, str], set[str]] = {
    ("fire", "#fire-run Waterfall"): {"console.dialect"},
    ("hooks", "#rows"): {"hooks.fire", "hooks.toggle", "hooks.recheck"},
    ("hosts", "#hosts-rows"): {"hosts.fire", "hosts.narrow", "hosts.runs"},
}
END_IT = {"fire.cancel", "fire.leave"}
ABOUT_THE_SCREEN = (NoCommandReason.MOVES, NoCommandReason.VIEWS, NoCommandReason.TYPES)
PASSING = re.compile(r"[\d.]+ ?m?s|[▁-▟]+|[\d ]+")  # what a run that goes on changes by itself


class Meanwhile(Presser):
    """One for whom time stands still."""

    def seen(self) -> tuple[object, ...]:
        text, *rest = super().seen()
        return PASSING.sub("", str(text)), *rest


async def test_each_action_has_an_effect_or_names_the_reason_during_a_run(
    console: Open, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    Workbench().trust(workspace / "hooks")
    make_hook(workspace / "hooks", "greet", READY, HANGS)
    async with console((80, 24), Limits(run=3600.0), os="darwin") as story:
        await story.shows("what if: os darwin")
        presser = Meanwhile(story, {name: action.keys[0] for name, action in all_actions().items()})
        fire = story.screen.panes.fire_pane
        await story.press("2")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.until(lambda: fire.run_view.runs.running is not None, "it runs")
        running = fire.run_view.runs.running
        for (mode, place), wanted in PLACES.items():
            await presser.home(mode, place)
            active = [one.binding.id or "" for one in story.app.screen.active_bindings.values()]
            for name in dict.fromkeys(active):
                about = (
                    name.startswith(("fire.", "run.")) and COMMANDS_OF_ACTIONS[name] not in ABOUT_THE_SCREEN
                )
                if (name in wanted or about) and name not in presser.done | END_IT:
                    presser.done.add(name)
                    await presser.press(name)
                    await presser.home(mode, place)
        assert not presser.silent
        assert len(presser.done) > LEAST
        assert fire.run_view.runs.running == running
        await story.shows("what if: os darwin")
        await presser.home("fire", "#fire-run Waterfall")
        await story.press("Q")
        await story.until(lambda: not story.screen.state.job, "it is cancelled")
        await story.press("0")
        await story.until(lambda: "what if" not in story.text(), "all is real again")


LEAST = 25  # actions that are pressed
