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
from hookscope.model.hook_status import Gate, State, gate_state
from hookscope.model.host import Host
from hookscope.model.text import long_duration, one_line, printable
from hookscope.model.trust import TrustTarget, folder_target, trust_target
from hookscope.packs.index import InstalledPack
from hookscope.packs.integrity import PackIntegrity
from hookscope.packs.package_checks import size_in_words
from hookscope.packs.plan import PackChanged, PackHookPlan, PackPlan, PackUpToDate
from hookscope.storage.edits.masked_preview import MASKED_NOTE, hides_secrets, masked_preview

FILE_SIGNS = {"add": "+", "replace": "~", "remove": "-", "same": " "}
INTEGRITY_WORDS = {"as installed": "", "changed": "  ✗ changed on disk since", "gone": "  ✗ gone"}
FILE_LIMIT = 200  # files to list


def pack_plan_text(item: PackPlan, host: Host, *, diff: bool = False) -> str:
    """Return everything that would be written and what it can do, before the user confirms."""
    lines = [
        _plan_headline(item),
        *_drift_lines(item),
        *_hook_lines(item),
        *_file_lines(item, host),
        *_setting_lines(item, host),
    ]
    for file in item.files if diff else ():
        preview = item.file_change(file).preview()
        lines += (
            ["", f"  {printable(host.surroundings.short(file.path))}", printable(preview)] if preview else []
        )
    return "\n".join(lines).rstrip()


def applied_plan_text(item: PackChanged, host: Host) -> str:
    """Return what was written, and the next step."""
    pack, record = item.planned, item.record
    verb = {"install": "Installed", "update": "Updated", "uninstall": "Uninstalled"}[pack.action]
    lines = [f"{verb} {_pack_name(record or pack.before)}."]
    if item.kept is not None:
        count = len(pack.on_disk.to_keep)
        files = f"{count} file{'s' * (count != 1)} that had changed"
        lines.append(
            f"{files} since it was installed: copies are in {printable(host.surroundings.short(item.kept))}."
        )
    waiting = [hook for hook in pack.hooks if hook.row.state is State.UNTRUSTED]
    if waiting:
        names = one_line(", ".join(hook.name for hook in waiting))
        short = host.surroundings.short
        targets = _trust_targets(waiting, record, host)
        commands = " and ".join(f"`{printable(target.command(short))}`" for target in targets)
        lines.append(f"Hookscope itself runs {names} after {commands}.")
    if host.dialect.switching.notices:
        lines.append(host.dialect.switching.notices)
    return "\n".join(lines)


def _trust_targets(
    waiting: Sequence[PackHookPlan], record: InstalledPack | None, host: Host
) -> tuple[TrustTarget, ...]:
    """Return what to trust for all these hooks: one folder of the pack if possible, else each hook."""
    roots = tuple(dict.fromkeys(trust_target(hook.row.hook, host) for hook in waiting))
    own = () if record is None else tuple(folder_target(folder, host) for folder in record.folders)
    whole = (one for one in own if all(root.folder.is_relative_to(one.folder) for root in roots))
    return roots if len(roots) == 1 else tuple(islice(whole, 1)) or roots


def up_to_date_text(item: PackUpToDate, host: Host) -> str:
    """Return why there is nothing to update, and what has changed on disk."""
    lines = [f"{_pack_name(item.record)}: {item.why}."]
    lines += _changed_file_lines(item.on_disk, host)
    if item.on_disk.word != "as installed":
        lines.append(
            f"`hookscope update {one_line(item.record.id)} --force --accept-changed` puts it in place again."
        )
    return "\n".join(lines)


def pack_list_text(items: Sequence[PackStatus], host: Host, theirs: Sequence[HostInstall] = ()) -> str:
    """Return the text of `packs`: what is installed, from where, changed files; and the host's own."""
    if not items and not theirs:
        if host.dialect.packs is None:
            return f"{host.dialect.product} has no folder that hooks are installed into."
        return f"No pack is installed for {host.dialect.product} here. `hookscope install SPEC` does that."
    names = column_width((one_line(item.record.id) for item in items), 32)
    versions = column_width((item.record.version or "–" for item in items), 14)
    lines = []
    for item in items:
        record = item.record
        name, version = (
            fit_to_width(one_line(record.id), names),
            fit_to_width(one_line(record.version) or "–", versions),
        )
        how = "linked" if record.linked is not None else "pinned" if record.pinned else record.source
        age = long_duration((datetime.now(UTC) - record.at).total_seconds())
        word = INTEGRITY_WORDS[item.on_disk.word]
        lines.append(f"{name}  {version}  {fit_to_width(how, 7)}  {one_line(record.origin)}  {age} ago{word}")
        lines.append(f"  hooks: {one_line(', '.join(record.hooks), 400)}")
        lines += _changed_file_lines(item.on_disk, host)
    if theirs:
        lines += ["", f"{host.dialect.product} itself has installed, as its settings say:"]
        for one in theirs:
            hooks = ", ".join(one.hooks) or "not said"
            lines.append(f"  {one_line(one.id)}  {one_line(one.origin)}  hooks: {one_line(hooks, 400)}")
    return "\n".join(lines).lstrip("\n")


