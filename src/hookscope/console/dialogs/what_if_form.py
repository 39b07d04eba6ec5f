"""The What if form: a field for each assumption, and the options they set."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from hookscope.app.options import Options
from hookscope.app.whatif.assumptions import CLEAN_ENVIRONMENT, what_if_options
from hookscope.console.dialogs.base_dialogs import Dialog
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints
from hookscope.console.theme.text_styles import MUTED, safe_line
from hookscope.console.widgets.input_fields import LabeledForm, OneLineInput
from hookscope.host_options import HOST_FIELDS, MACHINE_FIELDS, PLATFORMS
from hookscope.model.failure import Refusal
from hookscope.model.machine import real_machine
from hookscope.model.text import printable
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class WhatIfFields:
    """The typed texts; an empty text keeps the real value."""

    platform: str = ""
    path: str = ""
    environment: str = ""
    variables: str = ""
    settings: str = ""
    workspace: str = ""
    agent: str = ""
    host: str = ""


FIELD_NAMES = tuple(field.name for field in fields(WhatIfFields))
FIELD_TITLES: Mapping[str, str] = {
    "path": "PATH",
    **{name: name.capitalize() for name in FIELD_NAMES if name != "path"},
}


def what_if_fields_of(options: Options) -> WhatIfFields:
    """Return the fields for these options: everything that is assumed."""
    assumed = {name: getattr(options, option.name) for name, option in MACHINE_FIELDS.items()}
    texts = {name: str(value or "") for name, value in {**assumed, **what_if_options(options)}.items()}
    texts["environment"] = texts["environment"] or (CLEAN_ENVIRONMENT if options.clean_env else "")
    texts["variables"] = shlex.join(f"{name}={text}" for name, text in options.env.items())
    return WhatIfFields(**texts)


def options_with(typed: WhatIfFields, real: Options) -> Options:
    """Return the options with the typed assumptions; `real` has none. Raises Refusal for invalid ones."""
    if typed.platform and typed.platform not in PLATFORMS:
        raise Refusal(f"There is no platform {typed.platform!r}.", f"Use one of {', '.join(PLATFORMS)}.")
    clean = typed.environment == CLEAN_ENVIRONMENT
    supposed = {name: option for name, option in HOST_FIELDS.items() if getattr(typed, name)}
    chosen: dict[str, Any] = {
        option.name: getattr(typed, name) or None for name, option in MACHINE_FIELDS.items()
    }
    for name, option in supposed.items():
        text = getattr(typed, name)
        chosen[option.name] = Path(text) if option.kind == "path" else text
    if typed.agent and not typed.workspace:
        chosen["workspace"] = None  # use the agent's workspace
    chosen |= {"env_from": None if clean else chosen["env_from"], "clean_env": clean}
    chosen["env"] = _variables(typed.variables)
    return replace(real, **chosen, supposed=frozenset(supposed))


def _variables(text: str) -> dict[str, str]:
    try:
        words = shlex.split(text)
    except ValueError:
        raise Refusal(
            "The variables contain an unclosed quote.", "Write NAME=value, separated by spaces."
        ) from None
    variables = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name or "\0" in word:
            raise Refusal(f"{word!r} is not NAME=value.", "Separate variables with spaces.")
        variables[name] = value
    return variables


def real_values(view: Snapshot, options: Options) -> WhatIfFields:
    """Return the placeholders of empty fields: the real values, as far as this view knows."""
    host = view.host
    short, supposed = host.machine.short, options.supposed
    folders = len(os.environ.get("PATH", "").split(os.pathsep))
    return WhatIfFields(
        platform=real_machine().platform,
        path=f"folders: {folders}   DIRS, or +DIRS before them",
        environment="this shell's   clean, FILE, pid:N, unit:NAME, launchd:LABEL …",
        variables="NAME=value …",
        settings="FILE" if "settings" in supposed else short(host.settings.file),
        workspace="DIR" if supposed & {"workspace", "agent"} else short(host.workspace),
        agent="from the settings",
        host="NAME, or NAME@VERSION"
        if "host" in supposed
        else f"{host.dialect.name}   {view.dialect_reason}",
    )


LONGEST_FIELD = 4_000  # characters of a field


def field_text(text: str) -> str:
    """Return a field's text on one line, without control characters."""
    return printable(text).replace("\n", "␊").replace("\t", "␉")


