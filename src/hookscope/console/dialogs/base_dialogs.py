"""The base dialogs: an overlay with a key bar, a row of buttons, a question, and a picker."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import ClassVar, Generic, NamedTuple, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.layout import ArrangeResult, Layout
from textual.layouts.horizontal import HorizontalLayout
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from hookscope.console.keymap.active_keys import (
    ENTER_KEY,
    active_keymap,
    binding_of,
    key_hints,
    key_label,
    keys_in_hints,
)
from hookscope.console.keymap.available_actions import KeyBar, keys_of_action, keys_of_screen
from hookscope.console.state.hook_rows import filter_words
from hookscope.console.theme.text_styles import MARK_MUTED, safe_text
from hookscope.console.widgets.painting import LaidOutOnce, PartialCompositor

Answer = TypeVar("Answer")
DIM_STYLE = Style(dim=True)


class DimmedBackground(Screen[Answer]):
    """A dialog above a dimmed screen, which is drawn once, not for each part. Saves 24 ms as it opens."""

    _below: tuple[object, list[Strip]] | None = None  # what the screen below was drawn for, and its lines

    def render_lines(self, crop: Region) -> list[Strip]:
        stack, color = self.app.screen_stack, self.styles.background
        if self not in stack[1:] or color.a == 1:
            return super().render_lines(crop)
        below = stack[: stack.index(self)]
        shows = [
            screen._compositor.changes
            for screen in below
            if isinstance(screen._compositor, PartialCompositor)
        ]
        painter = below[-1]._compositor
        drawn_for = below, shows, below[-1].background_colors, self.size, color, self.app.theme
        if self._below is None or self._below[0] != drawn_for or not isinstance(painter, PartialCompositor):
            dimmed = _DimmedStrips(color, self.app.native_ansi_color, self.get_line_filters())
            strips = [dimmed.strip(strip) for strip in painter.render_strips()]
            self._below = drawn_for, strips
        blank = Strip.blank(crop.width)
        lines = self._below[1][crop.y : crop.bottom]
        # The screen below may still be narrower.
        lines = [line.crop_extend(crop.x, crop.right, None) for line in lines]
        return [*lines, *[blank] * (crop.height - len(lines))]


class _DimmedStrips:
    """Dims the lines below a dialog. Each style is dimmed and filtered once.

    A screen has few styles and many pieces of text. The filters are those of the screen above, such
    as the one for no colours.
    """

    def __init__(self, color: Color, native: bool, filters: Sequence[LineFilter]) -> None:
        self._color, self._filters = color, tuple(filters)
        self._faint = DIM_STYLE if native else Style()  # native colours cannot be blended
        self._known: dict[Style | None, Style | None] = {}

    def strip(self, strip: Strip) -> Strip:
        cache = self._known
        segments = []
        for text, style, control in strip:
            seen = cache.get(style)
            if seen is None:
                # Compare looks only: a clickable style is a new object each time it is drawn.
                visible_style = style.clear_meta_and_links() if style is not None else None
                seen = cache[style] = _dimmed_style(visible_style, self._color, self._faint, self._filters)
            segments.append(Segment(text, seen, control))
        return Strip(segments, strip.cell_length)


@lru_cache(maxsize=1024)  # the next dialog is above the same styles
def _dimmed_style(
    style: Style | None, color: Color, faint: Style, filters: tuple[LineFilter, ...]
) -> Style | None:
    ((text, blended, control),) = BackgroundScreen.process_segments([Segment(" ", style)], color)
    seen = [Segment(text, (blended or Style()) + faint, control)]
    for seen_through in filters:
        seen = seen_through.apply(seen, color)
    return seen[0].style


OverlayAnswer = TypeVar("OverlayAnswer")
HELP_ACTION, FIRE_ACTION = "app.help", "console.fire_composed"
TALL_SCREEN = 30  # lines; taller screens get more padding


class Overlay(ModalScreen[OverlayAnswer], LaidOutOnce[OverlayAnswer], DimmedBackground[OverlayAnswer]):
    """A screen over the panes. The panes' keys do not work meanwhile; its key bar shows its own keys.

    Each key is named once: keys in the border or on a button are not in the key bar.
    """

    HAS_HELP: ClassVar[bool] = True  # whether help exists for its keys
    ON_BUTTONS: ClassVar[frozenset[str]] = frozenset()  # keys that buttons name
    DEFAULT_CSS = """
    Overlay {
        align: center middle;
        & > Vertical, & > VerticalScroll {
            width: 90%; height: auto;
            border: round $border; border-title-color: $foreground; border-title-style: none;
            border-subtitle-color: $text-muted; border-subtitle-align: left;
            background: $background; padding: 0 2;
        }
        &.-tall > Vertical, &.-tall > VerticalScroll { padding: 1 2; }
    }
    """

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Delay the first layout until the children have requested theirs, instead of laying out twice.

        Saves 26 ms as a dialog opens.
        """
        if size is not None and not self._compositor.size:
            self.refresh(layout=True)
        else:
            super()._refresh_layout(size or self.outer_size or self.app.size, scroll)

    @property
    def leaving(self) -> bool:
        return super().leaving or self not in self.app.screen_stack

    @property
    def is_open(self) -> bool:
        """Whether the dialog still exists: a result can arrive after the user has closed it."""
        return self.is_mounted and self.is_attached and not self.leaving

    def dismiss(self, result: OverlayAnswer | None = None) -> AwaitComplete:
        """Close the dialog, once, with everything above it.

        Textual's method closes the topmost screen on each call: a second click on an answer would close
        the screen below, and a click while help is open would close the help.
        """
        stack = self.app.screen_stack
        if self not in stack:
            return AwaitComplete()
        for above in reversed(stack[stack.index(self) + 1 :]):
            above.dismiss(None)
        return super().dismiss(result)

    def _extend_compose(self, widgets: list[Widget]) -> None:
        super()._extend_compose(widgets)
        self.set_class(self.app.size.height >= TALL_SCREEN, "-tall")  # before the children are styled
        widgets.append(KeyBar(id="keybar"))  # with the rest: mounting it later would cause another layout

    @on(events.Mount)
    def _name_keys(self) -> None:
        self.show_keys()
        self.bindings_updated_signal.subscribe(self, lambda _: self.show_keys())

    @on(events.Key)
    def _cannot_fire(self, event: events.Key) -> None:
        """Say that the key for firing has no effect here, unless this dialog has its own use for it."""
        keys = active_keymap().of(FIRE_ACTION, binding_of(FIRE_ACTION).key).split(",")
        if event.key in keys and event.key not in self.active_bindings:
            text = f"{key_label(event.key)} fires an event only in the panes: close this dialog first."
            self.app.notify(text, markup=False)

    @on(events.Resize)
    def _make_room(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= TALL_SCREEN, "-tall")

    def show_keys(self) -> None:
        """Show in the key bar the available keys that neither the border nor a button names."""
        named_keys = {key for part in self.children for key in keys_in_hints(part._border_subtitle)}
        named_keys |= {shown_key.key for action in self.ON_BUTTONS for shown_key in keys_of_action(action)}
        unnamed = (shown_key for shown_key in keys_of_screen(self) if shown_key.key not in named_keys)
        self.query_one(KeyBar).keys = (
            *unnamed,
            *(keys_of_action(HELP_ACTION, last=True) if self.HAS_HELP else ()),
        )


