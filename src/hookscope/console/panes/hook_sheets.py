"""The sheet beside the hook list: a hook's status, its precedence and its activation chain. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.authoring.fix.gate_fixes import install_lines, install_words
from hookscope.console.keymap.active_keys import key_of, with_keys
from hookscope.console.state.hook_rows import HookRow
from hookscope.console.theme.text_styles import (
    FAINT,
    IGNORED_FILE,
    MUTED,
    NOT_A_HOOK,
    STATE_STYLES,
    Sheet,
    counted,
    keep_ends,
    safe_paragraph,
    safe_word,
)
from hookscope.model.hook import FilePosition, Hook
from hookscope.model.hook_status import TOO_WIDE, FixKind, Gate, HookStatus, RejectedHook, State, gate_state
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.analysis.why_chain import WhyChain
    from hookscope.app.load_record import FailedLoad
    from hookscope.app.runs.activation_chain import ActivationLink
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.state.console_state import HookCheck, SourceText


@dataclass(frozen=True, slots=True)
class SameNameHook:
    """One of several hooks or rejected hooks with the same name."""

    rank: int
    source: str
    path: Path | None
    item: HookStatus | RejectedHook | None  # None: a searched folder without such a hook


STRIP_HEAD = 16  # cells of a source with its rank


def put_same_name_hooks(
    sheet: Sheet, row: HookStatus | RejectedHook, view: Snapshot, *, whole_paths: bool
) -> None:
    """Add all hooks with the row's name, in order of precedence, and whether each is used.

    Without `whole_paths`, a path longer than a line is cut in the middle.
    """
    name = row.hook.name if isinstance(row, HookStatus) else row.name
    copies = hooks_named(name, view)
    if not copies or (isinstance(row, RejectedHook) and (row.unread_rank is None or len(copies) == 1)):
        return
    winner = next((copy for copy in copies if _has_precedence(copy)), None)
    sheet.title("Precedence")
    for number, copy in enumerate(_with_empty_sources(copies, view), 1):
        is_shown = copy.item is row
        head = Content.styled(
            f" {'▸' if is_shown else ' '} {number} {copy.source}", "bold" if is_shown else MUTED
        )
        bar, style = ("┃", "bold $text-success") if copy is winner else ("│" if copy.item else "┆", FAINT)
        where = view.host.machine.short(copy.path) if copy.path else "registered by code"
        path = safe_paragraph(where if whole_paths else keep_ends(where, sheet.width - STRIP_HEAD - 3))
        outcome = safe_paragraph(_outcome(copy, winner, len(copies)))
        path = path.stylize("" if copy is winner else MUTED)
        outcome = outcome.stylize("$text-success" if copy is winner and len(copies) > 1 else MUTED)
        side = (Content.styled(bar, style), 2)
        if path.cell_length + outcome.cell_length + STRIP_HEAD + 5 <= sheet.width:
            sheet.put([(head, STRIP_HEAD), side], Content.assemble(path, "   ", outcome))
        else:
            sheet.put([(head, STRIP_HEAD), side], path)
            sheet.put([(Content(), STRIP_HEAD), side], outcome)


def _with_empty_sources(copies: list[SameNameHook], view: Snapshot) -> list[SameNameHook]:
    """Return the copies, and between them the searched folders without one, if there are several copies."""
    if len(copies) == 1:
        return copies
    used = {copy.source for copy in copies}
    empty = {
        folder.source: SameNameHook(folder.rank, folder.source, folder.path, None)
        for folder in view.host.folders
        if folder.source not in used and folder.hook_kind == "folder" and not folder.incidental
    }
    return sorted([*copies, *empty.values()], key=lambda copy: (-copy.rank, not _has_precedence(copy)))


def hooks_named(name: str, view: Snapshot) -> list[SameNameHook]:
    """Return the hooks of this name, highest precedence first, and unreadable folders that may hide one."""
    ranks = {folder.source: folder.rank for folder in view.host.folders}
    hooks = [
        SameNameHook(item.hook.folder.rank, item.hook.folder.source, item.hook.path, item)
        if isinstance(item, HookStatus)
        else SameNameHook(ranks.get(item.source, -1), item.source, item.path, item)
        for item in view.by_name.get(name, ())
        if isinstance(item, HookStatus) or item.unread_rank is not None
    ]
    return sorted(hooks, key=lambda copy: (-copy.rank, not _has_precedence(copy)))


def _has_precedence(copy: SameNameHook) -> bool:
    return isinstance(copy.item, HookStatus) and copy.item.verdict.shadowed_by is None


def _outcome(copy: SameNameHook, winner: SameNameHook | None, count: int) -> str:
    """Return whether a copy is used, and why not."""
    if copy.item is None:
        return "no hook of this name"
    if isinstance(copy.item, RejectedHook):
        return f"ignored: {copy.item.reason}"
    if copy is winner:
        return "no other hook has this name" if count == 1 else "takes precedence"
    if winner is None:
        return "shadowed"
    if winner.source == copy.source:
        return f"shadowed: another {copy.source} hook was found first"
    return f"shadowed: {winner.source} {'comes first' if winner.rank > copy.rank else 'replaces it'}"


GATE_NAME_WIDTH = 11  # cells of a gate's name


def put_failed_gate(sheet: Sheet, gate: Gate, row: HookStatus, view: Snapshot, reading: WhyOptions) -> None:
    """Add a failed gate: what it needs, what was found, which setting decides, and the next step.

    Unfolded, it also lists the places that were searched, and a reason that the sentence above has too.
    """
    head = Content.assemble((" ✗ ", "$text-error"), (gate.name, "bold"))
    lines = list(_gate_facts(gate, row, view, reading))
    for number, (label, text, style) in enumerate(lines):
        before = [
            (head if number == 0 else Content(), GATE_NAME_WIDTH + 2),
            (Content.styled(label, MUTED), 7),
        ]
        sheet.put(before, safe_paragraph(text).stylize(style))


def _gate_facts(
    gate: Gate, row: HookStatus, view: Snapshot, reading: WhyOptions
) -> list[tuple[str, str, str]]:
    """Return label, text and style of each line about a failed gate."""
    facts = []
    needed = ", ".join(gate.missing or gate.needed)
    if needed and gate.kind.shows_needed:
        facts.append(("needs", needed, ""))
    found_text = "" if gate_state(gate) is State.UNTRUSTED else gate.found
    at = _setting_place(gate, view)
    if found_text or at:
        facts.append(("found", " · ".join(part for part in (found_text, at) if part), ""))
    facts += [("near", text, "$text-warning") for text in gate.near]
    if reading.unfolded and gate.looked:
        facts.append(("places", " · ".join(gate.looked), MUTED))
    if gate.place is not None:
        facts.append(("where", f"{view.host.machine.short(gate.place.file)}:{gate.place.line}", ""))
    is_new = reading.chain is None or gate.reason not in reading.chain.sentence
    if gate.reason and (reading.unfolded or is_new):
        facts.append(("reason", gate.reason, MUTED))
    if next_step := _next_step(gate, row.hook, view):
        facts.append(("next", next_step, ""))
    return facts


def _next_step(gate: Gate, hook: Hook, view: Snapshot) -> str:
    if gate.found == TOO_WIDE:
        return "move the hook into a hooks folder"
    kind = gate.kind
    if kind.fix is FixKind.TOGGLE:
        return with_keys("press {hooks.toggle} to enable it")
    if gate.fix is not None:
        file = view.host.machine.short(gate.fix.file)
        return f"press {key_of('hooks.fix')} to write {gate.fix.meaning} in {file}"
    if kind.fix is FixKind.PROGRAMS:
        offers = install_lines(hook.meta.install)
        again = with_keys("; then press {hooks.recheck} to scan again")
        return f"HOOK.md offers: {offers}" if offers else install_words(gate) + again
    if kind.fix is FixKind.SET_VALUES and gate.setting is not None:
        path = ".".join(str(part) for part in gate.setting)
        file = view.host.machine.short(view.host.settings.file)
        return f"press {key_of('hooks.fix')} to set {path} in {file}"
    return with_keys(kind.next_step)


def _setting_place(gate: Gate, view: Snapshot) -> str:
    """Return the position of the setting that decides, such as `openclaw.json:14`; empty if unset."""
    if gate.setting is None:
        return ""
    place = view.host.settings.locate(gate.setting)
    return f"{place.file.name}:{place.line}" if place is not None else ""


def put_passed_gates(sheet: Sheet, gates: tuple[Gate, ...], view: Snapshot, unfolded: bool) -> None:
    """Add the passed and the unchecked gates: counted, or one by one."""
    passing = [gate for gate in gates if gate.passed]
    skipped = [gate for gate in gates if gate.passed is None]
    if not unfolded:
        also = f", {len(skipped)} not checked" if skipped else ""
        checks = "1 check passes" if len(passing) == 1 else f"{len(passing)} checks pass"
        sheet.paragraph(
            Content.assemble((f" ✓ {checks}{also}", MUTED), (f"   {key_of('why.fold')} lists them", FAINT))
        )
        return
    for gate in (*passing, *skipped):
        sign = Content.styled(f" {'✓' if gate.passed else '–'} {gate.name}", MUTED)
        words = [gate.found or ", ".join(gate.needed) or "passed", _setting_place(gate, view)]
        sheet.put(
            [(sign, GATE_NAME_WIDTH + 2)],
            safe_paragraph(" · ".join(word for word in words if word)).stylize(MUTED),
        )


STEP_STYLES = {True: ("✓", MUTED), False: ("✗", "$text-error"), None: ("·", FAINT)}


def put_steps(sheet: Sheet, chain: WhyChain) -> None:
    """Add the chain's sentence, then a sign for each step from the hook's file to the user."""
    sheet.blank()
    sheet.paragraph(safe_paragraph(chain.sentence).stylize("bold"))
    line = Content()
    for step in chain.steps:
        sign, style = STEP_STYLES[step.passed]
        word = Content.assemble(
            (f"{sign} ", style), (step.title, "bold" if step is chain.first_failed else style)
        )
        if line and line.cell_length + word.cell_length + 3 > sheet.width:
            sheet.paragraph(line)
            line = Content()
        line = Content.assemble(line, " " if not line else "  ", word)
    sheet.paragraph(line)
    sheet.blank()


def _says_all(chain: WhyChain) -> bool:
    """Return True if the steps show the whole outcome: the hook ran, or no event has arrived."""
    passed = {step.name: step.passed for step in chain.steps}
    return passed["loads"] is not False and (passed["ran"] is True or not passed["arrived"])


LINK_TITLE_WIDTH = 28  # cells of a link's title with its sign
LINK_SIGNS = {True: ("✓", MUTED), False: ("✗", "$text-error"), None: ("–", MUTED)}


def later_failure(row: HookStatus, checked: HookCheck | None, failed: FailedLoad | None) -> str:
    """Return why a hook does not work although its gates all pass; empty if it works.

    `failed` is known after a scan, before the activation links in `checked`.
    """
    if failed is not None:
        return failed.why
    if checked is None or not checked.links or row.state is not State.READY:
        return ""
    from hookscope.app.runs.activation_chain import chain_problem

    return chain_problem(checked.links)


def gates_after_load(gates: tuple[Gate, ...], checked: HookCheck | None) -> tuple[Gate, ...]:
    """Return the gates, updated with the result of a load."""
    if checked is None or not checked.links:
        return gates
    from hookscope.app.runs.activation_chain import gates_with_links

    return gates_with_links(gates, checked.links)


def put_activation_chain(sheet: Sheet, links: Sequence[ActivationLink], reading: WhyOptions) -> None:
    """Add the links after the gates: loaded, registered, received an event, last run.

    Folded, this is one sentence, and none if the sentence above the steps says the same.
    """
    if not links:
        return
    if not reading.unfolded:
        from hookscope.app.runs.activation_chain import chain_summary

        passed, text = chain_summary(tuple(links))
        if passed is not False or not reading.explains("loads", "ran"):
            sign, style = LINK_SIGNS[passed]
            shown = safe_paragraph(text).stylize(MUTED if passed else "")
            sheet.put([(Content.styled(f" {sign}", style), 3)], shown)
        if any(link.name == "loads" and link.passed is False for link in links):
            next_step = with_keys(
                "press {hooks.edit} to open the error, {hooks.fire} to fire an event, which loads it again"
            )
            sheet.put([(Content(), 3)], Content.styled(next_step, MUTED))
        return
    sheet.title("After the checks")
    for link in links:
        sign, style = LINK_SIGNS[link.passed]
        head = Content.assemble((f" {sign} ", style), (link.title, MUTED if link.passed else ""))
        sheet.put(
            [(head, LINK_TITLE_WIDTH)], safe_paragraph(link.found).stylize(MUTED if link.passed else "")
        )
        if link.next_step:
            sheet.put([(Content(), LINK_TITLE_WIDTH)], safe_paragraph(link.next_step).stylize(MUTED))


SUMMARY_WIDTH = 28  # cells of a name in the border
SOURCE_CONTEXT = 3  # lines shown around a fault
DECLARED_FIELDS = 24  # lines of a HOOK.md's header shown

MOST_FINDINGS = 3  # findings to show while passed gates are folded
SEVERITY_SIGNS = {"error": "$text-error", "warning": "$text-warning", "hint": ""}


@dataclass(frozen=True, slots=True)
class WhyOptions:
    """How to show a sheet."""

    width: int
    unfolded: bool = False  # list passed gates and lint findings one by one
    checked: HookCheck | None = None  # lint findings and activation links

    @property
    def chain(self) -> WhyChain | None:
        """The steps from the hook's file to its user; None until the hook is checked."""
        return self.checked.chain if self.checked is not None else None

    def explains(self, *steps: str) -> bool:
        """Return True if the sentence above the steps explains the failure of one of these steps."""
        failed = self.chain.first_failed if self.chain is not None else None
        return failed is not None and failed.name in steps


