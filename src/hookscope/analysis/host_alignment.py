"""Aligns the hooks of several hosts, one line per hook, and compares the hosts' call order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path, PurePath

from hookscope.analysis.host_comparison import (
    ABSENT,
    NO_HOOK,
    ComparedHook,
    ComparedHost,
    EventAtHost,
    HookAtHost,
    HostComparison,
    MetadataReading,
)
from hookscope.analysis.host_differences import (
    common_handlers,
    host_differences_of,
    read_written_metadata,
    unknown_handler,
)
from hookscope.engine.planning import registrations_of
from hookscope.engine.registry import Registry
from hookscope.model.hook import LANGUAGE_OF, Hook
from hookscope.model.hook_status import FixKind, Gate, HookStatus, RejectedHook, State
from hookscope.model.text import nearest_word
from hookscope.model.uncalled_hooks import event_kind, may_be_called
from hookscope.values import dataclass

MOST_LISTED_EVENTS = 3  # events of a host that are named one by one
COMMONJS_ENDINGS = (".cjs", ".cts")  # renaming does not make these ES modules


def suggested_changes(line: ComparedHook) -> tuple[str, ...]:
    """Return each change once, with the hosts that need it if not all do; empty if nothing is needed."""
    hosts_by_change: dict[str, dict[str, None]] = {}
    for cell in line.cells:
        for text in _changes_at_host(cell, line):
            hosts_by_change.setdefault(text, {})[cell.side.title] = None
    texts = (
        text if len(hosts) == len(line.cells) else f"{text} ({', '.join(hosts)})"
        for text, hosts in hosts_by_change.items()
    )
    return (*_namespace_hint(line), *texts)


def _changes_at_host(cell: HookAtHost, line: ComparedHook) -> Iterator[str]:
    if cell.is_called:
        return
    if cell.row is None:
        yield from _not_there(cell, line)
        return
    if cell.row.verdict.shadowed_by is not None:
        winner = cell.row.verdict.shadowed_by
        yield f"keep one copy, or rename this one: the {winner.folder.source} copy takes precedence"
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
        yield "also write it as a folder with a HOOK.md"
    elif have is not None and have.kind == "plugin":
        yield from _plugin_folder_hint(cell, have)
    elif have is not None:
        workspace = cell.side.host.machine.short(cell.side.host.workspace)
        yield f"put it into {workspace}/hooks, which all hosts scan"


def _plugin_folder_hint(cell: HookAtHost, plugin: Hook) -> Iterator[str]:
    """Yield the folder in which this host looks for such a plugin."""
    host = cell.side.host
    folders = [one for one in host.folders_of("plugin") if not one.declared]
    folder = next((one for one in folders if one.source == plugin.folder.source), next(iter(folders), None))
    if folder is not None:
        yield f"move it to {host.machine.short(folder.path)}, or name its folder in `plugins.load.paths`"


def _repairs(cell: HookAtHost, line: ComparedHook) -> Iterator[str]:
    """Yield changes for a folder that this host rejects, mostly because of the handler's name."""
    handler = unknown_handler(cell)
    if not handler:
        is_plugin = cell.rejected is not None and cell.rejected.kind == "plugin"  # its reason says what to do
        yield from () if is_plugin else (f"fix it: {cell.why}",)
    elif handler.endswith(".py"):
        yield from _rewrite_hint(line)
    else:
        yield _rename_hint(handler, line)


def _rename_hint(handler: str, line: ComparedHook) -> str:
    names = common_handlers(line)
    kind = LANGUAGE_OF.get(PurePath(handler).suffix)
    same = [name for name in names if LANGUAGE_OF.get(PurePath(name).suffix) == kind]
    if not names:
        return f"no handler name is loaded by all hosts: add a handler for each host beside {handler}"
    new_name = (same or names)[0]
    module = ", as an ES module" if handler.endswith(COMMONJS_ENDINGS) else ""
    return f"rename {handler} to {new_name}{module}: all hosts load that name"


def _rewrite_hint(line: ComparedHook) -> Iterator[str]:
    names = common_handlers(line)
    if names:
        yield f"write the handler as {names[0]}: the host itself does not run Python"


def _namespace_hint(line: ComparedHook) -> Iterator[str]:
    missing = [cell for cell in line.cells if cell.row is not None and cell.metadata in ("elsewhere", "none")]
    rules = (cell.side.folder_rules for cell in missing)
    names = list(dict.fromkeys(one.namespace for one in rules if one is not None))
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
        return "write `metadata` as JSON that starts on the same line: the host does not read YAML"
    return f"correct the metadata: {cell.why or 'the host reads none of it'}"


def _gate_hint(gate: Gate, cell: HookAtHost) -> str:
    kind = gate.kind
    if kind.remedy and gate.missing:
        platform = cell.side.host.machine.platform
        return kind.remedy.format(missing=", ".join(gate.missing), platform=platform)
    if kind.fix is FixKind.EVENT_NAMES:
        return _event_hint(cell)
    if gate.fix is not None:
        return f"in {cell.side.host.machine.short(gate.fix.file)}: {gate.fix.meaning}"
    if kind.fix is FixKind.TOGGLE and cell.row is not None:
        return f"enable it: `hookscope --dialect {cell.side.dialect.name} enable {cell.row.hook.name}`"
    return f"fix it: {gate.reason}"


