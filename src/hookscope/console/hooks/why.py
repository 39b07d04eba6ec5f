"""Why a hook stands as it does, in words: the sheet beside the list, and the report to copy. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.hooks.copies import which_wins
from hookscope.console.hooks.gates import open_gates, shut_gate
from hookscope.console.hooks.rows import Row
from hookscope.console.hooks.so_far import cannot_run, so_far, with_links
from hookscope.console.keymap.hints import key_of, with_keys
from hookscope.console.sheet import Sheet, foreign
from hookscope.console.theme import FAINT, IGNORED, LOOKS, MUTED, NO_HOOK
from hookscope.core.hooks import Hook, Place
from hookscope.core.inventory import Rejected
from hookscope.core.standing import Standing, State
from hookscope.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookscope.console.state import Linted, SourceText
    from hookscope.workbench import View
    from hookscope.workbench.failed_loads import FailedLoad

TITLE = 40  # cells of a name in the frame
CONTEXT = 3  # lines shown around a fault
DECLARED = 24  # lines of a HOOK.md's header shown

MISTAKES = 3  # that are shown while passing checks are not listed
SEVERITIES = {"error": "$text-error", "warning": "$text-warning", "hint": ""}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a sheet is wanted."""

    width: int
    unfolded: bool = False  # list passing checks one by one, and all that a lint found
    checked: Linted | None = None  # what a lint says of the hook


def headline(row: Row, checked: Linted | None = None) -> Content:
    """The pane's title: name, sign, and what it comes to."""
    look, phrase = row.look, row.look.phrase
    if isinstance(row.item, Standing) and (cannot := cannot_run(row.item, checked, row.failed)):
        look, phrase = LOOKS[State.BROKEN], cannot.partition(":")[0]
    return Content.assemble(
        foreign(row.name).truncate(TITLE, ellipsis=True),
        "   ",
        Content.styled(f"{look.glyph} {look.word}", look.style),
        Content.styled(f" – {phrase}", MUTED),
    )


def sheet_of(row: Row, view: View, source: SourceText | None, reading: Reading) -> Content:
    """Everything that is known of a row."""
    sheet = Sheet(reading.width)
    if isinstance(row.item, Rejected):
        _rejected(sheet, row.item, view, source)
    else:
        _hook(sheet, row.item, view, source, reading)
    return sheet.content()


def report(row: Row, view: View, source: SourceText | None, checked: Linted | None = None) -> str:
    """The same as plain text, everything listed: for a bug report."""
    host = view.host
    title, where = headline(row, checked).plain, f"{host.dialect.name} ({view.because})"
    head = f"{title}\nhost {where}, workspace {host.workspace}\n\n"
    return head + sheet_of(row, view, source, Reading(100, unfolded=True, checked=checked)).plain + "\n"


def fault_place(row: Row) -> Place | None:
    """Where an editor should open: at the fault, else at the hook's HOOK.md or handler."""
    if isinstance(row.item, Rejected):
        return row.item.place or Place(row.item.path)
    for gate in row.item.verdict.shut():
        if gate.place is not None:
            return gate.place
    if row.failed is not None and row.failed.place is not None:
        return row.failed.place
    file = row.item.hook.manifest or row.item.hook.handler
    return Place(file) if file is not None else None


def _hook(sheet: Sheet, row: Standing, view: View, source: SourceText | None, reading: Reading) -> None:
    hook = row.hook
    if hook.description:
        emoji = f"{hook.meta.emoji} " if hook.meta.emoji else ""
        sheet.say(foreign(emoji + hook.description))
    sheet.title(*_summary(row, reading.checked, view.failed_loads.get(hook)))
    for gate in row.verdict.shut():
        shut_gate(sheet, gate, row, view, reading.unfolded)
    open_gates(sheet, with_links(row.verdict.gates, reading.checked), view, reading.unfolded)
    if reading.checked is not None:
        so_far(sheet, reading.checked.links, reading.unfolded)
    if reading.checked is not None:
        _mistakes(sheet, reading.checked, reading.unfolded)
    _notes(sheet, row, view)
    _handler(sheet, row, view)
    which_wins(sheet, row, view)
    _as_shipped(sheet, row)
    _declared(sheet, row, view, source)


def _summary(row: Standing, checked: Linted | None, failed: FailedLoad | None) -> tuple[str, str]:
    shut = len(row.verdict.shut())
    if row.verdict.shadowed_by is not None:
        also = f"; {_things(shut)} would stop it too" if shut else ""
        return f"Another hook of this name wins{also}", ""
    if shut:
        return f"{_things(shut)} {'stops' if shut == 1 else 'stop'} it", ""
    if cannot_run(row, checked, failed):
        return "No check stops it, and it cannot run as it is", ""
    return "Nothing stops it", ""


def _things(count: int) -> str:
    return "1 thing" if count == 1 else f"{count} things"


