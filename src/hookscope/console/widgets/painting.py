"""Overrides of Textual's layout and painting.

lay out and paint each change once, and mount nothing in a widget that is being removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from textual import events
from textual._compositor import ChopsUpdate, Compositor, ReflowResult
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.messages import Prune
from textual.reactive import Reactive
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from hookscope.console.widgets.focus_targets import styled_by_focus

LineGap: TypeAlias = tuple[
    int, int
]  # cells of a line in which nothing stands yet: from one to before another


class PartialCompositor(Compositor):
    """Asks each part of the screen only for the lines in which something has changed.

    Every part hears of its size. Textual tells whose size differs from what it knew, and comes to know sizes
    in between, whenever somebody asks where a part stands: a new one then never heard how large it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self._changed: Collection[Region] | None = None  # None: all is painted
        self._told: dict[Widget, Size] = {}  # who has heard of its size, and which
        self.changes = 0  # of what is shown, so far
        self.drawn = -1  # how many there were when a screen above last drew all of this
        self.anew = False  # has any part heard of another size by the last layout

    def update_widgets(self, widgets: set[Widget]) -> None:
        self.changed(widgets)
        super().update_widgets(widgets)

    def changed(self, widgets: Collection[Widget]) -> None:
        """These are to be painted anew. A screen itself is painted behind its parts, which stay so."""
        self.changes += any(not isinstance(widget, Screen) for widget in widgets)

    def reflow_visible(self, parent: Widget, size: Size) -> set[Widget]:
        self.changes += 1
        self.anew = False
        return super().reflow_visible(parent, size)

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        stood = self._full_map
        hidden = super().reflow(parent, size).hidden
        self.changes += self._full_map != stood
        before, self._told = self._told, {part: at.region.size for part, at in self._full_map.items()}
        resized = {part for part, now in self._told.items() if before.get(part, now) != now}
        shown = self._told.keys() - before.keys()
        self.anew = bool(shown or resized)
        return ReflowResult(hidden, shown, resized)

    def clear(self) -> None:
        super().clear()
        self._told = {}
        self.changes += 1

    def shining_through(self) -> list[Strip]:
        """All lines, for a screen above."""
        strips = self.render_strips()
        self.drawn = self.changes
        return strips

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = tuple(self._dirty_regions)
        try:
            update = super().render_partial_update()
        finally:
            self._changed = None
        if update is not None:
            update.chop_ends = [_piece_ends(line) for line in update.chops]
        return update

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        """From front to back, as Textual does; what stands behind others is not asked for its lines.

        Textual cuts each line wherever any part begins or ends, those that are not seen there too, and makes
        a strip of each piece. Here a line that nothing stands before stays the strip that it is. What has
        not changed is not drawn, and keeps its place: what lies behind it must not be painted there.
        """
        width, height = self.size
        lines: list[dict[int, Strip]] = [{} for _ in range(height)]
        gaps_of: list[list[LineGap]] = [[(0, width)] for _ in range(height)]
        changed = (crop,) if self._changed is None else self._changed
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            x, right = seen.column_span
            shown = [
                y
                for y in filter(is_rendered_line, seen.line_range)
                if any(begin < right and x < end for begin, end in gaps_of[y])
            ]
            touched = [part for part in map(seen.intersection, changed) if part] if shown else []
            strips: dict[int, Strip] = {}
            if touched:
                lines_of = Region.from_union(touched).line_range
                wanted = [y for y in shown if y in lines_of]
                if wanted:
                    band = Region(x, wanted[0], seen.width, wanted[-1] + 1 - wanted[0])
                    drawn = widget.render_lines(band.translate(-region.offset))
                    strips = dict(zip(band.line_range, drawn, strict=False))
            for y in shown:
                gaps_of[y] = _fill_gaps(lines[y], gaps_of[y], strips.get(y), x, right)
        return [dict(sorted(line.items())) for line in lines]


def _piece_ends(line: Mapping[int, Strip | None]) -> list[int]:
    """Where each piece of a line ends."""
    return [x + strip.cell_length for x, strip in line.items() if strip is not None]


def _fill_gaps(
    line: dict[int, Strip], gaps: Sequence[LineGap], strip: Strip | None, x: int, right: int
) -> list[LineGap]:
    """Put a part's strip where nothing in front of it stands; the gaps that are left on its line."""
    left = []
    if strip is not None:
        right = min(right, x + strip.cell_length)
    for begin, end in gaps:
        first, last = max(begin, x), min(end, right)
        if first >= last:
            left.append((begin, end))
            continue
        if strip is not None:
            line[first] = strip.crop(first - x, last - x)
        if begin < first:
            left.append((begin, first))
        if last < end:
            left.append((last, end))
    return left


