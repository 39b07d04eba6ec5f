"""Compares the same folders, and the same event, under the rules of several hosts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from hookscope.analysis.host_alignment import align_hosts
from hookscope.analysis.host_comparison import (
    ComparedHook,
    ComparedHost,
    FolderRules,
    HookAtHost,
    HostComparison,
    RunAtHost,
    handler_differences,
)
from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.app.options import LINGER, Options, set_up
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import cannot_run_messages, waiting_for_trust
from hookscope.app.unknown_names import check_key
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.saved_events import is_saved_event, read_saved_event
from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.hosts.dialects import DIALECTS, GUIDES, UnknownDialect, dialect_named
from hookscope.hosts.folders import folder_system_of
from hookscope.hosts.folders.shipped_headers import read_line_header
from hookscope.model.failure import Refusal
from hookscope.model.host import Dialect
from hookscope.model.run import Event, Run
from hookscope.model.text import did_you_mean, nearest_word
from hookscope.model.trust import TrustTarget
from hookscope.runtime.firing import Firing
from hookscope.storage.journal.records import plain_json


def comparison_document(item: HostComparison, *, different: bool) -> Document:
    """Return `compare --json`, without the runs of --fire."""
    sides = [side.dialect.name for side in item.sides]
    return {
        **(
            {"dialect": sides[0], **machine_document(item)} if item.compares_machines else {"dialects": sides}
        ),
        "workspaces": [str(side.host.workspace) for side in item.sides],
        "hooks": [_hook_document(line) for line in (item.differing if different else item.lines)],
        "summary": {
            "alike": item.alike,
            "differ": len(item.differing),
            "by": {name: asdict(tally) for name, tally in item.tallies().items()},
        },
    }


def run_documents(host_runs: Sequence[RunAtHost]) -> list[Document]:
    """Return `runs` of `compare --fire --json`; `different`: differences from the first run."""
    first = next((one.run for one in host_runs if one.run is not None), None)
    return [
        {
            "dialect": one.dialect.name,
            "problem": one.problem or None,
            "could_not_run": list(one.could_not_run),
            "different": _differences(first, one.run),
            "run": json_documents.run_document(one.run, one.dialect.name) if one.run is not None else None,
        }
        for one in host_runs
    ]


def _differences(first: Run | None, run: Run | None) -> list[Document]:
    if first is None or run is None or run is first:
        return []
    return [
        {
            "kind": one.kind,
            "what": one.subject,
            "first": plain_json(one.before),
            "here": plain_json(one.after),
        }
        for one in handler_differences(first, run)
    ]


def machine_document(item: HostComparison) -> Document:
    """Return the members that only a comparison of machines has: search paths, causes, and remedies."""
    sides = [
        {
            "name": side.name,
            "platform": side.host.machine.platform,
            "home": str(side.host.machine.home),
            "settings": str(side.host.settings.file),
            "path": list(side.host.machine.search_path()),
            "assumed": sorted(side.host.machine.assumed),
        }
        for side in item.sides
    ]
    causes = [{"what": one.what, "text": one.text, "hooks": list(one.hooks)} for one in item.causes]
    remedies = [
        {
            "surroundings": one.side,
            "where": one.where,
            "lines": list(one.lines),
            "then": one.next_step or None,
        }
        for one in item.remedies
    ]
    return {"surroundings": sides, "causes": causes, "remedies": remedies}


def _hook_document(line: ComparedHook) -> Document:
    return {
        "name": line.name,
        "path": str(line.path) if line.path else None,
        "events": list(line.events),
        "differs": [{"what": one.facet, "text": one.text} for one in line.differs],
        "by": {cell.side.name: _cell_document(cell) for cell in line.cells},
        "change": list(line.suggestions),
    }


def _cell_document(cell: HookAtHost) -> Document:
    """Return one hook at one host. `state` may also be "no hook" or "absent"."""
    return {
        "state": cell.state,
        "why": cell.why or None,
        "gate": cell.gate or None,
        "name": cell.row.hook.name if cell.row is not None else None,
        "source": cell.source or None,
        "path": str(cell.path) if cell.path else None,
        "handler": str(cell.handler) if cell.handler else None,
        "host_runs": cell.host_runs,
        "metadata": cell.metadata or None,
        "namespace": cell.side.folder_rules.namespace if cell.side.folder_rules is not None else None,
        "order": cell.load_position,
        "events": [
            {
                "key": event.key,
                "there": event.delivery,
                "delivered": event.delivers if event.delivery == "sent" else None,
                "near": event.near or None,
            }
            for event in cell.events
        ],
    }


def usual_dialects(bench: Workbench, *, shipped: bool = False) -> tuple[Dialect, ...]:
    """Return the guides of all hosts with HOOK.md folders; the current dialect replaces its guide.

    `shipped`: their programs as shipped, in the installed or else the newest known version. For a host
    without hook folders: its own guide and versions, since no other host reads its hooks.
    """
    if "folder" not in bench.dialect.kinds:
        return tuple(dialect for dialect in comparable_dialects(bench) if dialect.version or not shipped)
    chosen = []
    for guide in GUIDES:
        if "folder" not in guide.kinds:
            continue
        if shipped:
            program = set_up(replace(_host_options(bench, guide), dialect=guide.name)).shipped
            chosen.append(program or guide)
        else:
            chosen.append(bench.dialect if bench.dialect.product == guide.product else guide)
    return tuple(chosen)


def comparable_dialects(bench: Workbench) -> tuple[Dialect, ...]:
    """Return the dialects that the current one can be compared with, guides first.

    These are all dialects with HOOK.md folders. If the current one has none, they are those of its product.
    """
    dialect_in_force, known = bench.dialect, DIALECTS.values()
    if "folder" not in dialect_in_force.kinds:
        return tuple(dialect for dialect in known if dialect.product == dialect_in_force.product)
    return tuple(dialect for dialect in known if "folder" in dialect.kinds)


def chosen_dialects(names: str) -> tuple[Dialect, ...]:
    """Return the dialects in `openclaw,milady`, each once. Raises Refusal for an unknown or a single one."""
    try:
        found = {name: dialect_named(name) for name in map(str.strip, names.split(",")) if name}
    except UnknownDialect as error:
        raise Refusal(str(error), code=2) from None
    if len(found) < 2:
        known = ", ".join(DIALECTS)
        raise Refusal("--dialects needs two dialects or more.", f"Use {known}.", code=2)
    return tuple(found.values())


def workbench_of_host(bench: Workbench, dialect: Dialect, *, trust_all: bool) -> Workbench:
    """Return a workbench for the same folders under another host. It shares the workspace and the what-if;
    settings, state folder and managed hooks are that host's.
    """
    made = Workbench(
        _host_options(bench, dialect), trust_all=trust_all, limits=bench.limits, linger_seconds=LINGER
    )
    made.worker_pools.warn_unprotected = bench.worker_pools.warn_unprotected
    return made


def compare_hosts(bench: Workbench, dialects: Sequence[Dialect]) -> HostComparison:
    """Return every hook as each of these hosts sees it, with all folders trusted. Runs nothing."""
    return align_hosts([host_side(workbench_of_host(bench, dialect, trust_all=True)) for dialect in dialects])


def only_hooks(comparison: HostComparison, names: Sequence[str]) -> HostComparison:
    """Return the comparison of these hooks. Raises Refusal for one that no host has."""
    known = {line.name for line in comparison.lines}
    for name in names:
        if name not in known:
            next_step = did_you_mean(nearest_word(name, known), "`hookscope compare` lists all hooks.")
            raise Refusal(f"No host has a hook named {name!r}.", next_step)
    lines = tuple(line for line in comparison.lines if line.name in names)
    return replace(comparison, lines=lines)


def _host_options(bench: Workbench, dialect: Dialect) -> Options:
    same = dialect.product == bench.dialect.product
    workspace = bench.open().workspace
    return replace(
        bench.options,
        dialect=dialect.name,
        workspace=workspace if os.path.isdir(workspace) else bench.options.workspace,
        config=bench.options.config if same else None,
        agent=bench.options.agent if same else None,
    )


def host_side(bench: Workbench) -> ComparedHost:
    """Return what this workbench finds, as one side of a comparison."""
    host = bench.open()
    return ComparedHost(host, examine(discover(host), host), _reads_folder_hooks(host.dialect))


def _reads_folder_hooks(dialect: Dialect) -> FolderRules | None:
    if "folder" not in dialect.kinds:
        return None
    shape = folder_system_of(dialect).shape
    return FolderRules(
        shape.namespace,
        shape.handlers if shape.marks_python else shape.candidates,
        json_only=shape.read_header is read_line_header,
    )


EventForHost = Callable[[Workbench, Snapshot], Event]


def template_or_saved_event(item: str) -> EventForHost:
    """Return a function that makes each host's realistic event of a key, or reads a saved event."""

    def event_of(bench: Workbench, view: Snapshot) -> Event:
        if is_saved_event(item):
            return read_saved_event(bench, view, Path(item))
        return bench.template(view, item)

    return event_of


