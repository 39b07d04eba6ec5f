"""`openclaw hooks list | info | check | enable | disable` of OpenClaw 2026.9: documents, exit codes, words.

Source: rules-openclaw section 9; words as recorded in req-08, cli-01 and cfg-02. Tables are as wide as
their content, where the program fills a terminal.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.hooks import Gate, Hook, Inventory, Standing
from hookscope.core.host_command import Asked, Said
from hookscope.systems.folders.shipped_gates import Config

REQUIREMENTS = ("bins", "anyBins", "env", "config", "os")  # in the order of the documents
LABELS = {"bins": "Binaries", "anyBins": "Any binary", "env": "Environment", "config": "Config", "os": "OS"}
SEE_ALL = "Run `openclaw hooks list` to see"


@dataclass(frozen=True, slots=True)
class Report:
    """One hook as the program's reports have it: from the gates that they show."""

    row: Standing
    unknown: tuple[str, ...]

    @property
    def hook(self) -> Hook:
        return self.row.hook

    @property
    def gates(self) -> Mapping[str, Gate]:
        return {gate.name: gate for gate in self.row.verdict.gates if gate.reported}

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
        return self.blocked is None

    @property
    def blocked(self) -> str | None:
        """The first reason that applies (req-08)."""
        if not self.enabled:
            return self.gates["enabled"].reason
        if not self.satisfied:
            return "missing requirements"
        return None if self.hook.meta.events else self.gates["events"].reason

    @property
    def lacks(self) -> list[str]:
        """Each kind of requirement that is not met, in words."""
        return [f"{name}: {', '.join(names)}" for name, names in self.missing.items() if names]


def reports(host: Host, inventory: Inventory) -> list[Report]:
    """The hooks that the program itself sees, in its order."""
    known = host.dialect.catalogue().by_key
    return [
        Report(inventory.standing(hook), tuple(key for key in hook.meta.events or () if key not in known))
        for hook in inventory.report_order
        if not hook.beyond_host
    ]


@dataclass(frozen=True, slots=True)
class Command:
    """The program's own command. Implements core's HostCommand."""

    config: Config

    def refused(self, host: Host) -> Said | None:
        refusal = host.settings.refusal
        if not refusal:
            return None
        lines = refusal.split("\n")
        return Said(1, _error(refusal), errors=(*lines, f"Error: {lines[0]}", *lines[1:]))

    def list(self, host: Host, inventory: Inventory, asked: Asked) -> Said:
        found = reports(host, inventory)
        shown = [report for report in found if report.loadable or not asked.eligible]
        document = {
            "workspaceDir": str(host.workspace),
            "managedHooksDir": str(host.state / "hooks"),
            "hooks": [_listed(report) for report in shown],
        }
        return Said(0, document, tuple(_table(shown, asked)), _log(inventory))

    def check(self, host: Host, inventory: Inventory, asked: Asked) -> Said:
        found = reports(host, inventory)
        ready = [report for report in found if report.loadable]
        others = [report for report in found if not report.loadable]
        document = {
            "total": len(found),
            "eligible": len(ready),
            "notEligible": len(others),
            "hooks": {
                "eligible": [report.hook.name for report in ready],
                "notEligible": [_not_ready(report) for report in others],
            },
        }
        lines = ["Hooks Status", "", f"Total hooks: {len(found)}", f"Ready: {len(ready)}"]
        lines.append(f"Not ready: {len(others)}")
        if others:
            lines += ["", "Hooks not ready:"]
            lines += [f"  {_titled(report.hook)} - {_why_not(report)}" for report in others]
        return Said(0, document, tuple(lines), _log(inventory))

    def info(self, host: Host, inventory: Inventory, name: str) -> Said:
        found = _find(reports(host, inventory), name)
        if isinstance(found, Report):
            return Said(0, self._described(found, host), tuple(_page(found, host)), _log(inventory))
        document = {**_error(found.split(" Run ")[0]), "hook": name}
        return Said(1, document, errors=(*_log(inventory), f"Error: {found}"))

    def to_switch(self, inventory: Inventory, name: str, on: bool) -> Standing | Said:
        rows = [inventory.standing(hook) for hook in inventory.report_order if not hook.beyond_host]
        found = _find([Report(row, ()) for row in rows], name)
        if isinstance(found, str):
            return _refusal(found)
        hook = found.hook
        if hook.folder.plugin:
            by = f'is managed by plugin "{hook.folder.plugin}" and cannot be enabled/disabled.'
            return _refusal(f'Hook "{hook.name}" {by}')
        if on and not found.satisfied:
            lacks = "; ".join(f"missing {words}" for words in found.lacks)
            then = f"Run `openclaw hooks info {hook.name}` for details."
            return _refusal(f'Hook "{hook.name}" is not eligible; {lacks}. {then}')
        return found.row

    def switched(self, row: Standing, on: bool) -> Said:
        return Said(
            lines=(f"✓ Enabled hook: {_titled(row.hook)}" if on else f"Disabled hook: {row.hook.name}",)
        )

    def _described(self, report: Report, host: Host) -> dict[str, Any]:
        """The document of `info`."""
        hook, meta = report.hook, report.hook.meta
        requires = meta.requires
        return _present(
            name=hook.name,
            description=hook.description,
            source=hook.folder.label,
            pluginId=hook.folder.plugin or None,
            filePath=str(hook.manifest),
            baseDir=str(hook.real),
            handlerPath=str(hook.handler),
            hookKey=hook.key,
            emoji=meta.emoji,
            homepage=meta.homepage,
            events=list(meta.events or ()),
            unknownEvents=list(report.unknown),
            always=meta.always,
            enabledByConfig=report.enabled,
            requirementsSatisfied=report.satisfied,
            loadable=report.loadable,
            blockedReason=report.blocked,
            managedByPlugin=bool(hook.folder.plugin),
            requirements={
                "bins": list(requires.bins),
                "anyBins": list(requires.any_bins),
                "env": list(requires.env),
                "config": list(requires.config),
                "os": list(meta.os),
            },
            missing=report.missing,
            configChecks=[
                {"path": path, "satisfied": self.config.satisfied(path, host)} for path in requires.config
            ],
            install=[dict(item) for item in meta.install],
            eligible=report.loadable,
            disabled=not report.enabled,
        )


