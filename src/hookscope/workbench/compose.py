"""Making an event: which keys there are, a template for each, a context read from text."""

import json
from collections.abc import Mapping
from typing import Any

from hookscope.core.dialect import DEFAULT_SESSION, Host
from hookscope.core.hooks import Inventory
from hookscope.core.runs import Event


class BadContext(ValueError):
    """A context that is no JSON object: what is wrong, and where it stands in the text."""

    def __init__(self, problem: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.problem, self.line, self.column = problem, line, column


def parse_context(text: str) -> dict[str, Any]:
    """The context of an event from JSON text; empty text is an empty one. Raises BadContext."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BadContext(error.msg, error.lineno, error.colno) from None
    except RecursionError:
        raise BadContext("nested too deeply") from None
    except ValueError as error:
        raise BadContext(str(error)) from None
    if not isinstance(value, dict):
        raise BadContext(f"a JSON object is wanted, and this is {_kind(value)}")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _kind(value: object) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "a text"
        case bool() | None:
            return json.dumps(value)
        case _:
            return "a number"


def event_keys(host: Host, inventory: Inventory) -> tuple[str, ...]:
    """What can be fired: the host's events, then what hooks listen to beside them. Families left out."""
    known = [event.key for event in host.dialect.catalogue().events if not event.family]
    heard = [key for row in inventory.hooks for key in row.hook.meta.events or () if ":" in key]
    return tuple(dict.fromkeys([*known, *sorted(heard)]))


def template(key: str, host: Host) -> Event:
    """A realistic event of that key: the catalogue's example; for folder hooks with the settings as `cfg`."""
    known = host.dialect.catalogue().find(key)
    of = host.dialect.kind_of_event(key)
    if of != "folder":
        return Event(
            type=host.dialect.catalogue().canonical(key),
            session_key=known.session if known else DEFAULT_SESSION,
            context=as_plain(known.context) if known else {},
            kind=of,
            ctx=as_plain(known.ctx) if known else {},
        )
    kind, _, action = key.partition(":")
    return Event(
        type=kind,
        action=action,
        session_key=known.session if known else DEFAULT_SESSION,
        context=_in_force(dict(known.context) if known else {}, host),
    )


def _in_force(context: dict[str, Any], host: Host) -> dict[str, Any]:
    """The example made true here: the workspace in force, and the settings that hooks read."""
    if "workspaceDir" in context:
        context["workspaceDir"] = str(host.workspace)
    return {**context, "cfg": as_plain(host.settings.value)}


def as_plain(value: Any) -> Any:
    """A copy of settings made of plain dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return value
