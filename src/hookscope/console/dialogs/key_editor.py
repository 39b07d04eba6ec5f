"""The key editor: choose an action, press its new key; `keys.yaml` is written at once."""

from __future__ import annotations

import re
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from hookscope.app.preferences import read_keys, write_keys_of
from hookscope.console.dialogs.base_dialogs import Dialog, Picker, filtered, picker_keys
from hookscope.console.keymap.active_keys import (
    ENTER_KEY,
    KeyAction,
    active_keymap,
    all_actions,
    binding_of,
    key_hints,
    key_labels,
    scope_of,
    spelled_key,
    why_not_key,
    with_keys,
)
from hookscope.console.state.messages import PreferencesSaved, post_to
from hookscope.console.theme.text_styles import MARK_MUTED, fixed_width, safe_text
from hookscope.model.failure import Refusal

KEYS_WIDTH, NAME_WIDTH, PLACE_WIDTH = 11, 16, 27  # cells of the columns
ACTION_ID = re.compile(r"[a-z]+\.[a-z_]+")
WIDE_ENOUGH = 80  # cells; only wider rows have the meaning


def keys_of(action: KeyAction) -> str:
    """Return the active keys of an action, as people write them."""
    return "  ".join(key_labels(active_keymap().of(action.id, ",".join(action.keys)))) or "no key"


class KeyEditor(Picker[KeyAction, None]):
    """Lists all actions with their keys. Typing filters; enter opens the dialog for a new key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="actions.cancel", tooltip="Close"),
        *picker_keys("actions", "action"),
    ]
    WIDTH = 140

    def __init__(self, typed: str = "") -> None:
        super().__init__()
        self._typed = typed

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Change a key"
            frame.border_subtitle = key_hints((ENTER_KEY, "new key"), ("actions.cancel", "back"))
            yield Input(
                self._typed,
                placeholder="search by action, key, screen or description",
                compact=True,
                select_on_focus=False,
            )
            listed = OptionList(compact=True)
            listed.can_focus = False
            yield listed

    def on_mount(self) -> None:
        self._fill()

    @on(Input.Changed)
    def _typed_more(self, event: Input.Changed) -> None:
        event.stop()
        self._fill()

    def name_keys(self) -> None:
        """Show the current keys; the cursor stays."""
        self._fill(self.query_one(OptionList).highlighted or 0)

    def _fill(self, at: int = 0) -> None:
        named = (
            (f"{_name(one)} {keys_of(one)}", f"{_place(one)} {one.id} {one.meaning}", one)
            for one in all_actions().values()
        )
        rows = filtered(self.typed, named)
        prompts = (_prompt(row, more=self.room >= WIDE_ENOUGH) for row in rows)
        self.list_rows(rows, prompts, "no such action", at)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _chosen(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        event.stop()
        if self.row is not None:
            self.app.push_screen(KeyQuestion(self.row))


def _name(action: KeyAction) -> str:
    return binding_of(action.id).description


def _place(action: KeyAction) -> str:
    return scope_of(action.id).title


def _prompt(action: KeyAction, *, more: bool) -> Content:
    return Content.assemble(
        fixed_width(keys_of(action), KEYS_WIDTH),
        " ",
        fixed_width(_name(action), NAME_WIDTH),
        " ",
        fixed_width(_place(action), PLACE_WIDTH, MARK_MUTED),
        (f" {with_keys(action.meaning)}" if more else "", MARK_MUTED),
    )


class KeyQuestion(Dialog[None]):
    """Takes the next key that is pressed as the only key of an action."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="newkey.cancel", tooltip="Keep the key"),
        Binding("delete", "default", "Default", id="newkey.remove", tooltip="Back to the default keys"),
    ]
    DEFAULT_CSS = """
    KeyQuestion {
        & > Vertical { width: 64; max-width: 90%; }
        & Static { height: auto; }
    }
    """

    def __init__(self, action: KeyAction) -> None:
        super().__init__()
        self._action = action

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content.assemble(
                f"{_name(self._action)}: press a key   ", (self._action.id, MARK_MUTED)
            )
            frame.border_subtitle = key_hints(("newkey.remove", "default"), ("newkey.cancel", "back"))
            yield Static(f"Now: {keys_of(self._action)}", markup=False)
            yield Static(with_keys(self._action.meaning), id="key-answer", markup=False)

    def on_key(self, event: events.Key) -> None:
        if event.key in self.active_bindings:
            return
        event.stop()
        key, file = spelled_key(event.key), read_keys()
        if problem := why_not_key(self._action.id, key, file):
            known = all_actions()  # people know names, not ids
            named = ACTION_ID.sub(
                lambda text: _name(known[text[0]]) if text[0] in known else text[0], problem
            )
            answer = safe_text(f"{named} Press another key.", 400).stylize("$text-warning")
            self.query_one("#key-answer", Static).update(answer)
        else:
            self._write((key,))

    def action_default(self) -> None:
        self._write(None)

    def _write(self, keys: tuple[str, ...] | None) -> None:
        """Write the keys, or the default ones for None; the console then reads the file again."""
        try:
            file = write_keys_of(self._action.id, keys)
        except Refusal as refused:
            self.app.notify(safe_text(str(refused), 400).plain, severity="warning", markup=False)
            return
        shown = f"now has the key {keys[0]}" if keys else "has its default keys"
        text = f"{_name(self._action)} {shown}. Written to {file}."
        self.app.notify(safe_text(text, 400).plain, markup=False)
        post_to(self.app.screen_stack[0], PreferencesSaved())
        self.dismiss(None)
