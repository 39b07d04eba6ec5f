"""Packs and planned installations as text and JSON (`install`, `update`, `uninstall`, `packs`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.app.pack_manager import PackStatus
from hookscope.cli.render.layout import column_width, fit_to_width, state_word
from hookscope.engine.settings_entries import HostInstall
from hookscope.hosts.source.facts import HandlerUses
from hookscope.model.hook_event import iso
from hookscope.model.hook_status import State, gate_state
from hookscope.model.host import Host
from hookscope.model.text import ago, one_line, printable, printable_line
from hookscope.model.trust import TrustTarget, folder_target, trust_target
from hookscope.packs.index import InstalledPack, PackIntegrity
from hookscope.packs.package_checks import size_in_words
from hookscope.packs.plan import PackChanged, PackHookPlan, PackPlan, PackUpToDate
from hookscope.storage.edits.masked_preview import MASKED_NOTE, hides_secrets, masked_preview

FILE_SIGNS = {"add": "+", "replace": "~", "remove": "-", "same": " "}
INTEGRITY_WORDS = {"as installed": "", "changed": "  ✗ changed on disk since the install", "gone": "  ✗ gone"}
FILE_LIMIT = 200  # files to list


def pack_plan_text(plan: PackPlan, host: Host, *, diff: bool) -> str:
    """Return everything that the plan would write, and what the hooks can do, for confirmation."""
    lines = [
        _plan_headline(plan),
        *_drift_lines(plan),
        *_hook_lines(plan),
        *_file_lines(plan, host),
        *_setting_lines(plan, host),
    ]
    for file in plan.files if diff else ():
        preview = plan.file_change(file).preview()
        lines += (
            ["", f"  {printable_line(host.machine.short(file.path))}", printable(preview)] if preview else []
        )
    return "\n".join(lines).rstrip()


def applied_plan_text(applied: PackChanged, host: Host) -> str:
    """Return what was written, and the next step."""
    plan, record = applied.plan, applied.record
    verb = {"install": "Installed", "update": "Updated", "uninstall": "Uninstalled"}[plan.action]
    lines = [f"{verb} {_pack_name(record or plan.before)}."]
    if applied.kept_folder is not None:
        count = len(plan.on_disk.files_to_keep)
        files = f"{count} file{'s' * (count != 1)} that had changed"
        lines.append(
            f"{files} since it was installed: copies are in "
            f"{printable_line(host.machine.short(applied.kept_folder))}."
        )
    waiting = [hook for hook in plan.hooks if hook.row.state is State.UNTRUSTED]
    if waiting:
        names = one_line(", ".join(hook.name for hook in waiting))
        short = host.machine.short
        targets = _trust_targets(waiting, record, host)
        commands = " and ".join(f"`{printable(target.command(short))}`" for target in targets)
        lines.append(f"Hookscope does not run {names} until you allow it: {commands}.")
    if host.dialect.switch_rules.when_noticed:
        lines.append(host.dialect.switch_rules.when_noticed)
    return "\n".join(lines)


def _trust_targets(
    waiting: Sequence[PackHookPlan], record: InstalledPack | None, host: Host
) -> tuple[TrustTarget, ...]:
    """Return the folders to trust for these hooks: one folder of the pack if possible, else one per hook."""
    roots = tuple(dict.fromkeys(trust_target(hook.row.hook, host) for hook in waiting))
    pack_folders = () if record is None else tuple(folder_target(folder, host) for folder in record.folders)
    covering = (
        target for target in pack_folders if all(root.folder.is_relative_to(target.folder) for root in roots)
    )
    return roots if len(roots) == 1 else tuple(islice(covering, 1)) or roots


def up_to_date_text(pack: PackUpToDate, host: Host) -> str:
    """Return why there is nothing to update, and what has changed on disk."""
    lines = [f"{_pack_name(pack.record)}: {pack.reason}."]
    lines += _changed_file_lines(pack.on_disk, host)
    if pack.on_disk.state != "as installed":
        lines.append(f"`hookscope update {one_line(pack.record.id)} --force --accept-changed` restores it.")
    return "\n".join(lines)


def pack_list_text(statuses: Sequence[PackStatus], host: Host, host_installs: Sequence[HostInstall]) -> str:
    """Return the text of `packs`: packs with source and changed files, then those that the host installed."""
    if not statuses and not host_installs:
        if host.dialect.pack_rules is None:
            return f"{host.dialect.product} has no folder that hooks are installed into."
        return f"No pack is installed for {host.dialect.product} here. `hookscope install SPEC` installs one."
    names = column_width((one_line(status.record.id) for status in statuses), 32)
    versions = column_width((status.record.version or "–" for status in statuses), 14)
    lines = []
    for status in statuses:
        record = status.record
        name, version = (
            fit_to_width(one_line(record.id), names),
            fit_to_width(one_line(record.version) or "–", versions),
        )
        source = "linked" if record.linked is not None else "pinned" if record.pinned else record.source
        age = ago(record.at, datetime.now(UTC))
        word = INTEGRITY_WORDS[status.integrity.state]
        lines.append(f"{name}  {version}  {fit_to_width(source, 7)}  {one_line(record.origin)}  {age}{word}")
        lines.append(f"  hooks: {one_line(', '.join(record.hooks), 400)}")
        lines += _changed_file_lines(status.integrity, host)
    if host_installs:
        lines += ["", f"Installed by {host.dialect.product} itself, according to its settings:"]
        for install in host_installs:
            hooks = ", ".join(install.hooks) or "unknown"
            lines.append(
                f"  {one_line(install.id)}  {one_line(install.origin)}  hooks: {one_line(hooks, 400)}"
            )
    return "\n".join(lines).lstrip("\n")


def _pack_name(record: InstalledPack | None) -> str:
    if record is None:
        return "it"
    return one_line(f"{record.id} {record.version}".strip())


def _plan_headline(plan: PackPlan) -> str:
    before, after = plan.before, plan.after
    if after is None:
        return f"uninstall {_pack_name(before)}, installed from {one_line(before.origin) if before else ''}"
    current = f" (now {one_line(before.version or before.resolved)})" if before is not None else ""
    link = ", linked: nothing is copied" if after.linked is not None else ""
    pinned = ", pinned" if after.pinned else ""
    lines = [
        f"{plan.action} {_pack_name(after)}{current} from {after.source} "
        f"{one_line(after.resolved)}{pinned}{link}"
    ]
    lines.append(f"  integrity {one_line(after.integrity)}")
    return "\n".join(lines)


def _drift_lines(plan: PackPlan) -> Iterator[str]:
    if plan.drift:
        yield f"  ✗ {one_line(plan.drift, 600)}"
    if plan.integrity_problem:
        yield "  ✗ needs --accept-changed: an integrity check failed"


def _hook_lines(plan: PackPlan) -> Iterator[str]:
    yield from ("",) if plan.hooks else ()
    for hook in plan.hooks:
        row = hook.row
        events = row.events_text or "no events"
        yield f"  {state_word(row.state)}  {one_line(hook.name)}  receives {one_line(events, 300)}"
        if row.hook.description:
            yield f"      {one_line(row.hook.description)}"
        for gate in row.verdict.failed():
            if gate_state(gate) is not State.UNTRUSTED:
                yield f"      ✗ {one_line(gate.name)}: {one_line(gate.reason, 300)}"
        yield from (f"      – {one_line(note, 300)}" for note in row.notes)
        if row.hook.folder.trusted:
            yield "      ! Hookscope runs it without asking: its folder is trusted"
        yield from _requirement_lines(hook)
        yield from _usage_lines(hook.uses, "      ")
    shared = list(_usage_lines(plan.shared_uses, "      "))
    if shared:
        yield from ("    files shared by several hooks, or used by none", *shared)
    if plan.dependency_ranges:
        yield f"    depends on {one_line(', '.join(plan.dependency_ranges), 300)} ({plan.dependency_note})"
    yield from (f"    – {one_line(note, 300)}" for note in plan.notes)


def _requirement_lines(hook: PackHookPlan) -> Iterator[str]:
    """Yield the declared requirements, passed or failed, and the author's install hints."""
    needed = [gate for gate in hook.row.verdict.gates if gate.needed and gate.kind.is_requirement]
    for gate in needed:
        mark = {True: "✓", False: "✗", None: "–"}[gate.passed]
        yield f"      {mark} needs {gate.name}: {one_line(', '.join(gate.needed), 200)}"
    for spec in hook.row.hook.meta.install:
        kind, label = one_line(str(spec.get("kind", "?"))), spec.get("label")
        package = spec.get("package") or spec.get("repository") or spec.get("url") or spec.get("id") or ""
        bins = spec.get("bins")
        provides = f" for {one_line(', '.join(map(str, bins)))}" if isinstance(bins, list) and bins else ""
        label_text = f" ({one_line(str(label))})" if label else ""
        named = " ".join(filter(None, (kind, one_line(str(package)))))
        yield f"      → its author suggests: install {named}{provides}{label_text}; Hookscope never runs that"


