"""Errors for unknown hooks and events, with the closest match, and for hooks in unscanned folders."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.engine.settings_entries import orphaned_entries
from hookscope.hosts.folders.hook_discovery import MANIFEST
from hookscope.hosts.settings.host_opener import agent_names, configured_workspace
from hookscope.model.failure import Refusal
from hookscope.model.host import Host
from hookscope.model.machine import Files
from hookscope.model.text import did_you_mean, nearest_word, shell_path

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.model.host import Dialect

DEEPEST = 5  # folders below the workspace and the host's own folder
MOST = 3000  # folders searched: the user is waiting
HEADER_BYTES = 4096
# besides names that begin with a dot
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "sessions"})


def agent_workspaces(host: Host) -> dict[str, Path]:
    """Return the workspaces of the other agents in the settings, by agent."""
    names = agent_names(host.dialect, host.settings)
    arguments = host.dialect, host.machine, host.settings, host.state
    found = {name: configured_workspace(*arguments, name) for name in names}
    return {name: folder for name, folder in found.items() if folder != host.workspace}


def misplaced_hook(name: str, host: Host) -> Path | None:
    """Return the first folder with a HOOK.md whose folder or `name:` is this name, scanned or not."""
    roots = dict.fromkeys((host.workspace, host.state, *agent_workspaces(host).values()))
    files = host.machine.files
    is_named = re.compile(rf"^name:\s*[\"']?{re.escape(name)}[\"']?\s*$", re.MULTILINE)
    for folder in islice(_folders(tuple(roots), files), MOST):
        manifest = folder / MANIFEST
        if files.facts(manifest) is not None and (
            folder.name == name or is_named.search(_head(manifest, files))
        ):
            return folder
    return None


def _folders(roots: tuple[Path, ...], files: Files) -> Iterator[Path]:
    """Yield all folders below the roots, nearest first. Links are not followed."""
    queue = deque((root, 0) for root in roots)
    while queue:
        folder, depth = queue.popleft()
        yield folder
        if depth == DEEPEST:
            continue
        try:
            items = files.children(folder)
        except OSError:
            continue
        queue.extend(
            (folder / item.name, depth + 1)
            for item in items
            if item.folder
            and not item.linked
            and not item.name.startswith(".")
            and item.name not in SKIPPED_FOLDERS
        )


def _head(file: Path, files: Files) -> str:
    try:
        return files.read(file, HEADER_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def no_such_hook(name: str, view: Snapshot) -> Refusal:
    """Return the error for an unknown hook: what else has this name, or the closest match."""
    inventory = view.inventory
    names = dict.fromkeys(row.hook.name for row in inventory.hooks)
    path = view.host.machine.absolute(name)
    places = (path, *path.parents) if os.sep in name else ()
    rejected = next((copy for copy in inventory.rejected if copy.name == name or copy.path in places), None)
    if rejected is not None:
        return Refusal(f"{rejected.name or name} in {rejected.path} is not a hook: {rejected.reason}.")
    at_path = next((row.hook.name for row in inventory.hooks if row.hook.path in places), None)
    closest = at_path or nearest_word(name, names)
    if name in view.host.dialect.catalogue().by_key:
        next_step = f"It is an event: `hookscope plan {shell_path(name)}` shows the hooks that it would call."
        return Refusal(f"No hook is named {name!r}.", next_step)
    hooks = (row.hook for row in inventory.hooks if row.hook.kind == "folder")
    in_folder = next((hook.name for hook in hooks if hook.path is not None and hook.path.name == name), None)
    if in_folder is not None:
        next_step = f"The hook in the folder {name} is named {in_folder} in its HOOK.md."
        return Refusal(f"No hook is named {name!r}.", next_step)
    misplaced = misplaced_hook(name, view.host)
    if misplaced is not None:
        return _misplaced_message(name, misplaced, view)
    entry = next((item for item in orphaned_entries(inventory, view.host) if item.key == name), None)
    if entry is not None:
        at = f" ({entry.place.file.name}:{entry.place.line})" if entry.place else ""
        problem = f"No hook is named {name!r}: {entry.setting}{at} is only a settings entry"
        return Refusal(
            f"{problem}.", f"A hook is a folder with a HOOK.md and a handler, in {_scanned_folders(view)}."
        )
    next_step = f"`hookscope list` shows all {len(names)} hooks."
    if not view.host.machine.cwd.is_relative_to(view.host.workspace):
        workspace = view.host.machine.short(view.host.workspace)
        next_step += f" The workspace is {workspace}; `--workspace DIR` names another."
    return Refusal(f"No hook is named {name!r}.", did_you_mean(closest, next_step))


def _misplaced_message(name: str, where: Path, view: Snapshot) -> Refusal:
    short = view.host.machine.short
    product = view.host.dialect.product
    others = agent_workspaces(view.host)
    agent = next((agent for agent, folder in others.items() if where.is_relative_to(folder)), None)
    if agent is not None and not where.is_relative_to(view.host.workspace):
        problem = f"{name} is in {short(where)}, in the workspace of the agent {agent}"
        return Refusal(f"{problem}.", f"`--agent {shell_path(agent)}` looks there.")
    problem = f"{name} is in {short(where)}, which {product} does not scan for hooks."
    return Refusal(problem, f"Move it to a folder that is scanned: {_scanned_folders(view)}.")


def _scanned_folders(view: Snapshot) -> str:
    """Return the user's folders that are scanned for folder hooks, as text."""
    short = view.host.machine.short
    own = [item for item in view.host.folders if item.source != "bundled" and item.hook_kind == "folder"]
    return " or ".join(dict.fromkeys(short(item.path) for item in own))


