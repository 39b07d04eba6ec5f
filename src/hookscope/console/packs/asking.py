"""Which package is to be installed, and how; and the question whether all that is shown may be written."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, Static

from hookscope.console.dialog import Dialog, Over
from hookscope.console.form import Form
from hookscope.console.keymap.hints import hints
from hookscope.console.making.choice import Choice
from hookscope.console.reading import Fitted, Roll
from hookscope.workbench.packs.planning import Asked

SHORT = "folder, archive, npm name, python:NAME or git+https://…"
SPEC = "a folder, an archive, NAME or NAME@VERSION of npm, python:NAME, git+https://…"
COPY, LINK, PIN = "copy", "link", "pin"
LEAVE, TOO = "leave", "install too, scripts off"
REFUSE, REPLACE = "refuse", "put this one in its place"
MEANS = {
    COPY: "A copy goes into the host's own folder.",
    LINK: "Nothing is copied: the host looks into the folder itself.",
    PIN: "Of npm: kept at this very version and its integrity.",
}
HASTE = 0.4  # seconds in which enter says yes to nothing: it may be the second of two
LONGEST = 2_000  # characters of a spec


class OfPaths(Suggester):
    """Completes what begins like a path with folders and archives that are there."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        return _path_like(value)


def _path_like(value: str) -> str | None:
    """The first path that begins so."""
    if not value.startswith((".", "/", "~")):
        return None
    folder, _, begun = os.path.expanduser(value).rpartition("/")
    try:
        with os.scandir(folder or "/") as entries:
            names = sorted(entry.name for entry in entries if _may_be_meant(entry, begun))
    except OSError:
        return None
    fits = next((name for name in names if name.isprintable()), None)
    return None if fits is None else value + fits[len(begun) :]


def _may_be_meant(entry: os.DirEntry[str], begun: str) -> bool:
    if not entry.name.startswith(begun) or (entry.name.startswith(".") and not begun):
        return False
    return entry.is_dir() or entry.name.endswith((".zip", ".tgz", ".tar.gz", ".tar"))


class SpecScreen(Dialog["tuple[str, Asked] | None"]):
    """Asks what is to be installed; fetches and writes nothing itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="spec.cancel", tooltip="Install nothing"),
        Binding("enter", "take", "Show", id="spec.take", tooltip="Fetch it, and show what would be written"),
        Binding("down", "app.focus_next", "Next", show=False, id="spec.down", tooltip="The next line"),
        Binding("up", "app.focus_previous", "Before", show=False, id="spec.up", tooltip="The line before"),
    ]
    DEFAULT_CSS = """
    SpecScreen {
        & > Vertical { width: 78; max-width: 96%; }
        & #spec-means { color: $text-muted; height: auto; margin: 1 0 0 0; }
    }
    """

    def __init__(self, spec: str = "", how: str = COPY) -> None:
        super().__init__()
        self._spec, self._how = spec, how

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Install"
            frame.border_subtitle = hints(("spec.take", "shows everything first"), ("spec.cancel", "back"))
            package = Input(
                self._spec,
                placeholder=SHORT,
                suggester=OfPaths(),
                compact=True,
                max_length=LONGEST,
                id="spec-package",
            )
            yield Form(
                {
                    "package": package,
                    "how": Choice((COPY, LINK, PIN), id="spec-how"),
                    "dependencies": Choice((LEAVE, TOO), id="spec-needs"),
                    "if it is here": Choice((REFUSE, REPLACE), id="spec-force"),
                }
            )
            yield Static(id="spec-means", markup=False)

    def on_mount(self) -> None:
        how = self.query_one("#spec-how", Choice)
        how.chosen = how.words.index(self._how)
        self.query_one(Input).focus()
        self._show()

    @on(Choice.Changed)
    def _show(self) -> None:
        means = MEANS[self.query_one("#spec-how", Choice).word]
        self.query_one("#spec-means", Static).update(
            f"{means} It is checked as a whole and shown before anything is written; nothing of it is run."
        )

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        spec = self.query_one(Input).value.strip()
        if not spec:
            self.app.notify(f"A package is wanted: {SPEC}.", severity="warning", markup=False)
            return
        how = self.query_one("#spec-how", Choice).word
        asked = Asked(
            link=how == LINK,
            pin=how == PIN,
            force=self.query_one("#spec-force", Choice).word == REPLACE,
            dependencies=self.query_one("#spec-needs", Choice).word == TOO,
        )
        self.dismiss((spec, asked))

    def action_cancel(self) -> None:
        self.dismiss(None)


class SheetScreen(Over[bool]):
    """A sheet to be read; with a `verb`, the question whether it may be done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n,q", "answer(False)", "Cancel", id="plan.cancel", tooltip="Write nothing"),
        Binding("enter", "answer(True)", "Yes", id="plan.yes", tooltip="Do what is shown"),
        Binding("y", "copy", "Copy", id="plan.copy", tooltip="Copy what stands here"),
    ]
    DEFAULT_CSS = """
    SheetScreen {
        & > VerticalScroll {
            max-width: 110; max-height: 95%; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
        }
        & Fitted { width: 1fr; height: auto; }
    }
    """

    def __init__(self, title: str, sheet: Callable[[int], Content], verb: str = "") -> None:
        super().__init__()
        self._title, self._sheet, self._verb = title, sheet, verb
        self.seen = False  # long enough that enter answers this, and not what stood here before

    def compose(self) -> ComposeResult:
        with Roll(id="plan") as box:
            box.border_title = Content(self._title)
            answers = [("plan.yes", self._verb)] if self._verb else []
            leaves = ("plan.cancel", "cancel" if self._verb else "close")
            box.border_subtitle = Content.assemble(
                hints(*answers, leaves), "   ↑ ↓ scroll   ", hints(("plan.copy", "copy"))
            )
            yield Fitted(self._sheet, id="plan-sheet")

    def on_mount(self) -> None:
        self.query_one("#plan").focus()
        self.set_timer(HASTE, self._was_seen, name="seen")

    def _was_seen(self) -> None:
        self.seen = True

    def action_answer(self, answer: bool) -> None:
        if self.seen or not answer:
            self.dismiss(answer and bool(self._verb))

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._sheet(100).plain)
        self.app.notify("Copied what stands here.", markup=False)
