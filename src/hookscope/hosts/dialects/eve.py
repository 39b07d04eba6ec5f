"""Eve, as its guide says (seed 002, that of 0.11 to 0.26)."""

import re
from functools import partial
from pathlib import Path

from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.eve_sessions import GUIDE_SESSIONS
from hookscope.hosts.streams import StreamSystem
from hookscope.hosts.streams.module_folders import FileRules
from hookscope.hosts.streams.stream_events import (
    FAILURE_CASCADE,
    ContextRule,
    session_failed,
    turn_failed,
)
from hookscope.hosts.streams.stream_policy import CHANNEL, FailureRule, role_of
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.host import Dialect, HostLayout, SettingsRules, SwitchRules
from hookscope.model.run import Event, Module, Registration

# What its development server reads into the environment, the strongest first; what is set there stays.
DOTENV = (".env.development.local", ".env.local", ".env.development", ".env")
NEIGHBOUR_PREFIX = "beside\n"  # what a module is failed for: a file beside it that does not load, and why
BUILD = "BuildStopped"
HOOK_FAILED = "HOOK_FAILED"  # the guide gives its failures no code
# The guide names a page that lists the events; this is its version's.
VOCABULARY = partial(catalogue, "eve_0_18")
# What versions behind the guide's came to send.
LATER = (
    "action.input.appended",
    "action.partial",
    "agent.started",
    "approval.candidate",
    "approval.settled",
    "context.cleared",
    "input.resolved",
    "task.settled",
    "task.started",
    "turn.cancelled",
    "turn.waiting",
)


def swallowed_error_log(event: Event, call: Registration, failure: Failure) -> LogLine:
    """A channel's or a resolver's throw, which changes nothing (eve 20; read for resolvers)."""
    if role_of(call) == CHANNEL:
        return LogLine("error", "[eve:channel.adapter] adapter event handler threw — event swallowed")
    kind = call.name.partition("/")[0].removesuffix("s")
    return LogLine("error", f"[eve] Dynamic {kind} resolver ({event.type}) threw — skipping.")


def build_failure(module: Module) -> Failure | None:
    """As shipped: a tool or connection that does not load stops the build, and so every hook."""
    told = sorted(one for one in module.asked if one.startswith(NEIGHBOUR_PREFIX))
    if not told:
        return None
    file, _, text = told[0].removeprefix(NEIGHBOUR_PREFIX).partition("\n")
    return Failure(BUILD, f"the build stops at {file}: {text}", phase="load")


def bundled_error_text(text: str, file: str) -> str:
    """A class without a name has one in what the bundler makes: that of its file."""
    own = re.sub(r"\W", "_", Path(file).stem, flags=re.ASCII)
    return text.replace("Class constructor default cannot", f"Class constructor {own}_default cannot")


def events_after_throw(event: Event, failure: Failure) -> tuple[Event, ...]:
    """Source: seed 002, "What happens when a hook throws"."""
    if event.type == "session.failed":
        return ()  # there is nothing left that could fail
    if event.type in FAILURE_CASCADE:
        return (session_failed(event, HOOK_FAILED, failure.own_text),)
    return (turn_failed(event, HOOK_FAILED, failure.own_text),)


EVE = Dialect(
    name="eve",
    title="Eve, as its guide says",
    product="Eve",
    layout=HostLayout(
        state="",
        settings="",
        workspace="",
        workspace_path=(),
        bundles=False,
        markers=("agent/hooks",),
        program="eve",
        packages=("eve",),
    ),
    systems=(
        StreamSystem(
            vocabulary=VOCABULARY,
            failures=FailureRule(stops=True, swallowed=swallowed_error_log, follows=events_after_throw),
            context=ContextRule(),
            sessions=GUIDE_SESSIONS,
            files=FileRules(),  # the guide tells of no file that is an error, so tests are none
        ),
    ),
    switching=SwitchRules(notices="Eve notices when it builds the project again."),
    entry_env=False,
    settings_rules=SettingsRules(project_dotenv=DOTENV),
    catalogue=VOCABULARY,
    later=dict.fromkeys(LATER, "eve@0.80"),
    sequences=("eve_sequences",),
)
