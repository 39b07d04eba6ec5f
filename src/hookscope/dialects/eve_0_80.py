"""Eve, npm package eve 0.80.1, as it was recorded."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from hookscope.core.failure import Failure
from hookscope.core.hooks import LogLine
from hookscope.core.rules import LoadRules
from hookscope.core.runs import Event, Registration
from hookscope.dialects.catalogues import catalogue
from hookscope.dialects.eve import BUILD, EVE, as_bundled, stopped, swallowed
from hookscope.dialects.eve_0_18 import HOUSEHOLD as EVE_0_18_HOUSEHOLD
from hookscope.dialects.eve_sessions import OF_0_80
from hookscope.systems.streams import ContextRule, FailureRule, FileRules, Household, stream_system_of
from hookscope.systems.streams.cascade import session_waiting, turn_cancelled

HOUSEHOLD = Household(
    EVE_0_18_HOUSEHOLD.folders | {"extensions", "instrumentation", "memory"},
    of_root=EVE_0_18_HOUSEHOLD.of_root | {"instrumentation"},
    generated=frozenset({".devtools", ".eve", ".next", ".output", ".vercel", "node_modules"}),
    dockerfile=True,
    strict_headers=True,
    skill_names=True,
    package="eve",
)
MALFORMED = "Malformed"  # the failure of a module that is not what its place in the agent asks for
VOCABULARY = partial(catalogue, "eve_0_80", others=(("eve@0.18", "eve_0_18"),))


def logged(event: Event, call: Registration, failure: Failure) -> LogLine:
    """A hook's throw is logged, and that is all (eve 11, 12, 20)."""
    error = f"{failure.type}: {failure.own_text}" if failure.type else failure.own_text
    return _line("error", "stream event hook failed", event, call, subscription=call.key, error=error)


def ignored(event: Event, call: Registration) -> LogLine:
    """A cancel on an event that belongs to no running turn (eve 15)."""
    return _line("warn", "ctx.cancel() ignored: the event is not part of a running turn", event, call)


def _line(level: str, text: str, event: Event, call: Registration, **more: Any) -> LogLine:
    session = event.ctx.get("session", {})
    told = {
        "hook": call.name,
        **more,
        "eventId": event.meta.get("id"),
        "eventType": event.type,
        "sessionId": session.get("id"),
    }
    return LogLine(level, f"[eve:hooks] {text} {json.dumps(told, ensure_ascii=False, default=str)}")


def reworded(failure: Failure, file: str) -> str:
    """Why it does not compile: the shape in its own words (eve 08, 09, 21), else the module that threw."""
    if failure.type == BUILD:
        return failure.message
    if failure.type == MALFORMED:
        return as_bundled(failure.message, file)
    return f"Failed to evaluate authored module:\n  {file}"


def cancelled(event: Event) -> tuple[Event, ...]:
    """Source: eve 14."""
    return turn_cancelled(event), session_waiting(event, token=True)


EVE_0_80 = replace(
    EVE,
    name="eve@0.80",
    title="Eve 0.80.1, as shipped",
    version="0.80.1",
    load_rules=LoadRules(failed="{error}", reworded=reworded, refuses=stopped),
    since="0.68.0",  # when a throw came to be logged only, and `ctx.cancel()` came (rules note 3.1)
    systems=(
        replace(
            stream_system_of(EVE),
            vocabulary=VOCABULARY,
            failures=FailureRule(
                stops=False, swallowed=swallowed, logged=logged, cancelled=cancelled, ignored=ignored
            ),
            context=ContextRule(
                session=("id", "auth", "turn", "parent", "schedule", "predecessor"),
                methods=("getSandbox", "cancel"),
            ),
            sessions=OF_0_80,
            files=FileRules(household=HOUSEHOLD),
            marks_python=True,
        ),
    ),
    catalogue=VOCABULARY,
    later={},
)
