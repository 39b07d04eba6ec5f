"""Whether what a user asks for is there: hooks by name, events by key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.orphans import orphans_of
from hookscope.core.standing import Standing
from hookscope.core.text import as_typed, nearest
from hookscope.workbench.astray import astray_of, other_workspaces
from hookscope.workbench.refusal import Refusal

if TYPE_CHECKING:
    from hookscope.core.dialect import Dialect
    from hookscope.workbench.view import View


def no_such_hook(name: str, view: View) -> Refusal:
    """What to say of a name that no hook has: what it is, or what was perhaps meant."""
    inventory = view.inventory
    names = dict.fromkeys(row.hook.name for row in inventory.hooks)
    near = nearest(name, names)
    rejected = next((copy for copy in inventory.rejected if copy.name == name), None)
    if rejected is not None:
        return Refusal(f"{name} in {rejected.path} is no hook: {rejected.reason}.")
    there = next((row for row in inventory.hooks if _is_in(row, name)), None)
    if there is not None:
        then = f"The one in the folder {name} is called {there.hook.name}: its HOOK.md says so."
        return Refusal(f"No hook is named {name!r}.", then)
    astray = astray_of(name, view.host)
    if astray is not None:
        return _astray(name, astray, view)
    entry = next((item for item in orphans_of(inventory, view.host) if item.key == name), None)
    if entry is not None:
        at = f" ({entry.place.file.name}:{entry.place.line})" if entry.place else ""
        said = f"No hook is named {name!r}: {entry.setting}{at} is an entry, and makes none"
        return Refusal(f"{said}.", f"A hook is a folder with a HOOK.md and a handler, in {_looked(view)}.")
    then = f"Did you mean {near}?" if near else f"`hookscope list` shows the {len(names)} there are."
    return Refusal(f"No hook is named {name!r}.", then)


def _astray(name: str, where: Path, view: View) -> Refusal:
    short = view.host.surroundings.short
    product = view.host.dialect.product
    others = other_workspaces(view.host)
    agent = next((agent for agent, folder in others.items() if where.is_relative_to(folder)), None)
    if agent is not None and not where.is_relative_to(view.host.workspace):
        said = f"{name} lies in {short(where)}, in the workspace of the agent {agent}"
        return Refusal(f"{said}.", f"`--agent {as_typed(agent)}` looks there.")
    said = f"{name} lies in {short(where)}, where {product} looks for no hooks."
    return Refusal(said, f"Move its folder to one of those where it looks: {_looked(view)}.")


def _looked(view: View) -> str:
    """The folders of the user where hooks are looked for."""
    short = view.host.surroundings.short
    own = [item for item in view.host.folders if item.source != "bundled" and item.holds == "folder"]
    return " or ".join(dict.fromkeys(short(item.path) for item in own))


def _is_in(row: Standing, name: str) -> bool:
    """Does it stand in a folder of that name, under a name of its own."""
    hook = row.hook
    return hook.kind == "folder" and hook.path is not None and hook.path.name == name


def check_key(view: View, key: str) -> None:
    """Raises Refusal for a key that the host does not know and nobody listens to."""
    catalogue = view.host.dialect.catalogue()
    key = catalogue.canonical(key)
    kind = key.partition(":")[0]
    known = catalogue.find(key)
    listened = any(key in (row.events or ()) for row in view.inventory.hooks)
    family_heard = view.registry.by_key.get(kind) or (known is not None and known.open and ":" in key)
    if known is not None and known.key == key:
        return
    if listened or (known is not None and family_heard):
        return
    near = nearest(key, (*view.keys, *catalogue.by_key))
    raise no_such_event(view, key, near)


def no_such_event(view: View, key: str, near: str | None) -> Refusal:
    """Of a key that is none of this host's events: the host that has it, else the nearest, else the list."""
    from hookscope.dialects import GUIDES

    here = view.host.dialect.product
    others = [other for other in GUIDES if other.product != here and key in other.catalogue().by_key]
    said = f"{key!r} is no event of {here}"
    later = later_of(key, view.host.dialect)
    if later:
        return Refusal(f"{key!r} is not in {here}'s guide; {later} sends it.", f"`--dialect {later}` has it.")
    if others:
        return Refusal(
            f"{said}, but of {others[0].product}.", f"`--dialect {others[0].name}` takes its rules."
        )
    catalogue = view.host.dialect.catalogue()
    if now := catalogue.gone.get(catalogue.canonical(key)):
        return Refusal(f"{said} any more.", f"{now} has taken its place.")
    why, instead = _mistaken(view, key)
    if instead:
        return Refusal(f"{said}{why}.", f"What comes nearest is {' or '.join(instead)}.")
    then = f"Did you mean {near}?" if near else "`hookscope events` lists what there is."
    return Refusal(f"{said}{why}.", " ".join(_namesakes(view, key)) or then)


