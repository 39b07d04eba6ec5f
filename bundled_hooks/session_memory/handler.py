"""Saves the end of a conversation to the workspace's memory when a new one begins."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .slug import STOP_WORDS, ask, slug_of
from .transcript import Conversation, read_conversation

if TYPE_CHECKING:
    from hookscope import HookEvent

NAME = "session-memory"
MESSAGES = 15
SECONDS = 10.0  # time limit of the endpoint


async def handler(event: HookEvent) -> None:
    """Write `memory/YYYY-MM-DD-slug.md` in the workspace, and inform the user."""
    settings = own_settings(event)
    conversation = find_conversation(event, settings)
    if conversation is None:
        return
    moment = event.timestamp.astimezone(timezone.utc)
    slug = await suggested(settings.get("llm"), conversation)
    slug = slug or slug_of(conversation.topic, STOP_WORDS) or f"{moment:%H%M}"
    memory = workspace_of(event) / "memory"
    saved = create(memory, f"{moment:%Y-%m-%d}-{slug}", document(event, moment, slug, conversation))
    event.messages.append(f"Session saved to memory/{saved.name}")


def find_conversation(event: HookEvent, settings: dict[str, Any]) -> Conversation | None:
    """Return the conversation in the event's transcript; print why and return None if there is none."""
    records = ("previousSessionEntry", "sessionEntry")  # the first is the ending one, if both are there
    ended = (value_at(event.context, record, "sessionFile") for record in records)
    named = event.context.get("sessionFile") or next(filter(None, ended), None)
    if not isinstance(named, str):
        print("Nothing to save: the event names no session file.")
        return None
    path = workspace_of(event) / os.path.expanduser(named)
    if not os.path.isfile(path):  # unlike Path.is_file, accepts impossible names too
        print(f"Nothing to save: there is no file {path}.")
        return None
    conversation = read_conversation(path, wanted_messages(settings), f"/{event.action}")
    if not conversation.last:
        print(f"Nothing to save: {path} contains no messages.")
        return None
    return conversation


def wanted_messages(settings: dict[str, Any]) -> int:
    """Return the configured number of messages; the default if it is invalid."""
    wanted = settings.get("messages", MESSAGES)
    if type(wanted) is int and 1 <= wanted <= 1000:
        return wanted
    print(f"{NAME}: `messages` must be a number from 1 to 1000; using {MESSAGES}.", file=sys.stderr)
    return MESSAGES


async def suggested(llm: Any, conversation: Conversation) -> str:
    """Return the endpoint's slug; print why and return an empty string if there is none."""
    if llm is None:
        return ""
    talk = "\n".join(f"{role}: {text}" for role, text in conversation.last)
    seconds = SECONDS
    try:
        if not isinstance(llm, dict):
            raise TypeError("`llm` must be an object")
        seconds = float(llm.get("timeoutSeconds", SECONDS))
        return await asyncio.wait_for(asyncio.to_thread(ask, llm, talk, seconds), seconds)
    except Exception as error:  # the conversation is saved even if the endpoint fails
        why = str(error) or f"no answer within {seconds:g} s"
        print(f"{NAME}: the endpoint did not suggest a name ({why})", file=sys.stderr)
        return ""


def document(event: HookEvent, moment: datetime, slug: str, conversation: Conversation) -> str:
    """Return the file's text. Header values are JSON strings, which are valid YAML whatever they contain."""
    header = {
        "session": event.session_key,
        "sessionId": event.context.get("sessionId", "unknown"),
        "source": event.context.get("commandSource", "unknown"),
        "time": moment.isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
    lines = [f"{name}: {json.dumps(str(value), ensure_ascii=False)}" for name, value in header.items()]
    talk = [f"**{role}**\n\n{text}\n" for role, text in conversation.last]
    return "\n".join(["---", *lines, "---", "", f"# {slug.replace('-', ' ')}", "", *talk])


def create(folder: Path, stem: str, text: str) -> Path:
    """Create `stem.md`, or `stem-2.md` and so on if that exists. The file appears complete or not at all."""
    folder.mkdir(exist_ok=True)  # a missing workspace is not created
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".") as draft:
        draft.write(text.encode("utf-8", "replace"))
        draft.flush()
        number = 1
        while True:
            path = folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")
            try:
                os.link(draft.name, path)  # unlike a rename, this never replaces a file
            except FileExistsError:
                number += 1
            else:
                return path


def own_settings(event: HookEvent) -> dict[str, Any]:
    """Return this hook's entry in the host's settings. Milady also allows it directly under `hooks`."""
    hooks = value_at(event.context, "cfg", "hooks")
    own = value_at(hooks, "internal", "entries", NAME) or value_at(hooks, "entries", NAME)
    return own if isinstance(own, dict) else {}


def workspace_of(event: HookEvent) -> Path:
    """Return the workspace of the event, else of the settings, else the one in the host's state folder."""
    for named in (
        event.context.get("workspaceDir"),
        value_at(event.context, "cfg", "workspace", "dir"),
        value_at(event.context, "cfg", "agents", "defaults", "workspace"),
    ):
        if isinstance(named, str) and named:
            return Path(os.path.expanduser(named))
    return Path(os.environ.get("HOOKSCOPE_HOST_STATE") or Path.home() / ".openclaw") / "workspace"


def value_at(tree: Any, *names: str) -> Any:
    """Return the value at a path of names, such as `a.b.c`; None if there is none."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree
