"""A look at a host: answered again from the last one where nothing has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Event, Thread, current_thread

from hookscope.core.compare import Seen, compare
from hookscope.core.dialect import Dialect, Host
from hookscope.core.examine import examine
from hookscope.core.hooks import Hook, Language
from hookscope.core.inventory import Inventory
from hookscope.core.look import look
from hookscope.core.noted import NotedFiles
from hookscope.core.plan import code_of, is_held, registrations_of
from hookscope.core.registry import Registry
from hookscope.core.runs import Registration
from hookscope.core.standing import Standing
from hookscope.core.surroundings import Files
from hookscope.runtime import Limits
from hookscope.settings import open_host
from hookscope.workbench.crew import OF_NODE, PYTHON, Crew
from hookscope.workbench.failed_loads import FailedLoad, FailedLoads
from hookscope.workbench.modules import Modules
from hookscope.workbench.options import Setup
from hookscope.workbench.view import Differences, Index, Looked, View

HELD = "the version loaded before its last edit goes on running until the file loads again"

Opened = Callable[[Files | None], Host]  # the host as it is now; with files: read through them


class Looking:
    """Looks, numbered, with what workers hold and what modules declared. Imports nothing, runs nothing.

    Args:
        compares: also with what the shipped program does otherwise than its guide, which takes a second look.
    """

    def __init__(
        self, crew: Crew, modules: Modules, failed_loads: FailedLoads, *, compares: bool = True
    ) -> None:
        self._compares = compares
        self._crew, self._modules, self._failed_loads = crew, modules, failed_loads
        self._generation = 0
        self._stopped = False
        self._last: Looked | None = None

    def look(self, opened: Opened, setup: Setup, limits: Limits) -> View:
        """All hooks of the host as they stand now, `opened` anew."""
        shipped = setup.shipped if self._compares else None
        last, mark = self._looked(opened, shipped), self._failed_loads.mark()
        host, looked = last.host, last.inventory
        languages, without = self._crew.languages(host, looked)
        inventory = self._with_notes(looked, host, languages, without, last.differences)
        inventory = self._modules.shown(inventory, host)
        self._generation += 1
        kept = self._crew.ledger.all_quarantined()
        return View(
            host=host,
            inventory=inventory,
            registry=Registry(self._generation, self._registrations(inventory, host)),
            because=setup.because,
            languages=languages,
            without=without,
            programs=tuple(one for one in (setup.python, setup.node) if one is not None),
            limits=limits,
            index=last.index if inventory is looked else None,
            quarantined=kept and kept & {row.hook.handler for row in inventory.hooks},
            failed_loads=self._failed(inventory, host),
            loads_mark=mark,
        )

    def stop(self) -> None:
        """End the scans that still run: each raises ScanStopped at its next access to a file."""
        self._stopped = True

    def _is_stopped(self, scanning: Thread) -> bool:
        """True for the thread that scans, once it is to stop. What was found stays readable in others."""
        if not self._stopped or current_thread() is not scanning:
            return False
        if scanning.daemon:
            Event().wait()  # nobody waits for this thread; freeing what it has found would hold up all others
        return True

    def _failed(self, inventory: Inventory, host: Host) -> Mapping[Hook, FailedLoad]:
        """What did not load as it stands, and whether the version from before runs in its place."""
        failed = self._failed_loads.among(inventory, host)
        if not failed or not self._crew.holds_any:
            return failed
        return {
            hook: replace(one, held=self._crew.holds(code_of(hook, host))) for hook, one in failed.items()
        }

    def _registrations(self, inventory: Inventory, host: Host) -> tuple[Registration, ...]:
        if self._crew.holds_any or self._last is None or self._last.host is not host:
            return registrations_of(
                inventory, host, self._crew.holds, lambda hook: self._modules.of(hook, host)
            )
        return self._last.registrations

    def _looked(self, opened: Opened, shipped: Dialect | None) -> Looked:
        """What was found, and what the program makes of it; the last answer where nothing has changed."""
        host = opened(None)
        if self._last is not None and self._last.holds(host):
            return self._last
        # Settings are compared by their values, what is found by what was touched.
        files = NotedFiles(partial(self._is_stopped, current_thread()))
        host = opened(files)
        looked = examine(look(host), host)
        registrations = registrations_of(looked, host)
        differences = _differences(host, looked, shipped)
        files.forget()
        self._last = Looked(host, looked, Index(host, looked), registrations, differences, files)
        return self._last

    def _with_notes(
        self,
        inventory: Inventory,
        host: Host,
        languages: frozenset[Language],
        without: Mapping[Language, str],
        differences: Differences,
    ) -> Inventory:
        """Rows say where the version before the last edit goes on running, what their language lacks, and
        what the program makes of them where a guide is in force."""

        def notes(row: Standing) -> tuple[str, ...]:
            held = (HELD,) if is_held(row, host, self._crew.holds) else ()
            lacks = without.get(row.hook.language, "") if row.hook.handler is not None else ""
            needs = (f"{row.hook.language} {lacks}",) if lacks else ()
            return (*held, *needs)

        if not differences and languages >= OF_NODE | PYTHON and not self._crew.holds_any:
            return inventory
        hooks = tuple(
            replace(row, notes=(*row.notes, *more), differs=differs) if more or differs else row
            for row in inventory.hooks
            for more, differs in ((notes(row), differences.get(row.hook, ())),)
        )
        return replace(inventory, hooks=hooks)


def _differences(host: Host, looked: Inventory, shipped: Dialect | None) -> Differences:
    """What the program does otherwise than its guide, which is in force here."""
    if shipped is None or shipped.product != host.dialect.product:
        return {}
    other = open_host(shipped, host.surroundings, host.choices, trust=host.trust)
    return compare(Seen(host, looked), Seen(other, look(other)))
