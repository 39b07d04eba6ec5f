"""The `openclaw hooks` command of OpenClaw 2026.9 (rules-openclaw 9; req-08, cli-01 to cli-03, cfg-02)."""

from __future__ import annotations

from typing import Any

from hookscope.hosts.dialects.openclaw_2026_9_report import (
    SEE_ALL,
    HookReport,
    hook_reports,
    hook_title,
    info_page,
    list_table,
    not_ready_reason,
)
from hookscope.hosts.folders.shipped_gates import ConfigGate
from hookscope.model.hook_status import HookStatus
from hookscope.model.host import CommandFlags, CommandOutput, Host
from hookscope.model.inventory import Inventory
from hookscope.values import dataclass

NO_EXTENSIONS = (
    "package.json missing openclaw.extensions; update the plugin package to include openclaw.extensions "
    '(for example ["./dist/index.js"]). See https://docs.openclaw.ai/help/troubleshooting'
    "#plugin-install-fails-with-missing-openclaw-extensions"
)


@dataclass(frozen=True, slots=True)
class PackTexts:
    """Implements `PackMessages`."""

    def deprecation_notice(self, verb: str) -> tuple[str, ...]:
        return (f"`openclaw hooks {verb}` is deprecated; use `openclaw plugins {verb}`.",)

    def source_warning(self, spec: str) -> tuple[str, ...]:
        return (
            f"WARNING - Installing plugin from local path: {spec}",
            "This source is outside ClawHub review and trust metadata. Only continue if you trust the "
            "publisher, package contents, and install source.",
        )

    def confirmation_required(self) -> CommandOutput:
        return CommandOutput(1, errors=("Install cancelled; rerun with --force after reviewing the source.",))

    def path_not_found(self, path: str) -> CommandOutput:
        return CommandOutput(1, errors=(f"Plugin path not found: {path}",))

    def pin_not_supported(self) -> CommandOutput:
        return CommandOutput(1, errors=("--pin is only supported with npm registry installs.",))

    def invalid_source(self, reason: str, *, packaged: bool) -> CommandOutput:
        first = NO_EXTENSIONS if packaged else "extracted package missing package.json"
        return CommandOutput(1, errors=(first, f"Also not a valid hook pack: {reason}"))

    def installed(self, name: str, target: str) -> tuple[str, ...]:
        return (
            f"Installing to {target}…",
            f"Installed hook pack: {name}",
            "Hook install/link config can activate immediately in hybrid mode; code-only updates and reload "
            "mode off need a Gateway restart.",
        )

    def skipped(self, name: str, source: str) -> str:
        return f'Skipping hook pack "{name}" (source: {source}).'

    def not_installed(self, name: str) -> CommandOutput:
        hint = 'Run "openclaw plugins list" or "openclaw hooks list" to inspect installed packages.'
        return CommandOutput(1, errors=(f'No tracked plugin or hook pack found for "{name}". {hint}',))

    def nothing_to_update(self) -> CommandOutput:
        return CommandOutput(1, errors=("Provide plugin or hook-pack ids, or use --all.",))


@dataclass(frozen=True, slots=True)
class OpenClawCommand:
    """The program's own command. Implements `HostCommand`."""

    config: ConfigGate
    packs: PackTexts = PackTexts()

    def refused_settings(self, host: Host) -> CommandOutput | None:
        refusal = host.settings.refusal
        if not refusal:
            return None
        lines = refusal.split("\n")
        return CommandOutput(1, _error_document(refusal), errors=(*lines, f"Error: {lines[0]}", *lines[1:]))

    def list(self, host: Host, inventory: Inventory, flags: CommandFlags) -> CommandOutput:
        found = hook_reports(host, inventory)
        shown = [report for report in found if report.loadable or not flags.eligible]
        document = {
            "workspaceDir": str(host.workspace),
            "managedHooksDir": str(host.state / "hooks"),
            "hooks": [_listed_document(report) for report in shown],
        }
        return CommandOutput(0, document, tuple(list_table(shown, flags)), _log_texts(inventory))

    def check(self, host: Host, inventory: Inventory, flags: CommandFlags) -> CommandOutput:
        found = hook_reports(host, inventory)
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
        found = _find(hook_reports(host, inventory), name)
        if isinstance(found, HookReport):
            return CommandOutput(
                0, self._info_document(found, host), tuple(info_page(found, host)), _log_texts(inventory)
            )
        document = {**_error_document(found.split(" Run ")[0]), "hook": name}
        return CommandOutput(1, document, errors=(*_log_texts(inventory), f"Error: {found}"))

    def to_switch(self, inventory: Inventory, name: str, on: bool) -> HookStatus | CommandOutput:
        rows = [inventory.status_of(hook) for hook in inventory.report_order if not hook.beyond_host]
        found = _find([HookReport(row, ()) for row in rows], name)
        if isinstance(found, str):
            return _refusal(found)
        hook = found.hook
        if hook.folder.plugin:
            reason = f'is managed by plugin "{hook.folder.plugin}" and cannot be enabled/disabled.'
            return _refusal(f'Hook "{hook.name}" {reason}')
        if on and not found.satisfied:
            missing = "; ".join(f"missing {words}" for words in found.missing_texts)
            hint = f"Run `openclaw hooks info {hook.name}` for details."
            return _refusal(f'Hook "{hook.name}" is not eligible; {missing}. {hint}')
        return found.status

    def switched(self, status: HookStatus, on: bool) -> CommandOutput:
        return CommandOutput(
            lines=(
                f"✓ Enabled hook: {hook_title(status.hook)}" if on else f"Disabled hook: {status.hook.name}",
            )
        )

    def _info_document(self, report: HookReport, host: Host) -> dict[str, Any]:
        """Return the document of `info`."""
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


def _find(found: list[HookReport], name: str) -> HookReport | str:
    """Return the hook of that name, else of that settings key; else why there is none."""
    named = [report for report in found if report.hook.name == name]
    keyed = named or [report for report in found if report.hook.key == name]
    if len(keyed) == 1:
        return keyed[0]
    if keyed:
        names = ", ".join(report.hook.name for report in keyed)
        return f'Hook "{name}" is ambiguous: {names}. {SEE_ALL} available hooks.'
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


def _log_texts(inventory: Inventory) -> tuple[str, ...]:
    return tuple(line.text for line in inventory.log)
