"""What to change in a hook so that every host calls it, as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

from hookscope.analysis.host_comparison import NO_HOOK, ComparedHook, ComparedHost, HookAtHost
from hookscope.analysis.host_differences import (
    common_handlers,
    read_written_metadata,
    unknown_handler,
)
from hookscope.model.hook import LANGUAGE_OF
from hookscope.model.hook_status import FixKind, Gate
from hookscope.model.text import nearest_word
from hookscope.model.uncalled_hooks import event_kind

MOST_LISTED_EVENTS = 3  # events of a host that are named one by one
COMMONJS_ENDINGS = (".cjs", ".cts")  # renaming does not make these ES modules


def suggested_changes(line: ComparedHook) -> tuple[str, ...]:
    """Return each change once, with the hosts that need it if not all do; empty if nothing is needed."""
    hosts_by_change: dict[str, dict[str, None]] = {}
    for cell in line.cells:
        for text in _changes_at_host(cell, line):
            hosts_by_change.setdefault(text, {})[cell.side.title] = None
    texts = []
    for text, hosts in hosts_by_change.items():
        everyone = len(hosts) == len(line.cells)
        texts.append(text if everyone else f"{text} ({', '.join(hosts)})")
    return (*_namespace_hint(line), *texts)


def _changes_at_host(cell: HookAtHost, line: ComparedHook) -> Iterator[str]:
    if cell.is_called:
        return
    if cell.row is None:
        yield from _not_there(cell, line)
        return
    if cell.row.verdict.shadowed_by is not None:
        winner = cell.row.verdict.shadowed_by
        yield f"keep one copy, or give this one another name: the {winner.folder.source} one wins"
        return
    if not cell.host_runs:
        yield from _rewrite_hint(line)
    if cell.metadata == "unread" or (cell.metadata == "elsewhere" and _wants_json(cell)):
        yield _spelling_hint(cell)
    for gate in cell.row.verdict.failed():
        if gate.kind.fix is FixKind.MOVE_EVENTS and cell.metadata in ("unread", "elsewhere", "none"):
            continue  # the metadata is missing
        yield _gate_hint(gate, cell)


def _not_there(cell: HookAtHost, line: ComparedHook) -> Iterator[str]:
    have = next((other.row.hook for other in line.cells if other.row is not None), None)
    if cell.state == NO_HOOK:
        yield from _repairs(cell, line)
    elif have is not None and (have.kind == "legacy" or event_kind(have) not in cell.side.dialect.kinds):
        yield "write it as a folder with a HOOK.md, too"
    elif have is not None:
        workspace = cell.side.host.machine.short(cell.side.host.workspace)
        yield f"put it into {workspace}/hooks, where all of them look"


def _repairs(cell: HookAtHost, line: ComparedHook) -> Iterator[str]:
    """Yield changes for a folder that this host rejects, mostly because of the handler's name."""
    handler = unknown_handler(cell)
    if not handler:
        yield f"mend it: {cell.why}"
    elif handler.endswith(".py"):
        yield from _rewrite_hint(line)
    else:
        yield _rename_hint(handler, line)


def _rename_hint(handler: str, line: ComparedHook) -> str:
    names = common_handlers(line)
    kind = LANGUAGE_OF.get(PurePath(handler).suffix)
    same = [name for name in names if LANGUAGE_OF.get(PurePath(name).suffix) == kind]
    if not names:
        return f"no name of a handler is known to all of them: write one beside {handler} for each"
    new_name = (same or names)[0]
    module = ", as an ES module" if handler.endswith(COMMONJS_ENDINGS) else ""
    return f"rename {handler} to {new_name}{module}: all of them look for that name"


def _rewrite_hint(line: ComparedHook) -> Iterator[str]:
    names = common_handlers(line)
    if names:
        yield f"write the handler as {names[0]}: the host itself runs no Python"


def _namespace_hint(line: ComparedHook) -> Iterator[str]:
    """Yield one sentence for all missing namespaces."""
    missing = [cell for cell in line.cells if cell.row is not None and cell.metadata in ("elsewhere", "none")]
    names = list(
        dict.fromkeys(
            cell.side.folder_rules.namespace for cell in missing if cell.side.folder_rules is not None
        )
    )
    if not names:
        return
    hook = missing[0].row.hook if missing[0].row is not None else None
    written = read_written_metadata(hook.manifest if hook else None, missing[0].side.host.machine.files)
    quoted = " and ".join(f"`{name}`" for name in names)
    if not written.namespaces:
        yield f"write the events under {quoted} under `metadata`"
        return
    near = written.namespaces[0]
    typo = next((name for name in names if nearest_word(name, [near]) is not None), None)
    if typo is not None and len(names) == len(line.cells):
        yield f"rename `{near}` to `{typo}` under `metadata`"
    yield f"add {quoted} beside `{near}` under `metadata`"


def _wants_json(cell: HookAtHost) -> bool:
    if cell.side.folder_rules is None or not cell.side.folder_rules.json_only or cell.row is None:
        return False
    return not read_written_metadata(cell.row.hook.manifest, cell.side.host.machine.files).as_json


def _spelling_hint(cell: HookAtHost) -> str:
    if _wants_json(cell):
        return "write `metadata` as JSON that begins on its line: YAML is not read"
    return f"mend the metadata: {cell.why or 'nothing of it is read'}"


def _gate_hint(gate: Gate, cell: HookAtHost) -> str:
    kind = gate.kind
    if kind.remedy and gate.missing:
        platform = cell.side.host.machine.platform
        return kind.remedy.format(missing=", ".join(gate.missing), platform=platform)
    if kind.fix is FixKind.EVENT_NAMES:
        return _event_hint(cell)
    if gate.fix is not None:
        return f"in {_short(gate.fix.file, cell.side)}: {gate.fix.meaning}"
    if kind.fix is FixKind.TOGGLE and cell.row is not None:
        return f"switch it on: `hookscope --dialect {cell.side.dialect.name} enable {cell.row.hook.name}`"
    return f"mend it: {gate.reason}"


def _event_hint(cell: HookAtHost) -> str:
    never = ", ".join(event.key for event in cell.events if event.delivery != "sent")
    kind = event_kind(cell.row.hook) if cell.row is not None else "folder"
    sent = [one.key for one in cell.side.dialect.catalogue().events if one.emitted and one.kind == kind]
    if not sent:
        return "nothing helps: no event is ever sent to hooks there"
    which = " or ".join(sent) if len(sent) <= MOST_LISTED_EVENTS else "an event that is sent"
    return f"listen to {which}, too: {never} never comes"


def _short(file: Path, side: ComparedHost) -> str:
    return side.host.machine.short(file)