def _pack_name(record: InstalledPack | None) -> str:
    if record is None:
        return "it"
    return one_line(f"{record.id} {record.version}".strip())


def _plan_headline(item: PackPlan) -> str:
    before, after = item.before, item.after
    if after is None:
        return f"uninstall {_pack_name(before)}, installed from {one_line(before.origin) if before else ''}"
    came = f" (now {one_line(before.version or before.resolved)})" if before is not None else ""
    link = ", linked: nothing is copied" if after.linked is not None else ""
    pinned = ", pinned" if after.pinned else ""
    lines = [
        f"{item.action} {_pack_name(after)}{came} from {after.source} "
        f"{one_line(after.resolved)}{pinned}{link}"
    ]
    lines.append(f"  integrity {one_line(after.integrity)}")
    return "\n".join(lines)


def _drift_lines(item: PackPlan) -> Iterator[str]:
    if item.drift:
        yield f"  ✗ {one_line(item.drift, 600)}"
    if item.unaccepted:
        yield "  ✗ needs --accept-changed: an integrity check failed"


def _hook_lines(item: PackPlan) -> Iterator[str]:
    yield from ("",) if item.hooks else ()
    for hook in item.hooks:
        row = hook.row
        events = "known after a load" if row.events is None else ", ".join(row.events) or "no events"
        yield f"  {state_word(row.state)}  {one_line(hook.name)}  hears {one_line(events, 300)}"
        if row.hook.description:
            yield f"      {one_line(row.hook.description)}"
        for gate in row.verdict.shut():
            if gate_state(gate) is not State.UNTRUSTED:
                yield f"      ✗ {one_line(gate.name)}: {one_line(gate.reason, 300)}"
        yield from (f"      – {one_line(note, 300)}" for note in row.notes)
        if row.hook.folder.trusted:
            yield "      ! Hookscope runs it without asking: its folder is trusted"
        yield from _requirement_lines(hook)
        yield from _usage_lines(hook.uses, "      ")
    shared = list(_usage_lines(item.shared, "      "))
    if shared:
        yield from ("    files that belong to no hook alone", *shared)
    if item.needs:
        yield f"    depends on {one_line(', '.join(item.needs), 300)} ({item.comes})"
    yield from (f"    – {one_line(note, 300)}" for note in item.notes)


def _requirement_lines(hook: PackHookPlan) -> Iterator[str]:
    """Yield the declared requirements, passed or failed, and the author's install hints."""
    needed = [gate for gate in hook.row.verdict.gates if gate.needed and gate.kind.is_requirement]
    for gate in needed:
        yield f"      {_gate_mark(gate)} needs {gate.name}: {one_line(', '.join(gate.needed), 200)}"
    for spec in hook.row.hook.meta.install:
        kind, label = one_line(str(spec.get("kind", "?"))), spec.get("label")
        what = spec.get("package") or spec.get("repository") or spec.get("url") or spec.get("id") or ""
        bins = spec.get("bins")
        gives = f" for {one_line(', '.join(map(str, bins)))}" if isinstance(bins, list) and bins else ""
        said = f" ({one_line(str(label))})" if label else ""
        named = " ".join(filter(None, (kind, one_line(str(what)))))
        yield f"      → its author says: install {named}{gives}{said}; Hookscope never runs that"


def _gate_mark(gate: Gate) -> str:
    return {True: "✓", False: "✗", None: "–"}[gate.passed]


def _usage_lines(uses: HandlerUses, indent: str) -> Iterator[str]:
    for what, names in uses.told:
        yield f"{indent}{what}: {one_line(', '.join(names), 300)}"


def _file_lines(item: PackPlan, host: Host) -> Iterator[str]:
    if not item.files:
        return
    total = sum(file.size for file in item.files)
    yield from ("", f"  files ({len(item.files):,}{f', {size_in_words(total)}' if total else ''})")
    shown = [file for file in item.files if file.action != "same"]
    for file in shown[:FILE_LIMIT]:
        size = f"  {size_in_words(file.size)}" if file.action != "remove" else ""
        runs = "  may be run" if file.runnable else ""
        yield f"  {FILE_SIGNS[file.action]} {_display_path(file.path, host)}{size}{runs}"
    if len(shown) > FILE_LIMIT:
        yield f"    and {len(shown) - FILE_LIMIT:,} more; --json lists all"
    if item.left_out:
        yield f"    left out: {one_line(', '.join(item.left_out), 300)}"
    yield from _changed_file_lines(item.on_disk, host)


