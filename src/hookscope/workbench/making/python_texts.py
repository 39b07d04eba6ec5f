"""The Python that a new hook begins with. Only names that were checked stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.core.event_types import EVERY
from hookscope.workbench.making.events import GUARDED, Heard
from hookscope.workbench.making.words import PRINTED, PUSHED, WORSE, both_of


def handler(name: str, events: Sequence[Heard]) -> str:
    """`handler.py` of a HOOK.md folder."""
    return "\n".join(['"""What this hook does."""', "", "", *_handler(name, events)]) + "\n"


def _handler(name: str, events: Sequence[Heard]) -> Iterator[str]:
    yield "def handler(event):"
    if len(events) == 1:
        yield "    # HOOK.md names the event; asked here too, it stays right when HOOK.md names more."
        yield f"    if {_is_not(events[0])}:"
        yield "        return"
        yield f"    about = {_about(events[0])}"
    else:
        for number, event in enumerate(events):
            yield f"    {'elif' if number else 'if'} {_is(event)}:"
            yield f"        about = {_about(event)}"
        yield "    else:"
        yield "        return"
    text = f'f"{name}: {{event.type}}:{{event.action}} ({{about}})"'
    if all(event.delivers for event in events):
        yield f"    # {PUSHED}"
        yield f"    event.messages.append({text})"
    else:
        yield f"    # {PRINTED}"
        yield f"    print({text})"


def _is(event: Heard) -> str:
    family, action = both_of(event.key)
    if action:
        return f'event.type == "{family}" and event.action == "{action}"'
    return f'event.type == "{family}"'


def _is_not(event: Heard) -> str:
    family, action = both_of(event.key)
    return f'event.type != "{family}"' + (f' or event.action != "{action}"' if action else "")


def _about(event: Heard) -> str:
    return f'event.context.get("{event.field}", "unknown")' if event.field else "event.session_key"


def plugin(name: str, events: Sequence[Heard]) -> str:
    """`plugin.py`."""
    lines = ['"""What this plugin does."""', ""]
    if any(event.key == GUARDED for event in events):
        lines += ["import json", "", f"NEVER = {_list(WORSE)}", ""]
    for event in events:
        lines += ["", *_called(name, event), ""]
    lines += ["", "def register(api):"]
    lines += [f'    api.on("{event.key}", {_function(event.key)})' for event in events]
    return "\n".join(lines) + "\n"


def _called(name: str, event: Heard) -> Iterator[str]:
    yield f"def {_function(event.key)}(event, ctx):"
    if event.key == GUARDED:
        yield "    # The tool is not run where a handler answers with `block`; the model is told the reason."
        yield '    asked = json.dumps(event["params"])'
        yield "    for words in NEVER:"
        yield "        if words in asked:"
        yield f'            return {{"block": True, "blockReason": f"{name}: {{words}} is never run"}}'
        yield "    return None  # no opinion: the next handler is asked"
        return
    yield f"    # {event.when[:1].upper()}{event.when[1:]}."
    yield f"    print({_observed(name, event)})"


def _observed(name: str, event: Heard) -> str:
    read = f' ({{event["{event.field}"]}})' if event.field else ""
    return f"f'{name}: {event.key}{read}'" if read else f'"{name}: {event.key}"'


def _function(key: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in key)


def module(name: str, events: Sequence[Heard]) -> str:
    """A module of `agent/hooks`."""
    lines = ['"""What this hook does."""', "", "from hookscope import define_hook", ""]
    for event in events:
        lines += ["", *_heard(name, event), ""]
    named = [f'    "{event.key}": {_of_stream(event)},' for event in events]
    return "\n".join([*lines, "", "default = define_hook(events={", *named, "})"]) + "\n"


def _heard(name: str, event: Heard) -> Iterator[str]:
    yield f"def {_of_stream(event)}(event, ctx):"
    yield "    # Hooks observe: the event is on record already, and nothing here changes it."
    read = f" ({{event.data['{event.field}']}})" if event.field and event.key != EVERY else ""
    yield f'    print(f"{name}: {{event.type}}{read}")'


def _of_stream(event: Heard) -> str:
    return "every_event" if event.key == EVERY else _function(event.key)


def _list(texts: Sequence[str]) -> str:
    return "(" + ", ".join(f'"{text}"' for text in texts) + ")"
