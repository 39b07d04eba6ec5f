"""The terminal console. It evaluates no rule of its own, and only this folder imports Textual."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.driver import Driver

    from hookscope.app.workbench import Workbench
    from hookscope.console.widgets.task_bar import Task


def run(
    bench: "Workbench | Callable[[], Workbench]",
    *,
    driver: "type[Driver] | None" = None,
    size: tuple[int, int] | None = None,
    demo: bool = False,
) -> int:
    """Show the console until the user leaves it, and end its workers. Return the exit code.

    `bench`: an open workbench, or a function that opens one after the first frame. An error of that
    function is raised again. `driver` and `size` replace those of this terminal.
    """
    from hookscope.console.app import Console
    from hookscope.console.process import on_hangup

    async def session() -> int:
        tasks: Sequence[Task] = ()
        if demo:
            from hookscope.console.widgets.task_bar import DEMO_TASKS as tasks  # noqa: N811
        console = Console(bench, tasks=tasks)
        if driver is not None:
            console.driver_class = driver
        else:
            on_hangup(partial(asyncio.get_running_loop().call_soon_threadsafe, console.exit))
        try:
            await console.run_async(size=size)
        finally:
            if console.opener.opened is not None:
                await console.bench.close()  # of the last open workspace
        if console.gave_up is not None:
            raise console.gave_up
        return console.return_code or 0  # if it is not 0, Textual has printed the reason

    return asyncio.run(session())