def _mistakes(sheet: Sheet, checked: Linted, unfolded: bool) -> None:
    """What a lint found, the worst first."""
    found = checked.findings if unfolded else checked.findings[:MISTAKES]
    if found:
        sheet.title("Mistakes", "hookscope lint")
    for one in found:
        style = SEVERITIES[one.severity.value]
        where = foreign(f"{one.place.file.name}:{one.place.line}").stylize(MUTED)
        text = Content.assemble(where, "  ", foreign(one.text))
        sheet.put([(Content.styled(" !" if style else " ·", style or MUTED), 3)], text)
        sheet.put([(Content(), 3)], foreign(one.then).stylize(MUTED))
    if left := len(checked.findings) - len(found):
        sheet.say(
            Content.assemble((f"   {left} more", MUTED), (f"   {key_of('why.fold')} lists them", FAINT))
        )
    if checked.problem and unfolded:
        sheet.say(foreign(f"not linted: {checked.problem}").stylize(FAINT), 3)


def _notes(sheet: Sheet, row: Standing, view: View) -> None:
    notes = list(row.notes)
    if row.hook.beyond_host:
        notes.append("Hookscope only: its host has no handlers in Python")
    if row.hook.handler in view.quarantined:
        notes.append(
            "in quarantine: three faults within five minutes. A fire by hand runs it; "
            f"{key_of('hooks.lift')} lifts it"
        )
    _listed(sheet, "Notes", notes)


def _as_shipped(sheet: Sheet, row: Standing) -> None:
    """Where the real program decides otherwise; below what decides here, which is asked for first."""
    _listed(sheet, "As it ships", row.differs)


def _listed(sheet: Sheet, title: str, items: Sequence[str]) -> None:
    if items:
        sheet.title(title)
    for item in items:
        sheet.put([(Content(" ·"), 3)], foreign(item))


KINDS = {"stream": "stream hook", "plugin": "plugin"}


def _kind(hook: Hook) -> str:
    """What it is, where that is no folder with a HOOK.md; of a stream's other listeners, which."""
    kind = KINDS.get(hook.kind)
    return "" if kind is None else f" · {hook.role or kind}"


def _handler(sheet: Sheet, row: Standing, view: View) -> None:
    hook = row.hook
    if hook.handler is None:
        return
    sheet.title("Handler")
    lane = "" if hook.language in view.languages else f" {view.without.get(hook.language, '')}".rstrip()
    sheet.put(
        [(Content(), 3)],
        foreign(f"{view.host.surroundings.short(hook.handler)} · {hook.language}{_kind(hook)}{lane}"),
    )
    sheet.put([(Content(), 3)], foreign(f"limits: {view.limits_of(hook).in_words()}"))
    if hook.leads_out is not None:
        sheet.put([(Content(), 3)], foreign(f"leads to {view.host.surroundings.short(hook.leads_out)}"))
    heard = ", ".join(row.events or ())
    if heard:
        sheet.put([(Content(), 3)], foreign(f"hears {heard}").stylize(MUTED))
    elif row.events is None:
        sheet.put([(Content(), 3)], Content.styled("what it hears is known after a load", MUTED))


def _declared(sheet: Sheet, row: Standing, view: View, source: SourceText | None) -> None:
    manifest = row.hook.manifest
    if manifest is None or source is None or source.path != manifest:
        return
    sheet.title(f"Declared in {manifest.name}", view.host.surroundings.short(manifest))
    if source.problem:
        sheet.say(foreign(source.problem).stylize(MUTED), 3)
        return
    faults = {gate.place.line for gate in row.verdict.shut() if gate.place and gate.place.file == manifest}
    for number, text in header_lines(source.text):
        sheet.code(number, text, number in faults)


def header_lines(text: str) -> list[tuple[int, str]]:
    """The lines of a file's frontmatter with their numbers; the first lines where there is none."""
    lines = text.split("\n", 400)[:400]
    if lines and lines[0].strip().lstrip("\ufeff") == "---":
        ends = (number for number, line in enumerate(lines[1:], 1) if line.strip() == "---")
        end = next(ends, len(lines))
        return list(enumerate(lines[1:end], 2))[:DECLARED]
    return list(enumerate(lines[:8], 1))


def _rejected(sheet: Sheet, item: Rejected, view: View, source: SourceText | None) -> None:
    short = view.host.surroundings.short
    if item.ignored:
        sheet.say(Content.styled("This stands among hooks and is passed over:", MUTED))
    else:
        sheet.say(Content.styled("This looks like a hook and is none:", MUTED))
    look = IGNORED if item.ignored else NO_HOOK
    sheet.blank()
    sheet.put([(Content.styled(f" {look.glyph}", look.style), 3)], foreign(item.reason))
    sheet.title("Where")
    sheet.say(foreign(short(item.path)), 3)
    if item.place is not None:
        sheet.say(foreign(f"{short(item.place.file)}:{item.place.line}"), 3)
        if source is not None and source.path == item.place.file and source.text:
            sheet.blank()
            lines = source.text.split("\n")
            first = max(1, item.place.line - CONTEXT)
            for number in range(first, min(len(lines), item.place.line + CONTEXT) + 1):
                sheet.code(number, lines[number - 1], number == item.place.line)
    sheet.blank()
    sheet.say(Content.styled(with_keys("{hooks.edit} opens it, {hooks.recheck} looks again."), MUTED))
    which_wins(sheet, item, view)
