"""What the palette finds: every action of where one is; over the panes events, hooks, saved events, runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from textual.screen import Screen

from hookscope.console.doing import anywhere, deeds, do, moves
from hookscope.console.finding import best
from hookscope.console.happening import Change, Jumped, ModeChosen, SideChosen
from hookscope.console.keymap.actions import room_of
from hookscope.console.keymap.commands import command_of
from hookscope.console.keymap.hints import with_keys
from hookscope.console.keymap.names import written
from hookscope.console.recall import RunLine, saved_here, stored_runs
from hookscope.console.screen import MainScreen
from hookscope.workbench.last_time import last_time

if TYPE_CHECKING:
    from hookscope.console.app import Console
    from hookscope.console.hooks.rows import Row

UNASKED = 30  # of each kind that are listed before anything is typed
PANES: tuple[tuple[str, Change], ...] = (
    ("Hooks", ModeChosen("hooks")),
    ("Fire", ModeChosen("fire")),
    ("Log", ModeChosen("log")),
    ("Hosts", ModeChosen("hosts")),
    ("Why this hook stands as it does", SideChosen("why")),
    ("What the registry holds per event", SideChosen("keys")),
)


class Entry(NamedTuple):
    """One line of the palette."""

    kind: str
    text: str
    help: str
    run: Callable[[], object]


class Many(NamedTuple):
    """Lines of the palette that may be thousands: so many of them are written as are wanted."""

    first: Callable[[int | None], Iterable[Entry]]  # None: all


Listed: TypeAlias = Entry | Many


def written_out(listed: Iterable[Listed], most: int | None = None) -> Iterator[Entry]:
    """The entries one by one; of many the first so many."""
    for one in listed:
        if isinstance(one, Many):
            yield from one.first(most)
        else:
            yield one


def entries(screen: Screen[Any]) -> Iterator[Entry]:
    """All that can be done over this screen, one by one."""
    return written_out(listed(screen))


def listed(screen: Screen[Any]) -> Iterator[Listed]:
    """Actions first, then panes, events and hooks, but over a dialog: that is to be answered."""
    yield from _actions(screen)
    app = screen.app
    yield Entry("save", "Screenshot", "the screen as an SVG picture", app.deliver_screenshot)
    if isinstance(screen, MainScreen):
        yield from _places(screen)
    for name in sorted(app.available_themes):
        note = "the colours in use" if name == app.theme else "other colours"
        if app.no_color:
            note = "not while NO_COLOR is set"
        yield Entry("theme", name, note, partial(setattr, app, "theme", name))


def _places(screen: MainScreen) -> Iterator[Listed]:
    for title, change in PANES:
        yield Entry("go to", title, "", partial(screen.change, change))
    state = screen.state
    for key in state.view.keys if state.view is not None else ():
        yield Entry("event", key, "compose it in the Fire mode", partial(screen.compose_event, key))
    yield Many(lambda most: (_hook(screen, row) for row in islice(state.rows, most)))


def _hook(screen: MainScreen, row: Row) -> Entry:
    return Entry("hook", row.name, f"{row.look.word}, {row.source}", partial(_show, screen, row.id))


def _show(screen: MainScreen, row: str) -> None:
    screen.change(Jumped(row))
    screen.change(SideChosen("why"))


def _actions(screen: Screen[Any]) -> Iterator[Entry]:
    """The focused widget's actions first: the same key may mean more there. Those that move come last."""
    app = cast("Console", screen.app)
    over = isinstance(screen, MainScreen)  # it has the same as the app, in its own name
    found = [deed for deed in deeds(anywhere(screen), app.keymap) if deed.node is not app or not over]
    named = Counter(deed.binding.description for deed in found)
    for deed in sorted(found, key=lambda deed: moves(deed.binding)):
        binding = deed.binding
        title = binding.description
        if named[title] > 1:  # of two of one name each says where it acts
            title = f"{title}   {room_of(deed.id).title}"
        told = " · ".join(filter(None, (with_keys(binding.tooltip), command_of(deed.id))))
        yield Entry(written(binding.key)[:6], title, told, partial(do, app, deed))


async def kept(screen: MainScreen) -> tuple[Entry, ...]:
    """What lies on disk: saved events to load, runs to show, workspaces to open. Read in a thread."""
    view, bench = screen.state.view, screen.bridge.bench
    if view is None:
        return ()
    saved = await asyncio.to_thread(saved_here, view)
    runs = await asyncio.to_thread(stored_runs, bench, view, screen.fire_pane.runs.sheets)
    recent = await asyncio.to_thread(last_time().recent)
    others = [path for path in recent if path != view.host.workspace]
    return (
        *(Entry("saved", one.name, one.about, partial(_load, screen, one.file)) for one in saved),
        *(Entry("run", f"{run.number}  {run.key}", run.about, partial(_open, screen, run)) for run in runs),
        *(
            Entry("open", str(path), "this workspace", partial(screen.open_workspace, path))
            for path in others
        ),
    )


def _load(screen: MainScreen, file: Path) -> None:
    screen.change(ModeChosen("fire"))
    screen.saved.load(file)


def _open(screen: MainScreen, run: RunLine) -> None:
    pane = screen.fire_pane
    if run.past is not None:
        pane.show_past(run.past)
        screen.change(ModeChosen("fire"))
    elif pane.show_run(run.number):
        screen.change(ModeChosen("fire"))
    else:
        screen.say(f"Run {run.number} is no longer kept.", "warning")


def unasked(listed: Iterable[Listed]) -> tuple[Entry, ...]:
    """What stands there before anything is typed: of each kind the first."""
    seen = Counter[str]()
    shown = []
    for entry in written_out(listed, UNASKED):
        seen[entry.kind] += 1
        if seen[entry.kind] <= UNASKED:
            shown.append(entry)
    return tuple(shown)


def fitting(typed: str, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Those that fit best what was typed; a kind is looked for by its name, too."""
    named = ((f"{entry.kind} {entry.text}", entry.help, entry) for entry in entries)
    bare = ((entry.text, entry.help, entry) for entry in entries)
    first = typed.split(maxsplit=1)[:1]
    kinds = {entry.kind for entry in entries}
    return tuple(found.what for found in best(typed, named if kinds.intersection(first) else bare))