FINAL_MESSAGES = (Prune, events.Unmount, events.Callback)  # how it ends, and who waits for it


class RemovableWidget(Widget):
    """May go at any time: a dialog that is left at once, a workspace or a console that ends as it begins.

    Textual mounts no parts in what is on its way out, and tells it that all are there. And what it wants to
    be done after the next painting is done by whatever screen is on top by then, when its parts have gone.
    """

    _bare = False  # it was on its way out before its parts could come

    @property
    def leaving(self) -> bool:
        """Is it on its way out?"""
        return self._pruning

    async def _dispatch_message(self, message: Message) -> None:
        if isinstance(message, events.Mount):
            self._bare = self.leaving
        if not self._bare or isinstance(message, FINAL_MESSAGES):
            await super()._dispatch_message(message)

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        """Do this after the next painting, if it still stands there then."""

        def called() -> Any:
            return None if self.leaving else callback(*args, **kwargs)

        return super().call_after_refresh(called)


ScreenAnswer = TypeVar("ScreenAnswer")
ScrollBars: TypeAlias = tuple[bool, bool]  # upright, level


class LaidOutOnce(RemovableWidget, Screen[ScreenAnswer]):
    """Textual lays all out again wherever a layout has given a part another size, and paints those parts once
    more: this does so once. Where a scroll bar comes or goes by it, Textual paints all without that and then
    again: this lays out twice, and paints what comes of it."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._compositor: PartialCompositor = PartialCompositor()
        self._laying_out = False
        self._to_paint = False  # what is laid out

    def _compositor_refresh(self) -> None:
        """Below another screen: Textual has all of that painted anew, though nothing has changed in it."""
        if self._laying_out:
            self._to_paint = True
            return
        painter = self._compositor
        if self in self.app._background_screens and painter.drawn == painter.changes:
            painter._dirty_regions.clear()
            self._dirty_widgets.clear()
        else:
            super()._compositor_refresh()

    def _paint_layout(self) -> None:
        """It is all laid out now."""
        self._compositor_refresh()

    def _take_along(self) -> None:
        """What a layout has given another size is painted with the rest, and not once more."""
        painter = self._compositor
        asked = {part for part in (self, *painter.visible_widgets) if part._repaint_required}
        painter.update_widgets(asked)
        for part in asked:
            part._repaint_required = False

    def _on_timer_update(self) -> None:
        self._compositor.changed(
            self._dirty_widgets
        )  # before Textual may put the whole screen in their place
        super()._on_timer_update()

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        """For the first time: all its parts were styled as they were mounted, just now."""
        event.refresh_styles = event.refresh_styles and self.stack_updates > 0

    def _screen_resized(self, size: Size) -> None:
        """This screen, or one that was put above it, has heard of its size: it may be known already."""
        if size != self._compositor.size or self._layout_required:
            super()._screen_resized(size)

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        asked = {part for part in self.walk_children(Widget) if part._layout_required}
        if scroll:
            asked.add(self)  # what it has asked for is this
        self._laying_out = True
        try:
            stand = self._bars_kept(size, scroll) or self._bars_kept(size, False)
        finally:
            self._laying_out = False
        if stand:  # all stands where it belongs: what a new size has asked for is done
            for part in (self, *self._compositor._full_map):
                part._layout_required = part._layout_required and part in asked
        if self._to_paint:
            self._to_paint = False
            self._take_along()
            self._paint_layout()

    def _bars_kept(self, size: Size | None, scroll: bool) -> bool:
        """Lay out; has no scroll bar come or gone by it."""
        before = {part: _scroll_bars(part) for part in (self, *self.walk_children(Widget))}
        super()._refresh_layout(size, scroll)
        return all(
            before.get(part, NO_BARS) == _scroll_bars(part) for part in (self, *self._compositor.widgets)
        )


class PaintedOnce(LaidOutOnce[ScreenAnswer]):
    """Waits a frame or two with a paint that the next one would paint over: until parts of another size have
    laid out what they show, and until what a subclass knows of is all there."""

    # Who gets it, and who loses it, are painted; for Textual the whole screen is.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._painted = False  # once: the first paint waits for nothing
        self._held = 0  # frames
        self._put_off = False  # what was laid out is not painted
        self._behind: list[Callable[[], object]] = []  # what waits for a paint
        self._too_early = 0  # ticks that come before the parts have said what is to be painted

    @property
    def is_half_done(self) -> bool:
        """Is more on its way that belongs to what is painted."""
        return False

    @property
    def _gathers(self) -> bool:
        """Does the app gather changes, as it does while it starts."""
        return bool(getattr(self.app, "_batch_count", 0))

    def _screen_resized(self, size: Size) -> None:
        """Of the same size: what was asked for while the app gathers is laid out with what is drawn then."""
        if size != self._compositor.size or not self._gathers:
            super()._screen_resized(size)

    def _update_focus_styles(self, focused: Widget | None = None, blurred: Widget | None = None) -> None:
        """Style anew what has a rule for a focus within; Textual does so with all that lies beside it too."""
        nodes = styled_by_focus(*(widget for widget in (focused, blurred) if widget is not None))
        self.app.stylesheet.update_nodes(nodes, animate=True)

    def call_after_paint(self, callback: Callable[[], object]) -> None:
        """Do this once what was changed just now stands on the terminal.

        Textual's own `call_after_refresh` comes sooner: the parts have not yet said that they changed, and a
        paint may be put off. A screen that another one covers is not painted: there it is done all the same.
        """
        self._behind.append(callback)
        self._too_early = 1
        self._update_timer.resume()

    def _no_longer_wait(self) -> None:
        behind, self._behind = self._behind, []
        for callback in behind:
            self.call_later(self._do_here, callback)

    def _do_here(self, callback: Callable[[], object]) -> None:
        if not self.leaving:
            callback()

    def _on_timer_update(self) -> None:
        if self.is_half_done and self._held < MOST_HELD_FRAMES:
            self._held += 1
            return  # the timer goes on
        super()._on_timer_update()
        if self._put_off and self.is_current:
            self._dirty_widgets.add(self)  # nothing of its own: all that waits to be painted
            self._update_timer.resume()
        elif self._behind and self._too_early:
            self._too_early = int(self._has_more_to_say())
            self._update_timer.resume()
        else:
            self._no_longer_wait()

    def _has_more_to_say(self) -> bool:
        """Has any part changed that has not yet told this screen so: it does when it is idle."""
        return any(
            part._repaint_required or part._layout_required for part in self._compositor.visible_widgets
        )

    def _compositor_refresh(self) -> None:
        """Textual throws away what is drawn while its app gathers, as it starts: it is drawn afterwards."""
        if self._gathers:
            self.refresh()
            return
        if not self._laying_out:
            self._put_off, self._held, self._painted = False, 0, True
        super()._compositor_refresh()

    def _paint_layout(self) -> None:
        if self._compositor.anew and self._painted and not self._put_off:
            self._put_off = True
        else:
            super()._paint_layout()


MOST_HELD_FRAMES = 2  # frames
NO_BARS = False, False  # of a part that was not there yet


def _scroll_bars(part: Widget) -> ScrollBars:
    """Which scroll bars it shows."""
    return part.show_vertical_scrollbar, part.show_horizontal_scrollbar


def update_text(widget: Static, text: Content) -> None:
    """Say this: nothing is painted where it says so already, or laid out where it takes no other room."""
    before = widget.content
    if not isinstance(before, Content):
        widget.update(text)
    elif not before.is_same(text):
        widget.update(text, layout=not _has_same_size(widget, before, text))


def _has_same_size(widget: Static, before: Content, text: Content) -> bool:
    styles, width = widget.styles, widget.content_size.width
    if styles.is_auto_width and before.cell_length != text.cell_length:
        return False
    if not styles.is_auto_height:
        return True
    rules = styles.get_render_rules()
    return bool(width) and before.get_height(rules, width) == text.get_height(rules, width)


def update_border(widget: Widget, title: Content, subtitle: Content) -> None:
    """Write into the frame: what stands in it is not painted anew, as Textual would have it."""
    around, at = widget.outer_size, -widget.content_offset
    for name, text, line in (
        ("_border_title", title, 0),
        ("_border_subtitle", subtitle, around.height - 1),
    ):
        if getattr(widget, name) != text:
            setattr(widget, name, text)
            widget.refresh(Region(at.x, at.y + line, around.width, 1))


def repaint_only(view: ScrollView, rows: Iterable[int]) -> None:
    """Paint these rows of a view anew, those of them that are on the screen; scrolling paints all."""
    size = view.scrollable_content_region.size
    seen = [Region(0, y, size.width, 1) for y in rows if 0 <= y < size.height]
    if seen:
        view.refresh(*seen)


def resize_to(view: ScrollView, size: Size) -> None:
    """What can be scrolled through has this size now.

    The rest of the screen is laid out anew only if this decides how much room the view takes, or a scroll bar
    comes or goes: Textual would do so each time.
    """
    if view.styles.auto_dimensions:
        view.virtual_size = size
    elif view.virtual_size != size:
        view.set_reactive(ScrollView.virtual_size, size)
        view._scroll_update(size)
