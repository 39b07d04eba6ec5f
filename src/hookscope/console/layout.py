"""Which panes a screen of a given size shows. One pure function; CSS classes come from it."""

from typing import Literal

from hookscope.values import dataclass

Mode = Literal["hooks", "fire", "log", "hosts"]
Side = Literal["why", "keys"]
Pane = Literal["list", "why", "keys", "start", "fire", "log", "hosts"]
Size = Literal["tiny", "small", "medium", "wide"]

LEAST = (60, 16)  # smaller terminals get one line that says so
MODE_OF: dict[Pane, Mode] = {
    "list": "hooks",
    "why": "hooks",
    "keys": "hooks",
    "start": "hooks",
    "fire": "fire",
    "log": "log",
    "hosts": "hosts",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """The panes that are shown, and how much room there is for them."""

    size: Size
    mode: Mode
    panes: tuple[Pane, ...]

    @property
    def classes(self) -> frozenset[str]:
        """The classes of the screen that the style sheet knows."""
        shown = (f"-show-{pane}" for pane in self.panes)
        alone = ("-alone",) if len(self.panes) == 1 else ()
        # A wide screen stands the same in all modes that have no pane of their own alone.
        inside = () if self.size == "wide" and len(self.panes) > 1 else (f"-in-{self.mode}",)
        return frozenset({f"-{self.size}", *inside, *shown, *alone})


def every_class() -> frozenset[str]:
    """All classes that some layout gives."""
    sizes = {f"-{size}" for size in ("tiny", "small", "medium", "wide")}
    return frozenset(
        sizes
        | {"-alone"}
        | {f"-in-{mode}" for mode in MODE_OF.values()}
        | {f"-show-{pane}" for pane in MODE_OF}
    )


def size_of(width: int, height: int) -> Size:
    """How much fits side by side."""
    if width < LEAST[0] or height < LEAST[1]:
        return "tiny"
    if width < 100:
        return "small"
    return "wide" if width >= 160 and height >= 40 else "medium"


def arrange(
    width: int,
    height: int,
    mode: Mode,
    zoom: Pane | None = None,
    *,
    side: Side = "why",
    reading: bool = False,
    start: bool = False,
) -> Layout:
    """The panes to show.

    Args:
        zoom: the one pane that has everything.
        side: what stands beside the list of hooks.
        reading: a small screen shows that side, not the list.
        start: "Start here" asks for room.
    """
    size = size_of(width, height)
    if size == "tiny":
        return Layout(size, mode, ())
    if zoom is not None and MODE_OF[zoom] == mode:
        return Layout(size, mode, (zoom,))
    if mode == "hosts":  # a matrix needs the width of any screen
        return Layout(size, mode, ("hosts",))
    if size == "wide":
        return Layout(size, mode, ("list", side, "fire", *(("start",) if start else ()), "log"))
    if mode != "hooks":
        return Layout(size, mode, (mode,))
    if size == "small":
        return Layout(size, mode, _small(height, side, reading, start))
    return Layout(size, mode, ("list", side, *_below(height, start)))


def _small(height: int, side: Side, reading: bool, start: bool) -> tuple[Pane, ...]:
    if reading:
        return (side,)
    return ("list", "start") if start and height >= 20 else ("list",)


def _below(height: int, start: bool) -> tuple[Pane, ...]:
    if start and height >= 24:
        return ("start",)
    return ("log",) if height >= 30 else ()


def too_small(width: int, height: int) -> str:
    """The one line of a terminal that is too small."""
    wide, high = LEAST
    return f"needs {wide}x{high}; now {width}x{height} – the command line does the same: hookscope list"