def why_title(row: HookRow, checked: HookCheck | None = None) -> tuple[Content, Content]:
    """Return the pane's title, with the name and the state, and the meaning of the state."""
    style, phrase = row.state_style, row.state_style.phrase
    if isinstance(row.item, HookStatus) and (failure := later_failure(row.item, checked, row.failed)):
        style, phrase = STATE_STYLES[State.BROKEN], failure.partition(":")[0]
    name = Content(keep_ends(safe_word(row.name), SUMMARY_WIDTH))
    state = Content.styled(f"{style.glyph} {style.word}", style.style)
    return Content.assemble(name, "   ", state), Content.styled(f" – {phrase}", MUTED)


def why_sheet(row: HookRow, view: Snapshot, source: SourceText | None, reading: WhyOptions) -> Content:
    """Return the sheet with everything known about a row."""
    sheet = Sheet(reading.width)
    if isinstance(row.item, RejectedHook):
        _rejected_part(sheet, row.item, view, source)
    else:
        _hook_part(sheet, row.item, view, source, reading)
    return sheet.content()


def hook_report(
    row: HookRow, view: Snapshot, source: SourceText | None, checked: HookCheck | None = None
) -> str:
    """Return the sheet as plain text, with everything listed, for a bug report."""
    host = view.host
    title, where = (
        Content().join(why_title(row, checked)).plain,
        f"{host.dialect.name} ({view.dialect_reason})",
    )
    head = f"{title}\nhost {where}, workspace {host.workspace}\n\n"
    return head + why_sheet(row, view, source, WhyOptions(100, unfolded=True, checked=checked)).plain + "\n"


