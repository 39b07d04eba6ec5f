"""Copies the focused part of the screen, or writes it to a file: text, JSON, or an SVG without secrets."""

from __future__ import annotations

import os
import re
from functools import partial
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from hookscope.app.console_files import (
    JSON,
    SVG,
    TEXT,
    export_problem,
    json_file_text,
    masked_export,
    typed_path,
    write_export,
    write_run_page,
)
from hookscope.console.dialogs.base_dialogs import Question
from hookscope.console.keymap.active_keys import ENTER_KEY
from hookscope.console.panes.view_exports import (
    ViewExport,
    export_event,
    export_hook,
    export_hook_list,
    export_hosts,
    export_log,
    export_registry,
    export_run,
    file_stem,
)
from hookscope.console.state.hook_rows import matching_rows
from hookscope.console.widgets.focus_targets import pane_of, pane_to_focus
from hookscope.console.widgets.header import below_home

if TYPE_CHECKING:
    from hookscope.console.context import ConsoleContext
    from hookscope.storage.journal.redaction import Redaction


SVG_TEXT = re.compile(r"(<text\b[^>]*>)([^<]*)(</text>)")
HIDDEN_CHARACTER = "•"
SECRET_WINDOW = 8  # characters; also hides such parts of a secret, because a screen truncates and wraps


def picture_of(app: App[Any]) -> str:
    """Return the screen as SVG, with indents that every renderer keeps."""
    picture = app.export_screenshot(title="hookscope")
    return picture.replace("<text ", '<text xml:space="preserve" ')


def without_secrets(picture: str, redaction: Redaction) -> str:
    """Return the SVG with each character of a secret replaced by a dot, so that the layout stays.

    The SVG has one text element for each differently styled part of a line, in screen order.
    """
    texts = [unescape(match[2]).replace("\xa0", " ") for match in SVG_TEXT.finditer(picture)]
    whole = "".join(texts)
    hidden = bytearray(len(whole))
    veil = redaction.masker(texts, whole)
    for one in veil.find(whole):
        hidden[one.start : one.end] = b"\1" * (one.end - one.start)
    for secret in (*redaction.secrets, *veil.secrets):
        for start in range(len(secret.value) - SECRET_WINDOW + 1):
            part = secret.value[start : start + SECRET_WINDOW]
            at = whole.find(part)
            while at >= 0:
                hidden[at : at + SECRET_WINDOW] = b"\1" * SECRET_WINDOW
                at = whole.find(part, at + 1)
    if not any(hidden):
        return picture
    pieces, at, end = [], 0, 0
    for match, text in zip(SVG_TEXT.finditer(picture), texts, strict=True):
        shown = "".join(HIDDEN_CHARACTER if hidden[at + n] else char for n, char in enumerate(text))
        body = match[2] if shown == text else escape(shown, quote=False).replace(" ", "&#160;")
        pieces += [picture[end : match.start()], match[1], body, match[3]]
        at, end = at + len(text), match.end()
    return "".join([*pieces, picture[end:]])


EXPORT_GROUP = "export"
NOTHING_TO_EXPORT = "There is nothing to export yet."


