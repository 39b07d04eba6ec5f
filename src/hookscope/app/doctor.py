"""The findings of `doctor`: what was detected, from where, and what is missing, with the next step."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hookscope.app.project_config import environment_files, read_workspace_environment
from hookscope.app.trust_requests import untrusted_folders
from hookscope.app.unknown_names import agent_workspaces
from hookscope.app.variables import dotenv_of
from hookscope.engine.settings_entries import orphaned_entries
from hookscope.helpers import helper_output
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import State
from hookscope.model.regular_file import FILE_LIMIT_HINT, is_file_limit
from hookscope.model.text import error_reason, shell_path
from hookscope.model.trust import ABOVE_WORKSPACE_REASON, TrustTarget, too_broad_reason, trusted_folders
from hookscope.runtime.executors import OLDEST_NODE, Node, NoNode, missing_features
from hookscope.runtime.limits import size_in_words
from hookscope.runtime.orphan_processes import find_marked
from hookscope.storage.state_files import DOTENV, is_writable, state_folder
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.options import Setup
    from hookscope.app.snapshot import Snapshot
    from hookscope.model.hook import Problem

OLDEST_PYTHON = (3, 9)  # oldest Python that runs a worker
PATIENCE = 10  # seconds for an interpreter to print its version


@dataclass(frozen=True, slots=True)
class SetupFinding:
    """One item of the setup. `ok`: nothing needs to be done."""

    name: str
    found: str
    ok: bool = True
    next_step: str = ""


def examine_setup(view: Snapshot, setup: Setup, node: Node | NoNode) -> tuple[SetupFinding, ...]:
    """Return everything that decides what Hookscope shows here. Runs the handlers' interpreter once."""
    return (
        SetupFinding("dialect", f"{view.host.dialect.name}, {view.dialect_reason}"),
        *([SetupFinding("as shipped", view.shipped_summary)] if view.shipped_summary else []),
        *_places(view),
        *_variables(view, setup),
        *_folders(view),
        *_stopped(view),
        *_orphans(view),
        *_packs(view),
        _trusted(view),
        *_too_wide(view),
        _python(view, setup),
        _node(view, node),
        SetupFinding("limits", f"start {_seconds(view.limits.spawn)}, {view.limits.in_words()}"),
        *_workers(),
    )


def _seconds(limit: float | None) -> str:
    return "without limit" if limit is None else f"{limit:g} s"


def _places(view: Snapshot) -> Iterator[SetupFinding]:
    host, short = view.host, view.host.machine.short
    exists = os.path.isdir(host.workspace)
    next_step = "" if exists else "Run in the agent's folder, or name it with `--workspace DIR`."
    yield SetupFinding(
        "workspace", f"{host.workspace}" + ("" if exists else ", which does not exist"), exists, next_step
    )
    for agent, folder in agent_workspaces(host).items():
        yield SetupFinding(
            "agent", f"{agent} has a workspace of its own, {short(folder)}: `--agent {agent}` looks there"
        )
    wrong = [*host.settings.problems, *host.problems, *_of_settings(view)]
    file = short(host.settings.file)
    for one in wrong:
        at = one.place.file if one.place is not None else host.settings.file
        next_step = f"Fix {short(at)}." if os.access(at, os.R_OK) else f"Make {short(at)} readable."
        yield SetupFinding("settings", one.sentence, False, next_step)
    for one in view.inventory.problems:
        if one.unread_rank is not None:
            yield SetupFinding("folders", one.sentence, False, "Make it readable, or remove it.")
    if host.settings.exists and not wrong:
        yield SetupFinding("settings", file)
    elif host.dialect.layout.settings and not host.settings.exists:
        yield SetupFinding("settings", f"none yet; they belong in {file}")
    if is_writable(state_folder()):
        yield SetupFinding("state", f"{short(state_folder())}, for runs, trust and undo")
    else:
        next_step = "Runs, trust and undo cannot be stored. Set HOOKSCOPE_STATE_DIR to another folder."
        yield SetupFinding("state", f"{short(state_folder())}, which cannot be written", False, next_step)