def fault_place(row: HookRow) -> FilePosition | None:
    """Return the position to open in the editor: the fault, else the hook's HOOK.md or handler."""
    if isinstance(row.item, RejectedHook):
        return row.item.place or FilePosition(row.item.path)
    for gate in row.item.verdict.failed():
        if gate.place is not None:
            return gate.place
    if row.failed is not None and row.failed.place is not None:
        return row.failed.place
    file = row.item.hook.manifest or row.item.hook.handler
    return FilePosition(file) if file is not None else None


def _hook_part(
    sheet: Sheet, row: HookStatus, view: Snapshot, source: SourceText | None, reading: WhyOptions
) -> None:
    hook = row.hook
    if hook.description:
        emoji = f"{hook.meta.emoji} " if hook.meta.emoji else ""
        sheet.paragraph(safe_paragraph(emoji + hook.description))
    chain = reading.chain
    if chain is not None:
        put_steps(sheet, chain)
    is_shadowed, whole = row.verdict.shadowed_by is not None, reading.unfolded
    if is_shadowed:  # the reason comes before the checks
        put_same_name_hooks(sheet, row, view, whole_paths=whole)
        sheet.blank()
    if chain is None or len(row.verdict.failed()) > 1:
        sheet.title(*_summary(row, reading.checked, view.failed_loads.get(hook)))
    for gate in row.verdict.easiest_first():
        put_failed_gate(sheet, gate, row, view, reading)
    put_passed_gates(sheet, gates_after_load(row.verdict.gates, reading.checked), view, reading.unfolded)
    if reading.checked is not None and (chain is None or reading.unfolded or not _says_all(chain)):
        put_activation_chain(sheet, reading.checked.links, reading)
    if reading.checked is not None:
        _findings(sheet, row, reading.checked, reading.unfolded)
    _notes(sheet, row, view, reading)
    if not is_shadowed:
        put_same_name_hooks(sheet, row, view, whole_paths=whole)
    _handler(sheet, row, view)
    _put_list(sheet, "In the shipped version", row.dialect_differences)
    _declared(sheet, row, view, source)


