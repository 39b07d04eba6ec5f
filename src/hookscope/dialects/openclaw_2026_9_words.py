"""The texts of `openclaw hooks list | check | info` of OpenClaw 2026.9, as recorded in req-08."""

from collections.abc import Iterator
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.host_command import Asked
from hookscope.dialects.openclaw_2026_9_report import REQUIREMENTS, Report

LABELS = {"bins": "Binaries", "anyBins": "Any binary", "env": "Environment", "config": "Config", "os": "OS"}
SEE_ALL = "Run `openclaw hooks list` to see"
LINE = 120  # characters, where the program has no terminal


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


def table(shown: list[Report], asked: Asked) -> Iterator[str]:
    """The text of `list`: columns as wide as their content, and what is left of the line shared out."""
    if not shown:
        yield f"No eligible hooks found. {SEE_ALL} all hooks." if asked.eligible else "No hooks found."
        return
    rows = [["Status", "Hook", "Description", "Source", *(["Missing"] if asked.verbose else [])]]
    for report in shown:
        hook = report.hook
        lacks = "; ".join(report.lacks) or ("" if hook.meta.events else report.gates["events"].reason)
        cells = [_status(report), titled(hook), hook.description, hook.folder.label]
        rows.append([" ".join(cell.split()) for cell in (*cells, *([lacks] if asked.verbose else []))])
    widths = _widths(rows)
    ready = sum(report.loadable for report in shown)
    yield f"Hooks ({ready}/{len(shown)} ready)"
    rule = ["─" * width for width in widths]
    yield f"┌{'┬'.join(rule)}┐"
    for number, row in enumerate(rows):
        cells = [f" {cell}".ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield f"│{'│'.join(cells)}│"
        if number == 0:
            yield f"├{'┼'.join(rule)}┤"
    yield f"└{'┴'.join(rule)}┘"


def _widths(rows: list[list[str]]) -> list[int]:
    least = (0, 18, 24, 0, 0)
    widths = [max(*(len(row[at]) + 2 for row in rows), least[at]) for at in range(len(rows[0]))]
    left, at = LINE - sum(widths) - len(widths) - 1, 0
    while left > 0:  # the status keeps its width
        widths[1 + at % (len(widths) - 1)] += 1
        left, at = left - 1, at + 1
    return widths


def page(report: Report, host: Host) -> Iterator[str]:
    """The text of `info`."""
    hook = report.hook
    lacking = "✗ Missing requirements" if not report.satisfied else f"✗ {report.blocked}"
    status = "✓ Ready" if report.loadable else "⏸ Disabled" if not report.enabled else lacking
    yield from (f"{titled(hook)} {status}", "")
    if hook.description:
        yield from (hook.description, "")
    yield "Details:"
    yield f"  Source: {hook.folder.label}" + (f" ({hook.folder.plugin})" if hook.folder.plugin else "")
    yield f"  Path: {_from_home(hook.manifest, host)}"
    yield f"  Handler: {_from_home(hook.handler, host)}"
    if hook.meta.homepage:
        yield f"  Homepage: {hook.meta.homepage}"
    if hook.meta.events:
        yield f"  Events: {', '.join(hook.meta.events)}"
    if report.blocked is not None:
        yield f"  Blocked reason: {report.blocked}"
    asked = {"os": hook.meta.os} | {name: report.gates[name].needed for name in REQUIREMENTS if name != "os"}
    if any(asked.values()):
        yield from ("", "Requirements:")
    for name in REQUIREMENTS:
        if asked[name]:
            marks = [f"{'✗' if item in report.missing[name] else '✓'} {item}" for item in asked[name]]
            yield f"  {LABELS[name]}: {', '.join(marks)}"


def _from_home(path: Path | None, host: Host) -> str:
    home = host.surroundings.home
    return (
        f"~/{path.relative_to(home)}" if path is not None and path.is_relative_to(home) else str(path or "")
    )
