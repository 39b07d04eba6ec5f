"""The `openclaw hooks` command of OpenClaw 2026.9 (rules-openclaw 9; req-08, cli-01 to cli-03, cfg-02)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.hosts.dialects.openclaw_2026_9_settings import agents_in
from hookscope.hosts.dialects.openclaw_table import TableColumn, draw_table
from hookscope.hosts.folders.shipped_gates import ConfigGate
from hookscope.hosts.plugins import settings_refusal
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate, HookStatus, Inventory
from hookscope.model.host import CommandFlags, CommandOutput, Host, PackMessages
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass

REPORT_ORDER = ("bins", "anyBins", "env", "config", "os")  # in the order of the documents


@dataclass(frozen=True, slots=True)
class HookReport:
    """One hook in the program's reports, built from the gates that they show."""

    status: HookStatus
    unknown_events: tuple[str, ...]
    needs_events: bool = True

    @property
    def hook(self) -> Hook:
        return self.status.hook

    @property
    def gates(self) -> Mapping[str, Gate]:
        return {gate.name: gate for gate in self.status.verdict.gates if gate.reported}

    @property
    def missing(self) -> dict[str, list[str]]:
        return {name: list(self.gates[name].missing) for name in REPORT_ORDER}

    @property
    def enabled(self) -> bool:
        return self.gates["enabled"].passed is not False

    @property
    def satisfied(self) -> bool:
        return all(self.gates[name].passed is not False for name in REPORT_ORDER)

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
        return None if self.hook.meta.events or not self.needs_events else self.gates["events"].reason

    @property
    def missing_texts(self) -> list[str]:
        """Return a text for each kind of unmet requirement."""
        return [f"{name}: {', '.join(names)}" for name, names in self.missing.items() if names]

    @property
    def missing_summary(self) -> list[str]:
        """Return `missing_texts` with at most three names of each kind."""
        return [f"{name}: {_first_three(names)}" for name, names in self.missing.items() if names]


def _first_three(names: Sequence[str]) -> str:
    hidden = len(names) - 3
    return ", ".join(names[:3]) + (f" (+{hidden})" if hidden > 0 else "")


