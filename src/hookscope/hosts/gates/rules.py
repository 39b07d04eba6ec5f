"""Functions that list, cache and run the gate rules of a hook system. A rule is `(hook, host) → Gate`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate, GateKind, GateRule
from hookscope.model.host import Host


@cache
def nothing_needed(name: str) -> Gate:
    """Return the passed gate `name` of a hook without such a requirement."""
    return Gate(name, True, found="none needed")


UNNAMED = "unnamed"  # the role of a legacy handler whose settings entry names no file


def rules_of(*gates: GateKind | tuple[GateKind, GateRule]) -> Mapping[str, GateRule]:
    """Return the rules by gate name, in this order; a GateKind without a rule uses its `check`."""
    rules: dict[str, GateRule] = {}
    for gate in gates:
        kind, rule = gate if isinstance(gate, tuple) else (gate, gate.check)
        assert rule is not None, kind.name
        rules[kind.name] = rule
    return rules


def cached_by_field(of: Callable[[Hook], Any]) -> Callable[[GateRule], GateRule]:
    """Decorate a rule that depends only on `of(hook)`: hooks with an equal value share the gate."""

    def decorate(rule: GateRule) -> GateRule:
        def cached(hook: Hook, host: Host) -> Gate:
            key = (cached, of(hook))
            known: Gate | None = host.known.get(key)
            if known is None:
                known = host.known[key] = rule(hook, host)
            return known

        return cached

    return decorate


def gates_of(
    hook: Hook, host: Host, rules: Mapping[str, GateRule], always_skips: frozenset[str]
) -> tuple[Gate, ...]:
    """Return every gate of a hook. If its `always` is true, those in `always_skips` have `passed=None`."""
    if not hook.meta.always:
        return tuple([rule(hook, host) for rule in rules.values()])
    return tuple(
        _skipped(rule(hook, host)) if name in always_skips else rule(hook, host)
        for name, rule in rules.items()
    )


def _skipped(gate: Gate) -> Gate:
    return replace(gate, passed=None, missing=(), found="skipped: always is true", reason="", fix=None)
