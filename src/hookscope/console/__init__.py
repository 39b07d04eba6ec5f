"""The terminal console. Textual is imported here and nowhere else.

It shows what the workbench answers and evaluates no rule. State flows one way: a widget or the
bridge posts a change, `happening.reduce` makes the next state of it, and the panes show that.

    app.py                          theme, keys in force, workspaces
    desks, shell, carrying,         the one screen, each a class above the one before: who sits where,
    looking, screen                 state and panes, words between them, what looks bring, what is wanted
    state.py, happening, layout     pure: what is known, what changes it, which panes a size shows
    hangup.py, scanning             what ends when the terminal does, and what the end does not wait for
    bridge.py, firing, runner       to the workbench and back, in threads that touch no widget
    dialog.py, form, picking,       what stands over the panes, and what shines through it
    palette, shining
    painter, painting, strips,      where Textual would paint, lay out or answer once too often
    leaving
    text.py                         the one door for foreign text
    hooks/ fire/ log/ hosts/        the four modes

"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.driver import Driver

    from hookscope.workbench import Workbench


def run(
    bench: "Workbench | Callable[[], Workbench]",
    *,
    driver: "type[Driver] | None" = None,
    size: tuple[int, int] | None = None,
) -> int:
    """Show the console until its user leaves; ends the workers that it started. Returns its exit code.

    `bench`: open, or what opens it once the first frame is painted; what that raises is raised from here.
    `driver` and its first `size` show it elsewhere than in this terminal.
    """
    from hookscope.console.app import Console
    from hookscope.console.hangup import on_hangup

    async def session() -> int:
        console = Console(bench)
        if driver is not None:
            console.driver_class = driver
        else:
            on_hangup(partial(asyncio.get_running_loop().call_soon_threadsafe, console.exit))
        try:
            await console.run_async(size=size)
        finally:
            if console.opener.opened is not None:
                await console.bench.close()  # that of the workspace which is open at the end
        if console.gave_up is not None:
            raise console.gave_up
        return console.return_code or 0  # Textual has printed why it is another

    return asyncio.run(session())
