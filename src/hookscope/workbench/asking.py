"""Whether what a user asks for is there: hooks by name, events by key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.core.inventory import Inventory
from hookscope.core.standing import Standing
from hookscope.core.text import nearest
from hookscope.workbench.refusal import Refusal

if TYPE_CHECKING:
    from hookscope.core.dialect import Dialect
    from hookscope.workbench.view import View


def no_such_hook(name: str, inventory: Inventory) -> Refusal:
    """What to say of a name that no hook has: what it is, or what was perhaps meant."""
    names = dict.fromkeys(row.hook.name for row in inventory.hooks)
    near = nearest(name, names)
    rejected = next((copy for copy in inventory.rejected if copy.name == name), None)
    if rejected is not None:
        return Refusal(f"{name} in {rejected.path} is no hook: {rejected.reason}.")
    there = next((row for row in inventory.hooks if _is_in(row, name)), None)
    if there is not None:
        then = f"The one in the folder {name} is called {there.hook.name}: its HOOK.md says so."
        return Refusal(f"No hook is named {name!r}.", then)
    then = f"Did you mean {near}?" if near else f"`hookscope list` shows the {len(names)} there are."
    return Refusal(f"No hook is named {name!r}.", then)


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
    why, instead = _mistaken(view, key)
    if instead:
        return Refusal(f"{said}{why}.", f"What comes nearest is {' or '.join(instead)}.")
    then = f"Did you mean {near}?" if near else "`hookscope events` lists what there is."
    return Refusal(f"{said}{why}.", then)


def _mistaken(view: View, key: str) -> tuple[str, list[str]]:
    """Whose name it is, where that is known, and what this host sends in its place."""
    from hookscope.lint.events import listed_as  # here: few mistake a name
    from hookscope.workbench.mistaken import mistaken_names

    listed, catalogue = listed_as(key, mistaken_names()), view.host.dialect.catalogue()
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
