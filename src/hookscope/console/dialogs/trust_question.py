"""The question before code in a folder runs for the first time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Button

from hookscope.app.trust_requests import TrustRequest, trust_requests
from hookscope.console.dialogs.base_dialogs import AnswerButton, AnswerRow, ButtonDialog
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints, key_of, with_keys
from hookscope.console.theme.text_styles import MUTED, Sheet, counted, safe_paragraph
from hookscope.console.widgets.lines import FittedText, ScrollBox

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.context import ConsoleContext
    from hookscope.model.hook import Hook
    from hookscope.model.trust import TrustTarget

MOST_NAMED_HOOKS = 100  # hooks named under one folder; more are counted
TrustAnswer = Literal["trust", "without", "cancel"]


def ask_trust(
    context: ConsoleContext,
    targets: Sequence[TrustTarget],
    view: Snapshot,
    then: Callable[[TrustAnswer | None], None],
    *,
    firing: bool,
) -> None:
    """Ask about the folders that can be trusted, and report why others cannot.

    If none can be trusted, nothing is asked; a firing continues without them.
    """
    short = view.host.machine.short
    for target in targets:
        if target.refusal_reason:
            context.notify(f"{target.allow_hint(short)}.", "warning")
    trustable = [target for target in targets if not target.refusal_reason]
    if trustable:
        context.bridge.ask(
            "trust question",
            lambda: trust_requests(view, trustable),
            lambda requests: context.push_dialog(TrustScreen(requests, view, firing=firing), then),
            opens=True,
            scans=True,
        )
    elif firing:
        then("without")


def allowed_folders(targets: Sequence[TrustTarget]) -> tuple[Path, ...]:
    """Return the folders to trust if the user agrees."""
    return tuple(target.folder for target in targets if not target.refusal_reason)


def hooks_below(folder: Path, view: Snapshot) -> list[Hook]:
    """Return the hooks that could run if this folder were trusted."""
    targets = {
        id(target): target for _, target in view.awaiting_trust
    }  # thousands of hooks can share a target
    covered = {
        number
        for number, target in targets.items()
        if folder == target.folder or folder in target.folder.parents
    }
    return [hook for hook, target in view.awaiting_trust if id(target) in covered]


def trust_text(requests: tuple[TrustRequest, ...], view: Snapshot, width: int) -> Content:
    """Return what would be allowed: real folders, hooks, their files, and programs."""
    sheet = Sheet(width)
    sheet.paragraph(
        Content("These handlers run with your rights whenever you fire an event that they subscribe to.")
    )
    for request in requests:
        folder, hooks = request.folder, hooks_below(request.folder, view)
        sheet.blank()
        sheet.paragraph(safe_paragraph(str(folder)).stylize("bold"))
        below = f"and everything below it, now and later: {request.handlers_text} so far"
        sheet.paragraph(Content.styled(below, MUTED), 2)
        for program in request.programs:
            sheet.paragraph(safe_paragraph(f"The workspace runs them with {program.description}."), 2)
        for hook in hooks[:MOST_NAMED_HOOKS]:
            sheet.put(
                [(safe_paragraph(hook.name), 24)],
                safe_paragraph(_handler_file(hook, folder, view)).stylize(MUTED),
                2,
            )
        if len(hooks) > MOST_NAMED_HOOKS:
            sheet.paragraph(
                Content.styled(f"… and {counted(len(hooks) - MOST_NAMED_HOOKS, 'more hook')}", MUTED), 2
            )
    return sheet.content()


def _handler_file(hook: Hook, folder: Path, view: Snapshot) -> str:
    """Return the file that would run: relative to the folder, if it is really inside."""
    if hook.handler is None:
        return "no file"
    # As text: Path would parse both again for each of a hundred hooks.
    file, base = str(hook.handler), os.path.join(folder, "")
    if hook.leads_out is None and file.startswith(base):
        return file[len(base) :]
    return view.host.machine.short(hook.leads_out or hook.handler)


class TrustScreen(ButtonDialog[TrustAnswer]):
    """Asks for trust; Cancel is the default."""

    ON_BUTTONS = frozenset({"trust.trust", "trust.without"})

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer('cancel')", "Cancel", id="trust.cancel", tooltip="Change nothing"),
        Binding("t", "answer('trust')", "Trust", id="trust.trust", tooltip="Allow these folders to run"),
        Binding(
            "minus", "answer('without')", "Without", id="trust.without", tooltip="Fire without these hooks"
        ),
        Binding("left,right", "other_button", "Choose", show=False, id="trust.choose", tooltip="Next button"),
    ]

    def __init__(self, requests: tuple[TrustRequest, ...], view: Snapshot, *, firing: bool) -> None:
        super().__init__()
        self.requests, self.view, self.firing = requests, view, firing

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            many = len(self.requests) > 1
            box.border_title = f"Allow {'these folders' if many else 'this folder'} to run?"
            box.border_subtitle = key_hints(
                ("trust.choose", "choose"), (ENTER_KEY, "answer"), ("trust.cancel", "cancel")
            )
            with ScrollBox(id="question-text", can_focus=False):
                yield FittedText(partial(trust_text, self.requests, self.view), id="question-sheet")
            cancel = AnswerButton("Cancel", id="cancel")
            without = f"{key_of('trust.without')}  Fire without them"
            trust = f"{key_of('trust.trust')}  {'Trust and fire' if self.firing else 'Trust'}"
            yield AnswerRow(
                cancel,
                *([AnswerButton(without, id="without")] if self.firing else []),
                AnswerButton(trust, id="trust"),
            )

    def on_button_pressed(self, event: Button.Pressed) -> None:
        answers: dict[str | None, TrustAnswer] = {"trust": "trust", "without": "without"}
        self.dismiss(answers.get(event.button.id, "cancel"))

    def cannot(self, action: str) -> str:
        """Return why an action of this question would have no effect."""
        if self.firing or "without" not in action:
            return ""
        return with_keys("No event waits to be fired: {trust.trust} trusts, {trust.cancel} cancels.")

    def action_answer(self, answer: TrustAnswer) -> None:
        if why := self.cannot(answer):
            self.app.notify(why, markup=False)
        else:
            self.dismiss(answer)
