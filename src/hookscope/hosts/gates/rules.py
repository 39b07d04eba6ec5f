"""The gate rules of a hook system: listed, cached and run. A rule is `(hook, host) → Gate`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate, GateKind, GateRule
from hookscope.model.host import Host


@cache
def nothing_needed(name: str) -> Gate:
    """Return the passed gate of a hook without such a requirement."""
    return Gate(name, True, found="none needed")


UNNAMED = "unnamed"  # the role of an entry of the settings that names no file


def rules_of(*gates: GateKind | tuple[GateKind, GateRule]) -> Mapping[str, GateRule]:
    """Return the rules by name, in this order; a kind alone has the rule that the guides describe."""
    rules: dict[str, GateRule] = {}
    for gate in gates:
        kind, rule = gate if isinstance(gate, tuple) else (gate, gate.check)
        assert rule is not None, kind.name
        rules[kind.name] = rule
    return rules


def cached_by_field(of: Callable[[Hook], Any]) -> Callable[[GateRule], GateRule]:
    """Decorate a rule that depends on one field only: hooks with an equal field share the gate."""

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
    """Return every gate of a hook. Those that `always` skips have `passed=None`."""
    if not hook.meta.always:
        return tuple([rule(hook, host) for rule in rules.values()])
    return tuple(
        _skipped(rule(hook, host)) if name in always_skips else rule(hook, host)
        for name, rule in rules.items()
    )


def _skipped(gate: Gate) -> Gate:
    return replace(gate, passed=None, missing=(), found="skipped: always is true", reason="", fix=None)
