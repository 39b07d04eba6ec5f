"""The home in which contracts are recorded: hooks in each state, saved events, and a pack."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

HOOK = "---\nname: {name}\ndescription: {description}\nmetadata: {metadata}\n---\n"
SETTINGS = {
    "gateway": {"auth": {"token": "sample-gateway-token-1234"}},
    "hooks": {
        "internal": {
            "enabled": True,
            "entries": {
                "switched-off": {"enabled": False},
                "greet": {"enabled": True, "env": {"GREETING": "hi"}},
            },
        }
    },
}
# Name → metadata below the host's name, file of its handler, source.
HOOKS: dict[str, tuple[dict[str, object], str, str]] = {
    "greet": (
        {"events": ["command:new", "command:reset"], "emoji": "👋"},
        "handler.py",
        "def handler(event):\n"
        "    print('greeting')\n"
        "    event.context['greeted'] = True\n"
        "    event.messages.append('hello')\n",
    ),
    "script": (
        {"events": ["command:new"]},
        "handler.js",
        "export default (event) => { event.messages.push('from a script'); };\n",
    ),
    "fails": (
        {"events": ["command:new"]},
        "handler.py",
        "def handler(event):\n    raise ValueError('no such order')\n",
    ),
    "needs-much": (
        {
            "events": ["message:received"],
            "os": ["plan9"],
            "requires": {
                "bins": ["no-such-program"],
                "anyBins": ["neither", "nor"],
                "env": ["NO_SUCH_VARIABLE"],
            },
        },
        "handler.py",
        "def handler(event): pass\n",
    ),
    "switched-off": ({"events": ["command:new"]}, "handler.py", "def handler(event): pass\n"),
    "misspelt": ({"events": ["command:nwe"]}, "handler.py", "def handler(event): pass\n"),
    "unreadable-code": ({"events": ["command:new"]}, "handler.py", "def handler(event:\n"),
}
SAVED = {
    "passes.yaml": 'event: command:new\nexpect: {messages: ["hello", "from a script"]}\n',
    "misses.yaml": "event: command:reset\nexpect: {errors: 1}\n",
    "plain.yaml": "event: command:new\nsession: agent:main:main\ncontext: {senderId: someone}\n",
}


@dataclass(frozen=True)
class Sample:
    """The folders of one sample, all below `root`."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def environ(self) -> dict[str, str]:
        """The whole environment of a command in this sample."""
        return {
            "HOME": str(self.home),
            "PATH": str(self.root / "bin"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "USER": "someone",
            "HOOKSCOPE_STATE_DIR": str(self.root / "state"),
            "HOOKSCOPE_CONFIG_DIR": str(self.root / "config"),
            "OPENCLAW_BUNDLED_HOOKS_DIR": str(self.root / "bundled"),
        }


def write_sample(root: Path) -> Sample:
    """Write the sample below `root`, which is empty, and return its folders."""
    sample = Sample(root)
    state = sample.home / ".openclaw"
    for folder in (state, sample.root / "bundled", sample.workspace / ".hookscope" / "events"):
        folder.mkdir(parents=True)
    (state / "openclaw.json").write_text(json.dumps(SETTINGS, indent=2) + "\n")
    for name, (metadata, file, source) in HOOKS.items():
        write_hook(sample.workspace / "hooks" / name, metadata, file, source)
    write_hook(state / "hooks" / "greet", *HOOKS["greet"])
    (sample.workspace / "hooks" / "no-handler").mkdir()
    (sample.workspace / "hooks" / "no-handler" / "HOOK.md").write_text("---\nname: no-handler\n---\n")
    for name, text in SAVED.items():
        (sample.workspace / ".hookscope" / "events" / name).write_text(text)
    pack = sample.root / "pack"
    write_hook(pack / "hooks" / "packed", *HOOKS["greet"])
    package = {"name": "sample-pack", "version": "1.2.3", "openclaw": {"hooks": ["./hooks/packed"]}}
    (pack / "package.json").write_text(json.dumps(package))
    return sample


def write_hook(folder: Path, metadata: dict[str, object], file: str, source: str) -> None:
    """Write one hook as a folder with HOOK.md and a handler."""
    folder.mkdir(parents=True)
    header = HOOK.format(
        name=folder.name,
        description=f"Sample hook {folder.name}",
        metadata=json.dumps({"openclaw": metadata}),
    )
    (folder / "HOOK.md").write_text(header)
    (folder / file).write_text(source)
