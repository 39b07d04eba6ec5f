"""Copies what the focus is on, and writes it to a file whose name is asked for."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.console.export.picture import picture_of, without_secrets
from hookscope.console.export.shown import (
    Shown,
    shown_event,
    shown_hook,
    shown_hosts,
    shown_list,
    shown_log,
    shown_registry,
    shown_run,
    stem,
)
from hookscope.console.focus import pane_of, pane_wanted
from hookscope.console.header import below_home
from hookscope.console.hooks.rows import matching
from hookscope.console.keymap.hints import ENTER
from hookscope.console.log.pane import LogPane
from hookscope.console.messages import Said, Severity
from hookscope.console.question import Question
from hookscope.workbench.exporting import (
    JSON,
    PICTURE,
    TEXT,
    as_json,
    export_place,
    masked,
    why_not_there,
    write_export,
)

if TYPE_CHECKING:
    from hookscope.console.shell import Shell

ROOM = "export"
NOTHING = "There is nothing here to export yet."


class ExportDesk:
    """Files are written in threads."""

    def __init__(self, screen: Shell) -> None:
        self.screen = screen
        self._again: Path | None = None  # a file that may be replaced, if named again

    def shown(self) -> Shown | None:
        """What the focus is on; None where there is nothing."""
        state, screen = self.screen.state, self.screen
        pane = pane_of(screen.focused) or pane_wanted(state)
        if pane == "log":
            return shown_log(screen.query_one(LogPane).entries())
        if state.view is None:
            return None
        if pane == "fire":
            return self._fire(state.view.host.dialect.name)
        if pane == "hosts":
            comparison, lines, different = screen.hosts_pane.listed
            if comparison is None:
                return None
            return shown_hosts(comparison, lines, screen.hosts_pane.shown_runs, different=different)
        if pane == "keys":
            return shown_registry(state.view)
        row = state.row
        if pane == "why" and row is not None:
            source = state.source if state.source and state.source.row == row.id else None
            checked = state.checked if state.checked and state.checked.row == row.id else None
            return shown_hook(row, state.view, source, checked)
        rows = matching(state.rows, state.filter)
        return shown_list(rows, state.view, state.grouping, state.filter)

    def _fire(self, dialect: str) -> Shown | None:
        pane = self.screen.fire_pane
        plan, sheet = pane.shown_plan(), pane.runs.current
        if pane.part_in_focus == "composer" and pane.event is not None:
            return shown_event(pane.event)
        if sheet is None or (pane.part_in_focus == "plan" and plan is not None):
            return plan
        return shown_run(sheet.number, sheet.run, pane.run_text(), dialect)

    def ask(self) -> None:
        """Ask for the file, and write it."""
        shown = self.shown()
        if shown is None:
            self._say(NOTHING, "warning")
            return
        picture = picture_of(self.screen.app)  # before the question covers it
        ending = JSON if shown.as_document is not None else TEXT
        view = self.screen.state.view
        folder = view.host.surroundings.cwd if view is not None else Path.cwd()
        short = partial(below_home, surroundings=view.host.surroundings) if view is not None else str
        self._again = None

        def why_not(typed: str) -> str:
            file = export_place(typed, folder)
            problem = why_not_there(file)
            if not problem and file.suffix == JSON and shown.as_document is None:
                return f"The {shown.what} has no JSON: {TEXT} or {PICTURE}."
            if not problem and os.path.exists(file) and file != self._again:
                self._again = file
                return f"There is {file.name} already: {ENTER} again replaces it."
            return problem

        def named(typed: str | None) -> None:
            if typed is not None:
                self._write(shown, picture, export_place(typed, folder))

        question = Question(
            f"Export the {shown.what} as",
            f"{TEXT} text   {JSON} the document   {PICTURE} a picture of the screen; in {short(folder)}",
            enter="write",
            why_not=why_not,
            proposed=f"{stem(shown.name)}{ending}",
        )
        self.screen.app.push_screen(question, named)

    def _write(self, shown: Shown, picture: str, file: Path) -> None:
        bench, replace = self.screen.bridge.bench, file == self._again

        def writing() -> Path:
            redaction = bench.redaction
            text, document = masked(shown.text, shown.document, redaction)
            # A text may be empty: of a log that is filtered so.
            content = {TEXT: text, PICTURE: without_secrets(picture, redaction)}
            written = content[file.suffix] if file.suffix in content else as_json(document)
            return write_export(file, written, replace=replace)

        self.screen.bridge.ask(ROOM, writing, lambda file: self._written(shown, file))

    def _written(self, shown: Shown, file: Path) -> None:
        self.screen.log_line("export", f"the {shown.what} is in {file}", subject=file.name)
        self._say(f"The {shown.what} is in {file}.")

    def _say(self, text: str, severity: Severity = "information") -> None:
        self.screen.post_message(Said(text, severity))