def _of_settings(view: Snapshot) -> Iterator[Problem]:
    """Yield problems in the settings file that only the scan found, not the settings reader."""
    known, file = (*view.host.settings.problems, *view.host.problems), view.host.settings.file
    for one in view.inventory.problems:
        if one not in known and one.place is not None and one.place.file == file:
            yield one


def _variables(view: Snapshot, setup: Setup) -> Iterator[SetupFinding]:
    """Yield the sources of variables for events, besides the environment."""
    workspace, name = view.host.workspace, setup.environment
    if name is not None:
        try:
            chosen = read_workspace_environment(workspace, name)
        except Refusal as refused:
            yield SetupFinding(
                "environment", f"{setup.environment_from}: {refused.problem}", False, refused.next_step
            )
        else:
            found = f"{name}, {setup.environment_from}: {_counted(chosen.variables)}"
            yield SetupFinding("environment", found)
    elif known := environment_files(workspace):
        yield SetupFinding("environment", f"none of {', '.join(known)}; `--environment NAME` chooses one")
    read = [name for name in setup.dialect.settings_rules.project_dotenv if os.path.isfile(workspace / name)]
    if read:
        yield SetupFinding("handlers get", f"the variables of {' and '.join(read)}, unless already set")
    if lines := dotenv_of(workspace):
        yield SetupFinding("variables", f"{_counted(lines)} in {view.host.machine.short(workspace / DOTENV)}")


def _counted(variables: Mapping[str, str]) -> str:
    return f"{len(variables)} variable{'s' * (len(variables) != 1)}"


def _folders(view: Snapshot) -> Iterator[SetupFinding]:
    counts = Counter(id(row.hook.folder) for row in view.inventory.hooks)
    for folder in sorted(view.folders, key=lambda folder: -folder.rank):
        count = counts[id(folder)]
        what = "absent" if folder.real is None else f"{count} hook{'s' * (count != 1)}"
        yield SetupFinding(f"{folder.source} hooks", f"{view.host.machine.short(folder.path)}: {what}")


def _stopped(view: Snapshot) -> Iterator[SetupFinding]:
    """Yield a finding if all of the user's own hooks are stopped for the same reason other than trust."""
    own = [
        row
        for row in view.inventory.hooks
        if row.hook.folder.source != "bundled" and row.state is not State.SHADOWED
    ]
    reasons = {row.verdict.why(view.host.machine.short) for row in own}
    if len(reasons) == 1 and own[0].state not in (State.READY, State.UNTRUSTED):
        found = f"none of your own would run: {reasons.pop()}"
        next_step = f"`hookscope fix {shell_path(own[0].hook.name)}` shows how to fix it."
        yield SetupFinding("hooks", found, False, next_step)


def _orphans(view: Snapshot) -> Iterator[SetupFinding]:
    for item in orphaned_entries(view.inventory, view.host):
        at = f" ({item.place.file.name}:{item.place.line})" if item.place else ""
        next_step = f"It has no effect: {item.advice}" + ("" if item.closest_keys else ".")
        yield SetupFinding("entry", f"{item.setting}{at} matches no hook", False, next_step)


def _packs(view: Snapshot) -> Iterator[SetupFinding]:
    """Yield packs whose list of hooks does not match their folders."""
    short = view.host.machine.short
    for item in view.inventory.rejected:
        if item.place is not None and item.place.file.name == "package.json":
            next_step = f"Fix the list in {short(item.place.file)}:{item.place.line}, or the folder."
            yield SetupFinding("pack", f"{short(item.path)}: {item.reason}", False, next_step)


