"""Eve, npm package eve 0.18.1, as recorded."""

import re
from dataclasses import replace
from functools import partial

from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.eve import BUILD, EVE, build_failure, bundled_error_text, swallowed_error_log
from hookscope.hosts.dialects.eve_sessions import SESSIONS_0_18
from hookscope.hosts.program_answers import discovered_items, discovery_answers
from hookscope.hosts.streams import stream_system_of
from hookscope.hosts.streams.module_folders import AgentLayout, FileRules
from hookscope.hosts.streams.stream_policy import (
    ContextRule,
    FailureRule,
    session_failed,
    session_waiting,
    step_failed,
    turn_failed,
)
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.host import LoadRules
from hookscope.model.program_report import ProgramReport
from hookscope.model.run import Event, Registration

# Sent while the model's reply is handled: a throw counts as a failure of the model (eve 12).
MODEL_STEP_EVENTS = """
reasoning.appended reasoning.completed message.appended message.completed actions.requested action.result
step.completed
"""
IN_THE_MODEL_STEP = frozenset(MODEL_STEP_EVENTS.split())
AGENT_LAYOUT = AgentLayout(
    frozenset({"channels", "connections", "hooks", "instructions", "lib", "sandbox", "schedules", "skills"})
    | {"subagents", "tools"},
    root_only=frozenset({"channels"}),
)
DISCOVERY = ProgramReport(
    discovered_items,
    discovery_answers,
    module="dist/src/discover/discover-agent.js",
    function="discoverAgent",
    workspace_entries=("agent", "package.json", "node_modules"),
)
FILE = r' from "([^"]+)" '  # in the error of a refused module
FAILED = r'(?s)Failed to execute the hook export "[^"]*" from "([^"]+)": (.*)'
REPEATED = 'Step "step//eve@0.18.1//turnStep" failed after 3 retries: {error}'


def throw_log(event: Event, call: Registration, failure: Failure) -> LogLine:
    """Return the log line of an error that a hook throws; it does not name the hook (eve 11 and 12)."""
    if event.type in IN_THE_MODEL_STEP:
        text = f"model call failed — parking session for retry by the user: {failure.own_text}"
        return LogLine("error", f"[eve:harness.tool-loop] {text}")
    text = (
        f"workflow loop threw — emitting terminal session.failed: {REPEATED.format(error=failure.own_text)}"
    )
    return LogLine("error", f"[eve:execution.workflow-entry] {text}")


def events_after_throw(event: Event, failure: Failure) -> tuple[Event, ...]:
    """Return the events after a throw in an event fired by hand; a session first repeats the step."""
    message = failure.own_text
    if event.type in IN_THE_MODEL_STEP:
        failed = (build(event, "MODEL_CALL_FAILED", message) for build in (step_failed, turn_failed))
        return (*failed, session_waiting(event, token=False))
    return (session_failed(event, "FatalError", REPEATED.format(error=message), outside=True),)


def load_error_text(failure: Failure, file: str) -> str:
    """Return the error about an invalid module in the words of this version (eve 08, 09, 21)."""
    if failure.type == BUILD:
        return failure.message
    if failed := re.match(FAILED, failure.message):
        return f'Failed to attach hook handlers from "{failed[1]}": {bundled_error_text(failed[2], file)}'
    text = re.sub(r"for (events\.\S+)\.$", r'for "\1".', failure.message)
    text = text.replace("to expose events as", "to expose `events` as")
    place = re.search(FILE, text)
    return f'Failed to attach hook handlers from "{place[1]}": {text}' if place else text


EVE_0_18 = replace(
    EVE,
    load_rules=LoadRules(failed="{error}", reword_failure=load_error_text, refusal_of_module=build_failure),
    name="eve@0.18",
    title="Eve 0.18.1, as shipped",
    version="0.18.1",
    until="0.19.0",
    catalogue=partial(catalogue, "eve_0_18", others=(("eve@0.80", "eve_0_80"),)),
    program_report=DISCOVERY,
    systems=(
        replace(
            stream_system_of(EVE),
            failure_rule=FailureRule(
                stops_event=True,
                swallowed_log=swallowed_error_log,
                hook_log=throw_log,
                events_after_throw=events_after_throw,
            ),
            context_rule=ContextRule(
                stamps_ids=False,
                shows_envelope=False,
                dataless_events=frozenset({"session.completed"}),
                session_members=("id", "auth", "turn", "parent"),
                ctx_methods=("getSandbox", "getSkill"),
            ),
            session_rules=SESSIONS_0_18,
            file_rules=FileRules(skips_tests=False, skips_declarations=False, layout=AGENT_LAYOUT),
            unreachable_events={
                "subagent.called": "subagent.called reaches the channel and the stream, but no hook"
            },
            marks_python=True,
        ),
    ),
)
