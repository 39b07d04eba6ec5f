"""How another dialect treats the same hooks, one sentence per difference. Pure."""

from collections.abc import Iterator, Mapping

from hookscope.model.hook import Hook
from hookscope.model.hook_status import HookStatus, Inventory, RejectedHook, State
from hookscope.model.host import Host
from hookscope.model.text import one_line
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass

HookKey = tuple[str, str]
READS_PREFIX = "does read "  # starts the sentence on events only the other dialect reads
RUNNABLE = (State.READY, State.UNTRUSTED, State.SILENT)  # ignores trust and unsent events


@dataclass(frozen=True, slots=True)
class ScannedHost:
    """A host and its inventory."""

    host: Host
    inventory: Inventory


def differences_by_hook(scanned: ScannedHost, other: ScannedHost) -> Mapping[Hook, tuple[str, ...]]:
    """Return, for each hook that `other` treats differently, sentences that name the other dialect.

    Hooks match by folder; those without a folder by module and events.
    """
    rows = {_hook_key(row.hook): row for row in other.inventory.hooks}
    rejected = {str(item.path): item for item in other.inventory.rejected}
    title = other.host.dialect.title
    notes: dict[Hook, tuple[str, ...]] = {}
    for row in scanned.inventory.hooks:
        sentences = tuple(f"{title}: {text}" for text in _differences(row, scanned, other, rows, rejected))
        if sentences:
            notes[row.hook] = sentences
    return notes


def runnable_summary(scanned: ScannedHost, other: ScannedHost) -> str:
    """Return how many of these hooks `other` would run; empty if it runs the same ones.

    Hookscope's own bundled hooks do not count.
    """
    own = [row for row in scanned.inventory.hooks if row.hook.folder.source != "bundled"]
    mine = {_hook_key(row.hook) for row in own if row.state in RUNNABLE}
    theirs = {_hook_key(row.hook) for row in other.inventory.hooks if row.state in RUNNABLE}
    theirs &= {_hook_key(row.hook) for row in own}
    if mine == theirs:
        return ""
    dialect = other.host.dialect
    what = f"run {len(theirs)} of these {len(own)} hooks"
    if len(own) == 1:  # bundled hooks may be listed below it, so the name says which one
        what = f"{'' if theirs else 'not '}run {one_line(own[0].hook.name, 60)}"
    return f"{dialect.product} {dialect.version} would {what}; --dialect {dialect.name} shows why"


def _hook_key(hook: Hook) -> HookKey:
    location = hook.path or hook.handler
    return hook.kind, str(location) if location is not None else f"{hook.name} {hook.meta.events}"


def _differences(
    row: HookStatus,
    scanned: ScannedHost,
    other: ScannedHost,
    rows: Mapping[HookKey, HookStatus],
    rejected: Mapping[str, RejectedHook],
) -> Iterator[str]:
    other_row = rows.get(_hook_key(row.hook))
    if other_row is None:
        yield _missing(row, rejected)
        return
    yield from _file_differences(row, other_row)
    yield from _status_differences(row, other_row)
    yield from _event_differences(row, other_row, scanned.host, other.host)
    if (
        scanned.host.dialect.entry_env
        and not other.host.dialect.entry_env
        and scanned.host.entry_env(row.hook.key)
    ):
        yield "the `env` of its entry counts only for its checks; its handler does not receive it"


def _missing(row: HookStatus, rejected: Mapping[str, RejectedHook]) -> str:
    if row.hook.kind == "legacy":
        return "no longer reads handlers from its settings"
    rejection = rejected.get(str(row.hook.path))
    if rejection is not None:
        return f"rejects this folder: {rejection.reason}"
    return f"does not look for hooks in {row.hook.folder.path}"


def _file_differences(row: HookStatus, other_row: HookStatus) -> Iterator[str]:
    mine, theirs = row.hook, other_row.hook
    read, lost = _events(theirs), [key for key in _events(mine) if key not in _events(theirs)]
    if lost and not read:
        yield "reads no events from this HOOK.md" + _first_note(other_row)
    elif lost:
        yield f"does not read {', '.join(lost)} from this HOOK.md"
    elif read and mine.kind == "folder" and mine.meta.events == ():
        yield f"{READS_PREFIX}{', '.join(read)} from this HOOK.md"
    if mine.name != theirs.name:
        yield f"calls this hook {theirs.name}"
    if mine.handler is not None and theirs.handler != mine.handler:
        taken = f"; it loads {theirs.handler.name}" if theirs.handler is not None else ""
        yield f"ignores {mine.handler.name}{taken}"


def _first_note(row: HookStatus) -> str:
    return f": {row.hook.meta.notes[0]}" if row.hook.meta.notes else ""


def _status_differences(row: HookStatus, other_row: HookStatus) -> Iterator[str]:
    mine, theirs = row.verdict.shadowed_by, other_row.verdict.shadowed_by
    if theirs is not None and (mine is None or mine.path != theirs.path):
        yield f"the {theirs.folder.source} hook in {theirs.path} shadows this one"
    elif mine is not None and theirs is None:
        yield f"this one shadows the {mine.folder.source} hook in {mine.path}"
    elif other_row.state in RUNNABLE:
        if row.state not in RUNNABLE:
            yield f"would run it: it is {row.state} only by the guide's rules"
    elif other_row.state is not row.state and not _is_explained_by_files(other_row):
        yield f"it would be {other_row.state}" + (
            f": {other_row.verdict.why()}" if other_row.verdict.why() else ""
        )


def _is_explained_by_files(row: HookStatus) -> bool:
    """Return whether a file difference, which has its own sentence, stops the hook there."""
    return bool({"events", "handler"} & {gate.name for gate in row.verdict.failed()})


def _event_differences(row: HookStatus, other_row: HookStatus, host: Host, other: Host) -> Iterator[str]:
    mine, theirs, kind = host.dialect.catalogue(), other.dialect.catalogue(), event_kind(row.hook)
    for key in dict.fromkeys(_events(other_row.hook)):
        if mine.sends(key, kind) and not theirs.sends(key, kind):
            yield f"never sends {key}"
            continue
        known, other_known = mine.find(key), theirs.find(key)
        if known is not None and known.delivers and other_known is not None and not other_known.delivers:
            yield f"discards messages that are pushed on {key}"


def _events(hook: Hook) -> tuple[str, ...]:
    return hook.meta.events or ()
