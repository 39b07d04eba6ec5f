"""`openclaw hooks list | info | check | enable | disable` of OpenClaw 2026.9: documents and exit codes.

Source: rules-openclaw section 9; req-08, cli-01 and cfg-02.
"""

from typing import Any

from hookscope.core.dialect import Host
from hookscope.core.host_command import Flags, Said
from hookscope.core.inventory import Inventory
from hookscope.core.standing import Standing
from hookscope.dialects.openclaw_2026_9_packs import Packs
from hookscope.dialects.openclaw_2026_9_report import Report, reports
from hookscope.dialects.openclaw_2026_9_words import SEE_ALL, page, table, titled, why_not
from hookscope.systems.folders.shipped_gates import Config
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """The program's own command. Implements core's HostCommand."""

    config: Config
    packs: Packs = Packs()

    def refused(self, host: Host) -> Said | None:
        refusal = host.settings.refusal
        if not refusal:
            return None
        lines = refusal.split("\n")
        return Said(1, _error(refusal), errors=(*lines, f"Error: {lines[0]}", *lines[1:]))

    def list(self, host: Host, inventory: Inventory, asked: Flags) -> Said:
        found = reports(host, inventory)
        shown = [report for report in found if report.loadable or not asked.eligible]
        document = {
            "workspaceDir": str(host.workspace),
            "managedHooksDir": str(host.state / "hooks"),
            "hooks": [_listed(report) for report in shown],
        }
        return Said(0, document, tuple(table(shown, asked)), _log(inventory))

    def check(self, host: Host, inventory: Inventory, asked: Flags) -> Said:
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
            lines += [f"  {titled(report.hook)} - {why_not(report)}" for report in others]
        return Said(0, document, tuple(lines), _log(inventory))

    def info(self, host: Host, inventory: Inventory, name: str) -> Said:
        found = _find(reports(host, inventory), name)
        if isinstance(found, Report):
            return Said(0, self._described(found, host), tuple(page(found, host)), _log(inventory))
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
            lines=(f"✓ Enabled hook: {titled(row.hook)}" if on else f"Disabled hook: {row.hook.name}",)
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


def _log(inventory: Inventory) -> tuple[str, ...]:
    return tuple(line.text for line in inventory.log)
