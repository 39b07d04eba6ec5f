"""The files of `hookscope demo`: a small workspace in which something is wrong with nearly every hook."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Relative to the folder of the demo. `home` stands in for the user's home folder.
DEMO_FILES: Mapping[str, str] = {
    "workspace/hooks/deploy-note/HOOK.md": """\
---
name: deploy-note
description: Writes where the next deployment goes
metadata: {"openclaw": {"events": ["command:new"], "requires": {"env": ["DEPLOY_DIR"]}}}
---
# deploy-note

It needs the variable DEPLOY_DIR, which is not set: the hook is blocked.
""",
    "workspace/hooks/deploy-note/handler.py": """\
import os


def handler(event):
    event.messages.append(f"The next deployment goes to {os.environ['DEPLOY_DIR']}.")
""",
    "workspace/hooks/greet/HOOK.md": """\
---
name: greet
description: Greets the user when a session starts
metadata: {"openclaw": {"events": ["command:new"]}}
---
# greet

There are two hooks of this name. Only one of them runs.
""",
    "workspace/hooks/greet/handler.py": """\
def handler(event):
    event.messages.append("Hello from the workspace.")
""",
    "home/.openclaw/hooks/greet/HOOK.md": """\
---
name: greet
description: An older greeting, for all workspaces
metadata: {"openclaw": {"events": ["command:new"]}}
---
# greet

The other hook of this name.
""",
    "home/.openclaw/hooks/greet/handler.py": """\
def handler(event):
    event.messages.append("Hello from the managed folder.")
""",
    "workspace/hooks/welcome/HOOK.md": """\
---
name: welcome
description: Says which commands there are
metadata: {"openclaw": {"events": ["comand:new"]}}
---
# welcome

It is ready, but no event is called comand:new: it never runs.
""",
    "workspace/hooks/welcome/handler.py": """\
def handler(event):
    event.messages.append("Try /new and /reset.")
""",
    "workspace/hooks/notes/HOOK.md": """\
---
name: notes
description: Repeats the newest note
metadata: {"openclaw": {"events": ["command:new"]}}
---
# notes

Its handler fails, because there are no notes yet.
""",
    "workspace/hooks/notes/handler.py": """\
def newest(notes):
    return notes[-1]


def handler(event):
    event.messages.append(newest(event.context.get("notes", [])))
""",
    "workspace/hooks/slow-summary/HOOK.md": """\
---
name: slow-summary
description: Takes its time
metadata: {"openclaw": {"events": ["command:new"]}}
---
# slow-summary

It waits for over a second. The others wait for it.
""",
    "workspace/hooks/slow-summary/handler.py": """\
import asyncio


async def handler(event):
    await asyncio.sleep(1.2)
    event.messages.append("Nothing happened in the last session.")
""",
    "workspace/plugins/guard/openclaw.plugin.json": """\
{
  "id": "guard",
  "description": "Keeps tools from destructive commands",
  "version": "0.1.0",
  "configSchema": {"type": "object", "additionalProperties": false, "properties": {}}
}
""",
    "workspace/plugins/guard/plugin.py": """\
def before_tool_call(event, ctx):
    if "rm -rf" in str(event["params"]):
        return {"block": True, "blockReason": "guard: rm -rf is never run"}
    return None


def register(api):
    api.on("before_tool_call", before_tool_call)
""",
    "workspace/.hookscope/events/delete.yaml": """\
event: before_tool_call
context:
  toolName: "exec"
  toolCallId: "call-1"
  params: {"command": "rm -rf build"}
""",
}

# These are added where Node is installed.
TYPESCRIPT_FILES: Mapping[str, str] = {
    "workspace/hooks/farewell/HOOK.md": """\
---
name: farewell
description: The same in TypeScript
metadata: {"openclaw": {"events": ["command:new"]}}
---
# farewell

Handlers in TypeScript and JavaScript run in Node.
""",
    "workspace/hooks/farewell/handler.ts": """\
export default async function handler(event: { messages: string[] }) {
  event.messages.push("See you, from TypeScript.");
}
""",
}


def write_demo(folder: Path, *, typescript: bool) -> Path:
    """Write the demo below an empty folder; return its workspace. Raises OSError."""
    for name, text in {**DEMO_FILES, **(TYPESCRIPT_FILES if typescript else {})}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder / "workspace"
