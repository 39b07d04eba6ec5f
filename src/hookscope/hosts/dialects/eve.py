"""Eve as its guide for versions 0.11 to 0.26 describes it."""

import re
from functools import partial
from pathlib import Path

from hookscope.hosts.dialects.catalogues import catalogue
from hookscope.hosts.dialects.eve_sessions import GUIDE_SESSIONS
from hookscope.hosts.streams import StreamSystem
from hookscope.hosts.streams.module_folders import FileRules
from hookscope.hosts.streams.stream_policy import (
    CHANNEL,
    FAILURE_CASCADE,
    ContextRule,
    FailureRule,
    role_of,
    session_failed,
    turn_failed,
)
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.host import Dialect, HostLayout, SettingsRules, SwitchRules
from hookscope.model.run import Event, Module, Registration

# Files that Eve's development server loads, highest precedence first; they replace no set variable.
DOTENV = (".env.development.local", ".env.local", ".env.development", ".env")
NEIGHBOUR_PREFIX = "beside\n"  # begins a module's finding: a file beside the module does not load
BUILD = "BuildStopped"
HOOK_FAILED = "HOOK_FAILED"  # the guide names no code


def swallowed_error_log(event: Event, call: Registration, failure: Failure) -> LogLine:
    """Return the log line of an error in a channel or resolver, which has no other effect.

    Source: eve 20 for channels; the host's code for resolvers.
    """
    if role_of(call) == CHANNEL:
        return LogLine("error", "[eve:channel.adapter] adapter event handler threw — event swallowed")
    kind = call.name.partition("/")[0].removesuffix("s")
    return LogLine("error", f"[eve] Dynamic {kind} resolver ({event.type}) threw — skipping.")


def build_failure(module: Module) -> Failure | None:
    """Return the failure of the build if a file beside the module does not load; else None.

    A tool or connection that does not load stops the build, and so every hook (shipped versions).
    """
    failures = sorted(entry for entry in module.findings if entry.startswith(NEIGHBOUR_PREFIX))
    if not failures:
        return None
    file, _, text = failures[0].removeprefix(NEIGHBOUR_PREFIX).partition("\n")
    return Failure(BUILD, f"the build stops at {file}: {text}", phase="load")


def bundled_error_text(text: str, file: str) -> str:
    """Return the error text with the bundler's name for an unnamed class, which is derived from `file`."""
    own = re.sub(r"\W", "_", Path(file).stem, flags=re.ASCII)
    return text.replace("Class constructor default cannot", f"Class constructor {own}_default cannot")


def events_after_throw(event: Event, failure: Failure) -> tuple[Event, ...]:
    """Return the events after a hook throws. Source: Eve's guide, "What happens when a hook throws"."""
    if event.type == "session.failed":
        return ()  # nothing is left to fail
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
        looks_for_bundled_hooks=False,
        markers=("agent/hooks",),
        program="eve",
        packages=("eve",),
    ),
    systems=(
        StreamSystem(
            failure_rule=FailureRule(
                stops_event=True, swallowed_log=swallowed_error_log, events_after_throw=events_after_throw
            ),
            context_rule=ContextRule(),
            session_rules=GUIDE_SESSIONS,
            file_rules=FileRules(),  # the guide mentions no invalid files, so tests are not errors
        ),
    ),
    switch_rules=SwitchRules(when_noticed="Eve notices the change when it builds the project again."),
    entry_env=False,
    settings_rules=SettingsRules(project_dotenv=DOTENV),
    catalogue=partial(catalogue, "eve_0_18"),  # the guide links to a list of events: that of this version
    sequences=("eve_sequences",),
)
