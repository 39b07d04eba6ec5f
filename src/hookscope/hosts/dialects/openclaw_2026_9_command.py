"""The `openclaw hooks` command of OpenClaw 2026.9 (rules-openclaw 9; req-08, cli-01 to cli-03, cfg-02)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import category, east_asian_width

from hookscope.hosts.dialects.openclaw_2026_9_settings import agents_in
from hookscope.hosts.folders.shipped_gates import ConfigGate
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate, HookStatus, Inventory
from hookscope.model.host import CommandFlags, CommandOutput, Host
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass

LINE_WIDTH = 120  # columns
CELL_PADDING = 2  # blanks of a cell
BREAKS = " /-_."  # a line may break after these
JOINER, AS_EMOJI = "\u200d", "\ufe0f"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column. `flexible` columns share the remaining or missing width of the line."""

    title: str
    min_width: int  # columns, padding included; less only if the line is too short
    flexible: bool = True

    @property
    def title_width(self) -> int:
        """Return the width of its title, padding included."""
        return _columns_of(self.title) + CELL_PADDING


def draw_table(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of the table."""
    widths = _widths(columns, rows)
    rule = ["─" * width for width in widths]
    yield f"┌{'┬'.join(rule)}┐"
    yield from _row([column.title for column in columns], widths)
    yield f"├{'┼'.join(rule)}┤"
    for row in rows:
        yield from _row(row, widths)
    yield f"└{'┴'.join(rule)}┘"


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    folded = [
        wrap_text(cell, max(1, width - CELL_PADDING)) for cell, width in zip(cells, widths, strict=True)
    ]
    for at in range(max(map(len, folded))):
        texts = [lines[at] if at < len(lines) else "" for lines in folded]
        padded = (
            f" {text}{' ' * (width - 1 - _columns_of(text))}"
            for text, width in zip(texts, widths, strict=True)
        )
        yield f"│{'│'.join(padded)}│"


def _widths(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the column widths: as wide as the content, then shrunk or grown to fill the line."""
    widths = [
        max(column.min_width, column.title_width, *(_columns_of(row[at]) + CELL_PADDING for row in rows))
        for at, column in enumerate(columns)
    ]
    flexible = [at for at, column in enumerate(columns) if column.flexible]
    others = [at for at, column in enumerate(columns) if not column.flexible]
    min_widths = [max(column.min_width, column.title_width) for column in columns]
    title_widths = [column.title_width for column in columns]
    for indexes, limits in (
        (flexible, min_widths),
        (flexible, title_widths),
        (others, min_widths),
        (others, title_widths),
    ):
        _shrink(widths, indexes, limits)
    at = 0
    while _excess_width(widths) < 0:
        widths[flexible[at % len(flexible)]] += 1
        at += 1
    return widths


def _excess_width(widths: Sequence[int]) -> int:
    return sum(widths) + len(widths) + 1 - LINE_WIDTH


def _shrink(widths: list[int], indexes: Sequence[int], limits: Sequence[int]) -> None:
    while _excess_width(widths) > 0:
        shrinkable = [at for at in indexes if widths[at] > limits[at]]
        if not shrinkable:
            return
        widths[max(shrinkable, key=lambda at: widths[at])] -= 1  # the first of equal ones


def wrap_text(text: str, width: int) -> list[str]:
    """Return the text in lines of at most `width` columns, broken after a blank or a sign, else anywhere."""
    parts = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").split("\n")
    lines = [line for part in parts for line in _wrap_line(part, width)]
    return lines[:-1] if len(parts) > 1 and not parts[-1] else lines


def _wrap_line(text: str, width: int) -> Iterator[str]:
    line: list[tuple[str, int]] = []
    break_at = 0  # the number of clusters before the last possible break
    empty = True
    for cluster, columns in _clusters(text):
        while line and sum(size for _, size in line) + columns > width:
            at = break_at or len(line)
            yield _joined(line[:at])
            line, break_at, empty = line[at:], 0, False
        if not line and cluster == " ":
            continue
        line.append((cluster, columns))
        if cluster in BREAKS:
            break_at = len(line)
    if line or empty:
        yield _joined(line)


def _joined(clusters: Iterable[tuple[str, int]]) -> str:
    return "".join(cluster for cluster, _ in clusters).rstrip()


def _columns_of(text: str) -> int:
    return sum(columns for _, columns in _clusters(text))


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Yield each group of characters that share a position, and its width in columns."""
    cluster, columns = "", 0
    for sign in text:
        if cluster and (cluster[-1] == JOINER or sign == JOINER or category(sign) in ("Mn", "Me")):
            cluster += sign
            columns = 2 if sign == AS_EMOJI else columns
            continue
        if cluster:
            yield cluster, columns
        cluster = sign
        columns = _size(sign)
    if cluster:
        yield cluster, columns


def _size(sign: str) -> int:
    if sign != "\t" and category(sign) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if east_asian_width(sign) in "WF" else 1


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

    @property
    def missing_summary(self) -> list[str]:
        """Return the same, with three names at most of each kind."""
        return [f"{name}: {_first_three(names)}" for name, names in self.missing.items() if names]


def _first_three(names: Sequence[str]) -> str:
    hidden = len(names) - 3
    return ", ".join(names[:3]) + (f" (+{hidden})" if hidden > 0 else "")


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
            return self._refused_agent(host)
        lines = refusal.split("\n")
        return CommandOutput(1, _error_document(refusal), errors=(*lines, f"Error: {lines[0]}", *lines[1:]))

    def _refused_agent(self, host: Host) -> CommandOutput | None:
        """Return the output for an agent that the settings do not name; without any there is only `main`."""
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
        found = hook_reports(host, inventory)
        shown = [report for report in found if report.loadable or not flags.eligible]
        document = {
            "workspaceDir": str(host.workspace),
            "managedHooksDir": str(host.config_folder / "hooks"),
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
        if isinstance(found, Ambiguous):
            return replace(_refusal(found), errors=(*_log_texts(inventory), f"Error: {found}"))
        if isinstance(found, HookReport):
            return CommandOutput(
                0, self._info_document(found, host), tuple(info_page(found, host)), _log_texts(inventory)
            )
        document = {**_error_document(found.split(" Run ")[0]), "hook": name}
        return CommandOutput(1, document, errors=(*_log_texts(inventory), f"Error: {found}"))

    def to_switch(
        self, inventory: Inventory, name: str, on: bool, flags: CommandFlags
    ) -> HookStatus | CommandOutput:
        if flags.json:
            return _unknown_option("enable" if on else "disable", "--json")
        rows = [inventory.status_of(hook) for hook in inventory.report_order if not hook.beyond_host]
        found = _find([HookReport(row, ()) for row in rows], name)
        if isinstance(found, str):
            return _refusal(found)
        hook = found.hook
        if hook.folder.plugin:
            reason = f'is managed by plugin "{hook.folder.plugin}" and cannot be enabled/disabled.'
            return _refusal(f'Hook "{name}" {reason}')
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


class Ambiguous(str):
    """The error for a key that several hooks have."""


def _find(found: list[HookReport], name: str) -> HookReport | str:
    """Return the hook of that name, else of that settings key; else why there is none."""
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
