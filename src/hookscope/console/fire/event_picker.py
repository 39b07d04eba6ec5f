"""A screen that picks an event key: those the host knows, those that hooks listen to, or any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList

from hookscope.console.keymap.hints import ENTER, hints
from hookscope.console.marks import MUTED, count, fitted, word
from hookscope.console.picking import Picker, holds
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.workbench import View

WIDEST = 30


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One event that can be fired."""

    key: str
    when: str
    listeners: int
    emitted: bool


def key_rows(view: View) -> tuple[KeyRow, ...]:
    """Every event of the host, then what hooks listen to beside them."""
    catalogue = view.host.dialect.catalogue()
    rows = []
    for key in view.keys:
        exact, known = catalogue.by_key.get(key), catalogue.find(key)
        when = exact.when if exact else f"a hook listens to it; {view.host.dialect.product} has no such event"
        if exact is None and known is not None and known.open:
            when = f"one of your own: {known.when}"
        dialect = view.host.dialect
        event = dialect.event_of(key)
        heard = set(dialect.system_of(event.kind).keys(event))
        listeners = sum(bool(heard & set(row.events or ())) for row in view.inventory.hooks)
        rows.append(KeyRow(key, when, listeners, catalogue.sends(key)))
    return tuple(rows)


def matching(rows: Sequence[KeyRow], typed: str) -> tuple[KeyRow, ...]:
    """The rows that hold every typed word, those whose key begins so first."""
    found = [row for row in rows if holds(f"{row.key} {row.when}", typed)]
    return tuple(sorted(found, key=lambda row: not row.key.lower().startswith(typed.lower().strip())))


def row_prompt(row: KeyRow, width: int) -> Content:
    """A row of the list: key, how many listen, when it is sent."""
    listeners = count(row.listeners, "hook") if row.listeners else "–"
    when = row.when if row.emitted else f"never sent · {row.when}"
    return Content.assemble(
        fitted(word(row.key), width, "" if row.emitted else MUTED),
        (f" {listeners:>8}  ", "" if row.listeners else MUTED),
        (word(when), MUTED),
    )


class EventPicker(Picker[KeyRow, str]):
    """Type to narrow down, enter to take; what fits no row is taken as it was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="keys.cancel", tooltip="Leave the event as it is"),
        Binding(
            "down", "move(1)", "Down", show=False, priority=True, id="keys.down", tooltip="The next event"
        ),
        Binding("up", "move(-1)", "Up", show=False, priority=True, id="keys.up", tooltip="The event before"),
    ]

    def __init__(self, view: View, current: str = "", typed: str = "") -> None:
        super().__init__()
        self._rows = key_rows(view)
        self._current, self._typed = current, typed
        self._product = view.host.dialect.product

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content("Which event?")
            frame.border_subtitle = Content.assemble(
                f"{self._product} · {count(len(self._rows), 'event')}   ",
                hints((ENTER, "take"), ("keys.cancel", "back")),
            )
            yield Input(
                self._typed, placeholder="type to find, or type any key", compact=True, select_on_focus=False
            )
            keys = OptionList(compact=True)
            keys.can_focus = False
            yield keys

    def on_mount(self) -> None:
        self._fill(self._typed)
        at = next((index for index, row in enumerate(self.found) if row.key == self._current), 0)
        self.query_one(OptionList).highlighted = at if self.found else None

    @on(Input.Changed)
    def _typed_more(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def _fill(self, typed: str) -> None:
        rows = matching(self._rows, typed)
        width = min(max((cell_len(word(row.key)) for row in self._rows), default=10), WIDEST)
        none = f"{ENTER} takes {word(typed)} as it is" if typed.strip() else "no events here"
        self.list_rows(rows, (row_prompt(row, width) for row in rows), none)

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        typed = event.value.strip()
        exact = any(row.key == typed for row in self._rows)
        self.dismiss(typed if exact or self.row is None else self.row.key)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self.found[event.option_index].key)
