"""Eve, npm package eve 0.80.1, as recorded."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from hookscope.hosts.dialects import eve_0_18
from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.eve import BUILD, EVE, build_failure, bundled_error_text, swallowed_error_log
from hookscope.hosts.dialects.eve_sessions import SESSIONS_0_80
from hookscope.hosts.streams import stream_system_of
from hookscope.hosts.streams.module_folders import AgentLayout, FileRules
from hookscope.hosts.streams.stream_policy import ContextRule, FailureRule, session_waiting, turn_cancelled
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.host import LoadRules
from hookscope.model.run import Event, Registration

AGENT_LAYOUT = AgentLayout(
    eve_0_18.AGENT_LAYOUT.folders | {"extensions", "instrumentation", "memory"},
    root_only=eve_0_18.AGENT_LAYOUT.root_only | {"instrumentation"},
    ignored_folders=frozenset({".devtools", ".eve", ".next", ".output", ".vercel", "node_modules"}),
    allows_dockerfile=True,
    strict_headers=True,
    checks_skill_names=True,
    required_package="eve",
)
MALFORMED = "Malformed"  # the failure of a module of the wrong kind for its folder


def throw_log(event: Event, call: Registration, failure: Failure) -> LogLine:
    """Return the log line of an error that a hook throws; it has no other effect (eve 11, 12, 20)."""
    error = f"{failure.type}: {failure.own_text}" if failure.type else failure.own_text
    return _line("error", "stream event hook failed", event, call, subscription=call.key, error=error)


def ignored_cancel_log(event: Event, call: Registration) -> LogLine:
    """Return the log line of a cancel on an event outside a running turn (eve 15)."""
    return _line("warn", "ctx.cancel() ignored: the event is not part of a running turn", event, call)


def _line(level: str, text: str, event: Event, call: Registration, **members: Any) -> LogLine:
    session = event.ctx.get("session", {})
    log_fields = {
        "hook": call.name,
        **members,
        "eventId": event.meta.get("id"),
        "eventType": event.type,
        "sessionId": session.get("id"),
    }
    return LogLine(level, f"[eve:hooks] {text} {json.dumps(log_fields, ensure_ascii=False, default=str)}")


def load_error_text(failure: Failure, file: str) -> str:
    """Return the host's error about a module that is invalid or throws (eve 08, 09, 21)."""
    if failure.type == BUILD:
        return failure.message
    if failure.type == MALFORMED:
        return bundled_error_text(failure.message, file)
    return f"Failed to evaluate authored module:\n  {file}"


def events_after_cancel(event: Event) -> tuple[Event, ...]:
    """Return the events after a cancel. Source: eve 14."""
    return turn_cancelled(event), session_waiting(event, token=True)


EVE_0_80 = replace(
    EVE,
    name="eve@0.80",
    title="Eve 0.80.1, as shipped",
    version="0.80.1",
    until="0.81.0",
    load_rules=LoadRules(failed="{error}", reword_failure=load_error_text, refusal_of_module=build_failure),
    since="0.68.0",  # the first version that only logs a throw, and has `ctx.cancel()`
    systems=(
        replace(
            stream_system_of(EVE),
            failure_rule=FailureRule(
                stops_event=False,
                swallowed_log=swallowed_error_log,
                hook_log=throw_log,
                events_after_cancel=events_after_cancel,
                ignored_cancel_log=ignored_cancel_log,
            ),
            context_rule=ContextRule(
                session_members=("id", "auth", "turn", "parent", "schedule", "predecessor"),
                ctx_methods=("getSandbox", "cancel"),
            ),
            session_rules=SESSIONS_0_80,
            file_rules=FileRules(layout=AGENT_LAYOUT),
            marks_python=True,
        ),
    ),
    catalogue=partial(catalogue, "eve_0_80", others=(("eve@0.18", "eve_0_18"),)),
    program_report=eve_0_18.DISCOVERY,
)