class Dialog(Overlay[OverlayAnswer]):
    """An overlay with one frame in the middle. Subclasses only change its size."""


WIDEST_ROW = 1000  # cells; wide enough for each button's natural size
BUTTON_GAP = 2  # cells between two buttons
LINES_AROUND_TEXT = 7  # lines of the box without its text and buttons
ButtonAnswer = TypeVar("ButtonAnswer")


def button_lines(widths: list[int], room: int) -> list[range]:
    """Return the buttons of each line. The last line is filled first, so that the actions stay together."""
    lines: list[range] = []
    end = len(widths)
    while end:
        taken = accumulate((width + BUTTON_GAP for width in reversed(widths[:end])), initial=-BUTTON_GAP)
        fit = sum(cells <= room for cells in taken) - 1
        lines.insert(0, range(end - max(1, fit), end))
        end = lines[0].start
    return lines


class _ButtonLayout(HorizontalLayout):
    """Places buttons in lines from the right edge, and a hint at the left."""

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        placements = super().arrange(parent, children, Size(WIDEST_ROW, size.height), greedy)
        widths = [min(placement.region.width, size.width) for placement in placements]
        placed = []
        for y, line in enumerate(button_lines(widths, size.width)):
            x = size.width - sum(widths[n] + BUTTON_GAP for n in line) + BUTTON_GAP
            for n in line:
                at = 0 if isinstance(placements[n].widget, Static) else x
                placed.append(placements[n]._replace(region=Region(at, y, widths[n], 1)))
                x += widths[n] + BUTTON_GAP
        return placed


