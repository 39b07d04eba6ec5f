"""Source code of a new handler: Python, TypeScript or JavaScript. Only checked names are inserted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookscope.authoring.scaffold.request import EVENT, TargetHost, TargetHosts
from hookscope.model.event_catalogue import ALL_EVENTS, DEFAULT_SESSION, EventType
from hookscope.model.failure import Refusal
from hookscope.model.run import EventKind
from hookscope.model.text import nearest_word, one_line
from hookscope.values import dataclass

GUARDED_EVENTS = "before_tool_call"  # the event of a first plugin hook
FIRST_EVENTS: Mapping[EventKind, tuple[str, ...]] = {
    "folder": (),
    "plugin": (GUARDED_EVENTS,),
    "stream": ("message.received", "turn.started"),
}
# the most informative fields, best first
TELLING_FIELDS = ("senderId", "content", "message", "from", "to", "toolName")


@dataclass(frozen=True, slots=True)
class HandledEvent:
    """One event that the new hook subscribes to, and what the generated handler reads from it."""

    key: str
    when: str
    example_key: str  # the event to fire: for a family or all events, one of them
    field: str  # the context field that the handler reads; empty: no text field that all hosts send
    context: Mapping[str, Any]  # the context of the saved event: the whole example, as in `fire KEY`
    session: str
    delivers: bool  # every host that sends it shows pushed messages

    @property
    def value(self) -> str:
        """The value that the handler reads from the saved event."""
        return str(self.context[self.field])


def default_event(kind: EventKind, targets: TargetHosts) -> str:
    """Return the event that most target hosts send, and whose messages they show."""
    catalogue = targets.first.catalogue
    known = [one.key for one in catalogue.events if one.kind == kind and not one.family]
    for key in FIRST_EVENTS[kind]:
        if key in known:
            return key

    def worth(key: str) -> tuple[int, int]:
        sent = [one for one in targets.all if one.catalogue.sends(key, kind)]
        return len(sent), sum(_delivers(one, key) for one in sent)

    return max(known, key=worth)


def check_events(keys: Sequence[str], kind: EventKind, targets: TargetHosts) -> tuple[str, ...]:
    """Return the keys in the hosts' spelling. Raises Refusal for one that no chosen host sends."""
    found = []
    for key in keys:
        key = targets.first.catalogue.canonical(key)
        if not EVENT.fullmatch(key) or (key == ALL_EVENTS and kind != "stream"):
            raise Refusal(f"{one_line(key, 60)!r} is not an event.", _listing(), code=2)
        if not any(one.catalogue.sends(key, kind) for one in targets.chosen):
            raise _never_sent(key, kind, targets)
        found.append(key)
    return tuple(dict.fromkeys(found))


def _listing() -> str:
    return "`hookscope events` lists them."


def _never_sent(key: str, kind: EventKind, targets: TargetHosts) -> Refusal:
    host_names = " nor ".join(one.name for one in targets.chosen)
    catalogue = targets.first.catalogue
    known = catalogue.find(key)
    if known is not None and known.kind != kind:
        forms = {"folder": "a HOOK.md", "plugin": "a plugin (`--plugin`)", "stream": "a module"}
        return Refusal(f"Only {forms[known.kind]} can receive {key}.", _listing(), code=2)
    sent = [one.key for one in catalogue.events if one.kind == kind and one.emitted and not one.family]
    closest = catalogue.nearest(key, kind)
    if closest in sent and closest != key:
        return Refusal(f"{host_names} never sends {key}.", f"Did you mean {closest}?", code=2)
    examples = ", ".join(sent[:4])
    return Refusal(f"{host_names} never sends {key}.", f"It sends {examples}; {_listing()}", code=2)


def unsent_notes(keys: Sequence[str], kind: EventKind, targets: TargetHosts) -> tuple[str, ...]:
    """Return a note for each unlisted event, and for each host that never sends one of them."""
    notes = []
    for key in keys:
        catalogue = targets.first.catalogue
        if kind == "folder" and key not in catalogue.by_key and catalogue.sends(key, kind):
            single = [one.key for one in catalogue.events if one.kind == kind and not one.family]
            closest = nearest_word(key, single)
            suggestion = f"; did you mean {closest}?" if closest else ": your own code must send it."
            notes.append(f"{targets.first.name} does not list {key}{suggestion}")
    for one in targets.all:
        lost = [key for key in keys if not one.catalogue.sends(key, kind)]
        if lost:
            notes.append(f"{one.name} never sends {' and '.join(lost)}: the hook is never called there.")
    return tuple(notes)


def handled_event(key: str, kind: EventKind, targets: TargetHosts) -> HandledEvent:
    """Return what the generated handler can read from this event under every host that sends it."""
    sending = [one for one in targets.all if one.catalogue.sends(key, kind)]
    example_key = _example_event(key, kind, sending[0])
    known = [event for one in sending if (event := one.catalogue.find(example_key)) is not None]
    first = known[0] if known else EventType(example_key, "")
    exact = sending[0].catalogue.find(key)
    return HandledEvent(
        key=key,
        when="any event of the stream" if exact is None else exact.when,
        example_key=example_key,
        field=_field(known),
        context=first.context,
        session=first.session or DEFAULT_SESSION,
        delivers=all(_delivers(one, example_key) for one in sending),
    )


