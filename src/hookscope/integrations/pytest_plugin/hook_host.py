"""The host of one test: scan hooks and fire events with plain calls."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hookscope.app.options import LINGER, Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import cannot_run_messages
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.saved_events import is_saved_event, read_saved_event
from hookscope.authoring.testing.sequences import run_test_file
from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.engine.argument_checks import NONE_TYPE, expect
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import HookStatus
from hookscope.model.run import Event, Run

T = TypeVar("T")


class HookHost:
    """Scans hooks and fires events. Its workers live from the first fired event to the end of the test."""

    def __init__(self, options: Options) -> None:
        """Open the host. Raises Refusal if an option names something that does not exist."""
        self._bench = Workbench(options, trust_all=True, linger_seconds=LINGER)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hook_host", daemon=True)

    @property
    def dialect(self) -> str:
        """The name of the current dialect."""
        return self._bench.dialect.name

    def look(self) -> Snapshot:
        """Return all hooks with their current status; runs nothing."""
        return self._bench.scan()

    def hook(self, name: str) -> HookStatus:
        """Return the status of one hook. Raises Refusal, which names the closest match."""
        __tracebackhide__ = True
        try:
            return self._bench.hook(self.look(), name)
        except Refusal as refusal:
            raise refusal.with_traceback(None) from None  # the traceback should end at the test's own line

    def fire(
        self,
        what: str | os.PathLike[str] | Event,
        context: Mapping[str, Any] | None = None,
        *,
        ctx: Mapping[str, Any] | None = None,
        session: str | None = None,
        only: str | None = None,
    ) -> Run:
        """Fire an event, and return its run with `results`, `messages`, `context` and `ending`.

        A handler that fails is a result; a handler that should run and cannot fails the test. Raises
        Refusal if `what` is not an event.

        Args:
            what: a key such as command:new, with a realistic context; a saved event's file; an Event.
            context: replaces the event's own context.
            ctx: merged over the second argument of plugin and stream handlers.
            only: fire at this hook only.
        """
        __tracebackhide__ = True
        expect(
            context,
            (Mapping, NONE_TYPE),
            "the context of an event must be a mapping, such as a dict, or None",
        )
        expect(ctx, (Mapping, NONE_TYPE), "ctx must be a mapping, such as a dict, or None")
        try:
            run, not_run = self._run_on_loop(self._fire(what, context, ctx, session, only))
        except Refusal as refusal:
            raise refusal.with_traceback(None) from None  # the traceback should end at the test's own line
        if not_run:
            pytest.fail("\n".join(not_run), pytrace=False)
        return run

    async def _fire(
        self,
        what: str | os.PathLike[str] | Event,
        context: Mapping[str, Any] | None,
        ctx: Mapping[str, Any] | None,
        session: str | None,
        only: str | None,
    ) -> tuple[Run, tuple[str, ...]]:
        view = self._bench.scan()
        event = self._event(view, what)
        event = replace(
            event,
            context=event.context if context is None else dict(context),
            ctx={**event.ctx, **(ctx or {})},
            session_key=event.session_key if session is None else session,
        )
        view = await self._bench.load_modules(view, event.kind)
        plan = self._bench.plan(view, event, only=only)
        not_run = cannot_run_messages(view, plan, only=only)
        return await self._bench.fire(view, plan), not_run

    def _event(self, view: Snapshot, what: str | os.PathLike[str] | Event) -> Event:
        if isinstance(what, Event):
            return what
        if isinstance(what, str) and not is_saved_event(what):
            return self._bench.template(view, what)
        return read_saved_event(self._bench, view, Path(what))

    def test(self, file: Path) -> SavedEventResult:
        """Fire a saved event or a sequence, and compare its run with what the file expects."""
        return self._run_on_loop(run_test_file(self._bench, file))

    def mask(self, result: SavedEventResult) -> SavedEventResult:
        """Return a test result with its secrets masked, because pytest writes it into reports."""
        from hookscope.authoring.testing.acceptance import without_secrets

        return without_secrets(result, self._bench.redaction)

    def _run_on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on this host's own loop, so that async tests can fire events too."""
        if not self._thread.is_alive():
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End all workers and wait for them. Call it once."""
        if self._thread.is_alive():
            self._run_on_loop(self._bench.close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()
