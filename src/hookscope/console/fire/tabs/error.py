"""The error tab: what failed, where in the author's own code, and what the handler had been given."""

from collections.abc import Iterator

from textual.content import Content

from hookscope.console.fire.source import Excerpt, as_it_ran, excerpt, own_frames
from hookscope.console.fire.tabs.shown import ITEMS, Shown, foreign, muted, stack
from hookscope.console.marks import PHASES, count, word
from hookscope.core.failure import Failure, Frame
from hookscope.core.had import had

PHASE_WORDS = {"spawn": "before it could start", "load": "while it was loaded; it never ran"}
MOST_KEYS = 40
MESSAGE = 4_000  # characters of an error message that are drawn, the rest is counted


def text(shown: Shown) -> Content:
    """The error of one handler, or the plain word that there is none."""
    return stack(_lines(shown))


def place(shown: Shown) -> Frame | None:
    """Where the editor should open: the innermost line of the hook's own code, else the innermost."""
    result = shown.row.result
    failure = (result.error or result.stale) if result is not None else None
    if failure is None:
        return None
    own, others = own_frames(failure.frames, shown.row.call)
    return next(iter((*own, *others)), None)


def _lines(shown: Shown) -> Iterator[Content]:
    row = shown.row
    if row.result is None:
        yield _no_result(shown)
        return
    failure = row.result.error
    yield from _stale(shown, row.result.stale)
    if failure is None:
        mark = PHASES[row.phase]
        yield muted("It ran without an error.") if row.phase == "ok" else mark.content
    else:
        yield _headline(failure, min(shown.limit, MESSAGE))
        if failure.phase in PHASE_WORDS:
            yield muted(f"It failed {PHASE_WORDS[failure.phase]}.")
        yield from _frames(shown, failure)
        if failure.phase == "run" and row.phase == "error":  # of its own, not one that ended it
            yield from _context_had(shown, failure)
    yield from _host_log(shown)
    yield from (muted("note         ") + foreign(note, 400) for note in row.result.notes)


def _stale(shown: Shown, failure: Failure | None) -> Iterator[Content]:
    """Which version ran, where it is not the saved one, and what keeps the saved one from loading."""
    if failure is None:
        return
    yield Content.styled("The version loaded before ran. The saved one does not load:", "$text-warning")
    yield _headline(failure, min(shown.limit, MESSAGE))
    yield from _frames(shown, failure)
    yield Content()


def _no_result(shown: Shown) -> Content:
    match shown.row.phase:
        case "waiting":
            return muted("It waits for its turn.")
        case "running":
            return muted("It is running. ") + Content("x") + muted(" cancels.")
        case _:
            return muted("It did not run: ") + foreign(shown.row.reason, 400)


def _headline(failure: Failure, limit: int) -> Content:
    message = foreign(failure.message, limit)
    kind = Content.styled(word(failure.type), "bold $text-error")
    return kind + Content(": ") + message if failure.message else kind


def _frames(shown: Shown, failure: Failure) -> Iterator[Content]:
    own, others = own_frames(failure.frames, shown.row.call)
    frames = (*own, *others)
    if not frames:
        return
    first, rest = frames[0], frames[1:]
    yield _where(shown, first)
    source = excerpt(shown.host.surroundings.files, first, shown.around)
    if source is not None and source.changed:
        yield Content.styled("The file was changed since; this is the line that ran.", "$text-warning")
        source = as_it_ran(first)
    yield from _excerpt(source or as_it_ran(first))
    for frame in rest[:ITEMS]:
        sign = "called from  " if frame in own else "elsewhere    "
        yield muted(sign) + _where(shown, frame)


def _where(shown: Shown, frame: Frame) -> Content:
    column = f":{frame.column}" if frame.column else ""
    place = Content(f"{word(shown.path(frame.file), 300)}:{frame.line}{column}")
    return place + muted(f"  in {word(frame.function)}") if frame.function else place


def _excerpt(source: Excerpt | None) -> Iterator[Content]:
    if source is None:
        return
    size = len(str(source.first + len(source.lines)))
    for number, line in enumerate(source.lines, source.first):
        here = number == source.at
        mark = Content.styled("❱ ", "$text-error") if here else Content("  ")
        code = foreign(line, 400)
        yield mark + muted(f"{number:>{size}} │ ") + (code.stylize("bold") if here else code)


def _context_had(shown: Shown, failure: Failure) -> Iterator[Content]:
    row = shown.row
    results = (
        other.result for other in shown.sheet.rows[: row.number - 1] if other.follow_up is row.follow_up
    )
    given = had(row.follow_up or shown.sheet.plan.event, (one.patch for one in results if one), failure)
    listed = ", ".join(word(key, 40) for key in given.keys[:MOST_KEYS]) or "no keys at all"
    left = len(given.keys) - MOST_KEYS
    more = f" and {count(left, 'more key')}" if left > 0 else ""
    yield muted(f"{f'{given.name} had':<11}  ") + Content(listed + more)
    if given.meant:
        yield Content(f"Did you mean {word(given.meant, 80)}?")


def _host_log(shown: Shown) -> Iterator[Content]:
    run = shown.sheet.run
    if run is None:
        return
    for entry in run.ending.log[:ITEMS]:
        if shown.row.call.name[:200] in entry.text:
            yield muted("host's log   ") + foreign(entry.text, 400)
