"""The Packs screen: installed packs, the selected pack, and the dialogs for installing."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, Static

from hookscope.console.dialogs.base_dialogs import Dialog, Overlay
from hookscope.console.keymap.active_keys import key_hints, with_keys
from hookscope.console.screens.packs_sheets import PackRow, PackUses, pack_line, pack_sheet
from hookscope.console.theme.text_styles import MUTED, Sheet, safe_text
from hookscope.console.widgets.input_fields import LabeledForm, WordChoice
from hookscope.console.widgets.lines import SCROLLBAR_ROOM, FittedText, LineList, ScrollBox
from hookscope.packs.install_plan import InstallOptions

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.controllers.packs_controller import PacksController


PACK_BINDINGS: list[BindingType] = [
    Binding("escape,q,I", "close", "Close", id="packs.close", tooltip="Cancel, or go back"),
    Binding("n", "install", "Install", id="packs.install", tooltip="Preview a package, and install it"),
    Binding("plus", "link", "Link", id="packs.link", tooltip="Link to your own folder instead of copying it"),
    Binding("N", "update", "Update", id="packs.update", tooltip="Preview an update of the selected pack"),
    Binding("delete", "remove", "Remove", id="packs.remove", tooltip="Preview the removal of a pack"),
    Binding("U", "update_all", "Update all", id="packs.all", tooltip="Update every pack, one after another"),
    Binding("asterisk", "check", "Check", id="packs.check", tooltip="Check all sources for newer versions"),
    Binding("d", "diff", "Diff", id="packs.diff", tooltip="Show changes since the install"),
    Binding("R", "recheck", "Recheck", id="packs.recheck", tooltip="Read all files of the packs again"),
    Binding("y", "copy", "Copy", id="packs.copy", tooltip="Copy the details of the selected pack"),
    Binding("question_mark", "app.help", "Help", show=False, id="packs.help", tooltip="These keys"),
    Binding("pagedown", "scroll(1)", "More", show=False, priority=True, id="packs.more",
            tooltip="Scroll the details down"),
    Binding("pageup", "scroll(-1)", "Back up", show=False, priority=True, id="packs.less",
            tooltip="Scroll the details up"),
]  # fmt: skip


WIDE_PACKS = 130  # cells; wider screens show list and sheet side by side
NEEDS_A_PACK = frozenset({"update", "update_all", "check", "diff", "remove", "recheck", "copy"})
PACKS_HINT = (
    "{packs.install} installs a pack from a folder, an archive, npm, an installed Python package or a git "
    "address. Hookscope checks the pack and shows a preview first.\n\n"
    "{packs.link} links to your own folder instead: the host reads that folder itself."
)


class PackLines(LineList):
    """A line for each installed pack."""

    rows: tuple[PackRow, ...] = ()

    @property
    def line_count(self) -> int:
        return len(self.rows)

    def line_at(self, index: int, width: int) -> Content:
        return pack_line(self.rows[index], self.rows, width)


class PacksScreen(Dialog[None]):
    """Shows packs; a controller handles its requests.

    It fills the screen like a pane: the key bar is just below, so its frame names no keys.
    """

    HELP = (
        "The packs that Hookscope has installed, their sources, and their changes on disk since then. "
        "Hookscope shows each change before it writes. {packs.remove} undoes an installation completely."
    )
    BINDINGS: ClassVar[list[BindingType]] = PACK_BINDINGS
    DEFAULT_CSS = """
    PacksScreen {
        background: $background;
        & > Vertical { width: 100%; height: 100%; background: transparent; }
        & > Vertical, &.-tall > Vertical { padding: 0 1; }
        & Container { height: 1fr; layout: vertical; }
        & PackLines { max-height: 8; }
        & VerticalScroll {
            height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
            border-top: solid $border-blurred;
            &:focus { border-top: heavy $border; }
        }
        & #packs-sheet { width: 1fr; height: auto; }
        & #packs-said { height: auto; max-height: 5; display: none; margin: 1 0 0 0; }
        & #packs-said.-said { display: block; }
        &.-beside Container { layout: horizontal; }
        &.-beside PackLines { width: 50%; min-width: 72; max-width: 92; max-height: 100%; }
        &.-beside VerticalScroll {
            border-top: none; border-left: solid $border-blurred; padding: 0 0 0 1;
            &:focus { border-left: heavy $border; }
        }
        &.-none VerticalScroll, &.-none VerticalScroll:focus { border: none; }
    }
    """

    def __init__(self, manager: PacksController) -> None:
        super().__init__()
        self._controller = manager
        self._rows: tuple[PackRow, ...] | None = None
        self._view: Snapshot | None = None
        self._inside: PackUses | None = None
        self._drawn: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Packs"
            with Container():
                yield PackLines(id="packs-rows")
                with VerticalScroll(id="packs-about"):
                    yield Static(id="packs-sheet", markup=False)
            yield Static(id="packs-said", markup=False)

    def on_mount(self) -> None:
        self.query_one(PackLines).focus()
        self._controller.opened(self)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= WIDE_PACKS, "-beside")
        self.call_after_refresh(self._lay_out)

    # Display.

    @property
    def row(self) -> PackRow | None:
        """The selected pack."""
        lines = self.query_one(PackLines)
        return lines.rows[lines.cursor] if lines.rows else None

    def show(self, rows: Sequence[PackRow], view: Snapshot, fresh: str = "") -> None:
        """Show the installed packs; the selection stays, unless a pack is `fresh`."""
        chosen = fresh or (self.row.id if self.row is not None else "")
        self._rows, self._view = tuple(rows), view
        listed = self.query_one(PackLines)
        listed.rows = self._rows
        listed.styles.height = "1fr" if self.has_class("-beside") else len(rows)
        if rows and not listed.display:
            self.call_after_refresh(listed.focus)
        listed.display = bool(rows)
        self.set_class(not rows, "-none")
        ids = [row.id for row in rows]
        listed.lines_changed()
        listed.cursor = ids.index(chosen) if chosen in ids else 0
        frame = self.query_one(Vertical)
        frame.border_title = f"Packs {len(rows)}   {view.host.dialect.product}"
        self._draw()
        self.show_keys()

    def cannot(self, action: str) -> str:
        """Return why an action would have no effect now."""
        if action not in NEEDS_A_PACK or self._rows:
            return ""
        if self._rows is None:
            return "Still reading the files of the packs."
        return with_keys("No pack is installed here: {packs.install} installs one.")

    def show_inside(self, row: PackRow, inside: PackUses) -> None:
        """Show what the sources of a pack use."""
        if self.row is not None and self.row.id == row.id:
            self._inside = inside
            self._draw()

    def show_message(self, *lines: Content) -> None:
        """Show progress or results; without lines, clear them."""
        said = self.query_one("#packs-said", Static)
        said.set_class(bool(lines), "-said")
        said.update(Content("\n").join(lines))

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._draw()

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.query_one("#packs-about").focus()

    def _lay_out(self) -> None:
        if self.is_attached and self._rows is not None and self._view is not None:
            self.show(self._rows, self._view)

    def _draw(self) -> None:
        row, view = self.row, self._view
        if view is None:
            return
        box = self.query_one("#packs-about", VerticalScroll)
        width = box.scrollable_content_region.width - SCROLLBAR_ROOM if box.size.width else 60
        if row is None:
            self.query_one("#packs-sheet", Static).update(_no_packs_text(view, width))
            return
        key = (row.id, row.status.record.at)
        if self._drawn != key:
            self._inside = None
            self._drawn = key
            box.scroll_home(animate=False)
            self._controller.reading.read_sources(row, view)
        sheet = pack_sheet(row, view, self._inside, width, datetime.now(UTC))
        self.query_one("#packs-sheet", Static).update(sheet)

    # Requests.

    def action_close(self) -> None:
        if self._controller.busy:
            self._controller.stop()
        elif self._rows and self.query_one("#packs-about").has_focus:
            self.query_one(PackLines).focus()
        else:
            self.dismiss(None)

    def action_install(self) -> None:
        self._controller.ask_spec()

    def action_link(self) -> None:
        self._controller.ask_spec(link=True)

    def action_update(self) -> None:
        if row := self._wanted():
            self._controller.update((row.id,))

    def action_update_all(self) -> None:
        if self._wanted():
            self._controller.update(tuple(row.id for row in self._rows or ()))

    def action_check(self) -> None:
        if self._wanted():
            self._controller.check(tuple(row.id for row in self._rows or ()))

    def action_diff(self) -> None:
        if row := self._wanted():
            self._controller.compare(row)

    def action_remove(self) -> None:
        if row := self._wanted():
            self._controller.remove(row.id)

    def action_recheck(self) -> None:
        if not self._wanted():
            return
        self._controller.reading.refresh()
        self.app.notify("Reading the files of all packs again.", markup=False)

    def action_copy(self) -> None:
        row = self._wanted()
        if row is not None and self._view is not None:
            sheet = pack_sheet(row, self._view, self._inside, 100, datetime.now(UTC))
            self.app.copy_to_clipboard(sheet.plain)
            self.app.notify("Copied the details.", markup=False)

    def action_scroll(self, by: int) -> None:
        box = self.query_one("#packs-about", VerticalScroll)
        box.scroll_relative(y=by * max(1, box.size.height - 1), animate=False)

    def _wanted(self) -> PackRow | None:
        """Return the selected pack; if there is none, notify the user."""
        if self.row is None:
            self.app.notify(self.cannot("remove"), markup=False)
        return self.row


def _no_packs_text(view: Snapshot, width: int) -> Content:
    sheet = Sheet(width)
    sheet.paragraph(safe_text(f"No pack is installed for {view.host.dialect.product} here."))
    sheet.blank()
    sheet.paragraph(Content.styled(with_keys(PACKS_HINT), MUTED))
    return sheet.content()


SPEC_PLACEHOLDER = "folder, archive, npm, python:NAME or git+https"
SPEC_FORMS = "a folder, an archive, NAME or NAME@VERSION of npm, python:NAME, git+https://…"
COPY_WORD, LINK_WORD, PIN_WORD = "copy", "link", "pin"
NO_DEPENDENCIES_WORD, DEPENDENCIES_WORD = "skip", "install, but run no scripts"
REFUSE_WORD, REPLACE_WORD = "refuse", "replace it"
MEANING_OF_WORDS = {
    COPY_WORD: "A copy goes into the host's own folder.",
    LINK_WORD: "Nothing is copied: the host reads the folder itself.",
    PIN_WORD: "For npm packages: an update keeps this version and its checksum.",
}
ENTER_DELAY = 0.4  # seconds in which enter is ignored: it may be a repeated press
LONGEST_SPEC = 2_000  # characters of a spec


class PathSuggester(Suggester):
    """Completes paths with existing folders and archives."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        return _path_completion(value)


