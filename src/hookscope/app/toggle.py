"""A hook switched on or off, or a change undone, as planned: the edit and its effects. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.settings.settings_reader import parse_settings
from hookscope.model.hook import MAPPED_ROLE, Edit
from hookscope.model.hook_status import Effect, HookStatus, State, gate_state
from hookscope.model.host import Host, Settings
from hookscope.model.inventory import Inventory
from hookscope.model.refusal import Refusal
from hookscope.storage.edits.change import Change, change_of, is_applied
from hookscope.storage.edits.errors import ChangeError
from hookscope.storage.edits.undo import inverse_change
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot

UNREADABLE_EDIT = "{} cannot be read: the edit that it remembers is passed over, until that file is removed."


@dataclass(frozen=True, slots=True)
class Toggle:
    """A hook switched on or off, as planned. Making one writes nothing."""

    name: str
    on: bool
    change: Change
    after: str  # the resulting state, in words
    others: tuple[Effect, ...]
    notices: str  # when the host notices

    @property
    def needed(self) -> bool:
        """True if anything must be written: the settings may already say so."""
        return not self.change.is_noop


@dataclass(frozen=True, slots=True)
class Undoing:
    """The undo of a change, as planned. Making one writes nothing."""

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
    """The newest edit cannot be undone. It stays next until it can be, or is discarded."""

    def __init__(self, what: str, next_step: str, change: Change) -> None:
        super().__init__(what, next_step)
        self.change = change


def unreadable_edits_text(unreadable: tuple[Path, ...]) -> tuple[str, ...]:
    """Return a sentence for each remembered edit that cannot be read."""
    return tuple(UNREADABLE_EDIT.format(file) for file in unreadable)


def plan_undo(change: Change) -> Undoing:
    """Return the undo of a change in the current file. Raises ChangeError if it is not certain."""
    if is_applied(change):
        return Undoing(change, change.undo(), file_changed=False)
    return Undoing(change, inverse_change(change), file_changed=True)


def plan_toggle(view: Snapshot, row: HookStatus, on: bool, *, as_command: bool) -> Toggle:
    """Return what switching this hook takes. `as_command`: under the rules of the host's own command.

    Raises Refusal if the hook has no switch, the command would refuse, or the settings cannot be edited
    with certainty; the error then names the line to write by hand.
    """
    hook, host = row.hook, view.host
    switching = host.dialect.switch_rules
    if hook.folder.plugin:
        raise Refusal(
            f"{hook.name} comes with the plugin {hook.folder.plugin}; it has no switch.",
            "Switch the plugin off in the settings.",
        )
    if hook.kind == "stream":
        raise Refusal(
            f"{host.dialect.product} has no switch for hooks: a file that is there is one.",
            f"Move {host.machine.short(hook.handler or hook.folder.path)} away to switch it off.",
        )
    if hook.kind not in ("folder", "plugin") or hook.role == MAPPED_ROLE:
        raise Refusal(
            f"{hook.name} is listed in {hook.folder.declared}; it has no switch.", "Take it out there."
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
    after = next((other for other in inventory_then.hooks if _same_hook(other, row)), row)
    others = tuple(_effects(view, inventory_then, row))
    return Toggle(hook.name, on, change, _will_run(after, on), others, _when_noticed(host, settings))


def _toggle_change(view: Snapshot, row: HookStatus, on: bool, *, as_command: bool) -> Iterator[Edit]:
    """Yield the edits: the existing entry or the host's default place, then what the command sets too."""
    host = view.host
    _, entry = host.hooks_setting("entries", row.hook.key)
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
            f"{host.dialect.product} refuses these settings, so nothing in them counts until that is mended: "
            "`hookscope list` says why."
        )
    return host.dialect.switch_rules.when_noticed


def _settings_with(view: Snapshot, change: Change) -> Settings:
    """Return the settings with the change applied."""
    host = view.host
    rules, files = host.dialect.settings_rules, host.machine.files
    return parse_settings(host.settings.file, change.new or b"{}", rules, files=files, env=host.env)


def _inventory_under(view: Snapshot, settings: Settings) -> Inventory:
    """Return the inventory under these settings."""
    host = view.host
    host_then = open_host(host.dialect, host.machine, host.overrides, trust=host.trust, settings=settings)
    return examine(discover(host_then), host_then)


def _identity(row: HookStatus) -> tuple[Path | None, str, str]:
    return row.hook.path, row.hook.name, row.hook.kind


def _same_hook(one: HookStatus, other: HookStatus) -> bool:
    return _identity(one) == _identity(other)


def _effects(view: Snapshot, after_toggle: Inventory, row: HookStatus) -> Iterator[Effect]:
    rows = {_identity(other): other for other in reversed(after_toggle.hooks)}  # the first of equal rows wins
    for before in view.inventory.hooks:
        after = rows.get(_identity(before))
        if after is not None and not _same_hook(before, row) and after.state is not before.state:
            yield Effect(before.hook.name, before.hook.folder.source, before.state, after.state)


def _will_run(after: HookStatus, on: bool) -> str:
    if not on:
        return "off"
    if after.state in (State.READY, State.SILENT):
        return "on"
    return f"on, but still {after.state}: {after.verdict.why()}"
