"""Source code of a new handler: Python, TypeScript or JavaScript. Only checked names are inserted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from hookscope.authoring.scaffold.events import GUARDED_EVENTS, HandledEvent
from hookscope.model.event_catalogue import ALL_EVENTS
from hookscope.values import dataclass

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
        yield "    # HOOK.md names the event already; this check matters once HOOK.md names more."
        yield f"    if {_python_is_not(events[0])}:"
        yield "        return"
        yield f"    about = {_python_about(events[0])}"
    else:
        for number, event in enumerate(events):
            yield f"    {'elif' if number else 'if'} {_python_is(event)}:"
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


def _python_is(event: HandledEvent) -> str:
    family, action = type_and_action(event.key)
    if action:
        return f'event.type == "{family}" and event.action == "{action}"'
    return f'event.type == "{family}"'


def _python_is_not(event: HandledEvent) -> str:
    family, action = type_and_action(event.key)
    return f'event.type != "{family}"' + (f' or event.action != "{action}"' if action else "")


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
            yield "  // HOOK.md names the event already; this check matters once HOOK.md names more."
            yield f"  if ({_script_is_not(events[0])}) return;"
            yield f"  const about = {_script_about(events[0])};"
        else:
            yield f"  let about{': unknown' if self.typed else ''};"
            for number, event in enumerate(events):
                yield f"  {'} else if' if number else 'if'} ({_script_is(event)}) {{"
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


def _script_is(event: HandledEvent) -> str:
    family, action = type_and_action(event.key)
    if action:
        return f'event.type === "{family}" && event.action === "{action}"'
    return f'event.type === "{family}"'


def _script_is_not(event: HandledEvent) -> str:
    family, action = type_and_action(event.key)
    return f'event.type !== "{family}"' + (f' || event.action !== "{action}"' if action else "")


def _script_about(event: HandledEvent) -> str:
    return f'event.context.{event.field} ?? "unknown"' if event.field else "event.sessionKey"