def _usage_lines(uses: HandlerUses, indent: str) -> Iterator[str]:
    for kind, names in uses.descriptions:
        yield f"{indent}{kind}: {one_line(', '.join(names), 300)}"


def _file_lines(plan: PackPlan, host: Host) -> Iterator[str]:
    if not plan.files:
        return
    total = sum(file.size for file in plan.files)
    yield from ("", f"  files ({len(plan.files):,}{f', {size_in_words(total)}' if total else ''})")
    shown = [file for file in plan.files if file.action != "same"]
    for file in shown[:FILE_LIMIT]:
        size = f"  {size_in_words(file.size)}" if file.action != "remove" else ""
        runs = "  executable" if file.runnable else ""
        yield f"  {FILE_SIGNS[file.action]} {_display_path(file.path, host)}{size}{runs}"
    if len(shown) > FILE_LIMIT:
        yield f"    and {len(shown) - FILE_LIMIT:,} more; --json lists all"
    if plan.excluded:
        yield f"    excluded: {one_line(', '.join(plan.excluded), 300)}"
    yield from _changed_file_lines(plan.on_disk, host)


def _changed_file_lines(integrity: PackIntegrity, host: Host) -> Iterator[str]:
    for word, paths in (
        ("changed", integrity.changed),
        ("missing", integrity.missing),
        ("added", integrity.added),
    ):
        for path in paths[:20]:
            yield f"  ! {word} on disk since the install: {_display_path(path, host)}"
        if len(paths) > 20:
            yield f"  ! {word} on disk since the install: {len(paths) - 20:,} more"


