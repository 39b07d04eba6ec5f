"""Install commands and instructions for what Hookscope does not edit itself. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hookscope.model.hook_status import Gate

INSTALL_COMMANDS = {  # kind of an install hint → member with the name, and the user's command
    "brew": ("formula", "brew install {}"),
    "npm": ("package", "npm install -g {}"),
    "node": ("package", "npm install -g {}"),
    "go": ("module", "go install {}"),
    "uv": ("package", "uv tool install {}"),
    "pip": ("package", "pip install {}"),
    "pipx": ("package", "pipx install {}"),
    "cargo": ("package", "cargo install {}"),
    "apt": ("package", "apt install {}"),
    "git": ("repository", "git clone {}"),
    "download": ("url", "{}"),
}


def install_line(item: Mapping[str, object]) -> str:
    """Return one install hint as a line to copy; its label if it names no command. Never run."""
    kind, label = str(item.get("kind") or item.get("type") or ""), str(item.get("label") or "")
    field, command = INSTALL_COMMANDS.get(kind.lower(), ("", ""))
    what = item.get(field) or item.get("package") or item.get("url")
    if command and isinstance(what, str) and what.strip():
        return command.format(what.strip())
    return label or kind


def install_lines(hints: Iterable[Mapping[str, object]]) -> str:
    """Return all install hints of a HOOK.md in one line; empty if there are none."""
    return "; ".join(line for item in hints if (line := install_line(item)))


def install_words(gate: Gate) -> str:
    """Return advice on missing programs that HOOK.md says nothing about."""
    if gate.kind.any_of:
        return "install one of them, or add its folder to PATH"
    if len(gate.missing) > 1:
        return "install them, or add their folders to PATH"
    return "install it, or add its folder to PATH"