def hook_reports(host: Host, inventory: Inventory, *, needs_events: bool = True) -> list[HookReport]:
    """Return the hooks that the program itself sees, in its order."""
    known = host.dialect.catalogue().keys_of("folder")
    return [
        HookReport(
            inventory.status_of(hook),
            tuple(key for key in hook.meta.events or () if key not in known),
            needs_events,
        )
        for hook in inventory.report_order
        if not hook.beyond_host and hook.kind != "legacy" and event_kind(hook) == "folder"
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
    needed = {"os": hook.meta.os} | {name: report.gates[name].needed for name in REPORT_ORDER if name != "os"}
    if any(needed.values()):
        yield from ("", "Requirements:")
    for name in REPORT_ORDER:
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


PACK_MESSAGES = PackMessages(
    deprecated="`openclaw hooks {verb}` is deprecated; use `openclaw plugins {verb}`.",
    unreviewed_source="WARNING - Installing plugin from local path: {spec}\n"
    "This source is outside ClawHub review and trust metadata. Only continue if you trust the publisher, "
    "package contents, and install source.",
    unconfirmed="Install cancelled; rerun with --force after reviewing the source.",
    no_such_path="Plugin path not found: {path}",
    cannot_pin="--pin is only supported with npm registry installs.",
    refused="Also not a valid hook pack: {reason}",
    refused_package="package.json missing openclaw.extensions; update the plugin package to include "
    'openclaw.extensions (for example ["./dist/index.js"]). See https://docs.openclaw.ai/help/troubleshooting'
    "#plugin-install-fails-with-missing-openclaw-extensions",
    refused_folder="extracted package missing package.json",
    installed="Installing to {target}…\nInstalled hook pack: {name}\n"
    "Hook install/link config can activate immediately in hybrid mode; code-only updates and reload mode off "
    "need a Gateway restart.",
    skipped='Skipping hook pack "{name}" (source: {source}).',
    not_installed='No tracked plugin or hook pack found for "{name}". '
    'Run "openclaw plugins list" or "openclaw hooks list" to inspect installed packages.',
    nothing_to_update="Provide plugin or hook-pack ids, or use --all.",
)


@dataclass(frozen=True, slots=True)
class RefusalFrame:
    """How an older version prints the problems of settings that it refuses."""

    title: str
    advice: tuple[str, ...]  # the lines after the problems
    detailed: bool  # False: of a schema's problem, only the path and the allowed values are printed

    def lines(self, refusal: str, file: str) -> tuple[str, ...]:
        """Return all lines that the older version prints, made from the refusal text of 2026.9."""
        head, *issues = refusal.split("\n")
        if not issues:
            syntax = "JSON5 parse failed: SyntaxError: " if head.startswith("JSON5:") else ""
            issues = [f"- <root>: {syntax}{head.split(' | ')[0]}"]
        if not self.detailed:
            issues = [
                re.sub(_SCHEMA_PROBLEM, lambda found: f": Invalid input{found['allowed'] or ''}", issue)
                for issue in issues
            ]
        return self.title, f"File: {file}", "Problem:", *(f"  {issue}" for issue in issues), "", *self.advice


_SCHEMA_PROBLEM = (
    r": (?:Invalid input: |Unrecognized key|Too small|Too big|Invalid string)"
    r".*?(?P<allowed> \((?:allowed|minimum|maximum|must be)\b.*\))?$"
)


@dataclass(frozen=True, slots=True)
class CommandRules:
    """Where the command of an older version differs."""

    needs_events: bool = True  # a hook without events is not ready
    shows_unknown_events: bool = True
    refusal: RefusalFrame | None = None  # None: as 2026.9, with a JSON document
    by_key: bool = True  # `enable` and `disable` find hooks by their settings key too
    has_agents: bool = True


@dataclass(frozen=True, slots=True)
class OpenClawCommand:
    """The program's own command. Implements `HostCommand`."""

    config: ConfigGate
    packs: PackMessages = PACK_MESSAGES
    rules: CommandRules = CommandRules()

    def refused_settings(self, host: Host) -> CommandOutput | None:
        refusal = settings_refusal(host, of_command=True)
        if not refusal:
            return self._refused_agent(host) if self.rules.has_agents else None
        if self.rules.refusal is not None:
            home, path = str(host.machine.home), str(host.settings.file)
            shown = f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path
            return CommandOutput(1, errors=self.rules.refusal.lines(refusal, shown))
        lines = refusal.split("\n")
        unread = "" if lines[1:] else f"Failed to read config at {host.settings.file}: "
        errors = (unread + lines[0], *lines[1:], f"Error: {lines[0]}", *lines[1:])
        return CommandOutput(1, _error_document(refusal), errors=errors)

    def _reports(self, host: Host, inventory: Inventory) -> list[HookReport]:
        return hook_reports(host, inventory, needs_events=self.rules.needs_events)

    def _refused_agent(self, host: Host) -> CommandOutput | None:
        """Return the output for an unknown agent. If the settings have no agents, only `main` exists."""
        agent = host.overrides.agent
        if agent is None:
            return None
        if not agent.strip():
            return _refusal("--agent must not be blank")
        agents = agents_in(host.settings.value)
        if agents.id_of(agent) in (agents.workspaces or {"main": None}):
            return None
        hint = "Run openclaw agents list to see configured agents."
        return _refusal(f'Unknown agent id "{agents.id_of(agent)}". {hint}')

    def list(self, host: Host, inventory: Inventory, flags: CommandFlags) -> CommandOutput:
        found = self._reports(host, inventory)
        shown = [report for report in found if report.loadable or not flags.eligible]
        document = {
            "workspaceDir": str(host.workspace),
            "managedHooksDir": str(host.config_folder / "hooks"),
            "hooks": [self._without_unknown_events(_listed_document(report)) for report in shown],
        }
        return CommandOutput(0, document, tuple(list_table(shown, flags)), _log_texts(inventory))

    def check(self, host: Host, inventory: Inventory, flags: CommandFlags) -> CommandOutput:
        found = self._reports(host, inventory)
        ready = [report for report in found if report.loadable]
        others = [report for report in found if not report.loadable]
        document = {
            "total": len(found),
            "eligible": len(ready),
            "notEligible": len(others),
            "hooks": {
                "eligible": [report.hook.name for report in ready],
                "notEligible": [_not_ready_document(report) for report in others],
            },
        }
        lines = ["Hooks Status", "", f"Total hooks: {len(found)}", f"Ready: {len(ready)}"]
        lines.append(f"Not ready: {len(others)}")
        if others:
            lines += ["", "Hooks not ready:"]
            lines += [f"  {hook_title(report.hook)} - {not_ready_reason(report)}" for report in others]
        return CommandOutput(0, document, tuple(lines), _log_texts(inventory))

    def info(self, host: Host, inventory: Inventory, name: str) -> CommandOutput:
        found = _find(self._reports(host, inventory), name)
        if isinstance(found, Ambiguous):
            return replace(_refusal(found), errors=(*_log_texts(inventory), f"Error: {found}"))
        if isinstance(found, HookReport):
            return CommandOutput(
                0,
                self._without_unknown_events(self._info_document(found, host)),
                tuple(info_page(found, host)),
                _log_texts(inventory),
            )
        if self.rules.refusal is not None:
            return CommandOutput(0, {"error": "not found", "hook": name}, (found,), _log_texts(inventory))
        document = {**_error_document(found.split(" Run ")[0]), "hook": name}
        return CommandOutput(1, document, errors=(*_log_texts(inventory), f"Error: {found}"))

    def to_switch(
        self, inventory: Inventory, name: str, on: bool, flags: CommandFlags
    ) -> HookStatus | CommandOutput:
        if flags.json:
            return _unknown_option("enable" if on else "disable", "--json")
        rows = [inventory.status_of(hook) for hook in inventory.report_order if not hook.beyond_host]
        rows = rows if self.rules.by_key else [row for row in rows if row.hook.name == name]
        found = _find([HookReport(row, ()) for row in rows], name)
        if isinstance(found, str):
            return _refusal(found if self.rules.by_key else found.split(". Run ")[0])
        hook = found.hook
        if hook.folder.plugin:
            reason = f'is managed by plugin "{hook.folder.plugin}" and cannot be enabled/disabled.'
            return _refusal(f'Hook "{name}" {reason}')
        if on and not found.satisfied and not self.rules.by_key:
            return _refusal(f'Hook "{name}" is not eligible (missing requirements)')
        if on and not found.satisfied:
            labels = [str(option.get("label")) for option in hook.meta.install]
            install = f" Install options: {_first_three(labels)}." if labels else ""
            hint = f"Run `openclaw hooks info {name}` for details."
            summary = "; ".join(found.missing_summary)
            return _refusal(f'Hook "{name}" is not eligible; missing {summary}.{install} {hint}')
        return found.status

    def switched(self, status: HookStatus, on: bool) -> CommandOutput:
        return CommandOutput(
            lines=(
                f"✓ Enabled hook: {hook_title(status.hook)}" if on else f"Disabled hook: {status.hook.name}",
            )
        )

    def _without_unknown_events(self, document: dict[str, Any]) -> dict[str, Any]:
        if self.rules.shows_unknown_events:
            return document
        return {name: value for name, value in document.items() if name != "unknownEvents"}

    def _info_document(self, report: HookReport, host: Host) -> dict[str, Any]:
        hook, meta = report.hook, report.hook.meta
        requires = meta.requires
        return _present_fields(
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
            unknownEvents=list(report.unknown_events),
            always=meta.always,
            enabledByConfig=report.enabled,
            requirementsSatisfied=report.satisfied,
            loadable=report.loadable,
            blockedReason=report.blocked_reason,
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


class Ambiguous(str):
    """The error for a key that several hooks have."""


def _find(found: list[HookReport], name: str) -> HookReport | str:
    """Return the hook of that name, else of that settings key; else the error."""
    named = [report for report in found if report.hook.name == name]
    keyed = named or [report for report in found if report.hook.key == name]
    if len(keyed) == 1:
        return keyed[0]
    if keyed:
        names = [f"{report.hook.name} ({report.hook.key})" for report in keyed]
        hidden = f" (+{len(names) - 5})" if len(names) > 5 else ""
        matches = ", ".join(names[:5]) + hidden
        return Ambiguous(
            f'Hook "{name}" is ambiguous; matches: {matches}. Use a unique hook name or hook key.'
        )
    return f'Hook "{name}" not found. {SEE_ALL} available hooks.'


# Documents


def _listed_document(report: HookReport) -> dict[str, Any]:
    hook = report.hook
    return _present_fields(
        name=hook.name,
        description=hook.description,
        emoji=hook.meta.emoji,
        eligible=report.loadable,
        disabled=not report.enabled,
        enabledByConfig=report.enabled,
        requirementsSatisfied=report.satisfied,
        loadable=report.loadable,
        blockedReason=report.blocked_reason,
        source=hook.folder.label,
        pluginId=hook.folder.plugin or None,
        events=list(hook.meta.events or ()),
        unknownEvents=list(report.unknown_events),
        homepage=hook.meta.homepage,
        missing=report.missing,
        managedByPlugin=bool(hook.folder.plugin),
    )


def _not_ready_document(report: HookReport) -> dict[str, Any]:
    return _present_fields(name=report.hook.name, blockedReason=report.blocked_reason, missing=report.missing)


def _present_fields(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None; absent fields are omitted, not null."""
    return {name: value for name, value in fields.items() if value is not None}


def _error_document(message: str) -> dict[str, Any]:
    return {"ok": False, "error": {"type": "cli_error", "message": message}}


def _refusal(sentence: str) -> CommandOutput:
    return CommandOutput(1, _error_document(sentence), errors=(f"Error: {sentence}",))


def _unknown_option(command: str, option: str) -> CommandOutput:
    lines = (f'OpenClaw does not recognize option "{option}".', f"Try: openclaw hooks {command} --help")
    return CommandOutput(1, _error_document("\n".join(lines)), errors=lines)


def _log_texts(inventory: Inventory) -> tuple[str, ...]:
    return tuple(line.text for line in inventory.log)