def exact_event(event: Event) -> EventForHost:
    """Return a function that returns this event, or raises Refusal if the host cannot have such a key."""

    def event_of(bench: Workbench, view: Snapshot) -> Event:
        check_key(view, event.key)
        return event

    return event_of


class HostRuns:
    """Fires at each host in its own workers. A host's refusal becomes the `problem` of its run."""

    def __init__(
        self,
        bench: Workbench,
        dialects: Sequence[Dialect],
        event_of: EventForHost,
        *,
        only: str | None = None,
        trust_all: bool = False,
        sandbox: bool = False,
    ) -> None:
        self.benches = [workbench_of_host(bench, dialect, trust_all=trust_all) for dialect in dialects]
        self.untrusted: dict[TrustTarget, None] = {}  # folders whose handlers did not run
        self._event_of, self._only, self._sandbox = event_of, only, sandbox
        self._firing: Firing | None = None
        self._cancelled = False

    def folders_to_trust(self) -> tuple[TrustTarget, ...]:
        """Return the folders to trust for all subscribers. Raises the first Refusal if all hosts refuse."""
        folders: dict[TrustTarget, None] = {}
        refused: list[Refusal] = []
        for bench in self.benches:
            try:
                view = bench.scan()
                event = self._event_of(bench, view)
                if event.kind in bench.dialect.kinds:
                    plan = bench.plan(view, event, only=self._only)
                    folders |= dict.fromkeys(waiting_for_trust(view, plan))
            except Refusal as error:
                refused.append(error)
        if len(refused) == len(self.benches):
            raise refused[0]
        return tuple(folders)

    async def run(self) -> tuple[RunAtHost, ...]:
        """Fire at one host after another; a cancellation skips the remaining hosts."""
        return tuple([await self._run_at(bench) for bench in self.benches])

    def cancel(self) -> None:
        """Cancel the active run, and fire at no other host. Call it in the loop's own thread."""
        self._cancelled = True
        if self._firing is not None:
            self._firing.cancel()

    async def _run_at(self, bench: Workbench) -> RunAtHost:
        if self._cancelled:
            return RunAtHost(bench.dialect, problem="cancelled before this host")
        try:
            return await self._fire(bench)
        except Refusal as refused:
            return RunAtHost(bench.dialect, problem=str(refused))
        except OSError as error:
            return RunAtHost(bench.dialect, problem=f"the copies cannot be made: {error}")
        finally:
            self._firing = None
            await bench.close()

    async def _fire(self, bench: Workbench) -> RunAtHost:
        view = await asyncio.to_thread(bench.scan)
        event = self._event_of(bench, view)
        if event.kind not in bench.dialect.kinds:
            problem = f"{bench.dialect.product} has no {event.kind} hooks"
            return RunAtHost(bench.dialect, problem=problem)
        view = await bench.load_modules(view, event.kind)
        plan = bench.plan(view, event, only=self._only)
        self.untrusted |= dict.fromkeys(waiting_for_trust(view, plan))
        could_not_run = cannot_run_messages(view, plan, only=self._only)
        self._firing = await bench.fire_sandboxed(view, plan) if self._sandbox else bench.fire(view, plan)
        if self._cancelled:
            self._firing.cancel()
        run = await self._firing
        return RunAtHost(bench.dialect, replace(plan, event=run.event), run, could_not_run=could_not_run)
