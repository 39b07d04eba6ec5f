"""The TypeScript, or JavaScript, that a new hook begins with. Only names that were checked stand in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from hookscope.core.event_types import EVERY
from hookscope.values import dataclass
from hookscope.workbench.making.events import GUARDED, Heard
from hookscope.workbench.making.words import PRINTED, PUSHED, WORSE, both_of

EVENT = """\
type HookEvent = {
  type: string;
  action: string;
  sessionKey: string;
  messages: string[];
  context: Record<string, unknown>;
};

"""


@dataclass(frozen=True, slots=True)
class ScriptTexts:
    """With types, or without."""

    typed: bool

    def handler(self, name: str, events: Sequence[Heard]) -> str:
        """`handler.ts` of a HOOK.md folder."""
        head = EVENT if self.typed else ""
        return head + "\n".join(self._handler(name, events)) + "\n"

    def _handler(self, name: str, events: Sequence[Heard]) -> Iterator[str]:
        types = (": HookEvent", ": Promise<void>") if self.typed else ("", "")
        yield f"export default async function handler(event{types[0]}){types[1]} {{"
        if len(events) == 1:
            yield "  // HOOK.md names the event; asked here too, it stays right when HOOK.md names more."
            yield f"  if ({_is_not(events[0])}) return;"
            yield f"  const about = {_about(events[0])};"
        else:
            yield f"  let about{': unknown' if self.typed else ''};"
            for number, event in enumerate(events):
                yield f"  {'} else if' if number else 'if'} ({_is(event)}) {{"
                yield f"    about = {_about(event)};"
            yield "  } else {"
            yield "    return;"
            yield "  }"
        text = f"`{name}: ${{event.type}}:${{event.action}} (${{about}})`"
        if all(event.delivers for event in events):
            yield f"  // {PUSHED}"
            yield f"  event.messages.push({text});"
        else:
            yield f"  // {PRINTED}"
            yield f"  console.log({text});"
        yield "}"

    def plugin(self, name: str, events: Sequence[Heard]) -> str:
        """`index.ts`."""
        lines = []
        if any(event.key == GUARDED for event in events):
            lines += [f"const NEVER = {json.dumps(WORSE)};", ""]
        lines += [f"export default function register(api{': any' if self.typed else ''}) {{"]
        for event in events:
            lines += self._called(name, event)
        return "\n".join([*lines, "}"]) + "\n"

    def _called(self, name: str, event: Heard) -> Iterator[str]:
        yield f'  api.on("{event.key}", async (event{": any" if self.typed else ""}) => {{'
        if event.key == GUARDED:
            yield "    // The tool is not run where a handler answers with `block`; the model is told why."
            yield "    const asked = JSON.stringify(event.params);"
            yield "    const found = NEVER.find((words) => asked.includes(words));"
            yield f"    if (found) return {{ block: true, blockReason: `{name}: ${{found}} is never run` }};"
        else:
            yield f"    // {event.when[:1].upper()}{event.when[1:]}."
            read = f" (${{event.{event.field}}})" if event.field else ""
            yield f"    console.log(`{name}: {event.key}{read}`);"
        yield "  });"

    def module(self, name: str, events: Sequence[Heard], package: str) -> str:
        """A module of `agent/hooks`."""
        lines = [
            f'import {{ defineHook }} from "{package}/hooks";',
            "",
            "export default defineHook({",
            "  events: {",
        ]
        for event in events:
            read = f" (${{event.data.{event.field}}})" if event.field and event.key != EVERY else ""
            lines += [
                f'    async "{event.key}"(event) {{',
                "      // Hooks observe: the event is on record already, and nothing here changes it.",
                f"      console.info(`{name}: ${{event.type}}{read}`);",
                "    },",
            ]
        return "\n".join([*lines, "  },", "});"]) + "\n"


def _is(event: Heard) -> str:
    family, action = both_of(event.key)
    if action:
        return f'event.type === "{family}" && event.action === "{action}"'
    return f'event.type === "{family}"'


def _is_not(event: Heard) -> str:
    family, action = both_of(event.key)
    return f'event.type !== "{family}"' + (f' || event.action !== "{action}"' if action else "")


def _about(event: Heard) -> str:
    return f'event.context.{event.field} ?? "unknown"' if event.field else "event.sessionKey"