def _summary(row: HookStatus, checked: HookCheck | None, failed: FailedLoad | None) -> tuple[str, str]:
    failing = len(row.verdict.failed())
    if row.verdict.shadowed_by is not None:
        also = f"; {counted(failing, 'check')} would fail too" if failing else ""
        return f"Another hook of this name takes precedence{also}", ""
    if failing:
        return "1 check fails" if failing == 1 else f"{failing} checks fail", ""
    if later_failure(row, checked, failed):
        return "All checks pass, but the hook cannot run", ""
    return "All checks pass", ""


def _findings(sheet: Sheet, row: HookStatus, checked: HookCheck, unfolded: bool) -> None:
    """Add the lint findings, worst first; while folded, without those that a failed gate reports."""
    reasons = " ".join(gate.reason for gate in row.verdict.failed()).replace("`", "")
    new = [
        finding
        for finding in checked.findings
        if unfolded or finding.text.replace("`", "").rstrip(".") not in reasons
    ]
    findings = new if unfolded else new[:MOST_FINDINGS]
    if findings:
        sheet.title("Mistakes", "hookscope lint")
    for finding in findings:
        style = SEVERITY_SIGNS[finding.severity.value]
        where = safe_paragraph(f"{finding.place.file.name}:{finding.place.line}").stylize(MUTED)
        text = Content.assemble(where, "  ", safe_paragraph(finding.text))
        sheet.put([(Content.styled(" !" if style else " ·", style or MUTED), 3)], text)
        sheet.put([(Content(), 3)], safe_paragraph(finding.next_step).stylize(MUTED))
    if hidden_count := len(new) - len(findings):
        sheet.paragraph(
            Content.assemble(
                (f"   {hidden_count} more", MUTED), (f"   {key_of('why.fold')} lists them", FAINT)
            )
        )
    if checked.problem and unfolded:
        sheet.paragraph(safe_paragraph(f"not linted: {checked.problem}").stylize(FAINT), 3)