def _trusted(view: Snapshot) -> SetupFinding:
    short = view.host.machine.short
    waiting = sorted(untrusted_folders(view), key=lambda target: short(target.folder))
    if not waiting:
        return SetupFinding("trust", "every hook that could run is trusted")
    offer = waiting[0].allow_hint(short)
    found = f"not trusted yet: {', '.join(target.path_text(short) for target in waiting)}"
    return SetupFinding("trust", found, False, f"{offer[:1].upper()}{offer[1:]}.")


def _too_wide(view: Snapshot) -> Iterator[SetupFinding]:
    """Yield recorded trust that is ignored, since the folder is too broad."""
    short, counted = view.host.machine.short, trusted_folders(view.host)
    for folder in sorted(view.host.trust.folders - counted):
        target = TrustTarget(folder, too_broad_reason(folder, view.host) or ABOVE_WORKSPACE_REASON)
        found = f"the trust in {folder}, from an earlier version, is no longer valid: {target.refusal_reason}"
        next_step = f"Trust the hooks folders below it; `{target.command(short)}` trusts it again."
        yield SetupFinding("trust", found, False, next_step)


def _python(view: Snapshot, setup: Setup) -> SetupFinding:
    named_program = setup.python
    if named_program is not None and not named_program.is_trusted(view.host):
        return SetupFinding("python", named_program.untrusted_reason, False, f"{named_program.trust_hint}.")
    python = named_program.path if named_program is not None else sys.executable
    next_step = "Set `python:` in .hookscope/config.yaml to Python 3.9 or newer."
    try:
        command = [python, "-I", "-c", "import sys; print(*sys.version_info[:3], sep='.')"]
        answer = helper_output(command, seconds=PATIENCE, workspace=[view.host.workspace])
        version = tuple(int(part) for part in answer.text.strip().split("."))
    except (OSError, ValueError) as error:
        why = error_reason(error) if isinstance(error, OSError) else "its output is not a version"
        next_step = FILE_LIMIT_HINT if is_file_limit(error) else next_step
        return SetupFinding("python", f"{python} does not report its version: {why}", False, next_step)
    found = f"{python}, version {answer.text.strip()}"
    is_supported = version >= OLDEST_PYTHON
    return SetupFinding(
        "python",
        found if is_supported else f"{found}, too old for handlers",
        is_supported,
        "" if is_supported else next_step,
    )


def _node(view: Snapshot, node: Node | NoNode) -> SetupFinding:
    needing = [row.hook for row in view.inventory.hooks if row.hook.language in ("typescript", "javascript")]
    need = "1 hook needs it" if len(needing) == 1 else f"{len(needing)} hooks need it"
    names = ", ".join(hook.name for hook in needing[:5])
    for_whom = f"{need}: {names}" if needing else "no hook here needs it"
    is_supported = all(hook.language in node.languages for hook in needing)
    if isinstance(node, Node):
        found = f"{node.path}, version {node.version}, {node.origin}; {for_whom}"
        return SetupFinding("node", found, is_supported, next_step=missing_features(node))
    found = f"no Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer: {node.reason}; {for_whom}"
    next_step = node.next_step[:1].upper() + node.next_step[1:]
    return SetupFinding("node", found, is_supported, f"{next_step}." if needing else "")


def _workers() -> Iterator[SetupFinding]:
    """Yield the worker processes of all consoles and commands, as far as the system shows them."""
    processes = find_marked()
    leaders = [process for process in processes if process.pid == process.group]
    strays = [process for process in processes if process.pid != process.group and process.parent == 1]
    for process in leaders:
        memory = size_in_words(process.memory)
        owner = process.host.partition("-")[0]
        yield SetupFinding(
            "worker", f"{process.pid} of hookscope {owner}, {process.age:.0f} s old, {memory}: {process.name}"
        )
    for process in strays:
        next_step = f"A handler left it behind; `kill {process.pid}` ends it."
        yield SetupFinding(
            "left over", f"{process.pid}, {process.age:.0f} s old: {process.name}", False, next_step
        )
    if not processes:
        yield SetupFinding("workers", "none running")
