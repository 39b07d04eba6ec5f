"""Code and modules between host and worker: what is to be loaded, and what a loaded module declares."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hookscope.core.hooks import LogLine
from hookscope.core.runs import Code, Declared, Handler, Module
from hookscope.runtime.python_worker.protocol import Message, pack

WITH_HANDLERS = ("stream", "plugin")  # shapes of modules that declare handlers
OF_A_PLUGIN = ("plugin", "arguments")  # shapes of code that has a worker of its own


def code_document(code: Code, name: str, shared: str = "") -> Message:
    """The protocol's `code`; `name` stands for the content of its folder, `shared` for what lies outside."""
    return {
        "path": str(code.path),
        "export": code.export,
        "root": str(code.root),
        "name": name,
        "shared": shared,
        "plain": code.plain,
        "shape": code.shape,
        "member": code.member,
        **({"within": str(code.within)} if code.within is not None else {}),
        **({"id": code.plugin} if code.plugin else {}),
        **({"config": code.config} if code.config else {}),
        **({"tools": list(code.tools)} if code.tools else {}),
        "beside": [{"kind": one.kind, "name": one.name, "path": str(one.path)} for one in code.beside],
    }


def settings_message(code: Code) -> Message:
    """What a plugin's worker is told once: the settings that its host was opened with."""
    value = _plain(code.settings)
    try:
        pack(message := {"do": "settings", "value": value})
    except (ValueError, RecursionError):  # larger than any settings, or deeper
        return {"do": "settings", "value": {}}
    return message


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    is_number = isinstance(value, float) and math.isfinite(value)
    return value if value is None or is_number or isinstance(value, str | int) else None


def module_of(document: Any, target: Callable[[str], Handler | Code]) -> Module:
    """The Module that a loader describes; `target` gives what to register for a member.

    Raises KeyError, TypeError or ValueError where it describes nothing of the kind.
    """
    return Module(
        tuple(_declared(one, target) for one in document["declares"]),
        tuple(LogLine(str(line["level"]), str(line["text"])) for line in document["log"]),
        frozenset(map(str, document.get("asked") or ())),
    )


def targets_of(code: Code) -> Callable[[str], Code]:
    """For `module_of`: the same code, with the member that a worker shall call."""
    return lambda member: replace(code, member=member)


def _priority(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return value


def _declared(one: Mapping[str, Any], target: Callable[[str], Handler | Code]) -> Declared:
    limit, options = one.get("limit"), one.get("options") or {}
    if not isinstance(options, Mapping):
        raise TypeError("options are no mapping")
    return Declared(
        str(one["key"]),
        target(str(one["member"])),
        _priority(one.get("priority")),
        None if limit is None else float(limit),
        options,
    )
