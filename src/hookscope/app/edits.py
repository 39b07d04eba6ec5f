"""Edits of the user's files: shown before they are written, remembered, and undone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from hookscope.app.toggle import (
    Toggle,
    UndoBlocked,
    Undoing,
    plan_toggle,
    plan_undo,
    unreadable_edits_text,
)
from hookscope.model.refusal import Outdated, Refusal
from hookscope.model.text import error_reason, shell_path
from hookscope.storage.edits.change import Change, apply_change
from hookscope.storage.edits.errors import CannotEdit, ChangeError, Stale
from hookscope.storage.edits.masked_preview import masked_error
from hookscope.storage.edits.pending_writes import read_settled
from hookscope.storage.edits.undo import UndoStack
from hookscope.storage.edits.user_files import user_files_lock, write_user_file
from hookscope.storage.state_files import state_folder

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

FORGET_HINT = "`hookscope undo --forget` gives it up, and the one before it is next"
PUT_BACK_HINT = "Put it back as it was and undo again; or "


class Edits:
    """What a workbench writes, and remembers so that it can be undone."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._stack = UndoStack(state_folder() / "undo")
        self._made: set[object] = set()  # what was written here, as `_facts` has it

    def toggle(self, view: Snapshot, name: str, on: bool, *, as_command: bool = False) -> Toggle:
        """What switching a hook on or off would write, and what else that changes. Writes nothing.

        `as_command`: under the rules of the host's own command. Raises Refusal.
        """
        if view.host.settings.unread:  # perhaps another program was writing them: they are waited for
            try:
                read_settled(view.host.settings.file)
            except ChangeError as error:
                raise Refusal(f"The settings cannot be edited: {error}") from None
            view = self._bench.look()
        return plan_toggle(view, self._bench.hook(view, name), on, as_command=as_command)

    def apply(self, toggle: Toggle) -> None:
        """Write it, and remember how to take it back. Raises Refusal; then nothing was written."""
        if toggle.needed:
            self.write(toggle.name, toggle.change)

    def write(self, subject: str, change: Change) -> None:
        """Write all files of a change, or none, as one step to take back.

        Raises Refusal: Outdated, where a file has changed since the change was made.
        """
        lock = self._lock_of(change)
        try:
            apply_change(change, lock=lock)
        except Stale as error:
            raise Outdated(str(error)) from None
        except ChangeError as error:
            raise Refusal(str(error)) from None
        try:
            self._remember(change)
        except ChangeError as error:
            self._take_back(change, lock, str(error))
        self.note(subject, change)

    def _remember(self, change: Change) -> None:
        """Raises ChangeError."""
        self._stack.push(change)
        self._made.add(_change_facts(change))

    def made_here(self, change: Change) -> bool:
        """Was it written by this workbench, and not by another program or at another time."""
        return _change_facts(change) in self._made

    def _take_back(self, change: Change, lock: Path | None, why: str) -> NoReturn:
        """What was written and cannot be remembered: raises Refusal, with what is so now."""
        try:
            apply_change(change.undo(), lock=lock)
        except ChangeError:
            raise Refusal(f"{change.path} is written, and `undo` will not know of it: {why}") from None
        raise Refusal(why) from None

    def keep(self, change: Change) -> None:
        """Write a file of its user's own, such as a saved event, as a step to take back. Raises Refusal.

        It is written all the same where nothing can be remembered.
        """
        write_user_file(change)
        with suppress(ChangeError):
            self._remember(change)
        self.note(change.path.name, change)

    def write_all(self, subject: str, changes: Sequence[Change]) -> None:
        """Write several changes, or none; each is one step to undo. Raises Refusal."""
        done: list[Change] = []
        try:
            for change in changes:
                apply_change(change, lock=self._lock_of(change))
                done.append(change)
            for change in done:
                self._remember(change)
        except ChangeError as error:
            for change in reversed(done):
                with suppress(ChangeError):  # a change that cannot be undone stays on record
                    apply_change(change.undo(), lock=self._lock_of(change))
                    self._stack.forget(change)
            raise Refusal(str(error)) from None
        for change in done:
            self.note(subject, change)

    def undoing(self) -> Undoing:
        """What `undo` would write now. Writes nothing.

        Raises Refusal where there is nothing to undo; Stuck, where the newest edit cannot be taken back.
        """
        change, unreadable = self.last()
        over = "".join(f"{text} " for text in unreadable_edits_text(unreadable))
        try:
            undoing = plan_undo(change)
        except ChangeError as error:
            put_back = PUT_BACK_HINT if isinstance(error, CannotEdit) else ""
            raise UndoBlocked(
                f"{over}{masked_error(error)}", f"{put_back}{FORGET_HINT} ({change.meaning}).", change
            ) from None
        if undoing.back.idle:
            what = f"{over}Nothing of the last change ({change.meaning}) is left in {change.path}."
            raise UndoBlocked(what, f"{FORGET_HINT}.", change)
        return replace(undoing, unreadable=unreadable)

    def last(self) -> tuple[Change, tuple[Path, ...]]:
        """The newest edit that is remembered, and the files of newer ones that cannot be read.

        Raises Refusal where there is none.
        """
        change, unreadable = self._stack.newest()
        if change is None:
            what = " ".join(("There is nothing to undo.", *unreadable_edits_text(unreadable)))
            raise Refusal(what, self._instead())
        return change, unreadable

    def forget(self, change: Change) -> None:
        """Give an edit up: its files stay as they are, and `undo` goes on with the one before it.

        Raises Refusal.
        """
        try:
            self._stack.forget(change)
        except ChangeError as error:
            raise Refusal(str(error)) from None

    def _instead(self) -> str:
        """What takes back what is no edit of one file."""
        from hookscope.packs.transaction import installed_packs  # here: a look asks for no packs
        from hookscope.recording.installation import installed_taps_of

        host = self._bench.open()
        packs = [shell_path(record.id) for record in installed_packs(host)]
        taken = [f"`hookscope uninstall {packs[-1]}` takes back the install of that pack."] if packs else []
        taken += ["`hookscope tap remove` takes back the tap."] if installed_taps_of(host) else []
        return " ".join(taken) or "Only what Hookscope itself changed can be taken back."

    def undo(self, undoing: Undoing) -> None:
        """Write what `undoing` showed, and forget the change. Raises Refusal; then nothing was written."""
        try:
            self._stack.undo(undoing.change, undoing.back, self._lock_of(undoing.back))
        except ChangeError as error:
            raise Refusal(str(error)) from None
        self._made.discard(_change_facts(undoing.change))  # the same, done again, may be somebody else's
        self._bench.distrust_gone(undoing.change.made)
        self.note("undo", undoing.change)

    def _lock_of(self, change: Change) -> Path | None:
        """Beside a settings file, where others of our processes look for it; beside users' own files none."""
        if change.path == self._bench.open().settings.file.absolute():
            return None
        try:
            state_folder().mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Refusal(
                f"{state_folder()} cannot be made: {error_reason(error)}. Nothing was written.",
                "HOOKSCOPE_STATE_DIR names another folder.",
            ) from None
        return user_files_lock()

    def note(self, subject: str, change: Change) -> None:
        """On record, unless the journal cannot be written: the change is made all the same."""
        with suppress(OSError):
            import asyncio  # here, and below: a look needs no event loop

            asyncio.run(
                self._bench.record.journal(self._bench.open()).note(
                    "change", subject, change.meaning, detail=str(change.path)
                )
            )


def _change_facts(change: Change) -> object:
    """What a change still has once it was read from disk."""
    return change.meaning, tuple((part.path.name, part.old, part.new) for part in change.parts)
