"""A handler's code between host and worker: the requests to load or run it, and what its module declares."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hookscope.model.hook import LogLine
from hookscope.model.run import Code, Declared, Handler, Module, Registration
from hookscope.runtime.content_digests import ContentNames
from hookscope.runtime.python_worker.protocol import Message, encode, pack

DECLARING_SHAPES = ("stream", "plugin")  # shapes of modules that declare handlers
PLUGIN_SHAPES = ("plugin", "arguments")  # shapes of code that has a worker of its own


def code_document(code: Code, name: str, shared: str = "") -> Message:
    """The protocol's `code`; `name` stands for the content of its folder, `shared` for what lies outside."""
    return {
        "path": str(code.path),
        "export": code.export,
        "root": str(code.root),
        "name": name,
        "shared": shared,
        "plain": code.unmodified,
        "shape": code.shape,
        "member": code.member,
        **({"within": str(code.trusted_root)} if code.trusted_root is not None else {}),
        **({"id": code.plugin} if code.plugin else {}),
        **({"config": code.config} if code.config else {}),
        **({"tools": list(code.tools)} if code.tools else {}),
        "beside": [{"kind": one.kind, "name": one.name, "path": str(one.path)} for one in code.siblings],
    }


def settings_message(code: Code) -> Message:
    """What a plugin's worker is told once: the settings that its host was opened with."""
    value = _as_json(code.settings)
    try:
        pack(message := {"do": "settings", "value": value})
    except (ValueError, RecursionError):  # larger than any settings, or deeper
        return {"do": "settings", "value": {}}
    return message


def _as_json(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    is_number = isinstance(value, float) and math.isfinite(value)
    return value if value is None or is_number or isinstance(value, str | int) else None


def module_from(document: Any, target: Callable[[str], Handler | Code]) -> Module:
    """The Module that a loader describes; `target` gives what to register for a member.

    Raises KeyError, TypeError or ValueError where it describes nothing of the kind.
    """
    return Module(
        tuple(_declaration_from(one, target) for one in document["declares"]),
        tuple(LogLine(str(line["level"]), str(line["text"])) for line in document["log"]),
        frozenset(map(str, document.get("asked") or ())),
    )


def member_targets(code: Code) -> Callable[[str], Code]:
    """For `module_of`: the same code, with the member that a worker shall call."""
    return lambda member: replace(code, member=member)


def _priority(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return value


def _declaration_from(row: Mapping[str, Any], target: Callable[[str], Handler | Code]) -> Declared:
    limit, options = row.get("limit"), row.get("options") or {}
    if not isinstance(options, Mapping):
        raise TypeError("options are no mapping")
    return Declared(
        str(row["key"]),
        target(str(row["member"])),
        _priority(row.get("priority")),
        None if limit is None else float(limit),
        options,
    )


MAX_KNOWN_REQUESTS = 2048  # calls whose requests are kept


@dataclass(frozen=True)
class HandlerRequest:
    """A handler to be loaded or run, with the names of its content."""

    code: Code
    name: str
    shared: str
    call: Registration | None = None

    def document(self) -> Message:
        """As the protocol's `code`."""
        return code_document(self.code, self.name, self.shared)

    def call_document(self) -> Message:
        """As one of the protocol's `calls`."""
        assert self.call is not None
        document = {"who": self.call.name, "code": self.document(), "env": dict(self.code.env)}
        fault = self.call.injected_fault
        if fault is not None:
            document["fault"] = {"fault": fault.fault, "amount": fault.amount}
        return document

    @cached_property
    def is_plugin(self) -> bool:
        """Does it belong to a module that has a worker of its own."""
        return self.code.shape in PLUGIN_SHAPES

    @cached_property
    def packed(self) -> str:
        """That as JSON."""
        return encode(self.call_document())


class RequestCache:
    """Makes the requests of calls, and keeps each while its content is the same."""

    def __init__(self, contents: ContentNames, code_of: Callable[[Registration], Code]) -> None:
        self._contents = contents
        self._code_of = code_of
        self._known: dict[int, HandlerRequest] = {}
        self._contents_version = 0  # of the contents, when these were made

    def request_for(self, call: Registration, shared: str) -> HandlerRequest:
        """The request of a call as its files are now. `shared` names what hooks share with each other."""
        known, version = self._known.get(id(call)), self._contents.version
        if (
            known is not None
            and known.call is call
            and known.code.digest  # it was read before: no file is looked at
            and known.shared == shared
            and self._contents_version == version
        ):
            return known
        if self._contents_version != version:  # other names, perhaps, for the same contents
            self._known.clear()
            known, self._contents_version = None, version
        code = self._code_of(call)
        name = self._contents.name_of(code, shared)
        if known is not None and known.call is call and known.name == name and known.shared == shared:
            return known
        if len(self._known) >= MAX_KNOWN_REQUESTS:
            self._known.clear()
        request = self._known[id(call)] = HandlerRequest(
            code, name, shared, call
        )  # it holds its call: the id stays taken
        return request


class RequestNumbers:
    """The numbers under which one worker knows requests: it receives each of them once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[HandlerRequest, int]] = {}

    def numbers_for(self, requests: Sequence[HandlerRequest]) -> tuple[str, str]:
        """Their numbers as the protocol's `calls`, and as its `know` what the worker does not know yet."""
        known, numbers, new = self._known, list[str](), list[str]()
        if len(known) + len(requests) > MAX_KNOWN_REQUESTS:
            known.clear()  # it begins anew: what has a number twice is what it was told last
        for request in requests:
            found = known.get(id(request))
            if found is None:
                found = known[id(request)] = request, len(known)  # it holds its request: the id stays taken
                new.append(f"[{found[1]},{request.packed}]")
            numbers.append(str(found[1]))
        return ",".join(numbers), ",".join(new)
