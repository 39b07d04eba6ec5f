"""Hooks as OpenClaw 2026.9 reports them: `openclaw hooks list | check | info` (recorded in req-08)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hookscope.hosts.dialects.openclaw_2026_9_table import TableColumn, draw_table
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate, HookStatus
from hookscope.model.host import CommandFlags, Host
from hookscope.model.inventory import Inventory
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass

REQUIREMENTS = ("bins", "anyBins", "env", "config", "os")  # in the order of the documents


@dataclass(frozen=True, slots=True)
class HookReport:
    """One hook in the program's reports, built from the gates that they show."""

    status: HookStatus
    unknown_events: tuple[str, ...]

    @property
    def hook(self) -> Hook:
        return self.status.hook

    @property
    def gates(self) -> Mapping[str, Gate]:
        return {gate.name: gate for gate in self.status.verdict.gates if gate.reported}

    @property
    def missing(self) -> dict[str, list[str]]:
        return {name: list(self.gates[name].missing) for name in REQUIREMENTS}

    @property
    def enabled(self) -> bool:
        return self.gates["enabled"].passed is not False

    @property
    def satisfied(self) -> bool:
        return all(self.gates[name].passed is not False for name in REQUIREMENTS)

    @property
    def loadable(self) -> bool:
        return self.blocked_reason is None

    @property
    def blocked_reason(self) -> str | None:
        """Return the first reason that applies (req-08)."""
        if not self.enabled:
            return self.gates["enabled"].reason
        if not self.satisfied:
            return "missing requirements"
        return None if self.hook.meta.events else self.gates["events"].reason

    @property
    def missing_texts(self) -> list[str]:
        """Return a text for each kind of unmet requirement."""
        return [f"{name}: {', '.join(names)}" for name, names in self.missing.items() if names]


def hook_reports(host: Host, inventory: Inventory) -> list[HookReport]:
    """Return the hooks that the program itself sees, in its order."""
    known = host.dialect.catalogue().keys_of("folder")
    return [
        HookReport(
            inventory.status_of(hook), tuple(key for key in hook.meta.events or () if key not in known)
        )
        for hook in inventory.report_order
        if not hook.beyond_host and event_kind(hook) == "folder"
    ]


LABELS = {"bins": "Binaries", "anyBins": "Any binary", "env": "Environment", "config": "Config", "os": "OS"}
ALTERNATIVES = {"anyBins": "any of: ", "os": ""}
SEE_ALL = "Run `openclaw hooks list` to see"
COLUMNS = (
    TableColumn("Status", 10, flexible=False),
    TableColumn("Hook", 18),
    TableColumn("Description", 24),
    TableColumn("Source", 12),
    TableColumn("Missing", 18),
)


def hook_title(hook: Hook) -> str:
    """Return the name, prefixed with its emoji."""
    return f"{hook.meta.emoji} {hook.name}" if hook.meta.emoji else hook.name


def _status(report: HookReport) -> str:
    if report.loadable:
        return "✓ ready"
    if not report.enabled:
        return "disabled"
    return "✗ missing" if not report.satisfied else f"✗ {report.blocked_reason}"


def not_ready_reason(report: HookReport) -> str:
    """Return why `check` reports the hook as not ready."""
    reason = [] if report.enabled and not report.satisfied else [report.blocked_reason or ""]
    return "; ".join((*reason, *report.missing_texts))


def list_table(shown: list[HookReport], flags: CommandFlags) -> Iterator[str]:
    """Yield the text of `list`."""
    if not shown:
        yield f"No eligible hooks found. {SEE_ALL} all hooks." if flags.eligible else "No hooks found."
        return
    columns = COLUMNS if flags.verbose else COLUMNS[:-1]
    rows = [_cells(report)[: len(columns)] for report in shown]
    ready = sum(report.loadable for report in shown)
    yield f"Hooks ({ready}/{len(shown)} ready)"
    yield from draw_table(columns, rows)


def _cells(report: HookReport) -> tuple[str, ...]:
    hook = report.hook
    reason = [report.blocked_reason] if report.enabled and report.satisfied and report.blocked_reason else []
    missing = "; ".join((*reason, *report.missing_texts))
    return _status(report), hook_title(hook), hook.description, hook.folder.label, missing


def info_page(report: HookReport, host: Host) -> Iterator[str]:
    """Yield the text of `info`."""
    hook = report.hook
    reason = report.blocked_reason or ""
    status = "✓ Ready" if report.loadable else f"✗ {reason[:1].upper()}{reason[1:]}"
    yield from (f"{hook_title(hook)} {status if report.enabled else 'Disabled'}", "")
    yield from (hook.description, "")
    yield "Details:"
    yield f"  Source: {hook.folder.label}" + (f" ({hook.folder.plugin})" if hook.folder.plugin else "")
    yield f"  Path: {_from_home(hook.manifest, host)}"
    yield f"  Handler: {_from_home(hook.handler, host)}"
    if hook.meta.homepage:
        yield f"  Homepage: {hook.meta.homepage}"
    if hook.meta.events:
        yield f"  Events: {', '.join(hook.meta.events)}"
    if report.unknown_events:
        events = "Event" if len(report.unknown_events) == 1 else "Events"
        yield f"  ⚠ {events} not emitted by core (likely typo): {', '.join(report.unknown_events)}"
    if hook.folder.plugin:
        yield "  Managed by plugin; enable/disable via hooks CLI not available."
    if report.blocked_reason is not None:
        yield f"  Blocked reason: {report.blocked_reason}"
    needed = {"os": hook.meta.os} | {name: report.gates[name].needed for name in REQUIREMENTS if name != "os"}
    if any(needed.values()):
        yield from ("", "Requirements:")
    for name in REQUIREMENTS:
        if needed[name]:
            yield (
                f"  {LABELS[name]}: "
                f"{', '.join(_marked_requirements(name, needed[name], report.missing[name]))}"
            )


def _marked_requirements(name: str, needed: Sequence[str], missing: Sequence[str]) -> Iterator[str]:
    """Yield each requirement with a mark for met or unmet; alternatives in one text."""
    if name in ALTERNATIVES:
        yield f"{'✗' if missing else '✓'} ({ALTERNATIVES[name]}{', '.join(needed)})"
    else:
        yield from (f"{'✗' if item in missing else '✓'} {item}" for item in needed)


def _from_home(path: Path | None, host: Host) -> str:
    home = host.machine.home
    return (
        f"~/{path.relative_to(home)}" if path is not None and path.is_relative_to(home) else str(path or "")
    )
