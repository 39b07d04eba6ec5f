"""Event keys that can be fired, a template event for each, and contexts read from JSON text."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hookscope.hosts.dialects.catalogues import EXAMPLE_STATE, EXAMPLE_WORKSPACE
from hookscope.hosts.settings.host_opener import known_agent
from hookscope.hosts.streams.stream_policy import event_problems
from hookscope.model.event_catalogue import DEFAULT_SESSION
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import HookStatus, Inventory
from hookscope.model.host import Host
from hookscope.model.payload import with_texts
from hookscope.model.run import Event
from hookscope.model.uncalled_hooks import event_kind_of_key

WORKSPACE_FIELD = "workspaceDir"  # context member with the current workspace


class BadContext(ValueError):
    """A context that is not a JSON object: the problem and its position in the text."""

    def __init__(self, problem: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.problem, self.line, self.column = problem, line, column


def parse_context(text: str) -> dict[str, Any]:
    """Return the context in a JSON text; an empty text is an empty context. Raises BadContext."""
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
        raise BadContext(f"this must be a JSON object, not {_json_kind(value)}")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _json_kind(value: object) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "a string"
        case bool() | None:
            return json.dumps(value)
        case _:
            return "a number"


def event_keys(host: Host, inventory: Inventory) -> tuple[str, ...]:
    """Return the keys that can be fired, without families: the host's, then others with subscribed hooks."""
    known = [event.key for event in host.dialect.catalogue().events if not event.family]
    subscribed = [key for row in inventory.hooks for key in row.events or () if _is_event(key, row)]
    return tuple(dict.fromkeys([*known, *sorted(subscribed)]))


def _is_event(key: str, row: HookStatus) -> bool:
    """Return whether a subscription names one event, not a family or all events."""
    return ":" in key if event_kind_of_key(key, row) == "folder" else key != "*"


def template_event(key: str, host: Host) -> Event:
    """Return a realistic event: the catalogue's example, with the current settings as `cfg`.

    With `--agent`, the event belongs to that agent.
    """
    known = host.dialect.catalogue().find(key)
    event = host.dialect.event_of(key)
    context = _on_this_machine(known.context, host) if known else {}
    if event.kind == "folder":
        context["cfg"] = as_plain(host.settings.value)
    ctx = _on_this_machine(known.ctx, host) if known else {}
    session = known.session if known else DEFAULT_SESSION
    agent = known_agent(host.dialect, host.settings, host.overrides.agent or "")
    made = replace(event, session_key=session, context=context, ctx=ctx)
    if agent is None or not host.overrides.agent:
        return made
    return _event_of_agent(replace(made, session_key=_for_agent(session, agent)), agent)


def event_in_session(event: Event, session: str) -> Event:
    """Return an example in another session; `agent:helper:main` also moves it to the agent `helper`."""
    named = re.match(r"agent:([^:]+):", session)
    made = _event_of_agent(event, named[1]) if named else event
    return replace(made, session_key=session)


def _event_of_agent(event: Event, agent: str) -> Event:
    """Return the example with this agent's ids and files; the settings stay as they are."""
    cfg = {"cfg": event.context["cfg"]} if "cfg" in event.context else {}
    context = {**_for_agent(dict(event.context), agent), **cfg}
    return replace(event, context=context, ctx=_for_agent(dict(event.ctx), agent))


def _for_agent(example: Any, agent: str, key: str = "") -> Any:
    """Return the example with this agent's id, sessions and files in place of those of `main`."""
    if isinstance(example, dict):
        return {name: _for_agent(value, agent, name) for name, value in example.items()}
    if isinstance(example, list):
        return [_for_agent(value, agent) for value in example]
    if not isinstance(example, str):
        return example
    if key == "agentId" and example == "main":
        return agent
    return re.sub(r"^agent:main(?=:)", f"agent:{agent}", example).replace(
        "/agents/main/", f"/agents/{agent}/"
    )


def _on_this_machine(example: Mapping[str, Any], host: Host) -> dict[str, Any]:
    """Return the example with the folders of this workspace and this host: a handler may open the paths."""
    plain = dict(with_example_folders(example, str(host.workspace), str(host.state)))
    return {**plain, WORKSPACE_FIELD: str(host.workspace)} if WORKSPACE_FIELD in plain else plain


def with_example_folders(example: Any, workspace: str, state: str) -> Any:
    """Return a catalogue's example with its example folders replaced by these folders."""

    def moved(text: str) -> str:
        for written, folder in ((EXAMPLE_WORKSPACE, workspace), (EXAMPLE_STATE, state)):
            if text == written or text.startswith(f"{written}/"):
                return folder + text[len(written) :]
        return text

    return with_texts(example, moved)


def check_required_fields(event: Event, host: Host) -> None:
    """Raise Refusal for a stream event without its required fields: no runtime could have sent it."""
    catalogue = host.dialect.catalogue()
    known = catalogue.by_key.get(event.key) if event.kind == "stream" else None
    if known is not None and known.required and (problems := event_problems(event, catalogue)):
        raise Refusal(f"{'; '.join(problems)}.", "Nothing was fired.", code=2)


def as_plain(value: Any) -> Any:
    """Return a copy of settings made of plain dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return value