def _display_path(path: Path, host: Host) -> str:
    return printable_line(host.machine.short(path))


def _setting_lines(plan: PackPlan, host: Host) -> Iterator[str]:
    preview = masked_preview(plan.change)
    file = printable_line(host.machine.short(plan.change.path))
    yield from ("", f"  settings {file}" + ("" if preview else ": nothing changes"))
    if preview:
        yield printable(preview).rstrip()
    if hides_secrets(plan.change):
        yield MASKED_NOTE
    for other in plan.other_effects:
        yield f"  {one_line(other.name)} ({other.source}): {other.before} → {other.after}"


def applied_plan_document(document: Document, applied: PackChanged) -> Document:
    """Return the document of a plan that was applied."""
    return {
        **document,
        "written": True,
        "kept": str(applied.kept_folder) if applied.kept_folder is not None else None,
    }


def pack_plan_document(plan: PackPlan, *, diff: bool) -> Document:
    """Return the document of what would be written."""
    after = plan.after or plan.before
    assert after is not None  # a plan has at least one of them
    return {
        "action": plan.action,
        **_record_document(after),
        "from": _record_document(plan.before)
        if plan.action == "update" and plan.before is not None
        else None,
        "written": False,
        "hooks": [_hook_document(hook) for hook in plan.hooks] or [{"name": name} for name in after.hooks],
        "shared": _usage_document(plan.shared_uses),
        "files": [
            {
                "path": str(file.path),
                "action": file.action,
                "size": file.size,
                "runnable": file.runnable,
                **({"diff": plan.file_change(file).preview()} if diff else {}),
            }
            for file in plan.files
        ],
        "settings": {"file": str(plan.change.path), "diff": masked_preview(plan.change)},
        "others": [json_documents.effect_document(other) for other in plan.other_effects],
        "needs": list(plan.dependency_ranges),
        "left_out": list(plan.excluded),
        "drift": plan.drift or None,
        "unaccepted": plan.integrity_problem or None,
        "notes": list(plan.notes),
        "on_disk": _integrity_document(plan.on_disk) if plan.before is not None else None,
        "kept": None,
    }


def up_to_date_document(pack: PackUpToDate) -> Document:
    """Return the document of an update with nothing to do."""
    return {
        "action": "none",
        **_record_document(pack.record),
        "written": False,
        "why": pack.reason,
        "on_disk": _integrity_document(pack.on_disk),
    }


def pack_status_document(status: PackStatus) -> Document:
    """Return one pack of `packs --json`."""
    record = status.record
    return {
        **_record_document(record),
        "hooks": list(record.hooks),
        "folders": [str(folder) for folder in record.folders] or [str(record.linked)],
        "settings": [list(setting.setting.path) for setting in record.settings],
        "on_disk": _integrity_document(status.integrity),
    }


def host_install_document(install: HostInstall) -> Document:
    """Return one pack of `packs --json` that the host itself has installed."""
    return {
        "id": install.id,
        "source": install.source or None,
        "spec": install.spec or None,
        "version": install.version or None,
        "hooks": list(install.hooks),
        "folder": str(install.folder) if install.folder is not None else None,
        "file": str(install.place.file) if install.place else None,
        "line": install.place.line if install.place else None,
    }


def _record_document(record: InstalledPack) -> Document:
    return {
        "id": record.id,
        "source": record.source,
        "spec": record.origin,
        "resolved": record.resolved,
        "version": record.version or None,
        "integrity": record.integrity,
        "pinned": record.pinned,
        "linked": record.linked is not None,
        "dialect": record.dialect,
        "at": iso(record.at),
    }


def _integrity_document(integrity: PackIntegrity) -> Document:
    return {
        "state": integrity.state,
        "changed": [str(path) for path in integrity.changed],
        "missing": [str(path) for path in integrity.missing],
        "added": [str(path) for path in integrity.added],
    }


def _hook_document(hook: PackHookPlan) -> Document:
    row = hook.row
    return {
        "name": hook.name,
        "path": str(hook.path),
        "description": row.hook.description,
        "events": None if row.events is None else list(row.events),
        "state": row.state.value,
        "trusted": row.hook.folder.trusted,
        "why": row.verdict.why() or None,
        "gates": [json_documents.gate_document(gate) for gate in row.verdict.gates],
        "install": [dict(spec) for spec in row.hook.meta.install],
        "uses": _usage_document(hook.uses),
        "notes": list(row.notes),
    }


def _usage_document(uses: HandlerUses) -> Document:
    return {
        "env": list(uses.env),
        "optional_env": list(uses.optional_env),
        "programs": list(uses.bins),
        "network": list(uses.network),
        "writes": list(uses.writes),
    }
