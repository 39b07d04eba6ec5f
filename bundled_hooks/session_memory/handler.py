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
SECONDS = 10.0  # for the endpoint


async def handler(event: HookEvent) -> None:
    """Write `memory/YYYY-MM-DD-slug.md` below the workspace, and tell the user."""
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
    """What the transcript of the event holds; None, and a line that says why, where there is nothing."""
    records = ("previousSessionEntry", "sessionEntry")  # the first is the one that ends, where there are both
    ended = (value_at(event.context, record, "sessionFile") for record in records)
    named = event.context.get("sessionFile") or next(filter(None, ended), None)
    if not isinstance(named, str):
        print("Nothing to save: the event names no session file.")
        return None
    path = workspace_of(event) / os.path.expanduser(named)
    if not os.path.isfile(path):  # unlike Path's, for names that no disk can hold too
        print(f"Nothing to save: there is no file {path}.")
        return None
    conversation = read_conversation(path, wanted_messages(settings), f"/{event.action}")
    if not conversation.last:
        print(f"Nothing to save: {path} holds no messages.")
        return None
    return conversation


def wanted_messages(settings: dict[str, Any]) -> int:
    """A wrong number is not a reason to lose a conversation."""
    wanted = settings.get("messages", MESSAGES)
    if type(wanted) is int and 1 <= wanted <= 1000:
        return wanted
    print(f"{NAME}: `messages` needs a number from 1 to 1000; {MESSAGES} it is.", file=sys.stderr)
    return MESSAGES


async def suggested(llm: Any, conversation: Conversation) -> str:
    """The endpoint's slug; empty, and a line that says why, where it has none to give."""
    if llm is None:
        return ""
    talk = "\n".join(f"{role}: {text}" for role, text in conversation.last)
    seconds = SECONDS
    try:
        if not isinstance(llm, dict):
            raise TypeError("llm needs an object")
        seconds = float(llm.get("timeoutSeconds", SECONDS))
        return await asyncio.wait_for(asyncio.to_thread(ask, llm, talk, seconds), seconds)
    except Exception as error:  # whatever happened out there, the conversation is saved
        why = str(error) or f"no answer within {seconds:g} s"
        print(f"{NAME}: the endpoint gave no name ({why}); the file is named without it.", file=sys.stderr)
        return ""


def document(event: HookEvent, moment: datetime, slug: str, conversation: Conversation) -> str:
    """The file's text. A JSON text is a YAML text too: no value can break out of the header."""
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
    """A new file `stem.md`, else `stem-2.md` and so on: there as a whole, or not at all."""
    folder.mkdir(exist_ok=True)  # a workspace that is not there is not ours to make
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".") as draft:
        draft.write(text.encode("utf-8", "replace"))
        draft.flush()
        number = 1
        while True:
            path = folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")
            try:
                os.link(draft.name, path)  # unlike a rename, it never takes another file's place
            except FileExistsError:
                number += 1
            else:
                return path


def own_settings(event: HookEvent) -> dict[str, Any]:
    """This hook's entry in the host's settings; Milady may have it under `hooks` itself."""
    hooks = value_at(event.context, "cfg", "hooks")
    own = value_at(hooks, "internal", "entries", NAME) or value_at(hooks, "entries", NAME)
    return own if isinstance(own, dict) else {}


def workspace_of(event: HookEvent) -> Path:
    """The event's workspace, else the one of the settings, else the one in the host's state folder."""
    for named in (
        event.context.get("workspaceDir"),
        value_at(event.context, "cfg", "workspace", "dir"),
        value_at(event.context, "cfg", "agents", "defaults", "workspace"),
    ):
        if isinstance(named, str) and named:
            return Path(os.path.expanduser(named))
    return Path(os.environ.get("HOOKSCOPE_HOST_STATE") or Path.home() / ".openclaw") / "workspace"


def value_at(tree: Any, *names: str) -> Any:
    """What stands at `a.b.c`; None where there is no such place."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree
