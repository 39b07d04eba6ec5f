"""Edits of the user's files: previewed, written, remembered, and undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.settings.settings_reader import parse_settings
from hookscope.model.failure import Outdated, Refusal
from hookscope.model.hook import MAPPED_ROLE, Edit, Hook
from hookscope.model.hook_status import (
    Effect,
    HookStatus,
    Inventory,
    State,
    effects_of_change,
    gate_state,
    hook_identity,
)
from hookscope.model.host import Host, Settings
from hookscope.model.text import shell_path
from hookscope.storage.edits.atomic_files import CannotEdit, ChangeError, Stale
from hookscope.storage.edits.change import (
    Change,
    apply_change,
    change_of,
    check_links,
    is_applied,
    write_user_file,
)
from hookscope.storage.edits.masked_preview import masked_error
from hookscope.storage.edits.pending_writes import read_settled
from hookscope.storage.edits.undo import UndoStack, inverse_change
from hookscope.storage.state_files import state_folder
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

UNREADABLE_EDIT = "{} cannot be read, so its edit cannot be undone. Remove the file to hide this message."


@dataclass(frozen=True, slots=True)
class Toggle:
    """A plan to switch a hook on or off. Creating one writes nothing."""

    name: str
    on: bool
    change: Change
    after: str  # the resulting state, in words
    others: tuple[Effect, ...]
    notices: str  # when the host notices

    @property
    def needed(self) -> bool:
        """False if the settings already have the planned value."""
        return not self.change.is_noop


@dataclass(frozen=True, slots=True)
class Undoing:
    """A plan to undo a change. Creating one writes nothing."""

    change: Change
    inverse: Change  # what is written
    file_changed: bool  # the file has changed since: only this edit is reverted
    unreadable: tuple[Path, ...] = ()  # unreadable files of newer edits, skipped

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are written or removed."""
        return tuple(part.path for part in self.change.parts)

    @property
    def skipped_messages(self) -> tuple[str, ...]:
        """A message for each newer edit that cannot be read."""
        return unreadable_edits_text(self.unreadable)


class UndoBlocked(Refusal):
    """The newest edit cannot be undone. It blocks older ones until it is undone or discarded."""

    def __init__(self, what: str, next_step: str, change: Change) -> None:
        super().__init__(what, next_step)
        self.change = change


def unreadable_edits_text(unreadable: tuple[Path, ...]) -> tuple[str, ...]:
    """Return a sentence for each remembered edit that cannot be read."""
    return tuple(UNREADABLE_EDIT.format(file) for file in unreadable)


def plan_undo(change: Change) -> Undoing:
    """Return a plan to undo `change` in the current file. Raises ChangeError if the result is ambiguous."""
    if is_applied(change):
        return Undoing(change, change.undo(), file_changed=False)
    return Undoing(change, inverse_change(change), file_changed=True)


def plan_toggle(view: Snapshot, row: HookStatus, on: bool, *, as_command: bool) -> Toggle:
    """Return a plan to switch this hook. `as_command`: follow the rules of the host's own command.

    Raises Refusal if the hook has no switch, the host's command would refuse, or the settings cannot be
    edited safely; in the last case the error has the line to write by hand.
    """
    hook, host = row.hook, view.host
    switching = host.dialect.switch_rules
    if hook.folder.plugin:
        raise Refusal(
            f"{hook.name} belongs to the plugin {hook.folder.plugin} and has no switch of its own.",
            "Switch the plugin off in the settings.",
        )
    if hook.kind == "stream":
        raise Refusal(
            f"{host.dialect.product} has no switch for hooks: it runs every hook file.",
            f"Move {host.machine.short(hook.handler or hook.folder.path)} away to switch it off.",
        )
    if hook.kind not in ("folder", "plugin") or hook.role == MAPPED_ROLE:
        raise Refusal(
            f"{hook.name} is listed in {hook.folder.declared}; it has no switch.", "Remove it there."
        )
    blocked = [gate for gate in row.verdict.failed() if gate.reported and gate_state(gate) is State.BLOCKED]
    if (
        on and as_command and switching.refuses_blocked and blocked
    ):  # only gates that the host's own list shows
        reasons = ", ".join(gate.reason for gate in blocked)
        raise Refusal(
            f"{hook.name} is blocked: {reasons}.", f"`hookscope info {hook.name}` shows every check."
        )
    try:
        change = change_of(host.settings.file, list(_toggle_change(view, row, on, as_command=as_command)))
    except ChangeError as error:
        raise Refusal(f"{host.settings.file.name} cannot be edited: {error}") from None
    settings = _settings_with(view, change)
    inventory_then = _inventory_under(view, settings)

    def is_switched(other: Hook) -> bool:
        return hook_identity(other) == hook_identity(hook)

    after = next((other for other in inventory_then.hooks if is_switched(other.hook)), row)
    others = effects_of_change(view.inventory, inventory_then, is_switched)
    return Toggle(hook.name, on, change, _will_run(after, on), others, _when_noticed(host, settings))