def _changed_file_lines(item: PackIntegrity, host: Host) -> Iterator[str]:
    for word, paths in (("changed", item.changed), ("missing", item.missing), ("added", item.added)):
        for path in paths[:20]:
            yield f"  ! {word} on disk since: {_display_path(path, host)}"
        if len(paths) > 20:
            yield f"  ! {word} on disk since: {len(paths) - 20:,} more"


def _display_path(path: Path, host: Host) -> str:
    return printable(host.surroundings.short(path)).replace("\n", "␊")


def _setting_lines(item: PackPlan, host: Host) -> Iterator[str]:
    preview = masked_preview(item.change)
    file = printable(host.surroundings.short(item.change.path))
    yield from ("", f"  settings {file}" + ("" if preview else ": nothing changes"))
    if preview:
        yield printable(preview).rstrip()
    if hides_secrets(item.change):
        yield MASKED_NOTE
    for other in item.others:
        yield f"  {one_line(other.name)} ({other.source}): {other.before} → {other.after}"


def applied_plan_document(document: Document, done: PackChanged) -> Document:
    """Return the document of a plan that was applied."""
    return {**document, "written": True, "kept": str(done.kept) if done.kept is not None else None}


def pack_plan_document(item: PackPlan, *, diff: bool = False) -> Document:
    """Return the document of what would be written."""
    after = item.after or item.before
    assert after is not None  # a plan has at least one of them
    return {
        "action": item.action,
        **_record_document(after),
        "from": _record_document(item.before)
        if item.action == "update" and item.before is not None
        else None,
        "written": False,
        "hooks": [_hook_document(hook) for hook in item.hooks] or [{"name": name} for name in after.hooks],
        "shared": _usage_document(item.shared),
        "files": [
            {
                "path": str(file.path),
                "action": file.action,
                "size": file.size,
                "runnable": file.runnable,
                **({"diff": item.file_change(file).preview()} if diff else {}),
            }
            for file in item.files
        ],
        "settings": {"file": str(item.change.path), "diff": masked_preview(item.change)},
        "others": [json_documents.effect_document(other) for other in item.others],
        "needs": list(item.needs),
        "left_out": list(item.left_out),
        "drift": item.drift or None,
        "unaccepted": item.unaccepted or None,
        "notes": list(item.notes),
        "on_disk": _integrity_document(item.on_disk) if item.before is not None else None,
        "kept": None,
    }


def up_to_date_document(item: PackUpToDate) -> Document:
    """Return the document of an update with nothing to do."""
    return {
        "action": "none",
        **_record_document(item.record),
        "written": False,
        "why": item.why,
        "on_disk": _integrity_document(item.on_disk),
    }


def pack_status_document(item: PackStatus) -> Document:
    """Return one pack of `packs --json`."""
    record = item.record
    return {
        **_record_document(record),
        "hooks": list(record.hooks),
        "folders": [str(folder) for folder in record.folders] or [str(record.linked)],
        "settings": [list(setting.wanted.path) for setting in record.settings],
        "on_disk": _integrity_document(item.on_disk),
    }


def host_install_document(item: HostInstall) -> Document:
    """Return one pack of `packs --json` that the host itself has installed."""
    return {
        "id": item.id,
        "source": item.source or None,
        "spec": item.spec or None,
        "version": item.version or None,
        "hooks": list(item.hooks),
        "folder": str(item.folder) if item.folder is not None else None,
        "file": str(item.place.file) if item.place else None,
        "line": item.place.line if item.place else None,
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


def _integrity_document(item: PackIntegrity) -> Document:
    return {
        "state": item.word,
        "changed": [str(path) for path in item.changed],
        "missing": [str(path) for path in item.missing],
        "added": [str(path) for path in item.added],
    }


def _hook_document(item: PackHookPlan) -> Document:
    row = item.row
    return {
        "name": item.name,
        "path": str(item.path),
        "description": row.hook.description,
        "events": None if row.events is None else list(row.events),
        "state": row.state.value,
        "trusted": row.hook.folder.trusted,
        "why": row.verdict.why() or None,
        "gates": [json_documents.gate_document(gate) for gate in row.verdict.gates],
        "install": [dict(spec) for spec in row.hook.meta.install],
        "uses": _usage_document(item.uses),
        "notes": list(row.notes),
    }


def _usage_document(item: HandlerUses) -> Document:
    return {
        "env": list(item.env),
        "optional_env": list(item.optional_env),
        "programs": list(item.bins),
        "network": list(item.network),
        "writes": list(item.writes),
    }