class WhatIfForm(Dialog[None]):
    """Passes the typed fields to `take`; `compare` and `reset` are its other actions."""

    HELP = "Assume another machine. Empty fields keep the real values. Nothing is written."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="whatif.leave", tooltip="Close the form; assumptions stay"),
        Binding("ctrl+l", "reset", "Drop all", priority=True, id="whatif.reset", tooltip="Drop assumptions"),
        Binding("ctrl+r,f5", "compare", "Compare", priority=True, id="whatif.compare",
                tooltip="Compare this machine and the what-if"),
        Binding("down", "move(1)", "Next", show=False, priority=True, id="whatif.next",
                tooltip="Apply, and go to the next field"),
        Binding("up", "move(-1)", "Previous", show=False, priority=True, id="whatif.previous",
                tooltip="Apply, and go to the previous field"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    WhatIfForm {
        align: center bottom;
        background: transparent;
        & > Vertical, &.-tall > Vertical { width: 100%; max-width: 110; padding: 0 1; }
        & Input:focus { background: $panel; }
        & #whatif-message { height: auto; max-height: 3; }
    }
    """

    def __init__(
        self,
        typed: WhatIfFields,
        real: WhatIfFields,
        known: Mapping[str, Sequence[str]],
        take: Callable[[WhatIfFields], object],
        reset: Callable[[], object],
        compare: Callable[[], object],
    ) -> None:
        """`real`: the placeholders of empty fields; `known`: suggestions for some fields."""
        super().__init__()
        self._taken, self._real, self._known = typed, real, known
        self._take, self._reset, self._compare = take, reset, compare
        self._leaving = False

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content.assemble("What if", ("   empty fields keep real values", MUTED))
            frame.border_subtitle = key_hints(
                (ENTER_KEY, "apply"),
                ("whatif.reset", "drop all"),
                ("whatif.compare", "compare"),
                ("whatif.leave", "back"),
            )
            yield LabeledForm({FIELD_TITLES[name]: self._field(name) for name in FIELD_NAMES})
            yield Static(id="whatif-message", markup=False)

    def _field(self, name: str) -> OneLineInput:
        return OneLineInput(
            field_text(getattr(self._taken, name)),
            placeholder=safe_line(getattr(self._real, name)).plain,
            suggester=SuggestFromList(self._known[name]) if name in self._known else None,
            id=f"whatif-{name}",
            compact=True,
            select_on_focus=False,
            max_length=LONGEST_FIELD,
        )

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @property
    def typed(self) -> WhatIfFields:
        """The fields as typed; an untouched field keeps its exact value."""
        return WhatIfFields(**{name: self._typed_in(name) for name in FIELD_NAMES})

    def _typed_in(self, name: str) -> str:
        taken: str = getattr(self._taken, name)
        text = self._input(name).value
        return taken if text == field_text(taken) else text.strip()

    def _input(self, name: str) -> Input:
        return self.query_one(f"#whatif-{name}", Input)

    def show(self, typed: WhatIfFields, real: WhatIfFields) -> None:
        """Show the current values, except in a field that is being edited."""
        for name in FIELD_NAMES:
            box = self._input(name)
            box.placeholder = safe_line(getattr(real, name)).plain
            if not box.has_focus or self._typed_in(name) in (
                getattr(self._taken, name),
                getattr(typed, name),
            ):
                box.value = field_text(getattr(typed, name))
        self._taken = typed

    def show_message(self, text: str, *, wrong: bool = False) -> None:
        """Show one sentence below the fields."""
        sign = "✗ " if wrong else ""
        style = "$text-error" if wrong else MUTED
        self.query_one("#whatif-message", Static).update(safe_line(f"{sign}{text}", 300).stylize(style))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._take_all()

    @on(Input.Blurred)
    def _blurred(self, event: Input.Blurred) -> None:
        event.stop()
        if not self._leaving and self.typed != self._taken:
            self._take_all()

    def _take_all(self) -> None:
        self._take(self.typed)

    def action_move(self, by: int) -> None:
        boxes = [self._input(name) for name in FIELD_NAMES]
        at = next((at for at, box in enumerate(boxes) if box.has_focus), 0)
        boxes[(at + by) % len(boxes)].focus()

    def action_reset(self) -> None:
        self._reset()

    def action_compare(self) -> None:
        self._compare()

    def action_leave(self) -> None:
        """Close the form; text that was not submitted is discarded."""
        self._leaving = True
        self.dismiss(None)