def _toggle_change(view: Snapshot, row: HookStatus, on: bool, *, as_command: bool) -> Iterator[Edit]:
    """Yield the edits: the hook's own switch, then settings that the host's command also sets."""
    host = view.host
    by_name = as_command and host.dialect.switch_rules.by_name
    _, entry = host.hooks_setting("entries", row.hook.name if by_name else row.hook.key)
    path = (*entry, "enabled")
    if row.hook.kind == "plugin":  # its entry is elsewhere; the gate knows the path
        gate = next(gate for gate in row.verdict.gates if gate.name == "enabled")
        path = gate.setting or path
    paths = [path]
    if row.hook.kind == "folder" and on and (as_command or not row.verdict.enabled):
        paths += host.dialect.switch_rules.also_true
    for path in paths:
        dotted = ".".join(str(part) for part in path)
        yield Edit(host.settings.file, path, on, f"{dotted}: {str(on).lower()}")


def _when_noticed(host: Host, settings: Settings) -> str:
    """Return when the host notices the change: never while it refuses the settings file."""
    if settings.refusal:
        return (
            f"{host.dialect.product} rejects these settings, so none of them has effect until you fix them. "
            "`hookscope list` shows why."
        )
    return host.dialect.switch_rules.when_noticed


def _settings_with(view: Snapshot, change: Change) -> Settings:
    host = view.host
    rules, files = host.dialect.settings_rules, host.machine.files
    return parse_settings(host.settings.file, change.new or b"{}", rules, files=files, env=host.env)


def _inventory_under(view: Snapshot, settings: Settings) -> Inventory:
    host = view.host
    host_then = open_host(host.dialect, host.machine, host.overrides, trust=host.trust, settings=settings)
    return examine(discover(host_then), host_then)


def _will_run(after: HookStatus, on: bool) -> str:
    if not on:
        return "off"
    if after.state in (State.READY, State.SILENT):
        return "on"
    return f"on, but still {after.state}: {after.verdict.why()}"


FORGET_HINT = "`hookscope undo --forget` discards this edit, so that older ones can be undone"
PUT_BACK_HINT = "Restore it and undo again; or "