def _delivers(target: TargetHost, key: str) -> bool:
    known = target.catalogue.find(key)
    return known is not None and known.delivers


def _example_event(key: str, kind: EventKind, target: TargetHost) -> str:
    """Return the event itself; for a family or all events, one that is sent."""
    catalogue = target.catalogue
    if key == ALL_EVENTS:
        return next(one for one in FIRST_EVENTS[kind] if catalogue.sends(one, kind))
    if kind != "folder" or ":" in key:
        return key
    sent = (one.key for one in catalogue.events if one.key.startswith(f"{key}:") and one.emitted)
    return next(sent, f"{key}:example")


def _field(known: Sequence[EventType]) -> str:
    """Return the most informative text field that every sender's example has."""
    texts = [{name for name, value in one.context.items() if isinstance(value, str)} for one in known]
    both = set.intersection(*texts) if texts else set()
    ranked = [name for name in TELLING_FIELDS if name in both]
    return ranked[0] if ranked else ""


PUSHED_MESSAGE = "Pushed messages are shown to the user."
PRINTED_MESSAGE = "The host does not show the messages of this event, so this line goes to the host's log."
WORSE_HANDLING = ("rm -rf", "mkfs", "git push --force")  # commands that the guard blocks


def type_and_action(key: str) -> tuple[str, str]:
    """Return type and action of a key; an empty action means any."""
    family, _, action = key.partition(":")
    return family, action


def python_handler(name: str, events: Sequence[HandledEvent]) -> str:
    """Return `handler.py` of a HOOK.md folder."""
    return "\n".join(['"""What this hook does."""', "", "", *_python_handler(name, events)]) + "\n"


def _python_handler(name: str, events: Sequence[HandledEvent]) -> Iterator[str]:
    yield "def handler(event):"
    if len(events) == 1:
        yield "    # HOOK.md already selects this event. The check matters if you add events there."
        yield f"    if {_comparison(events[0], '!=', 'or')}:"
        yield "        return"
        yield f"    about = {_python_about(events[0])}"
    else:
        for number, event in enumerate(events):
            yield f"    {'elif' if number else 'if'} {_comparison(event, '==', 'and')}:"
            yield f"        about = {_python_about(event)}"
        yield "    else:"
        yield "        return"
    text = f'f"{name}: {{event.type}}:{{event.action}} ({{about}})"'
    if all(event.delivers for event in events):
        yield f"    # {PUSHED_MESSAGE}"
        yield f"    event.messages.append({text})"
    else:
        yield f"    # {PRINTED_MESSAGE}"
        yield f"    print({text})"


def _comparison(event: HandledEvent, equal: str, joint: str) -> str:
    """Return the test of an event's type and action, with these operators of the handler's language."""
    family, action = type_and_action(event.key)
    return f'event.type {equal} "{family}"' + (f' {joint} event.action {equal} "{action}"' if action else "")


def _python_about(event: HandledEvent) -> str:
    return f'event.context.get("{event.field}", "unknown")' if event.field else "event.session_key"


def python_plugin(name: str, events: Sequence[HandledEvent]) -> str:
    """Return `plugin.py`."""
    lines = ['"""What this plugin does."""', ""]
    if any(event.key == GUARDED_EVENTS for event in events):
        lines += ["import json", "", f"NEVER = {_python_list(WORSE_HANDLING)}", ""]
    for event in events:
        lines += ["", *_python_called(name, event), ""]
    lines += ["", "def register(api):"]
    lines += [f'    api.on("{event.key}", {_python_function(event.key)})' for event in events]
    return "\n".join(lines) + "\n"


def _python_called(name: str, event: HandledEvent) -> Iterator[str]:
    yield f"def {_python_function(event.key)}(event, ctx):"
    if event.key == GUARDED_EVENTS:
        yield "    # If a handler returns `block`, the tool does not run and the model gets the reason."
        yield '    asked = json.dumps(event["params"])'
        yield "    for words in NEVER:"
        yield "        if words in asked:"
        yield f'            return {{"block": True, "blockReason": f"{name}: {{words}} is never run"}}'
        yield "    return None  # no decision: the next handler is called"
        return
    yield f"    # {event.when[:1].upper()}{event.when[1:]}."
    yield f"    print({_python_observed(name, event)})"


def _python_observed(name: str, event: HandledEvent) -> str:
    read = f' ({{event["{event.field}"]}})' if event.field else ""
    return f"f'{name}: {event.key}{read}'" if read else f'"{name}: {event.key}"'


def _python_function(key: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in key)