class AnswerButton(Button):
    """A button for one answer, one line high."""

    def __init__(self, label: str, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(label, id=id, compact=True)


class AnswerRow(Horizontal):
    """The buttons, on as many lines as they need."""

    DEFAULT_CSS = """
    AnswerRow {
        height: auto; margin-top: 1;
        & > Static { width: auto; height: 1; color: $text-muted; }
        & > Button { min-width: 10; }
    }
    """

    def __init__(self, *answers: AnswerButton, hint: str = "") -> None:
        words = [Static(hint, id="hint", markup=False)] if hint else []
        super().__init__(*words, *answers, id="answers")
        self._lines = _ButtonLayout()

    @property
    def layout(self) -> Layout:
        return self._lines

    def on_resize(self) -> None:
        if isinstance(self.screen, ButtonDialog):
            self.screen.make_room()


class ButtonDialog(Overlay[ButtonAnswer]):
    """A question with buttons; cancel is the default. Its text scrolls if it does not fit."""

    FIRST: ClassVar[str] = "#cancel"  # the widget that has the focus first

    def on_mount(self) -> None:
        self.query_one("#question-text").styles.height = "auto"
        self.make_room()
        self.query_one(self.FIRST).focus()

    def on_resize(self) -> None:
        self.make_room()

    def make_room(self) -> None:
        """Limit the text's height, so that the buttons fit."""
        available = self.size.height - LINES_AROUND_TEXT - max(1, self.query_one(AnswerRow).size.height)
        self.query_one("#question-text").styles.max_height = max(3, available)

    def action_other_button(self) -> None:
        self.focus_next(Button)


PickedRow = TypeVar("PickedRow")
PickedAnswer = TypeVar("PickedAnswer")


def holds_words(text: str, typed: str) -> bool:
    """Return True if the text contains every typed word."""
    return all(word in text.casefold() for word in typed.casefold().split())


Candidate = TypeVar("Candidate")
MOST_MATCHES = 40  # matches to show


class RankedMatch(NamedTuple, Generic[Candidate]):
    """A match with its score: above 0, up to 1."""

    score: float
    what: Candidate


class TypedQuery:
    """A typed query, prepared for comparison with many names."""

    def __init__(self, typed: str) -> None:
        self.words = typed.casefold().split()
        self._whole = " ".join(self.words)
        letters = "".join(self.words)
        self._scattered = re.compile(".*?".join(map(re.escape, letters))) if len(letters) > 1 else None

    def score(self, name: str, more: str = "") -> float:
        """Return the score of a name; 0: no match. The name counts more than its description (`more`).

        Each typed word must be in one of them; otherwise all letters must be in the name, in order.
        """
        name = name.casefold()
        place = name.find(self._whole)
        if place >= 0:
            if len(name) == len(self._whole):
                return 1.0
            begins = place == 0 or not name[place - 1].isalnum()
            return (0.9 if place == 0 else 0.8 if begins else 0.6) - min(len(name), 200) / 2_000
        if all(word in name for word in self.words):
            return 0.5
        if more:
            both = f"{name} {more.casefold()}"
            if all(word in both for word in self.words):
                return 0.3
        if self._scattered is not None:
            match = self._scattered.search(name)
            if match is not None:
                return 0.2 * len(self._whole) / (match.end() - match.start())
        return 0.0


def best_matches(
    typed: str, candidates: Iterable[tuple[str, str, Candidate]], most: int = MOST_MATCHES
) -> list[RankedMatch[Candidate]]:
    """Return the best `most` of (name, description, candidate), best first; equal scores keep their order."""
    query = TypedQuery(typed)
    scored = (
        (query.score(name, more), -number, what) for number, (name, more, what) in enumerate(candidates)
    )
    chosen = heapq.nlargest(
        most, (scored_item for scored_item in scored if scored_item[0] > 0), key=lambda one: one[:2]
    )
    return [RankedMatch(score, what) for score, _, what in chosen]


def filtered(
    typed: str, candidates: Iterable[tuple[str, str, Candidate]], most: int | None = None
) -> tuple[Candidate, ...]:
    """Return the matching candidates, best first; `!word` excludes.

    A candidate is a name, a description and the value to return.
    """
    words, excluded = filter_words(typed)
    if excluded:
        candidates = (
            (name, more, what)
            for name, more, what in candidates
            if not any(word in f"{name} {more}".casefold() for word in excluded)
        )
    if not words:
        return tuple(what for _, _, what in islice(candidates, most))
    listed = tuple(candidates)
    return tuple(match.what for match in best_matches(" ".join(words), listed, most or len(listed)))


PICKER_FRAME = 4  # lines of the frame, the field and the blank line below it
PICKER_MARGIN = 8  # cells beside a row: frame, padding, scroll bar and its gap


def picker_keys(scope: str, what: str) -> tuple[Binding, ...]:
    """Return the keys that move the cursor of a list while the field has the focus."""
    return tuple(
        Binding(key, f"move({by})", key.title(), False, priority=True, id=f"{scope}.{key}", tooltip=tooltip)
        for key, by, tooltip in (("down", 1, f"Next {what}"), ("up", -1, f"Previous {what}"))
    )


class Picker(Dialog[PickedAnswer | None], Generic[PickedRow, PickedAnswer]):
    """A field with a list of matching rows below. The field stays in its place, whatever it finds."""

    WIDTH: ClassVar[int] = 96  # most cells of the frame
    DEFAULT_CSS = """
    Picker {
        align: center top;
        & > Vertical { width: 94%; margin: 1 0 0 0; }
        & Input { background: transparent; margin: 0 0 1 0; }
        & OptionList {
            height: auto; border: none; padding: 0; background: transparent;
            text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: tuple[PickedRow, ...] = ()

    @property
    def below(self) -> int:
        """The number of lines below the list."""
        return 0

    @on(events.Mount)
    @on(events.Resize)
    def leave_room(self) -> None:
        """Limit the list's height, so that the whole frame fits."""
        height = self.app.size.height
        around = PICKER_FRAME + (2 if height >= TALL_SCREEN else 0) + self.below
        self.query_one(Vertical).styles.max_width = self.WIDTH
        self.query_one(OptionList).styles.max_height = max(1, height * 88 // 100 - around)

    @property
    def room(self) -> int:
        """The cells of a row."""
        return min(self.WIDTH, self.app.size.width * 94 // 100) - PICKER_MARGIN

    @property
    def typed(self) -> str:
        """The text of the field."""
        return self.query_one(Input).value

    @property
    def row(self) -> PickedRow | None:
        """The row under the cursor."""
        at = self.query_one(OptionList).highlighted
        return self.found[at] if at is not None and at < len(self.found) else None

    def list_rows(
        self, rows: Sequence[PickedRow], prompts: Iterable[Content], none: str, at: int = 0
    ) -> None:
        """Show these rows with the cursor at `at`, or the sentence `none` if there are no rows."""
        self.found = tuple(rows)
        listed = self.query_one(OptionList)
        listed.set_options(Option(prompt) for prompt in prompts)
        if not rows:
            listed.add_option(Option(Content.styled(none, MARK_MUTED), disabled=True))
        listed.highlighted = min(at, len(rows) - 1) if rows else None

    def action_move(self, by: int) -> None:
        """Move the cursor; it wraps around."""
        listed = self.query_one(OptionList)
        if self.found:
            listed.highlighted = ((listed.highlighted or 0) + by) % len(self.found)

    def action_cancel(self) -> None:
        """Close without an answer."""
        self.dismiss(None)


TITLE_GAP = "   "  # between a title and its step


class Question(Dialog[str | None]):
    """A question with a one-line answer; the answer is None if the user cancels."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="question.cancel", tooltip="Cancel")
    ]
    DEFAULT_CSS = """
    Question {
        & > Vertical { width: 60; max-width: 90%; }
        & Input { background: transparent; }
        & Static { color: $text-muted; height: auto; }
    }
    """

    def __init__(
        self,
        question: str,
        note: str,
        *,
        enter: str,
        why_not: Callable[[str], str],
        proposed: str = "",
        secret: bool = False,
        step: str = "",
    ) -> None:
        """`enter` is the label of the key; `why_not` returns why an answer is invalid, empty if it is valid.

        `secret`: the answer is shown as dots. `step`: which of several steps this is, such as `1 of 2`.
        """
        super().__init__()
        self._step = step
        self._question, self._note, self._enter = question, note, enter
        self._why_not, self._proposed, self._secret = why_not, proposed, secret

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            question = safe_text(self._question, 50)
            frame.border_title = Content.assemble(question, TITLE_GAP, self._step) if self._step else question
            frame.border_subtitle = key_hints((ENTER_KEY, self._enter), ("question.cancel", "back"))
            yield Input(self._proposed, password=self._secret, compact=True, select_on_focus=True)
            yield Static(safe_text(self._note, 200), markup=False)

    @on(Input.Submitted)
    def _answered(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self._why_not(event.value)
        if problem:
            self.app.notify(problem, severity="warning", markup=False)
        else:
            self.dismiss(event.value)
