"""What stands between a module of an agent and its handlers. Each rule is `(hook, host) → Gate`."""

from collections.abc import Mapping

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.standing import Gate
from hookscope.systems.folders.gates import GateRule, trusted
from hookscope.systems.folders.gates import sent as sent_of

BUILD_OPEN = Gate("build", True, found="no errors")
HEARS_NOTHING = Gate("sent", False, ("1 or more",), found="no events", reason="it names no event in `events`")
KNOWN_AFTER_LOAD = Gate("sent", None, found="known after a load")


def build(hook: Hook, host: Host) -> Gate:
    """Does its host build the project: one error anywhere stops it all (rules note 3.2)."""
    if hook.build is None:
        return BUILD_OPEN
    reason = f"{host.dialect.product} builds nothing: {hook.build.text}"
    wanted = (str(hook.build.wanted),) if hook.build.wanted is not None else ()
    return Gate(
        "build", False, ("no errors",), wanted, found="an error", reason=reason, place=hook.build.place
    )


def handler(hook: Hook, host: Host) -> Gate:
    """Its module, which was found; what it holds is known after a load."""
    return Gate("handler", True, found=hook.handler.name if hook.handler else "")


def sent(hook: Hook, host: Host) -> Gate:
    """Does its host ever send one of its events, as far as they are known."""
    if hook.meta.events is None:
        return KNOWN_AFTER_LOAD
    return sent_of(hook, host) if hook.meta.events else HEARS_NOTHING


def scope(hook: Hook, host: Host) -> Gate:
    """Whose stream it hears; shuts nobody out."""
    return Gate("scope", True, found=hook.scope or "the root agent")


RULES: Mapping[str, GateRule] = {
    "build": build,
    "handler": handler,
    "trusted": trusted,
    "sent": sent,
    "scope": scope,
}


def gates_of(hook: Hook, host: Host) -> tuple[Gate, ...]:
    """Every gate of a hook, in the order of showing."""
    return tuple(rule(hook, host) for rule in RULES.values())
