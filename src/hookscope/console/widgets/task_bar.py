"""The tasks of `hookscope demo`, one after another: two lines above the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.widgets import Static

from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.state.console_message import ConsoleMessage
from hookscope.console.state.console_state import ConsoleState
from hookscope.console.state.messages import FiringEnded
from hookscope.console.theme.text_styles import safe_paragraph
from hookscope.model.hook_status import State
from hookscope.model.run import Run


@dataclass(frozen=True)
class Task:
    """A task in one sentence, which names keys as `{action}`, and the check that it is done."""

    text: str
    shown: Callable[[ConsoleState], bool] = lambda _: False  # True if the screen shows that it is done
    ran: Callable[[Run], bool] = lambda _: False  # True if this run does it


def _is_ready(name: str, event: str) -> Callable[[ConsoleState], bool]:
    return lambda state: any(
        row.name == name and row.state is State.READY and row.events == (event,) for row in state.rows
    )


DEMO_TASKS = (
    Task(
        "deploy-note is blocked; its checks say why. {hooks.fix} asks for a value, {edit.write} writes it.",
        shown=_is_ready("deploy-note", "command:new"),
    ),
    Task(
        "welcome is silent: no event is called comand:new. Select it; {hooks.fix} fixes it.",
        shown=_is_ready("welcome", "command:new"),
    ),
    Task(
        "Two hooks are called greet. Select the one that is shadowed, and read which one runs.",
        shown=lambda state: state.row is not None and state.row.state is State.SHADOWED,
    ),
    Task(
        "Press {hooks.fire} and then {fire.fire} to fire command:new. notes fails: find the line.",
        ran=lambda run: any(result.call.name == "notes" for result in run.failed),
    ),
    Task(
        "Press {fire.saved} and choose the event delete; {fire.fire} fires it. guard blocks the tool call.",
        ran=lambda run: run.ending.verdict.startswith("blocked"),
    ),
)
END_TEXT = "That is all. {console.quit} quits; `hookscope new` creates a hook of your own."


class TaskBar(Static):
    """The next task, and how many are done."""

    DEFAULT_CSS = """
    TaskBar { height: auto; max-height: 3; padding: 0 1; background: $accent 25%; color: $text; }
    """

    def __init__(self, tasks: Sequence[Task], *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._tasks = tasks
        self.done: frozenset[int] = frozenset()  # the numbers of the tasks that are done, from 0

    def on_mount(self) -> None:
        self._show()

    def check_state(self, state: ConsoleState) -> None:
        """Check off the tasks that this state shows to be done."""
        self._check_off(lambda task: task.shown(state))

    def check_message(self, message: ConsoleMessage) -> None:
        """Check off the tasks that the run of this message completes."""
        if isinstance(message, FiringEnded) and message.run is not None:
            run = message.run
            self._check_off(lambda task: task.ran(run))

    def _check_off(self, is_done: Callable[[Task], bool]) -> None:
        now = self.done.union(number for number, task in enumerate(self._tasks) if is_done(task))
        if now != self.done:
            self.done = now
            self._show()

    def _show(self) -> None:
        numbers = range(len(self._tasks))
        marks = "".join("✓" if number in self.done else "·" for number in numbers)
        following = next((number for number in numbers if number not in self.done), None)
        if following is None:
            text = END_TEXT
        else:
            text = f"Task {following + 1} of {len(numbers)}: {self._tasks[following].text}"
        self.update(safe_paragraph(f"{marks}  {with_keys(text)}"))
