"""The texts of `openclaw hooks list | check | info` of OpenClaw 2026.9, as recorded in req-08."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.host_command import Flags
from hookscope.dialects.openclaw_2026_9_report import REQUIREMENTS, Report
from hookscope.dialects.openclaw_2026_9_table import Column, drawn

LABELS = {"bins": "Binaries", "anyBins": "Any binary", "env": "Environment", "config": "Config", "os": "OS"}
ALTERNATIVES = {"anyBins": "any of: ", "os": ""}
SEE_ALL = "Run `openclaw hooks list` to see"
COLUMNS = (
    Column("Status", 10, flexible=False),
    Column("Hook", 18),
    Column("Description", 24),
    Column("Source", 12),
    Column("Missing", 18),
)


def titled(hook: Hook) -> str:
    """The name behind its emoji."""
    return f"{hook.meta.emoji} {hook.name}" if hook.meta.emoji else hook.name


def _status(report: Report) -> str:
    if report.loadable:
        return "✓ ready"
    if not report.enabled:
        return "disabled"
    return "✗ missing" if not report.satisfied else f"✗ {report.blocked}"


def why_not(report: Report) -> str:
    """What `check` says of a hook that is not ready."""
    reason = [] if report.enabled and not report.satisfied else [report.blocked or ""]
    return "; ".join((*reason, *report.lacks))


def table(shown: list[Report], asked: Flags) -> Iterator[str]:
    """The text of `list`."""
    if not shown:
        yield f"No eligible hooks found. {SEE_ALL} all hooks." if asked.eligible else "No hooks found."
        return
    columns = COLUMNS if asked.verbose else COLUMNS[:-1]
    rows = [_cells(report)[: len(columns)] for report in shown]
    ready = sum(report.loadable for report in shown)
    yield f"Hooks ({ready}/{len(shown)} ready)"
    yield from drawn(columns, rows)


def _cells(report: Report) -> tuple[str, ...]:
    hook = report.hook
    reason = [report.blocked] if report.enabled and report.satisfied and report.blocked else []
    lacks = "; ".join((*reason, *report.lacks))
    return _status(report), titled(hook), hook.description, hook.folder.label, lacks


def page(report: Report, host: Host) -> Iterator[str]:
    """The text of `info`."""
    hook = report.hook
    reason = report.blocked or ""
    status = "✓ Ready" if report.loadable else f"✗ {reason[:1].upper()}{reason[1:]}"
    yield from (f"{titled(hook)} {status if report.enabled else 'Disabled'}", "")
    yield from (hook.description, "")
    yield "Details:"
    yield f"  Source: {hook.folder.label}" + (f" ({hook.folder.plugin})" if hook.folder.plugin else "")
    yield f"  Path: {_from_home(hook.manifest, host)}"
    yield f"  Handler: {_from_home(hook.handler, host)}"
    if hook.meta.homepage:
        yield f"  Homepage: {hook.meta.homepage}"
    if hook.meta.events:
        yield f"  Events: {', '.join(hook.meta.events)}"
    if report.unknown:
        events = "Event" if len(report.unknown) == 1 else "Events"
        yield f"  ⚠ {events} not emitted by core (likely typo): {', '.join(report.unknown)}"
    if hook.folder.plugin:
        yield "  Managed by plugin; enable/disable via hooks CLI not available."
    if report.blocked is not None:
        yield f"  Blocked reason: {report.blocked}"
    asked = {"os": hook.meta.os} | {name: report.gates[name].needed for name in REQUIREMENTS if name != "os"}
    if any(asked.values()):
        yield from ("", "Requirements:")
    for name in REQUIREMENTS:
        if asked[name]:
            yield f"  {LABELS[name]}: {', '.join(_marked(name, asked[name], report.missing[name]))}"


def _marked(name: str, asked: Sequence[str], missing: Sequence[str]) -> Iterator[str]:
    """What is asked for, and whether it is there; of alternatives all together."""
    if name in ALTERNATIVES:
        yield f"{'✗' if missing else '✓'} ({ALTERNATIVES[name]}{', '.join(asked)})"
    else:
        yield from (f"{'✗' if item in missing else '✓'} {item}" for item in asked)


def _from_home(path: Path | None, host: Host) -> str:
    home = host.surroundings.home
    return (
        f"~/{path.relative_to(home)}" if path is not None and path.is_relative_to(home) else str(path or "")
    )
