"""The answer of each command in the sample, without what differs between machines and runs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from hashlib import blake2s
from pathlib import Path
from typing import Any

from tests.contracts.sample import SAVED, Sample, write_sample
from tests.forking import Ended, Forks

PROJECT = Path(__file__).parents[2]
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
DIGESTS = re.compile(r"\b(sha(256|512)[-:])?[0-9a-f]{32,128}\b")
VERSIONS = re.compile(r"(?<=version )\d+\.\d+\.\d+|(?<=python)3\.\d+")
PYTHON = re.compile(r"<PREFIX>/bin/python[\d.]+")
MEASURED = re.compile(r"(^|_)(ms|pid|seconds|bytes|size)$")
OPENCLAW = ("--dialect", "openclaw")
SHIPPED = ("--dialect", "openclaw@2026.9")

# In this order, in one home: what a command leaves behind is there for the next. Name → its words.
COMMANDS: dict[str, tuple[str, ...]] = {
    "list": (*OPENCLAW, "list", "--json"),
    "list-shipped": (*SHIPPED, "list", "--json"),
    "list-host": (*SHIPPED, "list", "--json", "--format", "host"),
    "info": (*OPENCLAW, "info", "needs-much", "--json"),
    "info-unknown": (*OPENCLAW, "info", "gret", "--json"),
    "why": (*OPENCLAW, "why", "needs-much", "--json"),
    "check": (*OPENCLAW, "check", "--json"),
    "check-host": (*SHIPPED, "check", "--json", "--format", "host"),
    "plan": (*OPENCLAW, "plan", "command:new", "--json"),
    "events": (*OPENCLAW, "events", "--json"),
    "events-one": (*OPENCLAW, "events", "command:new", "--json"),
    "events-saved": (*OPENCLAW, "events", "--saved", "--json"),
    "lint": (*OPENCLAW, "lint", "--json"),
    "compare": (*OPENCLAW, "compare", "greet", "--dialects", "openclaw,openclaw@2026.9,milady", "--json"),
    "fix": (*OPENCLAW, "fix", "switched-off", "--json"),
    "fire-untrusted": (*OPENCLAW, "fire", "command:reset", "--json"),
    "trust": (*OPENCLAW, "trust", "hooks", "--json"),
    "load": (*OPENCLAW, "load", "--json"),
    "fire": (*OPENCLAW, "fire", "command:new", "--json"),
    "fire-json-lines": (*OPENCLAW, "fire", "command:reset", "--json-lines"),
    "fire-wrong-use": (*OPENCLAW, "fire", "command:new", "--context", "{", "--json"),
    "fire-save": (*OPENCLAW, "fire", "command:reset", "--only", "greet", "--save", "kept", "--json"),
    "test": (*OPENCLAW, "test", "--json"),
    "replay": (*OPENCLAW, "replay", "1", "--json"),
    "log": (*OPENCLAW, "log", "--json"),
    "log-one": (*OPENCLAW, "log", "1", "--json"),
    "export": (*OPENCLAW, "export", "1"),
    "pin": (*OPENCLAW, "pin", "1", "--json"),
    "disable": (*OPENCLAW, "disable", "greet", "--json"),
    "enable": (*OPENCLAW, "enable", "greet", "--json"),
    "undo": (*OPENCLAW, "undo", "--json"),
    "install": (*SHIPPED, "install", "../pack", "--yes", "--json"),
    "packs": (*SHIPPED, "packs", "--json"),
    "update": (*SHIPPED, "update", "--all", "--dry-run", "--json"),
    "uninstall": (*SHIPPED, "uninstall", "sample-pack", "--yes", "--json"),
    "tap-install": (*SHIPPED, "tap", "install", "--json"),
    "tap-status": (*SHIPPED, "tap", "status", "--json"),
    "tap-events": (*SHIPPED, "tap", "events", "--json"),
    "tap-fire": (*SHIPPED, "tap", "fire", "EVENT", "--json"),
    "tap-save": (*SHIPPED, "tap", "save", "EVENT", "real", "--json"),
    "tap-lists": (*SHIPPED, "tap", "lists", "--json"),
    "tap-remove": (*SHIPPED, "tap", "remove", "--json"),
    "new": (*OPENCLAW, "new", "fresh", "--json"),
    "keys": ("keys", "--json"),
    "schema": ("schema", "event"),
    "doctor": (*OPENCLAW, "doctor", "--json"),
    "report": (*OPENCLAW, "report", "report.zip", "--json"),
    "verify": (*SHIPPED, "verify", "--yes", "--json"),
}
TAPPED = json.dumps(
    {
        "tap": 1,
        "kind": "folder",
        "key": "command:new",
        "at": "2026-01-02T03:04:05.678Z",
        "session": "agent:main:main",
        "context": {"senderId": "someone"},
        "host": "openclaw@2026.9",
        "language": "typescript",
        "pid": 1,
        "seq": 1,
    }
)
TAPPED_ID = blake2s(TAPPED.encode(), digest_size=8).hexdigest()[:8]


def answers(root: Path, forks: Forks) -> Iterator[tuple[str, Any]]:
    """Yield the name and the answer of each command in a new sample below `root`, and the saved events."""
    sample = write_sample(root)
    for name, words in COMMANDS.items():
        if name == "tap-status":
            _record_an_event(sample)
        asked = [TAPPED_ID if word == "EVENT" else word for word in words]
        ended = forks.run(asked, cwd=sample.workspace, env=sample.environ)
        yield name, {"words": " ".join(words), "exit": ended.code, **_printed(ended, sample)}
    yield "saved-events", saved_events(sample)


def saved_events(sample: Sample) -> dict[str, str]:
    """File → text of the saved events that the commands above have written."""
    folder = sample.workspace / ".hookscope" / "events"
    return {file.name: file.read_text() for file in sorted(folder.iterdir()) if file.name not in SAVED}


def _record_an_event(sample: Sample) -> None:
    """Append an event to the tap's file, as the tap in a running agent does."""
    spool = sample.home / ".openclaw" / "hookscope" / "events.jsonl"
    spool.parent.mkdir(parents=True, exist_ok=True)
    spool.write_text(f"{TAPPED}\n")


