"""The completion list at the cursor: the fields or values that are valid there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from hookscope.console.dialogs.base_dialogs import Overlay, filtered, picker_keys
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints
from hookscope.console.panes.fire.context_fields import Completion
from hookscope.console.theme.text_styles import MARK_MUTED, fixed_width, safe_word

NARROWEST_LIST, TALLEST_LIST = 28, 12  # cells and lines of the list, its frame included
NAME_COLUMN, NAME_GAP = 24, 2  # cells of the first column, and of the gap after it
LIST_FRAME_WIDTH = 6  # cells of the frame, padding, scroll bar and its gap
LIST_FRAME_HEIGHT = 3  # lines of the frame and the field


def matching_completions(choices: Sequence[Completion], typed: str) -> tuple[Completion, ...]:
    """Return the completions that start with the text, then those that contain it, else similar ones."""
    query = typed.strip().lower()
    matches = [choice for choice in choices if query in f"{choice.shown} {choice.help}".lower()]
    if not matches:
        return filtered(typed, ((choice.shown, choice.help, choice) for choice in choices))
    return tuple(sorted(matches, key=lambda choice: not choice.shown.lower().strip('"').startswith(query)))


def list_corner(cursor: Offset, screen: tuple[int, int], size: tuple[int, int]) -> Offset:
    """Return the list's corner: below the cursor, above if there is no room, always on the screen."""
    width, height = size
    x = max(0, min(cursor.x, screen[0] - width))
    below = cursor.y + 1
    y = below if below + height <= screen[1] else max(0, cursor.y - height)
    return Offset(x, y)


class CompletionScreen(Overlay[Completion | None]):
    """A list of completions: typing filters it, enter chooses."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="completion.cancel", tooltip="Insert nothing"),
        *picker_keys("completion", "entry"),
    ]
    DEFAULT_CSS = """
    CompletionScreen {
        background: $background 0%;
        align: left top;
        & > Vertical, &.-tall > Vertical { background: $surface; padding: 0 1; }
        & Input { background: transparent; }
        & OptionList {
            height: auto; border: none; padding: 0; background: transparent;
            text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        }
    }
    """

    def __init__(self, title: str, choices: Sequence[Completion], typed: str, cursor: Offset) -> None:
        super().__init__()
        self._title, self._choices, self._typed, self._cursor = title, tuple(choices), typed, cursor
        self._found: tuple[Completion, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(safe_word(self._title, 60))
            frame.border_subtitle = key_hints((ENTER_KEY, "insert"), ("completion.cancel", "back"))
            yield Input(self._typed, compact=True, select_on_focus=False)
            option_list = OptionList(compact=True)
            option_list.can_focus = False
            yield option_list

    def on_mount(self) -> None:
        self._fill(self._typed)

    def on_resize(self, event: events.Resize) -> None:
        width = min(max(self._widest() + LIST_FRAME_WIDTH, NARROWEST_LIST), event.size.width)
        height = min(len(self._choices) + LIST_FRAME_HEIGHT, TALLEST_LIST, event.size.height)
        frame = self.query_one(Vertical)
        frame.styles.width, frame.styles.max_height = width, height
        frame.styles.offset = list_corner(self._cursor, event.size, (width, height))
        self.query_one(OptionList).styles.max_height = max(height - LIST_FRAME_HEIGHT, 1)

    @on(Input.Changed)
    def _typed_more(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def _widest(self) -> int:
        """Return the cells of the widest choice and of the frame's texts, independent of the typed text."""
        widths = (self._names + NAME_GAP + cell_len(safe_word(choice.help)) for choice in self._choices)
        return max(*widths, cell_len(safe_word(self._title, 60)) + NAME_GAP, cell_len(self._typed), 0)

    @property
    def _names(self) -> int:
        return min(
            max((cell_len(safe_word(choice.shown)) for choice in self._choices), default=1), NAME_COLUMN
        )

    def _fill(self, typed: str) -> None:
        self._found = matching_completions(self._choices, typed)
        width = self._names
        option_list = self.query_one(OptionList)
        option_list.set_options(
            Option(
                Content.assemble(
                    fixed_width(safe_word(choice.shown), width),
                    " " * NAME_GAP,
                    (safe_word(choice.help), MARK_MUTED),
                )
            )
            for choice in self._found
        )
        if not self._found:
            option_list.add_option(Option(Content.styled("no matches", MARK_MUTED), disabled=True))
        option_list.highlighted = 0 if self._found else None

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        at = self.query_one(OptionList).highlighted
        self.dismiss(self._found[at] if at is not None and self._found else None)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._found[event.option_index])

    def action_move(self, by: int) -> None:
        option_list = self.query_one(OptionList)
        if self._found:
            option_list.highlighted = ((option_list.highlighted or 0) + by) % len(self._found)