def _event_hint(cell: HookAtHost) -> str:
    never = ", ".join(event.key for event in cell.events if event.delivery != "sent")
    kind = event_kind(cell.row.hook) if cell.row is not None else "folder"
    sent = [one.key for one in cell.side.dialect.catalogue().events if one.emitted and one.kind == kind]
    if not sent:
        return "no change helps: the host never sends events to such hooks"
    which = " or ".join(sent) if len(sent) <= MOST_LISTED_EVENTS else "an event that is sent"
    return f"also subscribe to {which}: {never} is never sent"


OrderSentences = Mapping[int, tuple[str, ...]]  # line number → a sentence for each difference in call order
MOST_EVENTS = 3  # events named one by one


def order_differences(sides: Sequence[ComparedHost], lines: Sequence[ComparedHook]) -> OrderSentences:
    """Return sentences for each line: the hooks that the first host calls before this line's hook, and
    another host calls after it, or the other way round."""
    keys = tuple(dict.fromkeys(key for line in lines for key in line.events))
    turns = [_all_turns(keys, side, lines, at) for at, side in enumerate(sides)]
    # hook, partner, earlier → event → hosts that differ
    found: dict[tuple[int, int, bool], dict[str, list[str]]] = {}
    for side, other_turns in zip(sides[1:], turns[1:], strict=True):
        for key in keys:
            for moved in _reversed(turns[0][key], other_turns[key]):
                found.setdefault(moved, {}).setdefault(key, []).append(side.title)
    texts: dict[int, list[str]] = {}
    for (number, partner, earlier), by_event in found.items():
        order_then, now = ("before", "after") if earlier else ("after", "before")
        for others, events in _sentence_by_hosts(by_event).items():
            named = ", ".join(events[:MOST_EVENTS]) + (
                f" and {len(events) - MOST_EVENTS} more" if events[MOST_EVENTS:] else ""
            )
            hosts = ", ".join(others)
            first_order = f"{sides[0].title} calls it {order_then} {lines[partner].name}"
            text = f"on {named} {first_order}; {hosts}: {now} it"
            texts.setdefault(number, []).append(text)
    return {number: tuple(several) for number, several in texts.items()}


