"""Painting what has changed, and nothing beside it.

Textual paints the smallest rectangle around all that has changed. With a cursor that moved at the left, and
keys that changed at the bottom, that is the whole screen: every part of it is asked for all its lines.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from textual import events
from textual._compositor import ChopsUpdate, Compositor, ReflowResult
from textual.content import Content
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from hookscope.console.leaving import Leaves

Answer = TypeVar("Answer")
Bars: TypeAlias = tuple[bool, bool]  # upright, level


class Painter(Compositor):
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
            return super().render_partial_update()
        finally:
            self._changed = None

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        """From front to back, as Textual does; what stands behind others is not asked for its lines."""
        chops: list[dict[int, Strip | None]] = [dict.fromkeys(cuts[:-1]) for cuts in self.cuts]
        changed = (crop,) if self._changed is None else self._changed
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            touched = [part for part in map(seen.intersection, changed) if part]
            if not touched:
                continue
            lines = filter(is_rendered_line, Region.from_union(touched).line_range)
            cuts_of = {y: _within(self.cuts[y], seen) for y in lines}
            gaps = {y: cuts for y, cuts in cuts_of.items() if None in map(chops[y].get, cuts[:-1])}
            if gaps:
                band = Region(seen.x, min(gaps), seen.width, max(gaps) + 1 - min(gaps))
                strips = widget.render_lines(band.translate(-region.offset))
                for y, strip in zip(band.line_range, strips, strict=False):
                    _fill(chops[y], strip, seen.x, gaps.get(y, ()))
        return cast(Sequence[Mapping[int, Strip]], chops)


def _within(cuts: list[int], region: Region) -> list[int]:
    return cuts[bisect_left(cuts, region.x) : bisect_right(cuts, region.right)]


def _fill(line: dict[int, Strip | None], strip: Strip, x: int, cuts: Sequence[int]) -> None:
    """Put the parts of a strip that begins at `x` where nothing in front of it stands."""
    for cut, part in zip(cuts, strip.divide([cut - x for cut in cuts[1:]]), strict=False):
        if line.get(cut) is None:
            line[cut] = part


class LaidOutOnce(Leaves, Screen[Answer]):
    """Textual lays all out again wherever a layout has given a part another size, and paints those parts once
    more: this does so once. Where a scroll bar comes or goes by it, Textual paints all without that and then
    again: this lays out twice, and paints what comes of it."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._compositor: Painter = Painter()
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
        before = {part: _bars(part) for part in (self, *self.walk_children(Widget))}
        super()._refresh_layout(size, scroll)
        return all(before.get(part, NO_BARS) == _bars(part) for part in (self, *self._compositor.widgets))


class PaintedOnce(LaidOutOnce[Answer]):
    """Waits a frame or two with a paint that the next one would paint over: until parts of another size have
    laid out what they show, and until what a subclass knows of is all there."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._painted = False  # once: the first paint waits for nothing
        self._held = 0  # frames
        self._put_off = False  # what was laid out is not painted

    @property
    def is_half_done(self) -> bool:
        """Is more on its way that belongs to what is painted."""
        return False

    def _on_timer_update(self) -> None:
        if self.is_half_done and self._held < MOST_HELD:
            self._held += 1
            return  # the timer goes on
        super()._on_timer_update()
        if self._put_off and self.is_current:
            self._dirty_widgets.add(self)  # nothing of its own: all that waits to be painted
            self._update_timer.resume()

    def _compositor_refresh(self) -> None:
        if not self._laying_out:
            self._put_off, self._held, self._painted = False, 0, True
        super()._compositor_refresh()

    def _paint_layout(self) -> None:
        if self._compositor.anew and self._painted and not self._put_off:
            self._put_off = True
        else:
            super()._paint_layout()


MOST_HELD = 2  # frames
NO_BARS = False, False  # of a part that was not there yet


def _bars(part: Widget) -> Bars:
    """Which scroll bars it shows."""
    return part.show_vertical_scrollbar, part.show_horizontal_scrollbar


class OneLine(Input):
    """A field that is as wide as it is, whatever is typed: no letter has the screen laid out anew."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    def update_node_styles(self, animate: bool = True) -> None:
        """Mounting styles it: for a class that it gets as it is made, Textual does so once more before."""
        if self.is_attached:
            super().update_node_styles(animate)


def rewritten(widget: Static, text: Content) -> None:
    """Say this: nothing is painted where it says so already, or laid out where it takes no other room."""
    before = widget.content
    if not isinstance(before, Content):
        widget.update(text)
    elif not before.is_same(text):
        widget.update(text, layout=not _as_large(widget, before, text))


def _as_large(widget: Static, before: Content, text: Content) -> bool:
    styles, width = widget.styles, widget.content_size.width
    if styles.is_auto_width and before.cell_length != text.cell_length:
        return False
    if not styles.is_auto_height:
        return True
    rules = styles.get_render_rules()
    return bool(width) and before.get_height(rules, width) == text.get_height(rules, width)


def framed(widget: Widget, title: Content, subtitle: Content) -> None:
    """Write into the frame: what stands in it is not painted anew, as Textual would have it."""
    around, at = widget.outer_size, -widget.content_offset
    for name, text, line in (
        ("_border_title", title, 0),
        ("_border_subtitle", subtitle, around.height - 1),
    ):
        if getattr(widget, name) != text:
            setattr(widget, name, text)
            widget.refresh(Region(at.x, at.y + line, around.width, 1))


def repainted(view: ScrollView, rows: Iterable[int]) -> None:
    """Paint these rows of a view anew, those of them that are on the screen; scrolling paints all."""
    size = view.scrollable_content_region.size
    seen = [Region(0, y, size.width, 1) for y in rows if 0 <= y < size.height]
    if seen:
        view.refresh(*seen)


def resized(view: ScrollView, size: Size) -> None:
    """What can be scrolled through has this size now.

    The rest of the screen is laid out anew only if this decides how much room the view takes, or a scroll bar
    comes or goes: Textual would do so each time.
    """
    if view.styles.auto_dimensions:
        view.virtual_size = size
    elif view.virtual_size != size:
        view.set_reactive(ScrollView.virtual_size, size)
        view._scroll_update(size)
