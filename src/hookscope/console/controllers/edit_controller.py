"""Fixes hooks and opens files in the user's own editor. Each edit is previewed first."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App, SuspendNotSupported
from textual.content import Content

from hookscope.app.preferences import editor_command, editor_of, run_editor
from hookscope.authoring.fix.model import Fix, FixValues, Repair, WorkspaceRepair
from hookscope.authoring.fix.repair import apply_repair, apply_workspace_repair, find_repair, repair_workspace
from hookscope.console.dialogs.base_dialogs import TITLE_GAP, Question
from hookscope.console.dialogs.edit_preview import (
    EditQuestion,
    EditScreen,
    FixAllScreen,
    ForgetScreen,
    change_sheet,
    stuck_sheet,
    toggle_sheet,
    undo_sheet,
)
from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.state.messages import (
    CopyRequested,
    FixRequested,
    SettingsWritten,
    Severity,
    TogglePlanned,
    ToggleRequested,
    TrustRequested,
    UndoPlanned,
)
from hookscope.console.theme.text_styles import MUTED, NOT_A_HOOK, STATE_STYLES, safe_line, safe_paragraph
from hookscope.model.hook import FilePosition
from hookscope.model.hook_status import HookStatus
from hookscope.model.text import one_line
from hookscope.model.trust import trust_target
from hookscope.storage.edits.masked_preview import is_secret_name

if TYPE_CHECKING:
    from hookscope.app.edits import Toggle, Undoing
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.context import ConsoleContext
    from hookscope.model.machine import Machine
    from hookscope.storage.edits.change import Change


class EditController:
    """Switches hooks on and off, and undoes edits. The first toggle of a session is previewed."""

    def __init__(self, context: ConsoleContext, reverted: Callable[[Sequence[Path]], object]) -> None:
        """`reverted` is called with the files that an undo has restored."""
        self.context, self._reverted = context, reverted
        self._shown = False  # whether a toggle's edit was previewed in this session

    def toggle(self, asked: ToggleRequested) -> None:
        """Plan the edit that switches a hook on or off."""
        if self.context.state.view is not None:
            self.context.bridge.plan_toggle(self.context.state.view, asked.name, asked.on)

    def toggle_planned(self, planned: TogglePlanned) -> None:
        """Preview the edit, or write it."""
        toggle, view, bridge = planned.toggle, self.context.state.view, self.context.bridge
        if toggle is None or view is None:
            self._say(planned.problem or "Still scanning.")
        elif not toggle.needed:
            self._say(f"{toggle.name} is already {toggle.after}.")
        elif self._shown:
            bridge.apply_toggle(toggle)
        else:
            title = f"Switch {'on' if toggle.on else 'off'} {one_line(toggle.name, 40)}?"
            sheet = toggle_sheet(toggle, view.host.machine)
            self._ask(
                EditScreen(title, sheet, with_keys("{hooks.undo} undoes it later   shown only once")),
                self._agreed(toggle),
            )

    def _agreed(self, toggle: Toggle) -> Callable[[], None]:
        def write() -> None:
            self._shown = True
            self.context.bridge.apply_toggle(toggle)

        return write

    def undo_planned(self, planned: UndoPlanned) -> None:
        """Undo the last edit, forget it, or report why neither is possible."""
        undoing, view = planned.undoing, self.context.state.view
        if planned.stuck is not None and view is not None:
            stuck = planned.stuck
            sheet = stuck_sheet(planned.problem, stuck, view.host.machine)
            self._ask(ForgetScreen("Forget this edit?", sheet), lambda: self._forget(stuck))
        elif undoing is None or view is None:
            self._say(planned.problem or "Still scanning.")
        else:
            self._undo(undoing, view)

    def _undo(self, undoing: Undoing, view: Snapshot) -> None:
        """Undo an edit. Ask first if its file has changed since, or if another program made the edit."""
        bridge = self.context.bridge
        ours = self.context.bench.edits.is_own(undoing.change)
        if ours and not undoing.file_changed:
            bridge.apply_undo(undoing)
            return
        sheet = undo_sheet(undoing, view.host.machine, ours=ours)
        self._ask(EditScreen("Undo this edit?", sheet), lambda: bridge.apply_undo(undoing))

    def _forget(self, change: Change) -> None:
        """Forget an edit that cannot be undone."""
        edits = self.context.bench.edits
        told = SettingsWritten("undo", f"forgotten: {change.meaning}")
        self.context.bridge.ask("settings", lambda: edits.forget(change), lambda _: self.written(told))

    def written(self, written: SettingsWritten) -> None:
        """Report a written or failed edit, and scan."""
        if written.problem:
            self._say(written.problem)
            return
        toast = f"{written.subject}: {written.text}" if written.text.startswith("on, but") else ""
        if written.subject == "undo":
            toast = written.text[:1].upper() + written.text[1:]
        self.context.log_line("config", written.text, subject=written.subject, toast=toast)
        if written.undoing is not None:
            for notice in written.undoing.skipped_messages:
                self._say(notice, "information")
            self._reverted(written.undoing.files)
        self.context.bridge.scan()

    def _ask(self, question: EditQuestion, write: Callable[[], None]) -> None:
        def answered(agreed: bool | None) -> None:
            if agreed:
                write()

        self.context.push_dialog(question, answered)

    def _say(self, text: str, severity: Severity = "warning") -> None:
        self.context.notify(text, severity)


FIX_GROUP = "fix"


def repair_sheet(repair: Repair, fix: Fix, machine: Machine) -> Content:
    """Return the hook's status after the fix, the diffs, the gates that still fail, and other effects."""
    outcome = Content.assemble(
        safe_line(repair.name, 60), ": ", _status_line(repair.before), " → ", _status_line(repair.after)
    )
    parts = [outcome, safe_paragraph(fix.title), Content()]
    parts += [change_sheet(change, machine) for change in repair.changes]
    for gate in repair.remaining_gates:
        parts.append(safe_paragraph(f"still fails: {gate.name} – {gate.reason}").stylize(MUTED))
    for other in repair.others:
        parts.append(safe_paragraph(f"also {other.name} ({other.source}): {other.before} → {other.after}"))
    return Content("\n").join(parts)


