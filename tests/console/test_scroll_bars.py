"""Whatever scrolls keeps its text off its bar, and a list stays inside its frame."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.cells import cell_len
from tests.conftest import MakeHook
from tests.console.conftest import Open, Story, at_extremes
from textual.errors import NoWidget
from textual.geometry import Region
from textual.widget import Widget

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.hosts_pane import Matrix

LONG = "a word or two that go on and on, " * 12
TALKS = f"""
def handler(event):
    for number in range(60):
        print(number, {LONG!r})
        event.messages.append(f"{{number}} {LONG}")
    raise ValueError({LONG!r} * 20)
"""
NEEDS = f"requires: {{env: [{', '.join(f'VARIABLE_{number}' for number in range(40))}]}}"
HOOKS, SAVED = 60, 60
TALKING = 26  # of the hooks: as many handlers run
# Where a list or text is longer than its part.
SCROLL = {
    "HookList",
    "WhyPane",
    "KeysPane",
    "KeyScroll",
    "PaletteList",
    "JsonEditor",
    "FieldLines",
    "OptionList",
    "PlanView",
    "Waterfall",
    "Body",
    "Matrix",
}


def bars(story: Story) -> Iterator[tuple[Widget, Region]]:
    """Each part with a vertical bar, and where that stands."""
    screen = story.app.screen
    for part in screen.query("*").results(Widget):
        if part.show_vertical_scrollbar and part.display:
            try:
                yield part, screen.find_widget(part.vertical_scrollbar).region
            except NoWidget:
                continue


def before(line: str, column: int) -> str:
    """What stands in the cell before this column."""
    for char in line:
        column -= cell_len(char)
        if column <= 0:
            return char
    return ""


def touching(story: Story) -> list[str]:
    """The parts whose text, or frame, touches their bar: each with the line that does."""
    lines = story.lines()
    rows = ((part, at.x, y) for part, at in bars(story) for y in range(at.y, at.bottom))
    return [
        f"{part}: {lines[y]}" for part, x, y in rows if 0 <= y < len(lines) and before(lines[y], x).strip()
    ]


@at_extremes
async def test_text_does_not_touch_the_scroll_bar(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    for number in range(HOOKS):
        talks = number < TALKING
        events = "command:new" if talks else "command:stop"
        needs = "" if talks else f", {NEEDS}"
        name = f"{'a' if talks else 'b'}-{number:02}{'-with-a-long-name' * 4}"
        make_hook(workspace / "hooks", name, f"{{openclaw: {{events: [{events}]{needs}}}}}", TALKS)
    folder = workspace / ".hookscope/events"
    folder.mkdir(parents=True)
    for number in range(SAVED):
        (folder / f"saved-{number:02}{'-long' * 20}.yaml").write_text(
            "event: command:new\nexpect: {messages: 1}\n"
        )
    Workbench(Options(workspace=workspace)).trust(workspace)
    scrolled: set[str] = set()
    async with console(size) as story:

        async def kept(*keys: str, over: bool = False) -> None:
            """Press these: nothing touches its bar. `over`: in a dialog, which is left again."""
            await story.press(*keys)
            if over:
                await story.until(lambda: len(story.app.screen_stack) > 1, f"{keys} has opened something")
            story.app.clear_notifications()
            await story.pilot.pause()
            scrolled.update(type(part).__name__ for part, _ in bars(story))
            await story.until(lambda: not touching(story), f"no text touches a bar after {keys}")
            if over:
                story.app.screen.dismiss(None)
                await story.until(lambda: len(story.app.screen_stack) == 1, "it is left")

        await kept("end")
        await kept("enter", "enter")
        await kept("space", over=True)
        await kept("escape", "K")
        await kept("question_mark", over=True)
        await kept("ctrl+p", over=True)
        await story.press("4")
        await story.until(lambda: any(isinstance(part, Matrix) for part, _ in bars(story)), "hosts differ")
        await kept()
        await kept("2")
        text = ",\n".join(f'"key{number}": "{LONG}"' for number in range(60))
        story.screen.query_one(JsonEditor).rewrite(f"{{{text}}}")
        await kept()
        composer = story.screen.query_one(Composer)
        composer.turn_face()
        await kept()
        composer.turn_face()
        await kept("ctrl+@", over=True)
        await kept("f2", over=True)
        await kept("p")
        await kept("ctrl+r")
        await story.until(
            lambda: story.screen.panes.fire_pane.run_view.runs.current is not None, "it is fired"
        )
        await story.until(lambda: not story.screen.state.job, "the run is over")
        story.screen.query_one("#fire-run Waterfall").focus()
        await kept()
        await kept("end", "right")
        story.screen.query_one("#fire-plan").focus()
        await kept("z")
        await kept("z", "3")
    assert scrolled >= SCROLL