def _sentence_by_hosts(by_event: Mapping[str, Sequence[str]]) -> Mapping[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for key, hosts in by_event.items():
        groups.setdefault(tuple(hosts), []).append(key)
    return groups


def _all_turns(
    keys: Sequence[str], side: ComparedHost, lines: Sequence[ComparedHook], at: int
) -> Mapping[str, list[int]]:
    rows = ((number, line.cells[at].row) for number, line in enumerate(lines))
    numbers = {row.hook: number for number, row in rows if row is not None}
    registry = Registry(0, registrations_of(side.inventory, side.host))
    return {key: _turns(key, side, registry, numbers) for key in keys}


def _turns(key: str, side: ComparedHost, registry: Registry, numbers: Mapping[Hook, int]) -> list[int]:
    """Return the lines that this host calls for an event, in order, each once."""
    event = side.dialect.event_of(key)
    system = side.dialect.system_of(event.kind)
    arranged = system.arrange(event, registry.listeners(system.keys(event)))
    calls = [call.hook for group in arranged.groups for call in group.calls if call.hook is not None]
    return list(dict.fromkeys(numbers[hook] for hook in calls if hook in numbers and not hook.beyond_host))


def _reversed(first: Sequence[int], second: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """Yield hooks whose order with a partner is reversed: hook, partner, whether `first` calls it earlier."""
    place = {number: at for at, number in enumerate(second)}
    common = [number for number in first if number in place]
    for at, number in enumerate(common):
        later = next((other for other in common[at + 1 :] if place[other] < place[number]), None)
        sooner = next((other for other in common[:at] if place[other] > place[number]), None)
        if later is not None:
            yield number, later, True
        elif sooner is not None:
            yield number, sooner, False


def align_hosts(sides: Sequence[ComparedHost]) -> HostComparison:
    """Return the hooks of all sides, cell by cell, with differences and suggested changes. Runs nothing.

    A line shows the copy that takes precedence at each host. A folder that is a hook to one host and rejected
    by another is one line too. Folders that are clearly not hooks are excluded.
    """
    drafts = _DraftLines(len(sides))
    for at, side in enumerate(sides):
        rows = sorted(side.inventory.hooks, key=lambda row: row.verdict.shadowed_by is not None)
        for row in rows:
            drafts.add_hook(at, row)
        for item in side.inventory.rejected:
            if not item.ignored:
                drafts.add_rejected(at, item)
    lines = tuple(_compared_hook(draft, sides) for draft in drafts.drafts)
    orders = order_differences(sides, lines)
    compared = (_with_differences(line, orders.get(number, ())) for number, line in enumerate(lines))
    return HostComparison(tuple(sides), tuple(compared))


def _with_differences(line: ComparedHook, orders: tuple[str, ...]) -> ComparedHook:
    differs = host_differences_of(line, orders)
    return replace(
        line,
        differs=differs,
        suggestions=suggested_changes(line) if differs or not line.called_everywhere else (),
    )


@dataclass(slots=True)
class _DraftLine:
    name: str
    rows: list[HookStatus | None]
    rejected: list[RejectedHook | None]


@dataclass(slots=True)
class _DraftLines:
    sides: int
    drafts: list[_DraftLine] = field(default_factory=list)
    _by_path: dict[tuple[str, Path], _DraftLine] = field(default_factory=dict)
    _by_name: dict[tuple[str, str], _DraftLine] = field(default_factory=dict)

    def add_hook(self, at: int, row: HookStatus) -> None:
        """Add an effective or a shadowed copy; shadowed copies come last and fill free cells."""
        hook = row.hook
        key = (event_kind(hook), _hook_path(hook))
        named = (event_kind(hook), hook.name)
        same_path = self._free(self._by_path.get(key), at)
        same = same_path if same_path is not None and same_path.name == hook.name else None
        draft = same or self._free(self._by_name.get(named), at) or same_path
        if draft is None:
            if row.verdict.shadowed_by is not None:
                return  # the effective copy has the line
            draft = self._new(hook.name)
        draft.rows[at] = row
        self._by_path.setdefault(key, draft)
        self._by_name.setdefault(named, draft)

    def add_rejected(self, at: int, item: RejectedHook) -> None:
        name = item.name or item.path.name
        key, named = (item.kind, item.path), (item.kind, name)
        draft = self._by_path.get(key) or self._by_name.get(named) or self._new(name)
        if draft.rejected[at] is None:
            draft.rejected[at] = item
        self._by_path.setdefault(key, draft)
        self._by_name.setdefault(named, draft)

    @staticmethod
    def _free(draft: _DraftLine | None, at: int) -> _DraftLine | None:
        return draft if draft is not None and draft.rows[at] is None else None

    def _new(self, name: str) -> _DraftLine:
        draft = _DraftLine(name, [None] * self.sides, [None] * self.sides)
        self.drafts.append(draft)
        return draft


def _hook_path(hook: Hook) -> Path:
    place = hook.path or hook.handler
    return place if place is not None else Path(f"{hook.name} {hook.meta.events}")


def _compared_hook(draft: _DraftLine, sides: Sequence[ComparedHost]) -> ComparedHook:
    found = next((row for row in draft.rows if row is not None), None)
    rejected = next((item for item in draft.rejected if item is not None), None)
    path = found.hook.path if found is not None else rejected.path if rejected is not None else None
    cells = tuple(
        _hook_at_host(side, row, item)
        for side, row, item in zip(sides, draft.rows, draft.rejected, strict=True)
    )
    return ComparedHook(draft.name, path, cells)


def _hook_at_host(side: ComparedHost, row: HookStatus | None, rejected: RejectedHook | None) -> HookAtHost:
    if row is None:
        if rejected is None:
            return HookAtHost(side, ABSENT)
        return HookAtHost(side, NO_HOOK, rejected.reason, rejected=rejected)
    failed = row.verdict.failed()
    return HookAtHost(
        side,
        row.state.value,
        row.verdict.why(),
        "" if row.state is State.SHADOWED or not failed else failed[0].name,
        row,
        rejected,
        tuple(_event_at_host(key, row.hook, side) for key in dict.fromkeys(row.hook.meta.events or ())),
        _metadata_reading(row.hook, side),
        side.inventory.load_order.index(row.hook) + 1 if may_be_called(row) else None,
    )


def _event_at_host(key: str, hook: Hook, side: ComparedHost) -> EventAtHost:
    catalogue, kind = side.dialect.catalogue(), event_kind(hook)
    if catalogue.sends(key, kind):
        known = catalogue.find(key)
        return EventAtHost(key, "sent", known is not None and known.delivers)
    exact = catalogue.by_key.get(catalogue.canonical(key))
    if exact is not None and exact.kind == kind:
        return EventAtHost(key, "never")
    later = side.dialect.later_plugin_events if kind == "plugin" else side.dialect.later_events
    is_anothers = key in later or catalogue.other_dialect_of(key)
    return EventAtHost(key, "unknown", near="" if is_anothers else catalogue.nearest(key, kind) or "")


def _metadata_reading(hook: Hook, side: ComparedHost) -> MetadataReading:
    if hook.kind != "folder" or side.folder_rules is None:
        return ""
    meta = hook.meta
    if meta.events or meta.requires != type(meta.requires)() or meta.os or meta.always or meta.faults:
        return "read"
    written = read_written_metadata(hook.manifest, side.host.machine.files)
    if side.folder_rules.namespace in written.namespaces:
        spelt = written.as_json or not side.folder_rules.json_only
        return "read" if spelt and not written.events_of(side.folder_rules.namespace) else "unread"
    return "elsewhere" if written.namespaces else "none"
