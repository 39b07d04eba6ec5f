"""How the checks of a hook system are listed, cached and run. A check is `(hook, host) → Gate`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate, GateKind, GateRule
from hookscope.model.host import Host

REQUIREMENT_ROW = (
    "platform, programs on `PATH`, variables, settings; `always: true` skips them, not all hosts all of them"
)


@cache
def nothing_needed(name: str) -> Gate:
    """The gate of that name for a hook that declares no such need."""
    return Gate(name, True, found="none needed")


UNNAMED = "unnamed"  # the role of an entry of the settings that names no file


def rules_of(*gates: GateKind | tuple[GateKind, GateRule]) -> Mapping[str, GateRule]:
    """The checks by name, in this order; a kind alone has the check that the guides describe."""
    rules: dict[str, GateRule] = {}
    for gate in gates:
        kind, rule = gate if isinstance(gate, tuple) else (gate, gate.check)
        assert rule is not None, kind.name
        rules[kind.name] = rule
    return rules


def cached_by_field(of: Callable[[Hook], Any]) -> Callable[[GateRule], GateRule]:
    """A rule that looks at nothing else of a hook: hooks of which this is the same have the same gate."""

    def once(rule: GateRule) -> GateRule:
        def asked(hook: Hook, host: Host) -> Gate:
            key = (asked, of(hook))
            known: Gate | None = host.known.get(key)
            if known is None:
                known = host.known[key] = rule(hook, host)
            return known

        return asked

    return once


def gates_of(
    hook: Hook, host: Host, rules: Mapping[str, GateRule], always_skips: frozenset[str]
) -> tuple[Gate, ...]:
    """Every gate of a hook. What `always` skips is in the answer too, with `passed=None`."""
    if not hook.meta.always:
        return tuple([rule(hook, host) for rule in rules.values()])
    return tuple(
        _skipped(rule(hook, host)) if name in always_skips else rule(hook, host)
        for name, rule in rules.items()
    )


def _skipped(gate: Gate) -> Gate:
    return replace(gate, passed=None, missing=(), found="skipped: always is true", reason="", fix=None)
