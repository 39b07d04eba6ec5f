"""The checks of a hook in words: those that stop it with what to do about each, and those that pass. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.keymap.hints import key_of, with_keys
from hookscope.console.sheet import Sheet, foreign
from hookscope.console.theme import FAINT, MUTED
from hookscope.core.hooks import Hook
from hookscope.core.standing import TOO_WIDE, Gate, Standing
from hookscope.workbench.fixing.by_hand import install_lines, install_words

if TYPE_CHECKING:
    from hookscope.workbench import View

NAME = 11  # cells of a check's name

# What to do about a shut check, where nothing better is known.
NEXT = {
    "env": "{hooks.fix} sets it in its settings entry; or set it where the host starts",
    "os": "nothing to do on this machine",
    "trusted": "{hooks.trust} asks and allows the folder",
    "handler": "{hooks.edit} opens it there",
    "export": "{hooks.fix} mends it if it can; {hooks.edit} opens it there",
    "fields": "{hooks.fix} mends it if it can; {hooks.edit} opens HOOK.md there",
    "events": "{hooks.fix} moves or names them; {hooks.edit} opens HOOK.md: it wants metadata with `events`",
    "path": "move the handler into the hook's own folder",
    "sent": "{hooks.fix} corrects what lint calls a slip; {hooks.fire} fires it by hand all the same",
    "selected": "{hooks.fix} names it in the settings",
}


def shut_gate(sheet: Sheet, gate: Gate, row: Standing, view: View, places: bool) -> None:
    """A check that stops it: what it needs, what is there, where that is decided, what to do. `places`: where
    it was looked for, too."""
    head = Content.assemble((" ✗ ", "$text-error"), (gate.name, "bold"))
    lines = list(_facts(gate, row, view, places))
    for number, (label, text, style) in enumerate(lines):
        before = [(head if number == 0 else Content(), NAME + 2), (Content.styled(label, MUTED), 7)]
        sheet.put(before, foreign(text).stylize(style))


def _facts(gate: Gate, row: Standing, view: View, places: bool) -> list[tuple[str, str, str]]:
    """Label, text and style of each line about a shut check."""
    facts = []
    needed = ", ".join(gate.missing or gate.needed)
    if needed and gate.name not in ("trusted", "path", "enabled", "switch"):
        facts.append(("needs", needed, ""))
    found = "" if gate.name == "trusted" else gate.found
    at = _setting_place(gate, view)
    if found or at:
        facts.append(("found", " · ".join(part for part in (found, at) if part), ""))
    facts += [("near", text, "$text-warning") for text in gate.near]
    if places and gate.looked:
        facts.append(("looked", " · ".join(gate.looked), MUTED))
    if gate.place is not None:
        facts.append(("where", f"{view.host.surroundings.short(gate.place.file)}:{gate.place.line}", ""))
    if gate.reason:
        facts.append(("says", gate.reason, MUTED))
    if then := _next(gate, row.hook, view):
        facts.append(("next", then, ""))
    return facts


def _next(gate: Gate, hook: Hook, view: View) -> str:
    if gate.found == TOO_WIDE:
        return "move the hook into a folder of hooks"
    if gate.name == "enabled":
        return with_keys("{hooks.toggle} switches it on")
    if gate.fix is not None:
        file = view.host.surroundings.short(gate.fix.file)
        return f"{key_of('hooks.fix')} writes {gate.fix.meaning} in {file}"
    if gate.name in ("bins", "anyBins"):
        offers = install_lines(hook.meta.install)
        again = with_keys("; {hooks.recheck} looks again")
        return f"HOOK.md offers: {offers}" if offers else install_words(gate) + again
    if gate.name == "config" and gate.setting is not None:
        path = ".".join(str(part) for part in gate.setting)
        return f"{key_of('hooks.fix')} sets {path} in {view.host.surroundings.short(view.host.settings.file)}"
    return with_keys(NEXT.get(gate.name, ""))


def _setting_place(gate: Gate, view: View) -> str:
    """Where in the settings the decision stands, as `openclaw.json:14`."""
    if gate.setting is None:
        return ""
    place = view.host.settings.locate(gate.setting)
    return f"{place.file.name}:{place.line}" if place is not None else ""


def open_gates(sheet: Sheet, gates: tuple[Gate, ...], view: View, unfolded: bool) -> None:
    """Those that pass, and those that nobody looked at: counted, or one by one."""
    passing = [gate for gate in gates if gate.passed]
    skipped = [gate for gate in gates if gate.passed is None]
    if not unfolded:
        also = f", {len(skipped)} not looked at" if skipped else ""
        checks = "1 check passes" if len(passing) == 1 else f"{len(passing)} checks pass"
        sheet.say(
            Content.assemble((f" ✓ {checks}{also}", MUTED), (f"   {key_of('why.fold')} lists them", FAINT))
        )
        return
    for gate in (*passing, *skipped):
        sign = Content.styled(f" {'✓' if gate.passed else '–'} {gate.name}", MUTED)
        words = [gate.found or ", ".join(gate.needed) or "as it should be", _setting_place(gate, view)]
        sheet.put([(sign, NAME + 2)], foreign(" · ".join(word for word in words if word)).stylize(MUTED))