def _namesakes(view: View, key: str) -> list[str]:
    """What else of the workspace has that name, and how it is fired: a hook, a saved event."""
    from hookscope.workbench.saved import EVENTS  # here: few name something else
    from hookscope.workbench.sections import ENDINGS

    told = []
    events = next((row.events for row in view.inventory.hooks if row.hook.name == key), None) or ()
    heard = [event for event in view.keys if event in events]
    heard += [event for event in view.keys if event.partition(":")[0] in events or "*" in events]
    if heard:
        at = f"{as_typed(heard[0])} --only {as_typed(key)}"
        told.append(f"It is a hook: `hookscope fire {at}` fires at it.")
    folder = view.host.workspace / EVENTS
    files = [Path(key), *(folder / f"{key}{ending}" for ending in ENDINGS)]
    file = next((file for file in files if file.suffix in ENDINGS and os.path.isfile(file)), None)
    if file is not None:
        at = as_typed(view.host.surroundings.short(file.absolute()))
        told.append(f"It is a saved event{', too' * bool(told)}: `hookscope fire {at}` fires it.")
    return told


def _mistaken(view: View, key: str) -> tuple[str, list[str]]:
    """Whose name it is, where that is known, and what this host sends in its place."""
    from hookscope.core.mistaken import listed_as  # here: few mistake a name

    catalogue = view.host.dialect.catalogue()
    listed = listed_as(key, catalogue.mistaken())
    if listed is None:
        return "", []
    names = (*listed.instead, *listed.near, *listed.plugin)
    sent = [name for name in names if name in catalogue.by_key and catalogue.sends(name)]
    return (f": {listed.why}" if listed.why else ""), list(dict.fromkeys(sent))[:3]


def later_of(key: str, dialect: Dialect) -> str | None:
    """The dialect that sends an event which this guide lacks, to hooks of any kind."""
    return dialect.later.get(key) or dialect.later_plugin.get(key)


def stranger(view: View, key: str) -> str:
    """A sentence where the host's documents do not list this very event; empty where they do."""
    catalogue = view.host.dialect.catalogue()
    if catalogue.canonical(key) in catalogue.by_key:
        return ""
    later = later_of(catalogue.canonical(key), view.host.dialect)
    if later:
        there = f"{later} sends it, and `--dialect {later}` has an example"
        return f"{view.host.dialect.product}'s guide does not list {key}: {there}. It is fired all the same."
    near = catalogue.nearest(key)
    then = f" Did you mean {near}?" if near else ""
    return f"{view.host.dialect.product} does not list {key}; it is fired all the same.{then}"


def no_host_command(dialect: Dialect) -> Refusal:
    """Of a dialect that does not know its host's own command, as no guide does."""
    from hookscope.dialects import SHIPPED

    shipped = [known for known in SHIPPED if known.product == dialect.product and known.command is not None]
    then = f" `--dialect {shipped[-1].name}` has it." if shipped else ""
    return Refusal(
        f"The dialect {dialect.name} knows no command of {dialect.product}'s own.",
        f"Leave out --format.{then}",
        code=2,
    )