def fix_line(repairs: Sequence[Repair]) -> Content:
    """Return one line: the fixes of each hook, after its status if it changes."""
    parts: list[Content] = []
    for one in repairs:
        titles = "; ".join(fix.title for fix in one.fixes if fix.changes)
        same = one.before is not None and one.after is not None and one.before.state is one.after.state
        statuses = Content.assemble(_status_line(one.before), " → ", _status_line(one.after), "   ")
        parts.append(
            Content.assemble(safe_line(one.name, 60), ": ", "" if same else statuses, safe_line(titles))
        )
    return Content("; ").join(parts)


def _status_line(row: HookStatus | None) -> Content:
    scan = NOT_A_HOOK if row is None else STATE_STYLES[row.state]
    return Content.styled(f"{scan.glyph} {scan.word}", scan.style)


class FixController:
    """Fixes the next gate that can be fixed; its edit is always previewed."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context

    def ask(
        self, asked: FixRequested, values: Mapping[str, str] | None = None, wanted: Fix | None = None
    ) -> None:
        """Find a fix for the first fixable gate. `wanted`: the fix that `values` were typed for."""
        view, bench = self.context.state.view, self.context.bench
        if view is None:
            self._say("Still scanning.")
            return
        given = FixValues(values or {})
        self.context.bridge.ask(
            FIX_GROUP,
            lambda: find_repair(bench, view, asked.item, given, first=True),
            lambda found: self._found(asked, found, given, wanted),
            opens=True,
        )

    def ask_all(self) -> None:
        """Preview the edits that fix any hook. If the user agrees, write the chosen ones."""
        view = self.context.state.view
        if view is not None:
            self.context.bridge.ask(
                FIX_GROUP,
                lambda: repair_workspace(view),
                lambda found: self._found_all(found, view.host.machine),
                opens=True,
            )

    def _found_all(self, repair: WorkspaceRepair, machine: Machine) -> None:
        if not repair.repairs:
            self._say(
                with_keys("No hook has a mistake in its own files. {hooks.fix} fixes the selected hook.")
            )
            return
        choices = repair.choices

        def chosen(numbers: frozenset[int]) -> WorkspaceRepair:
            return replace(repair, repairs=tuple(one for n in sorted(numbers) for one in choices[n]))

        def hint(numbers: frozenset[int]) -> str:
            count = len(chosen(numbers).steps)
            return with_keys(
                "{hooks.undo} undoes it later" if count < 2 else f"press {{hooks.undo}} {count} times to undo"
            )

        def answered(numbers: frozenset[int] | None) -> None:
            if numbers:
                self._write_all(chosen(numbers))

        sheets = [
            Content("\n").join(change_sheet(change, machine) for change in chosen(frozenset({n})).changes)
            for n in range(len(choices))
        ]
        lines = [fix_line(group) for group in choices]
        self.context.push_dialog(FixAllScreen(lines, sheets, hint), answered)

    def _write_all(self, repair: WorkspaceRepair) -> None:
        def writing() -> WorkspaceRepair:
            apply_workspace_repair(self.context.bench, repair)
            return repair

        self.context.bridge.ask(FIX_GROUP, writing, self._all_written)

    def _all_written(self, repair: WorkspaceRepair) -> None:
        for one in repair.repairs:
            self.context.log_line(
                "fix", "; ".join(change.meaning for change in one.changes), subject=one.name
            )
        self.context.bridge.scan()

    def _found(self, asked: FixRequested, repair: Repair, given: FixValues, wanted: Fix | None) -> None:
        view = self.context.state.view
        useless = next((fix for fix in repair.fixes if wanted is not None and fix.gate == wanted.gate), None)
        fix = next((fix for fix in repair.fixes if fix.required_values or fix.changes), None)
        if view is None:
            return
        if wanted is not None and useless is not None and useless.why_not:
            self._report_still_failing(wanted, useless, given)
        elif fix is None:
            self._in_words(asked, repair)
        elif fix.required_values:
            self._value(asked, fix, given)
        else:
            steps = len(given.named) + 1
            title = f"Fix {one_line(repair.name, 40)}?" + (
                f"{TITLE_GAP}{steps} of {steps}" if given.named else ""
            )
            sheet = repair_sheet(repair, fix, view.host.machine)
            self.context.push_dialog(
                EditScreen(title, sheet, with_keys("{hooks.undo} undoes it later")),
                lambda agreed: self._write(repair) if agreed else None,
            )

    def _value(self, asked: FixRequested, fix: Fix, given: FixValues) -> None:
        """Ask for the missing values one by one, then preview the edit."""
        name = next(name for name in fix.required_values if name not in given.named)

        def answered(value: str | None) -> None:
            if value is None:
                return
            values = {**given.named, name: value}
            if all(other in values for other in fix.required_values):
                self.ask(asked, values, fix)
            else:
                self._value(asked, fix, FixValues(values))

        question = Question(
            name,
            fix.title,
            enter="shows the edit",
            why_not=lambda value: (
                "" if value.strip() else with_keys("Enter a value; {question.cancel} goes back.")
            ),
            secret=is_secret_name(name),
            step=f"{len(given.named) + 1} of {len(fix.required_values) + 1}",
        )
        self.context.push_dialog(question, answered)

    def _report_still_failing(self, wanted: Fix, useless: Fix, given: FixValues) -> None:
        """Report that the gate still fails with the typed values; nothing is written."""
        values = ", ".join(
            f"{name} = {'…' if is_secret_name(name) else one_line(given.named[name], 40)}"
            for name in wanted.required_values
        )
        reason = one_line(
            useless.failed_gate.reason if useless.failed_gate is not None else useless.why_not, 120
        )
        self._say(f"With {values}, {wanted.gate} still fails ({reason}). Nothing was written.")

    def _in_words(self, asked: FixRequested, repair: Repair) -> None:
        """Handle a fix without an edit: ask for trust, copy a hint, or say why."""
        hint = next((fix for fix in repair.fixes if fix.hint and fix.gate != "trusted"), None)
        why = next((fix for fix in repair.fixes if fix.why_not), None)
        view = self.context.state.view
        if hint is not None:
            what = f"hint, which Hookscope never runs: {one_line(hint.hint, 120)}"
            self.context.post(CopyRequested(hint.hint, what))
        elif why is not None:
            what = f"Fix {why.gate} by hand" if why.is_manual else f"No fix for {why.gate}"
            self._say(f"{what}: {one_line(why.why_not, 240)}.")
        elif repair.fixes and view is not None and isinstance(asked.item, HookStatus):
            self.context.post(TrustRequested((trust_target(asked.item.hook, view.host),)))
        else:
            self._say(f"{one_line(repair.name, 60)} is ready: there is nothing to fix.", "information")

    def _write(self, repair: Repair) -> None:
        def writing() -> Repair:
            apply_repair(self.context.bench, repair)
            return repair

        self.context.bridge.ask(FIX_GROUP, writing, self._written)

    def _written(self, repair: Repair) -> None:
        meaning = "; ".join(change.meaning for change in repair.changes)
        self.context.log_line("fix", meaning, subject=repair.name)
        if repair.remaining_gates:  # else the list shows all
            now = f"fixed {', '.join(repair.fixed_gates)}, still {_status_line(repair.after).plain}"
            still = ", ".join(gate.name for gate in repair.remaining_gates)
            self._say(f"{one_line(repair.name, 60)}: {now}; still failing: {still}", "information")
        self.context.bridge.scan()

    def _say(self, text: str, severity: Severity = "warning") -> None:
        self.context.notify(text, severity)


class EditorController:
    """Opens the user's editor."""

    def __init__(self, context: ConsoleContext, app: App[Any]) -> None:
        """`app` gives the terminal to the editor and takes it back."""
        self.context, self._app = context, app

    def open(self, place: FilePosition) -> None:
        """Open the editor at a place, then scan."""
        view = self.context.state.view
        workspace = view.host.workspace if view is not None else Path()
        problem = open_editor(self._app, place, os.environ, workspace)
        if problem:
            self.context.notify(problem, "warning")
        else:
            self.context.bridge.scan()


def open_editor(app: App[object], place: FilePosition, env: Mapping[str, str], workspace: Path) -> str:
    """Run the editor in this terminal until it ends. Return why that failed; empty if it did not.

    An editor that the workspace itself provides is never used.
    """
    editor = editor_of(env)
    where = f"{place.file}:{place.line}"
    if app.is_web:
        return f"A browser page cannot open an editor. File and line: {where}"
    if not editor:
        return f"No editor is set: define VISUAL or EDITOR. File and line: {where}"
    try:
        words = editor_command(editor, place)
    except ValueError as error:
        return f"VISUAL or EDITOR is not a command: {error}. File and line: {where}"
    try:
        with app.suspend():  # an exception in here would leave the app suspended
            problem = run_editor(words, workspace)
    except SuspendNotSupported:
        return f"This terminal cannot run an editor. File and line: {where}"
    return f"{problem} File and line: {where}" if problem else ""
