"""Loads of all that is trusted: for a report like the host loader's, and for a session to be played."""

from __future__ import annotations

from contextlib import suppress
from time import time

from hookscope.core.look import look
from hookscope.core.registry import LoadReport
from hookscope.core.trust import TrustTarget
from hookscope.engine import HookEngine
from hookscope.workbench.bench import Workbench
from hookscope.workbench.cast import cast_of, languages_of, rules_of, untrusted_in
from hookscope.workbench.failed_loads import tried_for
from hookscope.workbench.left_out import topmost, untrusted_folders
from hookscope.workbench.view import View


async def load(bench: Workbench, *, only: str | None = None) -> LoadReport:
    """Import all trusted handlers in a worker process, and report as the host's loader does.

    `only`: those of this name alone. What came of it goes on record, where that can be written.
    """
    host = bench.open()
    languages, without = bench.crew.languages(host, look(host))
    engine = HookEngine(host, bench.crew.lanes(host, languages), without=without)
    begun = time()
    report = await engine.load(only=only)
    await bench.learn(host, tried_for(engine.inventory, host, report.failures), begun)
    said = f"{report.registered} of {report.discovered} registered, {len(report.failed)} failed"
    errors = {name: f"{fault.type}: {fault.message}" for name, fault in report.failures.items()}
    detail = {"skipped": report.skipped, "failed": report.failed, "errors": errors, "only": only}
    with suppress(OSError):  # a journal that cannot be written stops no load
        level = "error" if report.failed else "info"
        await bench.record.journal(host).note("load", host.dialect.name, said, level, detail)
    return report


async def staged(bench: Workbench) -> tuple[HookEngine, LoadReport]:
    """An engine to play sessions with: all trusted hooks loaded, lanes for the project's tools as well.

    Raises Refusal where the host has no sessions; OSError where an agent's folder cannot be read.
    """
    host = bench.open()
    rules_of(host)
    languages, without = bench.crew.languages(host, look(host))
    wanted = languages | languages_of(cast_of(host))
    engine = HookEngine(host, bench.crew.lanes(host, wanted), bench.record.journal(host), without=without)
    begun = time()
    report = await engine.load()
    await bench.learn(host, tried_for(engine.inventory, host, report.failures), begun)
    return engine, report


def untrusted_on_stage(view: View) -> tuple[TrustTarget, ...]:
    """The folders that would have to be trusted for a session to be played with all that is the project's:
    hooks, tools, models. Raises as `staged`."""
    rules_of(view.host)
    return topmost((*untrusted_in(cast_of(view.host), view.host), *untrusted_folders(view)))