def _path_completion(value: str) -> str | None:
    """Return the first existing path that starts with the text."""
    if not value.startswith((".", "/", "~")):
        return None
    folder, _, begun = os.path.expanduser(value).rpartition("/")
    try:
        with os.scandir(folder or "/") as entries:
            names = sorted(entry.name for entry in entries if _is_candidate(entry, begun))
    except OSError:
        return None
    fits = next((name for name in names if name.isprintable()), None)
    return None if fits is None else value + fits[len(begun) :]


def _is_candidate(entry: os.DirEntry[str], begun: str) -> bool:
    if not entry.name.startswith(begun) or (entry.name.startswith(".") and not begun):
        return False
    return os.path.isdir(entry) or entry.name.endswith((".zip", ".tgz", ".tar.gz", ".tar"))


class PackSpecScreen(Dialog["tuple[str, InstallOptions] | None"]):
    """Asks what to install; fetches and writes nothing itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="spec.cancel", tooltip="Install nothing"),
        Binding("enter", "take", "Show", id="spec.take", tooltip="Fetch the pack and preview the install"),
        Binding("down", "app.focus_next", "Next", show=False, id="spec.down", tooltip="Next line"),
        Binding("up", "app.focus_previous", "Previous", show=False, id="spec.up", tooltip="Previous line"),
    ]
    DEFAULT_CSS = """
    PackSpecScreen {
        & > Vertical { width: 78; max-width: 96%; }
        & #spec-means { color: $text-muted; height: auto; margin: 1 0 0 0; }
    }
    """

    def __init__(self, spec: str = "", how: str = COPY_WORD) -> None:
        super().__init__()
        self._spec, self._how = spec, how

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Install   1 of 2"
            frame.border_subtitle = key_hints(("spec.take", "preview"), ("spec.cancel", "back"))
            package = Input(
                self._spec,
                placeholder=SPEC_PLACEHOLDER,
                suggester=PathSuggester(),
                compact=True,
                max_length=LONGEST_SPEC,
                id="spec-package",
            )
            yield LabeledForm(
                {
                    "package": package,
                    "how": WordChoice((COPY_WORD, LINK_WORD, PIN_WORD), id="spec-how"),
                    "dependencies": WordChoice((NO_DEPENDENCIES_WORD, DEPENDENCIES_WORD), id="spec-needs"),
                    "if installed": WordChoice((REFUSE_WORD, REPLACE_WORD), id="spec-force"),
                }
            )
            yield Static(id="spec-means", markup=False)

    def on_mount(self) -> None:
        how = self.query_one("#spec-how", WordChoice)
        how.chosen = how.words.index(self._how)
        self.query_one(Input).focus()
        self._show()

    @on(WordChoice.Changed)
    def _show(self) -> None:
        means = MEANING_OF_WORDS[self.query_one("#spec-how", WordChoice).word]
        self.query_one("#spec-means", Static).update(
            f"{means} Hookscope checks the package and shows a preview before writing. No package code runs."
        )

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        spec = self.query_one(Input).value.strip()
        if not spec:
            self.app.notify(f"Enter a package: {SPEC_FORMS}.", severity="warning", markup=False)
            return
        how = self.query_one("#spec-how", WordChoice).word
        asked = InstallOptions(
            link=how == LINK_WORD,
            pin=how == PIN_WORD,
            force=self.query_one("#spec-force", WordChoice).word == REPLACE_WORD,
            dependencies=self.query_one("#spec-needs", WordChoice).word == DEPENDENCIES_WORD,
        )
        self.dismiss((spec, asked))


class PackPlanScreen(Overlay[bool]):
    """A sheet to read; with a `verb`, it asks whether to proceed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "answer(False)", "Cancel", id="plan.cancel", tooltip="Write nothing"),
        Binding("enter", "answer(True)", "Yes", id="plan.yes", tooltip="Proceed"),
        Binding("y", "copy", "Copy", id="plan.copy", tooltip="Copy this text"),
    ]
    DEFAULT_CSS = """
    PackPlanScreen {
        & > VerticalScroll {
            max-width: 110; max-height: 95%; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
        }
        & FittedText { width: 1fr; height: auto; }
    }
    """

    def __init__(self, title: str, sheet: Callable[[int], Content], verb: str = "") -> None:
        super().__init__()
        self._title, self._sheet, self._verb = title, sheet, verb
        self.seen = False  # for `ENTER_DELAY`, so that enter answers this sheet

    def compose(self) -> ComposeResult:
        with ScrollBox(id="plan") as box:
            box.border_title = Content(self._title)
            leaves = ("plan.cancel", "cancel" if self._verb else "close")
            answers = key_hints(("plan.yes", self._verb), leaves, gap=3 if self._verb else 1)
            box.border_subtitle = Content.assemble(
                answers, "   ↑ ↓ scroll   ", key_hints(("plan.copy", "copy"))
            )
            yield FittedText(self._sheet, id="plan-sheet")

    def on_mount(self) -> None:
        self.query_one("#plan").focus()
        self.set_timer(ENTER_DELAY, self._was_seen, name="seen")

    def _was_seen(self) -> None:
        self.seen = True

    def action_answer(self, answer: bool) -> None:
        if self.seen or not answer:
            self.dismiss(answer and bool(self._verb))

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._sheet(100).plain)
        self.app.notify("Copied the text.", markup=False)