def _notes(sheet: Sheet, row: HookStatus, view: Snapshot, reading: WhyOptions) -> None:
    """Add the notes; while folded, without those that a failed gate or a lint finding repeats."""
    notes = list(row.notes)
    if not reading.unfolded:
        reasons = " ".join(gate.reason for gate in row.verdict.failed())
        findings = " ".join(one.text for one in reading.checked.findings) if reading.checked else ""
        events = [event for event in row.hook.meta.events or () if f"`{event}`" in findings]
        notes = [note for note in notes if note not in reasons and note.split(" ")[0] not in events]
    if row.hook.beyond_host:
        notes.append("Only Hookscope runs this hook: the host does not run Python")
    if row.hook.handler in view.quarantined:
        notes.append(
            "in quarantine after three faults within five minutes: it runs only if you fire an event; "
            f"press {key_of('hooks.lift')} to end the quarantine"
        )
    _put_list(sheet, "Notes", notes)


def _put_list(sheet: Sheet, title: str, items: Sequence[str]) -> None:
    if items:
        sheet.title(title)
    for item in items:
        sheet.put([(Content(" ·"), 3)], safe_paragraph(item))


HANDLER_KINDS = {"stream": "stream hook", "plugin": "plugin"}


def _handler(sheet: Sheet, row: HookStatus, view: Snapshot) -> None:
    hook = row.hook
    if hook.handler is None:
        return
    sheet.title("Handler")
    kind = f" · {hook.role or HANDLER_KINDS[hook.kind]}" if hook.kind in HANDLER_KINDS else ""
    known = hook.language in view.languages
    unavailable = "" if known else f" {view.unavailable_languages.get(hook.language, '')}".rstrip()
    where = f"{view.host.machine.short(hook.handler)} · {hook.language}{kind}{unavailable}"
    sheet.put([(Content(), 3)], safe_paragraph(where))
    sheet.put([(Content(), 3)], safe_paragraph(f"limits: {view.limits_of(hook).in_words()}"))
    if hook.leads_out is not None:
        sheet.put([(Content(), 3)], safe_paragraph(f"links to {view.host.machine.short(hook.leads_out)}"))
    if row.events:
        sheet.put([(Content(), 3)], safe_paragraph(f"subscribes to {row.events_text}").stylize(MUTED))
    elif row.events is None:
        sheet.put([(Content(), 3)], Content.styled("its events are known after a load", MUTED))