def check_key(view: Snapshot, key: str) -> None:
    """Raise Refusal for a key that the host does not know and no hook subscribes to."""
    catalogue = view.host.dialect.catalogue()
    key = catalogue.canonical(key)
    kind = key.partition(":")[0]
    known = catalogue.find(key)
    is_subscribed = any(key in (row.events or ()) for row in view.inventory.hooks)
    is_family_known = view.registry.by_key.get(kind) or (known is not None and known.open and ":" in key)
    if known is not None and known.key == key:
        return
    if is_subscribed or (known is not None and is_family_known):
        return
    closest = nearest_word(key, (*view.keys, *catalogue.by_key))
    raise no_such_event(view, key, closest)


def no_such_event(view: Snapshot, key: str, closest: str | None) -> Refusal:
    """Return the error for an unknown event: the host that has it, else the closest match, else the list."""
    from hookscope.hosts.dialects import GUIDES

    product = view.host.dialect.product
    others = [other for other in GUIDES if other.product != product and key in other.catalogue().by_key]
    problem = f"{key!r} is not an event of {product}"
    later = dialect_sending(key, view.host.dialect)
    if later:
        return Refusal(
            f"{key!r} is not in {product}'s guide; {later} sends it.", f"`--dialect {later}` has it."
        )
    if others:
        return Refusal(
            f"{problem}, but of {others[0].product}.", f"`--dialect {others[0].name}` uses its rules."
        )
    catalogue = view.host.dialect.catalogue()
    if now := catalogue.renamed.get(catalogue.canonical(key)):
        return Refusal(f"{problem} any more.", f"{now} replaces it.")
    why, instead = _event_typo(view, key)
    if instead:
        return Refusal(f"{problem}{why}.", f"The closest match is {' or '.join(instead)}.")
    closest = closest or next((known for known in catalogue.by_key if known.endswith(f":{key}")), None)
    next_step = did_you_mean(closest, "`hookscope events` lists all events.")
    return Refusal(f"{problem}{why}.", " ".join(_same_names(view, key)) or next_step)


def _same_names(view: Snapshot, key: str) -> list[str]:
    """Return sentences about a hook or a saved event of that name, and how to fire it."""
    from hookscope.app.project_config import EVENTS_FOLDER, YAML_ENDINGS  # rarely needed

    messages = []
    events = next((row.events for row in view.inventory.hooks if row.hook.name == key), None) or ()
    subscribed = [event for event in view.keys if event in events]
    subscribed += [event for event in view.keys if event.partition(":")[0] in events or "*" in events]
    if subscribed:
        at = f"{shell_path(subscribed[0])} --only {shell_path(key)}"
        messages.append(f"It is a hook: `hookscope fire {at}` fires an event at it.")
    folder = view.host.workspace / EVENTS_FOLDER
    files = [Path(key), *(folder / f"{key}{ending}" for ending in YAML_ENDINGS)]
    file = next((file for file in files if file.suffix in YAML_ENDINGS and os.path.isfile(file)), None)
    if file is not None:
        at = shell_path(view.host.machine.short(file.absolute()))
        messages.append(f"It is a saved event{', too' * bool(messages)}: `hookscope fire {at}` fires it.")
    return messages


def _event_typo(view: Snapshot, key: str) -> tuple[str, list[str]]:
    """Return why the name is a known mistake, and up to three events that this host sends instead."""
    from hookscope.model.event_typos import typo_entry  # rarely needed

    catalogue = view.host.dialect.catalogue()
    listed = typo_entry(key, catalogue.typos())
    if listed is None:
        return "", []
    names = (*listed.instead, *listed.near, *listed.plugin)
    sent = [name for name in names if name in catalogue.by_key and catalogue.sends(name)]
    return (f": {listed.why}" if listed.why else ""), list(dict.fromkeys(sent))[:3]


def dialect_sending(key: str, dialect: Dialect) -> str | None:
    """Return the later dialect that sends this event, if the guide does not list it."""
    return dialect.later_events.get(key) or dialect.later_plugin_events.get(key)


def undocumented_event_note(view: Snapshot, key: str) -> str:
    """Return a note if the host does not document this event; else an empty text."""
    catalogue = view.host.dialect.catalogue()
    if catalogue.canonical(key) in catalogue.by_key:
        return ""
    later = dialect_sending(catalogue.canonical(key), view.host.dialect)
    if later:
        sender = f"{later} sends it, and `--dialect {later}` has an example"
        return f"{view.host.dialect.product}'s guide does not list {key}: {sender}. It is fired anyway."
    closest = catalogue.nearest(key)
    next_step = f" Did you mean {closest}?" if closest else ""
    return f"{view.host.dialect.product} does not list {key}; it is fired anyway.{next_step}"


def host_command_missing(dialect: Dialect) -> Refusal:
    """Return the error for a dialect without a command of the host's own, such as every guide."""
    from hookscope.hosts.dialects import SHIPPED

    shipped = [known for known in SHIPPED if known.product == dialect.product and known.command is not None]
    next_step = f" `--dialect {shipped[0].name}` has it." if shipped else ""
    return Refusal(
        f"The dialect {dialect.name} has no command of {dialect.product}'s own.",
        f"Leave out --format.{next_step}",
        code=2,
    )
