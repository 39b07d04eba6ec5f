"""What several fires of one event did again, or in other orders: the dialog that shows the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hookscope.console.dialog import Dialog
from hookscope.console.fire import ordered
from hookscope.console.keymap.hints import hints
from hookscope.console.marks import MUTED, PHASES, count, fitted, word
from hookscope.console.reading import Reading
from hookscope.core.orders.findings import Findings
from hookscope.core.orders.words import sentences
from hookscope.core.repeated import Again, FileAgain, HookAgain, Repetition
from hookscope.core.text import duration

STYLES: Mapping[Again, str] = {
    Again.NOTHING: "$text-success",
    Again.SAME: "$foreground",
    Again.GROWS: "$text-error",
    Again.OTHER: "$text-warning",
    Again.ONCE: "$foreground",
}
SIGNS: Mapping[Again, str] = {
    Again.NOTHING: "✓",
    Again.SAME: "=",
    Again.GROWS: "↑",
    Again.OTHER: "≠",
    Again.ONCE: "·",
}
FEW = 8  # runs whose figures are shown one by one
UNSEEN = "What was written to files is not known: on copies it is."


def report(told: Repetition, short: Callable[[Path], str] = str) -> Content:
    """Each handler with its verdict, then the files. `short` says a path for people."""
    return Content("\n").join(_lines(told, short))


def _lines(told: Repetition, short: Callable[[Path], str]) -> Iterator[Content]:
    if not told.hooks:
        yield Content("No handler was called.")
    width = min(max((len(word(one.hook, 40)) for one in told.hooks), default=8), 40)
    for one in told.hooks:
        yield from _hook(one, width)
    if told.files is None:
        yield Content()
        yield Content.styled(UNSEEN, MUTED)
    elif not told.files:
        found = told.guarded.unchanged if told.guarded is not None else ""
        yield Content()
        yield Content.styled(f"Files: {found}.", MUTED)
    else:
        yield Content()
        for file in told.files:
            yield _file(file, short(Path(file.path)))


def _hook(one: HookAgain, width: int) -> Iterator[Content]:
    yield Content.assemble(fitted(word(one.hook, 40), width), "  ", _verdict(one.again))
    outcomes = [PHASES[status].glyph if status else "–" for status in one.statuses]
    facts = [
        ("outcome", _series(outcomes)),
        ("time", _series([duration(took) for took in one.took])),
        ("messages", _series(one.messages) if any(one.messages) else ""),
        ("changes", _series(one.changes) if any(one.changes) else ""),
    ]
    yield from (Content.styled(f"  {name:<9} {text}", MUTED) for name, text in facts if text)
    for text in one.same_messages[:3]:
        yield Content.styled(f"  again     {word(text, 200)}", MUTED)
    for pointer in one.same_changes[:3]:
        yield Content.styled(f"  changed   {word(pointer, 200)}", MUTED)


def _series(values: Sequence[object]) -> str:
    shown = " ".join(map(str, values[:FEW]))
    return f"{shown} … {values[-1]}" if len(values) > FEW else shown


def _file(one: FileAgain, path: str) -> Content:
    sizes = ["–" if size is None else f"{size:,}" for size in one.sizes]
    return Content.assemble(
        word(path, 200), "  ", _verdict(one.again), (f"  {' → '.join(sizes[:FEW])} bytes", MUTED)
    )


def _verdict(again: Again) -> Content:
    return Content.styled(f"{SIGNS[again]} {again}", STYLES[again])


def conclusions(told: Repetition | Findings) -> tuple[str, ...]:
    """Who disturbs whom, a sentence each; none of what was only repeated."""
    return () if isinstance(told, Repetition) else tuple(one.text for one in sentences(told))


class RepeatScreen(Dialog[None]):
    """The report of one event that was fired several times."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "leave", "Back", id="repeated.leave", tooltip="Back to the runs"),
    ]
    DEFAULT_CSS = """
    RepeatScreen {
        & > Vertical { max-width: 110; max-height: 86%; }
        & VerticalScroll { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
        & Static { height: auto; }
    }
    """

    def __init__(
        self,
        event: str,
        told: Repetition | Findings,
        short: Callable[[Path], str] = str,
        *,
        copies: bool = False,
    ) -> None:
        super().__init__()
        self._event = event
        if isinstance(told, Repetition):
            self._times, self._report = told.times, report(told, short)
        else:
            self._times, self._report = len(told.fired), ordered.report(told, copies=copies)

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(f"{word(self._event, 60)}   {count(self._times, 'time')}")
            frame.border_subtitle = hints(("repeated.leave", "back"))
            with Reading():
                yield Static(self._report, markup=False)

    def on_mount(self) -> None:
        self.query_one(Reading).focus()

    def action_leave(self) -> None:
        self.dismiss(None)
