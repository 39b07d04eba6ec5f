"""Plans and packs for people. Everything foreign passes `one_line` or `printable`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from hookscope.cli.cells import column, fitted, state_word
from hookscope.core.dialect import Host
from hookscope.core.installs import HostInstall
from hookscope.core.standing import Gate, State, gate_state
from hookscope.core.text import lasting, one_line, printable
from hookscope.core.trust import TrustTarget, folder_target, trust_target
from hookscope.workbench.packs.desk import PackStatus
from hookscope.workbench.packs.planned import (
    Done,
    HookPlan,
    OnDisk,
    Planned,
    Record,
    UpToDate,
    Uses,
    size_in_words,
)
from hookscope.workbench.shown import NOTE, masks, preview_of

SIGNS = {"add": "+", "replace": "~", "remove": "-", "same": " "}
REQUIREMENTS = ("os", "bins", "anyBins", "env", "config")
STANDS = {"as installed": "", "changed": "  ✗ changed on disk since", "gone": "  ✗ gone"}
MOST = 200  # files that are listed


def plan(item: Planned, host: Host, *, diff: bool = False) -> str:
    """Everything that would be written, and what it can do, before somebody says yes."""
    lines = [_headline(item), *_drift(item), *_hooks(item), *_files(item, host), *_settings(item, host)]
    for file in item.files if diff else ():
        preview = item.file_change(file).preview()
        lines += (
            ["", f"  {printable(host.surroundings.short(file.path))}", printable(preview)] if preview else []
        )
    return "\n".join(lines).rstrip()


def done(item: Done, host: Host) -> str:
    """What was written, and the next step."""
    pack, record = item.planned, item.record
    verb = {"install": "Installed", "update": "Updated", "uninstall": "Uninstalled"}[pack.action]
    lines = [f"{verb} {_named(record or pack.before)}."]
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
        targets = _to_trust(waiting, record, host)
        commands = " and ".join(f"`{printable(target.command(short))}`" for target in targets)
        lines.append(f"Hookscope itself runs {names} after {commands}.")
    if host.dialect.switching.notices:
        lines.append(host.dialect.switching.notices)
    return "\n".join(lines)


def _to_trust(waiting: Sequence[HookPlan], record: Record | None, host: Host) -> tuple[TrustTarget, ...]:
    """What allows all of these hooks: one folder of the pack where there is one, else each by itself."""
    roots = tuple(dict.fromkeys(trust_target(hook.row.hook, host) for hook in waiting))
    own = () if record is None else tuple(folder_target(folder, host) for folder in record.folders)
    whole = (one for one in own if all(root.folder.is_relative_to(one.folder) for root in roots))
    return roots if len(roots) == 1 else tuple(islice(whole, 1)) or roots


def up_to_date(item: UpToDate, host: Host) -> str:
    """Why there is nothing to do, and what stands otherwise on disk."""
    lines = [f"{_named(item.record)}: {item.why}."]
    lines += _changed(item.on_disk, host)
    if item.on_disk.word != "as installed":
        lines.append(
            f"`hookscope update {one_line(item.record.id)} --force --accept-changed` puts it in place again."
        )
    return "\n".join(lines)


def packs(items: Sequence[PackStatus], host: Host, theirs: Sequence[HostInstall] = ()) -> str:
    """`packs`: what is installed, from where, what has changed on disk since; and what the host has."""
    if not items and not theirs:
        if host.dialect.packs is None:
            return f"{host.dialect.product} has no folder that hooks are installed into."
        return f"No pack is installed for {host.dialect.product} here. `hookscope install SPEC` does that."
    names = column((one_line(item.record.id) for item in items), 32)
    versions = column((item.record.version or "–" for item in items), 14)
    lines = []
    for item in items:
        record = item.record
        name, version = fitted(one_line(record.id), names), fitted(one_line(record.version) or "–", versions)
        how = "linked" if record.linked is not None else "pinned" if record.pinned else record.source
        age = lasting((datetime.now(UTC) - record.at).total_seconds())
        word = STANDS[item.on_disk.word]
        lines.append(f"{name}  {version}  {fitted(how, 7)}  {one_line(record.origin)}  {age} ago{word}")
        lines.append(f"  hooks: {one_line(', '.join(record.hooks), 400)}")
        lines += _changed(item.on_disk, host)
    if theirs:
        lines += ["", f"{host.dialect.product} itself has installed, as its settings say:"]
        for one in theirs:
            hooks = ", ".join(one.hooks) or "not said"
            lines.append(f"  {one_line(one.id)}  {one_line(one.origin)}  hooks: {one_line(hooks, 400)}")
    return "\n".join(lines).lstrip("\n")


def _named(record: Record | None) -> str:
    if record is None:
        return "it"
    return one_line(f"{record.id} {record.version}".strip())


def _headline(item: Planned) -> str:
    before, after = item.before, item.after
    if after is None:
        return f"uninstall {_named(before)}, installed from {one_line(before.origin) if before else ''}"
    came = f" (now {one_line(before.version or before.resolved)})" if before is not None else ""
    link = ", linked: nothing is copied" if after.linked is not None else ""
    pinned = ", pinned" if after.pinned else ""
    lines = [
        f"{item.action} {_named(after)}{came} from {after.source} {one_line(after.resolved)}{pinned}{link}"
    ]
    lines.append(f"  integrity {one_line(after.integrity)}")
    return "\n".join(lines)


def _drift(item: Planned) -> Iterator[str]:
    if item.drift:
        yield f"  ✗ {one_line(item.drift, 600)}"
    if item.unaccepted:
        yield "  ✗ needs --accept-changed: an integrity check failed"


def _hooks(item: Planned) -> Iterator[str]:
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
        yield from _requirements(hook)
        yield from _used(hook.uses, "      ")
    shared = list(_used(item.shared, "      "))
    if shared:
        yield from ("    files that belong to no hook alone", *shared)
    if item.needs:
        yield f"    depends on {one_line(', '.join(item.needs), 300)} ({item.comes})"
    yield from (f"    – {one_line(note, 300)}" for note in item.notes)


def _requirements(hook: HookPlan) -> Iterator[str]:
    """What it declares that it needs, met or not, and what its author says how to get it."""
    needed = [gate for gate in hook.row.verdict.gates if gate.needed and gate.name in REQUIREMENTS]
    for gate in needed:
        yield f"      {_mark(gate)} needs {gate.name}: {one_line(', '.join(gate.needed), 200)}"
    for spec in hook.row.hook.meta.install:
        kind, label = one_line(str(spec.get("kind", "?"))), spec.get("label")
        what = spec.get("package") or spec.get("repository") or spec.get("url") or spec.get("id") or ""
        bins = spec.get("bins")
        gives = f" for {one_line(', '.join(map(str, bins)))}" if isinstance(bins, list) and bins else ""
        said = f" ({one_line(str(label))})" if label else ""
        named = " ".join(filter(None, (kind, one_line(str(what)))))
        yield f"      → its author says: install {named}{gives}{said}; Hookscope never runs that"


def _mark(gate: Gate) -> str:
    return {True: "✓", False: "✗", None: "–"}[gate.passed]


def _used(uses: Uses, indent: str) -> Iterator[str]:
    for what, names in uses.told:
        yield f"{indent}{what}: {one_line(', '.join(names), 300)}"


def _files(item: Planned, host: Host) -> Iterator[str]:
    if not item.files:
        return
    total = sum(file.size for file in item.files)
    yield from ("", f"  files ({len(item.files):,}{f', {size_in_words(total)}' if total else ''})")
    shown = [file for file in item.files if file.action != "same"]
    for file in shown[:MOST]:
        size = f"  {size_in_words(file.size)}" if file.action != "remove" else ""
        runs = "  may be run" if file.runnable else ""
        yield f"  {SIGNS[file.action]} {_path(file.path, host)}{size}{runs}"
    if len(shown) > MOST:
        yield f"    and {len(shown) - MOST:,} more; --json lists all"
    if item.left_out:
        yield f"    left out: {one_line(', '.join(item.left_out), 300)}"
    yield from _changed(item.on_disk, host)


def _changed(item: OnDisk, host: Host) -> Iterator[str]:
    for word, paths in (("changed", item.changed), ("missing", item.missing), ("added", item.added)):
        for path in paths[:20]:
            yield f"  ! {word} on disk since: {_path(path, host)}"
        if len(paths) > 20:
            yield f"  ! {word} on disk since: {len(paths) - 20:,} more"


def _path(path: Path, host: Host) -> str:
    return printable(host.surroundings.short(path)).replace("\n", "␊")


def _settings(item: Planned, host: Host) -> Iterator[str]:
    preview = preview_of(item.change)
    file = printable(host.surroundings.short(item.change.path))
    yield from ("", f"  settings {file}" + ("" if preview else ": nothing changes"))
    if preview:
        yield printable(preview).rstrip()
    if masks(item.change):
        yield NOTE
    for other in item.others:
        yield f"  {one_line(other.name)} ({other.source}): {other.before} → {other.after}"
