"""A scaffold request: kind, name, events, language, and the names that hosts accept."""

from __future__ import annotations

import re
from typing import Literal, get_args

from hookscope.hosts.dialects import DIALECTS
from hookscope.model.failure import Refusal
from hookscope.model.run import EventKind
from hookscope.model.text import one_line
from hookscope.packs.package_checks import fault_of_pack_name
from hookscope.values import dataclass

ScaffoldKind = Literal["hook", "pack", "plugin", "stream"]
ScriptLanguage = Literal["python", "typescript", "javascript"]
KINDS: tuple[ScaffoldKind, ...] = get_args(ScaffoldKind)
LANGUAGES: tuple[ScriptLanguage, ...] = get_args(ScriptLanguage)
WORKSPACE, MANAGED = "workspace", "managed"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")  # valid at every host and on every file system
EVENT = re.compile(r"\*|[A-Za-z][\w.:-]{0,99}")
RESERVED = frozenset({"index"})  # a module of Eve; also invalid: pack names
KIND_OF_SYSTEM: dict[ScaffoldKind, EventKind] = {
    "hook": "folder",
    "pack": "folder",
    "plugin": "plugin",
    "stream": "stream",
}


@dataclass(frozen=True, slots=True)
class ScaffoldRequest:
    """What the user wants to create. Empty fields are chosen for them."""

    name: str
    kind: ScaffoldKind | None = None  # None: a hook of the first dialect's first kind
    events: tuple[str, ...] = ()
    language: ScriptLanguage | None = None
    dialects: tuple[str, ...] = ()  # target dialects; empty: the current dialect
    where: str = ""  # workspace, managed, or a folder
    description: str = ""


def check_name(name: str) -> None:
    """Raise Refusal for a name that some host or file system would not accept."""
    if not NAME.fullmatch(name):
        rule = "Use a letter, then letters, digits, - and _; 64 characters at most."
        raise Refusal(f"{one_line(name, 60)!r} cannot be a hook's name.", rule, code=2)
    if name.lower() in RESERVED or fault_of_pack_name(name):
        raise Refusal(f"{name} is a reserved name.", "Choose another.", code=2)


def check_description(text: str) -> None:
    """Raise Refusal for a text that a one-line header cannot hold."""
    if text != one_line(text, 300) or "`" in text:
        raise Refusal("The description needs one line of at most 300 characters, without backquotes.", code=2)


def kind_named(text: str) -> ScaffoldKind:
    """Return the kind with this name; a product with module hooks means `stream`. Raises Refusal."""
    for kind in KINDS:
        if text == kind:
            return kind
    streams = {one.product.lower() for one in DIALECTS.values() if "stream" in one.kinds}
    if text.lower() in streams:
        return "stream"
    raise Refusal(f"There is no kind {one_line(text, 40)!r}.", f"Use one of {', '.join(KINDS)}.", code=2)