def python_module(name: str, events: Sequence[HandledEvent]) -> str:
    """Return a Python module of `agent/hooks`."""
    lines = ['"""What this hook does."""', "", "from hookscope import define_hook", ""]
    for event in events:
        lines += ["", *_python_event(name, event), ""]
    named = [f'    "{event.key}": {_python_stream(event)},' for event in events]
    return "\n".join([*lines, "", "default = define_hook(events={", *named, "})"]) + "\n"


def _python_event(name: str, event: HandledEvent) -> Iterator[str]:
    yield f"def {_python_stream(event)}(event, ctx):"
    yield "    # Hooks only observe: the event is already recorded, and a hook cannot change it."
    read = f" ({{event.data['{event.field}']}})" if event.field and event.key != ALL_EVENTS else ""
    yield f'    print(f"{name}: {{event.type}}{read}")'


def _python_stream(event: HandledEvent) -> str:
    return "every_event" if event.key == ALL_EVENTS else _python_function(event.key)


def _python_list(texts: Sequence[str]) -> str:
    return "(" + ", ".join(f'"{text}"' for text in texts) + ")"


SCRIPT_EVENT = """\
type HookEvent = {
  type: string;
  action: string;
  sessionKey: string;
  messages: string[];
  context: Record<string, unknown>;
};

"""


@dataclass(frozen=True, slots=True)
class ScriptCode:
    """Writes scripts with types (TypeScript) or without (JavaScript)."""

    typed: bool

    def handler(self, name: str, events: Sequence[HandledEvent]) -> str:
        """Return `handler.ts` of a HOOK.md folder."""
        head = SCRIPT_EVENT if self.typed else ""
        return head + "\n".join(self._handler(name, events)) + "\n"

    def _handler(self, name: str, events: Sequence[HandledEvent]) -> Iterator[str]:
        types = (": HookEvent", ": Promise<void>") if self.typed else ("", "")
        yield f"export default async function handler(event{types[0]}){types[1]} {{"
        if len(events) == 1:
            yield "  // HOOK.md already selects this event. The check matters if you add events there."
            yield f"  if ({_comparison(events[0], '!==', '||')}) return;"
            yield f"  const about = {_script_about(events[0])};"
        else:
            yield f"  let about{': unknown' if self.typed else ''};"
            for number, event in enumerate(events):
                yield f"  {'} else if' if number else 'if'} ({_comparison(event, '===', '&&')}) {{"
                yield f"    about = {_script_about(event)};"
            yield "  } else {"
            yield "    return;"
            yield "  }"
        text = f"`{name}: ${{event.type}}:${{event.action}} (${{about}})`"
        if all(event.delivers for event in events):
            yield f"  // {PUSHED_MESSAGE}"
            yield f"  event.messages.push({text});"
        else:
            yield f"  // {PRINTED_MESSAGE}"
            yield f"  console.log({text});"
        yield "}"

    def plugin(self, name: str, events: Sequence[HandledEvent]) -> str:
        """Return `index.ts` of a plugin."""
        lines = []
        if any(event.key == GUARDED_EVENTS for event in events):
            lines += [f"const NEVER = {json.dumps(WORSE_HANDLING)};", ""]
        lines += [f"export default function register(api{': any' if self.typed else ''}) {{"]
        for event in events:
            lines += self._plugin_handler(name, event)
        return "\n".join([*lines, "}"]) + "\n"

    def _plugin_handler(self, name: str, event: HandledEvent) -> Iterator[str]:
        yield f'  api.on("{event.key}", async (event{": any" if self.typed else ""}) => {{'
        if event.key == GUARDED_EVENTS:
            yield "    // If a handler returns `block`, the tool does not run and the model gets the reason."
            yield "    const asked = JSON.stringify(event.params);"
            yield "    const found = NEVER.find((words) => asked.includes(words));"
            yield f"    if (found) return {{ block: true, blockReason: `{name}: ${{found}} is never run` }};"
        else:
            yield f"    // {event.when[:1].upper()}{event.when[1:]}."
            read = f" (${{event.{event.field}}})" if event.field else ""
            yield f"    console.log(`{name}: {event.key}{read}`);"
        yield "  });"

    def module(self, name: str, events: Sequence[HandledEvent], package: str) -> str:
        """Return a module of `agent/hooks`."""
        lines = [
            f'import {{ defineHook }} from "{package}/hooks";',
            "",
            "export default defineHook({",
            "  events: {",
        ]
        for event in events:
            read = f" (${{event.data.{event.field}}})" if event.field and event.key != ALL_EVENTS else ""
            lines += [
                f'    async "{event.key}"(event) {{',
                "      // Hooks only observe: the event is already recorded, and a hook cannot change it.",
                f"      console.info(`{name}: ${{event.type}}{read}`);",
                "    },",
            ]
        return "\n".join([*lines, "  },", "});"]) + "\n"


def _script_about(event: HandledEvent) -> str:
    return f'event.context.{event.field} ?? "unknown"' if event.field else "event.sessionKey"
