"""The host of one test, fired by plain calls."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hookscope.core.expecting import NONE, expect
from hookscope.core.runs import Event, Run
from hookscope.core.standing import Standing
from hookscope.workbench import Options, Refusal, View, Workbench
from hookscope.workbench.left_out import could_not
from hookscope.workbench.options import LINGER
from hookscope.workbench.saved import is_saved_event, read_saved_event
from hookscope.workbench.sequencing import checked_file
from hookscope.workbench.testing import Verified

T = TypeVar("T")


class HookHost:
    """Looks and fires. Its workers live from the first fire to the test's end."""

    def __init__(self, options: Options) -> None:
        """Raises Refusal where an option names what is not there."""
        self._bench = Workbench(options, trust_all=True, lingers=LINGER)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hook_host", daemon=True)

    @property
    def dialect(self) -> str:
        """Whose rules apply."""
        return self._bench.dialect.name

    def look(self) -> View:
        """All hooks as they stand now; runs nothing."""
        return self._bench.look()

    def hook(self, name: str) -> Standing:
        """One hook: its state, why, and what was found. Raises Refusal that names the nearest one."""
        __tracebackhide__ = True
        try:
            return self._bench.hook(self.look(), name)
        except Refusal as refusal:
            raise refusal.with_traceback(None) from None  # the test's own line is what tells

    def fire(
        self,
        what: str | os.PathLike[str] | Event,
        context: Mapping[str, Any] | None = None,
        *,
        ctx: Mapping[str, Any] | None = None,
        session: str | None = None,
        only: str | None = None,
    ) -> Run:
        """Fire an event and wait for its end: a run with `results`, `messages`, `context` and `ending`.

        A handler that fails is a result; one that ought to run and cannot fails the test. Raises Refusal
        for what is no event.

        Args:
            what: a key such as command:new, with a realistic context; a saved event's file; an Event.
            context: in place of the event's own.
            ctx: laid over the second argument of plugin and stream handlers.
            only: the one hook to fire at.
        """
        __tracebackhide__ = True
        expect(context, (Mapping, NONE), "the context of an event is a mapping, such as a dict, or None")
        expect(ctx, (Mapping, NONE), "ctx is a mapping, such as a dict, or None")
        try:
            run, left = self._wait(self._fired(what, context, ctx, session, only))
        except Refusal as refusal:
            raise refusal.with_traceback(None) from None  # the test's own line is what tells
        if left:
            pytest.fail("\n".join(left), pytrace=False)
        return run

    async def _fired(
        self,
        what: str | os.PathLike[str] | Event,
        context: Mapping[str, Any] | None,
        ctx: Mapping[str, Any] | None,
        session: str | None,
        only: str | None,
    ) -> tuple[Run, tuple[str, ...]]:
        view = self._bench.look()
        event = self._event(view, what)
        event = replace(
            event,
            context=event.context if context is None else dict(context),
            ctx={**event.ctx, **(ctx or {})},
            session_key=event.session_key if session is None else session,
        )
        view = await self._bench.ready(view, event.kind)
        plan = self._bench.plan(view, event, only=only)
        left = could_not(view, plan, only=only)
        return await self._bench.fire(view, plan), left

    def _event(self, view: View, what: str | os.PathLike[str] | Event) -> Event:
        if isinstance(what, Event):
            return what
        if isinstance(what, str) and not is_saved_event(what):
            return self._bench.template(view, what)
        return read_saved_event(self._bench, view, Path(what))

    def test(self, file: Path) -> Verified:
        """Fire a saved event or a sequence, and compare its run with what the file expects."""
        return self._wait(checked_file(self._bench, file))

    def masked(self, done: Verified) -> Verified:
        """What a test came to without its secrets: pytest writes it into reports."""
        from hookscope.workbench.hiding import without_secrets  # here: who only looks needs no database

        return without_secrets(done, self._bench.redaction)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Done on a loop of its own, so that tests that have one may fire too."""
        if not self._thread.is_alive():
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End all workers and wait until they are gone. Once."""
        if self._thread.is_alive():
            self._wait(self._bench.close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()
