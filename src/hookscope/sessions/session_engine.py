"""An engine for simulated sessions: all trusted hooks, and executors for tools and models."""

from __future__ import annotations

from time import time

from hookscope.app.failed_loads import load_attempts_for
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import topmost_targets, untrusted_folders
from hookscope.app.workbench import Workbench
from hookscope.engine.discovery import discover
from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.registry import LoadReport
from hookscope.model.trust import TrustTarget
from hookscope.sessions.session_agents import (
    languages_of_agents,
    session_agents_of,
    session_rules_of,
    untrusted_agent_folders,
)


async def session_engine(bench: Workbench) -> tuple[HookEngine, LoadReport]:
    """Return an engine with all trusted hooks loaded and executors for the project's tools.

    Raises Refusal if the host has no sessions; OSError if an agent's folder cannot be read.
    """
    host = bench.open()
    session_rules_of(host)
    languages, without = bench.worker_pools.languages(host, discover(host))
    needed_languages = languages | languages_of_agents(session_agents_of(host))
    engine = HookEngine(
        host,
        bench.worker_pools.executors(host, needed_languages),
        bench.run_record.journal(host),
        without=without,
    )
    started = time()
    report = await engine.load()
    await bench.record_loads(host, load_attempts_for(engine.inventory, host, report.failures), started)
    return engine, report


def session_trust_targets(snapshot: Snapshot) -> tuple[TrustTarget, ...]:
    """Return the folders to trust so that a session can use all code of the project.

    Raises Refusal and OSError as `session_engine`.
    """
    session_rules_of(snapshot.host)
    return topmost_targets(
        (
            *untrusted_agent_folders(session_agents_of(snapshot.host), snapshot.host),
            *untrusted_folders(snapshot),
        )
    )
