"""From a hook that does not run to an edit that opens what stops it: one check at a time, shown first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.edits import EditScreen, change_sheet
from hookscope.console.keymap.hints import with_keys
from hookscope.console.messages import CopyAsked, FixAsked, Said, Severity, TrustAsked
from hookscope.console.question import Question
from hookscope.console.sheet import foreign
from hookscope.console.text import line
from hookscope.console.theme import LOOKS, MUTED, NO_HOOK
from hookscope.core.standing import Standing
from hookscope.core.text import one_line
from hookscope.core.trust import trust_target
from hookscope.workbench.fixing.fix import Fix, Given, Repair
from hookscope.workbench.shown import is_secret

if TYPE_CHECKING:
    from hookscope.console.shell import Shell
    from hookscope.core.surroundings import Surroundings

ROOM = "fix"


def repair_sheet(repair: Repair, fix: Fix, surroundings: Surroundings) -> Content:
    """How the hook stands then, each file with its diff, what stays shut and what else changes."""
    outcome = Content.assemble(line(repair.name, 60), ": ", _look(repair.before), " → ", _look(repair.after))
    parts = [outcome, foreign(fix.title), Content()]
    parts += [change_sheet(change, surroundings) for change in repair.changes]
    for gate in repair.still:
        parts.append(foreign(f"still shut: {gate.name} – {gate.reason}").stylize(MUTED))
    for other in repair.others:
        parts.append(foreign(f"also {other.name} ({other.source}): {other.before} → {other.after}"))
    return Content("\n").join(parts)


def _look(row: Standing | None) -> Content:
    look = NO_HOOK if row is None else LOOKS[row.state]
    return Content.styled(f"{look.glyph} {look.word}", look.style)


class FixDesk:
    """What is asked of fixes. The next check that can be opened is; its edit is always shown first."""

    def __init__(self, screen: Shell) -> None:
        self.screen = screen

    def ask(
        self, asked: FixAsked, values: Mapping[str, str] | None = None, wanted: Fix | None = None
    ) -> None:
        """Find out what opens the first check that can be opened; `wanted` is the one that got values."""
        view, bench = self.screen.state.view, self.screen.bridge.bench
        if view is None:
            self._say("Still looking.")
            return
        given = Given(values or {})
        self.screen.bridge.ask(
            ROOM,
            lambda: bench.edits.repair(view, asked.item, given, first=True),
            lambda found: self._found(asked, found, given, wanted),
            opens=True,
        )

    def _found(self, asked: FixAsked, repair: Repair, given: Given, wanted: Fix | None) -> None:
        view = self.screen.state.view
        useless = next((fix for fix in repair.fixes if wanted is not None and fix.gate == wanted.gate), None)
        fix = next((fix for fix in repair.fixes if fix.asks or fix.changes), None)
        if view is None:
            return
        if wanted is not None and useless is not None and useless.why_not:
            self._still_shut(wanted, useless, given)
        elif fix is None:
            self._in_words(asked, repair)
        elif fix.asks:
            self._value(asked, fix, given)
        else:
            title = f"Fix {one_line(fix.gate, 40)}?"
            sheet = repair_sheet(repair, fix, view.host.surroundings)
            self.screen.app.push_screen(
                EditScreen(title, sheet, with_keys("{hooks.undo} undoes it later")),
                lambda agreed: self._write(repair) if agreed else None,
            )

    def _value(self, asked: FixAsked, fix: Fix, given: Given) -> None:
        """One value after another, then the edit."""
        name = next(name for name in fix.asks if name not in given.named)

        def answered(value: str | None) -> None:
            if value is None:
                return
            values = {**given.named, name: value}
            if all(other in values for other in fix.asks):
                self.ask(asked, values, fix)
            else:
                self._value(asked, fix, Given(values))

        question = Question(
            name,
            fix.title,
            enter="shows the edit",
            why_not=lambda value: (
                "" if value.strip() else with_keys("A value is wanted; {question.cancel} goes back.")
            ),
            secret=is_secret(name),
        )
        self.screen.app.push_screen(question, answered)

    def _still_shut(self, wanted: Fix, useless: Fix, given: Given) -> None:
        """The values do not open the check they were asked for: nothing is written, nor another opened."""
        values = ", ".join(
            f"{name} = {'…' if is_secret(name) else one_line(given.named[name], 40)}" for name in wanted.asks
        )
        reason = one_line(useless.shut.reason if useless.shut is not None else useless.why_not, 120)
        self._say(f"With {values} {wanted.gate} stays shut ({reason}); nothing was written.")

    def _in_words(self, asked: FixAsked, repair: Repair) -> None:
        """Nothing can be written: trust is asked for, a hint is copied, else it is said why."""
        hint = next((fix for fix in repair.fixes if fix.hint and fix.gate != "trusted"), None)
        why = next((fix for fix in repair.fixes if fix.why_not), None)
        view = self.screen.state.view
        if hint is not None:
            self.screen.post_message(
                CopyAsked(hint.hint, f"hint, which is never run: {one_line(hint.hint, 120)}")
            )
        elif why is not None:
            what = f"{why.gate}, by hand" if why.by_hand else f"No fix for {why.gate}"
            self._say(f"{what}: {one_line(why.why_not, 240)}.")
        elif repair.fixes and view is not None and isinstance(asked.item, Standing):
            self.screen.post_message(TrustAsked((trust_target(asked.item.hook, view.host),)))
        else:
            self._say(f"{one_line(repair.name, 60)} is ready: there is nothing to fix.", "information")

    def _write(self, repair: Repair) -> None:
        def writing() -> Repair:
            self.screen.bridge.bench.edits.mend(repair)
            return repair

        self.screen.bridge.ask(ROOM, writing, self._written)

    def _written(self, repair: Repair) -> None:
        meaning = "; ".join(change.meaning for change in repair.changes)
        self.screen.log_line("fix", meaning, subject=repair.name)
        before, after = (_look(row).plain for row in (repair.before, repair.after))
        now = f"{before} → {after}"
        if before == after and repair.opened:  # another check is shut: the write is no failure
            now = f"{', '.join(repair.opened)} open now, {after} still"
        still = f"; still shut: {', '.join(gate.name for gate in repair.still)}" if repair.still else ""
        self._say(f"{one_line(repair.name, 60)}: {now}{still}", "information")
        self.screen.bridge.look()

    def _say(self, text: str, severity: Severity = "warning") -> None:
        self.screen.post_message(Said(text, severity))