def _printed(ended: Ended, sample: Sample) -> dict[str, Any]:
    try:
        lines = [json.loads(line) for line in ended.out.splitlines()] if ended.out else []
    except ValueError:
        lines = [json.loads(ended.out)]
    printed: dict[str, Any] = {"json": lines[0]} if len(lines) == 1 else {"lines": lines} if lines else {}
    if ended.err:
        printed["stderr"] = ended.err.splitlines()
    cleaned = steady(printed, sample)
    assert isinstance(cleaned, dict)
    return cleaned


def steady(value: Any, sample: Sample, key: str = "") -> Any:
    """The value with words in place of folders, times, digests and versions, and 0 for what is measured."""
    match value:
        case dict():
            return {steady(name, sample): steady(item, sample, name) for name, item in value.items()}
        case list():
            return [steady(item, sample, key) for item in value if not _of_other_programs(item)]
        case str():
            return _steady_text(value, sample)
        case int() | float() if MEASURED.search(key) and not isinstance(value, bool):
            return 0
    return value


def _of_other_programs(item: Any) -> bool:
    """True for what `doctor` finds of other runs of Hookscope on this machine."""
    return isinstance(item, dict) and item.get("name") in ("worker", "workers") and "well" in item


def _steady_text(text: str, sample: Sample) -> str:
    for folder, word in ((sample.root, "<ROOT>"), (sys.prefix, "<PREFIX>"), (PROJECT, "<PROJECT>")):
        text = text.replace(str(folder), word)
    text = TIMES.sub("<TIME>", PYTHON.sub("<PREFIX>/bin/python", text))
    return VERSIONS.sub("<VERSION>", DIGESTS.sub("<DIGEST>", text))