class ExportController:
    """Copies and exports. Files are written in threads."""

    def __init__(self, context: ConsoleContext, app: App[Any]) -> None:
        """`app` draws the SVG."""
        self.context, self._app = context, app
        self._again: Path | None = None  # an existing file, which is replaced if it is entered again

    def shown(self) -> ViewExport | None:
        """Return the export of the focused pane; None if there is nothing to export."""
        state, panes = self.context.state, self.context.panes
        pane = pane_of(self.context.focused) or pane_to_focus(state)
        if pane == "log":
            return export_log(panes.log.entries())
        if state.view is None:
            return None
        if pane == "fire":
            return self._fire(state.view.host.dialect.name)
        if pane == "hosts":
            comparison, lines, different = panes.hosts_pane.listed
            if comparison is None:
                return None
            return export_hosts(comparison, lines, panes.hosts_pane.shown_runs, different=different)
        if pane == "keys":
            return export_registry(state.view)
        row = state.row
        if pane == "why" and row is not None:
            source = state.source if state.source and state.source.row == row.id else None
            checked = state.checked if state.checked and state.checked.row == row.id else None
            return export_hook(row, state.view, source, checked)
        rows = matching_rows(state.rows, state.filter)
        return export_hook_list(rows, state.view, state.grouping, state.filter)

    def _fire(self, dialect: str) -> ViewExport | None:
        pane = self.context.panes.fire_pane
        plan, sheet = pane.run_view.shown_plan(), pane.run_view.runs.current
        if pane.part_in_focus == "composer" and pane.event_view.event is not None:
            return export_event(pane.event_view.event)
        if sheet is None or (pane.part_in_focus == "plan" and plan is not None):
            return plan
        return export_run(sheet.number, sheet.run, pane.run_view.run_text(), dialect)

    def share(self) -> None:
        """Write the selected run of the log or of the Fire pane as one web page."""
        panes, view, bench = self.context.panes, self.context.scanned(), self.context.bench
        if view is None:
            return
        if pane_of(self.context.focused) == "log":
            number = panes.log.selected_run
        else:
            sheet = panes.fire_pane.run_view.runs.current if panes.is_created("fire_pane") else None
            number = sheet.number if sheet is not None else None
        if number is None:
            self.context.notify("Select a run first, in the log or in Fire mode.", "warning")
            return
        run = number  # it does not change while the page is written

        def written(file: Path) -> None:
            place = below_home(file, view.host.machine)
            text = f"Wrote run {run} as a web page, without secrets: {place}"
            self.context.log_line("share", text, subject=file.name, toast=text)

        self.context.bridge.ask(EXPORT_GROUP, lambda: write_run_page(bench, view, run), written)

    def ask(self) -> None:
        """Ask for a file name, and write the export."""
        shown = self.shown()
        if shown is None:
            self.context.notify(NOTHING_TO_EXPORT, "warning")
            return
        picture = picture_of(self._app)  # before the question covers it
        ending = JSON if shown.as_document is not None else TEXT
        view = self.context.state.view
        folder = view.host.machine.cwd if view is not None else Path.cwd()
        short = partial(below_home, machine=view.host.machine) if view is not None else str
        self._again = None

        def why_not(typed: str) -> str:
            file = typed_path(typed, folder)
            problem = export_problem(file)
            if not problem and file.suffix == JSON and shown.as_document is None:
                return f"There is no JSON form of {shown.what}. Use {TEXT} or {SVG}."
            if not problem and os.path.exists(file) and file != self._again:
                self._again = file
                return f"{file.name} exists. Press {ENTER_KEY} again to replace it."
            return problem

        def named(typed: str | None) -> None:
            if typed is not None:
                self._write(shown, picture, typed_path(typed, folder))

        question = Question(
            f"Export {shown.what} as",
            f"{TEXT} text   {JSON} the document   {SVG} a picture of the screen; in {short(folder)}",
            enter="write",
            why_not=why_not,
            proposed=f"{file_stem(shown.name)}{ending}",
        )
        self.context.push_dialog(question, named)

    def _write(self, shown: ViewExport, picture: str, file: Path) -> None:
        bench, replace = self.context.bench, file == self._again

        def writing() -> Path:
            redaction = bench.redaction
            text, document = masked_export(shown.text, shown.document, redaction)
            # The text may be empty, such as that of a filtered log.
            content = {TEXT: text, SVG: without_secrets(picture, redaction)}
            written = content[file.suffix] if file.suffix in content else json_file_text(document)
            return write_export(file, written, replace=replace)

        self.context.bridge.ask(EXPORT_GROUP, writing, lambda file: self._written(shown, file))

    def _written(self, shown: ViewExport, file: Path) -> None:
        text = f"Exported {shown.what} to {file}."
        self.context.log_line("export", text, subject=file.name, toast=text)
