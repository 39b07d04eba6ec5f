"""Limits of handlers and workers, in seconds and bytes, and where each limit comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Literal

from hookscope.model.run import Registration
from hookscope.values import dataclass

LimitName = Literal["spawn", "load", "run", "warn", "memory"]
MIB = 1024 * 1024
DEFAULT_RUN_SECONDS = 30.0  # for one handler
HOOK_LIMITS: tuple[LimitName, LimitName] = ("load", "run")  # limits that a hook may set in its HOOK.md
FAULT_ORIGIN = "--break"
COMMAND_LINE_ORIGIN = "--timeout"  # takes precedence over a hook's own limits
MANIFEST_ORIGIN = "its HOOK.md"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits in seconds, and in bytes of memory; None: no limit. Each phase is timed from its own start."""

    spawn: float | None = 5.0  # until a worker is ready
    load: float | None = 10.0  # for importing one handler
    run: float | None = DEFAULT_RUN_SECONDS  # for one handler
    warn: float | None = 1.0  # until a handler is reported as slow
    memory: int | None = 1024 * MIB  # for one worker
    origins: Mapping[LimitName, str] = field(default_factory=dict)  # only of limits that were set

    def origin(self, name: LimitName) -> str:
        """Return where a limit comes from."""
        return self.origins.get(name, "the default")

    def for_call(self, call: Registration) -> Limits:
        """Return the limits of a call: its hook's own, unless the command line overrides them."""
        if call.limit is None and call.load_limit is None:
            return self if call.injected_fault is None else self._with_fault_limit(call)
        limits = self
        if call.load_limit is not None:
            limits = limits._with_hook_limit("load", call.load_limit, MANIFEST_ORIGIN)
        if call.limit is not None:
            limits = limits._with_hook_limit("run", call.limit, call.limit_source or MANIFEST_ORIGIN)
        return limits._with_fault_limit(call)

    def _with_fault_limit(self, call: Registration) -> Limits:
        """Shorten the run limit for an injected hang; a limit from the command line takes precedence."""
        limit = call.injected_fault.limit if call.injected_fault is not None else None
        if limit is None or self.origins.get("run") == COMMAND_LINE_ORIGIN or (self.run and self.run < limit):
            return self
        return self.with_limit("run", limit, FAULT_ORIGIN)

    def with_hook_limits(self, hook_limits: Mapping[str, float], origin: str = "") -> Limits:
        """Return a copy with a hook's own limits. Their default origin is the hook's HOOK.md."""
        limits = self
        for name in HOOK_LIMITS:
            if name in hook_limits:
                limits = limits._with_hook_limit(name, hook_limits[name], origin or MANIFEST_ORIGIN)
        return limits

    def _with_hook_limit(self, name: LimitName, seconds: float, origin: str) -> Limits:
        """Return a copy with one limit of a hook; a limit from the command line takes precedence."""
        return (
            self if self.origins.get(name) == COMMAND_LINE_ORIGIN else self.with_limit(name, seconds, origin)
        )

    def without_time(self) -> Limits:
        """Return a copy without time limits, not even a hook's own: for stepping through handlers."""
        origins = {**self.origins, "load": COMMAND_LINE_ORIGIN, "run": COMMAND_LINE_ORIGIN}
        return replace(self, spawn=None, load=None, run=None, warn=None, origins=origins)

    def in_words(self) -> str:
        """Return a handler's limits, with the origin of changed ones: `load 10 s, run 60 s (its HOOK.md)`."""
        parts = []
        for name, seconds in zip(HOOK_LIMITS, (self.load, self.run), strict=True):
            origin = self.origins.get(name)
            by = f" ({origin})" if origin else ""
            parts.append(f"{name} {'without limit' if seconds is None else f'{seconds:g} s'}{by}")
        return ", ".join(parts)

    def with_limit(self, name: LimitName, value: float, origin: str) -> Limits:
        """Return a copy in which one limit has another value; 0 removes the limit."""
        origins = {**self.origins, name: origin}
        limit = int(value) if name == "memory" else value
        changed: dict[str, Any] = {name: limit or None}
        return replace(self, origins=origins, **changed)


def size_in_words(size: float) -> str:
    """Return a size such as `512 MiB` or `1.2 GiB`."""
    if size >= 1024 * MIB:
        return f"{size / (1024 * MIB):.3g} GiB"
    return f"{size / MIB:.3g} MiB"