class Edits:
    """Writes the edits of a workbench, and remembers them for undo."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._stack = UndoStack(state_folder() / "undo")
        self._own_changes: set[object] = set()  # changes written here, as `_change_facts`

    def toggle(self, view: Snapshot, name: str, on: bool, *, as_command: bool = False) -> Toggle:
        """Return what switching a hook on or off would write, and its effects. Writes nothing.

        `as_command`: under the rules of the host's own command. Raises Refusal.
        """
        if view.host.settings.unread_reason:  # another program may be writing them: wait
            try:
                read_settled(view.host.settings.file)
            except ChangeError as error:
                raise Refusal(f"The settings cannot be edited: {error}") from None
            view = self._bench.scan()
        return plan_toggle(view, self._bench.hook(view, name), on, as_command=as_command)

    def apply(self, toggle: Toggle) -> None:
        """Write a toggle and remember how to undo it. Raises Refusal, with nothing written."""
        if toggle.needed:
            self.write(toggle.name, toggle.change)

    def write(self, subject: str, change: Change) -> None:
        """Write all files of a change, or none, as one undoable step.

        Raises Refusal; Outdated if a file has changed since the change was planned.
        """
        check_links([change], self._bench.open())
        try:
            apply_change(change)
        except Stale as error:
            raise Outdated(str(error)) from None
        except ChangeError as error:
            raise Refusal(str(error)) from None
        try:
            self._remember(change)
        except ChangeError as error:
            self._revert(change, str(error))
        self.record(subject, change)

    def _remember(self, change: Change) -> None:
        """Remember a written change for undo. Raises ChangeError."""
        self._stack.push(change)
        self._own_changes.add(_change_facts(change))

    def is_own(self, change: Change) -> bool:
        """Return whether this workbench wrote the change in this session."""
        return _change_facts(change) in self._own_changes

    def _revert(self, change: Change, why: str) -> NoReturn:
        """Revert a change that could not be remembered; raises Refusal with the result."""
        try:
            apply_change(change.undo())
        except ChangeError:
            raise Refusal(f"{change.path} was written, but `undo` cannot revert it: {why}") from None
        raise Refusal(why) from None

    def write_saved_file(self, change: Change) -> None:
        """Write a file of the user's own, such as a saved event, as an undoable step. Raises Refusal.

        The file is written even if the step cannot be remembered.
        """
        self.write_new_file(change)
        with suppress(ChangeError):
            self._remember(change)
        self.record(change.path.name, change)

    def write_new_file(self, change: Change) -> None:
        """Write a file that `undo` does not cover. Raises Refusal."""
        check_links([change], self._bench.open())
        write_user_file(change)

    def write_all(self, subject: str, changes: Sequence[Change]) -> None:
        """Write several changes, or none; each is one undoable step. Raises Refusal."""
        check_links(changes, self._bench.open())
        done: list[Change] = []
        try:
            for change in changes:
                apply_change(change)
                done.append(change)
            for change in done:
                self._remember(change)
        except ChangeError as error:
            for change in reversed(done):
                with suppress(ChangeError):  # a change that cannot be reverted stays remembered
                    apply_change(change.undo())
                    self._stack.forget(change)
            raise Refusal(str(error)) from None
        for change in done:
            self.record(subject, change)

    def pending_undo(self) -> Undoing:
        """Return what `undo` would write now. Writes nothing.

        Raises Refusal if there is nothing to undo, and UndoBlocked if the newest edit cannot be undone.
        """
        change, unreadable = self.newest()
        skipped = "".join(f"{text} " for text in unreadable_edits_text(unreadable))
        try:
            pending = plan_undo(change)
        except ChangeError as error:
            put_back = PUT_BACK_HINT if isinstance(error, CannotEdit) else ""
            raise UndoBlocked(
                f"{skipped}{masked_error(error)}", f"{put_back}{FORGET_HINT} ({change.meaning}).", change
            ) from None
        if pending.inverse.is_noop:
            what = f"{skipped}{change.path} no longer contains the last change ({change.meaning})."
            raise UndoBlocked(what, f"{FORGET_HINT}.", change)
        return replace(pending, unreadable=unreadable)

    def newest(self) -> tuple[Change, tuple[Path, ...]]:
        """Return the newest remembered edit, and newer unreadable files. Raises Refusal without an edit."""
        change, unreadable = self._stack.newest()
        if change is None:
            what = " ".join(("There is nothing to undo.", *unreadable_edits_text(unreadable)))
            raise Refusal(what, self._other_undo_hint())
        return change, unreadable

    def forget(self, change: Change) -> None:
        """Discard an edit: its files stay, and `undo` continues with the one before it. Raises Refusal."""
        try:
            self._stack.forget(change)
        except ChangeError as error:
            raise Refusal(str(error)) from None

    def _other_undo_hint(self) -> str:
        """Return how to undo changes that `undo` does not cover: an installed pack, a tap."""
        from hookscope.packs.transaction import installed_packs  # a scan needs no packs
        from hookscope.recording.installation import installed_taps_of

        host = self._bench.open()
        packs = [shell_path(record.id) for record in installed_packs(host)]
        hints = [f"`hookscope uninstall {packs[-1]}` undoes the install of that pack."] if packs else []
        hints += ["`hookscope tap remove` removes the tap."] if installed_taps_of(host) else []
        return " ".join(hints) or "Only Hookscope's own changes can be undone."

    def undo(self, pending: Undoing) -> None:
        """Write the pending undo, and forget the change. Raises Refusal, with nothing written."""
        try:
            self._stack.undo(pending.change, pending.inverse)
        except ChangeError as error:
            raise Refusal(str(error)) from None
        # another program may make an equal change later
        self._own_changes.discard(_change_facts(pending.change))
        self._bench.forget_missing_trusted(pending.change.created_folders)
        self.record("undo", pending.change)

    def record(self, subject: str, change: Change) -> None:
        """Record a change in the journal. A journal that cannot be written does not stop the change."""
        with suppress(OSError):
            import asyncio  # a scan needs no event loop

            asyncio.run(
                self._bench.run_record.journal(self._bench.open()).note(
                    "change", subject, change.meaning, detail=str(change.path)
                )
            )


def _change_facts(change: Change) -> object:
    """Return the parts of a change that survive a round trip through its file."""
    return change.meaning, tuple((part.path.name, part.old, part.new) for part in change.parts)