def _find(found: list[Report], name: str) -> Report | str:
    """The hook of that name, else the one of that settings key; else why there is none."""
    named = [report for report in found if report.hook.name == name]
    keyed = named or [report for report in found if report.hook.key == name]
    if len(keyed) == 1:
        return keyed[0]
    if keyed:
        names = ", ".join(report.hook.name for report in keyed)
        return f'Hook "{name}" is ambiguous: {names}. {SEE_ALL} available hooks.'
    return f'Hook "{name}" not found. {SEE_ALL} available hooks.'


# Documents


def _listed(report: Report) -> dict[str, Any]:
    hook = report.hook
    return _present(
        name=hook.name,
        description=hook.description,
        emoji=hook.meta.emoji,
        eligible=report.loadable,
        disabled=not report.enabled,
        enabledByConfig=report.enabled,
        requirementsSatisfied=report.satisfied,
        loadable=report.loadable,
        blockedReason=report.blocked,
        source=hook.folder.label,
        pluginId=hook.folder.plugin or None,
        events=list(hook.meta.events or ()),
        unknownEvents=list(report.unknown),
        homepage=hook.meta.homepage,
        missing=report.missing,
        managedByPlugin=bool(hook.folder.plugin),
    )


def _not_ready(report: Report) -> dict[str, Any]:
    return _present(name=report.hook.name, blockedReason=report.blocked, missing=report.missing)


def _present(**fields: Any) -> dict[str, Any]:
    """A field that is not there is left out, not null."""
    return {name: value for name, value in fields.items() if value is not None}


def _error(message: str) -> dict[str, Any]:
    return {"ok": False, "error": {"type": "cli_error", "message": message}}


def _refusal(sentence: str) -> Said:
    return Said(1, _error(sentence), errors=(f"Error: {sentence}",))


# Words


def _log(inventory: Inventory) -> tuple[str, ...]:
    return tuple(line.text for line in inventory.log)


def _titled(hook: Hook) -> str:
    return f"{hook.meta.emoji} {hook.name}" if hook.meta.emoji else hook.name


def _status(report: Report) -> str:
    if report.loadable:
        return "✓ ready"
    if not report.enabled:
        return "disabled"
    return "✗ missing" if not report.satisfied else f"✗ {report.blocked}"


def _why_not(report: Report) -> str:
    """What `check` says of a hook that is not ready."""
    reason = [] if report.enabled and not report.satisfied else [report.blocked or ""]
    return "; ".join((*reason, *report.lacks))


def _table(shown: list[Report], asked: Asked) -> Iterator[str]:
    if not shown:
        yield f"No eligible hooks found. {SEE_ALL} all hooks." if asked.eligible else "No hooks found."
        return
    head = ["Status", "Hook", "Description", "Source", *(["Missing"] if asked.verbose else [])]
    rows = [head]
    for report in shown:
        hook = report.hook
        lacks = "; ".join(report.lacks) or ("" if hook.meta.events else report.gates["events"].reason)
        cells = [_status(report), _titled(hook), hook.description, hook.folder.label]
        rows.append([" ".join(cell.split()) for cell in (*cells, *([lacks] if asked.verbose else []))])
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    ready = sum(report.loadable for report in shown)
    yield f"Hooks ({ready}/{len(shown)} ready)"
    for number, row in enumerate(rows):
        yield " │ ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        if number == 0:
            yield "─┼─".join("─" * width for width in widths)


def _page(report: Report, host: Host) -> Iterator[str]:
    """The text of `info`."""
    hook = report.hook
    lacking = "✗ Missing requirements" if not report.satisfied else f"✗ {report.blocked}"
    status = "✓ Ready" if report.loadable else "⏸ Disabled" if not report.enabled else lacking
    yield from (f"{_titled(hook)} {status}", "")
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
