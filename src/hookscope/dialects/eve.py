"""Eve, as its guide says (seed 002, that of 0.11 to 0.26)."""

import re
from functools import partial
from pathlib import Path

from hookscope.core.dialect import Dialect
from hookscope.core.failure import Failure
from hookscope.core.hooks import LogLine
from hookscope.core.rules import Layout, SettingsRules, Switching
from hookscope.core.runs import Event, Module, Registration
from hookscope.dialects.catalogues import catalogue
from hookscope.dialects.eve_sessions import OF_GUIDE
from hookscope.systems.streams import ContextRule, FailureRule, FileRules, StreamSystem
from hookscope.systems.streams.arranging import CHANNEL, role_of
from hookscope.systems.streams.cascade import FAILURE_CASCADE, session_failed, turn_failed

# What its development server reads into the environment, the strongest first; what is set there stays.
DOTENV = (".env.development.local", ".env.local", ".env.development", ".env")
BESIDE = "beside\n"  # what a module is failed for: a file beside it that does not load, and why
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


def swallowed(event: Event, call: Registration, failure: Failure) -> LogLine:
    """A channel's or a resolver's throw, which changes nothing (eve 20; read for resolvers)."""
    if role_of(call) == CHANNEL:
        return LogLine("error", "[eve:channel.adapter] adapter event handler threw — event swallowed")
    kind = call.name.partition("/")[0].removesuffix("s")
    return LogLine("error", f"[eve] Dynamic {kind} resolver ({event.type}) threw — skipping.")


def stopped(module: Module) -> Failure | None:
    """As shipped: a tool or connection that does not load stops the build, and so every hook."""
    told = sorted(one for one in module.asked if one.startswith(BESIDE))
    if not told:
        return None
    file, _, text = told[0].removeprefix(BESIDE).partition("\n")
    return Failure(BUILD, f"the build stops at {file}: {text}", phase="load")


def as_bundled(text: str, file: str) -> str:
    """A class without a name has one in what the bundler makes: that of its file."""
    own = re.sub(r"\W", "_", Path(file).stem, flags=re.ASCII)
    return text.replace("Class constructor default cannot", f"Class constructor {own}_default cannot")


def surfaces(event: Event, failure: Failure) -> tuple[Event, ...]:
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
    layout=Layout(
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
            failures=FailureRule(stops=True, swallowed=swallowed, follows=surfaces),
            context=ContextRule(),
            sessions=OF_GUIDE,
            files=FileRules(),  # the guide tells of no file that is an error, so tests are none
        ),
    ),
    switching=Switching(notices="Eve notices when it builds the project again."),
    entry_env=False,
    settings_rules=SettingsRules(project_dotenv=DOTENV),
    catalogue=VOCABULARY,
    later=dict.fromkeys(LATER, "eve@0.80"),
    sequences=("eve_sequences",),
)