def _declared(sheet: Sheet, row: HookStatus, view: Snapshot, source: SourceText | None) -> None:
    manifest = row.hook.manifest
    if manifest is None or source is None or source.path != manifest:
        return
    sheet.title(f"Declared in {manifest.name}", view.host.machine.short(manifest))
    if source.problem:
        sheet.paragraph(safe_paragraph(source.problem).stylize(MUTED), 3)
        return
    faults = {gate.place.line for gate in row.verdict.failed() if gate.place and gate.place.file == manifest}
    for number, text in header_lines(source.text):
        sheet.code(number, text, number in faults)


def header_lines(text: str) -> list[tuple[int, str]]:
    """Return the numbered lines of a file's frontmatter; without frontmatter, the file's first lines."""
    lines = text.split("\n", 400)[:400]
    if lines and lines[0].strip().lstrip("\ufeff") == "---":
        ends = (number for number, line in enumerate(lines[1:], 1) if line.strip() == "---")
        end = next(ends, len(lines))
        return list(enumerate(lines[1:end], 2))[:DECLARED_FIELDS]
    return list(enumerate(lines[:8], 1))


def _rejected_part(sheet: Sheet, rejected: RejectedHook, view: Snapshot, source: SourceText | None) -> None:
    short = view.host.machine.short
    if rejected.ignored:
        sheet.paragraph(Content.styled("This file is ignored:", MUTED))
    else:
        sheet.paragraph(Content.styled("This looks like a hook but is not:", MUTED))
    style = IGNORED_FILE if rejected.ignored else NOT_A_HOOK
    sheet.blank()
    sheet.put([(Content.styled(f" {style.glyph}", style.style), 3)], safe_paragraph(rejected.reason))
    sheet.title("Where")
    sheet.paragraph(safe_paragraph(short(rejected.path)), 3)
    if rejected.place is not None:
        sheet.paragraph(safe_paragraph(f"{short(rejected.place.file)}:{rejected.place.line}"), 3)
        if source is not None and source.path == rejected.place.file and source.text:
            sheet.blank()
            lines = source.text.split("\n")
            first = max(1, rejected.place.line - SOURCE_CONTEXT)
            for number in range(first, min(len(lines), rejected.place.line + SOURCE_CONTEXT) + 1):
                sheet.code(number, lines[number - 1], number == rejected.place.line)
    sheet.blank()
    next_step = with_keys("{hooks.fix} shows a fix if there is one; {hooks.edit} opens the file.")
    sheet.paragraph(Content.styled(next_step, MUTED))
    put_same_name_hooks(sheet, rejected, view, whole_paths=True)
